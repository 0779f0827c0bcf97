"""Web pages: one feature a test, a floor under the quality on pages made here, and properties."""

# markup and sentences read best unbroken, in their own letters

import re
from textwrap import fill

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.content.extraction import html
from assay.content.models import BlockKind, NoText, OverLimit, Text, UnreadableDocument

CLAUSE = (
    "The processor shall process personal data only on documented instructions from the controller, "
    "including with regard to transfers to a third country."
)
OTHER = (
    "The parties shall keep confidential whatever they learn about each other in the course of this agreement, "
    "for as long as it lasts and five years beyond."
)
THIRD = (
    "Either party may terminate this agreement by giving notice in writing three months before the end of a "
    "calendar year, without stating any reason."
)
POLICY = (
    f"<h1>Data policy</h1><p>{CLAUSE}</p><h2>2. Confidence</h2><p>{OTHER}</p><h2>3. End</h2><p>{THIRD}</p>"
    + "".join(
        f"<p>Paragraph number {number} of the agreement says that the parties act in good faith towards each other.</p>"
        for number in range(20)
    )
)


def read(markup: str, **options) -> Text:
    return html.read(markup.encode(), **options)


def blocks(text: Text) -> list[tuple[str, str]]:
    return [(block.kind.value, text.text[block.start : block.end]) for block in text.blocks]


def test_headings_paragraphs_and_their_levels_become_blocks():
    text = read(f"<body><h1>Terms</h1><p>{CLAUSE}</p><h3>4.1 Sub-processors</h3><p>{OTHER}</p>")
    assert blocks(text) == [
        ("heading", "Terms"),
        ("paragraph", CLAUSE),
        ("heading", "4.1 Sub-processors"),
        ("paragraph", OTHER),
    ]
    assert [(block.level, block.number) for block in text.blocks if block.level] == [(1, None), (3, "4.1")]


def test_a_heading_by_role_has_its_stated_level():
    text = read(f'<body><div role="heading" aria-level="4">Scope</div><p>{CLAUSE}</p>')
    assert (text.blocks[0].kind, text.blocks[0].level) == (BlockKind.HEADING, 4)


def test_a_bold_line_is_a_heading_and_a_bold_sentence_is_not():
    text = read(f"<body><h2>Terms</h2><p><b>5. Liability</b></p><p><strong>{CLAUSE}</strong></p>")
    assert blocks(text)[1:] == [("heading", "5. Liability"), ("paragraph", CLAUSE)]
    assert (text.blocks[1].level, text.blocks[1].number) == (3, "5")


@pytest.mark.parametrize(
    ("opening", "printed"),
    [
        ("<ol>", ["1.", "2."]),
        ('<ol type="a">', ["a.", "b."]),
        ('<ol type="A" start="27">', ["AA.", "AB."]),
        ('<ol type="i" start="4">', ["iv.", "v."]),
        ('<ol start="9" reversed>', ["9.", "8."]),
        ('<ol style="list-style-type: upper-roman">', ["I.", "II."]),
    ],
)
def test_an_ordered_list_shows_the_numbers_that_a_browser_prints(opening, printed):
    text = read(f"<body><p>{CLAUSE}</p>{opening}<li>first thing<li>second thing</ol>")
    first, second = printed
    assert blocks(text)[1:] == [("listItem", f"{first} first thing"), ("listItem", f"{second} second thing")]
    assert text.blocks[1].number == first.rstrip(".")


def test_the_value_of_an_item_sets_its_number():
    text = read(f"<body><p>{CLAUSE}</p><ol><li>one<li value=7>seven<li>eight</ol>")
    assert [content for _, content in blocks(text)[1:]] == ["1. one", "7. seven", "8. eight"]


def test_a_list_that_is_numbered_by_hand_is_not_numbered_again():
    text = read(f"<body><p>{CLAUSE}</p><ol><li>4.1 one thing<li>4.2 another thing<li>and the rest</ol>")
    assert [content for _, content in blocks(text)[1:]] == [
        "4.1 one thing",
        "4.2 another thing",
        "and the rest",
    ]
    assert text.blocks[1].number == "4.1"


def test_nested_lists_keep_their_depth_and_item_paragraphs_their_place():
    text = read(
        f"<body><p>{CLAUSE}</p><ol><li><p>Outer</p><p>More of it</p><ul><li>Inner</ul><li><h3>Titled</h3></ol>"
    )
    assert blocks(text)[1:] == [
        ("listItem", "1. Outer"),
        ("paragraph", "More of it"),
        ("listItem", "Inner"),
        ("heading", "2. Titled"),
    ]
    assert [block.level for block in text.blocks[1:]] == [1, None, 2, 3]


def test_bullets_typed_by_hand_make_list_items():
    text = read(f"<body><p>{CLAUSE}</p><p>• your name</p><p>– your address</p>")
    assert blocks(text)[1:] == [("listItem", "your name"), ("listItem", "your address")]


