"""Names of files from strangers."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.content import file_names


@pytest.mark.parametrize(
    ("name", "cleaned"),
    [
        ("dpa.pdf", "dpa.pdf"),
        ("../../etc/passwd", "passwd"),
        ("C:\\Users\\me\\Vertrag ä.docx", "Vertrag ä.docx"),
        ("a\x00b\r\nc.pdf", "abc.pdf"),
        ("evil\u202efdp.exe", "evilfdp.exe"),
        ("  dpa.pdf \t", "dpa.pdf"),
        ("..", None),
        ("dir/", None),
        ("\x00", None),
        ("", None),
        (".hidden", ".hidden"),
        ("a" * 70_000 + ".pdf", "a" * 251 + ".pdf"),
    ],
)
def test_a_name_loses_its_path_and_what_cannot_be_shown(name, cleaned):
    assert file_names.clean(name) == cleaned


@pytest.mark.parametrize(
    ("header", "name"),
    [
        ('attachment; filename="dpa 1.pdf"', "dpa 1.pdf"),
        ("attachment; FileName=dpa.pdf; size=3", "dpa.pdf"),
        ('inline; filename="a \\"quoted\\" name.pdf"', 'a "quoted" name.pdf'),
        ("attachment; filename=\"plain.pdf\"; filename*=UTF-8''Vertrag%20%C3%A4.pdf", "Vertrag ä.pdf"),
        ("attachment; filename*=iso-8859-1'de'%E4.pdf", "ä.pdf"),
        ('attachment; filename="../../x.pdf"', "x.pdf"),
        ("attachment; filename*=UTF-8''..%2f..%2fx%00.pdf", "x.pdf"),
        ("attachment", None),
        ('attachment; filename=""', None),
        ("", None),
    ],
)
def test_a_header_gives_the_name_of_its_document(header, name):
    assert file_names.from_disposition(header) == name


@settings(deadline=None)  # a loaded machine is no bug
@given(st.text())
def test_a_cleaned_name_is_short_and_stays_as_it_is(text):
    cleaned = file_names.clean(text)
    assert cleaned is None or (
        len(cleaned) <= 255 and "/" not in cleaned and file_names.clean(cleaned) == cleaned
    )
