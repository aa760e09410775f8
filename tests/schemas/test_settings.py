from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from schemas.problems import SettingsError
from schemas.settings import Chunking, load

CASES = Path(__file__).parents[1] / "cases"


@pytest.fixture(autouse=True)
def _clean(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)


def config(folder: Path, text: str) -> Path:
    path = folder / "letopis.toml"
    path.write_text(text, "utf-8")
    return path


def test_without_a_file_the_defaults_hold_and_paths_count_from_the_working_folder(tmp_path: Path) -> None:
    settings, path = load(environment={})
    assert path is None
    assert settings.data == tmp_path / "data/index"
    assert (settings.chunking.size, settings.chunking.overlap) == (600, 100)
    assert settings.embedding.order == ("gemini", "ollama", "local")
    assert settings.embedding.cloud is False
    assert (settings.service.host, settings.service.port) == ("127.0.0.1", 8077)


def test_flags_beat_the_environment_beats_the_file_beats_the_defaults(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config(tmp_path, "[service]\nport = 1001\nhost = '127.0.0.2'\n[chunking]\nsize = 500\n")
    assert load()[0].service.port == 1001
    monkeypatch.setenv("LETOPIS_SERVICE__PORT", "1002")
    settings, _ = load()
    assert (settings.service.port, settings.service.host) == (1002, "127.0.0.2")
    settings, _ = load(flags={"service": {"port": 1003, "host": None}})
    assert (settings.service.port, settings.service.host) == (1003, "127.0.0.2")
    assert (settings.chunking.size, settings.chunking.overlap) == (500, 100)


def test_lists_in_the_environment_are_json(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LETOPIS_EMBEDDING__ORDER", '["local"]')
    assert load()[0].embedding.order == ("local",)
    monkeypatch.setenv("LETOPIS_EMBEDDING__ORDER", "local")
    with pytest.raises(SettingsError):
        load()


def test_the_files_of_quality_count_from_the_folder_of_the_config_as_well(tmp_path: Path) -> None:
    inner = tmp_path / "etc"
    inner.mkdir()
    path = config(inner, "[quality]\ngolden = 'golden.jsonl'\n")
    settings, _ = load(path, {"quality": {"log_empty": Path("/srv/empty.jsonl")}}, environment={})
    assert settings.quality.golden == inner / "golden.jsonl"
    assert settings.quality.log_empty == Path("/srv/empty.jsonl")
    assert load(config(inner, ""), environment={})[0].quality.golden is None


def test_relative_paths_count_from_the_folder_of_the_config(tmp_path: Path) -> None:
    inner = tmp_path / "etc"
    inner.mkdir()
    settings, path = load(config(inner, "data = 'idx'\narchives = ['../chats', '/srv/x']\n"), environment={})
    assert path == (inner / "letopis.toml").resolve()
    assert settings.data == inner.resolve() / "idx"
    assert settings.archives == (inner.resolve() / "../chats", Path("/srv/x"))


@pytest.mark.parametrize(
    "text, named, near",
    [
        ("dta = 'x'", "dta", "did you mean data?"),
        ("[chunking]\nsise = 1", "chunking.sise", "did you mean chunking.size?"),
        (
            "[embedding.gemini]\nmodell = 'x'",
            "embedding.gemini.modell",
            "did you mean embedding.gemini.model?",
        ),
        ("[notify]\nzzz = 1", "notify.zzz", "known here: command"),
    ],
)
def test_an_unknown_key_is_refused_with_the_nearest_one(
    tmp_path: Path, text: str, named: str, near: str
) -> None:
    config(tmp_path, text)
    with pytest.raises(SettingsError, match=named) as caught:
        load(environment={})
    assert caught.value.hint == near
    assert caught.value.exit == 2


@pytest.mark.parametrize(
    "name, near",
    [
        ("LETOPIS_DATTA", "did you mean LETOPIS_DATA?"),
        ("LETOPIS_SERVICE__PROT", "did you mean LETOPIS_SERVICE__PORT?"),
        ("LETOPIS_EMBEDING__ORDER", "did you mean LETOPIS_EMBEDDING__ORDER?"),
        ("letopis_embedding__gemini__modl", "did you mean LETOPIS_EMBEDDING__GEMINI__MODEL?"),
    ],
)
def test_an_unknown_environment_name_is_refused_with_the_nearest_one(name: str, near: str) -> None:
    with pytest.raises(SettingsError, match=name) as caught:
        load(environment={name: "1", "PATH": "x"})
    assert caught.value.hint == near


def test_settings_of_a_window_that_make_no_progress_are_refused_at_once_in_one_line(tmp_path: Path) -> None:
    lines = (CASES / "21_overlap_ge_size" / "configs.jsonl").read_text("utf-8").splitlines()
    cases = [json.loads(line) for line in lines]
    begun = time.monotonic()
    for case in cases[:4]:
        config(tmp_path, f"[chunking]\nsize = {case['size']}\noverlap = {case['overlap']}\n")
        with pytest.raises(SettingsError) as caught:
            load(environment={})
        assert "\n" not in caught.value.line()
        assert "chunking" in caught.value.message
    assert time.monotonic() - begun < 1
    assert Chunking(**cases[4]).size == 1


def test_an_overlap_over_half_the_size_is_refused_with_both_numbers_and_the_remedy(tmp_path: Path) -> None:
    config(tmp_path, "[chunking]\nsize = 600\noverlap = 301\n")
    with pytest.raises(SettingsError, match=r"overlap 301 .* size 600; set it to at most 300"):
        load(environment={})
    config(tmp_path, "[chunking]\nsize = 600\noverlap = 300\n")
    assert load(environment={})[0].chunking.overlap == 300


@pytest.mark.parametrize(
    "text, told",
    [
        ("timezone = 'Mars/Base'", "no such time zone"),
        ("[embedding]\norder = ['local', 'local']", "name each provider once"),
        ("[service]\nport = 70000", "service.port"),
        ("not toml", "not valid TOML"),
    ],
)
def test_a_wrong_value_is_refused_in_one_line(tmp_path: Path, text: str, told: str) -> None:
    config(tmp_path, text)
    with pytest.raises(SettingsError, match=told) as caught:
        load(environment={})
    assert "\n" not in caught.value.line()


def test_a_flag_out_of_range_is_refused() -> None:
    with pytest.raises(SettingsError, match=r"service\.port"):
        load(flags={"service": {"port": -1}}, environment={})


def test_a_config_that_is_named_but_missing_or_not_utf8_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"other\.toml is not there"):
        load(tmp_path / "other.toml", environment={})
    (tmp_path / "letopis.toml").write_bytes("data = 'ж'".encode("cp1251"))
    with pytest.raises(SettingsError, match="not UTF-8"):
        load(environment={})


def test_a_token_is_not_told_by_the_settings(tmp_path: Path) -> None:
    config(tmp_path, "[service]\ntoken = 'very-secret-token-0123'\n")
    settings, _ = load(environment={})
    assert "very-secret" not in repr(settings)
    assert settings.service.token is not None
    assert settings.service.token.get_secret_value() == "very-secret-token-0123"
