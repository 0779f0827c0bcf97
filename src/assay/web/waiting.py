"""`Prefer: wait=N`: an answer that comes when the state changes, or when the time is up."""

import asyncio
import re
import threading
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from fastapi import Request
from fastapi.concurrency import run_in_threadpool

from assay.jobs.changes import Changes

MAX_SECONDS = 30
# How often to look for a change that another process made.
LOOK_SECONDS = 1.0
# A change that leads on at once (PENDING, RUNNING, COMPLETED within a moment) is worth one answer, not two.
SETTLE_SECONDS = 0.5

_WAIT = re.compile(r"(?:^|[,;\s])wait\s*=\s*\"?(\d{1,6})\"?(?=$|[,;\s])", re.IGNORECASE)

T = TypeVar("T")


def preferred_seconds(request: Request) -> int:
    """How long the client is willing to wait; what is malformed is not a wish."""
    match = _WAIT.search(",".join(request.headers.getlist("prefer")))
    return min(int(match.group(1)), MAX_SECONDS) if match else 0


class Waiting:
    """Waits hold neither a thread nor a connection, and are limited for each partner."""

    def __init__(self, changes: Changes, *, per_partner: int) -> None:
        self._changes = changes
        self._per_partner = per_partner
        self._waits: Counter[str] = Counter()
        self.under_way = 0
        self._stopping = threading.Event()

    def stop(self) -> None:
        """Answer all who wait, for the service is about to end."""
        self._stopping.set()

    async def for_change(
        self, subject: str, key: str, seconds: int, *, look: Callable[[], T], settled: Callable[[T], bool]
    ) -> T:
        """What `look` sees, once it differs from what it saw first, has settled, or the time is up.

        A partner with too many waits is answered at once: a preference may be left unheard.
        """
        if seconds <= 0 or self._waits[subject] >= self._per_partner:
            return await run_in_threadpool(look)
        self._waits[subject] += 1
        self.under_way += 1
        try:
            return await self._wait(key, seconds, look, settled)
        finally:
            self.under_way -= 1
            self._waits[subject] -= 1
            if not self._waits[subject]:
                del self._waits[subject]

    async def _wait(self, key: str, seconds: int, look: Callable[[], T], settled: Callable[[T], bool]) -> T:
        loop = asyncio.get_running_loop()
        changed = asyncio.Event()
        deadline = loop.time() + seconds

        def tell() -> None:
            loop.call_soon_threadsafe(changed.set)

        with self._changes.listening(key, tell):
            first = seen = await run_in_threadpool(look)
            while not settled(seen) and loop.time() < deadline and not self._stopping.is_set():
                if seen != first:
                    deadline = min(deadline, loop.time() + SETTLE_SECONDS)
                    first = seen
                with suppress(TimeoutError):
                    await asyncio.wait_for(changed.wait(), min(LOOK_SECONDS, deadline - loop.time()))
                changed.clear()
                seen = await run_in_threadpool(look)
        return seen
