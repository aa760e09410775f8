"""One worker process of the extractor: batches of texts in on stdin, their mentions out on stdout.

Run as a module; it ends when its stdin closes, so a killed build leaves no orphan. One JSON document a line:
    hello     {"version": …, "note": …}
    request   [text, …]
    response  {"capped": messages too long so far, "mentions": [[[start, end, type, name, key], …], …]}
"""

from __future__ import annotations

import json
import os
import signal
import sys
from dataclasses import astuple
from typing import cast


def main() -> None:
    """Load the model of the backend named by the first argument, then answer until stdin closes."""
    # Ctrl-C belongs to the parent, which stops at a batch.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Only answers may reach the pipe, whatever a library prints.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)

    from indexer.entities import Extractor
    from indexer.entities.models import Backend

    extractor = Extractor(cast(Backend, sys.argv[1]))

    def answer(value: object) -> None:
        answers.write(json.dumps(value, ensure_ascii=False) + "\n")
        answers.flush()

    answer({"version": extractor.version, "note": extractor.note})
    for line in sys.stdin.buffer:
        found = extractor.extract(json.loads(line), maybe=True)
        answer({"capped": extractor.capped, "mentions": [[astuple(one) for one in each] for each in found]})


if __name__ == "__main__":
    main()
