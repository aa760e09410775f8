"""Providers that fail, refuse, ask to wait or cost too much, in a whole build over real sockets."""

from __future__ import annotations

import json
import logging
import time
from pathlib import Path

import pytest

from indexer.spending import Budget
from indexer.stores.database import rows
from indexer.stores.ledger import Ledger
from schemas.settings import Chunking
from tests.fakes import gemini as answers
from tests.fakes.archive import GEMINI, KEY, Home, said
from tests.fakes.gemini import FakeGemini
from tests.fakes.ollama import FakeOllama
from tests.fakes.server import (
    Fault,
    cut_json,
    drop,
    empty_object,
    html,
    not_a_number,
    one_fewer,
    other_dims,
    server_error,
    unavailable,
    zeros,
)

HASH = "hash/hash/64/1"
BGE = "ollama/bge-m3/1024/1"
NOMIC = "ollama/nomic-embed-text-v2-moe/768/1"

CASE_29 = Path(__file__).parents[1] / "cases" / "29_dims_change_on_fallback" / "scenario.json"

NONSENSE: dict[str, Fault] = {
    "one vector fewer": one_fewer,
    "other dims": other_dims,
    "NaN": not_a_number,
    "zeros": zeros,
    "an empty object": empty_object,
    "JSON cut short": cut_json,
    "HTML": html,
    "a server error": server_error,
    "a dropped connection": drop,
}

REFUSALS: dict[str, Fault] = {
    "400, the key": answers.bad_key(KEY),
    "400, the location": answers.wrong_location(),
    "401": answers.unauthorized(),
    "403": answers.forbidden(),
    "404": answers.no_model(),
    "400 for every text": answers.bad_request(),
}


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


@pytest.fixture
def talk(home: Home) -> Home:
    """Sixty chunks: three batches."""
    home.write("talk.jsonl", said("дом", 60))
    return home


# --- quotas -------------------------------------------------------------------------------------------


def test_a_quota_of_seven_seconds_is_waited_out_with_the_same_model(talk: Home) -> None:
    with FakeGemini() as gemini, FakeOllama() as ollama:
        gemini.faults.extend([None, answers.quota(7)])
        report = talk.using(gemini, ollama).build()
        assert gemini.entries() == [20] * 4
        assert ollama.calls == []
    assert 7.0 <= sum(talk.slept) < 10.0
    assert (report.exit, report.faults) == (0, [])
    assert talk.published() == {GEMINI: 60, HASH: 60}


def test_a_spent_quota_ends_cleanly_without_another_model_and_the_next_run_goes_on(talk: Home) -> None:
    with FakeGemini() as gemini, FakeOllama() as ollama:
        gemini.faults.extend([None, answers.daily_quota()])
        report = talk.using(gemini, ollama).build()
        assert (report.exit, report.generation) == (3, "000001")
        assert "quota of the day" in report.faults[0]
        assert ollama.calls == []
        assert talk.published() == {GEMINI: 20, HASH: 60}
        assert report.spaces[GEMINI]["left"] == 40
        summary = json.loads((talk.data / "last_run.json").read_text("utf-8"))
        assert (summary["exit"], summary["left"], summary["spent"][GEMINI]) == (3, 40, 20)

        gemini.calls.clear()
        report = talk.build()
        assert gemini.entries() == [20, 20]
    assert (report.exit, talk.published()[GEMINI]) == (0, 60)


def test_newest_chats_are_embedded_first(home: Home) -> None:
    home.write("a.jsonl", said("старый", 20))
    home.write("b.jsonl", said("новый", 20, first=500))
    with FakeGemini() as gemini:
        gemini.faults.extend([None, answers.daily_quota()])
        home.using(gemini).build()
        assert all("В чате новый" in text for text in gemini.calls[0].texts)


def test_a_budget_of_requests_stops_cleanly_and_the_next_run_goes_on(talk: Home) -> None:
    with FakeGemini() as gemini, FakeOllama() as ollama:
        report = talk.using(gemini, ollama).build(budget=Budget(requests=40))
        assert (report.exit, gemini.entries(), ollama.calls) == (3, [20, 20], [])
        assert talk.published() == {GEMINI: 40, HASH: 60}
        report = talk.build(budget=Budget(requests=40))
        assert (report.exit, gemini.entries()) == (0, [20, 20, 20])
    assert talk.published() == {GEMINI: 60, HASH: 60}


