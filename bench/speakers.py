"""Who said it: does "что ты советовал" find the assistant's answer, "what did I say" the user's own words?

    python -m bench.speakers [--keep FOLDER] [--weights .05,.15,.3] [--unit UNIT] [--misses]

speakers.jsonl holds made-up talks: a question and the assistant's answer, and in another session what the
user told of the same subject, with a remark on it. Prints any@1 and MRR by who is asked for, and paired 95 %
intervals of the differences from a ranking without the speaker part (weight 0).
"""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bench.newest import Line, compare
from service.evaluation.judged import JudgedQuery, JudgedSet
from service.evaluation.sets import Corpus

TALKS = Path(__file__).with_name("speakers.jsonl")
KINDS = ("assistant", "user")
TOLD = {"answer": "assistant", "reply": "assistant"}


def corpus() -> Corpus:
    """The archive and the judged queries."""
    files: dict[str, list[Line]] = {}
    queries: list[JudgedQuery] = []
    start = datetime(2024, 2, 1, 18, tzinfo=UTC)
    for number, line in enumerate(TALKS.read_text("utf-8").splitlines()):
        talk = json.loads(line)
        for at, part in enumerate(("ask", "answer", "told", "reply")):
            day = start + timedelta(days=number + 40 * (at // 2), minutes=at)
            files.setdefault(f"{talk['chat']}.jsonl", []).append(
                {
                    "chat": talk["chat"],
                    "session": f"{number}-{at // 2}",
                    "id": f"t{number}{part}",
                    "role": TOLD.get(part, "user"),
                    "ts": day.isoformat(),
                    "text": talk[part],
                }
            )
        gold = {"assistant": f"t{number}answer", "user": f"t{number}told"}
        queries += [
            JudgedQuery(text, (gold[kind],), talk["chat"], kind) for kind in KINDS for text in talk[kind]
        ]
    for lines in files.values():
        lines.sort(key=lambda line: str(line["ts"]))
    return Corpus("speakers", "UTC", files, (JudgedSet("speakers", queries, pooled=True),))


if __name__ == "__main__":
    compare(__doc__, corpus(), "speaker", KINDS, "0.05,0.15,0.3")
