"""One pass over a part before it is read, to know which of its paragraphs need more than their runs."""

from dataclasses import dataclass, field

from assay.content.extraction.docx.names import ALTERNATE, DEL, INS, MOVE_FROM, MOVE_TO, Element, P, m, w

_FIELD_CHAR, _CHAR_TYPE = w("fldChar"), w("fldCharType")
_CHANGES = frozenset({INS, DEL, MOVE_FROM, MOVE_TO, w("cellIns"), w("cellDel")})
_BUSY = (
    *_CHANGES,
    _FIELD_CHAR,
    ALTERNATE,
    m("oMath"),
    *(
        w(name)
        for name in (
            *(
                "drawing",
                "pict",
                "object",
                "footnoteReference",
                "endnoteReference",
                "sym",
                "ruby",
                "delText",
                "instrText",
            ),
            *("tab", "ptab", "br", "cr", "noBreakHyphen", "softHyphen"),
        )
    ),
)


@dataclass(slots=True)
class Survey:
    """`unclosed` are begins of fields without an end: at their word, they would swallow the rest."""

    busy: set[Element] = field(default_factory=set)
    changes: list[Element] = field(default_factory=list)
    unclosed: set[Element] = field(default_factory=set)


def survey(root: Element, gone: frozenset[str]) -> Survey:
    found = Survey()
    open_fields: list[Element] = []
    for element in root.iter(*_BUSY):
        tag = element.tag
        if tag in _CHANGES:
            found.changes.append(element)
        # The nearest paragraph is enough: what it stands in, such as a box, is met on its own.
        is_gone = False
        around = element.getparent()
        while around is not None and (name := around.tag) != P:
            is_gone = is_gone or name in gone
            around = around.getparent()
        if around is not None:
            found.busy.add(around)
        if tag == _FIELD_CHAR and not is_gone:
            _open_or_close(open_fields, element)
    found.unclosed = set(open_fields)
    return found


def _open_or_close(open_fields: list[Element], mark: Element) -> None:
    kind = mark.get(_CHAR_TYPE)
    if kind == "begin":
        open_fields.append(mark)
    elif kind == "end" and open_fields:
        open_fields.pop()
