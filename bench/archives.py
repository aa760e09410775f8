"""Measures the readers: `python -m bench.archives --format claude_code --mb 200 [--repeats N] [--profile]`.

Writes a made-up archive of that size (Russian talk, seeded) into a temporary folder, reads it, and decodes
the same file by the plain library call in the same run. Prints both speeds (best of the repeats), their
ratio and the peak memory of the process after reading. A new format is one entry of FORMATS.
"""

from __future__ import annotations

import argparse
import cProfile
import json
import pstats
import random
import resource
import sys
import tempfile
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from bench import chat_exports, telegram_export
from indexer.archives import READERS, ArchiveFile, ReadOptions, reader_of

MB = 1_000_000
SYLLABLES = [first + last for first in "бвгдзклмнпрстхцчш" for last in "аеиоуыя"]
BEGAN = datetime(2025, 11, 30, 9, tzinfo=UTC)


@dataclass(frozen=True)
class Format:
    """How an archive of a format is made up, and what the plain library call is that it is compared with."""

    name: str
    write: Callable[[Path, int], None]
    plain: Callable[[Path], None]


class Texts:
    """Pools of made-up texts, so that the writing of 200 MB takes seconds."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._words = [
            "".join(chance.choices(SYLLABLES, k=chance.randint(1, 4))) + chance.choice(["", "н", "т", "й"])
            for _ in range(3_000)
        ]
        self._said = [self._sentences(chance.randint(1, 12)) for _ in range(400)]
        self._thought = [self._sentences(chance.randint(5, 30)) for _ in range(200)]
        self._code = [self._listing(chance.randint(5, 150)) for _ in range(200)]

    def said(self) -> str:
        return f"{self._chance.choice(self._said)} {self._chance.randrange(10**6)}"

    def thought(self) -> str:
        return self._chance.choice(self._thought)

    def code(self) -> str:
        return self._chance.choice(self._code)

    def _sentences(self, count: int) -> str:
        return " ".join(
            " ".join(self._chance.choices(self._words, k=self._chance.randint(4, 14))).capitalize() + "."
            for _ in range(count)
        )

    def _listing(self, count: int) -> str:
        return "\n".join(
            f'{n:>6}\tvalue_{self._chance.randrange(10**6)} = "{self._chance.choice(self._words)}"  # {n}'
            for n in range(count)
        )


def write_lines(path: Path, size: int, lines: Iterator[dict[str, Any]]) -> None:
    with path.open("wb") as target:
        while target.tell() < size:
            value = next(lines)
            target.write(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode() + b"\n")


def plain_lines(path: Path) -> None:
    with path.open("rb") as source:
        for line in source:
            json.loads(line)


def write_claude_code(path: Path, size: int) -> None:
    write_lines(path, size, claude_code_lines(random.Random(20260308)))


def claude_code_lines(chance: random.Random) -> Iterator[dict[str, Any]]:
    """Turns of a session: a prompt, thinking, calls with their results, an answer; some are taken back."""
    texts = Texts(chance)
    at, parent, session = BEGAN, None, str(uuid.UUID(int=chance.getrandbits(128)))

    def line(kind: str, above: str | None, message: dict[str, Any], **more: Any) -> dict[str, Any]:
        nonlocal at, parent
        at += timedelta(seconds=chance.randint(1, 40))
        parent = str(uuid.UUID(int=chance.getrandbits(128)))
        return {
            "parentUuid": above,
            "isSidechain": False,
            "userType": "external",
            "cwd": "project/indexer",
            "sessionId": session,
            "version": "2.0.55",
            "gitBranch": "main",
            "type": kind,
            "message": message,
            "uuid": parent,
            "timestamp": at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            **more,
        }

    def answer(above: str | None, turn: str, *blocks: dict[str, Any]) -> dict[str, Any]:
        usage = {"input_tokens": 4, "cache_read_input_tokens": 51234, "output_tokens": 312}
        message = {"id": turn, "type": "message", "role": "assistant", "model": "demo", "content": [*blocks]}
        return line("assistant", above, {**message, "stop_reason": None, "usage": usage}, requestId="req_1")

    while True:
        before = parent
        yield line("user", before, {"role": "user", "content": texts.said()})
        if chance.random() < 0.05:
            yield line("user", before, {"role": "user", "content": texts.said()})
        for _ in range(chance.randint(1, 6)):
            turn, call = f"msg_{chance.getrandbits(64):x}", f"toolu_{chance.getrandbits(64):x}"
            if chance.random() < 0.5:
                thought = {"type": "thinking", "thinking": texts.thought(), "signature": "x" * 400}
                yield answer(parent, turn, thought)
            if chance.random() < 0.5:
                yield answer(parent, turn, {"type": "text", "text": texts.said()})
            asked = {"file_path": "project/indexer/a.py", "offset": 1, "limit": 200}
            yield answer(parent, turn, {"type": "tool_use", "id": call, "name": "Read", "input": asked})
            result = texts.code()
            told = {"type": "tool_result", "tool_use_id": call, "content": result}
            copy = {"type": "text", "file": {"filePath": "a.py", "content": result, "numLines": 200}}
            yield line("user", parent, {"role": "user", "content": [told]}, toolUseResult=copy)
        turn = f"msg_{chance.getrandbits(64):x}"
        yield answer(parent, turn, {"type": "text", "text": texts.said()})
        yield {"type": "file-history-snapshot", "messageId": parent, "snapshot": {"files": {}}}


def write_codex(path: Path, size: int) -> None:
    write_lines(path, size, codex_lines(random.Random(20260309)))


def codex_lines(chance: random.Random) -> Iterator[dict[str, Any]]:
    """Turns of a rollout, every text twice."""
    texts, at = Texts(chance), BEGAN

    def line(kind: str, payload: dict[str, Any]) -> dict[str, Any]:
        nonlocal at
        at += timedelta(seconds=chance.randint(1, 40))
        stamp = at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        return {"timestamp": stamp, "type": kind, "payload": payload}

    def message(role: str, block: str, text: str) -> dict[str, Any]:
        return line(
            "response_item", {"type": "message", "role": role, "content": [{"type": block, "text": text}]}
        )

    yield line("session_meta", {"id": str(uuid.UUID(int=chance.getrandbits(128))), "cwd": "project/indexer"})
    while True:
        said = texts.said()
        yield message("user", "input_text", said)
        yield line("event_msg", {"type": "user_message", "message": said})
        for number in range(chance.randint(1, 6)):
            yield line(
                "response_item",
                {
                    "type": "reasoning",
                    "summary": [{"type": "summary_text", "text": texts.thought()}],
                    "encrypted_content": "g" * 600,
                },
            )
            call = {"type": "function_call", "name": "shell", "arguments": '{"command":["pytest","-q"]}'}
            yield line("response_item", {**call, "call_id": f"call_{number}"})
            output = json.dumps({"output": texts.code(), "metadata": {"exit_code": 0}}, ensure_ascii=False)
            yield line(
                "response_item",
                {"type": "function_call_output", "call_id": f"call_{number}", "output": output},
            )
            yield line("event_msg", {"type": "token_count", "info": {"total": 12345}})
        answer = texts.said()
        yield line("event_msg", {"type": "agent_message", "message": answer})
        yield message("assistant", "output_text", answer)


def write_chatgpt(path: Path, size: int) -> None:
    chance = random.Random(20260310)
    chat_exports.write_list(path, size, chat_exports.chatgpt_conversations(Texts(chance), chance))


def write_claude(path: Path, size: int) -> None:
    chance = random.Random(20260311)
    chat_exports.write_list(path, size, chat_exports.claude_conversations(Texts(chance), chance))


def write_telegram(path: Path, size: int) -> None:
    chance = random.Random(20260312)
    telegram_export.write_export(path, size, Texts(chance), chance)


FORMATS: dict[str, Format] = {
    known.name: known
    for known in (
        Format("claude_code", write_claude_code, plain_lines),
        Format("codex", write_codex, plain_lines),
        Format("chatgpt", write_chatgpt, chat_exports.plain_document),
        Format("claude", write_claude, chat_exports.plain_document),
        Format("telegram", write_telegram, chat_exports.plain_document),
    )
}


def timed(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def read(file: ArchiveFile) -> Counter[str]:
    """Read a file as the nightly job does; how many records of each kind there were."""
    reader = reader_of(file)
    if reader is None:
        raise SystemExit(f"No reader of {', '.join(READERS)} takes the file.")
    return Counter(type(record).__name__ for record in reader.read(file, ReadOptions(zone=UTC)))


def peak_mb() -> float:
    """The most memory that this process ever held."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / MB


