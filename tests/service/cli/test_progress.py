from __future__ import annotations

import pytest

from service.cli.cancellation import Cancellation
from service.cli.progress import Bars, Lines, shown
from service.cli.quantities import counted, duration, size


def test_bars_name_each_stage_and_come_to_their_end(capsys: pytest.CaptureFixture[str]) -> None:
    with Bars() as bars:
        bars.stage("reading", None)
        bars.advance(7)
        bars.stage("chunking", 0)
        bars.stage("embedding local", 2)
        bars.advance()
        bars.advance()
    said = capsys.readouterr()
    assert said.out == ""
    assert "reading" in said.err
    assert "7/7" in said.err
    assert "chunking" not in said.err
    assert "2/2" in said.err


def test_where_there_is_no_terminal_there_are_lines(capsys: pytest.CaptureFixture[str]) -> None:
    progress = shown()
    assert isinstance(progress, Lines)
    progress.stage("reading", None)
    progress.stage("nothing to do", 0)
    progress.stage("embedding", 1200)
    progress.advance(600)
    assert capsys.readouterr().err == "reading …\nembedding: 1,200 …\n"


def test_a_sleep_is_cut_short_when_the_build_is_asked_to_stop() -> None:
    cancellation = Cancellation()
    cancellation._asked = True
    cancellation.sleep(3600)


def test_quantities_are_said_as_a_person_says_them() -> None:
    assert [size(999), size(1_234_000), size(84.1e9)] == ["999 B", "1 MB", "84.1 GB"]
    assert [duration(0.4), duration(12), duration(210)] == ["under a minute", "12 minutes", "3.5 hours"]
    assert [counted(1, "night"), counted(1200, "text")] == ["1 night", "1,200 texts"]
