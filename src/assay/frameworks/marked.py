"""YAML as plain nodes that know their line, read without ever building an object or following an alias."""

import difflib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from assay.frameworks.models import Complaint, FrameworkFileError

DEEPEST = 40
# Several times what the largest published library has.
MOST_VALUES = 300_000
MOST_COMPLAINTS = 100

# The C parser where the wheel has it: ten times as fast, the same events.
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
# What a file in another encoding begins with; the longer marks first.
_ENCODINGS = (
    (b"\xff\xfe\x00\x00", "UTF-32"),
    (b"\x00\x00\xfe\xff", "UTF-32"),
    (b"\xff\xfe", "UTF-16"),
    (b"\xfe\xff", "UTF-16"),
)


@dataclass(frozen=True, slots=True)
class Scalar:
    """A value as it is written; `plain` without quotes. Nothing is guessed: `1.10` stays `1.10`."""

    text: str
    plain: bool
    line: int
    column: int

    @property
    def is_null(self) -> bool:
        return self.plain and self.text in _NULLS


@dataclass(frozen=True, slots=True)
class Sequence:
    items: list["Node"]
    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Mapping:
    entries: dict[str, "Node"]
    keys: dict[str, Scalar]
    line: int
    column: int


Node = Scalar | Sequence | Mapping


class Complaints:
    """What is wrong with one file, collected, so that an author sees all of it at once."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.found: list[Complaint] = []

    def add(self, node: Node, message: str, remedy: str) -> None:
        self.at(node.line, node.column, message, remedy)

    def at(self, line: int | None, column: int | None, message: str, remedy: str) -> None:
        self.found.append(Complaint(self.file, line, column, message, remedy))
        if len(self.found) >= MOST_COMPLAINTS:
            self.settle()

    def settle(self) -> None:
        """Raise what was found, if anything was."""
        if self.found:
            raise FrameworkFileError(
                sorted(self.found, key=lambda found: (found.line or 0, found.column or 0))
            )


def read_bytes(path: Path, *, most_bytes: int) -> bytes:
    """The file's bytes, never more than the limit; complaints name the file alone, not its folder."""
    complaints = Complaints(path.name)
    try:
        with path.open("rb") as file:
            data = file.read(most_bytes + 1)
    except OSError as error:
        complaints.at(
            None, None, f"The file cannot be opened: {error.strerror}.", "Check its name and rights."
        )
        complaints.settle()
    check_size(data, complaints, most_bytes)
    return data


def check_size(data: bytes, complaints: Complaints, most_bytes: int) -> None:
    if len(data) > most_bytes:
        limit = f"{most_bytes // 2**20} MiB"
        complaints.at(None, None, f"The file is larger than {limit}.", "Split the framework into several.")
        complaints.settle()


def decode(data: bytes, file: str) -> str:
    """UTF-8 or a complaint with the line where it stops being that."""
    complaints = Complaints(file)
    for mark, name in _ENCODINGS:
        if data.startswith(mark):
            complaints.at(1, 1, f"The file is in {name}.", "Save it as UTF-8.")
            complaints.settle()
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        column = error.start - (data.rfind(b"\n", 0, error.start) + 1) + 1
        complaints.at(line, column, "The file is not in UTF-8.", "Save it as UTF-8.")
        complaints.settle()
        raise


def read(text: str, file: str) -> Node:
    """The one document of a YAML text. Raises FrameworkFileError with every place that is refused."""
    complaints = Complaints(file)
    try:
        root = _Builder(yaml.parse(text, Loader=_LOADER), complaints).document()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (None, None)
        what = " ".join(part for part in (error.context, error.problem) if part)
        complaints.at(
            line, column, f"This is not YAML: {what}.", "Check indentation, colons and quotes here."
        )
    except yaml.YAMLError as error:
        complaints.at(
            _line_of(text, error), None, "A character here is not allowed.", "Remove control characters."
        )
    complaints.settle()
    return root


def _line_of(text: str, error: yaml.YAMLError) -> int | None:
    position = getattr(error, "position", None)
    return None if position is None else text.count("\n", 0, position) + 1


def nearest(word: str, known: Iterable[str]) -> str:
    """A question to an author who has mistyped; empty when nothing is near."""
    found = difflib.get_close_matches(word.lower(), list(known), n=1)
    return f"Did you mean “{found[0]}”?" if found else ""


class _Builder:
    """Turns parser events into nodes; what could build objects or grow without end is refused on the way."""

    def __init__(self, events: Iterator[Any], complaints: Complaints) -> None:
        self.events = events
        self.complaints = complaints
        self.values = 0

    def document(self) -> Node:
        root: Node = Scalar("", plain=True, line=1, column=1)
        documents = 0
        for event in self.events:
            if isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    self._refuse(
                        event, "There is a second document in the file.", "Write one framework a file."
                    )
                    self.complaints.settle()
            elif isinstance(event, yaml.NodeEvent):
                root = self._node(event, depth=1)
        return root

    def _node(self, event: Any, depth: int) -> Node:
        self.values += 1
        if depth > DEEPEST or self.values > MOST_VALUES:
            deep = depth > DEEPEST
            self._refuse(
                event,
                "Values are nested too deeply." if deep else f"There are more than {MOST_VALUES:,} values.",
                f"Use at most {DEEPEST} levels." if deep else "Split the file.",
            )
            self.complaints.settle()
        line, column = event.start_mark.line + 1, event.start_mark.column + 1
        if isinstance(event, yaml.AliasEvent):
            self._refuse(event, "Aliases (*name) are not allowed.", "Write the value out.")
            return Scalar("", plain=True, line=line, column=column)
        self._check(event)
        if isinstance(event, yaml.SequenceStartEvent):
            return Sequence(list(self._items(yaml.SequenceEndEvent, depth)), line, column)
        if isinstance(event, yaml.MappingStartEvent):
            return self._mapping(depth, line, column)
        return Scalar(event.value, plain=not event.style, line=line, column=column)

    def _check(self, event: Any) -> None:
        if event.anchor is not None:
            self._refuse(event, "Anchors (&name) are not allowed.", "Write the value out where it is needed.")
        if event.tag is not None:
            self._refuse(
                event, f"Tags ({event.tag}) are not allowed.", "Remove it; quote the value if it is text."
            )

    def _items(self, end: type[yaml.Event], depth: int) -> Iterator[Node]:
        for event in self.events:
            if isinstance(event, end):
                return
            yield self._node(event, depth + 1)

    def _mapping(self, depth: int, line: int, column: int) -> Mapping:
        mapping = Mapping({}, {}, line, column)
        items = self._items(yaml.MappingEndEvent, depth)
        for key in items:
            value = next(items)
            if not isinstance(key, Scalar):
                self.complaints.add(key, "A key must be a word.", "Put a list or phrase in quotes.")
            elif key.text in mapping.keys:
                first = mapping.keys[key.text].line
                self.complaints.add(
                    key, f"“{key.text}” stands here twice; first in line {first}.", "Keep one of them."
                )
            else:
                mapping.entries[key.text] = value
                mapping.keys[key.text] = key
        return mapping

    def _refuse(self, event: Any, message: str, remedy: str) -> None:
        self.complaints.at(event.start_mark.line + 1, event.start_mark.column + 1, message, remedy)
