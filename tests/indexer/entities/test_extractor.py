import importlib.metadata
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indexer.entities import CAP, Extractor, cut, extractor, version_of
from indexer.entities import models as models_module
from schemas.settings import Entities


def seen(extractor: Extractor, text: str) -> dict[str, tuple[str, str]]:
    (mentions,) = extractor.extract([text])
    return {text[m.start : m.end]: (m.type, m.name) for m in mentions}


def test_edited_russian_text_yields_persons_places_and_organisations(slovnet: Extractor) -> None:
    text = "Иван Петров приехал из Москвы в Казань и встретил Анну Смирнову из «Газпрома»."
    got = seen(slovnet, text)
    assert got["Иван Петров"] == ("PER", "Иван Петров")
    assert got["Москвы"] == ("LOC", "Москва")
    assert got["Казань"] == ("LOC", "Казань")
    assert got["Анну Смирнову"] == ("PER", "Анна Смирнова")
    assert ("ORG", "Газпром") in got.values()


def test_lower_case_chat_has_names_too(slovnet: Extractor) -> None:
    got = seen(slovnet, "вчера созвонились с иваном петровым, он сейчас в питере, а митап в нижнем новгороде")
    assert got == {
        "иваном петровым": ("PER", "Иван Петров"),
        "питере": ("LOC", "Санкт-Петербург"),
        "нижнем новгороде": ("LOC", "Нижний Новгород"),
    }


def test_ordinary_words_that_are_also_names_stay_words(slovnet: Extractor) -> None:
    assert seen(slovnet, "лев в зоопарке спал, роза завяла, вера и надежда остались") == {}
    assert seen(slovnet, "почему тесты падают? вроде вчера всё работало") == {}


def test_slang_and_latin_twins_get_the_name_of_the_product(slovnet: Extractor) -> None:
    got = seen(slovnet, "подняли докер и постгрес, в sqlite и редисе пусто")
    assert {surface: name for surface, (_, name) in got.items()} == {
        "докер": "Docker",
        "постгрес": "PostgreSQL",
        "sqlite": "SQLite",
        "редисе": "Redis",
    }


def test_latin_names_inside_russian_text_are_found(slovnet: Extractor) -> None:
    got = seen(slovnet, "Статью Tartine Lab цитирует Saela, а OpenClaw хранит память в Crestmoor.")
    assert {"Tartine Lab", "Saela", "OpenClaw", "Crestmoor"} <= set(got)


def test_a_product_is_a_name_whatever_the_model_takes_it_for(slovnet: Extractor) -> None:
    got = seen(slovnet, "Клод и Докер работают, Сбер платит, а C# и F# молчат")
    assert got["Клод"] == ("NAME", "Claude")
    assert got["Докер"] == ("NAME", "Docker")
    assert got["Сбер"] == ("ORG", "Сбербанк")
    assert got["C#"] == ("NAME", "C#")
    assert got["F#"] == ("NAME", "F#")


def test_verbs_and_headings_that_open_a_line_are_no_names(slovnet: Extractor) -> None:
    assert seen(slovnet, "Придумай рецепт.\nИнгредиенты:\n- Соль\n- Горчица\n") == {}


def test_a_compound_is_named_by_its_latin_part(slovnet: Extractor) -> None:
    got = seen(slovnet, "подняли Docker-контейнер на Hetzner-сервере")
    assert set(got) == {"Docker", "Hetzner"}


def test_names_on_both_sides_of_a_slash_are_two(slovnet: Extractor) -> None:
    assert {"Saela", "Hellis Mar"} <= set(seen(slovnet, "сцена Saela / Hellis Mar в одиннадцатой главе"))


def test_an_english_sentence_opens_with_a_word_not_with_a_name(patterns: Extractor) -> None:
    got = seen(patterns, "Sometimes it fails. The build of Docker Compose is slow. Restart it.")
    assert set(got) == {"Docker Compose"}


def test_offsets_are_code_points_of_the_given_text(slovnet: Extractor) -> None:
    text = "👩‍👩‍👧 й Ёлкин позвал Ивана Петрова 🙂 в Тверь: https://letopis.example.com/a?b=1."
    for mention in slovnet.extract([text])[0]:
        assert text[mention.start : mention.end].strip() == text[mention.start : mention.end]
    assert {"Ивана Петрова", "Тверь", "https://letopis.example.com/a?b=1"} <= set(seen(slovnet, text))


def test_the_order_of_the_texts_is_kept_whatever_their_length(slovnet: Extractor) -> None:
    texts = ["Привет, Анна!", "", "Пётр Иванов уехал в Сочи. " * 40, "Москва"]
    alone = [slovnet.extract([text])[0] for text in texts]
    assert slovnet.extract(texts) == alone


def test_placeholders_of_the_redactor_are_no_entities(slovnet: Extractor) -> None:
    got = seen(slovnet, "Ключ [REDACTED:gemini_key] выдал Иван Петров, телефон [REDACTED:phone].")
    assert list(got) == ["Иван Петров"]


@pytest.mark.parametrize("backend", ["slovnet", "patterns"])
@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    texts=st.lists(st.text(max_size=200) | st.text("аА_.@/:-[]`$0 \n\ud800\x00Zz", max_size=200), max_size=4)
)
def test_any_unicode_is_taken_and_spans_never_overlap(
    backend: models_module.Backend, texts: list[str]
) -> None:
    found = _shared(backend).extract(texts)
    assert len(found) == len(texts)
    for text, mentions in zip(texts, found, strict=True):
        end = 0
        for mention in mentions:
            assert end <= mention.start < mention.end <= len(text)
            assert mention.name
            assert mention.key
            end = mention.end


