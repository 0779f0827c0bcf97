"""Word of a change, from the thread that made it to whoever waits for it in this process."""

import threading
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from sqlalchemy import Connection

from assay.database.core import after_commit


class Changes:
    """Waiting is by callback, so that a waiter holds neither a thread nor a connection."""

    def __init__(self) -> None:
        self._listeners: dict[str, list[Callable[[], None]]] = defaultdict(list)
        self._lock = threading.Lock()

    def announce(self, tx: Connection, key: str) -> None:
        """Tell the listeners once the transaction has committed."""
        after_commit(tx, lambda: self._tell(key))

    def _tell(self, key: str) -> None:
        with self._lock:
            listeners = list(self._listeners.get(key, ()))
        for listener in listeners:
            listener()

    @contextmanager
    def listening(self, key: str, listener: Callable[[], None]) -> Iterator[None]:
        with self._lock:
            self._listeners[key].append(listener)
        try:
            yield
        finally:
            with self._lock:
                self._listeners[key].remove(listener)
                if not self._listeners[key]:
                    del self._listeners[key]
