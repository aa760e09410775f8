"""Which turns of a conversation its page shows: a tree, because prompts are edited and answers made anew."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from indexer.archives.conversations import Said, Turn
from indexer.archives.files import ArchiveFile
from indexer.archives.identity import origin_of
from schemas.records import Dropped, Message, Record


@dataclass(frozen=True, slots=True)
class Talk:
    """What is known of a conversation as a whole.

    Attributes:
        source: name of the reader.
        chat: its id, or None where the place of it is broken.
        title: its name, or None.
        begun: when it began, UTC ms, or None: the time of turns that have none before any that has.
        leaf: the last turn that its page shows, or None where the source does not tell.
        meta: extras for each of its messages.
    """

    source: str
    chat: str | None
    title: str | None
    begun: int | None
    leaf: str | None = None
    meta: Mapping[str, str] = field(default_factory=dict)


def told(talk: Talk, turns: Sequence[Turn], file: ArchiveFile) -> Iterator[Record]:
    """The records of a conversation from its beginning to its current end; other branches are counted.

    A message without a time has that of the turn before it.
    """
    unique = {turn.id: turn for turn in reversed(turns)}
    shown = visible([turn for turn in turns if unique[turn.id] is turn], talk.leaf)
    on_branch = {turn.id for turn in shown}
    for turn in turns:
        if turn.id not in on_branch or unique[turn.id] is not turn:
            kind = "duplicate" if turn.id in on_branch else "other_branch"
            for record in turn.records:
                yield Dropped(kind, len(record.text)) if isinstance(record, Said) else record
    chat = talk.chat or f"{file.stem}/{turns[0].id if turns else ''}"
    copied_from = next((turn.copied_from for turn in shown if turn.copied_from), None)
    at, ids = talk.begun, set[str]()
    place = f"{file.name}#{chat.rpartition(':')[2]}"
    for turn in shown:
        at = turn.at if turn.at is not None else at
        for record in turn.records:
            if not isinstance(record, Said):
                yield record
                continue
            id = record.id
            while id in ids:
                id = f"{turn.id}/{len(ids)}"
            ids.add(id)
            yield Message(
                chat,
                id,
                talk.source,
                record.role,
                record.text,
                f"{place}/{id}",
                record.at if record.at is not None else at,
                talk.title,
                record.author,
                edited=record.edited,
                origin=id if origin_of(id.partition("/")[0]) else None,
                copied_from=copied_from if copied_from != chat else None,
                meta={**record.meta, **talk.meta},
            )


def visible(turns: Sequence[Turn], leaf: str | None) -> list[Turn]:
    """The turns from the first to the leaf, in the order of the talk.

    A link that is broken is mended, so that one bad record does not hide the years above it: by the list of
    children that names the turn or its lost parent, else by the newest end of a branch that was said before.

    Args:
        turns: with unique ids, in the order of the file.
        leaf: the last turn that the page shows; where it is unknown, the newest end of a branch is taken.

    Returns:
        All turns where none names another one: a format without branches.
    """
    if not turns or not any(turn.parent or turn.children for turn in turns):
        return list(turns)
    return _Branches(turns).up_from(leaf)


class _Branches:
    def __init__(self, turns: Sequence[Turn]) -> None:
        self._turns = {turn.id: turn for turn in turns}
        self._order = {turn.id: n for n, turn in enumerate(turns)}
        self._listed = {child: turn.id for turn in turns for child in turn.children}
        self._above = {turn.id: self._parent(turn) for turn in turns}
        self._before: dict[str, int] = {}
        at = 0
        for turn in turns:
            self._before[turn.id] = at
            at = turn.at or at
        self._said: dict[str, int] = {}
        self._tops: dict[str, str] = {}
        for turn in turns:
            self._measure(turn.id)
        parents = set(self._above.values())
        # The newest last.
        self._ends = sorted((id for id in self._turns if id not in parents), key=self._age) or [turns[-1].id]

    def up_from(self, leaf: str | None) -> list[Turn]:
        at: str | None = leaf if leaf in self._turns else self._ends[-1]
        found: dict[str, Turn] = {}
        while at is not None and at not in found:
            found[at] = self._turns[at]
            at = self._above[at] or self._mended(at, found)
        return list(reversed(found.values()))

    def _parent(self, turn: Turn) -> str | None:
        for id in (turn.parent, self._listed.get(turn.id), self._listed.get(turn.parent or "")):
            if id is not None and id != turn.id and id in self._turns:
                return id
        return None

    def _measure(self, start: str) -> None:
        """Remember the top above a turn and when it was said.

        Where no time is given it is that of the parent, of a first turn that of the one before in the file.
        """
        path: list[str] = []
        at: str | None = start
        while at is not None and at not in self._tops:
            self._tops[at] = at  # ends a circle
            path.append(at)
            at = self._above[at]
        if at is not None:
            top, said = self._tops[at], self._said.get(at, 0)
        else:
            top, said = path[-1], self._before[path[-1]]
        for id in reversed(path):
            said = self._turns[id].at or said
            self._tops[id], self._said[id] = top, said

    def _age(self, id: str) -> tuple[int, int]:
        return self._said[id], self._order[id]

    def _mended(self, id: str, found: dict[str, Turn]) -> str | None:
        """The turn to go on at above one whose parent is lost; ends that do not fit are never asked again."""
        turn = self._turns[id]
        if turn.rooted:
            return None
        while self._ends:
            end = self._ends.pop()
            top = self._turns[self._tops[end]]
            # Two ends below the same lost parent are branches of one another.
            twins = turn.parent is not None and top.parent == turn.parent
            if end not in found and top.id not in found and not twins and self._age(end) < self._age(id):
                return end
        return None
