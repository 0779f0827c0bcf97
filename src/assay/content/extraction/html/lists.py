"""The numbers that a browser prints before the items of an ordered list."""

import re

from assay.content.extraction.html.tree import Node
from assay.content.extraction.printed_numbers import leading

_STYLE = re.compile(
    r"list-style(?:-type)?\s*:[^;]*?\b(none|decimal|lower-alpha|lower-latin|upper-alpha|upper-latin|lower-roman|upper-roman)\b"
)
_TYPES = {
    "lower-alpha": "a", "lower-latin": "a", "upper-alpha": "A", "upper-latin": "A",
    "lower-roman": "i", "upper-roman": "I", "decimal": "1",
}  # fmt: skip
_ROMAN = (
    (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"),
    (50, "l"), (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"),
)  # fmt: skip
_LARGEST = 1_000_000


def markers(ordered: Node) -> dict[Node, str]:
    """The marker of each item ("3." or "c."); none where the text brings numbers of its own."""
    items = [child for child in ordered.children if child.tag == "li"]
    style = _style(ordered)
    if style == "none" or _numbered_by_hand(items):
        return {}
    step = -1 if "reversed" in ordered.attributes else 1
    number = _integer(ordered.get("start"), len(items) if step < 0 else 1)
    result: dict[Node, str] = {}
    for item in items:
        number = _integer(item.get("value"), number)
        if _style(item, style) != "none":
            result[item] = f"{_written(number, _style(item, style))}."
        number += step
    return result


def _style(node: Node, default: str = "1") -> str:
    match = _STYLE.search(node.get("style").lower()[:2000])
    if match is not None:
        return _TYPES.get(match[1], "none")
    kind = node.get("type").strip()
    return kind if kind in {"1", "a", "A", "i", "I"} else default


def _numbered_by_hand(items: list[Node]) -> bool:
    own = sum(leading(item.plain(40)) is not None for item in items)
    return own * 2 > len(items)


def _integer(text: str, default: int) -> int:
    try:
        number = int(text[:12])
    except ValueError:
        return default
    return max(-_LARGEST, min(_LARGEST, number))


def _written(number: int, style: str) -> str:
    if style in "aA" and number > 0:
        letters = _letters(number)
        return letters.upper() if style == "A" else letters
    if style in "iI" and 0 < number < 4000:
        roman = _roman(number)
        return roman.upper() if style == "I" else roman
    return str(number)


def _letters(number: int) -> str:
    letters = ""
    while number:
        number, rest = divmod(number - 1, 26)
        letters = chr(ord("a") + rest) + letters
    return letters


def _roman(number: int) -> str:
    letters = ""
    for value, sign in _ROMAN:
        count, number = divmod(number, value)
        letters += sign * count
    return letters
