"""The figures as Markdown for a person: systems, their distance from the product, kinds, abstention."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from service.evaluation.bootstrap import Figure
from service.evaluation.figures import ABSTENTION, Measured, System
from service.evaluation.systems import REFERENCE, WITHOUT

Report = Mapping[str, Mapping[str, Mapping[str, System]]]

# The rest stands in the JSON.
SHOWN = (
    "recall@5",
    "recall@10",
    "any@10",
    "ndcg@10",
    "mrr",
    "evidence@3000",
    "passage@3000",
    "session_recall@5",
)


def table(report: Report) -> str:
    """Markdown of {set: {unit: {system: {metric: …}}}}."""
    return "\n".join(line for name, units in report.items() for line in _set(name, units))


def _set(name: str, units: Mapping[str, Mapping[str, System]]) -> Iterator[str]:
    for unit, systems in units.items():
        shown = [metric for metric in SHOWN if metric in systems[REFERENCE]]
        if shown:
            count = systems[REFERENCE][shown[0]].figure.n
            yield from (f"## {name}, unit={unit}, {count:,} queries", "")
            yield from _grid("system", shown, _whole(systems), _cell)
            others = {name: system for name, system in systems.items() if name != REFERENCE}
            yield from (f"Difference from {REFERENCE} (bold: the interval leaves out 0):", "")
            yield from _grid("system", shown, others, _difference)
            yield from _kinds(systems[REFERENCE], shown)
        if "answerable_auroc" in systems[REFERENCE]:
            yield from ("Telling what the archive does not answer:", "")
            yield from _grid("system", ABSTENTION, _whole(systems), _cell)
            yield from _kinds(systems[REFERENCE], ABSTENTION)


def _whole(systems: Mapping[str, System]) -> dict[str, System]:
    """Without the ablations, of which the differences say all."""
    return {name: system for name, system in systems.items() if not name.startswith(WITHOUT)}


def _kinds(system: System, metrics: Sequence[str]) -> Iterator[str]:
    kinds = dict.fromkeys(kind for metric in metrics if metric in system for kind in system[metric].kinds)
    rows = {
        f"{kind} ({_count(system, metrics, kind)})": {
            metric: system[metric].kinds[kind]
            for metric in metrics
            if metric in system and kind in system[metric].kinds
        }
        for kind in kinds
    }
    if rows:
        yield from _grid(f"{REFERENCE} by kind", metrics, rows, _cell)


def _count(system: System, metrics: Sequence[str], kind: str) -> int:
    found = [system[metric].kinds[kind].figure.n for metric in metrics if kind in system[metric].kinds]
    return min(found)


def _grid(
    corner: str,
    metrics: Sequence[str],
    rows: Mapping[str, Mapping[str, Measured]],
    cell: Callable[[Measured], str],
) -> Iterator[str]:
    yield _line([corner, *metrics])
    yield _line(["---"] * (len(metrics) + 1))
    for name, row in rows.items():
        yield _line([name, *(cell(row[metric]) if metric in row else "" for metric in metrics)])
    yield ""


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(measured: Measured) -> str:
    figure = measured.figure
    return f"{_short(figure.value)} ({_short(figure.low)}…{_short(figure.high)})"


def _difference(measured: Measured) -> str:
    figure = measured.difference
    return "" if figure is None else _signed(figure)


def _signed(figure: Figure) -> str:
    written = f"{figure.value:+.3f} ({figure.low:+.3f}…{figure.high:+.3f})".replace("-", "−")
    return f"**{written}**" if figure.certain else written


def _short(value: float) -> str:
    return f"{value:.3f}".replace("-", "−")
