"""Is it there at all? The rule that makes a probability of what is seen of a search, and its bands.

The score orders one answer and can't say it: its legs are stretched to the best that this query finds. Here
one sign is taken as it is, of the chunk where cosine and words are best together, and a logistic rule makes a
probability of it (docs/quality.md, "Is it there?"). The constants belong to a space: it is always the bundled
model's, whatever else ranks.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from schemas.http import Confidence

# Least probabilities of these bands. Of LoCoMo's questions asked of all conversations but their own, MEDIUM
# lets 5 % in and HIGH 2 %; asked of all, 77 % and 55 %.
MEDIUM = 0.5
HIGH = 0.7

# At least so likely is what asks for words (an identifier, a list of keywords) that all stand in one chunk:
# 14 of 14 such queries of ru_chat are answered, and none of its others is such a one. A cosine knows little
# of `oom-killer`.
STATED = 0.6


@dataclass(frozen=True, slots=True)
class Logistic:
    """Probability = 1 / (1 + exp(−(bias + slope · sign)))."""

    bias: float
    slope: float

    def of(self, sign: float) -> float:
        """From 0 to 1."""
        return 1 / (1 + math.exp(-min(50.0, max(-50.0, self.bias + self.slope * sign))))


@dataclass(frozen=True, slots=True)
class Rule:
    """The constants of one space; those that count beside a cosine are in its units.

    Attributes:
        floor: a cosine that a chunk in another language than the query seldom reaches.
        growth: how much the best cosine of a query that nothing answers grows with e times as many chunks
            above the floor; taken off, so that archives of all sizes have one rule.
        word: what a chunk that holds all the query's words counts.
        speaker: what it counts that whom the query names says them all, and nobody else any.
        elsewhere: share that is taken off of the lead of what a filter leaves out.
        same: for a query in the language of the talk, of cosine and words.
        bare: the same where no words are asked, of the cosine alone.
        across: for a query in another script, where words can't match, of the best cosine over the 95th
            percentile.
    """

    floor: float
    growth: float
    word: float
    speaker: float
    elsewhere: float
    same: Logistic
    bare: Logistic
    across: Logistic


RULES = {
    "local/multilingual-e5-small/384/1": Rule(
        floor=0.75,
        growth=0.0065,
        word=0.05,
        speaker=0.02,
        elsewhere=0.6,
        same=Logistic(-44.6, 54.5),
        bare=Logistic(-49.2, 61.0),
        across=Logistic(-0.28, 96.2),
    )
}


@dataclass(frozen=True, slots=True)
class Signs:
    """What is seen of one search in the space of a rule.

    Attributes:
        chunks: how many are searched, at least 1.
        rivals: how many of them reach the rule's floor.
        top: the best cosine.
        joint: the best sum of a chunk's cosine and what its words count; None where no words are asked.
        speaker: −1 to 1: share of the query's words that whom it names says in that chunk, less what others
            say; 0 where it names nobody who speaks.
        ahead: by how much the best cosine of a chunk that is no scrap is over the 95th percentile, where the
            query is written in another script than the talk; else None.
        elsewhere: by how much a filter leaves out a better cosine.
    """

    chunks: int
    rivals: int
    top: float
    joint: float | None = None
    speaker: float = 0.0
    ahead: float | None = None
    elsewhere: float = 0.0


def probability(rule: Rule, signs: Signs) -> float:
    """How likely what is searched answers the query.

    Returns:
        From 0 to 1; calibrated for a mix of queries of which half are answered, a third are about something
        else, and a sixth have the right subject and no answer.
    """
    off = rule.growth * math.log(max(1, signs.rivals)) + rule.elsewhere * signs.elsewhere
    if signs.joint is None:
        same = rule.bare.of(signs.top - off)
    else:
        same = rule.same.of(signs.joint + rule.speaker * signs.speaker - off)
    if signs.ahead is None:
        return same
    off = rule.growth * math.log(signs.chunks) + rule.elsewhere * signs.elsewhere
    # The query may still hold words of the talk, as names of products are.
    return max(same, rule.across.of(signs.ahead - off))


def band(probability: float) -> Confidence:
    """The band of a probability."""
    return "high" if probability >= HIGH else "medium" if probability >= MEDIUM else "low"
