"""One page of a PDF: its visible fragments, drawn lines, and what was laid over it."""

import ctypes
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import pypdfium2.raw as pdfium_c

from assay.content.extraction.pdf import native
from assay.content.extraction.pdf.drawing import Drawing, drawing_of
from assay.content.extraction.pdf.forms import overlay_of
from assay.content.extraction.pdf.gutters import may_part
from assay.content.extraction.pdf.hidden import picture_share, settle
from assay.content.extraction.pdf.marks import PlacedMark
from assay.content.extraction.pdf.styles import TURNED
from assay.content.extraction.pdf.words import (
    HYPHEN,
    Box,
    Fragment,
    LayerReader,
    TextLayer,
    frame_box,
)

_FEW = 200  # characters: fewer on a picture of the whole page are a stamp on a scan, not its text
_SCAN_COVER = 0.5
_MANY_MARKS = 30  # paths: text drawn as outlines; fewer are lines and frames on an empty page


@dataclass(slots=True)
class PageContent:
    """Everything in the frame in which most of the text stands upright."""

    number: int
    width: float
    height: float
    fragments: list[Fragment] = field(default_factory=list)
    turned: list[list[Fragment]] = field(default_factory=list)  # text that runs another way
    rules: list[Box] = field(default_factory=list)
    marks: list[PlacedMark] = field(default_factory=list)
    hidden: Counter[str] = field(default_factory=Counter)
    remarks: Counter[str] = field(default_factory=Counter)
    textless: bool = False  # shows something, but no text can be taken from it
    scanned: bool = False  # its text was laid under a scan by whoever made the file
    unmapped: int = 0


def read_page(page: Any, number: int, form: Any) -> PageContent:
    """Read an open page of pypdfium2."""
    box: Box = tuple(page.get_bbox())
    layer = _layer(page.raw, box)
    overlay = overlay_of(page.raw, form)
    drawing = _drawing(page.raw, layer)
    scanned = settle(layer, drawing, box)
    turn = _main_turn(layer.fragments)
    left, top, right, bottom = frame_box(turn, box, box)
    content = PageContent(number, right - left, bottom - top, hidden=layer.hidden, scanned=scanned)
    content.fragments = [item for item in layer.fragments if item.turn == turn]
    content.turned = _others(layer.fragments, turn)
    content.rules = [frame_box(turn, box, rule) for rule in drawing.rules]
    content.marks = [
        PlacedMark(mark.kind, mark.text, frame_box(turn, box, mark.box)) for mark in overlay.marks
    ]
    content.remarks = overlay.remarks
    content.textless = _is_textless(layer, drawing, box, scanned=scanned)
    content.unmapped = layer.unmapped if layer.unmapped * 5 > layer.characters else 0
    return content


def _layer(page: Any, box: Box) -> TextLayer:
    text_page = pdfium_c.FPDFText_LoadPage(page)
    if not text_page:
        return TextLayer()
    try:
        return LayerReader(native.handle(text_page), _characters(text_page), box).read()
    finally:
        pdfium_c.FPDFText_ClosePage(text_page)


def _characters(text_page: Any) -> str:
    """The text with one code point for each of PDFium's characters, so that indexes agree."""
    count = pdfium_c.FPDFText_CountChars(text_page)
    if count <= 0:
        return ""
    room = (ctypes.c_ushort * (2 * count + 1))()
    units = pdfium_c.FPDFText_GetText(text_page, 0, count, room)
    text = bytes(room)[: 2 * max(units - 1, 0)].decode("utf-16-le", "surrogatepass")
    if len(text) == count:
        return text
    page = native.handle(text_page)
    codes = (native.char_unicode(page, index) for index in range(count))
    return "".join(HYPHEN if code == 2 else chr(code) if code < 0x110000 else "\ufffd" for code in codes)


def _drawing(page: Any, layer: TextLayer) -> Drawing:
    """What is drawn on the page; looked at only where it decides something, for it may be much."""
    few = sum(len(item.text) for item in layer.fragments) < _FEW
    if layer.doubtful or few or may_part(layer.fragments):
        return drawing_of(native.handle(page), pdfium_c.FPDFPage_CountObjects(page))
    return Drawing()


def _main_turn(fragments: list[Fragment]) -> int:
    letters: Counter[int] = Counter()
    for item in fragments:
        if item.turn != TURNED:
            letters[item.turn] += len(item.text)
    return letters.most_common(1)[0][0] if letters else 0


def _others(fragments: list[Fragment], main: int) -> list[list[Fragment]]:
    groups: dict[int, list[Fragment]] = {}
    for item in fragments:
        if item.turn != main:
            groups.setdefault(item.turn, []).append(item)
    return [groups[turn] for turn in sorted(groups)]


def _is_textless(layer: TextLayer, drawing: Drawing, box: Box, *, scanned: bool) -> bool:
    if not layer.fragments:
        return bool(drawing.pictures) or drawing.marks >= _MANY_MARKS
    letters = sum(len(item.text) for item in layer.fragments)
    return not scanned and letters < _FEW and picture_share(drawing, box) >= _SCAN_COVER
