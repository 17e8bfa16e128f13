"""Whether servers generate with the weights that a round is of, as far as they tell."""

from __future__ import annotations

import logging

from .engines import Generated

logger = logging.getLogger("rollflex")


class Weights:
    """Warns once per engine and version that its weights differ from the expected ones."""

    def __init__(self) -> None:
        self._counts: set[str] = set()
        """Engines that have told a number."""
        self._said: set[tuple[str, str]] = set()

    def look(self, found: Generated, expected: int) -> None:
        """
        Checks a response. ``expected`` is the version with which it was launched. Newer versions come from an update
        meanwhile.
        """
        if not found.weight_spans:
            return
        engine, told = found.engine_id, found.weight_spans[-1].version
        if told.isdecimal():
            self._counts.add(engine)
            if int(told) >= expected:
                return
        elif engine not in self._counts:
            # The trainer does not number the weights there.
            return
        if (engine, told) not in self._said:
            self._said.add((engine, told))
            logger.error(
                "engine %s generates with weights %r, and the round is of %d: it has missed an update, or was started "
                "again with other weights. Give it the weights of the round, and their version as its number",
                *(engine, told, expected),
            )
