"""Jobs that change what the ledger holds and publish at once: no archive is read and nothing is paid."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from indexer.pipeline import Build
from indexer.stores import generation as generations
from indexer.stores.ledger import Ledger


@dataclass(slots=True)
class Revision(Build):
    """A build without archives; a subclass says in `_run` what changes, then calls `_republish`."""

    def _paths(self) -> list[Path]:
        return []

    def _republish(self, ledger: Ledger) -> None:
        """Cut anew what has changed and publish it, if anything was published before.

        The spaces of the published generation stay: which provider takes part is a build's decision.
        """
        self._chunk(ledger)
        manifest = generations.current_manifest(self.settings.data)
        if manifest is not None:
            ledger.vectors.providers = {space["provider"] for space in manifest.spaces}
            self.report.off.update(manifest.spares)
        if generations.names(self.settings.data):
            self._publish(ledger)

    def _write_last_run(self) -> None:
        """What the last build said of its sources stays true."""
