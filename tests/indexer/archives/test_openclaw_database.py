"""The agent's own database of newer OpenClaw versions: its events, its list of sessions, its archives."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import apsw
import pytest
import zstandard

from indexer.archives import ArchiveFile, discover, reader_of
from indexer.archives.openclaw.database import MAX_EVENT
from schemas.records import Message
from tests.indexer.archives.reading import (
    OPTIONS,
    WITH_TOOLS,
    archive_file,
    drops,
    messages,
    records,
    samples,
    skips,
    written,
)

SESSION = "11111111-2222-3333-4444-555555555555"
HOME = "agents/main"
DATABASE = f"{HOME}/agent/openclaw-agent.sqlite"
DELETED_TOO = replace(OPTIONS, deleted_sessions=True)
EVERYTHING = replace(WITH_TOOLS, thinking=True)

EVENTS = """CREATE TABLE transcript_events (session_id TEXT NOT NULL, seq INTEGER NOT NULL, event_json TEXT,
  created_at INTEGER NOT NULL, event_zstd BLOB, event_utf8_bytes INTEGER, navigation_json TEXT,
  PRIMARY KEY (session_id, seq)) STRICT"""
NODES = """CREATE TABLE session_nodes (session_key TEXT NOT NULL PRIMARY KEY,
  current_session_id TEXT NOT NULL, entry_json TEXT NOT NULL, spawned_by TEXT,
  fork_source_session_id TEXT, label TEXT, display_name TEXT, archived_at INTEGER) STRICT"""
WINDOWS = """CREATE TABLE session_windows (session_id TEXT NOT NULL PRIMARY KEY, session_key TEXT NOT NULL,
  previous_session_id TEXT, reason TEXT, chat_type TEXT, spawned_by TEXT, display_name TEXT) STRICT"""
ARCHIVES = """CREATE TABLE session_transcript_archives (session_id TEXT NOT NULL, generation TEXT NOT NULL,
  session_key TEXT NOT NULL, reason TEXT NOT NULL, encoding TEXT NOT NULL, archive_blob BLOB NOT NULL,
  archive_name TEXT NOT NULL UNIQUE, PRIMARY KEY (session_id, generation)) STRICT"""
COLD = """CREATE TABLE session_transcript_cold_archives (session_id TEXT NOT NULL PRIMARY KEY,
  archive_name TEXT NOT NULL, storage TEXT NOT NULL, archive_blob BLOB) STRICT"""
OLDER = (
    "CREATE TABLE transcript_events (session_id TEXT, seq INTEGER, event_json TEXT, created_at INTEGER,"
    " PRIMARY KEY (session_id, seq))",
    "CREATE TABLE sessions (session_id TEXT PRIMARY KEY, session_key TEXT, chat_type TEXT, spawned_by TEXT,"
    " display_name TEXT)",
    "CREATE TABLE session_entries (session_key TEXT PRIMARY KEY, session_id TEXT, entry_json TEXT)",
)


def header(session: str = SESSION, **more: Any) -> dict[str, Any]:
    return {"type": "session", "version": 4, "id": session, "timestamp": "2026-03-08T19:03:00.000Z", **more}


def entry(id: str | None, parent: str | None, text: str, role: str = "user", **more: Any) -> dict[str, Any]:
    message = {"role": role, "content": [{"type": "text", "text": text}], "timestamp": 1772996582000, **more}
    ids = {} if id is None else {"id": id, "parentId": parent}
    return {"type": "message", **ids, "timestamp": "2026-03-08T19:03:02.000Z", "message": message}


def packed(data: bytes | str) -> bytes:
    return zstandard.ZstdCompressor(level=1, write_checksum=True).compress(
        data.encode() if isinstance(data, str) else data
    )


class Home:
    """An agent's folder with its database, as a test fills it."""

    def __init__(self, folder: Path, *tables: str) -> None:
        self.path = folder / DATABASE
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.db = apsw.Connection(str(self.path))
        for table in tables or (EVENTS, NODES, WINDOWS, ARCHIVES, COLD):
            self.db.execute(table)

    def put(self, session: str, events: Iterable[dict[str, Any] | str | bytes]) -> None:
        """Store events: objects as text, bytes as frames."""
        columns = "(session_id, seq, event_json, created_at)"
        for seq, event in enumerate(events):
            if isinstance(event, bytes):
                self.db.execute(
                    "INSERT INTO transcript_events (session_id, seq, event_zstd, event_utf8_bytes,"
                    " created_at) VALUES (?, ?, ?, ?, 0)",
                    (session, seq, event, 7),
                )
            else:
                text = event if isinstance(event, str) else json.dumps(event, ensure_ascii=False)
                self.db.execute(
                    f"INSERT INTO transcript_events {columns} VALUES (?, ?, ?, 0)", (session, seq, text)
                )

    @property
    def file(self) -> ArchiveFile:
        self.db.close()
        return archive_file(self.path, DATABASE)


