"""What content processing thinks in: a job, the text it ends in, and the ways in which it can fail."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import cached_property
from typing import Any

from assay.errors import Conflict, Invalid, ServiceError, Unknown, UnsupportedType


class SourceType(StrEnum):
    FILE = "FILE"
    URL = "URL"


class Status(StrEnum):
    """CANCELLED is part of the interface; a cancelled job is gone, so no reader meets it."""

    PENDING = "PENDING"
    RUNNING = "RUNNING"
    COMPLETED = "COMPLETED"
    FAILED = "FAILED"
    CANCELLED = "CANCELLED"

    @property
    def is_settled(self) -> bool:
        return self in {Status.COMPLETED, Status.FAILED}


@dataclass(frozen=True, slots=True)
class Validators:
    """What a web server gave to ask by whether a page has changed; it holds for the URL that gave it."""

    url: str | None = None
    etag: str | None = None
    last_modified: str | None = None


@dataclass(frozen=True, slots=True)
class ContentJob:
    """A document on its way to text. `text_digest` names the last good text, if there is one."""

    uuid: str
    subject: str
    source_type: SourceType
    created_at: datetime
    source_url: str | None = None
    file_name: str | None = None
    status: Status = Status.PENDING
    error: str | None = None
    error_code: str | None = None
    completed_at: datetime | None = None
    fetched_at: datetime | None = None
    validators: Validators = Validators()
    blob_key: str | None = None
    text_digest: str | None = None
    version: int = 0


@dataclass(frozen=True, slots=True)
class Blob:
    """Stored bytes: where, their SHA-256 in hexadecimal, and how many. Each upload has a key of its own."""

    key: str
    digest: str
    size: int


@dataclass(frozen=True, slots=True)
class Received:
    """A document in the store that no job uses yet."""

    file_name: str | None
    blob: Blob


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


@dataclass(frozen=True)
class Text:
    """The text as served, with its structure. Every offset counts code points of `text`."""

    text: str
    title: str | None = None
    language: str | None = None
    pages: tuple[Page, ...] = ()
    blocks: tuple[Block, ...] = ()
    caveats: tuple[Caveat, ...] = ()

    @cached_property
    def digest(self) -> str:
        """Names this text; two texts of one name are the same to the code point."""
        return f"sha256:{hashlib.sha256(self.text.encode()).hexdigest()}"

    def structure(self) -> dict[str, Any]:
        """Everything but the text, as JSON: rows rather than objects, for there are many."""
        return {
            "title": self.title,
            "language": self.language,
            "pages": [[page.number, page.start, page.end] for page in self.pages],
            "blocks": [
                [
                    *(block.kind.value, block.start, block.end, block.level, block.number, block.page),
                    [[cell.start, cell.end] for cell in block.cells],
                ]
                for block in self.blocks
            ],
            "caveats": [[caveat.code, caveat.message, caveat.page, caveat.count] for caveat in self.caveats],
        }

    @classmethod
    def of(cls, text: str, structure: Mapping[str, Any]) -> "Text":
        """The text that `structure()` was taken from."""
        return cls(
            text=text,
            title=structure["title"],
            language=structure["language"],
            pages=tuple(Page(*row) for row in structure["pages"]),
            blocks=tuple(
                Block(BlockKind(kind), start, end, level, number, page, tuple(Span(*cell) for cell in cells))
                for kind, start, end, level, number, page, cells in structure["blocks"]
            ),
            caveats=tuple(Caveat(*row) for row in structure["caveats"]),
        )


class UnknownContentJob(Unknown):
    """No content processing job has this identifier."""


class UnknownText(Unknown):
    """The job has no text of this digest."""


class ContentNotReady(Conflict):
    """The job has not been completed, so there is no text yet."""


class UnsupportedDocument(UnsupportedType):
    """Only PDF and DOCX documents are accepted."""


class InvalidUpload(Invalid):
    """The upload is not a form with one part named `file`."""


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


class ReaderFailed(ServiceError):
    """The document made its reader fail three times, and has been given up."""
