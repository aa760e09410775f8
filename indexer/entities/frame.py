"""The spaCy frame: a tokeniser, a Doc, and the named-entity component of the chosen backend in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from indexer.entities import models
from indexer.entities.patterns import Span
from indexer.entities.tokenizer import RazdelTokenizer

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

# slovnet looks at a few words around; shorter sequences of equal length waste less padding.
BATCH = 16
_MEMORY = 50_000


class Names(Protocol):
    """Finds PER, LOC and ORG."""

    def names(self, texts: Sequence[str]) -> Iterator[list[Span]]:
        """Spans of each text, in the order of the texts.

        Args:
            texts: truecased texts of any length, free of lone surrogates.
        """
        ...


class NoNames:
    """The backend `patterns`: no model, no names."""

    def names(self, texts: Sequence[str]) -> Iterator[list[Span]]:
        """Nothing for each text."""
        return iter([[] for _ in texts])


class SlovnetComponent:
    """slovnet's named-entity tagger as a spaCy component: reads a Doc's tokens, sets its `ents`."""

    def __init__(self) -> None:
        from navec import Navec
        from slovnet import NER
        from slovnet.shape import word_shape

        from indexer.entities.network import Network

        found = models.weights()
        if found is None:
            raise FileNotFoundError(models.SLOVNET)
        tagger = NER.load(str(found[1]), batch_size=BATCH)
        tagger.navec(Navec.load(str(found[0])))
        self._infer = tagger.infer
        self._network = Network(self._infer.model)
        self._shape = word_shape
        self._seen: dict[int, _Token] = {}

    def __call__(self, doc: Doc) -> Doc:
        """Tag one Doc."""
        return next(self.pipe([doc]))

    def pipe(self, docs: Iterable[Doc], batch_size: int = BATCH) -> Iterator[Doc]:
        """Tag Docs batch by batch.

        Args:
            docs: the Docs, best of similar length.
            batch_size: how many go through the network at once.
        """
        batch: list[Doc] = []
        for doc in docs:
            batch.append(doc)
            if len(batch) == batch_size:
                yield from self._tagged(batch)
                batch = []
        if batch:
            yield from self._tagged(batch)

    def _tagged(self, docs: list[Doc]) -> Iterator[Doc]:
        filled: list[tuple[Doc, list[int]]] = []
        items: list[tuple[list[int], list[int]]] = []
        for doc in docs:
            tokens = self._tokens(doc)
            places = [place for place, token in enumerate(tokens) if not token.blank]
            if places:
                filled.append((doc, places))
                items.append(
                    ([tokens[place].word for place in places], [tokens[place].shape for place in places])
                )
        if items:
            read = self._infer.encoder.input(items)
            emissions = self._network(read.word_id, read.shape_id, read.pad_mask)
            tagged = self._infer.model.head.crf.decode(emissions, ~read.pad_mask)
            for (doc, places), tags in zip(filled, self._infer.decoder(tagged), strict=True):
                _set(doc, places, tags)
        yield from docs

    def _tokens(self, doc: Doc) -> list[_Token]:
        """What the network reads of each token; making Token objects would cost more than the lookup."""
        seen = self._seen
        if len(seen) > _MEMORY:
            seen.clear()
        tokens = []
        for orth in doc.to_array("ORTH").tolist():
            token = seen.get(orth)
            if token is None:
                token = seen[orth] = self._token(doc.vocab.strings[orth])
            tokens.append(token)
        return tokens

    def _token(self, text: str) -> _Token:
        encoder = self._infer.encoder
        return _Token(
            encoder.words_vocab.encode(text.lower()),
            encoder.shapes_vocab.encode(self._shape(text)),
            text.isspace(),
        )


class _Token(NamedTuple):
    """The numbers of a word and of its shape in slovnet's vocabularies, and whether it is white space."""

    word: int
    shape: int
    blank: bool


def _set(doc: Doc, places: list[int], tags: Sequence[str]) -> None:
    from spacy.tokens import Span as SpacySpan

    ents: list[Any] = []
    start = end = 0
    label = ""
    for place, tag in [*zip(places, tags, strict=True), (len(doc), "O")]:
        mark, _, kind = tag.partition("-")
        if mark == "I" and kind == label:
            end = place + 1
            continue
        if label:
            ents.append(SpacySpan(doc, start, end, label=label))
        label = kind
        start, end = place, place + 1
    doc.ents = tuple(ents)


def slovnet_pipeline() -> Language:
    """A blank Russian pipeline with razdel's tokens and the slovnet component."""
    import spacy
    from spacy.language import Language

    if not Language.has_factory("letopis_slovnet"):
        Language.factory("letopis_slovnet", func=lambda nlp, name: SlovnetComponent())
    nlp = spacy.blank("ru")
    # Shapes, prefixes and number words of every new lexeme cost a fifth of the time, and nothing reads them.
    nlp.vocab.lex_attr_getters = {}  # type: ignore[attr-defined]
    nlp.tokenizer = RazdelTokenizer(nlp.vocab)
    nlp.add_pipe("letopis_slovnet")
    return nlp


def spacy_pipeline() -> Language:
    """spaCy's own Russian model, only what names need of it; checked by `models.genuine_spacy` before."""
    import spacy

    return spacy.load(
        models.SPACY, exclude=["parser", "senter", "lemmatizer", "attribute_ruler", "morphologizer"]
    )


class Frame:
    """A pipeline that keeps its memory flat.

    Args:
        nlp: the pipeline; the labels of its `ents` are PER, LOC, ORG.
    """

    def __init__(self, nlp: Language) -> None:
        self._nlp = nlp

    def names(self, texts: Sequence[str]) -> Iterator[list[Span]]:
        """Spans of each text, in the order of the texts.

        The texts run sorted by length (slovnet is twice as fast so) inside a memory zone: the strings that
        they add to the vocabulary are freed at its end.

        Args:
            texts: truecased texts below nlp.max_length characters, free of lone surrogates.
        """
        found: list[list[Span]] = [[] for _ in texts]
        order = sorted(
            (number for number, text in enumerate(texts) if text.strip()), key=lambda n: len(texts[n])
        )
        with self._nlp.memory_zone():
            pairs = ((texts[number], number) for number in order)
            for doc, number in self._nlp.pipe(pairs, as_tuples=True, batch_size=BATCH):
                found[number] = [Span(ent.start_char, ent.end_char, ent.label_) for ent in doc.ents]
        return iter(found)


def names_of(used: models.Used) -> Names:
    """The names part of a backend; loads its model."""
    if used == "patterns":
        return NoNames()
    return Frame(spacy_pipeline() if used == "spacy" else slovnet_pipeline())
