"""Whatever the bytes: a text with exact offsets, or a failure with a name."""

import unicodedata

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assay.content.extraction import pdf
from assay.content.extraction.assembly import CELL_SEPARATOR, ROW_SEPARATOR, SEPARATOR
from assay.content.models import BlockKind, Text, UnreadableDocument
from tests.content.pdf_files import Sheet, write

WORDS = st.text(alphabet="abcdefgh ABC 123 .,;:-()•\u2013äöüß", min_size=1, max_size=40)
PLACES = st.tuples(st.integers(-20, 620), st.integers(-20, 860), WORDS, st.integers(4, 30))
PAGES = st.lists(st.lists(PLACES, max_size=12), min_size=1, max_size=4)
SAMPLE = write(
    [
        Sheet().lines(70, 100, "The first clause stands here", "and runs on.").widget(70, 200, "/FT/Tx/V(x)"),
        Sheet()
        .grid((60, 200, 400), (90, 120, 150))
        .text(65, 110, "a")
        .text(205, 110, "b")
        .free_text(9, 9, "c"),
    ],
    title="Sample",
)


def sheet(places):
    page = Sheet()
    for x, y, words, size in places:
        page.text(x, y, words, size=size)
    return page


def attempt(data):
    try:
        return pdf.read(data)
    except UnreadableDocument:
        return None


def separators(text):
    for before, after in zip(text.blocks, text.blocks[1:], strict=False):
        rows = before.kind is BlockKind.TABLE_ROW and after.kind is BlockKind.TABLE_ROW
        yield ROW_SEPARATOR if rows else SEPARATOR


def assert_exact(text: Text):
    parts = [text.text[block.start : block.end] for block in text.blocks]
    glue = [*separators(text), ""]
    assert "".join(part + after for part, after in zip(parts, glue, strict=True)) == text.text
    assert all(part.strip() for part in parts)
    for block in text.blocks:
        cells = [text.text[cell.start : cell.end] for cell in block.cells]
        assert not cells or CELL_SEPARATOR.join(cells) == text.text[block.start : block.end]
    ends = [page.end for page in text.pages]
    assert ends == sorted(ends)


@given(PAGES)
@settings(max_examples=60, deadline=None)
def test_offsets_are_exact_and_joined_blocks_are_the_text(pages):
    text = attempt(write([sheet(places) for places in pages]))
    if text is not None:
        assert_exact(text)


@given(PAGES)
@settings(max_examples=60, deadline=None)
def test_every_letter_that_is_drawn_stands_in_the_text_and_no_other(pages):
    inside = [[place for place in places if 20 < place[0] < 300 and 20 < place[1] < 820] for places in pages]
    text = attempt(write([sheet(places) for places in inside]))
    shown = unicodedata.normalize("NFKC", text.text) if text else ""
    drawn = {letter for places in inside for place in places for letter in place[2] if letter not in " -"}
    assert drawn == {letter for letter in shown if not letter.isspace() and letter != "-"}


@given(st.binary(max_size=400))
@settings(max_examples=100, deadline=None)
def test_any_bytes_give_an_answer_or_a_named_failure(data):
    attempt(b"%PDF-1.4\n" + data)
    attempt(data)


@given(st.lists(st.tuples(st.integers(0, len(SAMPLE) - 1), st.integers(0, 255)), min_size=1, max_size=12))
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_a_damaged_file_gives_an_answer_or_a_named_failure(changes):
    damaged = bytearray(SAMPLE)
    for position, value in changes:
        damaged[position] = value
    text = attempt(bytes(damaged))
    if text is not None:
        assert_exact(text)


@given(st.integers(0, len(SAMPLE)))
@settings(max_examples=60, deadline=None)
def test_a_truncated_file_gives_an_answer_or_a_named_failure(length):
    text = attempt(SAMPLE[:length])
    if text is not None:
        assert_exact(text)
