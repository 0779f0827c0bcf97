"""Bytes of a page become the characters that its author wrote."""

# markup and sentences read best unbroken, in their own letters

import re

import pytest

from assay.content.extraction import html


@pytest.mark.parametrize(
    ("markup", "encoding", "charset"),
    [
        ('<meta charset="windows-1251"><p>Настоящие условия</p>', "cp1251", None),
        ("<p>Настоящие условия</p>", "koi8-r", "koi8-r"),
        ('<meta charset="latin-1"><p>Données “à” caractère</p>', "cp1252", None),
        ('<meta charset="iso-8859-1"><p>Données à caractère</p>', "utf-8", "iso-8859-1"),
        ("<p>Données à caractère</p>", "utf-16", None),
        ("<p>The price is 5 € a day</p>", "utf-16-le", None),
        ("<p>Données à caractère</p>", "utf-8-sig", "koi8-r"),
        ('<?xml version="1.0" encoding="shift_jis"?><p>個人情報の取扱い</p>', "cp932", None),
        ("<p>Données à caractère</p>", "cp1252", "base64"),
    ],
)
def test_the_characters_are_those_of_the_page(markup, encoding, charset):
    expected = re.sub("<[^>]*>", "", markup)
    assert html.read(markup.encode(encoding), charset=charset).text == expected


def test_an_undeclared_encoding_is_told_by_what_reads_best():
    russian = "Настоящее соглашение регулирует отношения между сторонами, и мы можем также изменить его в любое время. "
    czech = "Tyto podmínky upravují vztah mezi uživatelem a společností, která je provozovatelem, a může se stát, že se změní. "
    for text, encoding in ((russian, "cp1251"), (russian, "koi8-r"), (czech, "cp1250"), (czech, "iso8859-2")):
        assert html.read(f"<p>{text * 3}</p>".encode(encoding)).text == (text * 3).strip()
