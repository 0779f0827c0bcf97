"""Puts the text of an OSCAL control together: its statement with parameters filled in."""

import re
from collections.abc import Iterator

from assay.frameworks.files import LONGEST_TEXT
from assay.frameworks.oscal_json import Place

_INSERT = re.compile(r"\{\{\s*(?:insert:\s*param,\s*|param:\s*)?([\w.\-]+)\s*\}\}")
_LINK = re.compile(r"\[([^\]\[]*)\]\([^()\s]*\)")
_DEEPEST = 12
# Parts that say how a control is checked or explained, not what it demands.
_ASIDE = ("assessment", "guidance", "objective", "objects")


class Prose:
    """The texts of one catalog, with its parameters and with what a profile changes in them."""

    def __init__(self, catalog: Place) -> None:
        self.parameters = dict(_parameters(catalog))
        self.added: dict[str, list[Place]] = {}
        self.removed: dict[str, set[str]] = {}

    def set_parameter(self, setting: Place) -> None:
        """A profile's value goes before the catalog's."""
        identifier = setting.text("param-id")
        earlier = self.parameters.get(identifier)
        merged = {**(earlier.value if earlier else {}), **setting.value}
        self.parameters[identifier] = Place(merged, setting.file, setting.path)

    def alter(self, control: str, alter: Place) -> None:
        """Parts that a profile adds to a control or removes from it."""
        for add in alter.items("adds"):
            self.added.setdefault(add.text("by-id") or control, []).extend(add.items("parts"))
        for remove in alter.items("removes"):
            self.removed.setdefault(control, set()).update(filter(None, (remove.text("by-id"),)))

    def statement(self, control: Place) -> str:
        """What the control demands: its statement, or whatever else it says of itself."""
        removed = self.removed.get(control.text("id"), set())
        parts = control.items("parts") + self.added.get(control.text("id"), [])
        parts = [part for part in parts if part.text("id") not in removed]
        statements = [part for part in parts if part.text("name") == "statement"]
        others = [part for part in parts if not part.text("name").startswith(_ASIDE)]
        lines = [line for part in statements or others or parts for line in self._lines(part, removed, 0)]
        return "\n".join(lines).strip()

    def plain(self, text: str) -> str:
        """Markup text as it reads: parameters filled in, links as their words."""
        return _LINK.sub(r"\1", self._filled(text, ()))

    def _lines(self, part: Place, removed: set[str], depth: int) -> Iterator[str]:
        if depth > _DEEPEST:
            part.refuse("Parts are nested too deeply.", f"Use at most {_DEEPEST} levels.")
        prose = self.plain(part.text("prose"))
        if prose:
            yield f"{'  ' * depth}{_label(part)}{prose}"
        inner = part.items("parts") + (self.added.get(part.text("id"), []) if part.text("id") else [])
        for one in inner:
            if one.text("id") not in removed:
                yield from self._lines(one, removed, depth + 1 if prose else depth)

    def _filled(self, text: str, above: tuple[str, ...]) -> str:
        filled = _INSERT.sub(lambda match: self._value(match[1], above), text)
        if len(filled) > LONGEST_TEXT:
            place = self.parameters.get(above[-1]) if above else None
            (place or Place({}, "", "")).refuse("Parameters grow beyond measure here.", "Check the file.")
        return filled

    def _value(self, identifier: str, above: tuple[str, ...]) -> str:
        """Its values; else the choice that it leaves; else its label. A circle ends in the identifier."""
        place = self.parameters.get(identifier)
        if place is None or identifier in above or len(above) > _DEEPEST:
            return f"[{identifier}]"
        above = (*above, identifier)
        values = place.texts("values")
        if values:
            return self._filled(", ".join(values), above)
        choices = place.at("select").texts("choice")
        if choices:
            return f"[{self._filled(' or '.join(choices), above)}]"
        return f"[{self._filled(place.text('label') or place.text('usage') or identifier, above)}]"


def _label(part: Place) -> str:
    """The mark before an item, such as "a."; not the long ones that repeat the control's own."""
    labels = [prop.text("value") for prop in part.items("props") if prop.text("name") == "label"]
    return f"{labels[0]} " if labels and len(labels[0]) <= 6 else ""


def _parameters(place: Place, depth: int = 0) -> Iterator[tuple[str, Place]]:
    """Every parameter of a catalog, wherever it is defined."""
    if depth > _DEEPEST * 3:
        place.refuse("Groups are nested too deeply.", "Check the file.")
    for parameter in place.items("params"):
        yield parameter.text("id"), parameter
    for key in ("groups", "controls"):
        for inner in place.items(key):
            yield from _parameters(inner, depth + 1)
