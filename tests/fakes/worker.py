"""A local worker that aborts on the word "poison", hangs up on "once" the first time, and needs no model.

Its first argument is a folder for the mark of the first death.
"""

from __future__ import annotations

import os
import sys
import zlib
from pathlib import Path

import numpy as np

from indexer.embedders.local_worker import HELLO, LENGTH, REQUEST

DIMS = 384


def main(folder: Path) -> None:
    requests, answers = sys.stdin.buffer, sys.stdout.buffer
    answers.write(HELLO.pack(DIMS, 0))
    answers.flush()
    while head := requests.read(REQUEST.size):
        _, count = REQUEST.unpack(head)
        texts = [requests.read(LENGTH.unpack(requests.read(LENGTH.size))[0]).decode() for _ in range(count)]
        mark = folder / "died"
        if any("once" in text for text in texts) and not mark.exists():
            mark.touch()
            os.abort()
        if any("poison" in text for text in texts):
            os.abort()
        for text in texts:
            row = np.random.default_rng(zlib.crc32(text.encode())).normal(size=DIMS)
            answers.write((row / np.linalg.norm(row)).astype("<f4").tobytes())
        answers.flush()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
