"""Fragments that stand side by side become lines; lines know their text, place, size and weight."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from assay.content.extraction.pdf.words import SUPERSCRIPT, Fragment, is_rtl
from assay.content.models import BlockKind

_SAME_LINE = 0.45  # of the font size; wide enough for a raised note mark
_TIGHT = 0.12
_RAISED_GAP = 0.3
_CJK = re.compile("[\u2e80-\u303f\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff00-\uffef]")

LABEL = re.compile(
    r"""(?:
      [•◦▪▫●○■□‣\u2043∙·\u2212\u2013—\-*\uf0a7\uf0b7➢✓✔►▶❖]          # a bullet
    | [oO§]
    | \(?[0-9]{1,3}(?:\.[0-9]{1,3})*[.)]?            # 1  1.  (1)  1.2.3
    | \(?[A-Za-z]{1,2}[.)]  | \([A-Za-z]{1,2}\)        # a)  (a)
    | \(?[ivxlcIVXLC]{1,6}[.)]                         # iv.  (iv)
    | (?:art(?:ikel|icle)?|§+|section|clause|ziffer|nr)\.?\s*[0-9IVX]{1,5}[a-z]?[.:)]?
    | \[[0-9]{1,3}\]
    | [⁰¹²³⁴⁵⁶⁷⁸⁹]{1,3} | [*†‡]{1,3}
    )$""",
    re.VERBOSE | re.IGNORECASE,
)


@dataclass(slots=True)
class Line:
    text: str
    left: float
    right: float
    baseline: float
    size: float
    bold: bool
    table: int | None = None  # stands for a line of this table
    kind: BlockKind | None = None  # a form value or an annotation, which stands as a block of its own


def is_cjk(letter: str) -> bool:
    return _CJK.match(letter) is not None


def is_label(text: str) -> bool:
    return len(text) <= 14 and LABEL.match(text) is not None


def rows_of(fragments: Iterable[Fragment]) -> list[list[Fragment]]:
    """Fragments of one baseline together, from the top down."""
    rows: list[list[Fragment]] = []
    for fragment in sorted(fragments, key=lambda item: item.baseline):
        if rows and fragment.baseline - _level(rows[-1]) <= _SAME_LINE * max(fragment.size, rows[-1][0].size):
            rows[-1].append(fragment)
        else:
            rows.append([fragment])
    return rows


def _level(row: Sequence[Fragment]) -> float:
    return max(row, key=lambda item: item.size).baseline


def lines_of(fragments: Iterable[Fragment]) -> list[Line]:
    """The lines that fragments make, from the top down."""
    lines: list[Line] = []
    for row in rows_of(fragments):
        printed = [item for item in row if item.table is None]
        if printed:
            lines.append(line_of(printed))
        lines.extend(line_of([item]) for item in row if item.table is not None)
    return lines


def line_of(row: Sequence[Fragment]) -> Line:
    if len(row) == 1:
        only = row[0]
        return Line(only.text, only.left, only.right, only.baseline, only.size, only.bold, only.table)
    main = max(row, key=lambda item: len(item.text))
    return Line(
        text=_joined(row),
        left=min(item.left for item in row),
        right=max(item.right for item in row),
        baseline=main.baseline,
        size=main.size,
        bold=all(item.bold for item in row if not is_label(item.text)),
    )


def _joined(row: Sequence[Fragment]) -> str:
    backwards = sum(len(item.text) for item in row if is_rtl(item.text)) * 2 > sum(
        len(item.text) for item in row
    )
    ordered = sorted(row, key=lambda item: -item.right if backwards else item.left)
    main = max(row, key=lambda item: item.size)
    text = ordered[0].text if not _is_raised(ordered[0], main) else ordered[0].text.translate(SUPERSCRIPT)
    for before, after in pairwise(ordered):
        gap = before.left - after.right if backwards else after.left - before.right
        raised = _is_raised(after, main)
        tight = gap < (_RAISED_GAP * main.size if raised else _TIGHT * after.size)
        apart = not tight and not (is_cjk(before.text[-1]) and is_cjk(after.text[0]) and gap < after.size)
        text += " " * apart + (after.text.translate(SUPERSCRIPT) if raised else after.text)
    return text


def _is_raised(mark: Fragment, text: Fragment) -> bool:
    """A small number above the line: the mark of a note, or an exponent."""
    return mark.size < 0.85 * text.size and mark.baseline < text.baseline - 0.1 * text.size
