"""Markdown made of the blocks, so escaped that it reads as the text."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.content.extraction.assembly import Draft, assemble, row
from assay.content.extraction.markdown import render
from assay.content.models import BlockKind


def rendered(*drafts: Draft) -> str:
    return render(assemble(drafts))


def paragraph(text: str) -> Draft:
    return Draft(BlockKind.PARAGRAPH, text)


def test_headings_stand_by_their_level():
    drafts = [
        Draft(BlockKind.HEADING, "Terms", level=1),
        Draft(BlockKind.HEADING, "4.1 Scope", level=3, number="4.1"),
    ]
    assert rendered(*drafts, paragraph("Text.")) == "# Terms\n\n### 4.1 Scope\n\nText.\n"


def test_items_stand_by_depth_with_the_number_that_they_bring():
    items = [
        Draft(BlockKind.LIST_ITEM, "1. first", level=1, number="1"),
        Draft(BlockKind.LIST_ITEM, "(a) inner", level=2, number="(a)"),
        Draft(BlockKind.LIST_ITEM, "plain", level=1),
    ]
    assert rendered(*items) == "1. first\n   - (a) inner\n- plain\n"


def test_a_table_has_pipes_and_its_cells_are_escaped():
    table = rendered(row(["Data", "Purpose"]), row(["a|b", ""]), row(["only"]))
    assert table == "| Data | Purpose |\n| --- | --- |\n| a\\|b |  |\n| only |  |\n"


def test_footnotes_are_quoted_and_headers_and_footers_stand_last():
    text = rendered(
        paragraph("Body."),
        Draft(BlockKind.FOOTNOTE, "1 A note."),
        Draft(BlockKind.HEADER, "Confidential"),
        Draft(BlockKind.FOOTER, "Page"),
    )
    assert text == "Body.\n\n> 1 A note.\n\n---\n\nConfidential\n\nPage\n"


def test_line_ends_within_a_block_stay():
    assert rendered(paragraph("Example Ltd\nLondon")) == "Example Ltd\\\nLondon\n"


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("a * b _c_ [d](e)", r"a \* b \_c\_ \[d\](e)"),
        ("# 3", r"\# 3"),
        ("- dash", r"\- dash"),
        ("1. Scope", r"1\. Scope"),
        ("2024) x", r"2024\) x"),
        ("<b> & &amp; `x`", r"\<b\> & \&amp; \`x\`"),
        ("---", r"\---"),
        ("a # b - c 1. d", "a # b - c 1. d"),
        ("~~x~~ $y$", r"\~\~x\~\~ \$y\$"),
        ("C:\\x", r"C:\\x"),
    ],
)
def test_characters_that_mean_something_are_escaped(text, escaped):
    assert rendered(paragraph(text)) == escaped + "\n"


def test_nothing_renders_as_nothing():
    assert rendered() == ""


@given(
    st.lists(st.text(st.characters(blacklist_categories=("Cs", "Cc", "Zl", "Zp")), min_size=1), max_size=5)
)
def test_the_words_of_the_text_all_stand_in_the_markdown(texts):
    text = assemble([paragraph(" ".join(part.split())) for part in texts])
    unescaped = re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", render(text))
    assert unescaped.split() == text.text.split()
