"""Tables, merged and nested."""

from assay.content.models import BlockKind
from tests.content.docx_files import cell, listed, p, table, tr
from tests.content.extraction.docx_lines import CLAUSES, caveat, lines, read


def test_a_row_is_a_block_with_its_cells():
    text = read(table(tr("Service", "Fee"), tr("Basic", "42")))
    assert [[text.text[s.start : s.end] for s in block.cells] for block in text.blocks] == [
        ["Service", "Fee"],
        ["Basic", "42"],
    ]
    assert {block.kind for block in text.blocks} == {BlockKind.TABLE_ROW}


def test_a_nested_table_stands_in_its_cell_once():
    inner = table(tr("left", "right"), tr("low", "deep"))
    text = read(table(tr("a", cell(inner + p("after")), "z")))
    assert text.text == "a\tleft\tright\nlow\tdeep\nafter\tz"
    assert [text.text[s.start : s.end] for s in text.blocks[0].cells] == [
        "a",
        "left\tright\nlow\tdeep\nafter",
        "z",
    ]


def test_merged_cells_stand_once_and_keep_the_columns():
    body = table(
        tr(cell("wide", '<w:gridSpan w:val="2"/>'), "x"),
        tr(cell("tall", '<w:vMerge w:val="restart"/>'), "1", "2"),
        tr(cell(p(""), "<w:vMerge/>"), "3", "4"),
        tr(cell("title", '<w:gridSpan w:val="3"/>')),
    )
    assert lines(body) == ["wide\t\tx\ntall\t1\t2\n\t3\t4\ntitle"]


def test_a_hidden_row_is_left_out_and_listed():
    text = read(table(tr("seen"), tr("unseen", properties="<w:hidden/>")))
    assert text.text == "seen"
    assert "unseen" in caveat(text, "hidden_text").message


def test_one_column_around_headings_is_a_frame_not_a_table():
    body = table(tr(cell(p("Terms", '<w:outlineLvl w:val="0"/>') + p("The terms are these."))))
    assert [block.kind for block in read(body).blocks] == [BlockKind.HEADING, BlockKind.PARAGRAPH]


def test_numbers_count_on_through_cells():
    body = listed("A") + table(tr(cell(listed("B")), cell(listed("C")))) + listed("D")
    text = read(body, related={"numbering": CLAUSES})
    assert text.text == "1. A\n\n2. B\t3. C\n\n4. D"
    assert text.blocks[1].number == "2"
