"""Markdown made from the blocks of a text, so escaped that it reads as the text does."""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby

from assay.content.models import Block, BlockKind, Text

_AFTER_BODY = frozenset({BlockKind.HEADER, BlockKind.FOOTER})
# Marks that mean something anywhere in a line; the rest only mean something at its beginning.
_ANYWHERE = re.compile(r"([\\`*_\[\]<>|~$])|(&)(?=#?\w+;)|(!)(?=\[)")
_AT_START = re.compile(r"^(#{1,6}(?=\s|$)|[+-](?=\s|$)|={3,}\s*$|-{3,}\s*$|:{3,})")
_NUMBER_AT_START = re.compile(r"^(\d{1,9})([.)])(?=\s|$)")
_ITEM_NUMBER = re.compile(r"(\d{1,9})([.)])\s+")
_INDENT = "   "


def render(text: Text) -> str:
    """The whole text; running headers and footers stand last, below a line."""
    body = [block for block in text.blocks if block.kind not in _AFTER_BODY]
    rest = [block for block in text.blocks if block.kind in _AFTER_BODY]
    pieces = list(_pieces(text.text, body))
    if rest:
        pieces.append("---")
        pieces.extend(_escaped(text.text[block.start : block.end]) for block in rest)
    return "\n\n".join(pieces) + "\n" if pieces else ""


def _pieces(text: str, blocks: Sequence[Block]) -> Iterator[str]:
    for kind, run in groupby(blocks, key=lambda block: block.kind):
        if kind is BlockKind.TABLE_ROW:
            yield _table(text, list(run))
        elif kind is BlockKind.LIST_ITEM:
            yield "\n".join(_item(text[block.start : block.end], block) for block in run)
        else:
            yield from (_plain(text[block.start : block.end], block) for block in run)


def _plain(text: str, block: Block) -> str:
    if block.kind is BlockKind.HEADING:
        return f"{'#' * min(block.level or 1, 6)} {_escaped(' '.join(text.split()), starts=False)}"
    if block.kind is BlockKind.FOOTNOTE:
        return f"> {_escaped(text).replace(chr(10), chr(10) + '> ')}"
    return _escaped(text)


def _item(text: str, block: Block) -> str:
    """A bullet, or the number that the text brings when Markdown can say it."""
    indent = _INDENT * (max(block.level or 1, 1) - 1)
    number = _ITEM_NUMBER.match(text)
    if number is not None:
        mark, text = f"{number[1]}{number[2]} ", text[number.end() :]
    else:
        mark = "- "
    return indent + mark + _escaped(text).replace("\n", f"\n{indent}{' ' * len(mark)}")


def _table(text: str, rows: Sequence[Block]) -> str:
    """Pipes. The first row is the head, for Markdown knows no table without."""
    lines = [[_cell(text[span.start : span.end]) for span in row.cells] or [""] for row in rows]
    width = max(map(len, lines))
    padded = [line + [""] * (width - len(line)) for line in lines]
    padded.insert(1, ["---"] * width)
    return "\n".join(f"| {' | '.join(line)} |" for line in padded)


def _cell(text: str) -> str:
    return _escaped(" ".join(text.split()), starts=False)


def _escaped(text: str, *, starts: bool = True) -> str:
    """The same characters to a reader of the rendered text; a line end stays one."""
    lines = []
    for line in text.split("\n"):
        escaped = _ANYWHERE.sub(r"\\\g<0>", line)
        if starts:
            escaped = _AT_START.sub(r"\\\1", escaped)
            escaped = _NUMBER_AT_START.sub(r"\1\\\2", escaped)
        lines.append(escaped)
    return "\\\n".join(lines)
