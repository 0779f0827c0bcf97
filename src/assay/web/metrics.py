"""What operators watch, in Prometheus' format. One registry an app: tests run several."""

from prometheus_client import CollectorRegistry, Counter, Histogram, ProcessCollector
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

MEDIA_TYPE = CONTENT_TYPE_LATEST


class Metrics:
    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        self.requests = Counter(
            "assay_http_requests", "Requests answered.", ("method", "route", "status"), registry=self.registry
        )
        self.seconds = Histogram(
            "assay_http_request_seconds", "Time to answer.", ("method", "route"), registry=self.registry
        )
        self.key_fetch_failures = Counter(
            "assay_key_fetch_failures", "Failed fetches of the provider's keys.", registry=self.registry
        )

    def render(self) -> bytes:
        return generate_latest(self.registry)
