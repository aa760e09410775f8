from __future__ import annotations

import re
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import apsw
import pytest

from indexer.stores import generation as generations
from indexer.stores.generation import Generation
from schemas.http import Answer, SearchRequest
from schemas.problems import IndexCorrupt, IndexMissing, LetopisError
from schemas.settings import Settings
from service.engine import LiveEngine
from service.live import LiveIndex
from tests.fakes.index import Line, archive, build, engine_over, published, said, settings_for

CHATS = ("работа", "дом", "дача")
PATIENCE = 20.0  # seconds until a test gives up on the watcher


def numbered(number: int) -> list[Line]:
    """Nine messages that all carry one number, in words and in a name; a newer number edits the older."""
    return [
        said(
            f"поколение {number}: запись {at} про сервер, писать на gen{number}@site.org",
            f"m{at}",
            chat=CHATS[at % 3],
            ts=1_700_000_000 + at,
            edited=1_700_000_100 + number,
        )
        for at in range(9)
    ]


def publish(settings: Settings, number: int) -> None:
    report = build(settings, archive(settings.data.parent / "archive", numbered(number)))
    assert report.generation == f"{number:06d}"


def ask(engine: LiveEngine, q: str = "сервер", **more: object) -> Answer:
    return engine.search(SearchRequest.model_validate({"q": q, **more}))


@contextmanager
def asking(clients: int, ask_once: Callable[[], None]) -> Iterator[list[BaseException]]:
    """Clients that ask until the block ends; what failed is collected."""
    failed: list[BaseException] = []
    ended = threading.Event()

    def client() -> None:
        while not ended.is_set():
            try:
                ask_once()
            except BaseException as error:
                failed.append(error)
                return

    with ThreadPoolExecutor(clients) as pool:
        for _ in range(clients):
            pool.submit(client)
        try:
            yield failed
        finally:
            ended.set()


def until(true: Callable[[], bool]) -> float:
    """Seconds until something holds."""
    began = time.monotonic()
    while not true():
        assert time.monotonic() - began < PATIENCE
    return time.monotonic() - began


@pytest.mark.parametrize("publishes", [4, pytest.param(20, marks=pytest.mark.slow)])
def test_publishing_under_load_fails_no_request_and_mixes_no_two_generations(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, publishes: int
) -> None:
    monkeypatch.setattr("service.live.POLL", 0.02)
    settings = settings_for(tmp_path / "index")
    publish(settings, 1)
    seen: set[int] = set()
    with engine_over(settings) as engine:

        def once() -> None:
            answer = ask(engine, "сервер gen1@site.org", explain=True, context=1)
            number = int(answer.index.generation)
            seen.add(number)
            assert answer.hits
            for hit in answer.hits:
                near = [hit.text, *(one.text for one in [*(hit.before or []), *(hit.after or [])])]
                assert {int(at) for text in near for at in re.findall(r"поколение (\d+):", text)} == {number}
                assert hit.entities == [f"gen{number}@site.org"]
            listed = engine.entities("", "EMAIL", 10)
            assert [entity.name for entity in listed.entities] == [
                f"gen{int(listed.index.generation)}@site.org"
            ]

        with asking(4, once) as failed:
            for number in range(2, publishes + 1):
                publish(settings, number)
            until(lambda: publishes in seen or bool(failed))
        assert failed == []
    assert len(generations.names(settings.data)) == 2


def test_case_46_the_next_generation_answers_soon_and_no_search_fails(tmp_path: Path) -> None:
    settings = settings_for(tmp_path / "index")
    old = archive(tmp_path / "archive", [said("сервер: старое", "m1", edited=1_700_000_000)])
    build(settings, old)
    wrong: list[tuple[str, list[str]]] = []
    with engine_over(settings) as engine:

        def once() -> None:
            answer = ask(engine)
            texts = [hit.text.rsplit(": ", 1)[1] for hit in answer.hits]
            expected = {"000001": ["старое"], "000002": ["новое"]}
            if texts != expected[answer.index.generation]:
                wrong.append((answer.index.generation, texts))

        with asking(20, once) as failed:
            build(
                settings, archive(tmp_path / "archive", [said("сервер: новое", "m1", edited=1_700_000_001)])
            )
            took = until(lambda: engine.ready() == "000002")
        assert (failed, wrong) == ([], [])
        assert took < 5
        assert [hit.text.rsplit(": ", 1)[1] for hit in ask(engine).hits] == ["новое"]


def test_a_generation_that_was_removed_is_served_to_the_end(tmp_path: Path) -> None:
    settings = settings_for(tmp_path / "index")
    publish(settings, 1)
    live = LiveIndex(settings.data)
    live.refresh()
    with live.lease() as generation:
        shutil.rmtree(settings.data / "000001")

        def search(_: int) -> int:
            rows = generation.store.messages(list(range(1, 10)))
            return len(rows) + len(generation.graph.search("", None, 10))

        with ThreadPoolExecutor(20) as pool:
            assert set(pool.map(search, range(200))) == {10}
    live.close()


def test_running_requests_keep_their_generation_until_they_end(tmp_path: Path) -> None:
    settings = settings_for(tmp_path / "index")
    publish(settings, 1)
    live = LiveIndex(settings.data)
    live.refresh()
    with live.lease() as old:
        publish(settings, 2)
        live.refresh()
        with live.lease() as new:
            assert (old.name, new.name) == ("000001", "000002")
        assert "поколение 1" in old.store.messages([1])[1].text
    live.close()


