"""Characters of symbol fonts, which mean nothing outside their font, as the signs that they look like."""

from collections.abc import Mapping

_PRIVATE_FIRST, _PRIVATE_LAST = 0xF020, 0xF0FF


def _table(rows: Mapping[int, str]) -> dict[int, str]:
    """Rows of signs that follow each other, by the code of the first; a space leaves a code out."""
    return {start + i: sign for start, signs in rows.items() for i, sign in enumerate(signs) if sign != " "}


# Word's legacy symbol fonts. Check boxes, ticks, arrows and bullets are what contracts use of them.
_WINGDINGS = _table(
    {
        0x21: "✏✂✁",
        0x28: "☎✆✉",
        0x36: "⌛",
        0x3E: "✇✍",
        0x41: "✌",
        0x46: "☞☝☟",
        0x4A: "☺☹",
        0x4E: "☠",
        0x51: "✈☼",
        0x54: "❄",
        0x5B: "☯",
        0x6C: "●❍■☐",
        0x71: "❑❒⬧⧫◆❖⬥☒",
        0x7D: "❞",
        0x7B: "❀✿❝",
        0x80: "⓪①②③④⑤⑥⑦⑧⑨⑩⓿❶❷❸❹❺❻❼❽❾❿",
        0x9E: "·•",
        0xA1: "○",
        0xA4: "◉◎",
        0xA7: "▪☐",
        0xAA: "✦★",
        0xB6: "☆",
        0xD5: "⌫⌦",
        0xD8: "➢",
        0xDC: "➲",
        0xDF: "←→↑↓↖↗↙↘",
        0xE8: "➔",
        0xEF: "⇦⇨⇧⇩⬄⇳",
        0xFB: "✗✓☒☑",
    }
)
_WINGDINGS_2 = _table({0x2A: "☐", 0x4F: "✗✓☒☑☒☒", 0x95: "•●", 0x9E: "•", 0xA3: "☐", 0xA0: "▪■□"})
_WINGDINGS_3 = _table({0x21: "→", 0x22: "↑", 0x24: "↓", 0x7D: "▶", 0x70: "▲▼△▽◀▶◁▷"})
_WEBDINGS = _table({0x61: "✓", 0x63: "□", 0x67: "■", 0x6E: "●", 0x72: "✗", 0x33: "◀▶▲▼"})
_SYMBOL = _table(
    {
        0x20: " ",
        0x21: "!∀#∃%&∋()∗+,−./0123456789:;<=>?",
        0x40: "≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_",
        0x61: "αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼",
        0xA0: "€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…",
        0xBF: "↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊〈®©™∑",
        0xF1: "〉∫",
    }
)
_FONTS = {
    "wingdings": _WINGDINGS,
    "wingdings 2": _WINGDINGS_2,
    "wingdings 3": _WINGDINGS_3,
    "webdings": _WEBDINGS,
    "symbol": _SYMBOL,
}
_UNKNOWN = "\N{REPLACEMENT CHARACTER}"


def is_symbol_font(font: str | None) -> bool:
    return font is not None and font.lower() in _FONTS


def sign(code: int, font: str | None) -> str:
    """The sign of a `w:sym`. A sign that has no counterpart is shown as unknown rather than dropped."""
    table = _FONTS.get((font or "").lower())
    low = code - 0xF000 if _PRIVATE_FIRST <= code <= _PRIVATE_LAST else code
    if table is not None and low in table:
        return table[low]
    if table is None and low == code and 0x20 <= code <= 0x10FFFF and not 0xD800 <= code < 0xE000:
        return chr(code)
    return _UNKNOWN


def translate(text: str, font: str | None) -> str:
    """Text that was typed in a symbol font, or that holds codes of one."""
    if is_symbol_font(font):
        return "".join(c if c in " \t\n\N{NO-BREAK SPACE}" else sign(ord(c), font) for c in text)
    return "".join(
        sign(ord(c), "Symbol" if ord(c) == 0xF0B7 else "Wingdings") if holds_codes(c) else c for c in text
    )


def holds_codes(text: str) -> bool:
    return any("\uf020" <= c <= "\uf0ff" for c in text)
