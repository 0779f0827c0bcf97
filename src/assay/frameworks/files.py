"""Framework files into models, with complaints that name file, line and remedy; and back."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml

from assay.frameworks import expressions, marked, phrases
from assay.frameworks.models import (
    MOST_CRITERIA,
    Aspect,
    Criterion,
    Evidence,
    Framework,
    Vocabulary,
)

MOST_BYTES = 4 * 2**20
LONGEST_NAME = 500
LONGEST_TEXT = 65_536
CODE_NAME = r"^[A-Z][A-Z0-9]*(_[A-Z0-9]+)*$"
LONGEST_CODE_NAME = 100
LANGUAGE = r"^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$"

FRAMEWORK_KEYS = (
    "code_name", "name", "version", "language", "source", "description", "parties", "vocabulary", "criteria",
)  # fmt: skip
CRITERION_KEYS = ("code_name", "name", "reference", "context", "description", "aspects")
ASPECT_KEYS = ("name", "demand", "mandatory", "evidence", "contradicted_by")

_CODE_NAME = re.compile(CODE_NAME)
_LANGUAGE = re.compile(LANGUAGE)


def load(path: Path) -> Framework:
    """The framework in a file. Raises FrameworkFileError with all that is wrong."""
    data = marked.read_bytes(path, most_bytes=MOST_BYTES)
    return parse(marked.decode(data, path.name), path.name)


def parse(text: str, name: str = "framework.yaml") -> Framework:
    """The framework in a text; `name` is the file's, for complaints. Raises FrameworkFileError."""
    complaints = marked.Complaints(name)
    marked.check_size(text.encode("utf-8", "surrogatepass"), complaints, MOST_BYTES)
    root = marked.read(text, name)
    framework = _Reader(complaints).framework(root)
    complaints.settle()
    return framework


def dump(framework: Framework) -> str:
    """The framework as a file: `parse(dump(framework)) == framework`."""
    data = {
        "code_name": framework.code_name,
        "name": framework.name,
        "version": framework.version,
        "language": framework.language,
        "source": framework.source,
        "description": framework.description,
        "parties": list(framework.parties),
        "vocabulary": {
            language: {name: list(texts) for name, texts in entries.items()}
            for language, entries in framework.vocabulary.items()
        },
        "criteria": [_dump_criterion(criterion) for criterion in framework.criteria],
    }
    kept = {key: value for key, value in data.items() if value or key in {"description", "criteria"}}
    dumped: str = yaml.safe_dump(kept, sort_keys=False, allow_unicode=True, width=110)
    return dumped


def _dump_criterion(criterion: Criterion) -> dict[str, Any]:
    data = {
        "code_name": criterion.code_name,
        "name": criterion.name,
        "reference": criterion.reference,
        "context": list(criterion.context),
        "description": criterion.description,
        "aspects": [_dump_aspect(aspect) for aspect in criterion.aspects],
    }
    return {key: value for key, value in data.items() if value}


def _dump_aspect(aspect: Aspect) -> dict[str, Any]:
    data: dict[str, Any] = {"name": aspect.name, "demand": aspect.demand}
    if not aspect.mandatory:
        data["mandatory"] = False
    for key, evidence in (("evidence", aspect.evidence), ("contradicted_by", aspect.contradicted_by)):
        if evidence:
            data[key] = {
                language: [expressions.dump(one) for one in side] for language, side in evidence.items()
            }
    return data


def code_name_of(written: str) -> str:
    """An identifier in our spelling: `ac-2(1)` is `AC_2_1`, `5.1` is `C_5_1`; empty if nothing is left."""
    name = re.sub(r"[^A-Z0-9]+", "_", written.upper()).strip("_")
    return f"C_{name}" if name[:1].isdigit() else name


