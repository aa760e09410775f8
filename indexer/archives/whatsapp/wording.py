"""What WhatsApp itself writes into a message: placeholders, deleted texts, marks of an edit.

Phrases of exports in Russian, English, German, Spanish, Portuguese, French, Italian, Turkish and Ukrainian.
In other languages U+200E before a text, which WhatsApp for iOS sets, tells its words from a person's.
"""

from __future__ import annotations

import itertools
import re
from typing import Literal, NamedTuple

from indexer.archives.whatsapp.layout import MARKS

# Nouns and what is said of them, by language in the order above.
_OMITTED = (
    (
        "изображение, фото, видео, аудио, аудиофайл, стикер, gif, документ, карточка контакта, контакт, "
        "файл, видеосообщение, голосовое сообщение, медиафайл",
        "отсутствует, не добавлен, не добавлено, не добавлена, пропущен, пропущено, пропущена",
    ),
    (
        "image, photo, video, audio, sticker, gif, document, contact card, video note, voice message, album, "
        "media, file, view once voice message",
        "omitted",
    ),
    (
        "bild, foto, video, audio, sticker, gif, dokument, kontaktkarte, videonachricht, sprachnachricht, "
        "datei, medien",
        "weggelassen, ausgelassen, ausgeschlossen",
    ),
    (
        "imagen, foto, video, vídeo, audio, sticker, gif, documento, tarjeta de contacto, nota de video, "
        "nota de vídeo, nota de voz, multimedia, archivo",
        "omitido, omitida",
    ),
    (
        "imagem, foto, vídeo, áudio, figurinha, sticker, gif, documento, cartão de contato, contato, "
        "contacto, ficheiro de áudio, ficheiro, ficheiro multimédia, mídia, arquivo de mídia, "
        "mensagem de voz, mensagem de vídeo",
        "omitido, omitida, oculto, oculta, ocultado, ocultada, não revelado, não revelada",
    ),
    (
        "image, photo, vidéo, audio, sticker, gif, document, fiche contact, message vidéo, message vocal, "
        "fichier, média, médias",
        "absente, absent, omis, omise, retiré, manquant, manquante",
    ),
    (
        "immagine, foto, video, audio, sticker, gif, documento, scheda contatto, videomessaggio, file, "
        "media, messaggio vocale",
        "omesso, omessa, omessi, escluso, esclusa, esclusi, non incluso, non inclusa",
    ),
    (
        "görüntü, resim, fotoğraf, video, ses, çıkartma, gif, belge, kişi kartı, medya, dosya, sesli mesaj, "
        "video notu",
        "dahil edilmedi, atlandı, eklenmedi",
    ),
    (
        "зображення, фото, відео, аудіо, аудіофайл, стікер, стикер, наліпка, наклейку, gif, gif-анімацію, "
        "файл, документ, картка контакту, контакт, відеоповідомлення, голосове повідомлення, медіа, "
        "медіафайл, медіафайли",
        "відсутнє, відсутній, відсутня, пропущено, не додано, не включено",
    ),
)
PLACEHOLDERS = frozenset(
    f"{noun} {told}"
    for nouns, all_said in _OMITTED
    for noun, told in itertools.product(nouns.split(", "), all_said.split(", "))
) | {
    *("без медиафайлов", "без медиа", "без медіафайлів", "без медіа", "медиафайлы не включены"),
    *(
        "medien nicht enthalten",
        "sin multimedia",
        "sem mídia",
        "sans médias",
        "senza media",
        "medyasız",
        "null",
    ),
}

DELETED = frozenset(
    {
        *("данное сообщение удалено", "это сообщение удалено", "это сообщение было удалено"),
        *("сообщение удалено", "вы удалили данное сообщение", "вы удалили это сообщение"),
        *("this message was deleted", "you deleted this message", "message deleted"),
        *("diese nachricht wurde gelöscht", "du hast diese nachricht gelöscht"),
        *("se eliminó este mensaje", "este mensaje fue eliminado", "eliminaste este mensaje"),
        *("mensaje eliminado", "esta mensagem foi apagada", "esta mensagem foi eliminada"),
        *("você apagou esta mensagem", "apagou esta mensagem", "eliminou esta mensagem", "mensagem apagada"),
        *("ce message a été supprimé", "vous avez supprimé ce message", "message supprimé"),
        *("questo messaggio è stato eliminato", "hai eliminato questo messaggio"),
        *("questo messaggio è stato cancellato", "messaggio eliminato"),
        *("bu mesaj silindi", "bu mesajı sildiniz", "bu mesajı sildin"),
        *("це повідомлення видалено", "це повідомлення було видалено", "ви видалили це повідомлення"),
        *("повідомлення видалено",),
    }
)
_DELETED_BY = ("данное сообщение удалено админ", "this message was deleted by admin")

EDITED = frozenset(
    {
        *("сообщение изменено", "это сообщение изменено", "данное сообщение изменено"),
        *("this message was edited", "message edited"),
        *("diese nachricht wurde bearbeitet", "nachricht bearbeitet"),
        *("se editó este mensaje", "este mensaje fue editado", "mensaje editado"),
        *("mensagem editada", "esta mensagem foi editada"),
        *("ce message a été modifié", "message modifié"),
        *("questo messaggio è stato modificato", "messaggio modificato"),
        *("bu mesaj düzenlendi", "mesaj düzenlendi"),
        *("повідомлення змінено", "це повідомлення змінено", "це повідомлення було змінено"),
    }
)

