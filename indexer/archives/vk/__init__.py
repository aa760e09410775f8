"""VK's archive of one's own data: `messages/<peer>/messages0.html`, `messages50.html` …, newest first."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from datetime import tzinfo

from indexer.archives.files import ArchiveFile, ReadOptions
from indexer.archives.guarding import understood
from indexer.archives.identity import Identities, source_id
from indexer.archives.lines import unreadable, utf8, utf8_head
from indexer.archives.times import parse_time
from indexer.archives.vk.page import MAX_TEXT, Page, RawMessage
from indexer.archives.wording import label, says_something, tidy
from schemas.records import Dropped, Message, Record, Skipped

OWNER = "owner"
_OWNERS = frozenset({"Вы", "You", "Ви"})
# A page has 50 messages; what has more is turned round in windows of so many, each the oldest first.
MAX_WINDOW = 1_000
_STEP = 1 << 16
_LONGEST_HEADER = 400
_TITLE = re.compile(rb"<title>\s{0,9}VK\s{0,9}</title>", re.IGNORECASE)
_PEER = re.compile(r"-?\d{1,12}")
_MONTHS = {
    name: number
    for names in (
        "янв фев мар апр мая июн июл авг сен окт ноя дек",
        "jan feb mar apr may jun jul aug sep oct nov dec",
        "січ лют бер кві тра чер лип сер вер жов лис гру",
    )
    for number, name in enumerate(names.split(), 1)
} | {"май": 5}
_WHEN = re.compile(
    r"(?:(?P<day>\d{1,2})\s(?P<month>[^\W\d_]{3,10})\.?|(?P<month2>[^\W\d_]{3,10})\s(?P<day2>\d{1,2}),)"
    r"\s(?P<year>\d{4})\s(?:[^\W\d_]{1,3}\s)?(?P<hour>\d{1,2}):(?P<minute>\d\d)(?::(?P<second>\d\d))?"
    r"(?:\s?(?P<half>[ap])\.?m\b)?",
    re.IGNORECASE,
)
_MENTION = re.compile(r"\[(?:id|club|public)\d{1,12}\|([^\[\]|\n]{1,100})\]")
# Pictures, sounds and the like: their links lead to no words.
_MEDIA = (
    *("фото", "видео", "аудио", "голосов", "стикер", "подарок", "граффити", "история", "карта", "плейлист"),
    *("photo", "video", "audio", "voice", "sticker", "gift", "graffiti", "story", "map", "playlist"),
    *("світлина", "відео", "аудіо", "голосове", "стікер", "наліпка", "подарунок", "графіті", "історія"),
)
_MEDIA_FILE = re.compile(
    r"[^?#]{1,2000}\.(?:jpe?g|png|gif|webp|ogg|mp3|mp4|m4a|opus)(?:[?#].{0,2000})?", re.I
)


class Vk:
    """Reads the pages of messages; other pages of the archive hold no talk."""

    name = "vk"

    def fits(self, file: ArchiveFile) -> bool:
        """True for a page with VK's markup of messages, or another page of its archive."""
        head = utf8_head(file)
        if b"<" not in head[:256]:
            return False
        if b"message__header" in head and b"data-id" in head:
            return True
        return _TITLE.search(head[:8192]) is not None

    def read(self, file: ArchiveFile, options: ReadOptions) -> Iterator[Record]:
        """Yield the messages of a page, the oldest first, with VK's own ids."""
        chat = _Chat(file, options.zone)
        page = Page()
        window: list[Message] = []
        try:
            for raw in _raw_messages(file, page):
                chat.title = page.title
                for record in chat.safely(raw):
                    if isinstance(record, Message):
                        window.append(record)
                    else:
                        yield record
                if len(window) >= MAX_WINDOW:
                    yield from _oldest_first(window)
                    window = []
        except OSError as error:
            yield unreadable(file.name, error)
        else:
            if not page.ended and (chat.read or chat.is_talk):
                yield Skipped(
                    chat.place, "the page ends in the middle", "what could be read was kept; unpack it anew"
                )
            elif not chat.read:
                yield Dropped("support_file", 0)
        yield from _oldest_first(window)


def _raw_messages(file: ArchiveFile, page: Page) -> Iterator[RawMessage]:
    decoder = codecs.getincrementaldecoder(_encoding(utf8_head(file)))("replace")
    with file.open() as stream:
        for data in utf8(stream):
            for begin in range(0, len(data), _STEP):
                yield from page.feed(decoder.decode(data[begin : begin + _STEP]))
    yield from page.feed(decoder.decode(b"", final=True))
    yield from page.close()


def _encoding(head: bytes) -> str:
    """VK writes windows-1251; a page that was saved anew is UTF-8 whatever it says of itself."""
    if head.isascii():
        return "cp1251"
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return "cp1251"
    return "utf-8"