def measure(known: Format, size: int, repeats: int, profile: bool) -> None:
    with tempfile.TemporaryDirectory(prefix="letopis-bench-") as folder:
        path = Path(folder) / "archive.jsonl"
        known.write(path, size)
        status = path.stat()
        file = ArchiveFile(path, path.name, status.st_size, status.st_mtime_ns)
        if profile:
            with cProfile.Profile() as profiler:
                read(file)
            pstats.Stats(profiler).sort_stats("tottime").print_stats(25)
            return
        counts = read(file)
        peak = peak_mb()
        # In turns, so that a busy machine slows both.
        rounds = [(timed(lambda: read(file)), timed(lambda: known.plain(path))) for _ in range(repeats)]
        reading, plain = min(one for one, _ in rounds), min(one for _, one in rounds)
        megabytes = status.st_size / MB
        print(f"{known.name}: {megabytes:.0f} MB, {', '.join(f'{n} {kind}' for kind, n in counts.items())}")
        print(f"reader      {megabytes / reading:7.1f} MB/s")
        print(f"plain json  {megabytes / plain:7.1f} MB/s")
        print(f"ratio       {plain / reading:7.2f}")
        print(f"peak memory {peak:7.0f} MB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--format", choices=sorted(FORMATS), required=True)
    parser.add_argument("--mb", type=float, default=200)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--profile", action="store_true")
    given = parser.parse_args()
    measure(FORMATS[given.format], int(given.mb * MB), given.repeats, given.profile)


if __name__ == "__main__":
    main()
