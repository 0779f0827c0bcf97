"""Numbers as Word prints them."""

import pytest

from assay.content.models import BlockKind
from tests.content import docx_files as make
from tests.content.docx_files import level, listed, p, style, styles
from tests.content.extraction.docx_lines import CLAUSES, numbered, read


def test_levels_are_printed_as_word_prints_them():
    printed = numbered(
        listed("One"),
        listed("Two", 1),
        listed("Three", 2),
        listed("Four", 3),
        listed("Five", 2),
        listed("Six", 1),
    )
    assert printed == ["1. One", "1.1 Two", "(a) Three", "(i) Four", "(b) Five", "1.2 Six"]


def test_a_number_is_part_of_the_text_and_of_its_block():
    text = read(listed("Fees") + listed("Due at once", 1), related={"numbering": CLAUSES})
    assert [(block.kind, block.level, block.number) for block in text.blocks] == [
        (BlockKind.LIST_ITEM, 1, "1"),
        (BlockKind.LIST_ITEM, 2, "1.1"),
    ]


def test_a_deeper_level_starts_anew_under_each_clause():
    assert numbered(listed("A"), listed("b", 1), listed("C"), listed("d", 1)) == [
        "1. A",
        "1.1 b",
        "2. C",
        "2.1 d",
    ]


def test_lists_of_one_definition_count_on_together():
    assert numbered(listed("A"), listed("B", list_id=5), listed("C")) == ["1. A", "2. B", "3. C"]


def test_a_start_override_restarts_once():
    printed = numbered(listed("A"), listed("B", list_id=2), listed("C", list_id=2), listed("D"))
    assert printed == ["1. A", "7. B", "8. C", "9. D"]


def test_an_overridden_level_prints_its_own_label():
    assert numbered(listed("A", list_id=6), listed("B", 1, list_id=6)) == ["1. A", "§ 1 B"]


def test_a_skipped_level_counts_as_used():
    assert numbered(listed("deep", 1), listed("Chapter")) == ["1.1 deep", "2. Chapter"]


def test_legal_style_prints_digits_for_roman():
    assert numbered(listed("A", 0, 3), listed("B", 1, 3)) == ["Article I A", "Section 1.1 B"]


def test_a_level_may_restart_never_or_later():
    never = level(0, "%1.") + level(1, "%2)", extra='<w:lvlRestart w:val="0"/>')
    definitions = make.numbering({0: never}, {1: (0, "")})
    printed = numbered(listed("A"), listed("b", 1), listed("C"), listed("d", 1), definitions=definitions)
    assert printed == ["1. A", "1) b", "2. C", "2) d"]


@pytest.mark.parametrize(("suffix", "printed"), [("tab", "1. A"), ("space", "1. A"), ("nothing", "1.A")])
def test_the_suffix_stands_between_number_and_text(suffix, printed):
    definitions = make.numbering({0: level(0, "%1.", before=f'<w:suff w:val="{suffix}"/>')}, {1: (0, "")})
    assert numbered(listed("A"), definitions=definitions) == [printed]


@pytest.mark.parametrize(
    ("name", "start", "printed"),
    [
        ("lowerLetter", 28, "bb"),
        ("upperLetter", 3, "C"),
        ("upperRoman", 1994, "MCMXCIV"),
        ("ordinal", 22, "22nd"),
        ("ordinal", 11, "11th"),
        ("cardinalText", 42, "Forty-two"),
        ("ordinalText", 20, "Twentieth"),
        ("ordinalText", 112, "One hundred twelfth"),
        ("decimalZero", 7, "07"),
        ("decimalEnclosedCircle", 3, "③"),
        ("chineseCounting", 21, "二十一"),
        ("hebrew1", 15, "\u05d8\u05d5"),
        ("russianLower", 2, "\u0431"),
        ("chicago", 2, "†"),
        ("none", 4, ""),
        ("unheardOf", 4, "4"),
        ("lowerRoman", 999_999_999, "999999999"),
    ],
)
def test_number_formats(name, start, printed):
    definitions = make.numbering({0: level(0, "%1)", name, start=start)}, {1: (0, "")})
    assert numbered(listed("A"), definitions=definitions) == [f"{printed}) A"]


