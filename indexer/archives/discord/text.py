"""Discord's markup made readable: mentions, emoji, times and commands in angle brackets."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from typing import Any

from indexer.archives.identity import source_id
from indexer.archives.wording import label, tidy

_MARKUP = re.compile(
    r"<(?:@(?P<role>&)?!?(?P<who>\d{1,20})|\#(?P<channel>\d{1,20})|a?:(?P<emoji>\w{1,64}):\d{1,20}"
    r"|t:(?P<time>\d{1,12})(?::[A-Za-z])?|/(?P<command>[^<>:]{1,100}):\d{1,20}|(?P<url>https?://[^<>\s]{1,4000}))>"
)
# Discord takes 4,000 characters; what is longer than this is no message, and is not rewritten.
MAX_MARKUP = 1_000_000
# Names are remembered of so many members, roles and channels.
MAX_NAMES = 100_000


@dataclass(slots=True)
class Names:
    """The names behind ids, as far as the messages read so far tell them.

    Attributes:
        zone: of the times that are written out.
        people: by user id.
        roles: by role id.
        channels: by channel id.
    """

    zone: tzinfo
    people: dict[str, str] = field(default_factory=dict)
    roles: dict[str, str] = field(default_factory=dict)
    channels: dict[str, str] = field(default_factory=dict)

    def learn(self, user: object) -> None:
        """Remember the name of a user and of its roles."""
        if not isinstance(user, dict):
            return
        _remember(self.people, user, name_of(user))
        roles = user.get("roles")
        for role in roles[:250] if isinstance(roles, list) else ():
            if isinstance(role, dict):
                _remember(self.roles, role, label(role.get("name")))

    def plain(self, text: object) -> str:
        """A text with names for ids and without angle brackets around links."""
        if not isinstance(text, str):
            return ""
        return tidy(_MARKUP.sub(self._readable, text) if "<" in text and len(text) < MAX_MARKUP else text)

    def _readable(self, match: re.Match[str]) -> str:
        if match["who"]:
            names = self.roles if match["role"] else self.people
            return f"@{names.get(match['who'], match['who'])}"
        if match["channel"]:
            return f"#{self.channels.get(match['channel'], match['channel'])}"
        if match["emoji"]:
            return f":{match['emoji']}:"
        if match["command"]:
            return f"/{match['command']}"
        if match["url"]:
            return match["url"]
        try:
            return f"{datetime.fromtimestamp(int(match['time']), self.zone):%Y-%m-%d %H:%M}"
        except (ValueError, OverflowError, OSError):
            return match[0]


def name_of(user: dict[str, Any]) -> str | None:
    """The name that is shown in the guild, else the account's."""
    return label(user.get("nickname")) or label(user.get("name"))


def _remember(names: dict[str, str], row: dict[str, Any], name: str | None) -> None:
    own = source_id(row.get("id"))
    if own is not None and name is not None and len(names) < MAX_NAMES:
        names[own] = name
