"""Quotes hold: made from the text, merged, checked, and found again."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.assessments import citations
from assay.assessments.models import Source
from assay.assessments.passages import Passage
from assay.content.models import Span

SOURCE = Source("contract.pdf", "uuid", "sha256:0")
TEXT = "1. Audits\n\nThe Customer may “audit” the Supplier — once a year.\n\nInvoices are payable monthly."


def passage(text: str, start: int, end: int) -> Passage:
    return Passage(SOURCE, start, end, text[start:end], page=3, section="1")


def test_a_citation_is_the_clause_with_its_place():
    citation = citations.cite(passage(TEXT, 11, 61))

    assert (citation.source, citation.content_digest, citation.page, citation.section) == (
        "contract.pdf", "sha256:0", 3, "1",
    )  # fmt: skip
    assert citations.holds(citation, TEXT)


def test_a_citation_that_is_off_by_one_does_not_hold():
    citation = citations.cite(passage(TEXT, 11, 61))

    assert not citations.holds(replace(citation, start=12), TEXT)
    assert not citations.holds(replace(citation, quote="", end=citation.start), TEXT)


@given(st.integers(0, 6000), st.integers(1, 60))
def test_a_very_long_clause_is_cut_around_what_it_shows_and_still_holds(at, length):
    text = "word " * 1400
    at = min(at, len(text) - length - 1)
    citation = citations.cite(passage(text, 0, len(text)), [(at, at + length)])

    assert citations.holds(citation, text)
    assert len(citation.quote) <= citations.LONGEST_QUOTE
    assert citation.start <= at or text[citation.start - 1] == " "
    assert at - 10 <= citation.end


def test_citations_that_touch_become_one():
    one, two = citations.cite(passage(TEXT, 0, 9)), citations.cite(passage(TEXT, 11, 61))
    far = citations.cite(passage(TEXT, 70, 80))
    merged = citations.merge([far, two, one], TEXT)

    assert [(citation.start, citation.end) for citation in merged] == [(0, 61), (70, 80)]
    assert all(citations.holds(citation, TEXT) for citation in merged)


def test_citations_of_different_texts_stay_apart():
    one = citations.cite(passage(TEXT, 0, 9))
    other = replace(one, content_uuid="another")

    assert len(citations.merge([one, other], TEXT)) == 2


def test_an_exact_quote_is_found():
    assert citations.locate("Invoices are payable", TEXT) == Span(
        TEXT.index("Invoices"), TEXT.index("Invoices") + 20
    )


@pytest.mark.parametrize(
    "quote",
    [
        'The customer may "audit" the supplier - once a year.',
        "The  Customer may\n“audit” the Supplier – once a year.",
    ],
)
def test_space_quotes_hyphens_and_case_make_no_difference(quote):
    span = citations.locate(quote, TEXT)

    assert span is not None
    assert TEXT[span.start : span.end] == "The Customer may “audit” the Supplier — once a year."


def test_a_soft_hyphen_in_the_text_makes_no_difference():
    text = "The pro\u00adcessor shall notify."
    span = citations.locate("processor shall", text)

    assert span is not None
    assert text[span.start : span.end] == "pro\u00adcessor shall"


def test_a_slip_is_forgiven_inside_the_clause_that_was_named():
    slip = "The Customer may “audit” the Suplier — once a year."
    within = Span(11, 64)

    span = citations.locate(slip, TEXT, within)

    assert span is not None
    assert within.start <= span.start < span.end <= within.end
    assert citations.locate(slip, TEXT) is None


def test_what_is_not_there_is_not_found():
    assert citations.locate("The Supplier may audit the Customer at will", TEXT, Span(0, len(TEXT))) is None
    assert citations.locate("   ", TEXT) is None


@given(st.text(min_size=1, max_size=80), st.data())
def test_every_piece_of_a_text_is_found_where_the_same_words_stand(text, data):
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    quote = text[start:end]
    span = citations.locate(quote, text)

    if quote.strip():
        assert span is not None
        assert text[span.start : span.end] == quote.strip()
    else:
        assert span is None
