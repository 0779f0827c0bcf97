"""Footnotes and endnotes: counted where they are cited."""

from collections.abc import Callable
from dataclasses import dataclass, field

from assay.content.extraction.docx.names import Element, number, value, w
from assay.content.extraction.docx.numerals import numeral
from assay.content.models import DamagedDocument

_ID = w("id")
_MEMBERS = {"footnotes": w("footnote"), "endnotes": w("endnote")}
_PROPERTIES = {"footnotes": w("footnotePr"), "endnotes": w("endnotePr")}


@dataclass(slots=True)
class _Series:
    notes: dict[str, Element]
    style: str
    count: int
    start: int
    restarts: bool
    marks: dict[str, str] = field(default_factory=dict)
    printed: set[str] = field(default_factory=set)


@dataclass(slots=True)
class Notes:
    """Parts and settings are opened when the first note is cited."""

    open_part: Callable[[str], Element | None]
    list_settings: Callable[[], list[Element]]
    _series: dict[str, _Series] = field(default_factory=dict)

    def cite(self, kind: str, identifier: str) -> str:
        """The mark of a note; the second citation of a note repeats the first one's."""
        series = self._of(kind)
        if identifier not in series.notes:
            raise DamagedDocument("The DOCX cites a note that is missing.")
        mark = series.marks.get(identifier)
        if mark is None:
            mark = series.marks[identifier] = numeral(series.count, series.style)
            series.count += 1
        return mark

    def take(self, kind: str, identifier: str) -> Element | None:
        """The note, once; None when it has been printed already."""
        series = self._of(kind)
        if identifier not in series.notes:
            raise DamagedDocument("The DOCX cites a note that is missing.")
        if identifier in series.printed:
            return None
        series.printed.add(identifier)
        return series.notes[identifier]

    def end_section(self) -> None:
        for series in self._series.values():
            if series.restarts:
                series.count = series.start

    def _of(self, kind: str) -> _Series:
        if kind not in self._series:
            self._series[kind] = self._begin(kind)
        return self._series[kind]

    def _begin(self, kind: str) -> _Series:
        root = self.open_part(kind)
        notes = {
            note.get(_ID, ""): note for note in (() if root is None else root.iterchildren(_MEMBERS[kind]))
        }
        style = restart = start = None
        for properties in (
            found for each in self.list_settings() for found in each.iterchildren(_PROPERTIES[kind])
        ):
            style = style or value(properties, w("numFmt"))
            restart = restart or value(properties, w("numRestart"))
            start = start or number(value(properties, w("numStart")))
        default = "decimal" if kind == "footnotes" else "lowerRoman"
        return _Series(notes, style or default, start or 1, start or 1, restart == "eachSect")
