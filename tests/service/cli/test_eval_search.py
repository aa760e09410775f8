from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from .conftest import Run


def written(path: Path, *lines: dict[str, Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), "utf-8")
    return path


@pytest.fixture
def queries(work: Path, run: Run) -> Path:
    assert run("build").code == 0
    return written(
        work / "judged.jsonl",
        {"text": "сухой корм для кота", "relevant": ["m1", "m7"], "chat": "family", "kind": "word"},
        {"text": "Петров", "relevant": ["m3"], "chat": "family", "kind": "name"},
        {"text": "курс биткоина", "chat": "family", "kind": "none"},
    )


def test_figures_come_as_json_by_set_unit_system_and_metric(queries: Path, run: Run) -> None:
    told = run("eval", "search", str(queries), "--json")
    assert told.code == 0
    assert set(told.json) == {"judged"}
    assert set(told.json["judged"]) == {"chunk", "message"}
    systems = told.json["judged"]["chunk"]
    assert {"hybrid", "vector", "text", "entities", "bm25 raw", "rrf60", "openclaw"} <= set(systems)
    recall = systems["hybrid"]["recall@10"]
    assert {"value", "low", "high", "n"} <= set(recall)
    assert recall["n"] == 2
    assert 0 <= recall["low"] <= recall["value"] <= recall["high"] <= 1
    assert "difference" in systems["rrf60"]["recall@10"]


def test_one_unit_without_plain_rules_and_some_kinds(queries: Path, run: Run) -> None:
    flags = ("--unit", "message", "--no-baselines", "--kinds", "name,none", "--json")
    told = run("eval", "search", str(queries), *flags)
    assert set(told.json["judged"]) == {"message"}
    assert set(told.json["judged"]["message"]) == {"hybrid", "vector", "text", "entities"}
    assert told.json["judged"]["message"]["hybrid"]["recall@10"]["n"] == 1


def test_a_person_reads_tables_on_stdout_and_in_a_file(queries: Path, run: Run, work: Path) -> None:
    out = work / "tables.md"
    told = run("eval", "search", str(queries), "--unit", "chunk", "--ablate", "--markdown", str(out))
    assert "## judged, unit=chunk, 2 queries" in told.out
    assert "without neighbours" in told.out
    assert out.read_text("utf-8").strip() == told.out.strip()


def test_pooled_searches_every_chat(queries: Path, run: Run) -> None:
    assert run("eval", "search", str(queries), "--pooled", "--unit", "chunk", "--json").code == 0


def test_vectors_of_queries_stay_in_the_kept_folder(queries: Path, run: Run, work: Path) -> None:
    assert run("eval", "search", str(queries), "--keep", "kept", "--unit", "chunk", "--json").code == 0
    assert len(list((work / "kept").glob("queries-*.npz"))) == 1


def test_a_relevant_message_that_is_not_there_is_said(queries: Path, run: Run) -> None:
    with queries.open("a", encoding="utf-8") as file:
        file.write('{"text": "кот", "relevant": ["m999"], "chat": "family"}\n')
    told = run("eval", "search", str(queries), "--unit", "chunk", "--json")
    assert told.code == 0
    assert "1 of 4 relevant messages are not in this index" in told.err


def test_ids_of_another_index_are_an_error_with_a_remedy(work: Path, run: Run) -> None:
    assert run("build").code == 0
    path = written(work / "other.jsonl", {"text": "кот", "relevant": ["x"], "chat": "family"})
    told = run("eval", "search", str(path))
    assert told.code == 2
    assert "None of the 1 relevant messages" in told.err


def test_without_an_index_it_says_what_to_do(work: Path, run: Run) -> None:
    path = written(work / "judged.jsonl", {"text": "кот", "relevant": ["m1"]})
    told = run("eval", "search", str(path))
    assert told.code == 1
    assert "letopis build" in told.err


def test_a_published_set_has_an_index_of_its_own(work: Path, run: Run) -> None:
    told = run("eval", "search", str(work), "--set", "xquad", "--data", str(work))
    assert told.code == 2
    assert "--set makes an index of its own" in told.err


def test_sets_are_joined_by_name(work: Path, run: Run) -> None:
    path = written(work / "judged.jsonl", {"text": "кот", "relevant": ["m1"]})
    told = run("eval", "search", str(path), "--together")
    assert told.code == 2
    assert "--together joins published sets" in told.err


@pytest.mark.slow
def test_a_set_is_asked_of_all_sets_together_beside_its_own_index(tmp_path: Path, run: Run) -> None:
    for number, text in enumerate(("Кота зовут Барсик", "Пёс Шарик живёт в Твери")):
        written(
            tmp_path / "ru_chat" / f"dialog{number}.jsonl",
            {
                "chat": f"dialog{number}",
                "id": f"m{number}",
                "role": "user",
                "ts": "2025-03-01T10:00:00Z",
                "text": text,
            },
        )
    written(
        tmp_path / "ru_chat" / "queries.jsonl",
        {"text": "как зовут кота", "rel": ["m0"], "chat": "dialog0", "kind": "name"},
        {"text": "где живёт собака", "rel": ["m1"], "chat": "dialog1", "kind": "fact"},
    )
    for language in ("ru", "en"):
        written(
            tmp_path / f"xquad_{language}.jsonl",
            {"type": "doc", "id": "p1", "title": "Oslo", "text": f"Oslo ({language})"},
            {"type": "query", "id": "q", "text": "capital?", "rel": ["p1"]},
        )
    flags = ("--set", "ru_chat", "--together", "--unit", "chunk", "--no-baselines", "--json")
    told = run("eval", "search", str(tmp_path), *flags)
    assert "in one index: xquad_ru, xquad_en, ru_chat" in told.err
    assert set(told.json) == {"ru_chat/together", "ru_chat/together/per-conversation"}
    systems = told.json["ru_chat/together"]["chunk"]
    assert systems["hybrid"]["recall@10"]["value"] == 1.0
    assert systems["alone"]["recall@10"]["difference"]["value"] == 0.0


@pytest.mark.slow
def test_a_published_set_is_indexed_and_measured(tmp_path: Path, work: Path, run: Run) -> None:
    folder = tmp_path / "ru_chat"
    for number, text in enumerate(("Кота зовут Барсик", "Пёс Шарик живёт в Твери")):
        written(
            folder / f"dialog{number}.jsonl",
            {"chat": f"dialog{number}", "id": f"m{number}", "role": "user", "text": text},
        )
    written(
        folder / "queries.jsonl",
        {"text": "как зовут кота", "rel": ["m0"], "chat": "dialog0", "kind": "name"},
        {"text": "где живёт собака", "rel": ["m1"], "chat": "dialog1", "kind": "fact"},
    )
    flags = ("--set", "ru_chat", "--keep", "kept", "--unit", "chunk", "--json")
    first = run("eval", "search", str(tmp_path), *flags)
    assert first.json["ru_chat"]["chunk"]["hybrid"]["recall@10"]["value"] == 1.0
    assert (work / "kept" / "ru_chat" / "index" / "CURRENT").exists()
    assert run("eval", "search", str(tmp_path), *flags).json == first.json