# Where the marks are lost (a file that went through an editor), the first line of a talk is known by how its
# text begins.
_NOTICED = 22
_NOTICES = frozenset(
    text[:_NOTICED]
    for text in (
        *("Сообщения и звонки защищены сквозным", "Messages and calls are end-to-end encrypted"),
        *("Messages to this chat and calls are", "Nachrichten und Anrufe sind Ende-zu-Ende"),
        *("Los mensajes y las llamadas están cifrados", "As mensagens e as chamadas são"),
        *("As mensagens e ligações são", "As mensagens e chamadas são encriptadas"),
        *("Les messages et les appels sont chiffrés", "I messaggi e le chiamate sono crittografati"),
        *(
            "Mesajlar ve aramalar uçtan uca",
            "Повідомлення й дзвінки захищено",
            "Повідомлення та дзвінки захищено",
        ),
    )
)

_ATTACHED = re.compile(r"<[^<>:\n]{2,30}:\s[^<>\n]{1,255}\.\w{1,5}>")
_FILE = re.compile(r"(?P<name>[^\n]{1,255}\.\w{1,5}) \((?P<said>[^()\n]{3,40})\)")
_OWN_FILE = re.compile(r"[A-Z]{2,8}-\d{8}-WA\d{1,6}\.\w{1,5}")
_FILE_ATTACHED = frozenset(
    {"файл добавлен", "файл прикреплен", "файл прикреплён", "file attached", "datei angehängt"}
    | {"archivo adjunto", "arquivo anexado", "ficheiro anexado", "fichier joint", "file allegato"}
    | {"dosya ekli", "dosya eklendi", "файл додано", "файл вкладено", "файл прикріплено"}
)
_LRM = "\u200e"
_ANY_MARK = re.compile(f"[{MARKS}]")
# The longest of the phrases above, with some air: what is longer needs no look at them.
_LONGEST_PHRASE = 60
_PHRASES = PLACEHOLDERS | DELETED
_ENDS = (">", ")", " ", "")
_AROUND = f" \t\r\xa0\u202f{MARKS}"


class Said(NamedTuple):
    """What a person said in a message.

    Attributes:
        text: without WhatsApp's own words and marks.
        left_out: characters of its own words.
        kind: as what a message without text is counted, or None.
    """

    text: str
    left_out: int = 0
    kind: Literal["placeholder", "deleted", "service"] | None = None


def said(body: str, for_group: bool = False) -> Said:
    """Tell a person's words from WhatsApp's.

    Args:
        body: the message as it stands in the file, all its lines.
        for_group: True when its author never says a word of its own (iOS gives a group's notices its name).
    """
    if body.isprintable() and body[-1:] not in _ENDS and body[:_NOTICED] not in _NOTICES:
        # Neither a mark nor a second line: the usual message, which nothing needs to be cut from.
        folded = body.casefold() if len(body) <= _LONGEST_PHRASE else ""
        if folded.rstrip(". ") not in _PHRASES and not folded.startswith(_DELETED_BY):
            return Said(body)
    marked = _ANY_MARK.search(body) is not None
    text = _unedited(body)
    if _is_deleted(text):
        return Said("", len(body), "deleted")
    lines = text.split("\n")
    kept = [
        _own(line) if number in (0, len(lines) - 1) or (marked and _LRM in line) else line
        for number, line in enumerate(lines)
    ]
    text = _ANY_MARK.sub("", "\n".join(kept)).strip() if marked or kept != lines else text.strip()
    left_out = sum(map(len, lines)) - sum(map(len, kept))
    if not text:
        return Said("", left_out, "placeholder" if left_out else None)
    if (
        kept == lines
        and "\n" not in text
        and (text[:_NOTICED] in _NOTICES or _generated(body, text, for_group))
    ):
        short = len(text) <= _LONGEST_PHRASE and not for_group
        return Said("", len(text), "placeholder" if short else "service")
    return Said(text, left_out, "placeholder" if left_out else None)


def _folded(text: str) -> str:
    return " ".join(_ANY_MARK.sub("", text).casefold().split()).removesuffix(".")


def _unedited(body: str) -> str:
    """The text without the mark of an edit at its end."""
    end = body.rstrip(_AROUND)
    if not end.endswith(">"):
        return body
    begin = end.rfind("<", -_LONGEST_PHRASE)
    if begin >= 0 and _folded(end[begin + 1 : -1]) in EDITED:
        return end[:begin].rstrip(_AROUND + "\n")
    return body


def _is_deleted(text: str) -> bool:
    if len(text) > 2 * _LONGEST_PHRASE or "\n" in text.strip():
        return False
    folded = _folded(text)
    return folded in DELETED or folded.startswith(_DELETED_BY)


def _own(line: str) -> str:
    """A line without a placeholder, which is all of it or what stands after its last mark."""
    if _is_placeholder(line):
        return ""
    begin = line.rfind(_LRM)
    if begin > 0 and _is_placeholder(line[begin:]):
        return line[:begin].rstrip(_AROUND)
    return line


def _is_placeholder(line: str) -> bool:
    if len(line) > 320:
        return False
    bare = line.strip(_AROUND)
    if bare[-1:] == ")":
        match = _FILE.fullmatch(_ANY_MARK.sub("", bare))
        return match is not None and (
            match["said"].casefold() in _FILE_ATTACHED or _OWN_FILE.fullmatch(match["name"]) is not None
        )
    if bare[-1:] == ">":
        if not bare.startswith("<"):
            return False
        return _folded(bare[1:-1]) in PLACEHOLDERS or _ATTACHED.fullmatch(bare) is not None
    return len(bare) <= _LONGEST_PHRASE and _folded(bare) in PLACEHOLDERS


def _generated(body: str, text: str, for_group: bool) -> bool:
    """A single line after a mark, in whatever language; polls, places and copied numbers are a person's."""
    if not body.lstrip(" ").startswith(_LRM):
        return False
    if for_group:
        return True
    return (text[0].isalpha() or text[0] == "<") and "://" not in text and not text.endswith(":")
