"""The published databases belong to their owner: the plain sqlite3 program can ask them."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fakes.index import published, said

# As the seed article has it, with its Python around it; only the connection is the program's.
RAG_SEARCH = """
        SELECT e.name, e.type, COUNT(DISTINCT e.chunk_id) as mentions
        FROM entity_fts f
        JOIN entities e ON e.id = f.rowid
        WHERE entity_fts MATCH ?
        GROUP BY e.name, e.type
        ORDER BY mentions DESC
        LIMIT ?
"""


# The same by Python's own sqlite3, in a process of its own, where the program is not installed.
_CHILD = """
import sys, sqlite3
db = sqlite3.connect(sys.argv[1], uri=True)
for row in db.execute(sys.argv[2], sys.argv[3:]):
    print(*row, sep="\t")
"""


def sqlite3(database: Path, statement: str, *bindings: str) -> list[list[str]]:
    program, uri = shutil.which("sqlite3"), f"file:{database}?mode=ro"
    if program:
        quoted = [value.replace("'", "''") for value in bindings]
        setting = [f".parameter set ?{at} \"'{value}'\"" for at, value in enumerate(quoted, 1)]
        command = [program, "-readonly", "-batch", "-noheader", "-separator", "\t", uri]
        lines = "\n".join([".parameter init", *setting, statement.strip().rstrip(";") + ";"])
    else:
        command, lines = [sys.executable, "-c", _CHILD, uri, statement, *bindings], ""
    done = subprocess.run(command, input=lines, capture_output=True, text=True, timeout=30, check=False)
    assert done.stderr == ""
    return [line.split("\t") for line in done.stdout.splitlines()]


def rag_search(database: Path, query: str, limit: int = 10) -> list[list[str]]:
    terms = re.sub(r"[^\w\s]", "", query).split()
    return sqlite3(database, RAG_SEARCH, " OR ".join(terms), str(limit))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    day = 86_400
    lines = [
        said("Ставим Docker на сервер", "m1", chat="a", author="Иван", ts=1_772_323_200),
        said("Docker упал, пишите на ops@site.org", "m2", chat="b", author="Мария", ts=1_772_323_200 + day),
        said("Kubernetes вместо Docker?", "m3", chat="c", author="Иван", ts=1_772_323_200 + 2 * day),
        said("ёлки стоят у всех серверов", "m4", chat="d", author="Олег", ts=1_772_323_200 + 3 * day),
    ]
    settings = published(tmp_path_factory.mktemp("cli"), lines)
    return settings.data / "000001"


def test_the_rag_search_of_the_seed_article_runs_unchanged(folder: Path) -> None:
    graph = folder / "entity_graph.db"
    assert rag_search(graph, "Docker") == [["Docker", "NAME", "3"]]
    assert rag_search(graph, "что с docker, kubernetes?") == [
        ["Docker", "NAME", "3"],
        ["Kubernetes", "NAME", "1"],
    ]
    assert rag_search(graph, "Docker Kubernetes", limit=1) == [["Docker", "NAME", "3"]]
    assert rag_search(graph, "ничего") == []


def test_the_names_of_the_seed_article_are_there(folder: Path) -> None:
    graph = folder / "entity_graph.db"
    assert sqlite3(graph, "SELECT id, name, type, chunk_id FROM entities WHERE name = 'Kubernetes';")
    assert sqlite3(graph, "SELECT subject, predicate, object FROM relations;")
    assert (
        sqlite3(graph, "SELECT DISTINCT e.name FROM entities e WHERE e.id NOT IN (SELECT id FROM entity);")
        == []
    )


@pytest.mark.parametrize(("word", "ids"), [("ёлка", 0), ("елка", 1), ("сервер", 2), ("docker", 3)])
def test_a_plain_nominative_finds_chunks_by_full_text(folder: Path, word: str, ids: int) -> None:
    found = sqlite3(
        folder / "chat_vectors.db",
        f"SELECT c.text FROM chunk_fts f JOIN chunk c ON c.id = f.rowid WHERE chunk_fts MATCH '{word}';",
    )
    assert len(found) == ids


def test_the_program_finds_both_files_whole(folder: Path) -> None:
    for name in ("chat_vectors.db", "entity_graph.db"):
        assert sqlite3(folder / name, "PRAGMA quick_check;")[-1] == ["ok"]
        assert sqlite3(folder / name, "PRAGMA journal_mode;") == [["delete"]]
