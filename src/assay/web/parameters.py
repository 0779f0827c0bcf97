"""Headers that several operations take, declared once."""

from typing import Annotated

from fastapi import Header

from assay.web.idempotency import MAX_CHARACTERS

IdempotencyKey = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        # Said, not checked here: `InFlight.holding` refuses in the words of the interface.
        json_schema_extra={"minLength": 1, "maxLength": MAX_CHARACTERS},
        description="The same key and the same request within 24 hours replay the first answer.",
    ),
]
Prefer = Annotated[
    str | None,
    Header(
        description="`wait=N`: answer when the state changes, or after N seconds (at most 30).",
        examples=["wait=10"],
    ),
]
IfNoneMatch = Annotated[str | None, Header(alias="If-None-Match")]
