"""PDF into text: pages one by one, then what only all of them together can tell."""

import ctypes
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from itertools import islice
from typing import Any

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c

from assay.content.extraction.assembly import Draft, assemble
from assay.content.extraction.ocr import RecognisedWord, Recogniser, ScannedPage, render
from assay.content.extraction.pdf.blocks import Styles, drafts
from assay.content.extraction.pdf.caveats import Notes
from assay.content.extraction.pdf.furniture import Furniture, Sheet, take_furniture
from assay.content.extraction.pdf.joining import Vocabulary, clean
from assay.content.extraction.pdf.layout import Flow, flow_of, lay_out
from assay.content.extraction.pdf.lines import Line
from assay.content.extraction.pdf.marks import inline, place
from assay.content.extraction.pdf.pages import PageContent, read_page
from assay.content.extraction.pdf.paragraphs import PageLayout, gather
from assay.content.extraction.pdf.scans import fragments_of
from assay.content.models import (
    BlockKind,
    DamagedDocument,
    NoText,
    OverLimit,
    PasswordProtected,
    Text,
)

Progress = Callable[[int, int], None]
_BATCH = 8  # pictures of pages held at once: about 4 MB each
_NO_TITLE = re.compile(
    r"untitled|unbenannt|microsoft word|\.(?:docx?|pdf|indd|odt|rtf|xlsx?|pptx?)\s*$", re.IGNORECASE
)
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{2,8})*$")


def read(
    data: bytes,
    *,
    max_pages: int = 5000,
    progress: Progress | None = None,
    recognise: Recogniser | None = None,
) -> Text:
    """Read a PDF. `recognise` reads pictures of pages that have no text layer (see ocr.py)."""
    with closing(_opened(data)) as document:
        count = len(document)
        if count == 0:
            raise DamagedDocument("The PDF is damaged: it holds no page.")
        if count > max_pages:
            raise OverLimit(f"The PDF has {count} pages; the limit is {max_pages}.")
        notes = Notes()
        if not _has_end(data):
            notes.cut_off()
        pages = _pages(document, notes, progress)
        if recognise is not None:
            _recognise(document, pages, recognise, notes)
        title, language = _title(document), _language(document)
    notes.pages(pages)
    if not any(page.fragments or page.turned or page.marks for page in pages):
        raise NoText(_why_no_text(pages))
    return _text(pages, notes, title, language, page_count=count)


def _opened(data: bytes) -> pdfium.PdfDocument:
    try:
        document = pdfium.PdfDocument(data)
    except pdfium.PdfiumError as error:
        if "password" in str(error).lower() or "security" in str(error).lower():
            raise PasswordProtected from error
        raise DamagedDocument("The PDF is damaged and cannot be opened.") from error
    return document


def _has_end(data: bytes) -> bool:
    return b"%%EOF" in data[-2048:] or b"startxref" in data[-2048:]


def _pages(document: pdfium.PdfDocument, notes: Notes, progress: Progress | None) -> list[PageContent]:
    form = _form(document)
    count = len(document)
    pages: list[PageContent] = []
    for index in range(count):
        try:
            with closing(document[index]) as page:
                pages.append(read_page(page, index + 1, form))
        except pdfium.PdfiumError:
            notes.unreadable(index + 1)
        if progress is not None:
            progress(index + 1, count)
    if not pages:
        raise DamagedDocument("The PDF is damaged: none of its pages can be read.")
    return pages


def _form(document: pdfium.PdfDocument) -> Any:
    try:
        document.init_forms()
    except pdfium.PdfiumError:
        return None
    return document.formenv.raw if document.formenv else None


def _recognise(
    document: pdfium.PdfDocument, pages: Sequence[PageContent], recognise: Recogniser, notes: Notes
) -> None:
    waiting = (page for page in pages if page.textless)
    while batch := list(islice(waiting, _BATCH)):
        pictures = [_picture(document, page.number) for page in batch]
        for page, picture, words in zip(batch, pictures, recognise(pictures), strict=True):
            if not words:
                continue
            _with_scan(page, picture, words)
            notes.recognised(page.number)


def _picture(document: pdfium.PdfDocument, number: int) -> ScannedPage:
    with closing(document[number - 1]) as page:
        return render(page, number)


def _text(
    pages: Sequence[PageContent], notes: Notes, title: str | None, language: str | None, *, page_count: int
) -> Text:
    furniture = take_furniture([Sheet(page.height, page.fragments, page.turned) for page in pages])
    layouts = [_layout(page) for page in pages]
    lines = [line for layout in layouts for line in _lines(layout)]
    styles = Styles(lines)
    vocabulary = Vocabulary([line.text for line in lines])
    body = list(drafts(gather(layouts, styles.body), styles, vocabulary))
    return assemble(
        [*body, *_running(furniture, pages)],
        title=title or _first_heading(body),
        language=language,
        caveats=notes.caveats,
        page_count=page_count,
    )


def _layout(page: PageContent) -> PageLayout:
    marks = inline(page.marks, page.fragments)
    regions = place(lay_out(page.fragments, page.rules), marks)
    asides = [Flow(flow_of(group).lines, aside=True) for group in page.turned if group]
    return PageLayout(page.number, page.height, [*regions, *asides])


def _lines(layout: PageLayout) -> Iterator[Line]:
    for region in layout.regions:
        if isinstance(region, Flow):
            yield from (line for line in region.lines if line.kind is None)
        else:
            yield from (line for cells in region.rows for cell in cells for line in cell)


def _running(furniture: Furniture, pages: Sequence[PageContent]) -> Iterator[Draft]:
    for kind, rows in ((BlockKind.HEADER, furniture.headers), (BlockKind.FOOTER, furniture.footers)):
        yield from (Draft(kind, text, page=pages[place].number) for place, text in rows)


def _with_scan(page: PageContent, picture: ScannedPage, words: Sequence[RecognisedWord]) -> None:
    """What the picture shows, and of the page's own few words those that were not recognised in it."""
    found = fragments_of(words)
    shown = "".join("".join(item.text.split()).casefold() for item in found)
    own = [item for item in page.fragments if "".join(item.text.split()).casefold() not in shown]
    page.fragments = [*found, *own]
    page.height = picture.height * 72 / picture.dpi
    page.textless = False


def _why_no_text(pages: Sequence[PageContent]) -> str:
    if any(page.textless for page in pages):
        return "The PDF has no text layer: its pages are pictures, and no text was recognised in them."
    if any(page.hidden.total() for page in pages):
        return "The PDF has no text layer that a reader can see: all of its text is hidden."
    return "The PDF has no text layer: its pages are empty."


def _title(document: pdfium.PdfDocument) -> str | None:
    title = clean(document.get_metadata_value("Title")).strip()
    return None if not title or _NO_TITLE.search(title) else title


def _language(document: pdfium.PdfDocument) -> str | None:
    size = pdfium_c.FPDFCatalog_GetLanguage(document.raw, None, 0)
    if not 2 < size < 200:
        return None
    room = (ctypes.c_ushort * (size // 2 + 1))()
    pdfium_c.FPDFCatalog_GetLanguage(document.raw, room, size)
    tag = bytes(room)[: size - 2].decode("utf-16-le", "replace").strip()
    return tag.replace("_", "-") if _LANGUAGE.match(tag) else None


def _first_heading(body: Sequence[Draft]) -> str | None:
    """The largest heading among the first, as a reader would name the document."""
    headings = [draft for draft in body[:20] if draft.kind is BlockKind.HEADING and draft.page == 1]
    best = min(headings, key=lambda draft: draft.level or 9, default=None)
    return best.text if best else None
