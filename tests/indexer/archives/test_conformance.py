"""What every reader promises, over the dict: a new reader is tested the moment it is listed."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from indexer.archives import READERS, discover, reader_of
from indexer.archives.files import ArchiveFile
from schemas.records import ROLES, Dropped, Message, Skipped
from tests.indexer.archives.reading import OPTIONS, SUPPORT, archive_file, messages, records, samples

SOURCES = sorted(READERS)


@pytest.fixture(params=SOURCES)
def source(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def said(found: list[Message]) -> set[tuple[str, str]]:
    return {(message.chat_id, message.text) for message in found}


def spoilt(file: ArchiveFile, data: bytes) -> ArchiveFile:
    file.path.write_bytes(data)
    return archive_file(file.path, file.name)


def test_every_reader_has_a_sample_and_is_the_one_asked_for_it(source: str, tmp_path: Path) -> None:
    found = samples(source, tmp_path)
    assert found
    for file in found:
        reader = reader_of(file)
        assert reader is not None
        assert reader.name == source
        assert next(name for name, other in READERS.items() if other.fits(file)) == source


def test_samples_are_discovered_as_they_are_named(source: str, tmp_path: Path) -> None:
    expected = {file.name for file in samples(source, tmp_path)}
    found = [file for file in discover(tmp_path) if isinstance(file, ArchiveFile)]
    assert {file.name for file in found if file.base not in SUPPORT} == expected


def test_messages_are_whole_records_with_unique_ids_in_each_chat(source: str, tmp_path: Path) -> None:
    for file in samples(source, tmp_path):
        found = messages(records(source, file))
        assert found
        assert len({(message.chat_id, message.id) for message in found}) == len(found)
        for message in found:
            assert message.source == source
            assert message.role in ROLES
            assert message.text == message.text.strip() != ""
            assert message.place.startswith(file.name)
            assert message.at is None or 10**12 < message.at < 2 * 10**12
            assert all(isinstance(value, str) for pair in message.meta.items() for value in pair)


def test_messages_of_a_chat_stand_in_the_order_of_the_talk(source: str, tmp_path: Path) -> None:
    if source == "vk":
        pytest.skip("the ids of its sample run against its times, and VK's ids give the order")
    for file in samples(source, tmp_path):
        times: dict[str, list[int]] = {}
        for message in messages(records(source, file)):
            # A sub-agent talks beside its session, and a summary may be dated when what it sums up began.
            if message.at is not None and message.role != "summary":
                talk = f"{message.chat_id} {message.session}"
                times.setdefault(talk, []).append(message.at)
        assert all(found == sorted(found) for found in times.values())


def test_reading_twice_yields_equal_records(source: str, tmp_path: Path) -> None:
    for file in samples(source, tmp_path):
        assert records(source, file) == records(source, file)


def test_a_cut_file_raises_nothing_and_keeps_what_came_before_the_cut(source: str, tmp_path: Path) -> None:
    chance = random.Random(20260308)
    for file in samples(source, tmp_path):
        whole, clean = file.path.read_bytes(), messages(records(source, file))
        for position in sorted(chance.randrange(1, len(whole)) for _ in range(10)):
            found = records(source, spoilt(file, whole[:position]))
            assert all(isinstance(record, Message | Skipped | Dropped) for record in found)
            if file.name.endswith(".db"):
                continue  # a database is pages, not a stream: what a cut takes is up to its layout
            kept = [message.text for message in messages(found)]
            if source == "vk":  # a page begins with the newest message, and is given the oldest first
                assert kept[1:] == [message.text for message in clean][len(clean) - len(kept) + 1 :]
                continue
            # The record that was cut may be cut or gone; those before it are as they were.
            assert kept[:-1] == [message.text for message in clean][: max(len(kept) - 1, 0)]
            if ":" in clean[0].place:
                ended = whole[:position].count(b"\n")
                assert (
                    len(kept)
                    >= sum(int(message.place.rpartition(":")[2]) < ended for message in clean[:-1]) - 1
                )


def test_a_flipped_byte_raises_nothing_and_costs_only_what_it_hits(source: str, tmp_path: Path) -> None:
    chance = random.Random(20260309)
    for file in samples(source, tmp_path):
        whole, clean = file.path.read_bytes(), said(messages(records(source, file)))
        for _ in range(20):
            position = chance.randrange(len(whole))
            flipped = bytearray(whole)
            flipped[position] ^= 1 << chance.randrange(8)
            found = records(source, spoilt(file, bytes(flipped)))
            kept = said(messages(found))
            texts = {text for _, text in clean}
            lost = len(texts - {text for _, text in kept})
            if source in ("openclaw", "jsonl") and not file.name.endswith(".db"):
                assert lost <= 2, (file.name, position)
            elif source == "telegram" and lost > 1:
                assert any(isinstance(record, Skipped) for record in found), (file.name, position)


def test_a_file_that_is_gone_is_a_skip_and_no_exception(source: str, tmp_path: Path) -> None:
    for file in samples(source, tmp_path):
        file.path.unlink()
        found = records(source, ArchiveFile(file.path, file.name, file.size, file.mtime_ns))
        assert any(isinstance(record, Skipped) for record in found)
        assert not messages(found)


def test_garbage_under_any_name_raises_nothing(source: str, tmp_path: Path) -> None:
    chance = random.Random(7)
    for number, data in enumerate(
        (b"\x00" * 999, chance.randbytes(5000), b"[" * 200_000, b'{"a":' * 100_000, b"\n\n")
    ):
        path = tmp_path / f"{number}.jsonl"
        path.write_bytes(data)
        assert not messages(READERS[source].read(archive_file(path), OPTIONS)) or source == "markdown"
