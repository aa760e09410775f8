"""Case 48: a 1.2 MB paste met spaCy's E088; it must end in bounded time and memory and be reported."""

import json
import resource
import time
from pathlib import Path

import pytest

from indexer.entities import CAP, Extractor
from indexer.pipeline import Build, Options
from schemas.http import SearchRequest
from schemas.settings import load
from service.engine import LiveEngine

TEXT = "Иван Петров приехал в Москву. " * 45_000


def test_a_paste_of_45000_sentences_is_capped_and_counted() -> None:
    extractor = Extractor("slovnet")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.process_time()
    (mentions,) = extractor.extract([TEXT])
    assert time.process_time() - began < 60
    assert extractor.capped == 1
    assert {mention.key for mention in mentions} == {"иван петров", "москва"}
    assert sum(mention.end <= CAP for mention in mentions) >= 2 * (CAP // 30 - 2)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak
    assert grown < 1024 * 1024  # kilobytes on Linux; the bare process has some 300 MB


def test_memory_stays_flat_over_texts_of_ever_new_words() -> None:
    extractor = Extractor("slovnet")
    strings = extractor._names._nlp.vocab.strings  # type: ignore[attr-defined]
    extractor.extract(["Слово Москва"])
    before = len(strings)
    for turn in range(20):
        extractor.extract([" ".join(f"слово{turn}х{n}" for n in range(200))])
    assert len(strings) - before < 50


@pytest.mark.slow
def test_a_paste_of_45000_sentences_is_built_reported_and_found(tmp_path: Path) -> None:
    line = {"role": "user", "content": "Иван Петров приехал в Москву. " * 45_000, "ts": 1}
    (tmp_path / "big.jsonl").write_text(json.dumps(line, ensure_ascii=False), "utf-8")
    flags = {"data": tmp_path / "index", "embedding": {"order": ["hash"], "floor": False}}
    settings, _ = load(flags=flags)
    report = Build(settings, Options(paths=[tmp_path / "big.jsonl"]), environment={}).run()
    assert report.entities["capped"] == 1
    assert any("patterns alone" in note for note in report.notes)
    with LiveEngine(settings, {}) as engine:
        for query in ("Иваном Петровым", "приезд в Москву"):
            request = SearchRequest(q=query, mode="text", unit="message")
            assert len(engine.search(request).hits) == 1
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < 2_000_000  # kilobytes