def same(found: Iterable[Message]) -> list[Message]:
    """Messages without where they stand: two forms of one talk agree in everything else."""
    return [replace(message, place="") for message in found]


def texts(file: ArchiveFile, **options: Any) -> list[str]:
    return [message.text for message in messages(records("openclaw", file, replace(OPTIONS, **options)))]


class TestTheSameTalkInBothForms:
    def both(self, folder: Path, lines: list[str]) -> tuple[ArchiveFile, ArchiveFile]:
        file = written(folder, f"{HOME}/sessions/{SESSION}.jsonl", "\n".join(lines) + "\n")
        home = Home(folder, EVENTS)
        home.put(SESSION, [packed(line) if n % 2 else line for n, line in enumerate(lines)])
        return file, home.file

    def test_a_session_and_its_copy_in_the_database_are_equal(self, tmp_path: Path) -> None:
        sample = next(
            file for file in samples("openclaw", tmp_path / "sample") if file.name.endswith(".jsonl")
        )
        lines = [line for line in sample.path.read_text("utf-8").splitlines() if line]
        plain, base = self.both(tmp_path, lines)
        reader = reader_of(base)
        assert reader is not None
        assert reader.name == "openclaw"
        for options in (OPTIONS, EVERYTHING):
            expected = records("openclaw", plain, options)
            found = records("openclaw", base, options)
            assert len(messages(expected)) == (4 if options.thinking else 3)
            assert same(messages(found)) == same(messages(expected))
            assert drops(found) == drops(expected)

    def test_so_are_entries_without_ids_and_times(self, tmp_path: Path) -> None:
        events = [header(), entry(None, None, "да"), entry(None, None, "да")]
        events.append({"type": "message", "message": {"role": "user", "content": "без времени"}})
        plain, base = self.both(tmp_path, [json.dumps(event, ensure_ascii=False) for event in events])
        expected = messages(records("openclaw", plain))
        assert same(messages(records("openclaw", base))) == same(expected)
        assert len({message.id for message in expected}) == 3
        assert expected[-1].at is None  # the row says only when it was stored

    @pytest.mark.parametrize(
        "name", [f"{SESSION}.jsonl.reset.2026-03-09T10-00-00.000Z.zst", "cold/0a1b.jsonl.zst"]
    )
    def test_so_is_a_packed_archive_whatever_its_name(self, tmp_path: Path, name: str) -> None:
        lines = [json.dumps(one, ensure_ascii=False) for one in (header(), entry("a", None, "раз"))]
        _, base = self.both(tmp_path, lines)
        archive = written(tmp_path, f"{HOME}/sessions/{name}", packed("\n".join(lines)))
        assert same(messages(records("openclaw", archive))) == same(messages(records("openclaw", base)))

    def test_a_fork_is_one_in_both(self, tmp_path: Path) -> None:
        named = "sqlite:main:s0:/home/demo/.openclaw/agents/main/sessions/sessions.json"
        events = [header(parentSession=named), entry("a", None, "раз")]
        plain, base = self.both(tmp_path, [json.dumps(event) for event in events])
        for file in (plain, base):
            (message,) = messages(records("openclaw", file))
            assert (message.copied_from, message.origin) == ("s0", "a@1772996582000")


