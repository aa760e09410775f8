"""What a search shows of how likely its archive answers: read from what the legs have computed already."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from indexer.stores import Ids, Mask, StoredChunk, TextScores
from indexer.stores.generation import Generation
from indexer.text.aliases import stop_words
from indexer.text.lemmas import terms
from indexer.text.normal import has_words, tokens
from schemas.http import Confidence
from schemas.records import Filter
from service.confidence import RULES, STATED, Rule, Signs, band, probability
from service.evidence import Asked, Findings
from service.question import asks
from service.ranking import FLOOR_SAMPLE, Array, SpaceScores

# A text of fewer characters has little of its language, and is near to every query in another one: a chunk of
# 45 was the nearest of 106 to three quarters of LoCoMo's questions, and let 20 % of them in.
SCRAP = 60

# So many of the best chunks are looked at for one that is none.
_BEST = 8

# Of the searched chunks the space must cover so many: what it does not hold may be the answer.
COVERED = 0.9


@dataclass(frozen=True, slots=True)
class Sureness:
    """How likely the archive answers, and in which band that is; both None where it can't be said."""

    answerable: float | None = None
    confidence: Confidence | None = None


def sureness(generation: Generation, asked: Asked, findings: Findings) -> Sureness:
    """How likely the searched chunks answer a query.

    Args:
        generation: that was asked.
        asked: the query.
        findings: of its legs.

    Returns:
        Nothing where no space with a rule took part (modes text and entities, no vectors yet, another model
        alone), or where it does not cover what is searched. 0 where a filter leaves nothing to search, or
        where the query is signs alone: such texts are not indexed, and their vectors are near to anything.
    """
    for query, (covered, scores) in zip(asked.vectors, findings.spaces, strict=True):
        rule = RULES.get(query.info.space.name)
        if rule is None:
            continue
        if len(scores.ids) < COVERED * findings.searched:
            break
        sure = 0.0
        if len(scores.ids) and has_words(asked.text):
            lead = _everywhere(generation, covered, scores) - float(scores.cosines.max())
            words, spoke = findings.words, findings.spoke
            sure = probability(rule, signs_of(rule, generation, asked, scores, words, max(0.0, lead), spoke))
            if sure < STATED and _stated(generation, asked, words):
                sure = STATED
        return Sureness(round(sure, 4), band(sure))
    return Sureness()


def _everywhere(generation: Generation, covered: Ids, scores: SpaceScores) -> float:
    """The best cosine of what a search without a filter sees."""
    if len(scores.ids) == len(covered):
        return float(scores.cosines.max())
    usual = generation.store.mask(Filter(), "chunk")
    return float(scores.every[usual[covered]].max(initial=-1.0))


def signs_of(
    rule: Rule,
    generation: Generation,
    asked: Asked,
    scores: SpaceScores,
    words: TextScores | None,
    elsewhere: float,
    spoke: Mask | None = None,
) -> Signs:
    """The signs of a search.

    Args:
        rule: what words count beside cosines.
        generation: that was asked.
        asked: the query.
        scores: cosines of the searched chunks, at least one, and of all.
        words: BM25 of the searched chunks.
        elsewhere: see `Signs`.
        spoke: messages of an author whom the query names.
    """
    cosines = scores.cosines
    held = held_words(scores.ids, words)
    joint = cosines if held is None else cosines + np.float32(rule.word) * held
    best = int(scores.ids[joint.argmax()])
    chunk = generation.store.chunks([best])[best]
    foreign = another_script(asked.text, chunk.text)
    return Signs(
        chunks=len(cosines),
        rivals=int(np.count_nonzero(cosines >= rule.floor)),
        top=float(cosines.max()),
        joint=None if held is None else float(joint.max()),
        speaker=0.0 if held is None else _speaker(generation, asked, chunk, spoke),
        ahead=_ahead(generation, scores) if foreign else None,
        elsewhere=elsewhere,
    )


def _ahead(generation: Generation, scores: SpaceScores) -> float | None:
    """See `Signs`; None where the best chunks are all scraps."""
    cosines = scores.cosines
    best = np.argpartition(-cosines, min(_BEST, len(cosines)) - 1)[:_BEST]
    chunks = generation.store.chunks(scores.ids[best].tolist())
    whole = [at for at in best if len(chunks[int(scores.ids[at])].text) >= SCRAP]
    if not whole:
        return None
    usual = scores.every if len(cosines) < FLOOR_SAMPLE else cosines
    return float(cosines[whole].max()) - float(np.percentile(usual, 95))


def _stated(generation: Generation, asked: Asked, words: TextScores | None) -> bool:
    """Whether a query that is no question is words which all stand in the chunk that holds most of them."""
    if words is None or not len(words.ids) or asks(asked.text):
        return False
    best = int(words.ids[words.bm25.argmax()])
    wanted = [term.forms for term in asked.terms if not stop_words().issuperset(term.raw)]
    return bool(wanted) and share_said(wanted, generation.store.chunks([best])[best].text) == 1


def held_words(chunks: Ids, words: TextScores | None) -> Array | None:
    """Of each chunk its BM25 as a share of what a perfect hit could get; None where no words were asked."""
    if words is None or words.upper_bound <= 0:
        return None
    shares = np.zeros(1 + max(int(chunks.max()), int(words.ids.max(initial=0))), np.float32)
    shares[words.ids] = words.bm25 / np.float32(words.upper_bound)
    return shares[chunks]


def _speaker(generation: Generation, asked: Asked, chunk: StoredChunk, spoke: Mask | None) -> float:
    """See `Signs`. What somebody else said about the right subject is the nearest of all near misses."""
    if spoke is None:
        return 0.0
    texts: dict[bool, str] = {True: "", False: ""}
    for piece in chunk.pieces:
        texts[bool(spoke[piece.message])] += f"{chunk.text[piece.start : piece.end]}\n"
    names = generation.store.author_lemmas()
    wanted = [term.forms for term in asked.terms if names.isdisjoint(term.forms)]
    return share_said(wanted, texts[True]) - share_said(wanted, texts[False])


def share_said(wanted: list[frozenset[str]], text: str) -> float:
    """Share of the words, each given by its forms, that stand in a text in any inflection."""
    said = {form for token in tokens(text) for form in (token, *terms(token))}
    return sum(not said.isdisjoint(forms) for forms in wanted) / len(wanted) if wanted else 0.0


def another_script(query: str, text: str) -> bool:
    """Whether a query is written in another script than a text."""
    asked, said = _cyrillic(query), _cyrillic(text)
    return asked is not None and said is not None and asked != said


def _cyrillic(text: str) -> bool | None:
    """Whether most letters are Cyrillic; None where there are none."""
    letters = [letter for letter in text if letter.isalpha()]
    return 2 * sum("\u0400" <= letter <= "\u04ff" for letter in letters) > len(letters) if letters else None