def test_definition_lists_keep_term_and_meaning():
    text = read(f"<body><p>{CLAUSE}</p><dl><dt>Controller</dt><dd>{OTHER}</dd></dl>")
    assert blocks(text)[1:] == [("listItem", "Controller"), ("listItem", OTHER)]


def test_a_table_gives_rows_with_cells_that_span():
    text = read(
        f"<body><p>{CLAUSE}</p><table><caption>Retention</caption>"
        "<tr><th>Data<th>Purpose<th>Time</tr>"
        "<tr><td rowspan=2>Name<td>Orders<td>5 years</tr>"
        "<tr><td colspan=2>Marketing, until <br>objection</tr></table>"
    )
    assert blocks(text)[1:] == [
        ("paragraph", "Retention"),
        ("tableRow", "Data\tPurpose\tTime"),
        ("tableRow", "Name\tOrders\t5 years"),
        ("tableRow", "\tMarketing, until objection\t"),
    ]
    row = text.blocks[-1]
    assert [text.text[cell.start : cell.end] for cell in row.cells] == ["", "Marketing, until objection", ""]


def test_the_foot_of_a_table_stands_last():
    text = read(
        "<body><table><tfoot><tr><td>Sum<td>3</tr></tfoot><tr><th>Item<th>Price</tr><tr><td>Seat<td>3</tr></table>"
    )
    assert [content for _, content in blocks(text)] == ["Item\tPrice", "Seat\t3", "Sum\t3"]


def test_a_layout_table_is_no_table():
    text = read(f"<body><table><tr><td>Left<td><h2>Terms</h2><p>{CLAUSE}</p><p>{OTHER}</p></tr></table>")
    assert ("tableRow", CLAUSE) not in blocks(text)
    assert ("paragraph", CLAUSE) in blocks(text)


def test_text_beside_the_cells_of_a_table_is_kept():
    text = read(f"<body><table>{CLAUSE}<tr><td>a<td>b</tr><tr><td>c<td>d</tr></table>")
    assert CLAUSE in text.text


def test_line_breaks_make_paragraphs_and_keep_addresses_together():
    text = read(
        f"<body><div>{CLAUSE}<br><br>{OTHER}<br>{THIRD}<br>2.1 Notices go to:<br>Example Ltd<br>1 High Street</div>"
    )
    assert [content for _, content in blocks(text)] == [
        CLAUSE,
        OTHER,
        THIRD,
        "2.1 Notices go to:\nExample Ltd\n1 High Street",
    ]


def test_preformatted_text_is_read_like_a_text_file():
    text = read(f"<body><pre>1. SCOPE\n\n{fill(CLAUSE)}\n\n{fill(OTHER)}</pre>")
    assert blocks(text) == [("heading", "1. SCOPE"), ("paragraph", CLAUSE), ("paragraph", OTHER)]


def test_a_licence_in_a_text_area_is_read():
    assert CLAUSE in read(f"<body><p>{OTHER}</p><textarea>{CLAUSE}</textarea>").text


def test_footnotes_are_marked():
    text = read(f'<body><p>{CLAUSE}</p><div class="footnotes"><p>{OTHER}</p></div>')
    assert blocks(text)[-1] == ("footnote", OTHER)


def test_the_summary_of_a_panel_is_a_heading():
    text = read(f"<body><h2>Terms</h2><details><summary>Your rights</summary><p>{CLAUSE}</p></details>")
    assert (text.blocks[1].kind, text.blocks[1].level) == (BlockKind.HEADING, 3)


def test_a_frame_that_brings_its_document_along_is_read_in_place():
    inner = f"&lt;p&gt;{CLAUSE}&lt;/p&gt;"
    text = read(f'<body><p>{OTHER}</p><iframe srcdoc="{inner}"></iframe><p>{THIRD}</p>')
    assert text.text == f"{OTHER}\n\n{CLAUSE}\n\n{THIRD}"


def test_a_shadow_root_in_the_markup_is_shown_text():
    text = read(
        f'<body>{POLICY}<my-part><template shadowrootmode="open"><p>Shown {CLAUSE}</p></template></my-part>'
    )
    assert f"Shown {CLAUSE}" in text.text


def test_scripts_styles_and_drawings_are_no_text():
    text = read(
        f"<body><script>var a = 1</script><style>p {{}}</style><svg><title>Logo</title><text>Logo</text></svg><p>{CLAUSE}</p>"
    )
    assert text.text == CLAUSE


def test_struck_text_is_kept_and_told():
    text = read(f"<body><p>{CLAUSE} <del>Not any more.</del></p>")
    assert text.text == f"{CLAUSE} Not any more."
    assert [(caveat.code, caveat.count) for caveat in text.caveats] == [("struck_text", 1)]


def test_invisible_characters_do_not_part_words():
    assert (
        read("<body><p>data\u00adbase pro\u200bcessor a\u00a0b &shy;c</p>").text == "database processor a b c"
    )


