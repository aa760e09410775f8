"""Where the trained models lie, whether they are genuine, and which backend can really be used.

Nothing here imports spaCy, slovnet or natasha: a version must be told without loading a model.
"""

from __future__ import annotations

import json
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Literal, NamedTuple

Backend = Literal["auto", "slovnet", "spacy", "patterns"]
Used = Literal["slovnet", "spacy", "patterns"]

NAVEC = "emb/navec_news_v1_1B_250K_300d_100q.tar"
SLOVNET = "model/slovnet_ner_news_v1.tar"
SPACY = "ru_core_news_sm"
SPACY_SERIES = "3.8."

_INSTALL = "install natasha==1.6.0 with --no-deps from the lock"


class Choice(NamedTuple):
    """The backend that will be used, its model's version, and why it is not the one asked for."""

    used: Used
    model: str
    note: str | None


def weights() -> tuple[Path, Path] | None:
    """The navec and slovnet archives inside the natasha wheel, or None; natasha itself is never imported."""
    spec = find_spec("natasha")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        navec, slovnet = Path(folder) / "data" / NAVEC, Path(folder) / "data" / SLOVNET
        if navec.is_file() and slovnet.is_file():
            return navec, slovnet
    return None


def _version(distribution: str) -> str | None:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


def genuine_spacy() -> tuple[str | None, str | None]:
    """Whether a genuine `ru_core_news_sm` is installed, judged without importing it.

    The package index holds a squat of that name (999.9.9), so the distribution's version and the model's own
    meta.json must both say 3.8.x.

    Returns:
        (version, None) of the genuine model, or (None, why it can't be used).
    """
    version = _version("ru-core-news-sm")
    if version is None:
        return None, f"{SPACY} is not installed."
    if not version.startswith(SPACY_SERIES):
        return None, f"{SPACY} {version} is not spaCy's own {SPACY_SERIES}x model and was not loaded."
    spec = find_spec(SPACY)
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        try:
            meta = json.loads((Path(folder) / "meta.json").read_text("utf-8"))
        except (OSError, ValueError):
            continue
        if (meta.get("lang"), meta.get("name"), meta.get("version")) == ("ru", "core_news_sm", version):
            return version, None
    return None, f"{SPACY} {version} has no meta.json of spaCy's model and was not loaded."


def _slovnet() -> str | None:
    if weights() is None or find_spec("slovnet") is None or find_spec("navec") is None:
        return None
    return f"{_version('slovnet')}+{_version('natasha')}"


def choice(backend: Backend) -> Choice:
    """Which backend can be used for what the settings ask; cheap, loads nothing.

    Args:
        backend: `entities.backend` of the settings.

    Returns:
        The choice; its note says in one sentence why it fell back and how to mend that.
    """
    if backend == "patterns":
        return Choice("patterns", "", None)
    why = None
    if backend == "spacy":
        version, why = genuine_spacy()
        if version is not None:
            return Choice("spacy", version, None)
        why = f"{why} Next: python -m spacy download {SPACY}, or set entities.backend to auto."
    slovnet = _slovnet()
    if slovnet is not None:
        note = why and f"Names are found by slovnet: {why}"
        return Choice("slovnet", slovnet, note)
    if backend != "spacy":
        version, _ = genuine_spacy()
        if version is not None:
            note = f"Names are found by spaCy: the slovnet weights are missing. Next: {_INSTALL}."
            return Choice("spacy", version, note)
    note = f"Only patterns are found: the slovnet weights are missing. Next: {_INSTALL}."
    return Choice("patterns", "", note)
