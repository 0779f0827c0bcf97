"""Equations on one line, so that a half does not read as twelve."""

from collections.abc import Callable, Mapping

from assay.content.extraction.docx.names import Element, T, m

_TEXT, _ELEMENT, _VALUE = m("t"), m("e"), m("val")
_PROPERTIES = frozenset(
    m(name) for name in ("rPr", "ctrlPr", "argPr", "fPr", "dPr", "naryPr", "radPr", "mPr")
)


def linear(element: Element) -> str:
    """The text of an equation, with the signs that its layout stands for."""
    layout = _LAYOUTS.get(element.tag)
    if layout is not None:
        return layout(element)
    if element.tag in {_TEXT, T}:
        return element.text or ""
    return "".join(linear(child) for child in element if child.tag not in _PROPERTIES)


def _part(element: Element, name: str) -> str:
    found = element.find(m(name))
    return "" if found is None else linear(found)


def _grouped(text: str) -> str:
    return text if text.isalnum() or not text else f"({text})"


def _scripts(sub: str, sup: str) -> str:
    return (f"_{_grouped(sub)}" if sub else "") + (f"^{_grouped(sup)}" if sup else "")


def _fraction(element: Element) -> str:
    return f"{_grouped(_part(element, 'num'))}/{_grouped(_part(element, 'den'))}"


def _scripted(element: Element) -> str:
    return _part(element, "e") + _scripts(_part(element, "sub"), _part(element, "sup"))


def _root(element: Element) -> str:
    return f"{_part(element, 'deg')}√{_grouped(_part(element, 'e'))}"


def _sign(element: Element, properties: str, name: str, default: str) -> str:
    found = element.find(f"{m(properties)}/{m(name)}")
    return default if found is None else found.get(_VALUE, "")


def _delimited(element: Element) -> str:
    inner = _sign(element, "dPr", "sepChr", "|").join(linear(one) for one in element.iterfind(_ELEMENT))
    return _sign(element, "dPr", "begChr", "(") + inner + _sign(element, "dPr", "endChr", ")")


def _nary(element: Element) -> str:
    scripts = _scripts(_part(element, "sub"), _part(element, "sup"))
    return f"{_sign(element, 'naryPr', 'chr', '∫')}{scripts} {_part(element, 'e')}"


def _matrix(element: Element) -> str:
    rows = (" ".join(linear(cell) for cell in row.iterfind(_ELEMENT)) for row in element.iterfind(m("mr")))
    return "; ".join(rows)


_LAYOUTS: Mapping[str, Callable[[Element], str]] = {
    m("f"): _fraction,
    m("sSup"): _scripted,
    m("sSub"): _scripted,
    m("sSubSup"): _scripted,
    m("rad"): _root,
    m("d"): _delimited,
    m("nary"): _nary,
    m("m"): _matrix,
}