def test_a_tenth_of_the_daily_quota_is_kept_for_queries(talk: Home) -> None:
    with FakeGemini() as gemini:
        talk.using(gemini)
        talk.embedding["gemini"]["daily_requests"] = 50
        assert talk.build().exit == 3
        assert talk.build().exit == 3
        assert gemini.entries() == [20, 20]


def test_a_budget_of_time_stops_cleanly_and_the_next_run_goes_on(talk: Home) -> None:
    with FakeGemini() as gemini:
        report = talk.using(gemini).build(budget=Budget(deadline=time.monotonic() - 1))
        assert (report.exit, report.generation, gemini.calls) == (3, "000001", [])
        assert talk.search("договор номер 0014").hits[0].messages[0].id == "дом-14"
        report = talk.build(budget=Budget(deadline=time.monotonic() + 3600))
    assert (report.exit, talk.published()) == (0, {GEMINI: 60, HASH: 60})


def test_a_quota_is_not_waited_for_past_the_end_of_the_run(talk: Home) -> None:
    with FakeGemini() as gemini:
        gemini.faults.extend([None, answers.quota(300)])
        report = talk.using(gemini).build(budget=Budget(deadline=time.monotonic() + 120))
        assert gemini.entries() == [20, 20]
    assert (report.exit, talk.slept, talk.published()) == (3, [], {GEMINI: 20, HASH: 60})


def test_a_budget_of_time_is_no_fault_where_nothing_is_left(talk: Home) -> None:
    talk.build()
    assert talk.build(budget=Budget(deadline=time.monotonic() - 1)).exit == 0


# --- outages ------------------------------------------------------------------------------------------


def test_an_outage_in_the_middle_falls_back_for_the_rest_and_the_next_run_heals(talk: Home) -> None:
    with FakeGemini() as gemini, FakeOllama() as ollama:
        gemini.faults.extend([None, *[server_error] * 3])
        report = talk.using(gemini, ollama).build()
        assert report.exit == 3
        assert "gemini" in report.off
        assert talk.published() == {GEMINI: 20, BGE: 40, HASH: 60}
        first = {text.removeprefix("title: none | text: ") for text in gemini.calls[0].texts}
        assert first.isdisjoint(ollama.texts)

        gemini.broken = unavailable
        answer = talk.search("договор номер 0014")
        assert answer.hits[0].messages[0].id == "дом-14"
        assert [reason for reason in answer.degraded if "gemini unavailable" in reason]

        gemini.broken = None
        gemini.calls.clear()
        ollama.calls.clear()
        report = talk.build()
        assert gemini.entries() == [20, 20]
        assert ollama.calls == []
        assert first.isdisjoint(text.removeprefix("title: none | text: ") for text in gemini.texts)
        assert (report.exit, talk.published()) == (0, {GEMINI: 60, BGE: 40, HASH: 60})
        assert talk.search("договор номер 0014").degraded == []


def test_a_hiccup_is_tried_again_with_the_same_provider(talk: Home) -> None:
    with FakeGemini() as gemini, FakeOllama() as ollama:
        gemini.faults.extend([None, drop, server_error])
        report = talk.using(gemini, ollama).build()
        assert ollama.calls == []
    assert (report.exit, talk.published()) == (0, {GEMINI: 60, HASH: 60})


def test_a_provider_without_its_key_in_this_run_is_missed_and_not_embedded_over(talk: Home) -> None:
    with FakeGemini() as gemini, FakeOllama() as ollama:
        talk.using(gemini, ollama).build()
        talk.write("talk.jsonl", said("дом", 63))
        key = talk.environment.pop("GEMINI_API_KEY")
        report = talk.build()
        assert report.exit == 3
        assert "GEMINI_API_KEY" in report.faults[0]
        assert "take gemini out of embedding.order" in report.faults[0]
        assert talk.published() == {GEMINI: 60, BGE: 3, HASH: 63}
        answer = talk.search("договор номер 0014")
        assert any("gemini unavailable" in reason for reason in answer.degraded)

        talk.environment["GEMINI_API_KEY"] = key
        assert talk.build().exit == 0
    assert talk.published()[GEMINI] == 63


