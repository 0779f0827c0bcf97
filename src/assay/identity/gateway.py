"""The IDP_SUBJECT rule: the header names the partner that the access token speaks for."""

import re
from collections.abc import Iterable
from typing import Literal

from assay.identity.models import InvalidSubjectHeader, SubjectMismatch

_UUID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", re.IGNORECASE)


def is_uuid(value: str) -> bool:
    """Whether this is a uuid in its usual spelling, which is the only one accepted."""
    return _UUID.fullmatch(value) is not None


def check_subject_header(
    headers: Iterable[tuple[bytes, bytes]], subject: str, gateway: Literal["embedded", "external"]
) -> None:
    """Hold the header, in any spelling and number that it came in, against the token's subject.

    Proxies disagree on underscores: some drop `IDP_SUBJECT` and let `IDP-SUBJECT` through, and a server
    behind them may read the two alike. So the hyphened spelling is refused, not ignored.
    """
    values = []
    for name, value in headers:
        spelling = name.lower()
        if spelling == b"idp-subject":
            raise InvalidSubjectHeader("The header is spelled IDP_SUBJECT, with an underscore.")
        if spelling == b"idp_subject":
            values.append(value.decode("latin-1").strip())
    if not values:
        if gateway == "external":
            raise InvalidSubjectHeader("The header IDP_SUBJECT is missing; the gateway must set it.")
        return
    if len(values) > 1 or not is_uuid(values[0]):
        raise InvalidSubjectHeader
    if values[0].lower() != subject:
        raise SubjectMismatch
