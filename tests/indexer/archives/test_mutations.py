"""Whatever happens to a file: no exception, no hang, good records are kept, bad ones counted."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from indexer.archives import READERS
from tests.indexer.archives.exports import EXPORTS, READER_OF
from tests.indexer.archives.mutations import Mutation
from tests.indexer.archives.reading import HERE, OPTIONS
from tests.indexer.archives.trials import Sample, Trial, samples_of
from tests.indexer.archives.watchdog import run

MUTATIONS = 1000
SHOWN = 20
HUGE = 100_000_000


def our_samples() -> list[Sample]:
    return [sample for source in READERS for sample in samples_of(source, HERE / "samples" / source)]


def all_samples() -> list[Sample]:
    found = our_samples()
    if EXPORTS is not None:
        for folder, source in READER_OF.items():
            if source in READERS:
                found.extend(samples_of(source, EXPORTS / folder))
    return found


def told(sample: Sample, faults: list[str]) -> str:
    return "\n".join([f"{len(faults)} faults of {sample}", *faults[:SHOWN]])


@pytest.mark.slow
@pytest.mark.parametrize("sample", all_samples(), ids=str)
def test_a_thousand_kinds_of_damage_cost_no_more_than_what_they_hit(sample: Sample, tmp_path: Path) -> None:
    faults = run(Trial(sample, tmp_path / sample.source), range(MUTATIONS))
    assert not faults, told(sample, faults)


class Grown(Trial):
    """One record of a sample is 100 MB long: in a value of it, else as a run in its middle."""

    def kind(self, number: int) -> str:
        return "100 MB in one record"

    def faults(self, number: int) -> Iterator[str]:
        yield from self.faults_over(self._grown(), OPTIONS)

    def _grown(self) -> Mutation:
        data, (start, end) = self.specimen.data, self._records[len(self._records) // 2]
        inside = [node for node in self.specimen.nodes if start <= node.start and node.end <= end]
        texts = [node for node in inside if data[node.start : node.start + 1] == b'"']
        at = max(texts, key=lambda node: node.end - node.start).start + 1 if texts else (start + end) // 2
        return Mutation("100 MB", data[:at] + b"x" * HUGE + data[at:], ((at, at),), sound=bool(texts))


def one_of_each_suffix() -> list[Sample]:
    found = {(sample.source, Path(sample.name).suffix): sample for sample in reversed(our_samples())}
    return [sample for (_, suffix), sample in sorted(found.items()) if suffix not in (".sql", ".zip")]


@pytest.mark.slow
@pytest.mark.parametrize("sample", one_of_each_suffix(), ids=str)
def test_a_record_of_100_megabytes_costs_itself_alone_and_bounded_memory(
    sample: Sample, tmp_path: Path
) -> None:
    faults = run(Grown(sample, tmp_path / sample.source), range(1), megabytes=800)
    assert not faults, told(sample, faults)
