"""An entry of the audit trail, and the hash that ties it to the one before."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum

# What the first entry follows.
BEGINNING = "0" * 64
DONE = "done"


class Actor(StrEnum):
    """Who acts: a partner by a request, the operator by a command, or the service by a rule of retention."""

    PARTNER = "partner"
    OPERATOR = "operator"
    SERVICE = "service"


class Action(StrEnum):
    """What leaves an entry in the audit trail."""

    SUBMIT_CONTENT = "content.submit"
    REFRESH_CONTENT = "content.refresh"
    READ_CONTENT = "content.read"
    CANCEL_CONTENT = "content.cancel"
    ERASE_CONTENT = "content.erase"
    SUBMIT_ASSESSMENT = "assessment.submit"
    READ_RESULTS = "assessment.read"
    CANCEL_ASSESSMENT = "assessment.cancel"
    ERASE_ASSESSMENT = "assessment.erase"
    GIVE_FEEDBACK = "feedback.give"
    ERASE_FEEDBACK = "feedback.erase"
    ERASE_PARTNER = "partner.erase"


@dataclass(frozen=True, slots=True)
class Deed:
    """What was done, or refused: then `outcome` is the error's code. Never a name, an address or a text."""

    action: Action
    subject: str  # the partner whose things they are
    actor: Actor = Actor.PARTNER
    target: str | None = None
    request_id: str | None = None
    outcome: str = DONE
    counts: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Entry:
    """A deed in its place in the audit trail. `hash` covers all the rest, `previous_hash` included."""

    number: int  # 1, 2, 3 … without a gap
    at: datetime
    deed: Deed
    previous_hash: str
    hash: str

    @classmethod
    def after(cls, number: int, previous_hash: str, deed: Deed) -> "Entry":
        """The entry that follows the one of this number and hash."""
        now = datetime.now(UTC)
        return cls(number + 1, now, deed, previous_hash, _hash(number + 1, now, deed, previous_hash))

    @property
    def is_sealed(self) -> bool:
        """Whether it says what it said when it was written."""
        return self.hash == _hash(self.number, self.at, self.deed, self.previous_hash)

    def to_json(self) -> str:
        facts = _facts(self.number, self.at, self.deed)
        return json.dumps({**facts, "previousHash": self.previous_hash, "hash": self.hash})


def _facts(number: int, at: datetime, deed: Deed) -> dict[str, object]:
    return {
        "number": number,
        "at": at.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z"),
        "actor": deed.actor.value,
        "subject": deed.subject,
        "action": deed.action.value,
        "target": deed.target,
        "requestId": deed.request_id,
        "outcome": deed.outcome,
        "counts": dict(deed.counts),
    }


def _hash(number: int, at: datetime, deed: Deed, previous_hash: str) -> str:
    """Over JSON with sorted keys and no spaces, so that whoever has an export can check it."""
    facts = {**_facts(number, at, deed), "previousHash": previous_hash}
    written = json.dumps(facts, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(written.encode()).hexdigest()