class TestTheListOfSessions:
    def home(self, folder: Path) -> Home:
        home = Home(folder)
        for session in ("s1", "s2", "s3", "s4"):
            home.put(session, [header(session), entry("a", None, f"в {session}")])
        home.db.execute(
            """INSERT INTO session_nodes VALUES
               ('agent:main:main', 's2', '{"sessionId": "s2", "label": "Переезд"}', NULL, NULL, NULL, NULL,
                NULL),
               ('agent:main:dashboard:9', 's3', '{"displayName": "Отчёт"}', 'agent:main:main', NULL, NULL,
                NULL, 1772996582000),
               ('agent:main:fork', 's4', 'не json', NULL, 's2', 'Ветка', 'лишнее', NULL)"""
        )
        home.db.execute(
            """INSERT INTO session_windows VALUES
               ('s1', 'agent:main:main', NULL, 'initial', 'direct', NULL, NULL),
               ('s2', 'agent:main:main', 's1', 'reset', 'direct', NULL, NULL),
               ('s3', 'agent:main:dashboard:9', NULL, 'initial', NULL, 'agent:main:main', NULL),
               ('s4', 'agent:main:fork', NULL, 'fork', NULL, NULL, NULL)"""
        )
        return home

    def test_it_tells_titles_keys_workers_and_forks(self, tmp_path: Path) -> None:
        found = {m.chat_id: m for m in messages(records("openclaw", self.home(tmp_path).file))}
        assert {id: (m.chat_title, m.agent, m.copied_from, m.session) for id, m in found.items()} == {
            "s1": ("Переезд", None, None, "s1"),
            "s2": ("Переезд", None, None, "s2"),
            "s3": ("Отчёт", "worker", None, "s3"),
            "s4": ("Ветка", None, "s2", "s4"),
        }
        assert found["s1"].meta == {
            "session_key": "agent:main:main",
            "chat_type": "direct",
            "agent_id": "main",
        }

    def test_a_talk_taken_back_repeats_the_window_before_it(self, tmp_path: Path) -> None:
        home = self.home(tmp_path)
        home.db.execute("UPDATE session_windows SET reason = 'rewind' WHERE session_id = 's2'")
        found = {m.chat_id: m.copied_from for m in messages(records("openclaw", home.file))}
        assert found["s2"] == "s1"

    def test_a_file_beside_the_database_is_told_by_it_too(self, tmp_path: Path) -> None:
        self.home(tmp_path).db.close()
        lines = "\n".join(json.dumps(one) for one in (header("s3"), entry("a", None, "раз")))
        for name in ("s3.jsonl.reset.2026-03-09T10-00-00.000Z", "cold/0a1b.jsonl"):
            (message,) = messages(records("openclaw", written(tmp_path, f"{HOME}/sessions/{name}", lines)))
            assert (message.agent, message.chat_title, message.chat_id) == ("worker", "Отчёт", "s3")

    def test_a_database_outside_of_the_archive_is_not_asked(self, tmp_path: Path) -> None:
        self.home(tmp_path / "outside").db.close()
        lines = "\n".join(json.dumps(one) for one in (header("s3"), entry("a", None, "раз")))
        file = written(tmp_path / "root", f"{HOME}/sessions/s3.jsonl", lines)
        (tmp_path / "root" / HOME / "agent").symlink_to(tmp_path / "outside" / HOME / "agent")
        (message,) = messages(records("openclaw", file))
        assert message.agent is None

    def test_a_workers_copy_of_the_main_talk_comes_after_it(self, tmp_path: Path) -> None:
        home, said = Home(tmp_path), entry("a", None, "раз")
        home.put("s1", [header("s1", parentSession="s2"), said])
        home.put("s2", [header("s2"), said])
        home.put("s0", [header("s0", parentSession="s2"), said])
        home.db.execute("UPDATE transcript_events SET created_at = 9 WHERE session_id = 's0'")
        home.db.execute(
            "INSERT INTO session_windows (session_id, session_key) VALUES ('s1', 'agent:a:subagent:7')"
        )
        found = messages(records("openclaw", home.file))
        assert [(message.chat_id, message.agent) for message in found] == [
            ("s2", None),
            ("s0", None),
            ("s1", "worker"),
        ]

    def test_a_session_of_a_subagents_key_is_a_worker_without_any_row_of_it(self, tmp_path: Path) -> None:
        home = Home(tmp_path, EVENTS, WINDOWS)
        home.put("s1", [header("s1"), entry("a", None, "раз")])
        home.db.execute(
            "INSERT INTO session_windows (session_id, session_key) VALUES ('s1', 'agent:a:subagent:7')"
        )
        (message,) = messages(records("openclaw", home.file))
        assert message.agent == "worker"

    def test_the_older_layout_is_read_too(self, tmp_path: Path) -> None:
        home = Home(tmp_path, *OLDER)
        home.put("s1", [header("s1"), entry("a", None, "раз")])
        home.db.execute("INSERT INTO sessions VALUES ('s1', 'k', 'group', 'agent:main:main', 'Чат')")
        home.db.execute("INSERT INTO session_entries VALUES ('k', 's1', '{}')")
        (message,) = messages(records("openclaw", home.file))
        assert (message.agent, message.chat_title, message.meta["chat_type"]) == ("worker", "Чат", "group")


