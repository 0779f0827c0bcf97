"""Clauses: exact offsets, lead-ins, sections, pages, and text without structure."""

from hypothesis import given
from hypothesis import strategies as st

from assay.assessments import definitions, passages, sentences
from assay.assessments.models import Source
from assay.content.extraction.assembly import Draft, assemble
from assay.content.models import BlockKind, Text
from assay.frameworks.evidence import Lexicon
from assay.frameworks.models import Framework
from assay.frameworks.words import Clause

SOURCE = Source("contract.pdf", "uuid", "sha256:0")


def split(*drafts: Draft, **more) -> tuple[passages.Passage, ...]:
    return passages.split(assemble(drafts, **more), SOURCE)


def paragraph(text: str, **more) -> Draft:
    return Draft(BlockKind.PARAGRAPH, text, **more)


def item(text: str, **more) -> Draft:
    return Draft(BlockKind.LIST_ITEM, text, **more)


def test_items_of_a_list_know_the_words_that_lead_in_to_it():
    _, first, second = split(
        paragraph("The processor shall:"),
        item("(a) keep records;", level=1, number="(a)"),
        item("(b) notify breaches.", level=1, number="(b)"),
    )

    assert (first.lead_in, first.text) == ("The processor shall:", "(a) keep records;")
    assert second.lead_in == "The processor shall:"


def test_a_nested_list_has_both_lead_ins_and_the_outer_list_only_its_own():
    found = split(
        paragraph("The processor shall:"),
        item("(a) provide the following:", level=1),
        item("(i) reports;", level=2),
        item("(b) keep records.", level=1),
    )

    assert found[2].lead_in == "The processor shall: (a) provide the following:"
    assert found[3].lead_in == "The processor shall:"


def test_a_paragraph_ends_a_list():
    found = split(
        paragraph("The processor shall:"),
        item("(a) keep records.", level=1),
        paragraph("This agreement is governed by the law of Austria."),
    )

    assert found[-1].lead_in == ""


def test_paragraphs_that_go_on_in_small_letters_are_items_of_the_list_above():
    found = split(
        paragraph("The supplier will:"), paragraph("keep records;"), paragraph("All notices are in writing.")
    )

    assert [one.lead_in for one in found] == ["", "The supplier will:", ""]


def test_a_title_is_context_and_no_clause():
    found = split(
        Draft(BlockKind.HEADING, "7. Audits", level=1, number="7"), paragraph("The customer may audit.")
    )

    assert [(one.text, one.title, one.section) for one in found] == [
        ("The customer may audit.", "7. Audits", "7")
    ]


def test_an_item_is_numbered_within_its_section():
    found = split(
        Draft(BlockKind.HEADING, "7. Audits", level=1, number="7"),
        paragraph("7.2 The processor shall:", number="7.2"),
        item("(a) allow audits.", level=1, number="(a)"),
    )

    assert [one.section for one in found] == ["7.2", "7.2(a)"]


def test_a_long_paragraph_is_cut_into_sentences_and_a_short_one_is_not():
    long = "The processor keeps a record of all processing for the controller. " * 6
    short = "The processor keeps records. They are complete."

    assert len(split(paragraph(long.strip()))) == 6
    assert [one.text for one in split(paragraph(short))] == [short]


def test_a_sentence_does_not_end_after_an_abbreviation():
    text = (
        "The measures of Art. 32 apply, e.g. Encryption of disks by Acme Inc. and others. They are reviewed."
    )

    assert [text[start:end] for start, end in sentences.split(text)] == [
        "The measures of Art. 32 apply, e.g. Encryption of disks by Acme Inc. and others.",
        "They are reviewed.",
    ]


def test_a_long_sentence_is_cut_into_its_points_each_with_what_leads_in():
    points = [f"({letter}) {'keep detailed records of all processing operations ' * 2};" for letter in "abc"]
    found = split(paragraph(f"The processor shall under clause 5(b) above: {' '.join(points)}"))

    assert [one.text[:3] for one in found[1:]] == ["(a)", "(b)", "(c)"]
    assert {one.lead_in for one in found[1:]} == {"The processor shall under clause 5(b) above:"}


