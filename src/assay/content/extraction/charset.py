"""Bytes of a text or a web page into characters: by mark, header, declaration, or by what reads best."""

import codecs
import re

from assay.content.extraction.language import likelihood

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_META = re.compile(
    rb"""<meta\b[^>]{0,500}?\bcharset\s*=\s*["']?\s*([a-zA-Z0-9_:.-]{2,40})"""
    rb"""|^\s*<\?xml\b[^>]{0,200}?\bencoding\s*=\s*["']([a-zA-Z0-9_:.-]{2,40})""",
    re.IGNORECASE,
)
_DECLARED_WITHIN = 8192
# Labels mean what browsers take them for: the larger set of characters.
_WIDER = {
    "ascii": "cp1252", "iso8859-1": "cp1252", "iso8859-9": "cp1254", "iso8859-11": "cp874",
    "tis-620": "cp874", "gb2312": "gb18030", "gbk": "gb18030", "shift_jis": "cp932",
    "euc_kr": "cp949", "big5": "big5hkscs",
}  # fmt: skip
_SINGLE_BYTE = (
    *(f"cp{number}" for number in range(1250, 1259)),
    *(f"iso8859-{number}" for number in range(2, 17) if number != 12),
    *("koi8-r", "koi8-u", "cp866", "cp874", "mac-roman", "mac-cyrillic"),
)
_MANY_BYTES = ("cp932", "euc_jp", "gb18030", "big5hkscs", "cp949")
_KNOWN = frozenset({"utf-8", "utf-16", "utf-16-le", "utf-16-be", "iso2022_jp", *_SINGLE_BYTE, *_MANY_BYTES})
_GUESSES = (
    *("cp1252", "cp1251", "cp1250", "iso8859-2", "cp1253", "cp1255", "cp1256", "cp1254", "cp1257", "koi8-r"),
    *_MANY_BYTES,
)
_SAMPLE = 60_000
# What no text holds: the mark of a failed byte, and controls that only a wrong decoding brings.
_WRONG = re.compile("[\x80-\x9f\ufffd]")
_TAGS = re.compile(r"<[^<>]*>")


def decode(data: bytes, declared: str | None = None) -> str:
    """The characters of these bytes; never fails. `declared` is what the transport said."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return data[len(mark) :].decode(encoding, "replace")
    wide = _sixteen_bits(data)
    if wide is not None:
        return data.decode(wide, "replace")
    names = [name for name in (_codec(declared), _codec(_stated(data))) if name is not None]
    if "iso2022_jp" in names and b"\x1b" in data:
        return data.decode("iso2022_jp", "replace")
    try:
        # Bytes that are valid UTF-8 by accident do not occur, labels that are wrong do.
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return _decode_other(data, names)


def _decode_other(data: bytes, names: list[str]) -> str:
    for name in names:
        if name not in {"utf-8", "utf-16", "utf-16-le", "utf-16-be"}:
            text = data.decode(name, "replace")
            if text.count("\ufffd") <= len(data) // 500:
                return text
    text = data.decode("utf-8", "replace")
    high = len(data) - len(data.translate(None, bytes(range(0x80, 0x100))))
    if text.count("\ufffd") * 10 <= high:
        return text
    return data.decode(_guess(data), "replace")


def _stated(data: bytes) -> str | None:
    match = _META.search(data[:_DECLARED_WITHIN])
    return (match[1] or match[2]).decode("ascii") if match else None


def _codec(label: str | None) -> str | None:
    """The codec of a label; None for one that is unknown or is no encoding of text."""
    try:
        name = codecs.lookup((label or "").strip(" \"'")).name
    except (LookupError, ValueError):
        return None
    name = _WIDER.get(name, name)
    return name if name in _KNOWN else None


def _sixteen_bits(data: bytes) -> str | None:
    """UTF-16 without a mark: every other byte of western text is zero."""
    head = data[:2000]
    if len(head) < 8 or head.count(0) * 3 < len(head):
        return None
    even, odd = head[::2].count(0), head[1::2].count(0)
    if min(even, odd) * 10 > max(even, odd):
        return None
    return "utf-16-le" if odd > even else "utf-16-be"


def _guess(data: bytes) -> str:
    best, best_score = "cp1252", 0.0
    for name in _GUESSES:
        sample = data[:_SAMPLE].decode(name, "replace")
        wrong = len(_WRONG.findall(sample)) / max(len(sample), 1)
        score = likelihood(_TAGS.sub(" ", sample)) - 10 * wrong
        if score > best_score * 1.02:
            best, best_score = name, score
    return best
