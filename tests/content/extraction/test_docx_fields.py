"""What hangs on a paragraph or wraps it: notes, boxes, controls, fields."""

import pytest

from assay.content.models import BlockKind
from tests.content import docx_files as make
from tests.content.docx_files import cell, field, p, t, table, tr
from tests.content.extraction.docx_lines import lines, read


def notes(kind, *texts):
    inner = "".join(f'<w:{kind} w:id="{i}">{p(text)}</w:{kind}>' for i, text in enumerate(texts, 2))
    return make.part(f"{kind}s", f'<w:{kind} w:type="separator" w:id="0">{p("")}</w:{kind}>{inner}')


def cited(kind, identifier):
    return f'<w:r><w:{kind}Reference w:id="{identifier}"/></w:r>'


def test_notes_stand_after_the_block_that_cites_them():
    body = p(t("The cap") + cited("footnote", 3) + t(" applies") + cited("endnote", 2) + t(".")) + p("Next.")
    related = {
        "footnotes": notes("footnote", "never cited", "net of tax"),
        "endnotes": notes("endnote", "yearly"),
    }
    text = read(body, related=related)
    assert text.text == "The cap[1] applies[i].\n\n[1] net of tax\n\n[i] yearly\n\nNext."
    assert [(b.kind, b.number) for b in text.blocks[1:3]] == [
        (BlockKind.FOOTNOTE, "[1]"),
        (BlockKind.FOOTNOTE, "[i]"),
    ]


def test_a_note_cited_in_a_cell_stands_after_its_row():
    body = table(tr(cell(p(t("a") + cited("footnote", 2))), "b"), tr("c", "d"))
    assert lines(body, related={"footnotes": notes("footnote", "why")}) == ["a[1]\tb", "[1] why", "c\td"]


def test_note_marks_follow_the_documents_format():
    inner = '<w:numFmt w:val="lowerLetter"/><w:numStart w:val="3"/>'
    settings = make.part("settings", f"<w:footnotePr>{inner}</w:footnotePr>")
    related = {"footnotes": notes("footnote", "why"), "settings": settings}
    assert lines(p(t("x") + cited("footnote", 2)), related=related) == ["x[c]", "[c] why"]


def test_a_note_of_a_deleted_citation_is_left_out():
    body = p(t("Kept.") + f"<w:del {make.BY}>{cited('footnote', 2)}</w:del>")
    assert lines(body, related={"footnotes": notes("footnote", "gone")}) == ["Kept."]


BOX = f"<w:txbxContent>{p('In the box')}</w:txbxContent>"
VML_BOX = f"<w:pict><v:shape><v:textbox>{BOX}</v:textbox></v:shape></w:pict>"
DRAWN_BOX = f"<w:drawing><wp:inline><wps:wsp><wps:txbx>{BOX}</wps:txbx></wps:wsp></wp:inline></w:drawing>"


def test_a_text_box_stands_once_after_its_paragraph():
    choice = f'<mc:Choice Requires="wps">{DRAWN_BOX}</mc:Choice><mc:Fallback>{VML_BOX}</mc:Fallback>'
    body = p(t("Before ") + f"<w:r><mc:AlternateContent>{choice}</mc:AlternateContent></w:r>" + t("after"))
    assert lines(body) == ["Before after", "In the box"]


def test_the_fallback_is_read_where_the_choice_is_not_understood():
    branches = f'<mc:Choice Requires="x">{p("new")}</mc:Choice><mc:Fallback>{p("old")}</mc:Fallback>'
    body = f'<mc:AlternateContent xmlns:x="urn:unheard-of">{branches}</mc:AlternateContent>'
    assert lines(body) == ["old"]


def test_a_box_of_the_older_kind_is_read():
    assert lines(p(t("Here") + f"<w:r>{VML_BOX}</w:r>")) == ["Here", "In the box"]


def test_a_watermark_is_read():
    art = '<w:r><w:pict><v:shape><v:textpath string="DRAFT"/></v:shape></w:pict></w:r>'
    assert lines(p(t("Here") + art)) == ["Here", "DRAFT"]


def test_the_labels_of_a_diagram_are_read():
    drawing = '<w:r><w:drawing><wp:inline><dgm:relIds r:dm="d1"/></wp:inline></w:drawing></w:r>'
    label = "<dgm:t><a:p><a:r><a:t>Step one</a:t></a:r></a:p></dgm:t>"
    data = f"<dgm:dataModel {make.NAMESPACES}>{label}</dgm:dataModel>"
    relations = {"d1": ("diagramData", "diagrams/data1.xml")}
    assert lines(p(drawing), files={"word/diagrams/data1.xml": data}, relations=relations) == ["Step one"]


def sdt(content):
    return f"<w:sdt><w:sdtPr><w:alias w:val='x'/></w:sdtPr><w:sdtContent>{content}</w:sdtContent></w:sdt>"


def test_content_controls_are_read_around_anything():
    body = (
        sdt(p("A block")) + p(t("Date: ") + sdt(t("1 March")) + t(".")) + table(sdt(tr(sdt(cell("x")), "y")))
    )
    assert lines(body) == ["A block", "Date: 1 March.", "x\ty"]


def test_a_check_box_control_shows_its_state():
    box = sdt('<w:r><w:sym w:font="MS Gothic" w:char="2612"/></w:r>')
    assert lines(p(box + t(" agreed"))) == ["☒ agreed"]


def test_a_field_is_its_result():
    body = p(
        t("See clause ")
        + field(" REF _Ref1 \\h ", t("4.2"))
        + t(", ")
        + f'<w:fldSimple w:instr="X">{t("y")}</w:fldSimple>'
    )
    assert lines(body) == ["See clause 4.2, y"]


def test_a_field_within_an_instruction_is_no_text():
    inner = field(" PAGE ", t("7"))
    begin = '<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText> IF </w:instrText></w:r>'
    rest = (
        '<w:r><w:fldChar w:fldCharType="separate"/></w:r>'
        + t("shown")
        + '<w:r><w:fldChar w:fldCharType="end"/></w:r>'
    )
    assert lines(p(begin + inner + rest)) == ["shown"]


def test_a_table_of_contents_runs_over_paragraphs():
    begin, end = field(" TOC ", "|").split("|")
    assert lines(p(begin + t("1. Scope")) + p("2. Fees") + p(end) + p("Text.")) == [
        "1. Scope",
        "2. Fees",
        "Text.",
    ]


def test_a_field_that_never_ends_swallows_nothing():
    assert lines(p('<w:r><w:fldChar w:fldCharType="begin"/></w:r>' + t("kept")) + p("too")) == ["kept", "too"]


@pytest.mark.parametrize(("state", "shown"), [("<w:checked/>", "☒"), ('<w:default w:val="0"/>', "☐")])
def test_a_form_check_box_shows_its_state(state, shown):
    data = f"<w:ffData><w:checkBox>{state}</w:checkBox></w:ffData>"
    box = field(" FORMCHECKBOX ", "").replace('"begin"/>', f'"begin">{data}</w:fldChar>')
    assert lines(p(box + t(" yes"))) == [f"{shown} yes"]


def test_a_form_list_shows_what_was_chosen():
    entries = '<w:result w:val="1"/><w:listEntry w:val="Kiel"/><w:listEntry w:val="Bonn"/>'
    data = f"<w:ffData><w:ddList>{entries}</w:ddList></w:ffData>"
    box = field(" FORMDROPDOWN ", "").replace('"begin"/>', f'"begin">{data}</w:fldChar>')
    assert lines(p(box)) == ["Bonn"]