def damage(path: Path) -> None:
    """Turn one bit in the middle of a file."""
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


@pytest.mark.parametrize("name", ["chat_vectors.db", "entity_graph.db", "manifest.json"])
def test_a_damaged_generation_is_refused_and_the_old_one_stays(tmp_path: Path, name: str) -> None:
    settings = settings_for(tmp_path / "index")
    publish(settings, 1)
    live = LiveIndex(settings.data)
    live.refresh()
    publish(settings, 2)
    path = settings.data / "000002" / name
    damage(path) if name.endswith(".db") else path.write_text("{", "utf-8")
    with pytest.raises(IndexCorrupt):
        generations.open_generation(settings.data / "000002")
    live.refresh()
    with live.lease() as generation:
        assert generation.name == "000001"
    assert isinstance(live.fault, IndexCorrupt)
    live.close()


@pytest.mark.parametrize("written", ["000009\n", "nonsense", "", "../000001", "\udce9"])
def test_a_pointer_to_nowhere_is_a_fault_and_the_old_generation_stays(tmp_path: Path, written: str) -> None:
    settings = settings_for(tmp_path / "index")
    publish(settings, 1)
    live = LiveIndex(settings.data)
    live.refresh()
    (settings.data / "CURRENT").write_bytes(written.encode("utf-8", "surrogateescape"))
    live.refresh()
    with live.lease() as generation:
        assert generation.name == "000001"
    assert isinstance(live.fault, IndexCorrupt)
    with pytest.raises(IndexCorrupt):
        generations.open_current(settings.data)
    live.close()


def test_what_was_mended_is_served_at_the_next_look(tmp_path: Path) -> None:
    settings = settings_for(tmp_path / "index")
    publish(settings, 1)
    (settings.data / "CURRENT").write_text("000007\n")
    live = LiveIndex(settings.data)
    live.refresh()
    with pytest.raises(IndexCorrupt), live.lease():
        pass
    generations.use(settings.data, "000001")
    live.refresh()
    with live.lease() as generation:
        assert generation.name == "000001"
    assert live.fault is None
    live.close()


def test_a_fault_told_to_many_requests_does_not_grow(tmp_path: Path) -> None:
    live = LiveIndex(tmp_path)
    live.refresh()
    lengths = []
    for _ in range(3):
        with pytest.raises(IndexMissing) as caught, live.lease():
            pass
        lengths.append(len(caught.traceback))
    assert len(set(lengths)) == 1


def test_a_data_folder_made_anew_is_noticed_though_the_name_is_the_same(tmp_path: Path) -> None:
    settings = published(tmp_path, [said("сервер: первая жизнь", "m1")])
    live = LiveIndex(settings.data)
    live.refresh()
    with live.lease() as first:
        shutil.rmtree(settings.data)
        build(settings, archive(tmp_path / "archive", [said("сервер: вторая жизнь", "m1")]))
        live.refresh()
        assert "первая" in first.store.messages([1])[1].text
    with live.lease() as second:
        assert second.name == "000001"
        assert "вторая" in second.store.messages([1])[1].text
    live.close()


def test_a_generation_that_could_not_be_warmed_is_closed_and_the_old_one_stays(tmp_path: Path) -> None:
    settings = settings_for(tmp_path / "index")
    publish(settings, 1)
    met: list[Generation] = []

    def opened(generation: Generation) -> None:
        met.append(generation)
        if generation.name == "000002":
            raise RuntimeError("no model")

    live = LiveIndex(settings.data, opened)
    live.refresh()
    publish(settings, 2)
    with pytest.raises(RuntimeError):
        live.refresh()
    with live.lease() as generation:
        assert generation.name == "000001"
    live.close()
    assert [one.name for one in met] == ["000001", "000002"]


def test_a_roll_back_is_served(tmp_path: Path) -> None:
    settings = settings_for(tmp_path / "index")
    publish(settings, 1)
    publish(settings, 2)
    live = LiveIndex(settings.data)
    live.refresh()
    generations.use(settings.data, "000001")
    live.refresh()
    with live.lease() as generation:
        assert generation.name == "000001"
    live.close()


@pytest.mark.parametrize("name", ["chat_vectors.db", "entity_graph.db"])
def test_a_newer_schema_is_refused_with_both_numbers(tmp_path: Path, name: str) -> None:
    settings = settings_for(tmp_path / "index")
    publish(settings, 1)
    folder = settings.data / "000001"
    with apsw.Connection(str(folder / name)) as db:
        mine = int(db.execute("PRAGMA user_version").get)
        db.execute("PRAGMA user_version=977")
    db.close()
    with pytest.raises(LetopisError) as caught:
        generations.open_generation(folder, verify=False)
    assert f"schema version 977, newer than this program's {mine}" in caught.value.message
    assert caught.value.hint == "update letopis"


def test_no_side_files_stand_beside_a_published_database(tmp_path: Path) -> None:
    settings = settings_for(tmp_path / "index")
    publish(settings, 1)
    with engine_over(settings) as engine:
        ask(engine)
        assert sorted(path.name for path in (settings.data / "000001").iterdir()) == [
            "chat_vectors.db",
            "entity_graph.db",
            "manifest.json",
        ]
