"""What a Word document says, feature by feature."""

import io

import pytest

from assay.content.extraction import docx
from assay.content.models import BlockKind
from tests.content import docx_files as make
from tests.content.docx_files import cell, field, ins, listed, p, style, styles, t, table, tr
from tests.content.extraction.docx_lines import CLAUSES, caveat, lines, read

# Runs


def test_hyperlinks_are_read_also_when_inserted():
    body = p(t("See ") + f'<w:hyperlink r:id="x">{ins(t("Annex 7"))}</w:hyperlink>' + t("."))
    assert lines(body) == ["See Annex 7."]


@pytest.mark.parametrize(
    ("font", "code", "shown"),
    [
        ("Wingdings", "F0FE", "☑"),
        ("Wingdings", "F0A8", "☐"),
        ("Wingdings", "F0FD", "☒"),
        ("Symbol", "F062", "β"),
    ],
)
def test_symbols_are_the_signs_they_look_like(font, code, shown):
    assert lines(p(f'<w:r><w:sym w:font="{font}" w:char="{code}"/></w:r>')) == [shown]


def test_text_typed_in_a_symbol_font_is_its_signs():
    assert lines(p(t("\u00fe", '<w:rFonts w:ascii="Wingdings"/>') + t(" agreed"))) == ["☑ agreed"]


def test_tabs_breaks_and_hyphens():
    first = "<w:r><w:t>non</w:t><w:noBreakHyphen/><w:t>exclusive</w:t><w:tab/></w:r>"
    second = "<w:r><w:t>co</w:t><w:softHyphen/><w:t>op</w:t><w:br/><w:t>end</w:t></w:r>"
    assert lines(p(first + second)) == ["non-exclusive\tcoop\nend"]


def test_white_space_of_the_xml_is_none_of_the_text():
    assert lines("<w:p>\n <w:r>\n  <w:t>\n   a clause\n  </w:t>\n </w:r>\n</w:p>") == ["a clause"]


def test_equations_stay_readable():
    half = "<m:f><m:num><m:r><m:t>1</m:t></m:r></m:num><m:den><m:r><m:t>2</m:t></m:r></m:den></m:f>"
    assert lines(p(t("at most ") + f"<m:oMath>{half}</m:oMath>")) == ["at most 1/2"]


def test_a_reading_aid_stands_in_brackets():
    ruby = f"<w:r><w:ruby><w:rt>{t('とうきょう')}</w:rt><w:rubyBase>{t('東京')}</w:rubyBase></w:ruby></w:r>"
    assert lines(p(ruby)) == ["東京(とうきょう)"]


# Hidden text and comments


def test_hidden_text_is_left_out_and_listed():
    text = read(p(t("secret ", "<w:vanish/>") + t("plan ", "<w:vanish/>") + t("Seen.")))
    assert text.text == "Seen."
    assert caveat(text, "hidden_text").count == 1
    assert "“secret plan”" in caveat(text, "hidden_text").message


def test_text_may_be_hidden_by_a_style_and_shown_again():
    ours = styles(
        style("Ghost", "Ghost", "<w:rPr><w:vanish/></w:rPr>"),
        style("Child", "Child", '<w:basedOn w:val="Ghost"/>'),
        style("Veil", "Veil", "<w:rPr><w:vanish/></w:rPr>", kind="character"),
    )
    shown = t("back", '<w:vanish w:val="0"/>')
    body = p("gone", '<w:pStyle w:val="Child"/>') + p(t("also ", '<w:rStyle w:val="Veil"/>') + t("here"))
    assert lines(body + p(t("no ") + shown, '<w:pStyle w:val="Ghost"/>'), related={"styles": ours}) == [
        "here",
        "back",
    ]


@pytest.mark.parametrize("formatting", ['<w:color w:val="FFFFFF"/>', '<w:sz w:val="1"/>'])
def test_white_and_tiny_text_is_hidden(formatting):
    text = read(p(t("trick", formatting) + t("Seen.")))
    assert (text.text, caveat(text, "hidden_text").count) == ("Seen.", 1)


def test_white_text_on_a_colour_is_seen():
    white = '<w:color w:val="FFFFFF"/>'
    shaded = '<w:shd w:val="clear" w:fill="1F3864"/>'
    body = (
        p(t("one", white + shaded))
        + p(t("two", white), shaded)
        + table(tr(cell(p(t("three", white)), shaded)))
    )
    assert lines(body) == ["one", "two", "three"]


def test_comments_are_counted_and_not_mixed_in():
    comments = make.part("comments", f'<w:comment w:id="1">{p("Delete this?")}</w:comment>')
    text = read(
        p(t("A warranty.") + '<w:r><w:commentReference w:id="1"/></w:r>'), related={"comments": comments}
    )
    assert (text.text, caveat(text, "comments").count) == ("A warranty.", 1)


# Headers, headings, title, language


def test_headers_and_footers_stand_once_after_the_body():
    files = {
        "word/h1.xml": make.part("hdr", p("Draft 3")),
        "word/h2.xml": make.part("hdr", p("Draft 3")),
        "word/f1.xml": make.part("ftr", p(t("Page ") + field("PAGE", t("1")))),
    }
    relations = {"a": ("header", "h1.xml"), "b": ("header", "h2.xml"), "c": ("footer", "f1.xml")}
    section = (
        '<w:headerReference w:type="default" r:id="a"/><w:headerReference w:type="first" r:id="b"/>'
        '<w:footerReference w:type="default" r:id="c"/>'
    )
    earlier = p("One.", f"<w:sectPr>{section}</w:sectPr>")
    text = read(earlier + p("Two."), files=files, relations=relations, section=section)
    assert text.text == "One.\n\nTwo.\n\nDraft 3\n\nPage 1"
    assert [block.kind for block in text.blocks[2:]] == [BlockKind.HEADER, BlockKind.FOOTER]


