"""A newer redactor reaches what an older one has stored, also where the source is gone."""

from __future__ import annotations

from pathlib import Path

import pytest

from indexer import reading
from indexer.pipeline import Build, Options
from schemas.settings import load


def test_a_secret_that_an_older_redactor_missed_leaves_the_ledger_and_the_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = tmp_path / "talk.jsonl"
    archive.write_text(
        '{"id": "1", "role": "user", "text": "пароль: Zimorodok-4417 от почты", "ts": 1}\n', "utf-8"
    )
    flags = {"data": tmp_path / "index", "embedding": {"order": ["hash"], "floor": False}}
    settings, _ = load(flags={**flags, "entities": {"backend": "patterns"}})

    def build() -> None:
        Build(settings, Options(paths=[tmp_path]), environment={}).run()

    monkeypatch.setattr(reading.redaction, "VERSION", 0)
    monkeypatch.setattr(reading.redaction, "redacted", lambda text, counts=None: text)
    build()
    assert b"Zimorodok" in (tmp_path / "index" / "ledger.db").read_bytes()
    archive.unlink()
    monkeypatch.undo()
    build()
    build()
    newest = sorted((tmp_path / "index").glob("0*"))[-1]
    for file in (tmp_path / "index" / "ledger.db", newest / "chat_vectors.db", newest / "entity_graph.db"):
        assert b"Zimorodok" not in file.read_bytes()
    assert b"REDACTED:password" in (newest / "chat_vectors.db").read_bytes()
