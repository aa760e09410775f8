"""Discovery walks in a fixed order and trusts nothing in an archive."""

from __future__ import annotations

import io
import os
import socket
import stat
import warnings
import zipfile
from pathlib import Path

import pytest

from indexer.archives import ArchiveFile, discover, ignored, reader_of, unknown
from schemas.problems import ArchiveError
from schemas.records import Message, Skipped
from tests.indexer.archives.reading import OPTIONS, written

LINE = '{"role": "user", "content": "привет"}\n'


def names(root: Path) -> list[str]:
    return [found.name for found in discover(root) if isinstance(found, ArchiveFile)]


def refused(root: Path) -> dict[str, str]:
    return {found.place: found.reason for found in discover(root) if isinstance(found, Skipped)}


def zipped(path: Path, **members: str) -> zipfile.ZipFile:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name.replace("__", "/"), content)
    return archive


class TestWalking:
    def test_order_is_fixed_and_names_are_posix_paths(self, tmp_path: Path) -> None:
        for name in ("b/2.jsonl", "b/1.jsonl", "a.jsonl", ".openclaw/agents/x.jsonl", "Я/й.jsonl"):
            written(tmp_path, name, LINE)
        expected = ["a.jsonl", ".openclaw/agents/x.jsonl", "b/1.jsonl", "b/2.jsonl", "Я/й.jsonl"]
        assert names(tmp_path) == names(tmp_path) == expected

    def test_a_file_may_be_the_root(self, tmp_path: Path) -> None:
        written(tmp_path, "a.jsonl", LINE)
        (file,) = discover(tmp_path / "a.jsonl")
        assert isinstance(file, ArchiveFile)
        assert (file.name, file.given, file.size) == ("a.jsonl", True, len(LINE.encode()))

    def test_a_root_that_is_a_symlink_is_followed(self, tmp_path: Path) -> None:
        written(tmp_path, "real/a.jsonl", LINE)
        (tmp_path / "link").symlink_to(tmp_path / "real")
        assert names(tmp_path / "link") == ["a.jsonl"]

    def test_a_missing_root_is_an_archive_error(self, tmp_path: Path) -> None:
        with pytest.raises(ArchiveError) as caught:
            list(discover(tmp_path / "nothing"))
        assert "nothing" in caught.value.message
        assert str(tmp_path) not in caught.value.line()

    def test_folders_of_tools_and_of_our_own_index_are_left_out(self, tmp_path: Path) -> None:
        for folder in (".git", "node_modules", "__pycache__", ".venv"):
            written(tmp_path, f"{folder}/a.jsonl", LINE)
        for name in ("ledger.db", "CURRENT", "last.jsonl"):
            written(tmp_path, f"data/index/{name}", LINE)
        assert list(discover(tmp_path)) == []

    def test_empty_files_are_left_out(self, tmp_path: Path) -> None:
        written(tmp_path, "a.jsonl", "")
        assert list(discover(tmp_path)) == []

    def test_a_hard_link_is_one_file_once(self, tmp_path: Path) -> None:
        written(tmp_path, "a.jsonl", LINE)
        os.link(tmp_path / "a.jsonl", tmp_path / "b.jsonl")
        assert names(tmp_path) == ["a.jsonl"]

    def test_a_file_that_may_not_be_read_is_named(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        written(tmp_path, "a.jsonl", LINE)
        written(tmp_path, "b.jsonl", LINE)
        really = os.open

        def closed(path: os.PathLike[str] | str, *arguments: int) -> int:
            if str(path).endswith("a.jsonl"):
                raise PermissionError(13, "Permission denied")
            return really(path, *arguments)

        monkeypatch.setattr(os, "open", closed)
        assert refused(tmp_path) == {"a.jsonl": "the file can't be read"}
        assert names(tmp_path) == ["b.jsonl"]


class TestSpecialFiles:
    def test_a_symlink_out_of_the_archive_is_named_and_not_followed(self, tmp_path: Path) -> None:
        written(tmp_path, "outside/secret.jsonl", LINE)
        written(tmp_path, "archive/a.jsonl", LINE)
        (tmp_path / "archive/file.jsonl").symlink_to(tmp_path / "outside/secret.jsonl")
        (tmp_path / "archive/folder").symlink_to(tmp_path / "outside")
        assert names(tmp_path / "archive") == ["a.jsonl"]
        assert set(refused(tmp_path / "archive")) == {"file.jsonl", "folder"}

    def test_a_symlink_inside_gives_its_file_once(self, tmp_path: Path) -> None:
        written(tmp_path, "memory/a.md", "# A\nтекст")
        (tmp_path / "memory/b.md").symlink_to("a.md")
        (tmp_path / "again").symlink_to("memory")
        assert names(tmp_path) == ["memory/a.md"]
        assert refused(tmp_path) == {}

    def test_links_in_a_circle_end(self, tmp_path: Path) -> None:
        (tmp_path / "deep").mkdir()
        (tmp_path / "deep/up").symlink_to(tmp_path)
        (tmp_path / "self").symlink_to("self")
        assert refused(tmp_path) == {"self": "a symlink that leads nowhere"}

    def test_fifos_and_sockets_are_named_and_never_opened(self, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "a.jsonl")
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(str(tmp_path / "b.jsonl"))
            assert refused(tmp_path) == {"a.jsonl": "not a regular file", "b.jsonl": "not a regular file"}

    def test_a_file_swapped_for_a_fifo_after_the_walk_does_not_block(self, tmp_path: Path) -> None:
        file = written(tmp_path, "a.jsonl", LINE)
        file.path.unlink()
        os.mkfifo(file.path)
        with pytest.raises(OSError):
            file.open()


class TestZips:
    def test_members_are_read_in_a_folder_and_as_the_root(self, tmp_path: Path) -> None:
        zipped(tmp_path / "export.zip", chat__a=LINE, **{"b.jsonl": LINE})
        assert (
            names(tmp_path) == names(tmp_path / "export.zip") == ["export.zip!b.jsonl", "export.zip!chat/a"]
        )
        first = next(iter(discover(tmp_path)))
        assert isinstance(first, ArchiveFile)
        reader = reader_of(first)
        assert reader is not None
        (message,) = reader.read(first, OPTIONS)
        assert isinstance(message, Message)
        assert (message.place, message.chat_id, message.text) == ("export.zip!b.jsonl:1", "b", "привет")

    def test_a_zip_is_known_by_content(self, tmp_path: Path) -> None:
        zipped(tmp_path / "export", **{"b.jsonl": LINE})
        written(tmp_path, "false.zip", LINE)
        assert names(tmp_path) == ["export!b.jsonl", "false.zip"]

    def test_names_that_lead_out_are_refused(self, tmp_path: Path) -> None:
        with zipfile.ZipFile(tmp_path / "evil.zip", "w") as archive:
            for name in ("../up.jsonl", "/etc/cron.jsonl", "a/../../b.jsonl", "C:/x.jsonl", "fine.jsonl"):
                archive.writestr(name, LINE)
        assert names(tmp_path) == ["evil.zip!fine.jsonl"]
        assert set(refused(tmp_path).values()) == {"a zip member whose name leads out of the zip"}
        assert len(refused(tmp_path)) == 4

    def test_a_name_of_64_kilobytes_is_refused_and_costs_nothing(self, tmp_path: Path) -> None:
        with zipfile.ZipFile(tmp_path / "long.zip", "w") as archive:
            archive.writestr("-topic-" * 9_000 + ".jsonl", "{}")
        assert set(refused(tmp_path).values()) == {"a zip member whose name is longer than 4096 characters"}

    def test_a_member_that_expands_without_bound_is_refused_unread(self, tmp_path: Path) -> None:
        with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("bomb.jsonl", b"0" * (4 << 20))
        assert refused(tmp_path) == {"bomb.zip!bomb.jsonl": "a zip member that expands more than 200 times"}

    def test_members_that_share_their_data_are_refused(self, tmp_path: Path) -> None:
        path = tmp_path / "overlap.zip"
        zipped(path, **{"a.jsonl": LINE, "b.jsonl": LINE})
        data = bytearray(path.read_bytes())
        directory = data.rindex(b"PK\x01\x02")
        data[directory + 42 : directory + 46] = b"\x00\x00\x00\x00"  # b's data are a's data
        path.write_bytes(data)
        assert "zip members that share their data" in refused(tmp_path).values()

    def test_a_member_longer_than_declared_is_cut_and_counted(self, tmp_path: Path) -> None:
        path = tmp_path / "lie.zip"
        zipped(path, **{"a.jsonl": LINE * 50})
        data = bytearray(path.read_bytes())
        directory = data.rindex(b"PK\x01\x02")
        data[directory + 24 : directory + 28] = len(LINE.encode()).to_bytes(4, "little")
        path.write_bytes(data)
        assert len(names(tmp_path)) + len(refused(tmp_path)) == 1

    def test_encrypted_members_symlinks_and_inner_zips_are_named(self, tmp_path: Path) -> None:
        inner = io.BytesIO()
        with zipfile.ZipFile(inner, "w") as archive:
            archive.writestr("a.jsonl", LINE)
        path = tmp_path / "x.zip"
        with zipfile.ZipFile(path, "w") as archive:
            link = zipfile.ZipInfo("link.jsonl")
            link.external_attr = (stat.S_IFLNK | 0o777) << 16
            archive.writestr(link, "/etc/passwd")
            archive.writestr("inner.zip", inner.getvalue())
            archive.writestr("locked.jsonl", LINE)
        data = bytearray(path.read_bytes())
        directory = data.rindex(b"PK\x01\x02")
        data[directory + 8] |= 1
        path.write_bytes(data)
        assert refused(tmp_path) == {
            "x.zip!link.jsonl": "a symlink in a zip",
            "x.zip!inner.zip": "a zip inside a zip",
            "x.zip!locked.jsonl": "an encrypted zip member",
        }

    def test_of_two_members_of_one_name_the_last_is_read(self, tmp_path: Path) -> None:
        with warnings.catch_warnings(), zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
            warnings.simplefilter("ignore")
            archive.writestr("a.jsonl", LINE)
            archive.writestr("a.jsonl", LINE.replace("привет", "пока"))
        (file,) = [found for found in discover(tmp_path) if isinstance(found, ArchiveFile)]
        assert "пока" in file.head.decode()
        assert refused(tmp_path) == {"x.zip!a.jsonl": "an earlier zip member of the same name"}

    def test_a_member_that_says_to_be_empty_and_is_not_is_named(self, tmp_path: Path) -> None:
        zipped(tmp_path / "lie.zip", **{"a.jsonl": LINE * 50})
        data = bytearray((tmp_path / "lie.zip").read_bytes())
        directory = data.rindex(b"PK\x01\x02")
        data[directory + 24 : directory + 28] = bytes(4)
        (tmp_path / "lie.zip").write_bytes(data)
        assert refused(tmp_path) == {"lie.zip!a.jsonl": "a zip member of a false size"}

    def test_a_broken_zip_is_named(self, tmp_path: Path) -> None:
        written(tmp_path, "cut.zip", b"PK\x03\x04" + b"\x00" * 100)
        assert refused(tmp_path) == {"cut.zip": "damaged or cut compressed data"}

    def test_a_member_name_in_cp866_is_readable(self, tmp_path: Path) -> None:
        zipped(tmp_path / "win.zip", **{"abcd.jsonl": LINE})
        data = (tmp_path / "win.zip").read_bytes().replace(b"abcd", "чаты".encode("cp866"))
        (tmp_path / "win.zip").write_bytes(data)
        assert names(tmp_path) == ["win.zip!чаты.jsonl"]


class TestWhatIsLeftOut:
    @pytest.mark.parametrize(
        "name",
        [
            "photo.JPG",
            "LICENSE",
            "letopis.toml",
            "uv.lock",
            "sessions.json",
            "sessions.json.bak.2",
            "lcm.db-wal",
            "lcm.db-shm",
            "README.md",
            "docs/guide.md",
            "a.trajectory-path.json",
            "voice.ogg",
            "script.py",
        ],
    )
    def test_plainly_irrelevant_files_go_without_a_word(self, tmp_path: Path, name: str) -> None:
        file = written(tmp_path, name, LINE)
        assert ignored(file)
        assert list(discover(tmp_path)) == []

    @pytest.mark.parametrize(
        "name",
        [
            "MEMORY.md",
            "memory/2026-03-09.md",
            "memory/entities/x.md",
            "state/plan.md",
            "SOUL.md",
            "w/AGENTS.md",
        ],
    )
    def test_memory_is_relevant(self, tmp_path: Path, name: str) -> None:
        written(tmp_path, name, "# Заметка\nтекст")
        assert names(tmp_path) == [name]

    def test_a_memory_folder_given_by_itself_is_memory(self, tmp_path: Path) -> None:
        written(tmp_path, "memory/2026-03-09.md", "# Заметка\nтекст")
        assert names(tmp_path / "memory") == ["2026-03-09.md"]

    def test_any_markdown_file_given_by_name_is_read(self, tmp_path: Path) -> None:
        written(tmp_path, "README.md", "# Заметка\nтекст")
        (file,) = discover(tmp_path / "README.md")
        assert isinstance(file, ArchiveFile)
        reader = reader_of(file)
        assert reader is not None
        assert reader.name == "markdown"


class TestForeignFormats:
    @pytest.mark.parametrize(
        "text",
        [
            "date,author,text\n2026-03-09,Иван,привет\n",
            "2026-03-09 10:00:00,123 - root - INFO - started\n",
            "* 10:22 Иван вошёл\n<Иван> привет\n",
            '{"sender_id": 1, "text": "привет"}\n',
            "BEGIN:VCARD\nFN:Иван\nEND:VCARD\n",
        ],
    )
    def test_another_programs_file_is_not_read_as_a_talk(self, tmp_path: Path, text: str) -> None:
        assert reader_of(written(tmp_path, "other.txt", text)) is None

    def test_a_telethon_list_is_not_telegram_desktop(self, tmp_path: Path) -> None:
        line = '{"sender_id": -1, "text": "привет", "date": "2023-05-15T19:30:49+00:00", "message.id": 5}'
        assert reader_of(written(tmp_path, "list.json", f"[\n{line},\n{line}\n]")) is None
        assert reader_of(written(tmp_path, "lines.json", f"{line}\n{line}\n")) is None

    def test_a_telegram_html_export_is_told_the_way_out(self, tmp_path: Path) -> None:
        file = written(tmp_path, "messages.html", "<!DOCTYPE html>\n<html></html>")
        assert reader_of(file) is None
        told = unknown(file)
        assert (told.place, told.reason) == ("messages.html", "unknown format")
        assert told.hint.endswith("export the chat with Telegram Desktop as machine-readable JSON")
