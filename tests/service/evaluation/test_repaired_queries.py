"""What is measured embeds a query as the service does: as it is read, not as it was typed."""

from __future__ import annotations

from pathlib import Path

from indexer.report import Silent
from service.evaluation.judged import JudgedQuery, JudgedSet
from service.evaluation.measuring import Measuring, Plan
from service.evaluation.systems import Choice
from tests.fakes.index import published, said


def test_a_query_in_the_other_layout_has_the_vectors_of_what_was_meant(tmp_path: Path) -> None:
    texts = ("кот не ест корм", "дождь шёл весь день", "билеты на поезд куплены", "сервер упал ночью")
    lines = [
        said(text, f"m{at}", chat="talk", session=str(at), ts=f"2025-03-0{1 + at}T10:00:00Z")
        for at, text in enumerate(texts)
    ]
    settings = published(tmp_path, lines)
    plan = Plan(units=("chunk",), choice=Choice(baselines=False))

    def found(text: str) -> float:
        judged = JudgedSet("talks", [JudgedQuery(text, ("m3",), "talk")])
        report = Measuring(settings, {}, None, plan, Silent()).run([judged])
        return report["talks"]["chunk"]["vector"]["mrr"].figure.value

    assert found("cthdth egfk yjxm.") == found("server upal nochyu") == found("сервер упал ночью") == 1.0
