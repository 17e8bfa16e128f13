"""Settings of a policy that composes rounds, for a data set."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_remembered = 1_000_000


def fitted(config: Mapping[str, Any], rows: int) -> dict[str, Any]:
    """
    The settings for a data set with so many rows, each of which is remembered. Raises ValueError for fewer rows than a
    round, because a round has no row twice.
    """
    needed = config["promptsPerRound"]
    if rows < needed:
        raise ValueError(f"the data set: expected {needed} rows at least, as many as a round has prompts, got {rows}")
    return {"rememberedPrompts": max(_remembered, rows), **config}
