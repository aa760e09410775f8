"""The one check between a provider's answer and the ledger: count, dims, finite, non-zero, normalised."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from schemas.problems import Outage

_HINT = "nothing of this answer was stored; the next run asks again"


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
    finite = np.isfinite(rows).all(axis=1)
    if not finite.all():
        raise Outage(
            f"{provider} answered NaN or infinity in {count - int(finite.sum())} of {count} vectors.", _HINT
        )
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    # Below this a float32 row is noise around zero: its direction means nothing.
    zero = int((norms < 1e-12).sum())
    if zero:
        raise Outage(f"{provider} answered {zero} zero vectors among {count}.", _HINT)
    unit: NDArray[np.float32] = (rows / norms).astype(np.float32)
    return unit
