"""Tracked changes, accepted and as they stood before."""

from tests.content import docx_files as make
from tests.content.docx_files import cell, deleted, ins, listed, p, t, table, tr
from tests.content.extraction.docx_lines import CLAUSES, caveat, lines, numbered, read

TRACKED = p(t("The fee is EUR ") + deleted("39") + ins(t("42")) + t("."))


def test_tracked_changes_are_read_as_accepted_and_counted():
    text = read(TRACKED)
    assert text.text == "The fee is EUR 42."
    assert caveat(text, "tracked_changes").count == 2


def test_the_original_view_has_deletions_in_and_insertions_out():
    assert read(TRACKED, original=True).text == "The fee is EUR 39."


MOVED = (
    p(f"<w:moveFrom {make.BY}>{t('Venue is Kiel.')}</w:moveFrom>", f"<w:rPr><w:moveFrom {make.BY}/></w:rPr>")
    + p("Notices are written.")
    + p(f"<w:moveTo {make.BY}>{t('Venue is Kiel.')}</w:moveTo>", f"<w:rPr><w:moveTo {make.BY}/></w:rPr>")
)


def test_a_move_stands_once():
    text = read(MOVED)
    assert text.text == "Notices are written.\n\nVenue is Kiel."
    assert caveat(text, "tracked_changes").count == 1


def test_a_move_stands_at_its_old_place_in_the_original():
    assert read(MOVED, original=True).text == "Venue is Kiel.\n\nNotices are written."


def test_a_deleted_paragraph_mark_joins_the_paragraphs():
    body = p("The supplier shall ", f"<w:rPr><w:del {make.BY}/></w:rPr>") + p("not subcontract.")
    assert lines(body) == ["The supplier shall not subcontract."]
    assert lines(body, original=True) == ["The supplier shall", "not subcontract."]


def test_a_clause_keeps_its_number_when_what_followed_is_deleted():
    mark = f"<w:rPr><w:del {make.BY}/></w:rPr>"
    clause = p("A", f'<w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr>{mark}')
    assert numbered(clause, p(deleted("Old"))) == ["1. A"]


def test_deleted_clauses_at_the_end_leave_no_number_behind():
    mark = f"<w:rPr><w:del {make.BY}/></w:rPr>"
    gone = p(deleted("Old"), f'<w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr>{mark}')
    assert numbered(listed("A"), gone, gone, table(tr("x", "y"))) == ["1. A", "x\ty"]


def test_an_inserted_paragraph_mark_joins_them_in_the_original():
    body = p("One ", f"<w:rPr><w:ins {make.BY}/></w:rPr>") + p("two.")
    assert (lines(body), lines(body, original=True)) == (["One", "two."], ["One two."])


def test_a_deleted_clause_takes_no_number():
    mark = f"<w:rPr><w:del {make.BY}/></w:rPr>"
    gone = p(deleted("Old"), f'<w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr>{mark}')
    assert numbered(listed("A"), gone, listed("B")) == ["1. A", "2. B"]


def test_a_deleted_paragraph_mark_before_a_table_changes_nothing():
    body = p("Prices:", f"<w:rPr><w:del {make.BY}/></w:rPr>") + table(tr("a", "b"))
    assert lines(body) == ["Prices:", "a\tb"]


def test_changed_rows_and_cells():
    body = table(
        tr("Item", "Price"),
        tr("waived", "39", properties=f"<w:del {make.BY}/>"),
        tr("applies", "42", properties=f"<w:ins {make.BY}/>"),
        tr("kept", cell("gone", f"<w:cellDel {make.BY}/>"), cell("new", f"<w:cellIns {make.BY}/>")),
    )
    assert lines(body) == ["Item\tPrice\napplies\t42\nkept\tnew"]
    assert lines(body, original=True) == ["Item\tPrice\nwaived\t39\nkept\tgone"]


def test_the_original_view_has_the_former_numbering():
    former = '<w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr>'
    body = p("A", f"<w:pPrChange {make.BY}><w:pPr>{former}</w:pPr></w:pPrChange>")
    assert lines(body, related={"numbering": CLAUSES}) == ["A"]
    assert lines(body, related={"numbering": CLAUSES}, original=True) == ["1. A"]
