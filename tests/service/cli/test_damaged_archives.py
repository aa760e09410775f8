"""A whole build over a folder in which everything is damaged: an index of what is left, and no traceback."""

from __future__ import annotations

from pathlib import Path

import pytest

from indexer.archives import READERS
from tests.indexer.archives.mutations import mutated, specimen
from tests.indexer.archives.reading import HERE
from tests.indexer.archives.trials import laid_out, samples_of

from .conftest import Run, talk

# Numbers of damage: whole files first, then bytes and values, some of them of 2 MB.
NUMBERS = (*range(0, 26, 3), *range(26, 80, 4), 120)


def damaged(folder: Path, scratch: Path) -> int:
    """Damaged copies of every reader's samples under their own names; how many."""
    count = 0
    for source in READERS:
        for order, sample in enumerate(samples_of(source, HERE / "samples" / source)):
            path = laid_out(sample, scratch / source / str(order))
            sound = specimen(str(sample), path.read_bytes())
            for number in NUMBERS:
                target = (
                    folder / source / f"{order}-{number}" / path.relative_to(scratch / source / str(order))
                )
                target.parent.mkdir(parents=True)
                target.write_bytes(mutated(sound, number).data)
                count += 1
    return count


@pytest.mark.slow
@pytest.mark.parametrize("everything", [False, True], ids=["the talk", "tools and thinking"])
def test_a_build_over_damaged_files_keeps_the_sound_ones(
    work: Path, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch, everything: bool
) -> None:
    for name in ("TOOL_RESULTS", "THINKING", "DELETED_SESSIONS"):
        monkeypatch.setenv(f"LETOPIS_{name}", str(everything).lower())
    archive = tmp_path / "talks"
    assert damaged(archive, tmp_path / "scratch") > 300
    for attempt in ("build", "status", "build"):
        told = run(attempt)
        assert told.code in (0, 3), told.err[-2000:]
        assert "Traceback" not in told.out + told.err
    talk(archive, 30)
    told = run("build", "--json")
    assert told.code in (0, 3)
    assert told.json["messages"]["new"] >= 6
    found = run("search", "дата-центр", "запись", "24", "--json")
    assert found.code == 0
    assert "запись 24" in found.out
