"""Reads OSCAL catalogs and profiles in JSON, as 1.0 to 1.2 have them: controls become criteria."""

import fnmatch
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path, PurePosixPath

from assay.frameworks import marked
from assay.frameworks.files import LONGEST_NAME, code_name_of
from assay.frameworks.imports import MOST_BYTES, Found, Imported, LeftOut, criteria_of, shortened
from assay.frameworks.models import MOST_CRITERIA, Framework
from assay.frameworks.oscal_json import Place, decode
from assay.frameworks.oscal_prose import Prose

_SUFFIX = re.compile(r"([-_](min|catalog))+$", re.IGNORECASE)
_DEEPEST = 30
_LONGEST_CHAIN = 10


def read(text: str, path: Path, beside: Sequence[Path] = ()) -> Imported:
    """The framework of a catalog or profile. Raises FrameworkFileError."""
    document = _Document.of(decode(text, path.name), path)
    controls, left_out = _Resolution(beside).controls(document, ())
    kept = [control for control in controls if not control.reason]
    left_out += [LeftOut(control.identifier, control.reason) for control in controls if control.reason]
    criteria = criteria_of((control.found() for control in kept), path.name)
    return Imported(replace(document.framework(), criteria=criteria), tuple(left_out))


class _Control:
    """A control with what is needed to put its text together."""

    def __init__(self, place: Place, context: tuple[str, ...], prose: Prose) -> None:
        self.place = place
        self.context = context
        self.prose = prose
        self.identifier = place.text("id")

    @property
    def reason(self) -> str:
        """Why it is no criterion; empty when it is one."""
        if any(_is_withdrawn(prop) for prop in self.place.items("props")):
            return "It is withdrawn."
        if not self.place.text("title") and not self.prose.statement(self.place):
            return "It has neither name nor description."
        return ""

    def found(self) -> Found:
        return Found(
            identifier=self.identifier,
            name=self.prose.plain(self.place.text("title")),
            description=self.prose.statement(self.place),
            reference=_label(self.place),
            context=self.context,
            path=self.place.path,
        )


def _is_withdrawn(prop: Place) -> bool:
    return prop.text("name") == "status" and prop.text("value").lower() == "withdrawn"


def _label(place: Place) -> str:
    labels = [prop for prop in place.items("props") if prop.text("name") == "label"]
    plain = [prop for prop in labels if not prop.text("class")]
    chosen = (plain or labels)[:1]
    return chosen[0].text("value") if chosen else place.text("id")


class _Document:
    """A catalog or profile in its file."""

    def __init__(self, kind: str, body: Place, path: Path) -> None:
        self.kind = kind
        self.body = body
        self.path = path

    @classmethod
    def of(cls, data: Place, path: Path) -> "_Document":
        for kind in ("catalog", "profile"):
            if kind in data.value:
                document = cls(kind, data.at(kind), path)
                document.check_version()
                return document
        known = ", ".join(list(data.value)[:3]) or "nothing"
        return data.refuse(
            f"This is no OSCAL catalog or profile, but {known}.", "Choose a catalog or a profile."
        )

    def check_version(self) -> None:
        version = self.body.at("metadata").text("oscal-version").lstrip("v")
        if not version.startswith("1."):
            self.body.refuse(
                f"This is OSCAL {version or 'of no version'}.", "Convert it to OSCAL 1.1 or 1.2."
            )

    def framework(self) -> Framework:
        metadata = self.body.at("metadata")
        title = " ".join(metadata.text("title").split())
        stem = _SUFFIX.sub("", self.path.stem)
        return Framework(
            code_name=code_name_of(stem) or code_name_of(title) or "OSCAL",
            name=shortened(title or stem, LONGEST_NAME),
            version=metadata.text("version") or "1",
            description=metadata.text("remarks") or title,
            language=metadata.text("language") or "en",
            source=f"OSCAL {self.kind} {self.body.text('uuid')}".strip(),
        )

    def names_of(self, href: str) -> Iterator[str]:
        """The file names that an import may mean: its own, or those of the resource that it points to."""
        if not href.startswith("#"):
            yield href
            return
        for resource in self.body.at("back-matter").items("resources"):
            if resource.text("uuid") == href[1:]:
                yield from (link.text("href") for link in resource.items("rlinks"))


