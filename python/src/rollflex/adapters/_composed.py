"""Settings of a policy that composes rounds, for a data set."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_window_rounds = 10
_remembered = 1_000_000


def fitted(config: Mapping[str, Any], rows: int) -> dict[str, Any]:
    """
    The settings, for a data set of so many rows: no window is longer than it, so that no epoch overtakes another, and
    each row is remembered. Raises ValueError for less than a round.
    """
    needed = config["promptsPerRound"]
    if rows < needed:
        raise ValueError(f"the data set: expected {needed} rows at least, as many as a round has prompts, got {rows}")
    window = min(config.get("windowRounds", _window_rounds), rows // needed)
    return {"rememberedPrompts": max(_remembered, rows), **config, "windowRounds": window}
