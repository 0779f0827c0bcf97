"""The site around a document goes, the document stays; with a floor under the quality on pages made here."""

# markup reads best unbroken

import re
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.content.extraction import html
from assay.content.models import Text

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


@pytest.mark.parametrize(
    "chrome",
    [
        '<nav><a href="/">Home</a> <a href="/shop">Shop</a> <a href="/help">Help</a></nav>',
        '<header><a href="/">Home</a> <a href="/shop">Shop</a></header>',
        '<footer><p>Home of fine goods since 1901.</p><a href="/shop">Shop</a></footer>',
        '<div role="banner"><a href="/">Home</a></div>',
        '<div class="site-footer"><a href="/">Home</a> <a href="/shop">Shop</a></div>',
        '<ul id="mainMenu"><li><a href="/">Home</a><li><a href="/shop">Shop</a></ul>',
        '<div class="language-picker"><a href="/de">Home</a> <a href="/fr">Maison</a></div>',
        '<div id="newsletter-signup"><p>Home delivery of our news, every week, straight into your mailbox.</p></div>',
        '<div id="onetrust-banner-sdk"><h2>Home rules</h2><p>We use cookies to make this site work for you, and more.</p></div>',
        '<div class="x1"><p>Home rules: we use cookies to make this site work for you.</p><button>Accept</button></div>',
        '<div role="dialog"><p>Home delivery is now available in your area; please tell us where you live.</p></div>',
        "<dialog><p>Home delivery is now available in your area; please tell us where you live.</p></dialog>",
        '<div class="social-share"><a href="/x">Home</a></div>',
    ],
)
def test_the_site_around_the_document_is_left_out(chrome):
    text = read(f"<body>{chrome}<div class=content>{POLICY}</div>{chrome}")
    assert "Home" not in text.text
    assert text.text == read(f"<body><div class=content>{POLICY}</div>").text


@pytest.mark.parametrize(
    "ornament",
    [
        '<ol class="breadcrumb"><li><a href="/">Home</a></ol>',
        '<div class="share-bar">Home <a href="/x">X</a></div>',
        "<button>Home</button>",
        '<form action="/vote"><label>Home</label></form>',
        '<span class="sr-only">Home</span>',
        '<nav><a href="/">Home</a></nav>',
    ],
)
def test_ornaments_within_the_document_are_left_out(ornament):
    text = read(f"<body><main>{POLICY}{ornament}<p>{CLAUSE}</p></main>")
    assert "Home" not in text.text
    assert text.text.endswith(CLAUSE)


@pytest.mark.parametrize("name", ["newsletter", "social", "feedback", "sharing", "cookie-notice", "related"])
def test_a_clause_is_kept_whatever_its_section_is_called(name):
    clause = "You can withdraw your consent to receive our letters at any time by writing to us there."
    linked = clause.replace("there", '<a href="/us">there</a>')
    section = f'<section id="{name}"><h2 id="{name}-title">On {name}</h2><p>{linked}</p></section>'
    text = read(f"<body><main>{POLICY}{section}</main>")
    assert clause in text.text
    assert f"On {name}" in text.text


def test_a_document_in_a_dialog_or_footer_is_kept_when_it_is_the_page():
    for tag in ("footer", "dialog", 'div class="cookie-banner"', "nav", "header", "aside"):
        text = read(f"<body><p>Welcome</p><{tag}>{POLICY}</{tag.split()[0]}>")
        assert CLAUSE in text.text
        assert THIRD in text.text


@pytest.mark.parametrize("name", ['class="onetrust-text"', 'role="dialog"'])
def test_parts_that_all_bear_a_misleading_name_are_kept(name):
    parts = "".join(f"<div {name}><p>{CLAUSE} {number}</p></div>" for number in range(9))
    text = read(f"<body><p>{OTHER}</p>{parts}").text
    assert text.count("documented instructions") == 9


def test_the_heading_of_a_section_is_kept_whatever_the_section_is_called():
    text = read(f'<body><main>{POLICY}<section id="sharing"><h2>Sharing</h2></section><p>{CLAUSE}</p></main>')
    assert blocks(text)[-2:] == [("heading", "Sharing"), ("paragraph", CLAUSE)]


def test_the_title_in_the_header_of_the_page_is_kept():
    text = read(f'<body><header><a href="/">Home</a><h1>Privacy notice</h1></header><div>{POLICY[27:]}</div>')
    assert blocks(text)[0] == ("heading", "Privacy notice")


def test_the_date_beside_the_document_is_kept():
    text = read(f'<body><main><div>Last updated: 1 May 2026</div><div class="body">{POLICY}</div></main>')
    assert text.text.startswith("Last updated: 1 May 2026")


def test_links_back_to_the_top_are_left_out():
    back = '<p><a href="#top">Back to top</a></p>'
    text = read(f"<body><main>{POLICY}{back}<p>{CLAUSE}</p>{back}<p>{OTHER}</p>{back}</main>")
    assert "Back to top" not in text.text


def test_a_table_of_contents_is_part_of_the_document():
    contents = '<nav><a href="#a">Scope</a> <a href="#b">Term</a> <a href="#c">Notice</a></nav>'
    assert "Scope Term Notice" in read(f"<body><main>{contents}{POLICY}</main>").text


@pytest.mark.parametrize(
    "second", ['class="print-only"', 'style="display:none"', 'class="mobile-view"', "hidden"]
)
def test_a_copy_for_another_screen_stands_once(second):
    text = read(f'<body><div class="desktop">{POLICY}</div><div {second}>{POLICY}</div>')
    assert text.text.count(CLAUSE) == 1


