"""Append to the audit trail, and check that nobody has changed it."""

from dataclasses import dataclass

from sqlalchemy import Connection

from assay.audit import store
from assay.audit.models import BEGINNING, Deed, Entry


@dataclass(frozen=True, slots=True)
class Verdict:
    """How the trail was found: how many entries hold, the hash of the last of them, and what broke it."""

    entries: int
    head: str
    complaint: str | None = None


def append(tx: Connection, deed: Deed) -> Entry:
    """Write the deed down in the transaction that does it. Call it last: others wait for their turn."""
    return store.append(tx, deed)


def verify(tx: Connection, contains: str | None = None) -> Verdict:
    """Follow the chain from its beginning to its end, or to the first link that is broken.

    What was cut off at the end leaves a chain that holds: a hash that was noted elsewhere shows it.
    """
    number, head, met = 0, BEGINNING, contains is None
    for entry in store.list_(tx):
        complaint = _complaint(entry, number, head)
        if complaint is not None:
            return Verdict(number, head, complaint)
        number, head = entry.number, entry.hash
        met = met or head == contains
    return Verdict(number, head, None if met else f"No entry has the hash {contains}: the end was cut off.")


def _complaint(entry: Entry, number: int, head: str) -> str | None:
    if entry.number != number + 1:
        return f"Entry {number + 1} is missing."
    if entry.previous_hash != head:
        return f"Entry {entry.number} does not follow on entry {number}."
    return None if entry.is_sealed else f"Entry {entry.number} was changed."
