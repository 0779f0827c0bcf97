"""How the text objects of a page are printed: size, weight, turn, and whether in visible ink."""

import ctypes
import math
import re
from dataclasses import dataclass

from assay.content.extraction.pdf import native

TURNED = -1  # the turn of a line that is neither level nor upright: a watermark
_BOLD_NAME = re.compile(r"bold|black|heavy|semibd|demi(?!r)", re.IGNORECASE)
_BOLD_WEIGHT = 600
_WHITE = 242
_INVISIBLE_MODE = 3
_FILL_MODES = frozenset({0, 4})


@dataclass(slots=True)
class Style:
    """What all characters of one text object share. `doubt` says why a reader may not see them."""

    size: float
    bold: bool
    turn: int
    doubt: str | None


class StyleReader:
    """The styles of one page, each object asked once. Handles are valid only while the page is open."""

    def __init__(self, text_page: int) -> None:
        self._page = text_page
        self.known: dict[int, Style] = {}
        self._bold: dict[int, bool] = {}
        self._matrix = native.Floats(6)
        self._colour = native.Floats(4, ctypes.c_uint)
        self._colour_at = self._colour.at
        self._last: tuple[float, Style] | None = None

    def of(self, owner: int, index: int, height: float) -> Style:
        bold = self._is_bold(native.object_font(owner) or 0) if owner else False
        doubt = self._ink(owner) if owner else None
        last = self._last
        # Where each letter is an object of its own, this saves half of all calls: neighbours of the
        # same height and weight are of one size and run one way.
        if last is None or abs(last[0] - height) > 0.01 or last[1].bold != bold or last[1].turn != 0:
            size, turn = self._measure(index)
            style = Style(size, bold, turn, doubt)
        elif last[1].doubt == doubt:
            style = last[1]
        else:
            style = Style(last[1].size, bold, last[1].turn, doubt)
        self.known[owner] = style
        self._last = (height, style)
        return style

    def _measure(self, index: int) -> tuple[float, int]:
        """The size as printed, in points, and the turn of the text."""
        native.char_matrix(self._page, index, self._matrix.start)
        a, b, c, d = self._matrix.values[:4]
        size = native.char_font_size(self._page, index) * math.hypot(c, d)
        if not math.isfinite(size + a + b):
            return 0.01, TURNED
        angle = math.degrees(math.atan2(b, a)) % 360
        turn = round(angle / 90)
        turned = abs(angle - turn * 90) > 3
        return max(abs(size), 0.01), TURNED if turned else turn % 4

    def _is_bold(self, font: int) -> bool:
        if font not in self._bold:
            name = ctypes.create_string_buffer(128)
            native.font_name(font, name, 128)
            weighty = native.font_weight(font) >= _BOLD_WEIGHT
            self._bold[font] = weighty or bool(_BOLD_NAME.search(name.value.decode("latin-1")))
        return self._bold[font]

    def _ink(self, owner: int) -> str | None:
        mode = native.object_mode(owner)
        if mode == _INVISIBLE_MODE:
            return "invisible"
        if mode not in _FILL_MODES or not native.object_fill(owner, *self._colour_at):
            return None
        # The alpha is no help: PDFium reports none for text that it paints in a pattern.
        return "white" if min(self._colour.values[:3]) >= _WHITE else None