def test_a_clause_that_stands_only_in_the_copy_is_not_lost():
    text = read(
        f'<body><div class="desktop">{POLICY}</div><div class="mobile">{POLICY}<p>Only {OTHER}</p></div>'
    )
    assert f"Only {OTHER}" in text.text


def chrome_around(policy: str) -> str:
    links = "".join(
        f'<li><a href="/{word}">{word} and offers for you</a>' for word in ("Shop", "News", "Help", "Jobs")
    )
    return (
        f'<html lang="en"><title>Policy | Shop</title><body><a class="skip-link" href="#m">Skip to the content of this page</a>'
        f'<header class="top"><ul>{links}</ul></header><div class="breadcrumbs"><a href="/">Start of all</a> Policy</div>'
        f'<div id="m">{policy}</div><aside class="related"><h3>More from our shop today</h3><ul>{links}</ul></aside>'
        f'<div class="newsletter"><p>Sign up for our letter and never miss any of the offers that we have.</p><form></form></div>'
        f"<footer><ul>{links}</ul><p>Made with care by the people of the shop since the year 1901.</p></footer>"
        f'<div class="cookie-consent"><p>We use cookies to make this site better for all our visitors.</p><button>Accept</button></div>'
    )


def as_sections(title: str, clauses: list[str]) -> str:
    return f"<h1>{title}</h1>" + "".join(
        f"<section><h2>{n}. Part</h2><p>{c}</p></section>" for n, c in enumerate(clauses, 1)
    )


def as_accordion(title: str, clauses: list[str]) -> str:
    return f"<h1>{title}</h1>" + "".join(
        f'<div class="card"><button aria-expanded="false">{n}. Part</button><div class="collapse" style="display:none">{c}</div></div>'
        for n, c in enumerate(clauses, 1)
    )


def as_breaks(title: str, clauses: list[str]) -> str:
    return (
        f"<div><b>{title}</b><br><br>"
        + "".join(f"{n}. Part<br>{c}<br><br>" for n, c in enumerate(clauses, 1))
        + "</div>"
    )


def as_table(title: str, clauses: list[str]) -> str:
    return (
        f"<h1>{title}</h1><table>"
        + "".join(f"<tr><td>{n}. Part<td>{c}" for n, c in enumerate(clauses, 1))
        + "</table>"
    )


def as_definitions(title: str, clauses: list[str]) -> str:
    return (
        f"<h1>{title}</h1><dl>" + "".join(f"<dt>{n}. Part<dd>{c}" for n, c in enumerate(clauses, 1)) + "</dl>"
    )


def sequences(text: str) -> Counter[tuple[str, ...]]:
    words = re.findall(r"\w+", text.lower())
    return Counter(zip(words, words[1:], words[2:], words[3:], strict=False))


def test_quality_on_pages_made_here_does_not_fall():
    clauses = [f"{CLAUSE} This is clause {n}. {(OTHER, THIRD)[n % 2]}" for n in range(12)]
    reference = "Policy of the shop " + " ".join(f"{n}. Part {clause}" for n, clause in enumerate(clauses, 1))
    wanted = sequences(reference)
    precisions, recalls = [], []
    for written in (as_sections, as_accordion, as_breaks, as_table, as_definitions):
        found = sequences(read(chrome_around(written("Policy of the shop", clauses))).text)
        common = (found & wanted).total()
        precisions.append(common / found.total())
        recalls.append(common / wanted.total())
    assert min(recalls) == 1.0
    assert min(precisions) > 0.99


@pytest.mark.parametrize(
    "panel",
    [
        "<details><summary>Your rights</summary><p>{}</p></details>",
        '<button aria-expanded="false">Your rights</button><div style="display:none"><p>{}</p></div>',
        '<div role="tabpanel" hidden><h3>Your rights</h3><p>{}</p></div>',
        '<h3>Your rights</h3><div class="collapse" aria-hidden="true"><p>{}</p></div>',
        '<h3>Your rights</h3><div class="hidden"><p>{}</p></div>',
    ],
)
def test_a_clause_in_a_closed_panel_is_read(panel):
    text = read(
        f"<body><main>{POLICY}{panel.format('We erase what you ask us to erase within one month.')}</main>"
    )
    assert "We erase what you ask us to erase within one month." in text.text
    assert "Your rights" in text.text


def test_templates_and_noscript_stand_aside_unless_they_are_all_there_is():
    for tag in ("noscript", "template"):
        assert "Scripts" not in read(f"<body>{POLICY}<{tag}><p>Scripts are needed for this.</p></{tag}>").text
        assert read(f"<body><{tag}><p>{CLAUSE}</p></{tag}>").text == CLAUSE


@settings(max_examples=100, deadline=None)
@given(st.lists(st.sampled_from([CLAUSE, OTHER, THIRD]), min_size=1, max_size=8), st.data())
def test_no_clause_is_ever_lost_to_its_wrapping(clauses, data):
    wrappers = st.sampled_from(
        ["<div>{}</div>", "<section><p>{}</p></section>", "<ul><li>{}</ul>", "<div hidden>{}</div>"]
    )
    markup = "".join(
        data.draw(wrappers).format(f"{clause} {number}") for number, clause in enumerate(clauses)
    )
    text = read(f"<body>{markup}").text
    for number, clause in enumerate(clauses):
        assert f"{clause} {number}" in text
