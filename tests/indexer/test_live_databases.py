"""Databases whose owner writes to them all day: what stands in the journal beside them is not missed."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest

from schemas.http import SearchRequest
from schemas.settings import Settings
from tests.fakes.index import build, engine_over, settings_for

TABLES = """CREATE TABLE conversations (conversation_id INTEGER PRIMARY KEY, session_id TEXT);
CREATE TABLE messages
  (message_id INTEGER PRIMARY KEY, conversation_id INTEGER, seq INTEGER, role TEXT, content TEXT);
INSERT INTO conversations VALUES (1, 's1');
INSERT INTO messages VALUES (1, 1, 1, 'user', 'сервер упал')"""


@pytest.fixture
def owner(tmp_path: Path) -> apsw.Connection:
    folder = tmp_path / "home"
    folder.mkdir()
    connection = apsw.Connection(str(folder / "lcm.db"))
    for statement in TABLES.split(";\n"):
        connection.execute(statement)
    connection.execute("PRAGMA journal_mode = wal").fetchall()
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    return connection


def found(settings: Settings) -> set[str]:
    with engine_over(settings) as engine:
        hits = engine.search(SearchRequest(q="сервер", mode="text", unit="message")).hits
    return {hit.text for hit in hits}


def test_rows_of_the_journal_alone_are_read_the_next_night(tmp_path: Path, owner: apsw.Connection) -> None:
    settings, folder = settings_for(tmp_path / "index"), tmp_path / "home"
    build(settings, folder)
    before = (folder / "lcm.db").stat()
    owner.execute("INSERT INTO messages VALUES (2, 1, 2, 'assistant', 'сервер поднят')")
    after = (folder / "lcm.db").stat()
    assert (before.st_size, before.st_mtime_ns) == (after.st_size, after.st_mtime_ns)
    build(settings, folder)
    assert found(settings) == {"сервер упал", "сервер поднят"}
    owner.close()


def test_a_journal_that_stays_as_it_is_costs_no_second_reading(
    tmp_path: Path, owner: apsw.Connection
) -> None:
    settings, folder = settings_for(tmp_path / "index"), tmp_path / "home"
    owner.execute("INSERT INTO messages VALUES (2, 1, 2, 'assistant', 'сервер поднят')")
    build(settings, folder)
    report = build(settings, folder)
    assert report.files["unchanged"] == 1
    assert report.files["read"] == 0
    assert found(settings) == {"сервер упал", "сервер поднят"}
    owner.close()
