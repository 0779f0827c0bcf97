"""The bytes decide what a file is."""

import io
import zipfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.content.extraction.sniffing import Kind, sniff


def a_zip():
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("attachment.pdf", b"%PDF-1.7 stored as it is")
    return buffer.getvalue()


PAGE = "<!DOCTYPE html>\n<html><title>Terms</title>"


@pytest.mark.parametrize(
    ("head", "kind"),
    [
        (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n", Kind.PDF),
        (b"\xef\xbb\xbf%PDF-1.4", Kind.PDF),
        (b"\r\n\0\0junk" * 100 + b"%PDF-1.4", Kind.PDF),
        (a_zip(), Kind.ZIP),
        (b"PK\x05\x06" + bytes(18), Kind.ZIP),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(100), Kind.OLE),
        (PAGE.encode(), Kind.HTML),
        (b"\xef\xbb\xbf" + PAGE.encode(), Kind.HTML),
        (PAGE.encode("utf-16"), Kind.HTML),
        (b"\xfe\xff" + PAGE.encode("utf-16-be"), Kind.HTML),
        (PAGE.encode("utf-16-le"), Kind.HTML),
        (PAGE.encode("utf-16-be"), Kind.HTML),
        (b"\n\n <!-- saved from a browser -->\n<!-- twice --><HTML lang=en>", Kind.HTML),
        (b"<!-- a long licence " + b"x" * 2000, Kind.HTML),
        (b"<!-- license " + b"x" * 500 + b" <html>", Kind.HTML),
        (b'<?xml version="1.0"?>\n<!DOCTYPE html PUBLIC "x"><html xmlns="x">', Kind.HTML),
        (b"<h1>Terms</h1><p>We may", Kind.HTML),
        (b"<br />\n<b>Warning</b>: in file\n", Kind.HTML),
        (b"Notice: undefined index\n<!doctype html><body>", Kind.HTML),
        (b"<!doctype html><p>Our files begin with %PDF- always", Kind.HTML),
        (b"Terms and conditions\r\n\tof use\x0c", Kind.TEXT),
        ("Ünïcode: 条款".encode(), Kind.TEXT),
        ("条款".encode("utf-16"), Kind.TEXT),
        ("Größe".encode("latin-1"), Kind.TEXT),
        (b"a < b and <but> is no tag", Kind.TEXT),
        (b"   \n", Kind.TEXT),
        (b"", None),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", None),
        (b"\x1f\x8b\x08\x00\x00", None),
        (b"\x7fELF\x02\x01\x01\x00", None),
        (b"some text and then\x00binary", None),
        (b"{\\rtf1\\ansi Terms}", None),
        (b"<!---->" * 145, Kind.TEXT),
        (b'<?xml version="1.0"?><!-- feed --><rss version="2.0">', None),
        (b"%!PS-Adobe-3.0\n", None),
    ],
)
def test_the_first_bytes_tell_the_kind(head, kind):
    assert sniff(head) is kind


def test_only_the_first_1024_bytes_count():
    assert sniff(b"\0" * 1019 + b"%PDF-") is Kind.PDF
    assert sniff(b"\0" * 1020 + b"%PDF-") is None
    assert sniff(b"a" * 1024 + b"\0") is Kind.TEXT


@settings(deadline=None)  # a loaded machine is no bug
@given(st.text(st.characters(exclude_categories=["Cc", "Cs"], exclude_characters="<{%"), min_size=1))
def test_any_text_is_text_in_utf_8(text):
    assert sniff(text.encode()) in {Kind.TEXT, Kind.ZIP}