def test_a_clause_knows_its_page_also_when_its_paragraph_began_on_the_one_before():
    sentence = "The processor keeps a record of all processing for the controller and shows it on request. "
    text = (sentence * 4).strip()
    found = split(paragraph(text, page=1, page_breaks=((len(sentence) * 2, 2),)), page_count=2)

    assert [one.page for one in found] == [1, 1, 2, 2]


def test_running_headers_and_footers_are_no_clauses():
    assert split(Draft(BlockKind.FOOTER, "Page 1 of 9"), paragraph("We delete data.")) == split(
        Draft(BlockKind.FOOTER, "Page 1 of 9"), paragraph("We delete data.")
    )
    assert [one.text for one in split(paragraph("We delete data."), Draft(BlockKind.FOOTER, "Page 1"))] == [
        "We delete data."
    ]


def test_text_without_structure_is_cut_at_blank_lines():
    found = passages.split(Text("First clause.\n\n  Second clause.\n"), SOURCE)

    assert [one.text for one in found] == ["First clause.", "Second clause."]


@given(st.text(alphabet=st.sampled_from("aB. ;:\n\t()i1•„“é\u00ad\U0001f600"), max_size=400))
def test_every_clause_stands_in_the_text_where_it_says(text):
    for found in (passages.split(Text(text), SOURCE), split(paragraph(text), item(text), paragraph(text))):
        whole = text if not found or found[0].text in text else None
        for one in found:
            assert one.text
            assert one.text == one.text.strip()
        assert whole is None or all(one.text in text for one in found)


@given(st.lists(st.text(alphabet="ab .:;(1)A\n", min_size=1, max_size=300), max_size=5))
def test_offsets_are_exact_and_no_word_is_lost(texts):
    text = assemble([paragraph(one) for one in texts])
    found = passages.split(text, SOURCE)

    assert all(text.text[one.start : one.end] == one.text for one in found)
    assert "".join("".join(one.text.split()) for one in found) == "".join(text.text.split())


FRAMEWORK = Framework(
    "F", "F", "1", "", "en", parties=("processor", "controller"),
    vocabulary={
        "en": {"processor": ("processor*",), "controller": ("customer",), "sub": ("sub-processor*",)}
    },
)  # fmt: skip
LEXICON = Lexicon.of(FRAMEWORK, "en")


def test_a_name_that_the_document_defines_is_read_as_the_party():
    names = definitions.aliases(
        ["This agreement is made between Acme GmbH (“Acme”, the “Processor”) and Foo Ltd (the “Customer”)."],
        LEXICON,
    )
    text = "Acme shall notify Foo Ltd."
    clause = definitions.resolve(Clause(text), names)

    assert clause.words[0] == "processor"
    assert text[slice(*clause.span(0, 1))] == "Acme"


def test_a_sub_processor_does_not_become_the_processor_by_its_definition():
    assert not definitions.aliases(["“Sub-processor” means a processor engaged by the processor."], LEXICON)


def test_an_ordinary_word_becomes_nobodys_name():
    assert not definitions.aliases(
        ["“Services” means what the processor does. This DPA is the controller's."], LEXICON
    )


def test_a_sentence_that_a_page_end_cuts_in_two_is_read_with_its_beginning():
    _, second = split(
        paragraph("The processor assists the controller with its duties under Art."),
        paragraph("32 to 36 of the GDPR."),
    )

    assert second.lead_in == "The processor assists the controller with its duties under Art."


def test_a_finished_sentence_leads_in_to_nothing():
    _, second = split(paragraph("The processor keeps records."), paragraph("and so on"))

    assert second.lead_in == ""


def test_a_list_ends_where_items_are_numbered_in_another_way():
    found = split(
        paragraph("The duty does not apply to information which:"),
        item("(a) is public;", level=1, number="(a)"),
        item("(b) was known.", level=1, number="(b)"),
        item("7. On request all copies are returned.", level=1, number="7"),
    )

    assert [bool(one.lead_in) for one in found] == [False, True, True, False]


def test_ceremony_leads_in_to_nothing():
    found = split(
        paragraph("Now therefore the parties agree as follows:"), item("1. We keep secrets.", level=1)
    )

    assert found[1].lead_in == ""
