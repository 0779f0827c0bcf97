"""The form by which a single document is uploaded."""

from contextlib import ExitStack
from types import TracebackType
from typing import Self

from assay.content.blobs import Blobs
from assay.content.models import InvalidUpload, Received
from assay.content.uploads import Incoming, incoming
from assay.web.bodies import nearest
from assay.web.multipart import Part


class FileForm:
    """The form of a single upload: one part named `file`, and no other.

    The document is kept when the whole form has been seen: what follows its part may still be refused.
    """

    def __init__(self, blobs: Blobs, subject: str, max_bytes: int) -> None:
        self._blobs = blobs
        self._subject = subject
        self._max_bytes = max_bytes
        self._open = ExitStack()
        self._incoming: Incoming | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.close()

    def begin(self, part: Part) -> None:
        if part.name != "file":
            raise InvalidUpload(f"Unknown part {part.name[:100]!r}.{nearest(part.name, ['file'])}")
        if self._incoming is not None:
            raise InvalidUpload("The form has more than one part named 'file'; submit each on its own.")
        document = incoming(self._blobs, self._subject, part.file_name, self._max_bytes)
        self._incoming = self._open.enter_context(document)

    def data(self, chunk: bytes) -> None:
        assert self._incoming is not None
        self._incoming.write(chunk)

    def end(self) -> None:
        assert self._incoming is not None
        self._incoming.finish()

    def received(self) -> Received:
        """The document, now in the store."""
        if self._incoming is None:
            raise InvalidUpload("The part 'file' is missing.")
        return self._incoming.keep()
