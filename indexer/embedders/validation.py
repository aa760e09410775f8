"""The one check between a provider's answer and the ledger: count, dims, finite, non-zero, normalised."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from schemas.problems import Outage

_HINT = "nothing of this answer was stored; the next run asks again"
_ZERO = 1e-12


def validated(
    vectors: Sequence[Sequence[float]] | NDArray[np.float32], count: int, dims: int, provider: str
) -> NDArray[np.float32]:
    """The answer as unit rows, whatever the provider says about its norms.

    Args:
        vectors: what the provider answered, one row a text.
        count: how many texts were sent.
        dims: length of a vector in this space.
        provider: named in the error.

    Returns:
        Shape (count, dims), float32, each row of L2 norm 1.

    Raises:
        Outage: the answer is broken; the sentence holds the expected and the received number.
    """
    if len(vectors) != count:
        raise Outage(f"{provider} answered {len(vectors)} vectors for {count} texts.", _HINT)
    for row, vector in enumerate(vectors):
        if len(vector) != dims:
            raise Outage(
                f"{provider} answered {len(vector)} dimensions instead of {dims} for text {row + 1}/{count}.",
                _HINT,
            )
    try:
        rows = np.asarray(vectors, dtype=np.float64).reshape(count, dims)
    except (TypeError, ValueError):
        raise Outage(
            f"{provider} answered something else than numbers in {count} vectors of {dims}.", _HINT
        ) from None
    unit, finite, zero_rows = normalised(rows)
    if not finite.all():
        raise Outage(
            f"{provider} answered NaN or infinity in {count - int(finite.sum())} of {count} vectors.", _HINT
        )
    zero = int(zero_rows.sum())
    if zero:
        raise Outage(f"{provider} answered {zero} zero vectors among {count}.", _HINT)
    return unit


def normalised(
    rows: NDArray[np.float64],
) -> tuple[NDArray[np.float32], NDArray[np.bool_], NDArray[np.bool_]]:
    """Rows of norm 1, and which of them can't be that.

    Args:
        rows: shape (n, dims).

    Returns:
        The unit rows (those at fault are zeros), which rows are finite, and which are zero.
    """
    finite: NDArray[np.bool_] = np.asarray(np.isfinite(rows).all(axis=1))
    sound = np.where(finite[:, None], rows, 0.0)
    norms: NDArray[np.float64] = np.linalg.norm(sound, axis=1)
    # Below this a float32 row is noise around zero: its direction means nothing.
    small: NDArray[np.bool_] = np.asarray(norms < _ZERO)
    unit = sound / np.where(small, 1.0, norms)[:, None]
    unit[small] = 0.0
    return unit.astype(np.float32), finite, small & finite
