"""Form values and annotations: what a person filled in or wrote on a page, and comments beside it."""

import ctypes
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pypdfium2.raw as pdfium_c

from assay.content.extraction.pdf.words import Box
from assay.content.models import BlockKind

CHECKED = "☑"
UNCHECKED = "☐"
_MOST = 5_000  # annotations of one page
_LONGEST = 1 << 20  # bytes of one value
_UNSEEN = pdfium_c.FPDF_ANNOT_FLAG_HIDDEN | pdfium_c.FPDF_ANNOT_FLAG_NOVIEW
_TEXT_TYPES = {pdfium_c.FPDF_FORMFIELD_TEXTFIELD, pdfium_c.FPDF_FORMFIELD_COMBOBOX}
_TICKS = {pdfium_c.FPDF_FORMFIELD_CHECKBOX, pdfium_c.FPDF_FORMFIELD_RADIOBUTTON}
_PRINTED = {pdfium_c.FPDF_ANNOT_FREETEXT, pdfium_c.FPDF_ANNOT_STAMP}
_COMMENTS = {
    pdfium_c.FPDF_ANNOT_TEXT,
    pdfium_c.FPDF_ANNOT_HIGHLIGHT,
    pdfium_c.FPDF_ANNOT_UNDERLINE,
    pdfium_c.FPDF_ANNOT_SQUIGGLY,
    pdfium_c.FPDF_ANNOT_CARET,
}


@dataclass(frozen=True, slots=True)
class Mark:
    """Text that is laid over the page, with its box in the page's own space."""

    kind: BlockKind
    text: str
    box: Box


@dataclass(slots=True)
class Overlay:
    """`remarks` counts what is reported and not read: comments, and text struck out by annotation."""

    marks: list[Mark] = field(default_factory=list)
    remarks: Counter[str] = field(default_factory=Counter)


def overlay_of(page: Any, form: Any) -> Overlay:
    """`form` is the form environment of the document, or None when it has no form."""
    overlay = Overlay()
    for index in range(min(pdfium_c.FPDFPage_GetAnnotCount(page), _MOST)):
        with _opened(page, index) as annotation:
            if annotation and not pdfium_c.FPDFAnnot_GetFlags(annotation) & _UNSEEN:
                _note(overlay, annotation, form)
    return overlay


@contextmanager
def _opened(page: Any, index: int) -> Iterator[Any]:
    annotation = pdfium_c.FPDFPage_GetAnnot(page, index)
    try:
        yield annotation
    finally:
        if annotation:
            pdfium_c.FPDFPage_CloseAnnot(annotation)


def _note(overlay: Overlay, annotation: Any, form: Any) -> None:
    subtype = pdfium_c.FPDFAnnot_GetSubtype(annotation)
    if subtype == pdfium_c.FPDF_ANNOT_WIDGET and form is not None:
        text = _value(annotation, form)
        kind = BlockKind.FORM_FIELD
    elif subtype in _PRINTED:
        text = _string(annotation, b"Contents")
        kind = BlockKind.ANNOTATION
    else:
        if subtype == pdfium_c.FPDF_ANNOT_STRIKEOUT:
            overlay.remarks["struck_out"] += 1
        elif subtype in _COMMENTS and _string(annotation, b"Contents").strip():
            overlay.remarks["comments"] += 1
        return
    lines = " ".join(text.replace("\r\n", "\n").replace("\r", "\n").split())
    rect = pdfium_c.FS_RECTF()
    if lines and pdfium_c.FPDFAnnot_GetRect(annotation, rect):
        bottom, top = sorted((rect.bottom, rect.top))
        left, right = sorted((rect.left, rect.right))
        overlay.marks.append(Mark(kind, lines, (left, bottom, right, top)))


def _value(annotation: Any, form: Any) -> str:
    kind = pdfium_c.FPDFAnnot_GetFormFieldType(form, annotation)
    if kind in _TICKS:
        return CHECKED if pdfium_c.FPDFAnnot_IsChecked(form, annotation) else UNCHECKED
    if kind == pdfium_c.FPDF_FORMFIELD_LISTBOX:
        return ", ".join(_choices(annotation, form))
    if kind in _TEXT_TYPES:
        flags = pdfium_c.FPDFAnnot_GetFormFieldFlags(form, annotation)
        if flags & pdfium_c.FPDF_FORMFLAG_TEXT_PASSWORD and kind == pdfium_c.FPDF_FORMFIELD_TEXTFIELD:
            return ""
        value = _wide(lambda room, size: pdfium_c.FPDFAnnot_GetFormFieldValue(form, annotation, room, size))
        return _label(annotation, form, value) if kind == pdfium_c.FPDF_FORMFIELD_COMBOBOX else value
    return ""


def _choices(annotation: Any, form: Any) -> Iterator[str]:
    for index in range(min(pdfium_c.FPDFAnnot_GetOptionCount(form, annotation), _MOST)):
        if pdfium_c.FPDFAnnot_IsOptionSelected(form, annotation, index):
            yield _option(annotation, form, index)


def _label(annotation: Any, form: Any, value: str) -> str:
    """What the reader sees of a choice: its label, where it differs from the value behind it."""
    return next((label for label in _choices(annotation, form) if label), value)


def _option(annotation: Any, form: Any, index: int) -> str:
    return _wide(lambda room, size: pdfium_c.FPDFAnnot_GetOptionLabel(form, annotation, index, room, size))


def _string(annotation: Any, key: bytes) -> str:
    return _wide(lambda room, size: pdfium_c.FPDFAnnot_GetStringValue(annotation, key, room, size))


def _wide(ask: Callable[[Any, int], int]) -> str:
    """A UTF-16 string from a call that first tells its length in bytes."""
    size = ask(None, 0)
    if not 2 < size <= _LONGEST:
        return ""
    room = (ctypes.c_ushort * (size // 2 + 1))()
    ask(room, size)
    return bytes(room)[: size - 2].decode("utf-16-le", "replace")
