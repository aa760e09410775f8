"""int8 vectors: each row scaled by its own largest component, which a cosine does not see."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def quantised(vectors: NDArray[np.float32]) -> NDArray[np.int8]:
    """Rows of float32 (n, dims) as int8, the largest component of each row at ±127."""
    peak = np.abs(vectors).max(axis=1, keepdims=True)
    return np.rint(vectors * (127.0 / np.where(peak > 0, peak, 1.0))).astype(np.int8)


def normalised(rows: NDArray[np.int8]) -> NDArray[np.float32]:
    """int8 rows (n, dims) as float32 of length 1."""
    floats = rows.astype(np.float32)
    norms = np.linalg.norm(floats, axis=1, keepdims=True)
    np.divide(floats, norms, out=floats, where=norms > 0)
    return floats
