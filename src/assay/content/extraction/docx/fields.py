"""Fields: their results are text, their instructions are not."""

from dataclasses import dataclass, field

from assay.content.extraction.docx.names import Element, number, switched, value, w
from assay.content.extraction.docx.symbols import sign

_FORM, _CHECK, _LIST = w("ffData"), w("checkBox"), w("ddList")
CHECKED, UNCHECKED = "☒", "☐"


@dataclass(slots=True)
class Field:
    """A field that has begun. It is shown once its result has."""

    begin: Element
    instruction: list[str] = field(default_factory=list)
    in_result: bool = False
    printed: list[str] | None = None
    printed_before: int = 0

    def has_result(self, pieces: list[str]) -> bool:
        if self.printed is not pieces:
            return self.in_result
        return any(piece.strip() for piece in pieces[self.printed_before :])

    def own_text(self) -> str:
        """What Word draws for a field that stores no result."""
        words = "".join(self.instruction).split()
        kind = words[0].upper() if words else ""
        if kind == "FORMCHECKBOX":
            return _check_box(self.begin.find(f"{_FORM}/{_CHECK}"))
        if kind == "FORMDROPDOWN":
            return _chosen(self.begin.find(f"{_FORM}/{_LIST}"))
        if kind == "MACROBUTTON":
            return " ".join(words[2:])
        return _symbol(words) if kind == "SYMBOL" else ""


def _check_box(box: Element | None) -> str:
    checked = switched(box, w("checked"))
    return CHECKED if (switched(box, w("default")) if checked is None else checked) else UNCHECKED


def _chosen(choices: Element | None) -> str:
    if choices is None:
        return ""
    entries = choices.findall(w("listEntry"))
    index = number(value(choices, w("result"))) or number(value(choices, w("default"))) or 0
    return entries[index].get(w("val"), "") if 0 <= index < len(entries) else ""


def _symbol(words: list[str]) -> str:
    code = words[1] if len(words) > 1 else ""
    font = next(
        (words[at + 1].strip('"') for at, word in enumerate(words[:-1]) if word.lower() == "\\f"), None
    )
    if code.isdecimal() and len(code) < 7:
        return sign(int(code), font)
    return code.strip('"') if len(code.strip('"')) == 1 else ""
