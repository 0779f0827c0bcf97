"""A document coming in: straight into the store, refused as early as its bytes tell."""

from collections.abc import Iterator
from contextlib import contextmanager

from assay.content import file_names
from assay.content.blobs import Blobs, Upload
from assay.content.extraction.docx import is_docx
from assay.content.extraction.sniffing import HEAD_BYTES, Kind, sniff
from assay.content.models import InvalidUpload, Received, UnsupportedDocument
from assay.errors import TooLarge


def too_large(max_bytes: int) -> TooLarge:
    return TooLarge(f"A file may be at most {max_bytes:,} bytes.")


class Incoming:
    """One document, written chunk by chunk. Nothing stays behind unless `keep` was reached."""

    def __init__(self, upload: Upload, file_name: str | None, max_bytes: int) -> None:
        self._upload = upload
        self._file_name = file_name
        self._max_bytes = max_bytes
        self._head = bytearray()
        self._kind: Kind | None = None

    def write(self, chunk: bytes) -> None:
        if self._upload.size + len(chunk) > self._max_bytes:
            raise too_large(self._max_bytes)
        if len(self._head) < HEAD_BYTES:
            self._head += chunk[: HEAD_BYTES - len(self._head)]
            if len(self._head) == HEAD_BYTES:
                self._judge()
        self._upload.write(chunk)

    def _judge(self) -> None:
        self._kind = sniff(bytes(self._head))
        if self._kind not in {Kind.PDF, Kind.ZIP, Kind.OLE}:
            raise UnsupportedDocument

    def finish(self) -> None:
        """All of it has come; raise unless it is a PDF or a DOCX."""
        if not self._upload.size:
            raise InvalidUpload("The file is empty.")
        self._judge()
        if self._kind is Kind.OLE:
            raise UnsupportedDocument(
                "Only PDF and DOCX documents are accepted; this one is in an older Office format, "
                "or protected by a password."
            )
        if self._kind is Kind.ZIP and not is_docx(self._upload.file):
            raise UnsupportedDocument("Only PDF and DOCX documents are accepted; this ZIP file is no DOCX.")

    def keep(self) -> Received:
        """Durable in the store, once this returns."""
        return Received(self._file_name, self._upload.commit())


@contextmanager
def incoming(blobs: Blobs, subject: str, file_name: str | None, max_bytes: int) -> Iterator[Incoming]:
    """A document on its way into the store, by the name that its sender gave it."""
    name = file_names.clean(file_name) if file_name else None
    with blobs.receive(subject) as upload:
        yield Incoming(upload, name, max_bytes)
