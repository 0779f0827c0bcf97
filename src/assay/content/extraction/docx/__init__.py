"""DOCX into text: every clause once, in reading order, with the number that Word prints in front of it."""

import io
import re
from collections.abc import Callable
from typing import BinaryIO

from assay.content.extraction.assembly import assemble
from assay.content.extraction.docx import zip as docx_zip
from assay.content.extraction.docx.document import Document
from assay.content.extraction.docx.package import Package
from assay.content.models import (
    DamagedDocument,
    NoText,
    OverLimit,
    PasswordProtected,
    Text,
    UnreadableDocument,
)

_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED_STREAM = "EncryptedPackage".encode("utf-16-le")
_ZIP = b"PK\x03\x04"
_LISTING = "[content_types].xml"
_WORD_TYPE = re.compile(
    rb"(?:wordprocessingml\.(?:document|template)|ms-word\.(?:document|template)\.macroenabled(?:template)?)"
    rb"\.main\+xml",
    re.IGNORECASE,
)
_OTHER_TYPE = re.compile(
    rb"(?:spreadsheetml|presentationml|ms-excel|ms-powerpoint)[\w.]*\.main\+xml", re.IGNORECASE
)
_LONGEST_LISTING = 2**20


def read(
    data: bytes,
    *,
    max_uncompressed_bytes: int = 500 * 2**20,
    original: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Text:
    """The text with its structure, or an `UnreadableDocument` that says what is wrong; never half of it.

    Tracked changes are read as accepted; `original` gives the other view. `progress` is told how many of the
    body's blocks are done.
    """
    _refuse_containers(data)
    try:
        document = Document(Package(io.BytesIO(data), max_uncompressed_bytes), original)
        drafts = document.drafts(progress)
        text = assemble(
            drafts, title=document.title(), language=document.language(), caveats=document.caveats()
        )
    except RecursionError as error:
        raise DamagedDocument("The DOCX is nested too deeply.") from error
    except MemoryError as error:
        raise OverLimit("The DOCX needs more memory than a document is given.") from error
    if not text.text:
        raise NoText("The DOCX holds no text that can be read.")
    return text


def _refuse_containers(data: bytes) -> None:
    """Word's older format and encrypted files share a container that is not a ZIP file."""
    if not data.startswith(_OLE):
        return
    if _ENCRYPTED_STREAM in data:
        raise PasswordProtected("The Word document is protected by a password.")
    raise UnreadableDocument("The file is in an older format of Office; save it as DOCX.")


def is_protected(file: BinaryIO) -> bool:
    """Whether this is an Office file that is encrypted by a password: `read` refuses it by that name."""
    file.seek(0)
    return file.read(len(_OLE)) == _OLE and _ENCRYPTED_STREAM in file.read()


def is_docx(file: BinaryIO) -> bool:
    """Whether the ZIP directory is that of a Word document, also of one that `read` will have to refuse."""
    file.seek(0)
    head = file.read(4096)
    if not head.startswith(_ZIP):
        return False
    try:
        entries = docx_zip.directory(file)
    except docx_zip.NotZip:
        # Cut short: the directory stands at the end, but Word writes what it is at the front.
        return b"[Content_Types].xml" in head and (b"wordprocessingml" in head or b"word/" in head)
    except UnreadableDocument:
        return b"[Content_Types].xml" in head or b"word/" in head
    names = {entry.name.replace("\\", "/").lower(): entry for entry in entries}
    listing = _declared_types(file, names.get(_LISTING))
    if _WORD_TYPE.search(listing):
        return True
    return not _OTHER_TYPE.search(listing) and "word/document.xml" in names


def _declared_types(file: BinaryIO, entry: docx_zip.Entry | None) -> bytes:
    if entry is None:
        return b""
    try:
        return docx_zip.unpack(file, entry, _LONGEST_LISTING)
    except UnreadableDocument:
        return b""