def test_an_ollama_that_rejects_even_its_first_text_costs_the_build_nothing_else(talk: Home) -> None:
    with FakeOllama() as ollama:
        ollama.broken = lambda vectors, answer: ollama.rejection("")
        report = talk.using(ollama=ollama).build()
    assert (report.exit, talk.published()) == (3, {HASH: 60})
    assert "ollama" in report.off


def test_without_any_provider_words_and_names_are_published(talk: Home) -> None:
    with FakeGemini() as gemini:
        gemini.broken = server_error
        talk.using(gemini, floor=False)
        talk.embedding["order"] = ["gemini"]
        report = talk.build()
        assert (report.exit, report.generation) == (3, "000001")
        answer = talk.search("договор номер 0014")
    assert answer.hits[0].messages[0].id == "дом-14"
    assert answer.degraded


def test_case_29_two_models_of_equal_dims_are_never_mixed(home: Home) -> None:
    assert set(json.loads(CASE_29.read_text("utf-8"))) == {"run1", "run2", "query"}
    with FakeGemini() as gemini, FakeOllama("nomic-embed-text-v2-moe", dims=768) as ollama:
        home.using(gemini, ollama)
        home.write("one.jsonl", said("первый", 10))
        home.build()
        gemini.broken = unavailable
        home.write("two.jsonl", said("второй", 10))
        assert home.build().exit == 3
        assert home.published() == {GEMINI: 10, NOMIC: 10, HASH: 20}

        with Ledger(home.data) as ledger:
            spaces = {held.id: held.space.name for held in ledger.vectors.spaces()}
            held = {
                (name, chat)
                for id_, name in spaces.items()
                for chat in ("первый", "второй")
                for _, digest in ledger.chunks.of(chat)
                if ledger.vectors.find(id_, digest) is not None
            }
        assert held == {(GEMINI, "первый"), (NOMIC, "второй"), (HASH, "первый"), (HASH, "второй")}

        gemini.broken = None
        with home.engine() as engine:
            status = engine.status()
            assert {space["name"]: space["coverage"] for space in status["spaces"]} == {
                GEMINI: 0.5,
                NOMIC: 0.5,
                HASH: 1.0,
            }
            assert status["last_run"]["exit"] == 3
        answer = home.search("починили сервер номер 0000", explain=True, limit=20)
        assert answer.degraded == []
        counted = {
            (hit.explain["vector"]["space"], hit.messages[0].id.partition("-")[0])
            for hit in answer.hits
            if hit.explain and hit.explain.get("vector")
        }
        assert counted == {(GEMINI, "первый"), (NOMIC, "второй")}


def test_another_model_takes_the_place_of_the_old_one_and_what_was_paid_stays(talk: Home) -> None:
    with FakeGemini() as gemini:
        talk.using(gemini).build()
        talk.embedding["gemini"]["dimensions"] = 256
        report = talk.build()
        assert (report.exit, talk.published()) == (0, {GEMINI.replace("768", "256"): 60, HASH: 60})
        assert talk.search("договор номер 0014").degraded == []
        gemini.calls.clear()
        talk.using(gemini).build()
        assert (gemini.calls, talk.published()) == ([], {GEMINI: 60, HASH: 60})


def test_a_provider_that_left_the_order_leaves_the_index_and_what_was_paid_stays(talk: Home) -> None:
    with FakeGemini() as gemini:
        talk.using(gemini).build()
        talk.embedding["order"] = ["hash"]
        del talk.environment["GEMINI_API_KEY"]
        report = talk.build()
        assert (report.exit, talk.published()) == (0, {HASH: 60})
        assert talk.search("договор номер 0014").degraded == []
        gemini.calls.clear()
        talk.using(gemini).build()
        assert (gemini.calls, talk.published()) == ([], {GEMINI: 60, HASH: 60})


# --- answers that are none ----------------------------------------------------------------------------


