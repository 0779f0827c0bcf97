"""Bytes of a document into text with structure: what kind it is, and who reads it.

`Reader` is for the service and hands each document to a child process; `to_answer` is what runs there.
"""

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO

from assay.content.extraction import docx, html, language, ocr, pdf, plain
from assay.content.extraction.sandbox import Sandbox
from assay.content.extraction.sandbox.confinement import Limits, Profile
from assay.content.extraction.sandbox.conversation import Flag
from assay.content.extraction.sniffing import HEAD_BYTES, Kind, sniff
from assay.content.models import NoText, OverLimit, Text, UnreadableDocument

TASK = "assay.content.extraction:to_answer"
OCR_TASK = "assay.content.extraction:to_answer_by_ocr"
OCR_SECONDS_A_PAGE = 10
OCR_MOST_SECONDS = 1800
# Threads and programs at a time, over all children; and where the recogniser, its libraries and its data lie.
OCR_PROCESSES = 64
OCR_READABLE = ("/usr", "/lib", "/lib64", "/bin", "/etc/ld.so.cache", "/etc/alternatives")

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Source:
    """What is known of a document besides its bytes."""

    charset: str | None = None
    url: str | None = None
    is_page: bool = False  # declared as HTML; asked only where the bytes do not tell
    # The other view of tracked changes: as the document was before them.
    original: bool = False


@dataclass(frozen=True, slots=True)
class ReadingLimits:
    pages: int = 5_000
    text_bytes: int = 20_000_000
    docx_bytes: int = 500 * 2**20
    seconds: float = 120.0
    memory_bytes: int = 2**30


class Reader:
    """Reads documents, each in a child process under limits.

    Where tesseract is installed, a PDF with pages that are only pictures is read once more, in a second
    sandbox whose children may start programs and still reach neither the network nor a file of ours.
    """

    def __init__(self, limits: ReadingLimits) -> None:
        self._limits = limits
        self.sandbox = Sandbox([TASK], self._bounds(limits.seconds))
        self._recognising = Sandbox([OCR_TASK], profile=Profile(OCR_PROCESSES, OCR_READABLE))

    def close(self) -> None:
        self.sandbox.close()
        self._recognising.close()

    def _bounds(self, seconds: float) -> Limits:
        return Limits(self._limits.memory_bytes, seconds, max(1, round(seconds)))

    def read(
        self,
        file: BinaryIO | bytes,
        source: Source,
        *,
        cancelled: Flag | None = None,
        progress: Progress | None = None,
    ) -> Text:
        """The text of the document, or an UnreadableDocument that says why there is none."""
        options = {**dataclasses.asdict(source), **dataclasses.asdict(self._limits)}
        pages = _Pages(progress)
        try:
            text = _text(self.sandbox.run(TASK, file, options=options, cancelled=cancelled, progress=pages))
        except NoText:
            if not (pages.total and ocr.available()):
                raise
        else:
            if not (_has_scans(text) and ocr.available()):
                return text
        seconds = min(self._limits.seconds + OCR_SECONDS_A_PAGE * pages.total, OCR_MOST_SECONDS)
        limits = self._bounds(seconds)
        run = self._recognising.run
        return _text(
            run(OCR_TASK, file, options=options, limits=limits, cancelled=cancelled, progress=progress)
        )


class _Pages:
    """Learns, in passing, how many pages there are; only a PDF has any."""

    def __init__(self, progress: Progress | None) -> None:
        self.total = 0
        self._progress = progress

    def __call__(self, done: int, total: int) -> None:
        self.total = total
        if self._progress is not None:
            self._progress(done, total)


def _text(answer: Mapping[str, Any]) -> Text:
    return Text.of(answer["text"], answer["structure"])


def _has_scans(text: Text) -> bool:
    return any(caveat.code == "no_text_layer" for caveat in text.caveats)


def warm_up() -> None:
    """Done once in each server, before it is confined: find the recogniser and load what reading needs."""
    ocr.languages()


def to_answer_by_ocr(file: BinaryIO, options: Mapping[str, Any], progress: Progress) -> dict[str, Any]:
    """As `to_answer`, for a PDF with pages that are only pictures."""
    text = pdf.read(file.read(), max_pages=options["pages"], progress=progress, recognise=ocr.recognise_pages)
    return _answer(text, options)


def to_answer(file: BinaryIO, options: Mapping[str, Any], progress: Progress) -> dict[str, Any]:
    """What the child does: read, and say it in JSON."""
    return _answer(read(file.read(), options, progress), options)


def _answer(text: Text, options: Mapping[str, Any]) -> dict[str, Any]:
    limit = options["text_bytes"]
    if len(text.text) > limit or len(text.text.encode()) > limit:
        raise OverLimit(f"The text is longer than the limit of {limit:,} bytes.")
    if text.language is None:
        text = dataclasses.replace(text, language=language.detect(text.text))
    return {"text": text.text, "structure": text.structure()}


def read(data: bytes, options: Mapping[str, Any], progress: Progress) -> Text:
    """The text by whoever reads this kind of file. The bytes decide, not a name or a declared type."""
    match sniff(data[:HEAD_BYTES]):
        case Kind.PDF:
            return pdf.read(data, max_pages=options["pages"], progress=progress)
        case Kind.ZIP | Kind.OLE:
            return docx.read(
                data,
                max_uncompressed_bytes=options["docx_bytes"],
                original=options["original"],
                progress=progress,
            )
        case Kind.HTML:
            return html.read(data, charset=options["charset"], url=options["url"])
        case Kind.TEXT if options["is_page"]:
            # Declared a page, and of nothing but tags that a text may hold too.
            return html.read(data, charset=options["charset"], url=options["url"])
        case Kind.TEXT:
            return plain.read(data, charset=options["charset"])
        case None:
            raise UnreadableDocument("This is neither a PDF, a DOCX, a web page nor plain text.")