class _Resolution:
    """Follows the imports of profiles, among the given files only."""

    def __init__(self, beside: Sequence[Path]) -> None:
        self.files = {_stem(path.name): path for path in beside}
        self.read: dict[Path, _Document] = {}

    def controls(self, document: _Document, chain: tuple[str, ...]) -> tuple[list[_Control], list[LeftOut]]:
        if document.kind == "catalog":
            return _catalog_controls(document), []
        chain = (*chain, document.path.name)
        chosen: dict[str, _Control] = {}
        left_out: list[LeftOut] = []
        for entry in document.body.items("imports"):
            found, missing = self.controls(self._imported(document, entry, chain), chain)
            left_out += missing
            for control in _selected(entry, found, left_out):
                earlier = chosen.setdefault(control.identifier, control)
                if earlier.place.value is not control.place.value:
                    control.place.refuse(
                        f"“{control.identifier}” comes from two catalogs.",
                        "Exclude it from one of the imports.",
                    )
        _modify(document.body.at("modify"), chosen)
        return list(chosen.values()), left_out

    def _imported(self, document: _Document, entry: Place, chain: tuple[str, ...]) -> _Document:
        href = entry.text("href")
        names = list(document.names_of(href))
        path = next((self.files[_stem(name)] for name in names if _stem(name) in self.files), None)
        if path is None:
            wanted = PurePosixPath(names[0]).name if names else href
            entry.refuse(f"The profile imports “{wanted}”.", "Give that file too, in JSON.")
        if path.name in chain or len(chain) > _LONGEST_CHAIN:
            entry.refuse(
                f"Profiles import each other: {' → '.join((*chain, path.name))}.", "Remove the circle."
            )
        if path not in self.read:
            text = marked.decode(marked.read_bytes(path, most_bytes=MOST_BYTES), path.name)
            self.read[path] = _Document.of(decode(text, path.name), path)
        return self.read[path]


def _stem(name: str) -> str:
    """A file name without folder, extension and what marks its form: profiles often name the XML one."""
    return re.sub(r"[-_]min$", "", PurePosixPath(name).stem).casefold()


def _catalog_controls(document: _Document) -> list[_Control]:
    """All controls; beyond twice the criteria that a framework may have, it is no use to go on."""
    found = _within(document.body, (), Prose(document.body), depth=1)
    controls = list(islice(found, 2 * MOST_CRITERIA + 1))
    if len(controls) > 2 * MOST_CRITERIA:
        controls[-1].place.refuse(f"There are more than {2 * MOST_CRITERIA:,} controls.", "Split the file.")
    return controls


def _within(place: Place, context: tuple[str, ...], prose: Prose, depth: int) -> Iterator[_Control]:
    """Controls in document order; those inside a control come after it."""
    if depth > _DEEPEST:
        place.refuse("Groups are nested too deeply.", f"Use at most {_DEEPEST} levels.")
    for group in place.items("groups"):
        yield from _within(group, (*context, prose.plain(group.text("title"))), prose, depth + 1)
    for control in place.items("controls"):
        if not control.text("id"):
            control.refuse("A control has no id.", "Give it one.")
        yield _Control(control, context, prose)
        yield from _within(control, (*context, prose.plain(control.text("title"))), prose, depth + 1)


def _selected(entry: Place, controls: Sequence[_Control], left_out: list[LeftOut]) -> list[_Control]:
    included = entry.items("include-controls")
    chosen = (
        set(_matching(included, controls, left_out)) if included else {one.identifier for one in controls}
    )
    chosen -= set(_matching(entry.items("exclude-controls"), controls, []))
    return [control for control in controls if control.identifier in chosen]


def _matching(
    selections: Sequence[Place], controls: Sequence[_Control], left_out: list[LeftOut]
) -> Iterator[str]:
    known = {control.identifier for control in controls}
    for selection in selections:
        named = list(selection.texts("with-ids"))
        left_out += [
            LeftOut(one, "The imported catalog does not have it.") for one in named if one not in known
        ]
        patterns = [pattern.text("pattern") for pattern in selection.items("matching")]
        named += [one for one in known for pattern in patterns if fnmatch.fnmatchcase(one, pattern[:200])]
        yield from named
        if selection.text("with-child-controls") == "yes":
            yield from _children(set(named), controls)


def _children(parents: set[str], controls: Sequence[_Control]) -> Iterator[str]:
    for control in controls:
        if control.identifier in parents:
            yield from (child.text("id") for child in control.place.items("controls"))


def _modify(modify: Place, chosen: dict[str, _Control]) -> None:
    """Parameters that the profile sets, and parts that it adds or removes."""
    for control in chosen.values():
        for setting in modify.items("set-parameters"):
            control.prose.set_parameter(setting)
    for alter in modify.items("alters"):
        control_or_none = chosen.get(alter.text("control-id"))
        if control_or_none is not None:
            control_or_none.prose.alter(control_or_none.identifier, alter)
