"""What is drawn on a page besides text: rules, filled areas and pictures, in the page's own space."""

import ctypes
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import repeat

import pypdfium2.raw as pdfium_c

from assay.content.extraction.pdf import native
from assay.content.extraction.pdf.words import Box

_THIN = 3.0
_SHORT = 12.0
_DEPTH = 6
_MOST = 50_000  # objects looked at; a page with more is a drawing, not a contract
_MOST_SEGMENTS = 4_000
_WHITE = 242

Matrix = tuple[float, float, float, float, float, float]
_UNIT: Matrix = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)


@dataclass(slots=True)
class Drawing:
    """`fills` are areas with a colour other than white; `rules` are lines, and the edges of boxes."""

    rules: list[Box] = field(default_factory=list)
    fills: list[Box] = field(default_factory=list)
    pictures: list[Box] = field(default_factory=list)
    marks: int = 0  # how many objects other than text there are


def drawing_of(page: int, count: int) -> Drawing:
    drawing = Drawing()
    items = map(native.page_object, repeat(page), range(min(count, _MOST)))
    _Collector(drawing).collect(items, _UNIT, 0)
    return drawing


class _Collector:
    def __init__(self, drawing: Drawing) -> None:
        self._drawing = drawing
        self._left = _MOST
        self._room = native.Floats(6)
        self._at = self._room.at
        self._colour = native.Floats(4, ctypes.c_uint)
        self._mode = native.Floats(2, ctypes.c_int)

    def collect(self, objects: Iterable[int | None], matrix: Matrix, depth: int) -> None:
        items = [item for item in objects if item is not None]
        for item, kind in zip(items, map(native.object_type, items), strict=True):
            if kind == pdfium_c.FPDF_PAGEOBJ_TEXT:  # first, for there may be one for every letter
                continue
            if kind == pdfium_c.FPDF_PAGEOBJ_PATH:
                self._path(item, matrix)
            elif kind in {pdfium_c.FPDF_PAGEOBJ_IMAGE, pdfium_c.FPDF_PAGEOBJ_SHADING}:
                self._picture(item, matrix)
            elif kind == pdfium_c.FPDF_PAGEOBJ_FORM and depth < _DEPTH and self._left > 0:
                inner = _times(self._matrix(item), matrix)
                count = min(native.form_count(item), self._left)
                self._left -= count
                self.collect(map(native.form_object, repeat(item), range(count)), inner, depth + 1)

    def _picture(self, item: int, matrix: Matrix) -> None:
        box = self._bounds(item, matrix)
        self._drawing.marks += 1
        self._drawing.pictures.append(box)

    def _path(self, item: int, matrix: Matrix) -> None:
        self._drawing.marks += 1
        box = self._bounds(item, matrix)
        fills, strokes = self._painting(item)
        coloured = fills and self._coloured(item)
        if coloured:
            self._drawing.fills.append(box)
        if not strokes and not (coloured and _is_thin(box)):
            return  # a background, such as the highlight behind a few words, is no line
        segments = pdfium_c.FPDFPath_CountSegments(ctypes.cast(item, pdfium_c.FPDF_PAGEOBJECT))
        if segments > 5:
            self._drawing.rules.extend(self._segments(item, segments, matrix))
        else:
            self._drawing.rules.extend(_edges(box))

    def _painting(self, item: int) -> tuple[bool, bool]:
        if not native.path_mode(item, *self._mode.at):
            return False, False
        fill, stroke = self._mode.values
        return fill != pdfium_c.FPDF_FILLMODE_NONE, bool(stroke)

    def _coloured(self, item: int) -> bool:
        if not native.object_fill(item, *self._colour.at):
            return True
        red, green, blue, alpha = self._colour.values
        return bool(alpha > 0 and min(red, green, blue) < _WHITE)

    def _matrix(self, item: int) -> Matrix:
        if not native.object_matrix(item, self._room.start):
            return _UNIT
        a, b, c, d, e, f = self._room.values
        return a, b, c, d, e, f

    def _bounds(self, item: int, matrix: Matrix) -> Box:
        if not native.object_bounds(item, *self._at[:4]):
            return (0.0, 0.0, 0.0, 0.0)
        left, bottom, right, top = self._room.values[:4]
        if not math.isfinite(left + bottom + right + top):
            return (0.0, 0.0, 0.0, 0.0)
        return (left, bottom, right, top) if matrix == _UNIT else _moved((left, bottom, right, top), matrix)

    def _segments(self, item: int, count: int, matrix: Matrix) -> Iterator[Box]:
        """The straight strokes of a path: a whole grid may be one object."""
        path = ctypes.cast(item, pdfium_c.FPDF_PAGEOBJECT)
        inner = _times(self._matrix(item), matrix)
        x, y = ctypes.c_float(), ctypes.c_float()
        before: tuple[float, float] | None = None
        for index in range(min(count, _MOST_SEGMENTS)):
            segment = pdfium_c.FPDFPath_GetPathSegment(path, index)
            pdfium_c.FPDFPathSegment_GetPoint(segment, x, y)
            point = _at(inner, x.value, y.value)
            moves = pdfium_c.FPDFPathSegment_GetType(segment) == pdfium_c.FPDF_SEGMENT_MOVETO
            if before is not None and not moves:
                yield from _edges(_box(before, point))
            before = point


def _is_thin(box: Box) -> bool:
    return min(box[2] - box[0], box[3] - box[1]) <= _THIN


def _edges(box: Box) -> Iterator[Box]:
    left, bottom, right, top = box
    if not math.isfinite(left + bottom + right + top):
        return
    if right - left < _SHORT and top - bottom < _SHORT:
        return
    if _is_thin(box):
        yield box
        return
    yield (left, bottom, right, bottom)
    yield (left, top, right, top)
    yield (left, bottom, left, top)
    yield (right, bottom, right, top)


def _times(inner: Matrix, outer: Matrix) -> Matrix:
    a, b, c, d, e, f = inner
    g, h, i, j, k, m = outer
    return (
        a * g + b * i,
        a * h + b * j,
        c * g + d * i,
        c * h + d * j,
        e * g + f * i + k,
        e * h + f * j + m,
    )


def _at(matrix: Matrix, x: float, y: float) -> tuple[float, float]:
    a, b, c, d, e, f = matrix
    return a * x + c * y + e, b * x + d * y + f


def _box(one: tuple[float, float], other: tuple[float, float]) -> Box:
    return min(one[0], other[0]), min(one[1], other[1]), max(one[0], other[0]), max(one[1], other[1])


def _moved(box: Box, matrix: Matrix) -> Box:
    corners = [_at(matrix, x, y) for x in (box[0], box[2]) for y in (box[1], box[3])]
    xs = [x for x, _ in corners]
    ys = [y for _, y in corners]
    return min(xs), min(ys), max(xs), max(ys)
