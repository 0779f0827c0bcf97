"""Plain text: structure from blank lines, numbering, underlines and form feeds."""

# sentences read best unbroken

from textwrap import fill

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.content.extraction import plain
from assay.content.models import BlockKind, NoText, Text, UnreadableDocument

CLAUSE = (
    "The processor shall process personal data only on documented instructions from the controller, "
    "including with regard to transfers to a third country."
)


def read(text: str, **options) -> Text:
    return plain.read(text.encode(), **options)


def blocks(text: Text) -> list[tuple[str, str]]:
    return [(block.kind.value, text.text[block.start : block.end]) for block in text.blocks]


def test_wrapped_lines_make_one_paragraph():
    assert blocks(read(f"{fill(CLAUSE, 60)}\n\n{fill(CLAUSE, 60)}")) == [("paragraph", CLAUSE)] * 2


def test_long_lines_are_paragraphs_of_their_own():
    assert blocks(read(f"{CLAUSE}\n{CLAUSE}\r\n{CLAUSE}")) == [("paragraph", CLAUSE)] * 3


def test_short_lines_stay_lines():
    text = read(f"{fill(CLAUSE, 70)}\n\nExample Ltd\n1 High Street\nLondon")
    assert blocks(text)[-1] == ("paragraph", "Example Ltd\n1 High Street\nLondon")


@pytest.mark.parametrize(
    ("heading", "level", "number"),
    [
        ("Terms of use\n============", 1, None),
        ("Scope\n-----", 2, None),
        ("## 3. Term", 2, "3"),
        ("1. Definitions", 1, "1"),
        ("4.1 Sub-processors", 2, "4.1"),
        ("Article 5 Notices", 1, "Article 5"),
        ("GOVERNING LAW", 1, None),
    ],
)
def test_headings_are_told_by_underline_numbering_or_capitals(heading, level, number):
    first = read(f"{heading}\n\n{fill(CLAUSE, 70)}").blocks[0]
    assert (first.kind, first.level, first.number) == (BlockKind.HEADING, level, number)


def test_items_are_told_by_bullets_and_numbers():
    text = read(
        f"{fill(CLAUSE, 70)}\n\n- your name\n- your address\n(a) the first case;\n(b) the second case;"
    )
    assert blocks(text)[1:] == [
        ("listItem", "your name"),
        ("listItem", "your address"),
        ("listItem", "(a) the first case;"),
        ("listItem", "(b) the second case;"),
    ]
    assert text.blocks[-1].number == "(b)"


def test_a_numbered_clause_carries_its_number():
    text = read(f"2.1 {fill(CLAUSE, 70)}")
    assert (text.blocks[0].kind, text.blocks[0].number) == (BlockKind.LIST_ITEM, "2.1")


def test_a_number_at_the_start_of_a_wrapped_line_begins_nothing():
    text = read(
        "The fee is due within the first\n14. Days count from the receipt of the\ninvoice by the customer in question"
    )
    assert len(text.blocks) == 1


def test_form_feeds_part_pages():
    text = read(f"First page.\f{CLAUSE}\f\fLast page.")
    assert [(page.number, text.text[page.start : page.end].strip()) for page in text.pages] == [
        (1, "First page."),
        (2, CLAUSE),
        (3, ""),
        (4, "Last page."),
    ]
    assert [block.page for block in text.blocks] == [1, 2, 4]


def test_the_title_is_the_heading_at_the_top():
    assert read(f"TERMS OF USE\n\n{CLAUSE}").title == "TERMS OF USE"
    assert read(CLAUSE).title is None


def test_language_and_encoding_are_found():
    assert read(CLAUSE).language == "en"
    german = "Änderungen dieser Vereinbarung sind für die Parteien nur bindend, wenn sie von ihnen bestätigt werden."
    for charset in (None, "windows-1252"):
        text = plain.read(german.encode("cp1252"), charset=charset)
        assert (text.text, text.language) == (german, "de")


@pytest.mark.parametrize(
    "data",
    [
        b"\x00\x01\x02\x03",
        b"PK\x03\x04\x14\x00\x06\x00",
        b"a\x00b",
        b"word " * 999 + b"\x00",
        bytes(range(256)),
    ],
)
def test_binary_data_is_refused(data):
    with pytest.raises(UnreadableDocument, match="not text"):
        plain.read(data)


@pytest.mark.parametrize("data", [b"", b" \n\t\r\n", b"\xef\xbb\xbf", b"---\n===", b"\f\f"])
def test_a_file_without_words_is_refused_by_name(data):
    with pytest.raises(NoText):
        plain.read(data)


@settings(max_examples=200, deadline=None)
@given(
    st.one_of(
        st.binary(max_size=200),
        st.text(max_size=200).map(lambda text: text.encode("utf-8", "replace")),
        st.lists(
            st.sampled_from(
                [CLAUSE, "1. Scope", "(a) one", "- x", "\n", "\n\n", "===", "\f", "  ", "# A", "•"]
            )
        )
        .map("\n".join)
        .map(str.encode),
    )
)
def test_any_bytes_give_exact_offsets_or_a_named_failure(data):
    try:
        text = plain.read(data)
    except UnreadableDocument:
        return
    position = 0
    for block in text.blocks:
        assert text.text[position : block.start].strip("\n") == ""
        assert position <= block.start < block.end
        position = block.end
    assert position == len(text.text)
    assert plain.read(data) == text
