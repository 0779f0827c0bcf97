"""Words read from the picture of a page, as fragments for the same layout as any text."""

from collections.abc import Iterable, Sequence
from itertools import groupby
from statistics import median

from assay.content.extraction.ocr import RecognisedWord
from assay.content.extraction.pdf.words import Fragment

_TALL = 0.88  # of the font size: the height of a line's tallest word
_WORD_GAP = 0.8
_SAME_SIZE = 0.3


def fragments_of(words: Sequence[RecognisedWord]) -> list[Fragment]:
    """Sizes measured on a scan jitter: lines near the usual size are given just that."""
    lines = [list(group) for _, group in groupby(words, key=lambda word: word.line)]
    sizes = [max(word.bottom - word.top for word in line) / _TALL for line in lines]
    usual = median(sizes) if sizes else 0.0
    fragments: list[Fragment] = []
    for line, size in zip(lines, sizes, strict=True):
        near = abs(size - usual) <= _SAME_SIZE * usual
        fragments.extend(_parts(line, max(usual if near else size, 1.0)))
    return fragments


def _parts(line: Iterable[RecognisedWord], size: float) -> list[Fragment]:
    words = sorted(line, key=lambda word: word.left)
    baseline = median(word.bottom for word in words)
    parts: list[Fragment] = []
    for word in words:
        if parts and word.left - parts[-1].right <= _WORD_GAP * size:
            parts[-1].text += " " + word.text
            parts[-1].right = max(parts[-1].right, word.right)
        else:
            parts.append(Fragment(word.text, word.left, word.right, baseline, size, bold=False))
    return parts
