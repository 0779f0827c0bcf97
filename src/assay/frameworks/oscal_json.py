"""JSON read with care, as places that know their path: wrong shapes are refused where they stand."""

import json
from typing import Any, NoReturn

from assay.frameworks.models import Complaint, FrameworkFileError


class Place:
    """An object inside a JSON document. What is absent reads as empty; what has the wrong type is refused."""

    __slots__ = ("file", "path", "value")

    def __init__(self, value: dict[str, Any], file: str, path: str) -> None:
        self.value = value
        self.file = file
        self.path = path

    def refuse(self, message: str, remedy: str) -> NoReturn:
        raise FrameworkFileError([Complaint(self.file, None, None, message, remedy, path=self.path)])

    def at(self, key: str) -> "Place":
        value = self.value.get(key)
        return self._place({} if value is None else value, self._inside(key))

    def text(self, key: str) -> str:
        value = self.value.get(key)
        if value is None:
            return ""
        if not isinstance(value, str):
            self.refuse(f"“{key}” must be text.", "Check the file against the OSCAL schema.")
        return value.strip()

    def texts(self, key: str) -> list[str]:
        values = self._list(key)
        if not all(isinstance(value, str) for value in values):
            self.refuse(f"“{key}” must be a list of texts.", "Check the file against the OSCAL schema.")
        return values

    def items(self, key: str) -> list["Place"]:
        return [self._place(value, f"{self._inside(key)}[{at}]") for at, value in enumerate(self._list(key))]

    def _list(self, key: str) -> list[Any]:
        values = self.value.get(key)
        if values is not None and not isinstance(values, list):
            self.refuse(f"“{key}” must be a list.", "Check the file against the OSCAL schema.")
        return values or []

    def _inside(self, key: str) -> str:
        return f"{self.path}.{key}" if self.path else key

    def _place(self, value: Any, path: str) -> "Place":
        if not isinstance(value, dict):
            Place({}, self.file, path).refuse(
                "An object is expected here.", "Check it against the OSCAL schema."
            )
        return Place(value, self.file, path)


def decode(text: str, file: str) -> Place:
    """A JSON document as its outermost place. Raises FrameworkFileError."""
    line: int | None = None
    column: int | None = None
    try:
        value = json.loads(text, object_pairs_hook=_object, parse_constant=_constant)
    except json.JSONDecodeError as error:
        line, column = error.lineno, error.colno
        message, remedy = f"This is not JSON: {error.msg}.", "Check the commas and quotes here."
    except RecursionError:
        message, remedy = "Values are nested too deeply.", "Check where the file comes from."
    except ValueError as error:
        message, remedy = str(error), "Check where the file comes from."
    else:
        return Place({}, file, "")._place(value, "")  # noqa: SLF001  its own class, one module
    raise FrameworkFileError([Complaint(file, line, column, message, remedy)])


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise ValueError(f"The key “{twice}” stands twice in one object.")
    return found


def _constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number.")
