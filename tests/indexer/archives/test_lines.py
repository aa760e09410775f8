"""Whole lines in pieces are the lines one by one."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st

from indexer.archives import lines as module
from indexer.archives.lines import Block, Line, blocks, lines
from schemas.records import Skipped
from tests.indexer.archives.reading import archive_file, written


@seed(20260308)
@settings(max_examples=150, deadline=None)
@given(
    parts=st.lists(
        st.sampled_from([b"\n", b"\r\n", "да".encode(), "Привет, мир".encode("cp1251"), b"x", b"\xff"])
    ),
    step=st.integers(1, 9),
)
def test_pieces_hold_the_lines_that_are_read_one_by_one(parts: list[bytes], step: int) -> None:
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_STEP", step)
        path = Path(folder) / "a.txt"
        path.write_bytes(b"".join(parts))
        file = archive_file(path)
        singles = [line.text for line in lines(file) if isinstance(line, Line)]
        pieces = [block for block in blocks(file) if isinstance(block, Block)]
        assert "".join(piece.text for piece in pieces).removesuffix("\n").split("\n") == (singles or [""])
        number = 1
        for piece in pieces:
            assert piece.number == number
            number += piece.text.count("\n")


def test_a_line_that_is_too_long_costs_itself_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_LINE", 1 << 20)
    monkeypatch.setattr(module, "_STEP", 1 << 18)
    file = written(tmp_path, "a.txt", b"one\n" + b"x" * (2 << 20) + b"\nthree\nfour\n")
    found = list(blocks(file))
    assert "".join(block.text for block in found if isinstance(block, Block)) == "one\nthree\nfour\n"
    assert [skip.place for skip in found if isinstance(skip, Skipped)] == ["a.txt:2"]
    assert [block.number for block in found if isinstance(block, Block)][-1] == 3
