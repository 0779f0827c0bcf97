"""What a document is once it has been read: one text, and its structure by offsets into it."""

from dataclasses import dataclass
from enum import StrEnum

from assay.errors import Invalid


class BlockKind(StrEnum):
    """What a stretch of the text is to its reader."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    LIST_ITEM = "listItem"
    TABLE_ROW = "tableRow"
    FOOTNOTE = "footnote"
    HEADER = "header"
    FOOTER = "footer"
    ANNOTATION = "annotation"
    FORM_FIELD = "formField"


@dataclass(frozen=True, slots=True)
class Span:
    """Code points `start` up to, not including, `end`."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Page:
    number: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Block:
    """A stretch of the text with a role. `number` is the section number as printed, and part of the text."""

    kind: BlockKind
    start: int
    end: int
    level: int | None = None
    number: str | None = None
    page: int | None = None
    cells: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True)
class Caveat:
    """Something about the document that its reader should know: a `warning` of the interface."""

    code: str
    message: str
    page: int | None = None
    count: int | None = None


@dataclass(frozen=True, slots=True)
class Text:
    """The text as served, with its structure. Every offset counts code points of `text`."""

    text: str
    title: str | None = None
    language: str | None = None
    pages: tuple[Page, ...] = ()
    blocks: tuple[Block, ...] = ()
    caveats: tuple[Caveat, ...] = ()


class UnreadableDocument(Invalid):
    """The document could not be read as text."""


class PasswordProtected(UnreadableDocument):
    """The PDF is protected by a password."""


class DamagedDocument(UnreadableDocument):
    """The document is damaged and cannot be read completely."""


class NoText(UnreadableDocument):
    """The document holds no text that can be read."""


class OverLimit(UnreadableDocument):
    """The document exceeds a limit of this service."""
