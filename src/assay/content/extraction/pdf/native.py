"""The PDFium calls that run once for each word, without the overhead of the generated bindings.

The bindings build a pointer object for every handle that they return, and let go of the interpreter
lock around calls that take less than a microsecond. Handles are plain integers here.
"""

import ctypes
from typing import Any

import pypdfium2.raw as pdfium_c

_HANDLE = ctypes.c_void_p
_INT = ctypes.c_int
_OUT = ctypes.c_void_p


def _call(function: Any, result: Any, *arguments: Any) -> Any:
    address = ctypes.cast(function, _HANDLE).value
    assert address is not None
    return ctypes.PYFUNCTYPE(result, *arguments)(address)


char_box = _call(pdfium_c.FPDFText_GetLooseCharBox, _INT, _HANDLE, _INT, _OUT)
char_origin = _call(pdfium_c.FPDFText_GetCharOrigin, _INT, _HANDLE, _INT, _OUT, _OUT)
char_matrix = _call(pdfium_c.FPDFText_GetMatrix, _INT, _HANDLE, _INT, _OUT)
char_object = _call(pdfium_c.FPDFText_GetTextObject, _HANDLE, _HANDLE, _INT)
char_unicode = _call(pdfium_c.FPDFText_GetUnicode, ctypes.c_uint, _HANDLE, _INT)
char_font_size = _call(pdfium_c.FPDFText_GetFontSize, ctypes.c_double, _HANDLE, _INT)
object_font = _call(pdfium_c.FPDFTextObj_GetFont, _HANDLE, _HANDLE)
object_mode = _call(pdfium_c.FPDFTextObj_GetTextRenderMode, _INT, _HANDLE)
object_fill = _call(pdfium_c.FPDFPageObj_GetFillColor, _INT, _HANDLE, _OUT, _OUT, _OUT, _OUT)
object_stroke = _call(pdfium_c.FPDFPageObj_GetStrokeColor, _INT, _HANDLE, _OUT, _OUT, _OUT, _OUT)
object_type = _call(pdfium_c.FPDFPageObj_GetType, _INT, _HANDLE)
object_bounds = _call(pdfium_c.FPDFPageObj_GetBounds, _INT, _HANDLE, _OUT, _OUT, _OUT, _OUT)
path_mode = _call(pdfium_c.FPDFPath_GetDrawMode, _INT, _HANDLE, _OUT, _OUT)
page_object = _call(pdfium_c.FPDFPage_GetObject, _HANDLE, _HANDLE, _INT)
form_count = _call(pdfium_c.FPDFFormObj_CountObjects, _INT, _HANDLE)
form_object = _call(pdfium_c.FPDFFormObj_GetObject, _HANDLE, _HANDLE, ctypes.c_ulong)
object_matrix = _call(pdfium_c.FPDFPageObj_GetMatrix, _INT, _HANDLE, _OUT)
font_weight = _call(pdfium_c.FPDFFont_GetWeight, _INT, _HANDLE)
font_name = _call(
    pdfium_c.FPDFFont_GetBaseFontName, ctypes.c_size_t, _HANDLE, ctypes.c_char_p, ctypes.c_size_t
)


def handle(wrapped: Any) -> int:
    """The address behind a handle of the generated bindings."""
    return int(ctypes.cast(wrapped, _HANDLE).value or 0)


class Floats:
    """Room for `count` numbers that PDFium fills in, from address `start`."""

    __slots__ = ("_step", "start", "values")

    def __init__(self, count: int, kind: Any = ctypes.c_float) -> None:
        self.values: Any = (kind * count)()
        self.start = ctypes.addressof(self.values)
        self._step = ctypes.sizeof(kind)

    @property
    def at(self) -> list[int]:
        """The address of each."""
        return [self.start + index * self._step for index in range(len(self.values))]
