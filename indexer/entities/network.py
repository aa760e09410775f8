"""slovnet's network over arrays: the same sums as its own, most of them made once a word, not once a token.

The first convolution is two thirds of the work, and it is linear in the words: what a word adds to its left
neighbour, to itself and to its right neighbour depends on the word alone and is remembered.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]

# Words whose part in the first layer is remembered; 16,384 rows of 3 · 256 numbers are 50 MB.
ROWS = 16_384
# More shapes than slovnet tells apart.
_SHAPES = 1_024


class Network:
    """The emissions of slovnet's tagger for a batch of words.

    Args:
        model: `slovnet.NER.infer.model`, its word vectors filled in.
    """

    def __init__(self, model: Any) -> None:
        first, *later = [_Layer(layer) for layer in model.encoder.layers]
        self._embed = model.emb
        self._first, self._later = first, later
        self._project = model.head.proj
        self._rows: dict[int, int] = {}
        self._parts = np.empty((ROWS, first.width * first.filters), dtype=np.float32)

    def __call__(self, word_id: Ints, shape_id: Ints, pad_mask: NDArray[np.bool_]) -> Floats:
        """Emissions of each word and tag.

        Args:
            word_id: numbers of the words, (texts, words).
            shape_id: numbers of their shapes, likewise.
            pad_mask: True where a text has no word.

        Returns:
            An array (texts, words, tags).
        """
        x = self._first.finished(self._shared(word_id, shape_id), pad_mask)
        for layer in self._later:
            x = layer.finished(layer.convolved(x), pad_mask)
        return np.asarray(self._project(x), dtype=np.float32)

    def _shared(self, word_id: Ints, shape_id: Ints) -> Floats:
        """The first convolution, from the remembered parts of the words."""
        codes, place = np.unique(word_id * _SHAPES + shape_id, return_inverse=True)
        parts = self._of(codes)[place.reshape(word_id.shape)]
        width, filters = self._first.width, self._first.filters
        length = word_id.shape[1]
        total = np.zeros((len(word_id), length, filters), dtype=np.float32)
        for number in range(width):
            shift = number - width // 2
            part = parts[:, :, number * filters : (number + 1) * filters]
            low, high = max(0, -shift), min(length, length - shift)
            total[:, low:high] += part[:, low + shift : high + shift]
        return total

    def _of(self, codes: Ints) -> Floats:
        """What each distinct word adds to its neighbourhood, (words, width · filters)."""
        if len(codes) > ROWS:
            return self._made(codes)
        listed = codes.tolist()
        fresh = [code for code in listed if code not in self._rows]
        if len(self._rows) + len(fresh) > ROWS:
            self._rows.clear()
            fresh = listed
        if fresh:
            rows = range(len(self._rows), len(self._rows) + len(fresh))
            self._parts[rows.start : rows.stop] = self._made(np.array(fresh, dtype=np.int64))
            self._rows.update(zip(fresh, rows, strict=True))
        return self._parts[[self._rows[code] for code in listed]]

    def _made(self, codes: Ints) -> Floats:
        vectors = self._embed(codes // _SHAPES, codes % _SHAPES)
        return np.asarray(vectors @ self._first.wide, dtype=np.float32)


class _Layer:
    """One convolution with its rectifier and normalisation, weights laid out for rows of words."""

    def __init__(self, layer: Any) -> None:
        weight = layer.conv.weight.array  # filters, inputs, width
        self.filters, inputs, self.width = weight.shape
        self.wide = np.ascontiguousarray(weight.transpose(1, 2, 0).reshape(inputs, -1))
        self._tall = np.ascontiguousarray(weight.transpose(2, 1, 0).reshape(-1, self.filters))
        self._bias = layer.conv.bias.array
        norm = layer.norm
        self._scale = norm.weight.array / norm.std.array
        self._shift = norm.bias.array - norm.mean.array * self._scale

    def convolved(self, x: Floats) -> Floats:
        """The sum over the neighbourhood of each word, zeros beyond both ends."""
        texts, length, inputs = x.shape
        reach = self.width // 2
        padded = np.zeros((texts, length + 2 * reach, inputs), dtype=np.float32)
        padded[:, reach : reach + length] = x
        windows = np.concatenate(
            [padded[:, number : number + length] for number in range(self.width)], axis=2
        )
        flat: Floats = windows.reshape(texts * length, -1) @ self._tall
        return flat.reshape(texts, length, self.filters)

    def finished(self, total: Floats, pad_mask: NDArray[np.bool_]) -> Floats:
        """Bias, rectifier and normalisation, in place; nothing where there is no word."""
        total += self._bias
        np.maximum(total, 0, out=total)
        total *= self._scale
        total += self._shift
        total[pad_mask] = 0
        return total
