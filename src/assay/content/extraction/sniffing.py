"""What kind of file it is, by its first bytes alone: names and declared types are not asked."""

import re
from enum import StrEnum

HEAD_BYTES = 1024


class Kind(StrEnum):
    PDF = "pdf"
    ZIP = "zip"
    OLE = "ole"
    HTML = "html"
    TEXT = "text"


_STARTS = (
    (b"%PDF-", Kind.PDF),
    (b"PK\x03\x04", Kind.ZIP),
    (b"PK\x05\x06", Kind.ZIP),
    (b"PK\x07\x08", Kind.ZIP),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", Kind.OLE),
)
_UNICODE = (
    (b"\xef\xbb\xbf", "utf-8-sig"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
    (b"<\x00", "utf-16-le"),
    (b"\x00<", "utf-16-be"),
)
# A page begins with one of these after white space, comments and an XML declaration, or with a comment
# that has no end in sight. The groups give nothing back: a thousand comments must not cost 2**1000 tries.
_PAGE_START = re.compile(
    r"(?>\s+|<!--.*?-->|<\?.*?\?>)*+<(?:!--|(?:!doctype\s+html|html|head|body|title|meta|link|base|script|style|"
    r"h[1-6]|div|p|span|a|b|i|br|ul|ol|table|section|article|main|header|nav|form|font|center|iframe|noscript)\b)",
    re.IGNORECASE | re.DOTALL,
)
# … or shows one of these a little later, after a server's warning or a comment without end in sight.
_PAGE_PART = re.compile(r"<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE)
# Text to a machine, but not plain text to a reader.
_MARKED_UP = re.compile(r"\s*(?:<\?xml|<svg\b|<rss\b|\{\\rtf|%!PS)", re.IGNORECASE)
_NOT_IN_TEXT = re.compile(r"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f\x7f]")


def sniff(head: bytes) -> Kind | None:
    """The kind, by the first 1,024 bytes; None for what we do not read. A ZIP may be a DOCX or not."""
    head = head[:HEAD_BYTES]
    kind = next((kind for start, kind in _STARTS if head.startswith(start)), None)
    if kind is not None or not head:
        return kind
    text = _decoded(head)
    if _PAGE_START.match(text):
        return Kind.HTML
    if b"%PDF-" in head:  # readers accept any junk before it, and writers produce it
        return Kind.PDF
    if _NOT_IN_TEXT.search(text):
        return None
    if _PAGE_PART.search(text):
        return Kind.HTML
    return None if _MARKED_UP.match(text) else Kind.TEXT


def _decoded(head: bytes) -> str:
    """Latin-1 without a mark of something else: it reads any byte, and tags are ASCII."""
    encoding = next((encoding for start, encoding in _UNICODE if head.startswith(start)), "latin-1")
    return head.decode(encoding, errors="ignore")