def test_headings_are_known_by_style_name_and_by_outline_level():
    ours = styles(
        style("berschrift2", "heading 2"),
        style("Mine", "Mine", '<w:pPr><w:outlineLvl w:val="2"/></w:pPr>'),
        style("T", "Title"),
    )
    body = "".join(
        p(name, f'<w:pStyle w:val="{name}"/>') for name in ("T", "berschrift2", "Mine", "Heading1")
    )
    text = read(body + p("Own", '<w:outlineLvl w:val="3"/>') + p("Body"), related={"styles": ours})
    assert [(b.kind, b.level) for b in text.blocks] == [
        *((BlockKind.HEADING, deep) for deep in (1, 2, 3, 1, 4)),
        (BlockKind.PARAGRAPH, None),
    ]
    assert text.title == "T"


def test_a_long_clause_in_a_headings_style_is_a_clause():
    body = p("The supplier shall keep it. " * 20, '<w:outlineLvl w:val="1"/>')
    assert read(body).blocks[0].kind is BlockKind.PARAGRAPH


def test_the_title_comes_from_the_properties():
    named = '<d:title xmlns:d="http://purl.org/dc/elements/1.1/">Frame  Agreement</d:title>'
    core = f'<c:coreProperties xmlns:c="urn:x">{named}</c:coreProperties>'
    files = make.parts(p("Text."))
    kind = "http://schemas.openxmlformats.org/package/2006/relationships/metadata/core-properties"
    files["_rels/.rels"] = str(files["_rels/.rels"]).replace(
        "</Relationships>", f'<Relationship Id="c" Type="{kind}" Target="docProps/core.xml"/></Relationships>'
    )
    assert docx.read(make.zipped({**files, "docProps/core.xml": core})).title == "Frame Agreement"


def test_the_language_is_that_of_most_runs_or_of_the_styles():
    ours = styles(defaults='<w:lang w:val="en-US"/>')
    german = "".join(p(t(word, '<w:lang w:val="de-DE"/>')) for word in ("Eins", "Zwei"))
    assert read(p("One"), related={"styles": ours}).language == "en"
    assert read(german + p("One"), related={"styles": ours}).language == "de"
    assert read(p("One")).language is None


# Documents in the document, strict files, progress


def chunk(name, content):
    return lines(
        p("Main.") + '<w:altChunk r:id="c"/>' + p("End."),
        files={f"word/{name}": content},
        relations={"c": ("aFChunk", name)},
    )


def test_embedded_html_is_read_without_its_scripts():
    page = (
        "<!DOCTYPE html><html><head><title>no</title><style>no{}</style></head>"
        "<body><h1>Annex</h1><p>Kept <b>18</b>"
        " months</p><script>var no</script><ul><li>one</li></ul><p hidden>no</p>"
        "<table><tr><td>a</td><td>b</td></tr></table></body></html>"
    )
    assert chunk("c.html", page) == ["Main.", "Annex", "Kept 18 months", "• one", "a\tb", "End."]


def test_embedded_plain_text_is_read():
    assert chunk("c.txt", "One\r\n\r\nTwo") == ["Main.", "One", "Two", "End."]


def test_an_embedded_web_archive_is_read():
    archive = (
        'MIME-Version: 1.0\nContent-Type: multipart/related; boundary="x"\n\n'
        "--x\nContent-Type: text/html\n\n<p>Annex</p>\n--x--"
    )
    assert chunk("c.mht", archive) == ["Main.", "Annex", "End."]


def test_an_embedded_document_is_read_with_its_own_numbers():
    inner = make.docx(listed("A") + p(ins(t("B"))), related={"numbering": CLAUSES})
    assert chunk("c.docx", inner) == ["Main.", "1. A", "B", "End."]


def test_an_embedded_document_of_another_format_is_named():
    body = p("Main.") + '<w:altChunk r:id="c"/>'
    text = read(body, files={"word/c.rtf": "{\\rtf1 x}"}, relations={"c": ("aFChunk", "c.rtf")})
    assert caveat(text, "unread_part") is not None


def test_strict_files_are_read_alike():
    strict = {
        name: str(content)
        .replace(
            "http://schemas.openxmlformats.org/wordprocessingml/2006/main",
            "http://purl.oclc.org/ooxml/wordprocessingml/main",
        )
        .replace(
            "http://schemas.openxmlformats.org/officeDocument/2006/",
            "http://purl.oclc.org/ooxml/officeDocument/",
        )
        for name, content in make.parts(listed("A"), related={"numbering": CLAUSES}).items()
    }
    data = make.zipped(strict)
    assert docx.read(data).text == "1. A"
    assert docx.is_docx(io.BytesIO(data))


def test_parts_in_utf_16_are_read():
    files = make.parts(p("Ärger"))
    files["word/document.xml"] = str(files["word/document.xml"]).replace("UTF-8", "UTF-16").encode("utf-16")
    assert docx.read(make.zipped(files)).text == "Ärger"


def test_progress_rises_to_the_end():
    told = []
    docx.read(make.docx(p("x") * 250), progress=lambda done, total: told.append((done, total)))
    assert told == sorted(told)
    assert told[-1][0] >= 250
    assert len(told) <= 130
