"""Reads the libraries of CISO Assistant: assessable nodes become criteria, the titles above them context."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from assay.frameworks.files import LONGEST_NAME, code_name_of
from assay.frameworks.imports import Found, Imported, LeftOut, criteria_of, first_sentence, shortened
from assay.frameworks.marked import Complaints, Mapping, Node, Scalar, Sequence
from assay.frameworks.models import Framework


def read(root: Mapping, file: str, language: str | None = None) -> Imported:
    """The framework of a library. Raises FrameworkFileError."""
    complaints = Complaints(file)
    library = _Library(root, complaints, language)
    framework = library.framework()
    complaints.settle()
    found = list(library.found())
    complaints.settle()
    return Imported(replace(framework, criteria=criteria_of(found, file)), tuple(library.left_out))


class _Library:
    def __init__(self, root: Mapping, complaints: Complaints, language: str | None) -> None:
        self.root = root
        self.complaints = complaints
        self.language = language
        self.left_out: list[LeftOut] = []
        self.body = self._body()
        self.nodes = self._nodes()
        self.by_urn = {_text(node, "urn"): node for node in self.nodes}

    def framework(self) -> Framework:
        """What stands above the nodes."""
        body, root = self.body, self.root
        identifier = _text(body, "ref_id") or _text(root, "ref_id") or _tail(_text(body, "urn"))
        code_name = code_name_of(identifier)
        if not code_name:
            self.complaints.add(body, "The framework has no ref_id.", "Give it one.")
        name = self._translated(body, "name") or self._translated(root, "name") or identifier
        return Framework(
            code_name=code_name,
            name=shortened(" ".join(name.split()), LONGEST_NAME),
            version=_text(root, "version") or "1",
            description=self._translated(body, "description") or self._translated(root, "description"),
            language=(self.language or _text(root, "locale") or "en").replace("_", "-"),
            source="; ".join(filter(None, (_text(root, "provider"), _text(root, "copyright")))),
        )

    def found(self) -> Iterator[Found]:
        """The assessable nodes that say something."""
        counts = Counter(_text(node, "ref_id") for node in self.nodes if _is_assessable(node))
        for node in self.nodes:
            if not _is_assessable(node):
                continue
            name, description = self._translated(node, "name"), self._translated(node, "description")
            if not name and not description:
                self._leave_out(node)
                continue
            yield Found(
                identifier=_identifier(node, counts),
                name=name,
                description=description,
                reference=_text(node, "ref_id"),
                context=self._context(node),
                line=node.line,
                column=node.column,
            )

    def _body(self) -> Mapping:
        objects = self.root.entries.get("objects")
        body = objects.entries.get("framework") if isinstance(objects, Mapping) else None
        if isinstance(body, Mapping):
            return body
        kinds = ", ".join(objects.entries) if isinstance(objects, Mapping) else "nothing"
        self.complaints.add(
            objects or self.root,
            f"The library holds no framework, but {kinds}.",
            "Choose a library that has one.",
        )
        self.complaints.settle()
        raise AssertionError

    def _nodes(self) -> list[Mapping]:
        nodes = self.body.entries.get("requirement_nodes")
        if not isinstance(nodes, Sequence):
            self.complaints.add(
                nodes or self.body, "“requirement_nodes” must be a list.", "Check the library."
            )
            self.complaints.settle()
            return []
        for node in nodes.items:
            if not isinstance(node, Mapping):
                self.complaints.add(node, "A requirement node must have keys.", "Check the library.")
        self.complaints.settle()
        return [node for node in nodes.items if isinstance(node, Mapping)]

    def _context(self, node: Mapping) -> tuple[str, ...]:
        """The titles above a node, outermost first."""
        titles: list[str] = []
        seen: set[str] = set()
        urn = _text(node, "parent_urn")
        while urn and urn in self.by_urn:
            if urn in seen:
                self.complaints.add(
                    node, "The nodes above this one form a circle.", "Correct a “parent_urn”."
                )
                break
            seen.add(urn)
            parent = self.by_urn[urn]
            titles.append(self._title(parent))
            urn = _text(parent, "parent_urn")
        return tuple(title for title in reversed(titles) if title)

    def _title(self, node: Mapping) -> str:
        name = self._translated(node, "name") or first_sentence(self._translated(node, "description"))
        return shortened(" ".join(f"{_text(node, 'ref_id')} {name}".split()), 200)

    def _translated(self, node: Mapping, key: str) -> str:
        """The text in the wanted language, or as the library has it."""
        translations = node.entries.get("translations")
        if self.language and isinstance(translations, Mapping):
            translation = translations.entries.get(self.language)
            if isinstance(translation, Mapping) and _text(translation, key):
                return _text(translation, key)
        return _text(node, key)

    def _leave_out(self, node: Mapping) -> None:
        identifier = _text(node, "ref_id") or _text(node, "urn")
        self.left_out.append(LeftOut(identifier, "It has neither name nor description.", node.line))


def _identifier(node: Mapping, counts: Counter[str]) -> str:
    """The printed identifier; the urn's where there is none or where several nodes share it."""
    reference = _text(node, "ref_id")
    if reference and counts[reference] == 1 and code_name_of(reference):
        return reference
    return _tail(_text(node, "urn")) or reference


def _tail(urn: str) -> str:
    """What a urn names within its library: the part after `req_node:library:`."""
    parts = urn.split(":")
    return ":".join(parts[5:]) or parts[-1]


def _is_assessable(node: Mapping) -> bool:
    return _text(node, "assessable").lower() in {"true", "yes", "on"}


def _text(node: Mapping, key: str) -> str:
    value: Node | None = node.entries.get(key)
    return value.text.strip() if isinstance(value, Scalar) and not value.is_null else ""