_made: dict[str, Extractor] = {}


def _shared(backend: models_module.Backend) -> Extractor:
    if backend not in _made:
        _made[backend] = Extractor(backend)
    return _made[backend]


@settings(max_examples=200, deadline=None, derandomize=True)
@given(text=st.text("аб \n.", max_size=300), size=st.integers(1, 40))
def test_pieces_cover_a_text_without_gap_or_overlap(text: str, size: int) -> None:
    borders = cut(text, size)
    assert "".join(text[start:end] for start, end in borders) == text
    assert all(0 < end - start <= size for start, end in borders)


def test_beyond_the_cap_patterns_go_on_and_the_cap_is_counted() -> None:
    made = Extractor("slovnet")
    text = "слово " * (CAP // 6 + 10) + "см. https://example.com/late и docker"
    got = seen(made, text)
    assert got["https://example.com/late"][0] == "URL"
    assert got["docker"][1] == "Docker"
    assert made.capped == 1
    made.extract(["короткий текст"])
    assert made.capped == 1


def test_the_version_names_backend_model_and_rules_and_equals_that_of_the_settings(
    slovnet: Extractor, patterns: Extractor
) -> None:
    assert slovnet.version == version_of(Entities(backend="slovnet")) == version_of(Entities())
    assert patterns.version == version_of(Entities(backend="patterns"))
    assert slovnet.version.startswith("slovnet/")
    assert slovnet.version != patterns.version
    assert extractor(Entities(backend="patterns")).backend == "patterns"


def test_the_version_is_told_without_loading_a_model() -> None:
    code = (
        "import sys; from indexer.entities import version_of; from schemas.settings import Entities;"
        "version_of(Entities()); heavy = {'spacy', 'slovnet', 'navec', 'natasha', 'pymorphy3', 'numpy'};"
        "bad = heavy & set(sys.modules);"
        "sys.exit(str(bad) if bad else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("unit", ["А ", "Аа-", "а-", "A'", "Aa ", "а1", "Иван ", "ё", "A & ", "И. "])
def test_the_rules_around_the_model_are_linear_in_hostile_text(patterns: Extractor, unit: str) -> None:
    began = time.process_time()
    patterns.extract([unit * (30_000 // len(unit))])
    assert time.process_time() - began < 3.0


def test_natasha_itself_is_never_imported(slovnet: Extractor) -> None:
    slovnet.extract(["Иван"])
    assert "natasha" not in sys.modules


def test_without_the_weights_patterns_remain_and_the_note_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(models_module, "weights", lambda: None)
    made = Extractor("auto")
    assert made.backend == "patterns"
    assert "natasha==1.6.0" in (made.note or "")
    assert seen(made, "пиши на a@example.com")["a@example.com"][0] == "EMAIL"


def test_spacy_without_its_model_falls_back_to_slovnet_and_says_so() -> None:
    choice = models_module.choice("spacy")
    assert choice.used == "slovnet"
    assert choice.note is not None
    assert "not installed" in choice.note
    assert "python -m spacy download" in choice.note


def _install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, version: str, meta: str | None) -> None:
    package = tmp_path / "ru_core_news_sm"
    package.mkdir()
    (package / "__init__.py").write_text("raise RuntimeError('imported')", "utf-8")
    if meta is not None:
        (package / "meta.json").write_text(meta, "utf-8")
    info = tmp_path / f"ru_core_news_sm-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: ru-core-news-sm\nVersion: {version}\n", "utf-8"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    assert importlib.metadata.version("ru-core-news-sm") == version


def test_the_squat_of_the_model_name_is_refused_without_being_imported(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    _install(monkeypatch, tmp_path, "999.9.9", '{"lang": "ru", "name": "core_news_sm", "version": "999.9.9"}')
    choice = models_module.choice("spacy")
    assert choice.used == "slovnet"
    assert "999.9.9 is not spaCy's own 3.8.x model" in (choice.note or "")


def test_a_model_whose_meta_json_is_another_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    _install(monkeypatch, tmp_path, "3.8.0", '{"lang": "ru", "name": "core_news_lg", "version": "3.8.0"}')
    assert models_module.choice("spacy").used == "slovnet"


def test_a_genuine_model_is_chosen(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    _install(monkeypatch, tmp_path, "3.8.0", '{"lang": "ru", "name": "core_news_sm", "version": "3.8.0"}')
    assert models_module.choice("spacy") == models_module.Choice("spacy", "3.8.0", None)
    monkeypatch.setattr(models_module, "weights", lambda: None)
    assert models_module.choice("auto").used == "spacy"


def test_a_name_ends_before_a_bracket_and_begins_after_a_common_noun(slovnet: Extractor) -> None:
    (found,) = slovnet.extract(["Встретили Артура Фишера (Arthur Fisher) в автосервисе Fit Service"])
    assert {"Артур Фишер", "Arthur Fisher", "Fit Service"} <= {mention.name for mention in found}


def test_a_latin_name_with_an_english_first_name_is_a_person(slovnet: Extractor) -> None:
    (found,) = slovnet.extract(["Весь вечер слушаем Bob Dylan"])
    assert ("PER", "Bob Dylan") in {(mention.type, mention.name) for mention in found}
