"""Engines whose requests fail: others are asked first for a while."""

from __future__ import annotations

import time
from dataclasses import dataclass

_longest_pause_seconds = 60.0


@dataclass
class _Failing:
    failures: int = 0
    until: float = 0.0
    asked: str = ""
    """The request that tries the engine again."""
    turn: int = 0
    """Number of the last request that went to the engine since its first failure."""


class FailingEngines:
    """
    Avoids failing engines. An engine that refuses at once has the fewest requests, and would get all of them. So it is
    avoided for 1, 2, 4 … 60 s, and then gets one request. Engines that all fail take turns: the policy must see that each
    of them fails, and not one of them only.
    """

    def __init__(self) -> None:
        self._all: dict[str, _Failing] = {}
        self._turns = 0

    def __contains__(self, id: object) -> bool:
        return id in self._all

    def failed(self, id: str) -> None:
        """Doubles the pause, but not for requests that were already running when it began."""
        one = self._all.setdefault(id, _Failing())
        now = time.monotonic()
        if now >= one.until:
            one.until = now + min(2.0**one.failures, _longest_pause_seconds)
            one.failures = min(one.failures + 1, 6)

    def succeeded(self, id: str) -> None:
        self._all.pop(id, None)

    def is_avoided(self, id: str) -> bool:
        one = self._all.get(id)
        return one is not None and (one.asked != "" or time.monotonic() < one.until)

    def rank(self, id: str) -> tuple[bool, int]:
        """Orders engines: those that are not avoided come first, then the one whose last request is the longest ago."""
        avoided = self.is_avoided(id)
        return avoided, self._all[id].turn if avoided else 0

    def begin(self, id: str, request_id: str) -> None:
        """Notes that a request goes to this engine."""
        one = self._all.get(id)
        if one is not None:
            self._turns += 1
            one.asked, one.turn = request_id, self._turns

    def end(self, id: str, request_id: str) -> None:
        one = self._all.get(id)
        if one is not None and one.asked == request_id:
            one.asked = ""
