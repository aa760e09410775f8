from __future__ import annotations

from pathlib import Path

import apsw
import pytest

from indexer.stores.ledger import LEDGER_NAME, Ledger, Rule
from indexer.stores.ledger.trace import SeenIn, Trace
from schemas.problems import DatabaseError
from tests.indexer.stores.talks import absorb, file, message


def test_a_message_is_traced_to_every_file_that_holds_it(tmp_path: Path) -> None:
    with Ledger(tmp_path) as ledger:
        absorb(ledger, file("a.jsonl"), message("1", "ключи у соседа"))
        absorb(ledger, file("b.jsonl"), message("1", "ключи у соседа"))
    with Trace(tmp_path / LEDGER_NAME) as trace:
        found = trace.message("talk", "1")
        assert found is not None
        assert (found.text, found.place) == ("ключи у соседа", "a.jsonl:1")
        assert trace.files(found.key) == [
            SeenIn("a.jsonl", "jsonl", False, 1),
            SeenIn("b.jsonl", "jsonl", False, 1),
        ]
        assert trace.message("talk", "2") is None


def test_what_is_written_meanwhile_is_read_without_the_lock(tmp_path: Path) -> None:
    with Ledger(tmp_path) as ledger:
        absorb(ledger, file(), message("1", "ключи у соседа"))
        with Trace(tmp_path / LEDGER_NAME) as trace:
            assert [one.id for one in trace.called("1")] == ["1"]
            assert [one.id for one in trace.called("ключи у соседа")] == ["1"]
            assert [one.id for one in trace.called("у сос")] == ["1"]
            assert trace.called("замок") == []


def test_a_forgotten_message_is_known_by_its_id_and_its_text(tmp_path: Path) -> None:
    with Ledger(tmp_path) as ledger:
        absorb(ledger, file(), message("1", "ключи у соседа"), message("2", "замок"))
        ledger.forgetting.forget(1, [Rule("talk", "1")])
        with Trace(tmp_path / LEDGER_NAME) as trace:
            assert trace.forgotten("1") == trace.forgotten("ключи у соседа", ["talk"]) == ("talk", "1")
            assert trace.forgotten("1", ["other"]) is None
            assert trace.forgotten("замок") is None
            assert (trace.knew("talk"), trace.knew("other")) == (True, False)


@pytest.mark.parametrize(("version", "remedy"), [(99, "update letopis"), (1, "run `letopis build`")])
def test_another_version_is_refused_with_both_numbers_and_the_remedy(
    tmp_path: Path, version: int, remedy: str
) -> None:
    Ledger(tmp_path).close()
    db = apsw.Connection(str(tmp_path / LEDGER_NAME))
    db.execute(f"PRAGMA user_version={version}")
    db.close()
    with pytest.raises(DatabaseError, match=f"version {version}, this program reads 2") as caught:
        Trace(tmp_path / LEDGER_NAME)
    assert caught.value.hint.startswith(remedy)
