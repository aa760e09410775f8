"""The doctor's look at the models: each embedder, and who finds names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from schemas.problems import EmbedderError
from schemas.records import Space
from schemas.settings import Settings
from service.cli.finding import Finding, failed, good, warned

# All that a provider gets to see: a word of ours, never one of the owner's.
WORD = "летопись"


def embedders(settings: Settings, environment: Mapping[str, str]) -> Iterator[Finding]:
    """Each provider of the order and the floor: can it be reached, and how long are its vectors."""
    from indexer.embedders import unavailable
    from indexer.stores.generation import current_manifest

    manifest = current_manifest(settings.data)
    spaces = manifest.spaces if manifest else []
    held = {str(space["provider"]) for space in spaces if not _imported(space)}
    names: list[str] = list(settings.embedding.order)
    if settings.embedding.floor and "local" not in names and "hash" not in names:
        names.append("local")
    working = 0
    for name in names:
        reason = unavailable(name, settings, environment)
        if reason is None:
            finding = _asked(name, settings, environment)
        elif name in held:
            finding = failed(
                name,
                f"The index holds its vectors, but {reason.removeprefix(f'{name}: ')}",
                "mend that, or rebuild",
            )
        else:
            finding = warned(name, reason.removeprefix(f"{name}: "))
        working += finding.state == "ok"
        yield finding
    if not working:
        yield failed(
            "embedders", "No provider works: only words and names can be searched.", "mend one of them"
        )


def imported_spaces(settings: Settings, environment: Mapping[str, str]) -> Iterator[Finding]:
    """Whether the models of imported spaces can still be asked; no word is sent to them."""
    from indexer.embedders.imported import imported
    from indexer.stores.generation import current_manifest

    manifest = current_manifest(settings.data)
    for space in manifest.spaces if manifest else []:
        if not _imported(space):
            continue
        name = str(space["name"])
        provider, _, rest = name.partition("/")
        model, dims, version = rest.rsplit("/", 2)
        try:
            imported(Space(provider, model, int(dims), int(version)), settings, environment).close()
        except EmbedderError as error:
            yield warned(
                "imported", f"{name}: {error.message}", f"mend that, or `letopis import drop {name}`"
            )
        else:
            yield good("imported", f"{name} can be asked.")


def _imported(space: Mapping[str, object]) -> bool:
    return str(space["name"]).endswith("/0")


def _asked(name: str, settings: Settings, environment: Mapping[str, str]) -> Finding:
    from indexer.embedders import EMBEDDERS

    try:
        embedder = EMBEDDERS[name](settings, environment)
        try:
            embedder.warm()
            dims = len(embedder.query(WORD))
            space = embedder.identity
        finally:
            embedder.close()
    except EmbedderError as error:
        return failed(name, error.message, error.hint or "try again, or take it out of embedding.order")
    return good(name, f"{space.model} answers with {dims} dims.")


def names_finder(settings: Settings) -> Iterator[Finding]:
    """Whether the weights of the chosen backend are there; nothing is loaded."""
    from indexer.entities.models import choice

    chosen = choice(settings.entities.backend)
    if chosen.note:
        message, _, hint = chosen.note.partition(" Next: ")
        yield warned("names", message, hint)
    elif chosen.used == "patterns":
        yield good("names", "Patterns alone, as configured.")
    else:
        yield good("names", f"{chosen.used} {chosen.model}: its weights are there.")