def test_a_custom_format_pads_with_zeros():
    custom = (
        '<w:lvl w:ilvl="0"><w:start w:val="7"/><w:numFmt w:val="custom" w:format="001, 002, 003, ..."/>'
        '<w:lvlText w:val="%1"/></w:lvl>'
    )
    assert numbered(listed("A"), definitions=make.numbering({0: custom}, {1: (0, "")})) == ["007 A"]


def test_bullets_are_printed_but_are_no_section_numbers():
    text = read(listed("Point", list_id=4), related={"numbering": CLAUSES})
    assert text.text == "• Point"
    assert (text.blocks[0].kind, text.blocks[0].number) == (BlockKind.LIST_ITEM, None)


def test_a_style_brings_its_number_and_its_level():
    definitions = make.numbering(
        {
            0: level(0, "%1.", extra='<w:pStyle w:val="One"/>')
            + level(1, "%1.%2", extra='<w:pStyle w:val="Two"/>')
        },
        {1: (0, "")},
    )
    ours = styles(
        style("One", "Clause 1", '<w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr>'),
        style("Two", "Clause 2", '<w:basedOn w:val="One"/>'),
        style("Three", "Clause 3", '<w:basedOn w:val="Two"/>'),
    )
    body = (
        p("A", '<w:pStyle w:val="One"/>')
        + p("B", '<w:pStyle w:val="Two"/>')
        + p("C", '<w:pStyle w:val="Three"/>')
    )
    assert numbered(body, definitions=definitions, styles=ours) == ["1. A", "1.1 B", "1.2 C"]


def test_a_paragraph_may_leave_the_list_of_its_style():
    ours = styles(style("One", "Clause", '<w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr>'))
    out = p("B", '<w:pStyle w:val="One"/><w:numPr><w:numId w:val="0"/></w:numPr>')
    assert numbered(p("A", '<w:pStyle w:val="One"/>'), out, styles=ours) == ["1. A", "B"]


def test_a_list_may_name_a_style_that_names_the_list():
    definitions = make.numbering(
        {0: '<w:numStyleLink w:val="Outline"/>', 1: '<w:styleLink w:val="Outline"/>' + level(0, "%1)")},
        {1: (0, ""), 2: (1, "")},
    )
    ours = styles(
        style(
            "Outline", "Outline", '<w:pPr><w:numPr><w:numId w:val="2"/></w:numPr></w:pPr>', kind="numbering"
        )
    )
    assert numbered(listed("A"), listed("B"), definitions=definitions, styles=ours) == ["1) A", "2) B"]


def test_loops_of_lists_and_styles_end():
    definitions = make.numbering({0: '<w:numStyleLink w:val="Loop"/>'}, {1: (0, "")})
    ours = styles(
        style("Loop", "Loop", '<w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr>', kind="numbering"),
        style("A", "A", '<w:basedOn w:val="B"/>'),
        style("B", "B", '<w:basedOn w:val="A"/>'),
    )
    body = listed("one") + p("two", '<w:pStyle w:val="A"/>')
    assert numbered(body, definitions=definitions, styles=ours) == ["one", "two"]


def test_a_number_that_was_typed_is_a_number_too():
    typed = [
        "4.2 Term",
        "7. Notices",
        "(b) Data",
        "§ 5 Haftung",
        "Article IV Fees",
        "30 days later",
        "1.5 million",
    ]
    text = read("".join(map(p, typed)))
    assert [block.number for block in text.blocks] == ["4.2", "7", "(b)", "§ 5", "Article IV", None, None]


def test_an_empty_clause_keeps_its_number():
    assert numbered(listed("A"), listed(""), listed("C")) == ["1. A", "2.", "3. C"]
