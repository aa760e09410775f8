from __future__ import annotations

from pathlib import Path

import apsw
import pytest

from indexer.stores.ledger import LEDGER_NAME, Ledger
from schemas.problems import DatabaseError, LedgerBusy
from tests.indexer.stores.talks import absorb, file, message


def test_a_second_indexer_is_turned_away_at_once(tmp_path: Path) -> None:
    with Ledger(tmp_path), pytest.raises(LedgerBusy, match="Another indexer"):
        Ledger(tmp_path)


def test_the_lock_is_given_back_on_close(tmp_path: Path) -> None:
    for _ in range(2):
        Ledger(tmp_path).close()


def test_a_newer_schema_is_refused_with_both_versions_and_the_lock_given_back(tmp_path: Path) -> None:
    Ledger(tmp_path).close()
    db = apsw.Connection(str(tmp_path / LEDGER_NAME))
    db.execute("PRAGMA user_version=99")
    db.close()
    for _ in range(2):
        with pytest.raises(DatabaseError, match="version 99, newer than this program's 2") as caught:
            Ledger(tmp_path)
        assert caught.value.hint


def test_a_file_that_is_no_database_is_refused_with_a_remedy(tmp_path: Path) -> None:
    (tmp_path / LEDGER_NAME).write_bytes(b"no database at all" * 500)
    with pytest.raises(DatabaseError) as caught:
        Ledger(tmp_path)
    assert caught.value.hint


def test_the_data_folder_is_private(tmp_path: Path) -> None:
    with Ledger(tmp_path / "data"):
        assert (tmp_path / "data").stat().st_mode & 0o077 == 0


def test_content_survives_a_reopening_and_the_revision_with_it(tmp_path: Path) -> None:
    with Ledger(tmp_path) as ledger:
        absorb(ledger, file(), message("1"))
        before = (ledger.meta.revision, ledger.meta.identity)
    with Ledger(tmp_path) as ledger:
        assert ledger.messages.count() == 1
        assert (ledger.meta.revision, ledger.meta.identity) == before


def test_two_ledgers_differ_in_identity(tmp_path: Path) -> None:
    with Ledger(tmp_path / "a") as one, Ledger(tmp_path / "b") as other:
        assert one.meta.identity != other.meta.identity


def test_the_spend_of_a_day_adds_up_by_provider(tmp_path: Path) -> None:
    with Ledger(tmp_path) as ledger:
        ledger.runs.spend("2026-01-01", "gemini", 20)
        ledger.runs.spend("2026-01-01", "gemini", 5)
        assert ledger.runs.spent("2026-01-01", "gemini") == 25
        assert ledger.runs.spent("2026-01-02", "gemini") == 0
        assert ledger.runs.spent("2026-01-01", "ollama") == 0
