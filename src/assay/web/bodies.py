"""Strict reading of what a client sends: JSON that means one thing only, and no unknown names."""

import difflib
import json
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, get_args

from fastapi import Request
from pydantic import BaseModel

from assay.errors import Detail, InvalidRequest, TooLarge, UnsupportedType

MAX_DEPTH = 64
_SUSPICIOUS_ESCAPE = re.compile(rb"\\u(?:[dD][89a-fA-F]|0000)")


class StrictRequest(Request):
    """A request whose JSON has been read already, strictly."""

    def __init__(self, request: Request, body: bytes, value: Any) -> None:
        super().__init__(request.scope, request.receive)
        self._body = body
        self._value = value

    async def json(self) -> Any:
        return self._value


async def read_json(request: Request, limit: int) -> StrictRequest:
    """The body as JSON, or a 4xx that says what is wrong with it."""
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != "application/json" and not media_type.endswith("+json"):
        raise UnsupportedType("The body must be JSON, with Content-Type application/json.")
    body = await read_bytes(request, limit)
    return StrictRequest(request, body, parse_json(body))


async def read_bytes(request: Request, limit: int) -> bytes:
    """The body, refused as soon as it is known to be over the limit."""
    too_large = TooLarge(f"The body may be at most {limit:,} bytes.")
    declared = request.headers.get("content-length", "0")
    if not declared.isdecimal():
        raise InvalidRequest("The header Content-Length is not a number.")
    if int(declared) > limit:
        raise too_large
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > limit:
            raise too_large
    return bytes(body)


def parse_json(body: bytes) -> Any:
    """A JSON value without duplicate keys, lone surrogates, U+0000, NaN, or nesting that is out of reason."""
    try:
        value = _decoder.decode(body.decode())
    except UnicodeDecodeError:
        raise InvalidRequest("The body is not UTF-8.") from None
    except RecursionError:
        raise InvalidRequest(f"The JSON is nested deeper than {MAX_DEPTH} levels.") from None
    except json.JSONDecodeError as error:
        message = f"The body is not JSON: {error.msg} at line {error.lineno}, column {error.colno}."
        raise InvalidRequest(message) from None
    except ValueError as error:
        raise InvalidRequest(f"The body is not acceptable JSON: {error}.") from None
    _check_values(value, look_at_strings=_SUSPICIOUS_ESCAPE.search(body) is not None)
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError("a key stands twice in one object")
    return value


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a number")


def _finite(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise ValueError("a number is out of all bounds")
    return value


_decoder = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_refuse_constant, parse_float=_finite)


def _check_values(value: Any, *, look_at_strings: bool) -> None:
    level = [value]
    for _ in range(MAX_DEPTH):
        below: list[Any] = []
        for item in level:
            if isinstance(item, dict):
                below.extend(item.values())
                below.extend(item.keys())
            elif isinstance(item, list):
                below.extend(item)
            elif look_at_strings and isinstance(item, str):
                _check_string(item)
        if not below:
            return
        level = below
    raise InvalidRequest(f"The JSON is nested deeper than {MAX_DEPTH} levels.")


def _check_string(value: str) -> None:
    if "\x00" in value:
        raise InvalidRequest("A string holds the character U+0000, which is not for text.")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InvalidRequest("A string holds half of a surrogate pair, which is no character.") from None


def refuse_unknown(what: str, given: Iterable[str], known: Iterable[str]) -> None:
    """Raise for the names that are not known, each with the nearest that is."""
    known = sorted(known)
    strangers = sorted(set(given).difference(known))
    if strangers:
        details = [Detail(name[:100], f"Unknown {what}.{nearest(name, known)}") for name in strangers[:20]]
        raise InvalidRequest(
            f"Unknown {what} {details[0].field!r}.{nearest(strangers[0], known)}", details=details
        )


def nearest(name: str, known: Sequence[str]) -> str:
    """A sentence that helps somebody who mistyped a name."""
    near = difflib.get_close_matches(name[:100], known, n=1, cutoff=0.5)
    if near:
        return f" Did you mean {near[0]!r}?"
    return f" Known: {', '.join(known)}." if known else ""


def invalid(problems: Sequence[Any], model: Any = None) -> InvalidRequest:
    """What pydantic found wrong, in the words of the interface."""
    details = [_detail(problem, model) for problem in problems[:20]]
    first = details[0]
    return InvalidRequest(
        f"{first.field}: {first.message}" if first.field else first.message, details=details
    )


def _field_names(model: Any, path: Sequence[Any]) -> list[str]:
    """The fields that are known where the path leads."""
    models = list(_models(model))
    for part in path:
        if isinstance(part, str):  # a number is a place in a list, whose items have the fields
            fields = [item for each in models for item in _fields(each) if item[0] == part]
            models = [inner for _, annotation in fields for inner in _models(annotation)]
    return sorted({name for each in models for name, _ in _fields(each)})


def _fields(model: type[BaseModel]) -> Iterator[tuple[str, Any]]:
    yield from ((field.alias or name, field.annotation) for name, field in model.model_fields.items())


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    """The models in an annotation such as `list[Item] | None`."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in get_args(annotation):
        yield from _models(argument)


def _detail(problem: Any, model: Any) -> Detail:
    where, *path = problem["loc"]
    field = ".".join(str(part)[:100] for part in path) or ("" if where == "body" else str(where))
    if problem["type"] == "extra_forbidden":
        return Detail(field, f"Unknown field.{nearest(str(path[-1]), _field_names(model, path[:-1]))}")
    if problem["type"] == "missing":
        return Detail(field, "This is required." if field else "A JSON body is required.")
    message = str(problem["msg"]).removeprefix("Value error, ")
    return Detail(field, f"{message[:1].upper()}{message[1:].rstrip('.')}.")
