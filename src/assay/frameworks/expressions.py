"""Evidence as it is written in a framework file, into expressions and back."""

import re
from typing import Any

from assay.frameworks import figures, marked, phrases
from assay.frameworks.models import (
    AllOf,
    AnyOf,
    Comparison,
    Deadline,
    Duty,
    Expression,
    Figure,
    Modality,
    Phrase,
    Qualified,
)

KINDS = ("phrase", "any", "all", "who", "deadline", "number")
MODALITIES = tuple(modality.value for modality in Modality)
KEYS = (*KINDS, *MODALITIES, "within", "unless", "weak")
WIDEST = 400

_COMPARISON = "at most|at least|less than|more than"
DEADLINE = rf"^(any|({_COMPARISON}) ([1-9][0-9]{{0,5}}) ({'|'.join(f'{unit}s?' for unit in figures.HOURS)}))$"
NUMBER = rf"^(any|({_COMPARISON}) ([0-9]{{1,9}}(?:\.[0-9]{{1,6}})?)) (\S.*)$"
_DEADLINE = re.compile(DEADLINE)
_NUMBER = re.compile(NUMBER)


class Reader:
    """Reads expressions of one language; what is wrong goes to the complaints and reads as nothing."""

    def __init__(self, complaints: marked.Complaints, vocabulary: phrases.Vocabulary) -> None:
        self.complaints = complaints
        self.vocabulary = vocabulary

    def several(self, node: marked.Node) -> tuple[Expression, ...]:
        """A list of expressions; a single one may stand without the list."""
        nodes = node.items if isinstance(node, marked.Sequence) else [node]
        if not nodes:
            self.complaints.add(
                node, "The list is empty.", "Write at least one phrase, or leave the key out."
            )
        return tuple(found for item in nodes if (found := self.one(item)) is not None)

    def one(self, node: marked.Node) -> Expression | None:
        match node:
            case marked.Scalar():
                text = self.phrase(node)
                return None if text is None else Phrase(text)
            case marked.Sequence():
                members = self.several(node)
                return AnyOf(members) if members else None
            case marked.Mapping():
                return self._mapping(node)

    def phrase(self, node: marked.Node) -> str | None:
        """The text of a phrase that can be read and whose names are known."""
        if not isinstance(node, marked.Scalar) or node.is_null:
            self.complaints.add(
                node, "A phrase is expected here.", "Write words, for example: without undue delay."
            )
            return None
        try:
            phrases.read(node.text, self.vocabulary)
        except phrases.UnknownNameError as error:
            self.complaints.add(
                node, str(error), marked.nearest(error.name, self.vocabulary.names) or error.remedy
            )
        except phrases.PhraseError as error:
            self.complaints.add(node, str(error), error.remedy)
        else:
            return node.text
        return None

    def _mapping(self, node: marked.Mapping) -> Expression | None:
        for key in node.entries.keys() - set(KEYS):
            remedy = marked.nearest(key, KEYS) or f"Use one of: {', '.join(KEYS)}."
            self.complaints.add(node.keys[key], f"“{key}” is not part of the evidence language.", remedy)
        kinds = [kind for kind in KINDS if kind in node.entries]
        if len(kinds) != 1:
            self.complaints.add(
                node,
                f"An expression says one thing; this one has {' and '.join(kinds) or 'none'}.",
                f"Use exactly one of: {', '.join(KINDS)}.",
            )
            return None
        self._check_companions(node, kinds[0])
        expression = self._kind(node, kinds[0])
        return None if expression is None else self._qualified(node, expression)

    def _check_companions(self, node: marked.Mapping, kind: str) -> None:
        """Keys that only make sense beside another."""
        for key in MODALITIES:
            if key in node.entries and kind != "who":
                self.complaints.add(node.keys[key], f"“{key}” needs “who”.", "Say who, or write a phrase.")
        if "within" in node.entries and kind != "all":
            self.complaints.add(
                node.keys["within"], "“within” needs “all”.", "List what must be close under “all”."
            )

    def _kind(self, node: marked.Mapping, kind: str) -> Expression | None:
        value = node.entries[kind]
        match kind:
            case "phrase":
                text = self.phrase(value)
                return None if text is None else Phrase(text)
            case "any":
                members = self._members(value)
                return AnyOf(members) if members else None
            case "all":
                members = self._members(value)
                return AllOf(members, self._within(node)) if members else None
            case "who":
                return self._duty(node)
            case "deadline":
                return self._deadline(value)
            case _:
                return self._number(value)

    def _members(self, node: marked.Node) -> tuple[Expression, ...]:
        if isinstance(node, marked.Sequence):
            return self.several(node)
        self.complaints.add(
            node, "A list is expected here.", "Write [one, two] or one line each with a dash."
        )
        return ()

    def _within(self, node: marked.Mapping) -> int | None:
        value = node.entries.get("within")
        if value is None:
            return None
        if isinstance(value, marked.Scalar) and re.fullmatch(r"[1-9][0-9]{0,2}", value.text):
            number = int(value.text)
            if number <= WIDEST:
                return number
        self.complaints.add(value, "“within” is a number of words.", f"Write a number from 1 to {WIDEST}.")
        return None

    def _duty(self, node: marked.Mapping) -> Expression | None:
        given = [key for key in MODALITIES if key in node.entries]
        if len(given) != 1:
            self.complaints.add(
                node.keys["who"],
                "“who” needs what they must do.",
                f"Add exactly one of: {', '.join(MODALITIES)}.",
            )
            return None
        who, action = self.phrase(node.entries["who"]), self.phrase(node.entries[given[0]])
        return None if who is None or action is None else Duty(who, Modality(given[0]), action)

    def _deadline(self, node: marked.Node) -> Expression | None:
        found = _DEADLINE.match(node.text) if isinstance(node, marked.Scalar) else None
        if found is None:
            self.complaints.add(
                node, "This is no deadline.", "Write “any”, or for example “at most 72 hours”."
            )
            return None
        if found[2] is None:
            return Deadline(Comparison.ANY)
        return Deadline(Comparison(found[2]), int(found[3]), found[4].removesuffix("s") + "s")

    def _number(self, node: marked.Node) -> Expression | None:
        found = _NUMBER.match(node.text) if isinstance(node, marked.Scalar) else None
        if found is None:
            self.complaints.add(node, "This is no number.", "Write for example “at least 99 (% | percent)”.")
            return None
        assert isinstance(node, marked.Scalar)
        of = self.phrase(marked.Scalar(found[4], plain=False, line=node.line, column=node.column))
        if of is None:
            return None
        return Figure(Comparison(found[2] or "any"), None if found[3] is None else float(found[3]), of)

    def _qualified(self, node: marked.Mapping, expression: Expression) -> Expression:
        unless = self.several(node.entries["unless"]) if "unless" in node.entries else ()
        weak = "weak" in node.entries and self._true(node.entries["weak"])
        return Qualified(expression, unless, weak) if unless or weak else expression

    def _true(self, node: marked.Node) -> bool:
        if isinstance(node, marked.Scalar) and node.plain and node.text in {"true", "false"}:
            return node.text == "true"
        self.complaints.add(node, "“weak” is true or false.", "Write “weak: true”, or leave it out.")
        return False


