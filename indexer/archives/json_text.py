"""The text of a JSON document as exporters really write it: encodings, escapes and control characters."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from typing import BinaryIO

from indexer.archives.lines import utf8


class Text:
    r"""The document as text in steps: UTF-8 (or what a BOM tells), made JSON where an exporter was careless.

    Telegram Desktop writes a control character as `\xHH`, which is not JSON: it becomes a space, any other
    `\xHH` becomes `\u00HH`. Raw control characters become spaces.

    Attributes:
        controls: how many control characters were replaced so far.
        legacy: True when the bytes were no UTF-8 and were read as windows-1251.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.controls = 0
        self.legacy = False

    def steps(self) -> Iterator[str]:
        """The repaired text.

        Raises:
            OSError: the stream can't be read on.
        """
        decoder, held = None, b""
        for data in utf8(self._stream):
            if decoder is None:
                self.legacy = _is_legacy(data)
                decoder = codecs.getincrementaldecoder("cp1251" if self.legacy else "utf-8")("replace")
            data = held + self._spaced(data)
            cut = len(data) - _open_escape(data)
            data, held = data[:cut], data[cut:]
            yield decoder.decode(_ESCAPE.sub(self._escape, data) if b"\\x" in data else data)
        if decoder is not None:
            yield decoder.decode(held, final=True)

    def _spaced(self, data: bytes) -> bytes:
        spaced = data.translate(_TO_SPACE)
        if spaced != data:
            self.controls += sum(data.count(code) for code in _CONTROLS)
        return spaced

    def _escape(self, match: re.Match[bytes]) -> bytes:
        code = match.group(1)
        if code is None:
            return match.group()
        if int(code, 16) < 0x20 or int(code, 16) == 0x7F:
            self.controls += 1
            return b" "
        return b"\\u00" + code


# A pair of backslashes is consumed as one escape, so that `C:\\x0C` stays what it is.
_ESCAPE = re.compile(rb"\\(?:x([0-9a-fA-F]{2})|.)", re.DOTALL)
_BEGUN = re.compile(rb"x[0-9a-fA-F]?|")
_CONTROLS = bytes(code for code in range(0x20) if code not in b"\t\n\r")
_TO_SPACE = bytes(0x20 if code in _CONTROLS else code for code in range(256))


def _open_escape(data: bytes) -> int:
    """How many bytes at the end belong to an escape that is not complete yet."""
    for width in range(3):
        body = data[: len(data) - width]
        if _BEGUN.fullmatch(data[len(body) :]) and (len(body) - len(body.rstrip(b"\\"))) % 2:
            return width + 1
    return 0


def _is_legacy(data: bytes) -> bool:
    """In UTF-8 Cyrillic a flipped byte spoils one or two of many; windows-1251 spoils nearly all."""
    spoilt = data.decode("utf-8", "replace").count("\ufffd")
    return spoilt > 2 and spoilt * 2 > sum(byte > 127 for byte in data)
