"""Markdown memory: one message a section, ids that survive an edit, instructions typed apart."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.indexer.archives.reading import drops, messages, records, samples, written


def texts(folder: Path, content: str, name: str = "memory/a.md") -> list[str]:
    return [message.text for message in messages(records("markdown", written(folder, name, content)))]


def test_golden(tmp_path: Path) -> None:
    pointers, day, entity = samples("markdown", tmp_path)
    assert [m.text.partition("\n")[0] for m in messages(records("markdown", pointers))] == [
        "MEMORY › Users",
        "MEMORY › Projects",
        "MEMORY › Behavior rules",
        "MEMORY › Recent (last 5)",
    ]
    first, second = messages(records("markdown", day))
    assert first.text == (
        "2026-03-09 › Решения\n- Чанк 600, перекрытие 100.\n- Fallback: Ollama nomic-embed-text.\n\n"
        "```bash\n# это не заголовок\npython -m indexer build\n```"
    )
    assert second.text == "2026-03-09 › TODO\n- [ ] проверить й/ё в FTS5"
    assert (first.role, first.chat_id, first.chat_title) == (
        "note",
        "notes:memory/2026-03-09.md",
        "2026-03-09",
    )
    assert first.at == 1773003600000  # midnight in Moscow
    assert first.edited == day.mtime_ns // 1_000_000
    (about,) = messages(records("markdown", entity))
    assert about.text == "Сервис гибридного поиска. Порт см. `config.toml`."
    assert about.meta == {"name": "hybrid-index", "status": "active"}
    assert about.at is None


@pytest.mark.parametrize(
    ("name", "role"), [("SOUL.md", "instruction"), ("w/AGENTS.md", "instruction"), ("MEMORY.md", "note")]
)
def test_instructions_are_typed_apart(tmp_path: Path, name: str, role: str) -> None:
    (found,) = messages(records("markdown", written(tmp_path, name, "# Правила\nбудь краток")))
    assert found.role == role


def test_editing_a_section_keeps_its_identity_and_its_neighbours(tmp_path: Path) -> None:
    before = messages(
        records("markdown", written(tmp_path, "memory/a.md", "# А\nраз\n## Б\nдва\n## Б\nтри\n"))
    )
    after = messages(
        records("markdown", written(tmp_path, "memory/a.md", "# А\nодин\n## Б\nдвойка\n## Б\nтри\n"))
    )
    assert [m.id for m in before] == [m.id for m in after]
    assert len({m.id for m in before}) == 3


@pytest.mark.parametrize("fence", ["```", "~~~", "````"])
def test_a_heading_inside_a_fence_is_code(tmp_path: Path, fence: str) -> None:
    content = f"# А\nдо\n{fence}sh\n# не заголовок\n```x\n{fence}\n# Б\nпосле"
    found = texts(tmp_path, content)
    assert [text.partition("\n")[0] for text in found] == ["А", "Б"]


def test_a_heading_alone_is_kept_where_nothing_stands_under_it(tmp_path: Path) -> None:
    assert texts(tmp_path, "# А\n## Купить молоко\n## Б\nтекст\n# В\n") == [
        "А › Купить молоко",
        "А › Б\nтекст",
        "В",
    ]


def test_headings_of_many_kinds(tmp_path: Path) -> None:
    found = texts(tmp_path, "до\n# А #\nа\n### Глубже\nб\n## Выше\nв\n#не заголовок\n    # код\n####### семь")
    assert found == ["до", "А\nа", "А › Глубже\nб", "А › Выше\nв\n#не заголовок\n    # код\n####### семь"]


def test_two_megabytes_of_spaces_in_a_heading_take_no_time(tmp_path: Path) -> None:
    start = time.process_time()
    assert texts(tmp_path, "# А" + " " * 2_000_000 + "б ##\nтекст")
    assert time.process_time() - start < 5  # a pattern with two runs of spaces took minutes


def test_a_thematic_break_on_the_first_line_loses_nothing(tmp_path: Path) -> None:
    assert texts(tmp_path, "---\nтекст без конца\n# А\nещё") == ["текст без конца\n# А\nещё"]
    long = "---\n" + "строка\n" * 300 + "# А\nещё"
    assert sum(text.count("строка") for text in texts(tmp_path, long)) == 300


def test_front_matter_is_metadata_and_counted(tmp_path: Path) -> None:
    file = written(
        tmp_path, "memory/a.md", '---\ntitle: "План"\ndate: 2026-02-01\ntags:\n  - x\n---\n# А\nтекст'
    )
    found = records("markdown", file)
    (message,) = messages(found)
    assert (message.chat_title, message.at) == ("План", 1769893200000)
    assert drops(found) == {"metadata": 1}


def test_windows_line_ends_are_read(tmp_path: Path) -> None:
    assert texts(tmp_path, "# А\r\nраз\r\n\r\nдва\r\n") == ["А\nраз\n\nдва"]


def test_a_date_that_is_none_is_none(tmp_path: Path) -> None:
    (found,) = messages(records("markdown", written(tmp_path, "memory/2026-02-31.md", "текст")))
    assert found.at is None
