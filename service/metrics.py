"""What Prometheus may know: counts and times by route, never a query.

Every service has a registry of its own, so two in one process (tests, an embedding program) do not collide.
"""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4

CONTENT_TYPE = CONTENT_TYPE_PLAIN_0_0_4
# A search is to take milliseconds; the long end shows a cold model or a slow cloud.
BUCKETS = (0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


class Metrics:
    """The service's counters."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._requests = Counter(
            "letopis_requests", "Requests answered.", ("route", "status"), registry=self.registry
        )
        self._seconds = Histogram(
            "letopis_request_seconds",
            "Time to answer a request.",
            ("route",),
            buckets=BUCKETS,
            registry=self.registry,
        )
        self._generation = Gauge(
            "letopis_generation_info",
            "1 for the generation that is being served.",
            ("generation",),
            registry=self.registry,
        )
        self._ready = Gauge(
            "letopis_ready", "1 while a verified generation is being served.", registry=self.registry
        )
        self._running = Gauge(
            "letopis_calls_running", "Engine calls that run now, hung ones included.", registry=self.registry
        )

    def observe(self, route: str, status: int, seconds: float) -> None:
        """Count one answer; `route` is the path's template, so that ids make no new series."""
        self._requests.labels(route, str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    def text(self, generation: str | None, running: int) -> bytes:
        """The exposition; None means that nothing is being served."""
        self._generation.clear()
        if generation is not None:
            self._generation.labels(generation).set(1)
        self._ready.set(generation is not None)
        self._running.set(running)
        return generate_latest(self.registry)
