"""The JSON Schema of framework files, for editors that check and complete while an author writes."""

from typing import Any

from assay.frameworks import expressions, files
from assay.frameworks.models import MOST_CRITERIA

ADDRESS = "https://json-schema.org/draft/2020-12/schema"


def schema() -> dict[str, Any]:
    """The schema, draft 2020-12. Some rules are beyond it: names in phrases, code names that stand twice."""
    return {
        "$schema": ADDRESS,
        "title": "Assay framework",
        "description": "What a document must contain, criterion by criterion, and what shows it.",
        **_object(
            {
                "code_name": {"$ref": "#/$defs/codeName"},
                "name": _text("The framework's full name.", files.LONGEST_NAME),
                "version": _version(),
                "language": {"type": "string", "pattern": files.LANGUAGE},
                "source": _text("The law or standard behind the framework."),
                "description": _text("What the framework is for."),
                "parties": _list({"type": "string"}, "Names in the vocabulary that stand for persons."),
                "vocabulary": {"anyOf": [{"$ref": "#/$defs/names"}, _by_language("#/$defs/names")]},
                "criteria": _list({"$ref": "#/$defs/criterion"}, "In the order of the framework.")
                | {"minItems": 1, "maxItems": MOST_CRITERIA},
            },
            ["code_name", "name", "version", "language", "criteria"],
        ),
        "$defs": _definitions(),
    }


def _definitions() -> dict[str, Any]:
    return {
        "codeName": {
            "type": "string",
            "pattern": files.CODE_NAME,
            "maxLength": files.LONGEST_CODE_NAME,
            "description": "Capitals, digits and underscores, a letter first. Never change its meaning.",
        },
        "names": {
            "type": "object",
            "propertyNames": {"pattern": "^[a-z][a-z0-9_]*$"},
            "additionalProperties": _list({"$ref": "#/$defs/phrase"}, "Phrases that mean the same.")
            | {"minItems": 1},
        },
        "criterion": _criterion(),
        "aspect": _aspect(),
        "evidence": {"anyOf": [{"$ref": "#/$defs/expressions"}, _by_language("#/$defs/expressions")]},
        "expressions": {
            "anyOf": [{"$ref": "#/$defs/expression"}, _list({"$ref": "#/$defs/expression"}) | {"minItems": 1}]
        },
        "phrase": {
            "type": ["string", "number"],
            "minLength": 1,
            "description": "Words in order: prior ... written (consent | authorisation), notif*, <name>.",
        },
        "expression": {
            "anyOf": [
                {"$ref": "#/$defs/phrase"},
                _list({"$ref": "#/$defs/expression"}, "Any of these.") | {"minItems": 1},
                *_kinds(),
            ]
        },
    }


def _criterion() -> dict[str, Any]:
    return _object(
        {
            "code_name": {"$ref": "#/$defs/codeName"},
            "name": _text("The criterion's full name.", files.LONGEST_NAME),
            "reference": _text("Article and paragraph."),
            "context": _list({"type": "string"}, "Titles above the criterion, outermost first."),
            "description": _text("What the document must contain."),
            "aspects": _list({"$ref": "#/$defs/aspect"}, "The points that the document must regulate."),
        },
        ["code_name", "name", "description"],
    )


def _aspect() -> dict[str, Any]:
    return _object(
        {
            "name": _text("The point in a few words.", files.LONGEST_NAME),
            "demand": _text("What is demanded, in a plain sentence."),
            "mandatory": {"type": "boolean", "default": True},
            "evidence": {"$ref": "#/$defs/evidence", "description": "What shows the point; each is enough."},
            "contradicted_by": {"$ref": "#/$defs/evidence", "description": "What shows the opposite."},
        },
        ["name", "demand"],
    )


def _kinds() -> list[dict[str, Any]]:
    """One object for each kind of expression; `unless` and `weak` go with all."""
    members = _list({"$ref": "#/$defs/expression"}) | {"minItems": 1}
    phrase = {"$ref": "#/$defs/phrase"}
    within = {"type": "integer", "minimum": 1, "maximum": expressions.WIDEST}
    kinds: list[tuple[dict[str, Any], list[str]]] = [
        ({"phrase": phrase}, ["phrase"]),
        ({"any": members}, ["any"]),
        ({"all": members, "within": within}, ["all"]),
        ({"deadline": {"type": "string", "pattern": expressions.DEADLINE}}, ["deadline"]),
        ({"number": {"type": "string", "pattern": expressions.NUMBER}}, ["number"]),
        *(({"who": phrase, modality: phrase}, ["who", modality]) for modality in expressions.MODALITIES),
    ]
    common = {"unless": {"$ref": "#/$defs/expressions"}, "weak": {"type": "boolean"}}
    return [_object(properties | common, needed) for properties, needed in kinds]


def _object(properties: dict[str, Any], needed: list[str]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": needed, "additionalProperties": False}


def _by_language(reference: str) -> dict[str, Any]:
    return {
        "type": "object",
        "propertyNames": {"pattern": files.LANGUAGE},
        "additionalProperties": {"$ref": reference},
    }


def _list(items: dict[str, Any], description: str = "") -> dict[str, Any]:
    return {"type": "array", "items": items} | ({"description": description} if description else {})


def _text(description: str, longest: int = files.LONGEST_TEXT) -> dict[str, Any]:
    return {"type": "string", "minLength": 1, "maxLength": longest, "description": description}


def _version() -> dict[str, Any]:
    return {"type": ["string", "number"], "description": "Raise it with every change of meaning."}
