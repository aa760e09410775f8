"""An index made from an evaluation set: by the product's own pipeline, with the bundled model alone."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from service.cli.cancellation import Cancellation
from service.cli.progress import shown

if TYPE_CHECKING:
    from indexer.stores.ledger import Ledger
    from schemas.settings import Provider, Settings
    from service.evaluation.sets import Corpus


def indexed(
    corpus: Corpus, folder: Path, provider: Provider = "local", beside: Sequence[str] = ()
) -> Settings:
    """Index a corpus under a folder and return the settings to search it with.

    What was embedded in that folder before is not embedded again. Nothing of the owner's settings takes part,
    so that the figures are the same on every machine.

    Args:
        corpus: its archive and name.
        folder: of all indexes; this one's is named after the corpus.
        provider: of the only space.
        beside: names of other corpora in that folder: what was embedded for them is taken over.

    Raises:
        LetopisError: the build failed.
    """
    from indexer.pipeline import Build, Options
    from schemas.settings import exactly
    from service.checks import CHECKS

    archive, data = folder / corpus.name / "archive", folder / corpus.name / "index"
    _write(corpus, archive)
    _take_over(data, [folder / name / "index" for name in beside])
    settings = exactly(
        {"data": data, "timezone": corpus.zone, "embedding": {"order": [provider], "cloud": False}}
    )
    cancellation = Cancellation()
    with cancellation, shown() as progress:
        Build(
            settings=settings,
            options=Options(paths=[archive], mirror=True, force=True),
            checks=CHECKS,
            environment={},
            progress=progress,
            cancelled=cancellation.asked,
            sleep=cancellation.sleep,
        ).run()
    return settings


def _take_over(data: Path, others: Sequence[Path]) -> None:
    """Vectors are kept by the text that was embedded, so those of another index serve here as well."""
    from indexer.stores.ledger import LEDGER_NAME, Ledger

    there = [other for other in others if (other / LEDGER_NAME).exists()]
    if not there:
        return
    with Ledger(data) as ledger:
        for other in there:
            with Ledger(other) as theirs:
                _copy(theirs, ledger)


def _copy(theirs: Ledger, ledger: Ledger) -> None:
    hashes = [digest for chat, *_ in theirs.messages.chats() for _, digest in theirs.chunks.of(chat)]
    for held in theirs.vectors.spaces():
        found = {digest: theirs.vectors.find(held.id, digest) for digest in dict.fromkeys(hashes)}
        kept = {digest: vector for digest, vector in found.items() if vector is not None}
        floats = np.frombuffer(b"".join(kept.values()), "<f4").reshape(len(kept), held.space.dims)
        ledger.vectors.keep(ledger.vectors.space_id(held.space), list(kept), floats)


def _write(corpus: Corpus, archive: Path) -> None:
    archive.mkdir(parents=True, exist_ok=True)
    for stale in archive.glob("*.jsonl"):
        if stale.name not in corpus.files:
            stale.unlink()
    for name, lines in corpus.files.items():
        path = archive / name
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        if not path.exists() or path.read_text("utf-8") != text:
            path.write_text(text, "utf-8")
