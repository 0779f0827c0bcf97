"""Styles: what a paragraph or a run inherits, with every chain walked once and no loop followed."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from assay.content.extraction.docx.names import (
    OFF,
    P_PR,
    R_PR,
    SHD,
    STYLE_ID,
    VAL,
    VANISH,
    Element,
    child_of,
    number,
    value,
    w,
)
from assay.content.extraction.docx.symbols import is_symbol_font

_NAMED_HEADING = re.compile(r"heading ?([1-9])")
_STYLE, _DEFAULTS, _RUN_DEFAULTS = w("style"), w("docDefaults"), w("rPrDefault")
_TYPE, _DEFAULT, _NAME, _BASED_ON = w("type"), w("default"), w("name"), w("basedOn")
_NUM_PR, _NUM_ID, _LEVEL, _OUTLINE = w("numPr"), w("numId"), w("ilvl"), w("outlineLvl")
_COLOUR, _SIZE, _FONTS, _HIGHLIGHT, _LANG = w("color"), w("sz"), w("rFonts"), w("highlight"), w("lang")
_FILL, _ASCII = w("fill"), w("ascii")
_NO_FILL = frozenset({None, "auto", "FFFFFF", "ffffff"})
_BODY_TEXT = 9


@dataclass(frozen=True, slots=True)
class Look:
    """What decides whether a run can be seen, each None where nothing is said."""

    hidden: bool | None = None
    white: bool | None = None
    tiny: bool | None = None
    backed: bool | None = None
    font: str | None = None

    def over(self, below: "Look") -> "Look":
        """Where one look is silent, the one below it decides."""
        return Look(
            below.hidden if self.hidden is None else self.hidden,
            below.white if self.white is None else self.white,
            below.tiny if self.tiny is None else self.tiny,
            below.backed if self.backed is None else self.backed,
            below.font if self.font is None else self.font,
        )

    def matters(self) -> bool:
        """Whether a run that looks like this may be hidden, or not be what its letters say."""
        return bool(self.hidden or self.white or self.tiny or is_symbol_font(self.font))


NO_LOOK = Look()


def look_of(properties: Element | None) -> Look:
    """What an `rPr` says itself."""
    if properties is None:
        return NO_LOOK
    said = {found[0]: found[1] for child in properties if (found := _said_by(child)) is not None}
    return Look(**said) if said else NO_LOOK


def _said_by(child: Element) -> tuple[str, Any] | None:
    reader = _LOOKS.get(child.tag)
    return None if reader is None else reader(child)


def _hidden(child: Element) -> tuple[str, Any]:
    return "hidden", child.get(VAL, "1") not in OFF


def _white(child: Element) -> tuple[str, Any]:
    return "white", child.get(VAL, "").upper() == "FFFFFF"


def _tiny(child: Element) -> tuple[str, Any]:
    return "tiny", (number(child.get(VAL)) or 2) < 2


def _font(child: Element) -> tuple[str, Any]:
    return "font", child.get(_ASCII)


def _backing(child: Element) -> tuple[str, Any] | None:
    if child.tag == SHD:
        return ("backed", True) if fills(child) else None
    return ("backed", True) if child.get(VAL) not in {"none", "white"} else None


_LOOKS: Mapping[str, Callable[[Element], tuple[str, Any] | None]] = {
    VANISH: _hidden,
    _COLOUR: _white,
    _SIZE: _tiny,
    _FONTS: _font,
    SHD: _backing,
    _HIGHLIGHT: _backing,
}


def is_filled(properties: Element | None) -> bool:
    """Whether something coloured stands behind the text."""
    shading = child_of(properties, SHD)
    return shading is not None and fills(shading)


def fills(shading: Element) -> bool:
    return shading.get(_FILL) not in _NO_FILL or shading.get(VAL, "clear") not in {"clear", "nil"}


@dataclass(frozen=True, slots=True)
class Style:
    """A style with what it inherits. `lineage` is its id and those it is based on, nearest first."""

    name: str = ""
    lineage: tuple[str, ...] = ()
    num_id: str | None = None
    level: int | None = None
    look: Look = NO_LOOK
    language: str | None = None
    heading_level: int | None = None
    hides: bool = False


def _heading_level(name: str, outline: int | None) -> int | None:
    named = _NAMED_HEADING.fullmatch(name)
    if named:
        return int(named[1])
    if outline is None:
        return 1 if name == "title" else None
    return outline + 1 if 0 <= outline < _BODY_TEXT else None


@dataclass(slots=True)
class Styles:
    root: Element | None
    _elements: dict[str, Element] = field(default_factory=dict)
    _known: dict[str, Style] = field(default_factory=dict)
    _paragraphs: dict[str | None, Style] = field(default_factory=dict)
    _default_paragraph: str = ""
    defaults: Look = NO_LOOK
    default_language: str | None = None

    def __post_init__(self) -> None:
        if self.root is None:
            return
        for element in self.root.iterchildren(_STYLE):
            identifier = element.get(STYLE_ID, "")
            self._elements.setdefault(identifier, element)
            if element.get(_TYPE) == "paragraph" and element.get(_DEFAULT) in {"1", "true", "on"}:
                self._default_paragraph = identifier
        properties = child_of(child_of(child_of(self.root, _DEFAULTS), _RUN_DEFAULTS), R_PR)
        self.defaults = look_of(properties)
        self.default_language = value(properties, _LANG)

    def paragraph(self, identifier: str | None) -> Style:
        """An unknown style is the default one, but a heading's id speaks for itself."""
        style = self._paragraphs.get(identifier)
        if style is None:
            style = self._paragraphs[identifier] = self._paragraph(identifier)
        return style

    def _paragraph(self, identifier: str | None) -> Style:
        if identifier in self._elements:
            return self._resolved(identifier)
        style = self._resolved(self._default_paragraph)
        named = _NAMED_HEADING.fullmatch((identifier or "").lower())
        if named is None:
            return style
        return Style(f"heading {named[1]}", look=style.look, heading_level=int(named[1]), hides=style.hides)

    def used(self, name: str) -> set[str | None]:
        """The paragraph styles of this name that were asked for, whatever their ids are."""
        return {identifier for identifier, style in self._paragraphs.items() if style.name == name}

    def character(self, identifier: str | None) -> Style:
        return self._resolved(identifier or "")

    def numbering(self, identifier: str) -> Style:
        return self._resolved(identifier)

    def hiding(self) -> set[str]:
        """Character styles that take a run out of sight or into a symbol font, and those based on them."""
        if self.root is None:
            return set()
        sources = {
            owner.get(STYLE_ID, "")
            for said in self.root.iter(VANISH, _COLOUR, _SIZE, _FONTS)
            if _tells(said) and (owner := _owner(said)) is not None
        }
        if not sources:
            return set()
        return {one for one in self._elements if not sources.isdisjoint(self._lineage(one))}

    def _resolved(self, identifier: str) -> Style:
        style = self._known.get(identifier)
        if style is None:
            style = self._known[identifier] = self._inherit(identifier)
        return style

    def _inherit(self, identifier: str) -> Style:
        lineage = list(self._lineage(identifier))
        num_id = level = outline = language = None
        look = NO_LOOK
        for ancestor in lineage:
            element = self._elements[ancestor]
            paragraph, run = child_of(element, P_PR), child_of(element, R_PR)
            listed = child_of(paragraph, _NUM_PR)
            num_id = num_id if num_id is not None else value(listed, _NUM_ID)
            level = level if level is not None else number(value(listed, _LEVEL))
            outline = outline if outline is not None else number(value(paragraph, _OUTLINE))
            language = language or value(run, _LANG)
            look = look.over(look_of(run))
            if is_filled(paragraph):
                look = look.over(Look(backed=True))
        name = value(self._elements[lineage[0]], _NAME) if lineage else None
        name = (name or "").lower()
        hides = look.over(self.defaults).matters()
        return Style(
            name, tuple(lineage), num_id, level, look, language, _heading_level(name, outline), hides
        )

    def _lineage(self, identifier: str) -> Iterator[str]:
        seen: set[str] = set()
        current: str | None = identifier
        while current in self._elements and current not in seen:
            assert current is not None
            seen.add(current)
            yield current
            current = value(self._elements[current], _BASED_ON)


def _tells(said: Element) -> bool:
    found = _said_by(said)
    return found is not None and (is_symbol_font(found[1]) if found[0] == "font" else bool(found[1]))


def _owner(said: Element) -> Element | None:
    """The character style that says so itself; what a paragraph's style says is known with the paragraph."""
    properties = said.getparent()
    style = None if properties is None else properties.getparent()
    return style if style is not None and style.get(_TYPE) == "character" else None
