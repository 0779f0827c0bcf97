"""How often a partner may call: counted by the minute, each partner apart, in the memory of this process."""

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass

from limits.storage import MemoryStorage

from assay.errors import LimitReached

WINDOW_SECONDS = 60


class TooManyRequests(LimitReached):
    """Too many requests in a minute; try again when the minute is over."""


class TooManySubmissions(LimitReached):
    """Too many submissions in a minute; try again when the minute is over."""


@dataclass(frozen=True, slots=True)
class Allowance:
    """What a partner may do until its minute ends; `used` counts the request at hand."""

    limit: int
    used: int
    reset_seconds: int
    refusal: type[LimitReached]

    @property
    def remaining(self) -> int:
        return max(0, self.limit - self.used)

    def check(self) -> None:
        """Raise when the request at hand is one too many."""
        if self.used > self.limit:
            raise self.refusal(headers={"Retry-After": str(self.reset_seconds)})

    def raw_headers(self) -> Iterator[tuple[bytes, bytes]]:
        yield b"ratelimit-limit", b"%d" % self.limit
        yield b"ratelimit-remaining", b"%d" % self.remaining
        yield b"ratelimit-reset", b"%d" % self.reset_seconds


class Rates:
    """A minute begins with the first request in it. Submissions count as requests and by themselves."""

    def __init__(self, requests_per_minute: int, submissions_per_minute: int) -> None:
        self._requests = requests_per_minute
        self._submissions = submissions_per_minute
        self._counts = MemoryStorage()

    def take(self, subject: str, *, submits: bool) -> Allowance:
        """Count the request; of two limits that it falls under, the one that is nearer is told."""
        requests = self._take(f"requests {subject}", self._requests, TooManyRequests)
        if not submits or requests.used > requests.limit:
            return requests
        submissions = self._take(f"submissions {subject}", self._submissions, TooManySubmissions)
        return min(submissions, requests, key=lambda allowance: allowance.limit - allowance.used)

    def _take(self, key: str, limit: int, refusal: type[LimitReached]) -> Allowance:
        used = self._counts.incr(key, WINDOW_SECONDS)
        left = math.ceil(self._counts.get_expiry(key) - time.time())
        return Allowance(limit, used, max(1, left), refusal)