def test_inline_markup_parts_no_words_and_blocks_do():
    text = read("<body><p>sub<b>process</b>or <q>agreed</q></p><div>one</div><div>two</div>")
    assert [content for _, content in blocks(text)] == ["subprocessor “agreed”", "one", "two"]


def test_inline_elements_that_are_shown_as_blocks_part_words():
    assert (
        read('<body><span style="display: block">one</span><span style="display:block">two</span>').text
        == "one\n\ntwo"
    )


def test_the_title_of_the_page_is_its_title_or_its_first_heading_or_its_name():
    assert read(f"<title> Our \n terms </title><body><h1>Terms</h1><p>{CLAUSE}</p>").title == "Our terms"
    assert read(f"<body><h1>Terms</h1><p>{CLAUSE}</p>").title == "Terms"
    assert (
        read(f"<body><p>{CLAUSE}</p>", url="https://example.org/legal/data%20policy/?a=b").title
        == "data policy"
    )


def test_the_declared_language_holds_unless_the_text_is_plainly_in_another():
    french = "Nous traitons les données que vous nous confiez pour la gestion de votre compte et nous ne les vendons pas."
    assert read(f'<html lang="en-GB"><body><p>{CLAUSE}</p>').language == "en"
    assert read(f'<html lang="en"><body><p>{french} {french}</p>').language == "fr"
    assert read(f"<html><body><p>{french}</p>").language == "fr"
    assert read('<html lang="de"><body><p>Impressum</p>').language == "de"


def test_a_page_that_scripts_fill_is_told_apart_from_an_empty_one():
    shell = read('<body><div id="root">Please wait</div><script src="app.js"></script>')
    assert [caveat.code for caveat in shell.caveats] == ["script_shell"]
    assert read(f'<body>{POLICY}<script src="app.js"></script>').caveats == ()
    with pytest.raises(NoText, match="scripts"):
        read('<body><div id="root"></div><script src="app.js"></script>')
    with pytest.raises(NoText):
        read("<body><div></div>")


def test_a_page_of_nothing_but_links_is_still_read():
    assert "Terms of use" in read('<body><nav><a href="/terms">Terms of use</a></nav>').text


@pytest.mark.parametrize(
    "markup",
    [
        "<div>" * 100_000 + CLAUSE,
        "<b>" * 2500 + "</i>" * 2500 + CLAUSE,
        "<table><tr><td>" * 2000 + CLAUSE,
        "<ol><li>" * 1200 + CLAUSE,
        '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]>' + f"<p>&x;</p><p>{CLAUSE}</p>",
        f"<table><tr><td colspan=99999 rowspan=99999>x<td>{CLAUSE}</tr><tr><td>a<td>b</tr></table>",
        "<script>" + CLAUSE + "</script>" + CLAUSE + "<script>",
        f"<p>{CLAUSE}</p>" + "<!--" * 1000,
    ],
)
def test_hostile_markup_is_read_to_its_end(markup):
    text = read(markup).text
    assert CLAUSE in text
    assert "root:" not in text


def test_more_tags_than_memory_allows_are_refused():
    with pytest.raises(OverLimit):
        read("<p>a" * 400_001)


def assert_exact(text: Text) -> None:
    """Offsets are exact, and the blocks, joined by what stands between them, are the text."""
    position = 0
    for block in text.blocks:
        assert text.text[position : block.start].strip("\n") == ""
        assert position <= block.start < block.end
        position = block.end
        joined = "\t".join(text.text[cell.start : cell.end] for cell in block.cells)
        assert not block.cells or joined == text.text[block.start : block.end]
        assert block.number is None or block.number in text.text[block.start : block.end]
    assert position == len(text.text)


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=400))
def test_any_bytes_give_a_text_or_a_named_failure(data):
    try:
        text = html.read(data)
    except UnreadableDocument:
        return
    assert_exact(text)


TAGS = st.sampled_from(
    re.findall(
        r"\w+", "p div li ol ul table tr td th h2 b br nav pre dl dt dd details summary button q section"
    )
)
ATTRIBUTES = st.sampled_from(
    ["", ' class="footnote"', " hidden", ' id="menu"', " rowspan=3", " colspan=2", ' role="dialog"']
)
WORDS = st.sampled_from([CLAUSE, "(a) one", "4.1 Scope", "• item", "x &amp; y", "\n  ", "data\u00ad", "條款"])
MARKUP = st.lists(
    st.one_of(st.builds("<{}{}>".format, TAGS, ATTRIBUTES), st.builds("</{}>".format, TAGS), WORDS),
    max_size=40,
).map("".join)


@settings(max_examples=200, deadline=None)
@given(MARKUP)
def test_any_markup_gives_exact_offsets(markup):
    try:
        text = read(markup)
    except NoText:
        return
    assert_exact(text)
    assert read(markup) == text