class TestArchivesInside:
    def home(self, folder: Path) -> Home:
        home = Home(folder)
        for number, (reason, encoding) in enumerate([("reset", "identity"), ("deleted", "zstd")]):
            session = f"s{number}"
            lines = "\n".join(json.dumps(one) for one in (header(session), entry("a", None, reason)))
            blob = lines.encode() if encoding == "identity" else packed(lines)
            home.db.execute(
                "INSERT INTO session_transcript_archives"
                " VALUES (?, 'g', 'agent:main:subagent:1', ?, ?, ?, ?)",
                (session, reason, encoding, blob, session),
            )
        return home

    def test_what_was_reset_is_history_and_what_was_deleted_only_when_asked_for(self, tmp_path: Path) -> None:
        file = self.home(tmp_path).file
        assert texts(file) == ["reset"]
        assert drops(records("openclaw", file)) == {"deleted_session": 1}
        assert texts(file, deleted_sessions=True) == ["reset", "deleted"]

    def test_its_session_key_still_tells_a_worker(self, tmp_path: Path) -> None:
        (message,) = messages(records("openclaw", self.home(tmp_path).file))
        assert (message.chat_id, message.agent, message.place) == ("s0", "worker", f"{DATABASE}#s0:2")

    def test_cold_storage_is_read_and_its_files_are_found_as_files(self, tmp_path: Path) -> None:
        home = Home(tmp_path)
        lines = "\n".join(json.dumps(one) for one in (header("s1"), entry("a", None, "остыло")))
        home.db.execute(
            "INSERT INTO session_transcript_cold_archives VALUES ('s1', 'x', 'sqlite', ?)", (packed(lines),)
        )
        home.db.execute("INSERT INTO session_transcript_cold_archives VALUES ('s2', 'y', 'file', NULL)")
        home.db.close()
        name = f"{HOME}/sessions/cold/{'ab' * 32}.jsonl.zst"
        written(tmp_path, name, packed(lines.replace("s1", "s2")))
        found = [file for file in discover(tmp_path) if isinstance(file, ArchiveFile)]
        assert [file.name for file in found] == [DATABASE, name]
        assert [message.chat_id for file in found for message in messages(records("openclaw", file))] == [
            "s1",
            "s2",
        ]

    def test_a_damaged_archive_costs_itself(self, tmp_path: Path) -> None:
        home = self.home(tmp_path)
        home.db.execute(
            "UPDATE session_transcript_archives SET archive_blob = x'28b52ffd00' WHERE session_id = 's1'"
        )
        home.put("s2", [header("s2"), entry("a", None, "живой")])
        found = records("openclaw", home.file, DELETED_TOO)
        assert [message.text for message in messages(found)] == ["живой", "reset"]
        assert [skip.reason for skip in skips(found)] == ["damaged or cut compressed data"]


