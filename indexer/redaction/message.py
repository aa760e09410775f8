"""A message without secrets, in its text and in everything else that is stored of it."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import replace

from indexer import redaction
from indexer.text.normal import scrubbed
from schemas.records import Message


def clean(message: Message, counts: Counter[str]) -> tuple[Message, bytes]:
    """The clean message, with the sha256 of its text; secrets are counted by kind in `counts`."""
    text = redaction.redacted(scrubbed(message.text), counts)
    clean = replace(
        message,
        text=text,
        chat_id=scrubbed(message.chat_id),
        id=scrubbed(message.id),
        chat_title=one_line(message.chat_title),
        author=one_line(message.author),
        author_id=_scrubbed(message.author_id),
        session=_scrubbed(message.session),
        reply_to=_scrubbed(message.reply_to),
        origin=_scrubbed(message.origin),
        copied_from=_scrubbed(message.copied_from),
        # Spans of a text that the redactor changed mean nothing any more.
        windows=message.windows if text == message.text else (),
        place=scrubbed(message.place),
        meta={scrubbed(key): redaction.redacted(scrubbed(value)) for key, value in message.meta.items()},
    )
    return clean, hashlib.sha256(text.encode()).digest()


def _scrubbed(value: str | None) -> str | None:
    return None if value is None else scrubbed(value)


def one_line(name: str | None) -> str | None:
    """A title or a name on one line: it stands in headers and must not forge one."""
    if name is None:
        return None
    return redaction.redacted(" ".join(scrubbed(name).split()))[:200] or None