@pytest.mark.parametrize("nonsense", NONSENSE.values(), ids=NONSENSE)
def test_of_a_batch_with_a_wrong_answer_nothing_is_stored(talk: Home, nonsense: Fault) -> None:
    with FakeGemini() as gemini:
        gemini.faults.extend([None, *[nonsense] * 3])
        report = talk.using(gemini).build()
        assert gemini.entries() == [20] * 4
        assert (report.exit, report.spaces[GEMINI]["left"]) == (3, 40)
        assert talk.published() == talk.kept() == {GEMINI: 20, HASH: 60}
        assert talk.build().exit == 0
        assert talk.published() == {GEMINI: 60, HASH: 60}


# --- refusals -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("refusal", REFUSALS.values(), ids=REFUSALS)
def test_a_refusal_switches_one_provider_off_and_the_rest_is_published(
    talk: Home, refusal: Fault, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with FakeGemini() as gemini:
        gemini.broken = refusal
        report = talk.using(gemini).build()
        assert (report.exit, report.generation) == (3, "000001")
        assert talk.published() == {HASH: 60}
        assert report.off["gemini"] in report.faults[0]
        assert "Next: " in report.off["gemini"]
        answer = talk.search("договор номер 0014")
    assert answer.hits[0].messages[0].id == "дом-14"
    assert KEY not in json.dumps(report.as_json()) + caplog.text + repr(report)
    assert [place for place, data in talk.left_behind().items() if KEY.encode() in data] == []


def test_a_text_that_is_refused_is_found_named_and_never_sent_again(talk: Home) -> None:
    with FakeGemini() as gemini:
        gemini.poison.add("номер 0033")
        report = talk.using(gemini).build()
        assert report.exit == 0
        assert talk.published() == {GEMINI: 59, HASH: 60}
        assert [note for note in report.notes if "one text" in note and "400" in note]
        assert report.spaces[GEMINI]["left"] == 0
        with Ledger(talk.data) as ledger:
            quarantined = rows(ledger._db, "SELECT reason FROM quarantine")
        assert len(quarantined) == 1
        assert "rejected" in quarantined[0][0]

        gemini.calls.clear()
        talk.write("talk.jsonl", said("дом", 61))
        talk.build()
        assert gemini.entries() == [1]
        assert not any("номер 0033" in text for text in gemini.texts)


# --- what may leave the machine -----------------------------------------------------------------------


def test_a_key_alone_sends_nothing_and_the_note_names_the_line_that_allows_it(talk: Home) -> None:
    with FakeGemini() as gemini:
        report = talk.using(gemini, cloud=False).build()
        assert gemini.calls == []
    assert (report.exit, talk.published()) == (0, {HASH: 60})
    assert [note for note in report.notes if "cloud = true" in note and "[embedding]" in note]


@pytest.mark.parametrize("kept", ["личное", "Личное дело", "личное ДЕЛО"])
def test_a_private_chat_never_reaches_a_provider(home: Home, kept: str) -> None:
    home.write("a.jsonl", said("личное", 30, title="Личное дело"))
    home.write("b.jsonl", said("работа", 30))
    with FakeGemini() as gemini, FakeOllama() as ollama:
        report = home.using(gemini, ollama, local_only=[kept]).build()
        assert len(gemini.texts) == 30
        assert not any("личное" in text for text in (*gemini.texts, *ollama.texts))
    assert (report.exit, home.published()) == (0, {GEMINI: 30, HASH: 60})


def test_a_private_source_never_reaches_a_provider(home: Home) -> None:
    home.write("MEMORY.md", "# Личное\n\nКод от подъезда знает только Анна.\n")
    home.write("b.jsonl", said("работа", 3))
    with FakeGemini() as gemini:
        home.using(gemini, local_only=["markdown"]).build()
        assert len(gemini.texts) == 3
        assert not any("подъезда" in text for text in gemini.texts)


def _long(chat: str) -> list[dict[str, object]]:
    return [
        {**line, "content": f"{line['content']}. " + f"Подробности дела {chat} идут дальше. " * 4}
        for line in said(chat, 60)
    ]


def test_weighing_a_space_sends_no_text(home: Home) -> None:
    home.chunking = Chunking()
    home.write("b.jsonl", _long("работа"))
    with FakeGemini() as gemini:
        chunks = home.using(gemini).build().chunks["total"]
        assert len(gemini.texts) == chunks > 12
    assert {space["name"]: space["measured"] for space in home.manifest.spaces}[GEMINI]
