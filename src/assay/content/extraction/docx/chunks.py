"""Documents inside the document (altChunk): HTML, MHTML and plain text. Word shows them as if typed in."""

import email
import email.policy
import re
from collections.abc import Iterator

from lxml import etree

from assay.content.extraction.assembly import Draft, row
from assay.content.extraction.docx.names import Element
from assay.content.models import BlockKind

_SPACE = re.compile(r"[ \t\r\n\f]+")
_SILENT = frozenset({"script", "style", "head", "template", "noscript", "title", "meta", "link", "object"})
_BLOCKS = frozenset(
    {
        *("address", "article", "aside", "blockquote", "body", "details", "div", "fieldset", "figcaption"),
        *("figure", "footer", "form", "header", "hr", "html", "legend", "main", "nav", "p", "pre", "section"),
        *(
            "h1",
            "h2",
            "h3",
            "h4",
            "h5",
            "h6",
            "dd",
            "dl",
            "dt",
            "li",
            "ol",
            "ul",
            "summary",
            "td",
            "th",
            "tr",
        ),
    }
)
_HIDDEN_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_CHARSET = re.compile(rb"charset\s*=\s*[\"']?([\w-]+)", re.IGNORECASE)


def read_chunk(content: bytes, media_type: str, name: str) -> list[Draft] | None:
    """The blocks of a chunk, or None if it is of a kind that is not read (RTF, Word's older formats)."""
    kind = media_type.partition(";")[0].strip()
    extension = name.rpartition(".")[2].lower()
    if kind == "message/rfc822" or extension in {"mht", "mhtml"}:
        return read_html(*_page_of(content))
    if kind in {"text/html", "application/xhtml+xml"} or extension in {"html", "htm", "xhtml"}:
        return read_html(content, None)
    if kind == "text/plain" or extension == "txt":
        return _plain_text(_decoded(content, None))
    return None


def _page_of(content: bytes) -> tuple[bytes, str | None]:
    """The page of a web archive."""
    message = email.message_from_bytes(content, policy=email.policy.compat32)
    for part in message.walk():
        if part.get_content_type() in {"text/html", "application/xhtml+xml"}:
            payload = part.get_payload(decode=True)
            return payload if isinstance(payload, bytes) else b"", part.get_content_charset()
    return b"", None


def _decoded(content: bytes, charset: str | None) -> str:
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return content.decode("utf-16", "replace")
    declared = _CHARSET.search(content[:2048])
    for encoding in (charset, declared and declared[1].decode("ascii"), "utf-8-sig"):
        try:
            return content.decode(encoding or "utf-8-sig")
        except (LookupError, UnicodeDecodeError):
            continue
    return content.decode("cp1252", "replace")


def _plain_text(text: str) -> list[Draft]:
    paragraphs = re.split(r"\n\s*\n", text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", ""))
    return [Draft(BlockKind.PARAGRAPH, paragraph.strip()) for paragraph in paragraphs if paragraph.strip()]


def read_html(content: bytes, charset: str | None) -> list[Draft]:
    text = _decoded(content, charset).replace("\0", "")
    text = re.sub(r"^\s*<\?xml[^>]*\?>", "", text)
    if not text.strip():
        return []
    parser = etree.HTMLParser(
        encoding="utf-8", no_network=True, remove_comments=True, remove_pis=True, huge_tree=False
    )
    root = etree.fromstring(text.encode("utf-8", "replace"), parser)
    return [] if root is None else [draft for draft in _Page().read(root) if draft.text]


class _Page:
    """Walks a page and cuts it into blocks."""

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.kind = BlockKind.PARAGRAPH
        self.level: int | None = None
        self.drafts: list[Draft] = []

    def read(self, root: Element) -> list[Draft]:
        self._walk(root)
        self._cut()
        return self.drafts

    def _cut(self) -> None:
        text = "".join(self.pieces)
        lines = (_SPACE.sub(" ", line).strip() for line in text.split("\x01"))
        joined = "\n".join(lines).strip()
        if joined:
            self.drafts.append(Draft(self.kind, joined, level=self.level))
        self.pieces.clear()
        self.kind, self.level = BlockKind.PARAGRAPH, None

    def _walk(self, element: Element) -> None:
        tag = element.tag
        if tag in _SILENT or "hidden" in element.attrib or _HIDDEN_STYLE.search(element.get("style") or ""):
            return
        if tag == "br":
            self.pieces.append("\x01")
        elif tag == "table":
            self._cut()
            self.drafts.extend(_rows(element))
        elif tag in _BLOCKS:
            self._block(element)
        else:
            self._inside(element)

    def _block(self, element: Element) -> None:
        self._cut()
        if element.tag == "li":
            self.kind, self.level = (
                BlockKind.LIST_ITEM,
                sum(1 for _ in element.iterancestors("ul", "ol")) or 1,
            )
            self.pieces.append(_item_mark(element))
        elif re.fullmatch("h[1-6]", element.tag):
            self.kind, self.level = BlockKind.HEADING, int(element.tag[1])
        self._inside(element)
        self._cut()

    def _inside(self, element: Element) -> None:
        self.pieces.append(element.text or "")
        for child in element:
            self._walk(child)
            self.pieces.append(child.tail or "")


def _item_mark(item: Element) -> str:
    parent = item.getparent()
    if parent is None or parent.tag != "ol":
        return "• "
    start = parent.get("start", "1")
    first = int(start) if start.isdecimal() and len(start) < 6 else 1
    return f"{first + sum(1 for _ in item.itersiblings('li', preceding=True))}. "


def _rows(table: Element) -> Iterator[Draft]:
    for each in table.iter("tr"):
        if next(each.iterancestors("table"), None) is not table:
            continue
        cells = [
            "\n".join(draft.text for draft in _Page().read(cell)) for cell in each.iterchildren("td", "th")
        ]
        if any(cells):
            yield row(cells)