class TestDamage:
    def one(self, folder: Path, *events: dict[str, Any] | str | bytes) -> Home:
        home = Home(folder, EVENTS)
        home.put(SESSION, [header(), entry("a", None, "раз"), *events, entry("z", None, "конец")])
        return home

    @pytest.mark.parametrize(
        "event",
        [
            pytest.param(b"\x28\xb5\x2f\xfd\x00", id="a frame's beginning"),
            pytest.param(packed("слова " * 500)[:-9], id="a cut frame"),
            pytest.param(packed(json.dumps(entry("b", "a", "x" * 999)))[:-1] + b"!", id="a wrong checksum"),
            pytest.param(b"no frame at all", id="no frame"),
            pytest.param("{оборвано", id="broken JSON"),
            pytest.param("[" * 100_000, id="deep nesting"),
            pytest.param("", id="nothing"),
        ],
    )
    def test_a_damaged_event_costs_itself(self, tmp_path: Path, event: str | bytes) -> None:
        found = records("openclaw", self.one(tmp_path, event).file)
        assert [message.text for message in messages(found)] == ["раз", "конец"]
        assert [(skip.reason, skip.place) for skip in skips(found)] == [
            ("an event that is damaged", f"{DATABASE}#{SESSION}/2")
        ]

    def test_a_wrong_length_beside_a_sound_event_costs_nothing(self, tmp_path: Path) -> None:
        assert texts(self.one(tmp_path, packed(json.dumps(entry("b", "a", "два")))).file) == [
            "раз",
            "два",
            "конец",
        ]

    def test_of_two_forms_in_one_row_the_sound_one_counts(self, tmp_path: Path) -> None:
        home = self.one(tmp_path, json.dumps(entry("b", "a", "как текст")), '{"cut": ')
        frame = packed(json.dumps(entry("c", "b", "как кадр"), ensure_ascii=False))
        home.db.execute("UPDATE transcript_events SET event_zstd = ? WHERE seq IN (2, 3)", (frame,))
        assert texts(home.file) == ["раз", "как текст", "как кадр", "конец"]

    def test_an_event_that_is_no_object_is_named(self, tmp_path: Path) -> None:
        found = records("openclaw", self.one(tmp_path, "[1, 2]", packed("7")).file)
        assert [skip.reason for skip in skips(found)] == ["an event that is no JSON object"] * 2

    @pytest.mark.slow
    def test_a_bomb_is_not_expanded(self, tmp_path: Path) -> None:
        bomb = packed(b" " * (4 * MAX_EVENT))
        file = self.one(tmp_path, bomb).file
        tracemalloc.start()
        found = records("openclaw", file)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert [skip.reason for skip in skips(found)] == ["an event longer than 64 MB"]
        assert peak < 3 * MAX_EVENT

    @pytest.mark.slow
    def test_an_event_too_long_is_not_even_loaded(self, tmp_path: Path) -> None:
        home = self.one(tmp_path, "{}")
        home.db.execute(
            f"UPDATE transcript_events SET event_json = printf('%*c', {MAX_EVENT + 1}, ' ') WHERE seq = 2"
        )
        found = records("openclaw", home.file)
        assert [skip.reason for skip in skips(found)] == ["an event longer than 64 MB"]
        assert [message.text for message in messages(found)] == ["раз", "конец"]

    def test_long_events_are_read_a_few_at_a_time(self, tmp_path: Path) -> None:
        long = "слово " * 200_000
        home = Home(tmp_path, EVENTS)
        home.put(SESSION, [header(), *(entry(f"{n:08x}", None, f"{n} {long}") for n in range(12))])
        file = home.file
        assert [text.partition(" ")[0] for text in texts(file)] == [str(n) for n in range(12)]

    def test_bytes_that_are_no_utf8_cost_a_character(self, tmp_path: Path) -> None:
        home = self.one(tmp_path, json.dumps(entry("b", "a", "ok")))
        home.db.execute(
            "UPDATE transcript_events SET event_json ="
            " CAST(replace(CAST(event_json AS BLOB), x'6f6b', x'6fff6b') AS TEXT) WHERE seq = 2"
        )
        home.db.execute("UPDATE transcript_events SET session_id = CAST(x'73ff31' AS TEXT)")
        assert texts(home.file) == ["раз", "o\ufffdk", "конец"]

    def test_a_database_that_stores_utf16_is_read(self, tmp_path: Path) -> None:
        home = Home(tmp_path, "PRAGMA encoding = 'UTF-16le'", EVENTS)
        home.put(SESSION, [header(), entry("a", None, "привет"), packed(json.dumps(entry("b", "a", "x")))])
        found = messages(records("openclaw", home.file))
        assert [(message.chat_id, message.text) for message in found] == [(SESSION, "привет"), (SESSION, "x")]

    def test_an_unknown_type_of_entry_is_counted_in_every_session(self, tmp_path: Path) -> None:
        home = Home(tmp_path, EVENTS)
        for session in ("s1", "s2"):
            home.put(session, [header(session), {"type": "telemetry", "id": "t", "parentId": None}])
        assert [skip.reason for skip in skips(records("openclaw", home.file))] == [
            "an unknown type of entry"
        ] * 2