class _Reader:
    """Reads one file; what is wrong goes to the complaints, and reading goes on."""

    def __init__(self, complaints: marked.Complaints) -> None:
        self.complaints = complaints
        self.language = "en"
        self.vocabularies: dict[str, phrases.Vocabulary] = {}

    def framework(self, root: marked.Node) -> Framework:
        node = self._mapping(root, FRAMEWORK_KEYS, ("code_name", "name", "version", "language", "criteria"))
        self.language = self._pattern(node, "language", _LANGUAGE, "Write a code such as en or de.") or "en"
        vocabulary = self._vocabulary(node.entries.get("vocabulary"))
        return Framework(
            code_name=self._code_name(node),
            name=self._text(node, "name", LONGEST_NAME),
            version=self._text(node, "version", 100),
            description=self._text(node, "description"),
            language=self.language,
            source=self._text(node, "source"),
            parties=self._parties(node.entries.get("parties")),
            vocabulary=vocabulary,
            criteria=self._criteria(node.entries.get("criteria")),
        )

    def _mapping(self, node: marked.Node, known: tuple[str, ...], needed: tuple[str, ...]) -> marked.Mapping:
        if not isinstance(node, marked.Mapping):
            self.complaints.add(node, "Keys with values are expected here.", f"Begin with “{needed[0]}: …”.")
            return marked.Mapping({}, {}, node.line, node.column)
        for key, place in node.keys.items():
            if key not in known:
                remedy = marked.nearest(key, known) or f"Use one of: {', '.join(known)}."
                self.complaints.add(place, f"“{key}” is not known here.", remedy)
        for key in needed:
            if key not in node.entries:
                self.complaints.add(node, f"“{key}” is missing.", f"Add “{key}: …”.")
        return node

    def _text(self, node: marked.Mapping, key: str, longest: int = LONGEST_TEXT) -> str:
        """The text at a key, its ends trimmed; empty where the key is absent."""
        value = node.entries.get(key)
        if value is None:
            return ""
        if not isinstance(value, marked.Scalar) or value.is_null or not value.text.strip():
            self.complaints.add(value, f"“{key}” must be text.", "Write a sentence, or leave the key out.")
            return ""
        if len(value.text) > longest:
            self.complaints.add(value, f"“{key}” is too long.", f"Use at most {longest:,} characters.")
        return value.text.strip()

    def _pattern(self, node: marked.Mapping, key: str, pattern: re.Pattern[str], remedy: str) -> str:
        text = self._text(node, key)
        if text and not pattern.fullmatch(text):
            self.complaints.add(node.entries[key], f"“{text}” cannot be “{key}”.", remedy)
        return text

    def _code_name(self, node: marked.Mapping) -> str:
        text = self._text(node, "code_name", LONGEST_CODE_NAME)
        if text and not _CODE_NAME.fullmatch(text):
            better = code_name_of(text)
            self.complaints.add(
                node.entries["code_name"],
                f"“{text}” is no code name.",
                "Use capitals, digits and underscores, a letter first" + (f": {better}." if better else "."),
            )
        return text

    def _items(self, node: marked.Node | None, what: str) -> list[marked.Node]:
        if node is None:
            return []
        if not isinstance(node, marked.Sequence):
            self.complaints.add(node, f"“{what}” must be a list.", "Begin each entry with a dash.")
            return []
        return node.items

    def _texts(self, node: marked.Node | None, what: str) -> tuple[str, ...]:
        found = []
        for item in self._items(node, what):
            if isinstance(item, marked.Scalar) and not item.is_null and item.text.strip():
                found.append(item.text.strip())
            else:
                self.complaints.add(item, f"An entry of “{what}” must be text.", "Write words.")
        return tuple(found)

    def _vocabulary(self, node: marked.Node | None) -> Vocabulary:
        """By language; a vocabulary without languages is in the framework's own."""
        if node is None:
            return {}
        if not isinstance(node, marked.Mapping):
            self.complaints.add(
                node, "“vocabulary” must have names.", "Write “processor: [processor, supplier]”."
            )
            return {}
        languages = {
            key: value
            for key, value in node.entries.items()
            if isinstance(value, marked.Mapping) and self._is_language(key, node)
        }
        own: dict[str, marked.Node] = {
            key: value for key, value in node.entries.items() if not isinstance(value, marked.Mapping)
        }
        if own:
            languages[self.language] = marked.Mapping(own, node.keys, node.line, node.column)
        return {language: self._synonyms(language, entries) for language, entries in languages.items()}

    def _is_language(self, key: str, node: marked.Mapping) -> bool:
        if _LANGUAGE.fullmatch(key):
            return True
        self.complaints.add(node.keys[key], f"“{key}” is no language.", "Write a code such as en or de.")
        return False

    def _synonyms(self, language: str, node: marked.Mapping) -> dict[str, tuple[str, ...]]:
        known = self.vocabularies.setdefault(language, phrases.Vocabulary())
        found: dict[str, tuple[str, ...]] = {}
        for name, value in node.entries.items():
            if not phrases.is_name(name):
                self.complaints.add(
                    node.keys[name],
                    f"“{name}” cannot name synonyms.",
                    "Use small letters, digits and underscores.",
                )
            reader = self._reader(language)
            texts = [reader.phrase(item) for item in self._items(value, name)]
            found[name] = tuple(text for text in texts if text is not None)
            if not texts:
                self.complaints.add(value, f"“{name}” has no words.", "List at least one.")
            known.define(name, found[name])
        return found

    def _reader(self, language: str) -> expressions.Reader:
        vocabulary = self.vocabularies.setdefault(language, phrases.Vocabulary())
        return expressions.Reader(self.complaints, vocabulary)

    def _parties(self, node: marked.Node | None) -> tuple[str, ...]:
        names = self._texts(node, "parties")
        known = {name for vocabulary in self.vocabularies.values() for name in vocabulary.names}
        for name in names:
            if name not in known and node is not None:
                remedy = marked.nearest(name, known) or "Define it under “vocabulary”."
                self.complaints.add(node, f"The party “{name}” is not in the vocabulary.", remedy)
        return names

    def _criteria(self, node: marked.Node | None) -> tuple[Criterion, ...]:
        items = self._items(node, "criteria")
        if node is not None and isinstance(node, marked.Sequence) and not items:
            self.complaints.add(node, "There are no criteria.", "Write at least one.")
        if node is not None and len(items) > MOST_CRITERIA:
            self.complaints.add(
                node,
                f"There are {len(items):,} criteria.",
                f"Keep to {MOST_CRITERIA:,}: split the framework.",
            )
            self.complaints.settle()
        return tuple(self._criterion(item, first) for item, first in self._firsts(items, "code_name"))

    def _firsts(self, items: list[marked.Node], key: str) -> Iterable[tuple[marked.Node, int | None]]:
        """Each item, with the line of an earlier one that has the same text at `key`."""
        seen: dict[str, int] = {}
        for item in items:
            value = item.entries.get(key) if isinstance(item, marked.Mapping) else None
            text = value.text.strip() if isinstance(value, marked.Scalar) else None
            yield item, seen.get(text) if text else None
            if text:
                seen.setdefault(text, item.line)

    def _criterion(self, item: marked.Node, first: int | None) -> Criterion:
        node = self._mapping(item, CRITERION_KEYS, ("code_name", "name", "description"))
        self._check_first(node, "code_name", first)
        return Criterion(
            code_name=self._code_name(node),
            name=self._text(node, "name", LONGEST_NAME),
            description=self._text(node, "description"),
            reference=self._text(node, "reference"),
            context=self._texts(node.entries.get("context"), "context"),
            aspects=tuple(
                self._aspect(aspect, same)
                for aspect, same in self._firsts(self._items(node.entries.get("aspects"), "aspects"), "name")
            ),
        )

    def _check_first(self, node: marked.Mapping, key: str, first: int | None) -> None:
        if first is not None:
            self.complaints.add(
                node.entries[key], f"This {key} stands twice; first in line {first}.", "Give each its own."
            )

    def _aspect(self, item: marked.Node, first: int | None) -> Aspect:
        node = self._mapping(item, ASPECT_KEYS, ("name", "demand"))
        self._check_first(node, "name", first)
        return Aspect(
            name=self._text(node, "name", LONGEST_NAME),
            demand=self._text(node, "demand"),
            mandatory=self._mandatory(node.entries.get("mandatory")),
            evidence=self._evidence(node.entries.get("evidence")),
            contradicted_by=self._evidence(node.entries.get("contradicted_by")),
        )

    def _mandatory(self, node: marked.Node | None) -> bool:
        if node is None:
            return True
        if isinstance(node, marked.Scalar) and node.plain and node.text in {"true", "false"}:
            return node.text == "true"
        self.complaints.add(
            node, "“mandatory” is true or false.", "Write “mandatory: false”, or leave it out."
        )
        return True

    def _evidence(self, node: marked.Node | None) -> Evidence:
        """By language; evidence without languages is in the framework's own."""
        if node is None:
            return {}
        if isinstance(node, marked.Mapping) and not node.entries.keys() & set(expressions.KEYS):
            by_language = {key: value for key, value in node.entries.items() if self._is_language(key, node)}
        else:
            by_language = {self.language: node}
        return {language: self._reader(language).several(value) for language, value in by_language.items()}
