"""An index made from an evaluation set: by the product's own pipeline, with the bundled model alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from service.cli.cancellation import Cancellation
from service.cli.progress import shown

if TYPE_CHECKING:
    from schemas.settings import Settings
    from service.evaluation.sets import Corpus


def indexed(corpus: Corpus, folder: Path) -> Settings:
    """Index a corpus under a folder and return the settings to search it with.

    What was embedded in that folder before is not embedded again. Nothing of the owner's settings takes part,
    so that the figures are the same on every machine.

    Raises:
        LetopisError: the build failed.
    """
    from indexer.pipeline import Build, Options
    from schemas.settings import exactly
    from service.checks import CHECKS

    archive, data = folder / corpus.name / "archive", folder / corpus.name / "index"
    _write(corpus, archive)
    settings = exactly(
        {"data": data, "timezone": corpus.zone, "embedding": {"order": ["local"], "cloud": False}}
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