class TestVersions:
    @pytest.mark.parametrize("column", ["event_json TEXT", "event_zstd BLOB"])
    def test_one_column_of_events_is_enough(self, tmp_path: Path, column: str) -> None:
        home = Home(tmp_path, f"CREATE TABLE transcript_events (session_id TEXT, seq INTEGER, {column})")
        event = json.dumps(entry("a", None, "раз"), ensure_ascii=False)
        value = event if "json" in column else packed(event)
        home.db.execute("INSERT INTO transcript_events VALUES ('s1', 0, ?)", (value,))
        file = home.file
        reader = reader_of(file)
        assert reader is not None
        assert reader.name == "openclaw"
        (message,) = messages(records("openclaw", file))
        assert (message.chat_id, message.text) == ("s1", "раз")

    def test_a_table_of_that_name_without_events_is_another_programs(self, tmp_path: Path) -> None:
        table = "CREATE TABLE transcript_events (session_id TEXT, seq INTEGER, speaker TEXT)"
        assert reader_of(Home(tmp_path, table).file) is None

    def test_a_list_of_sessions_without_its_columns_costs_only_its_facts(self, tmp_path: Path) -> None:
        home = Home(
            tmp_path,
            EVENTS,
            "CREATE TABLE session_windows (session_id TEXT)",
            "CREATE TABLE session_nodes (session_key TEXT)",
            "CREATE TABLE session_transcript_archives (session_id TEXT)",
        )
        home.put("s1", [header("s1"), entry("a", None, "раз")])
        for table in ("session_windows", "session_nodes", "session_transcript_archives"):
            home.db.execute(f"INSERT INTO {table} VALUES ('s1')")
        found = records("openclaw", home.file)
        assert not skips(found)
        assert [(m.text, m.agent, m.chat_title) for m in messages(found)] == [("раз", None, None)]

    def test_the_owner_may_write_meanwhile(self, tmp_path: Path) -> None:
        home = Home(tmp_path, "PRAGMA journal_mode = wal", EVENTS)
        home.put(SESSION, [header(), entry("a", None, "раз")])
        file = archive_file(home.path, DATABASE)
        assert (home.path.parent / "openclaw-agent.sqlite-wal").stat().st_size
        assert texts(file) == ["раз"]
        home.db.execute("BEGIN IMMEDIATE")
        home.db.execute(
            "INSERT INTO transcript_events (session_id, seq, event_json, created_at) VALUES (?, 2, ?, 0)",
            (SESSION, json.dumps(entry("b", "a", "два"))),
        )
        assert texts(file) == ["раз"]
        home.db.execute("COMMIT")
        assert texts(file) == ["раз", "два"]
        home.db.close()


def test_an_index_that_its_owner_names_holds_no_talk(tmp_path: Path) -> None:
    index = json.dumps({"agent:main:main": {"sessionId": SESSION, "updatedAt": 1}}, indent=1)
    file = written(tmp_path, "index.json", index)
    reader = reader_of(file)
    assert reader is not None
    assert reader.name == "openclaw"
    assert drops(records("openclaw", file)) == {"support_file": 1}
