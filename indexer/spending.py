"""What a run may cost: its time, its requests, and its share of the day's quota."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from indexer.stores.ledger.runs import Runs
from schemas.problems import QuotaExhausted

# A tenth of the day's quota is kept for the queries of the day.
BUILD_SHARE = 0.9


@dataclass(slots=True)
class Budget:
    """What a run may cost.

    Attributes:
        deadline: monotonic seconds, or None.
        requests: of paid providers that are left, or None. Every text of a batch counts as one request.
    """

    deadline: float | None = None
    requests: int | None = None

    def left(self) -> float:
        """Seconds, infinite without a deadline."""
        return math.inf if self.deadline is None else max(0.0, self.deadline - time.monotonic())

    def over(self) -> bool:
        """Whether the time is up."""
        return self.left() <= 0.0


@dataclass(frozen=True, slots=True)
class Spending:
    """Counts the requests of paid providers, by run and by day.

    Attributes:
        budget: of this run.
        runs: of the ledger, which remembers the day.
        daily: the quota of a day by provider; a provider without one has no bound.
    """

    budget: Budget
    runs: Runs
    daily: Mapping[str, int]

    def pay(self, provider: str, requests: int) -> None:
        """Count requests before they are made.

        Raises:
            QuotaExhausted: they would exceed what this run, or this day, may spend.
        """
        left = self._left(provider)
        if left < requests:
            raise QuotaExhausted(
                f"{requests} more requests would exceed what this run may spend ({left:.0f} left).",
                "the next run goes on from here",
            )
        if self.budget.requests is not None:
            self.budget.requests -= requests
        self.runs.spend(_today(), provider, requests)

    def _left(self, provider: str) -> float:
        run = math.inf if self.budget.requests is None else float(self.budget.requests)
        if provider not in self.daily:
            return run
        day = int(self.daily[provider] * BUILD_SHARE) - self.runs.spent(_today(), provider)
        return min(run, day)


def _today() -> str:
    return datetime.now(UTC).date().isoformat()
