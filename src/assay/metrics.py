"""What operators watch, in Prometheus' format. One registry an app: tests run several."""

from collections.abc import Iterator
from contextlib import contextmanager

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    start_http_server,
)
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

MEDIA_TYPE = CONTENT_TYPE_LATEST

# From a page of text to the longest that reading may take without a recogniser.
_READING_BUCKETS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120)


class Metrics:
    """Labels take their values from small sets of our own, so that no stranger can make them grow."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        self.requests = self._counter("http_requests", "Requests answered.", "method", "route", "status")
        self.seconds = Histogram(
            "assay_http_request_seconds", "Time to answer.", ("method", "route"), registry=self.registry
        )
        self.errors = self._counter(
            "http_errors", "Requests refused, by the code of the error.", "route", "code"
        )
        self.waits = Gauge(
            "assay_waits", "Requests that wait for a change (Prefer: wait).", registry=self.registry
        )
        self.unavailable = self._counter(
            "unavailable", "Times that a request or a job met a dependency that was away.", "code"
        )
        self.key_fetch_failures = self._counter(
            "key_fetch_failures", "Failed fetches of the provider's keys."
        )
        self.jobs = self._counter("jobs", "Attempts at jobs that ended.", "task", "outcome")
        self.lease_expiries = self._counter(
            "lease_expiries", "Jobs taken back from a worker that has died or hangs.", "task"
        )
        self.extraction_seconds = Histogram(
            "assay_extraction_seconds",
            "Time to read a document.",
            ("kind",),
            buckets=_READING_BUCKETS,
            registry=self.registry,
        )
        self.documents_failed = self._counter(
            "documents_failed", "Content jobs that ended FAILED, by the code of the error.", "code"
        )

    def _counter(self, name: str, meaning: str, *labels: str) -> Counter:
        return Counter(f"assay_{name}", meaning, labels, registry=self.registry)

    @contextmanager
    def served(self, host: str, port: int) -> Iterator[None]:
        """At a port of its own, for a process that has no API; 0 for nowhere."""
        if not port:
            yield
            return
        server, thread = start_http_server(port, addr=host, registry=self.registry)
        try:
            yield
        finally:
            server.shutdown()
            server.server_close()
            thread.join()

    def render(self) -> bytes:
        return generate_latest(self.registry)
