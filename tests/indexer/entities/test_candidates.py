from itertools import pairwise

import pytest

from indexer.entities import Extractor
from indexer.entities.candidates import MOST


def maybe(extractor: Extractor, text: str) -> dict[str, tuple[str, str]]:
    (mentions,) = extractor.extract([text], maybe=True)
    return {text[m.start : m.end]: (m.name, m.key) for m in mentions if m.type == "MAYBE"}


def test_words_in_small_letters_that_may_be_names_come_when_asked_for(slovnet: Extractor) -> None:
    text = "а saela и барсиком не спорит, юле тоже"
    assert maybe(slovnet, text) == {
        "saela": ("Saela", "saela"),
        "барсиком": ("Барсик", "барсик"),
        "юле": ("Юля", "юля"),
    }
    assert slovnet.extract([text]) == [()]


@pytest.mark.parametrize(
    "text",
    [
        "собрали отчёт, написали тесты, поехали домой в июле-августе",
        "the build was slow and the tests are failing again",
        "лев в зоопарке спал, роза завяла",
        "ахахах аааа ололо",
        "поправь src/main.py и self.worker_count=4",
        "подняли докер, постгрю и clickhouse",
    ],
)
def test_ordinary_words_code_and_known_names_are_no_candidates(patterns: Extractor, text: str) -> None:
    assert maybe(patterns, text) == {}


def test_candidates_never_overlap_a_mention_and_are_capped(slovnet: Extractor) -> None:
    text = "иван петров " + " ".join(f"zorblax{chr(97 + n % 26)}{chr(97 + n // 26)}" for n in range(100))
    (mentions,) = slovnet.extract([text], maybe=True)
    assert mentions[0].key == "иван петров"
    assert sum(mention.type == "MAYBE" for mention in mentions) == MOST
    assert all(one.end <= other.start for one, other in pairwise(mentions))


def test_all_cases_of_a_candidate_share_the_key_of_the_name_in_capitals(slovnet: Extractor) -> None:
    keys = {key for form in ("сколтех", "сколтеха", "сколтеху", "сколтехом", "сколтехе")
            for _, key in maybe(slovnet, f"про {form} говорили").values()}  # fmt: skip
    assert keys == {"сколтех"}