def _oldest_first(window: list[Message]) -> list[Message]:
    """By VK's ids, which rise with time; without them in the order of the page turned round."""
    turned = window[::-1]
    if all(message.id.isdecimal() for message in turned):
        turned.sort(key=lambda message: int(message.id))
    return turned


class _Chat:
    """The chat that a page belongs to, and the place that was read last."""

    def __init__(self, file: ArchiveFile, zone: tzinfo) -> None:
        self.title: str | None = None
        self.read = 0
        self.place = file.name
        self.is_talk = re.fullmatch(r"messages\d{0,9}", file.stem) is not None
        self._file, self._zone = file, zone
        self._peer = _peer(file)
        self._identities = Identities()

    def safely(self, raw: RawMessage) -> list[Record]:
        """The records of one raw message, whatever is in it."""
        self.read += 1
        self.place = f"{self._file.name}#{source_id(raw.id) or self.read}"
        return understood(self._records(raw), self.place, "a message that is not understood")

    def _records(self, raw: RawMessage) -> Iterator[Record]:
        if raw.long:
            yield Skipped(
                self.place, f"a message longer than {MAX_TEXT} characters", "its beginning was kept"
            )
        if not raw.header.strip() and not says_something(raw.body):
            yield Skipped(self.place, "a message without author and time", "unpack the archive anew")
            return
        if says_something(raw.notice):
            yield Dropped("service", len(raw.body) + len(raw.notice))
            return
        author, at, rest = _header(raw.header, self._zone)
        links, left_out = _links(raw)
        if left_out:
            yield Dropped("placeholder", left_out)
        body = _MENTION.sub(r"\1", tidy(rest + raw.body))
        text = tidy("\n".join(part for part in (body, *links) if part))
        if says_something(text):
            yield self._message(raw, author, at, text)
        elif text or not left_out:
            yield Dropped("empty", len(text))

    def _message(self, raw: RawMessage, author: str | None, at: int | None, text: str) -> Message:
        is_owner = not raw.profile and author in _OWNERS
        chat = self._peer or label(self.title) or self._file.stem
        own = source_id(raw.id)
        return Message(
            chat_id=chat,
            id=own or self._identities.derive(chat, author, at, text),
            source="vk",
            role="user",
            text=text,
            place=self.place,
            at=at,
            chat_title=label(self.title),
            author=author,
            author_id=OWNER if is_owner else source_id(raw.profile.rstrip("/").rpartition("/")[2]),
            edited=_time(raw.edited, self._zone),
        )


def _peer(file: ArchiveFile) -> str | None:
    """The folder of a page is the id of whom the talk is with: a person, -community or 2000000000 + chat."""
    above = file.parts[-2:-1] or (() if file.member else (file.path.parent.name,))
    return next((name for name in above if _PEER.fullmatch(name)), None)


def _links(raw: RawMessage) -> tuple[list[str], int]:
    """Links that are worth a search, and how many characters of what hangs on the message are left out."""
    links: list[str] = []
    left_out = 0
    for one in raw.attachments:
        left_out += len(one.kind.strip())
        link = one.link.strip()
        if one.kind.strip().casefold().startswith(_MEDIA) or _MEDIA_FILE.fullmatch(link):
            left_out += len(link)
        elif link and link not in raw.body and link not in links:
            links.append(link)
    return links, left_out


def _header(header: str, zone: tzinfo) -> tuple[str | None, int | None, str]:
    """Author and time of `Вы, 3 дек 2018 в 17:44:05`, and what stands behind them where a tag is damaged."""
    words = " ".join(header.split())
    match = _WHEN.search(words, 0, _LONGEST_HEADER)
    if match is None:
        return label(words[:_LONGEST_HEADER].rpartition(",")[0] or words[:_LONGEST_HEADER]), None, ""
    return label(words[: match.start()].rstrip(" ,")), _moment(match, zone), words[match.end() :]


def _time(words: str, zone: tzinfo) -> int | None:
    match = _WHEN.search(" ".join(words.split()))
    return None if match is None else _moment(match, zone)


def _moment(match: re.Match[str], zone: tzinfo) -> int | None:
    month = _MONTHS.get((match["month"] or match["month2"])[:3].casefold())
    if month is None:
        return None
    hour = int(match["hour"])
    if match["half"] and hour <= 12:
        hour = hour % 12 + (12 if match["half"].lower() == "p" else 0)
    day = int(match["day"] or match["day2"])
    clock = f"{hour:02}:{match['minute']}:{match['second'] or '00'}"
    return parse_time(f"{match['year']}-{month:02}-{day:02} {clock}", zone)
