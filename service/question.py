"""Whether a query asks: it then wants a statement, and a message that asks the same is no answer to it."""

from __future__ import annotations

import re

from indexer.text.normal import normal

_RU = (
    r"кто|кого|кому|кем|что|чего|чему|чем|какой|какая|какое|какие|какого|какую|каких|каким|какими|каком|какому|"
    r"где|куда|откуда|когда|как|сколько|скольк\w+|почему|зачем|отчего|чей|чья|чье|чьи|чьего|чью|чьих|ли"
)
_EN = r"what|who|whom|whose|which|where|when|why|how"
_EN_FIRST = (
    r"do|does|did|is|are|am|was|were|has|have|had|can|could|will|would|should|isn't|aren't|wasn't|weren't|"
    r"don't|doesn't|didn't|hasn't|haven't|hadn't"
)
_ASKS = re.compile(rf"\?|\b(?:{_RU}|{_EN})\b|^\W*(?:{_EN_FIRST})\b")


def asks(query: str) -> bool:
    """Whether a query is a question: by its mark, or by a word that asks; Russian and English."""
    return _ASKS.search(normal(query)) is not None
