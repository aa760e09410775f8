"""Published sets as archives and judged queries: LoCoMo, XQuAD, and chats in the layout of ru_chat.

To add one: write a function from a path to `Adapted`, and list it in ADAPTERS.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from schemas.problems import SettingsError
from service.evaluation.judged import JudgedQuery, JudgedSet, read_queries

Line = dict[str, Any]

# LoCoMo's categories; the fifth asks one speaker about what the other one said.
_CATEGORIES = {1: "multi_hop", 2: "temporal", 3: "open", 4: "single_hop", 5: "adversarial"}
_ADVERSARIAL = 5

# Kind of the queries that are asked in a chat which is not theirs.
FOREIGN = "foreign"
_FOREIGN_A_CHAT = 40


@dataclass(frozen=True, slots=True)
class Corpus:
    """An archive to index, and what is asked of it.

    Attributes:
        name: of its folder.
        zone: IANA name, for dates in queries and headers.
        files: lines of the plain JSONL archive by file name.
        sets: each measured by itself.
    """

    name: str
    zone: str
    files: dict[str, list[Line]]
    sets: tuple[JudgedSet, ...]


def locomo(path: Path, seed: int) -> list[Corpus]:
    """Long two-person talks in English: a conversation is a chat, asked one by one and all together.

    Besides its own questions each conversation is asked some of the others', which it can't answer.
    """
    docs, queries = _parted(_found(path, "locomo*.jsonl"))
    files: dict[str, list[Line]] = {}
    for doc in docs:
        files.setdefault(f"{doc['conv']}.jsonl", []).append(_turn(doc))
    judged = [_question(query) for query in queries]
    alone = JudgedSet("locomo/per-conversation", [*judged, *foreign(judged, seed)])
    pooled = JudgedSet("locomo/pooled", judged, pooled=True)
    return [Corpus("locomo", "UTC", files, (alone, pooled))]


def _turn(doc: Line) -> Line:
    at = datetime.strptime(f"{doc['date']} +0000", "%I:%M %p on %d %B, %Y %z")
    return {
        "chat": doc["conv"],
        "session": doc["session"],
        "id": doc["id"],
        "role": "user",
        "author": doc["speaker"],
        "ts": at.isoformat(),
        "text": str(doc["text"]).removeprefix(f"{doc['speaker']}: "),
    }


def _question(query: Line) -> JudgedQuery:
    category = query["category"]
    kind = _CATEGORIES.get(category, str(category))
    return JudgedQuery(
        query["text"], tuple(query["rel"]), query["conv"], kind, answerable=category != _ADVERSARIAL
    )


def foreign(queries: Sequence[JudgedQuery], seed: int, count: int = _FOREIGN_A_CHAT) -> list[JudgedQuery]:
    """For every chat some answerable queries of the other chats, asked where no answer is expected."""
    chance = random.Random(seed)
    answerable = [query for query in queries if query.answerable and query.relevant]
    found: list[JudgedQuery] = []
    for chat in dict.fromkeys(query.chat for query in queries):
        others = [query for query in answerable if query.chat != chat]
        found += [
            replace(query, relevant=(), chat=chat, kind=FOREIGN, answerable=False)
            for query in chance.sample(others, min(count, len(others)))
        ]
    return found


def xquad(path: Path, seed: int) -> list[Corpus]:
    """Paragraphs as messages, each a session by itself; questions in the same and in the other language."""
    folder = _folder(path)
    sides = {language: _parted(_found(folder, f"xquad_{language}*.jsonl")) for language in ("ru", "en")}
    corpora = []
    for language, (docs, _) in sides.items():
        lines = [
            {
                "chat": f"xquad_{language}",
                "session": doc["id"],
                "id": doc["id"],
                "role": "note",
                "text": str(doc["text"]).lstrip("\ufeff"),
            }
            for doc in docs
        ]
        sets = tuple(
            JudgedSet(
                f"xquad/{asked}-{language}",
                [JudgedQuery(query["text"], tuple(query["rel"])) for query in queries],
            )
            for asked, (_, queries) in sides.items()
        )
        corpora.append(Corpus(f"xquad_{language}", "UTC", {"paragraphs.jsonl": lines}, sets))
    return corpora


def ru_chat(path: Path, seed: int) -> list[Corpus]:
    """Russian talks with an assistant; a query is asked inside its own chat, and some in the other one."""
    folder = path / "ru_chat" if (path / "ru_chat").is_dir() else _folder(path)
    files = {file.name: _lines([file]) for file in _found(folder, "dialog*.jsonl")}
    judged = read_queries(_found(folder, "queries*.jsonl")[0])
    queries = [*judged, *foreign(judged, seed)]
    return [Corpus("ru_chat", "Europe/Moscow", files, (JudgedSet("ru_chat", queries),))]


def gigamemory(path: Path, known: Collection[str]) -> Corpus:
    """Long Russian talks with an assistant that nothing is asked of: a record is a chat.

    Args:
        path: the folder; without such files the corpus is empty.
        known: texts that other sets hold. A talk that has more than half of its messages from there is left
            out, or every hit would have a copy.
    """
    files: dict[str, list[Line]] = {}
    for record in _lines(sorted(_folder(path).glob("gigamemory*.jsonl"))):
        chat = f"gigamemory{record['id']}"
        lines = [
            {
                "chat": chat,
                "session": session["id"],
                "id": f"{chat}-{session['id']}-{number}",
                "role": message["role"],
                "text": message["content"],
            }
            for session in record["sessions"]
            for number, message in enumerate(session["messages"])
        ]
        if 2 * sum(line["text"] in known for line in lines) <= len(lines):
            files[f"{chat}.jsonl"] = lines
    return Corpus("gigamemory", "UTC", files, ())


ADAPTERS: dict[str, Callable[[Path, int], list[Corpus]]] = {
    "locomo": locomo,
    "xquad": xquad,
    "ru_chat": ru_chat,
}


def _folder(path: Path) -> Path:
    """A set of several files may be named by one of them."""
    return path.parent if path.is_file() else path


def _found(path: Path, pattern: str) -> list[Path]:
    """The path itself where it is a file, else the files of a folder."""
    found = [path] if path.is_file() else sorted(path.glob(pattern))
    if not found:
        raise SettingsError(f"There is no {pattern} in {path.name or path}.", "name the folder of the set")
    return found


def _lines(paths: Iterable[Path]) -> list[Line]:
    return [
        json.loads(line) for path in paths for line in path.read_text("utf-8").split("\n") if line.strip()
    ]


def _parted(paths: Iterable[Path]) -> tuple[list[Line], list[Line]]:
    lines = _lines(paths)
    return (
        [line for line in lines if line["type"] == "doc"],
        [line for line in lines if line["type"] == "query"],
    )