def dump(expression: Expression) -> Any:  # noqa: PLR0911  one return for each kind
    """The expression as plain data for YAML, in the shape that `Reader` reads back to the same."""
    match expression:
        case Phrase(text):
            return text
        case AnyOf(members):
            return [dump(member) for member in members]
        case AllOf(members, within):
            return {"all": [dump(member) for member in members]} | ({"within": within} if within else {})
        case Duty(who, modality, action):
            return {"who": who, modality.value: action}
        case Deadline(comparison, amount, unit):
            return {"deadline": "any" if amount is None else f"{comparison} {amount} {unit}"}
        case Figure(comparison, amount, of):
            return {"number": f"any {of}" if amount is None else f"{comparison} {_decimal(amount)} {of}"}
        case Qualified():
            return _dump_qualified(expression)


def _decimal(amount: float) -> str:
    return f"{amount:.6f}".rstrip("0").rstrip(".")


def _dump_qualified(qualified: Qualified) -> dict[str, Any]:
    inner = dump(qualified.expression)
    if not isinstance(inner, dict):
        inner = {"any": inner} if isinstance(inner, list) else {"phrase": inner}
    if qualified.unless:
        inner["unless"] = [dump(member) for member in qualified.unless]
    return inner | ({"weak": True} if qualified.weak else {})
