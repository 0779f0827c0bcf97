"""What has had its time."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Stale:
    """A thing of a partner that has not changed for longer than things are kept."""

    subject: str
    id: str
