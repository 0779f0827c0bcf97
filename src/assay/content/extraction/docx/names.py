"""Names of WordprocessingML, as lxml spells them, and the two smallest readings of an attribute."""

from typing import TypeAlias

from lxml import etree

Element: TypeAlias = etree._Element  # noqa: SLF001 - lxml publishes its element type under this name only

WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
MATH = "http://schemas.openxmlformats.org/officeDocument/2006/math"
DRAWING = "http://schemas.openxmlformats.org/drawingml/2006/main"
PLACED = "http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing"
DIAGRAM = "http://schemas.openxmlformats.org/drawingml/2006/diagram"
CHART = "http://schemas.openxmlformats.org/drawingml/2006/chart"
COMPATIBILITY = "http://schemas.openxmlformats.org/markup-compatibility/2006"
VML = "urn:schemas-microsoft-com:vml"


def w(name: str) -> str:
    """The name as lxml spells it: `{namespace}name`."""
    return f"{{{WORD}}}{name}"


def r(name: str) -> str:
    return f"{{{RELATIONS}}}{name}"


def m(name: str) -> str:
    return f"{{{MATH}}}{name}"


VAL = w("val")
P, R, T, TBL, TR, TC = w("p"), w("r"), w("t"), w("tbl"), w("tr"), w("tc")
P_PR, R_PR, TR_PR, TC_PR, TBL_PR = w("pPr"), w("rPr"), w("trPr"), w("tcPr"), w("tblPr")
SDT, SDT_CONTENT, SECT_PR, ALT_CHUNK, SUB_DOC = (
    w("sdt"),
    w("sdtContent"),
    w("sectPr"),
    w("altChunk"),
    w("subDoc"),
)
INS, DEL, MOVE_FROM, MOVE_TO = w("ins"), w("del"), w("moveFrom"), w("moveTo")
VANISH, SHD, STYLE_ID = w("vanish"), w("shd"), w("styleId")
ALTERNATE = f"{{{COMPATIBILITY}}}AlternateContent"
CHOICE = f"{{{COMPATIBILITY}}}Choice"
FALLBACK = f"{{{COMPATIBILITY}}}Fallback"

OFF = frozenset({"0", "false", "off"})
# What the drawing and word-processing extensions are called whose content this reader understands.
_UNDERSTOOD = (
    "http://schemas.microsoft.com/office/word/",
    "http://schemas.microsoft.com/office/drawing/2010/",
    "http://schemas.openxmlformats.org/",
)


def leading(parent: Element, name: str) -> Element | None:
    """The properties of an element, which stand first in it if it has any."""
    first = parent[0] if len(parent) else None
    return first if first is not None and first.tag == name else None


def child_of(parent: Element | None, name: str) -> Element | None:
    """The first child of this name. For one step, `find` costs twice as much."""
    for child in () if parent is None else parent:
        if child.tag == name:
            return child
    return None


def value(parent: Element | None, name: str) -> str | None:
    """The `w:val` of a child."""
    child = child_of(parent, name)
    return None if child is None else child.get(VAL)


def switched(parent: Element | None, name: str) -> bool | None:
    """An on/off child: None where it is absent, so that what it inherits from decides."""
    child = child_of(parent, name)
    return None if child is None else child.get(VAL, "1") not in OFF


def number(text: str | None) -> int | None:
    """A small whole number, or None: nothing in a document needs more than nine digits."""
    if text is None or len(text) > 10:
        return None
    try:
        return int(text)
    except ValueError:
        return None


def alternative(element: Element) -> Element | None:
    """The one branch of alternate content that is shown: the first that is understood, or the fallback."""
    for branch in element:
        if branch.tag == FALLBACK:
            return branch
        if branch.tag == CHOICE and all(
            branch.nsmap.get(prefix, "").startswith(_UNDERSTOOD)
            for prefix in branch.get("Requires", "").split()
        ):
            return branch
    return None
