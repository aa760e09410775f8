from __future__ import annotations

import pytest

from indexer.archives.citations import without_citations


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Ответ【4†источник】.", "Ответ."),
        ("Ответ 【4:0†план.pdf】.", "Ответ."),
        ("Ответ\ue200cite\ue202turn0search0\ue202turn1news2\ue201.", "Ответ."),
        ("Ответ\ue200filecite\ue202turn3file0\ue202L2-L2\ue201.", "Ответ."),
        ("Едем в \ue200entity\ue202[\"city\",\"Казань\",\"город\"]\ue201.", "Едем в Казань."),
        ("См. \ue200url\ue202док\ue202https://example.com/d\ue201.", "См. док (https://example.com/d)."),
        ("См. \ue200url\ue202док\ue202turn0search0\ue201.", "См. док."),
        ("\ue203выделено\ue204 \ue202turn0search0", "выделено "),
        ("Картинки\ue200image_group\ue202{\"query\":[\"кот\"]}\ue201", "Картинки"),
        ("Обрыв \ue200cite\ue202turn0sea", "Обрыв"),
        ("Сбой \ue200entity\ue202[\"city\"", "Сбой "),
    ],
)  # fmt: skip
def test_marks_go_and_what_the_page_shows_of_them_stays(text: str, shown: str) -> None:
    assert without_citations(text) == shown


@pytest.mark.parametrize("text", ["【важно】 не забыть", "【1】 пункт", "обычный текст", "「4†」"])
def test_brackets_of_a_writer_stay(text: str) -> None:
    assert without_citations(text) == text


@pytest.mark.parametrize(
    "part", ["\ue200", "\ue200cite\ue202", "【4†", "【4", "\ue202", "\ue200entity\ue202["]
)
def test_a_hundred_thousand_beginnings_take_no_time(part: str) -> None:
    assert without_citations(part * 100_000) is not None
