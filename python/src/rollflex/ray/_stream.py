"""Decisions of a streaming session that are waiting for who carries them out."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Any


class Stream:
    """Gives out only what the mirror knows of: what could still be decided otherwise is held back."""

    def __init__(self) -> None:
        self._waiting: deque[tuple[int, Any]] = deque()
        self._arrived = asyncio.Event()
        self._released = 0
        self._source = 0
        self.last = 0
        """The last that has come."""
        self.acknowledged = 0
        self.closed_because: str | None = None

    def begin(self) -> int:
        """
        Resets the stream before a server sends all unacknowledged decisions; decisions from other servers are skipped.
        """
        self._waiting.clear()
        self.last = 0
        self._source += 1
        return self._source

    def begun(self, acknowledged: int) -> None:
        """Sets where the server's stream begins. Decisions may have arrived before this was known."""
        self.acknowledged = max(self.acknowledged, acknowledged)
        self.last = max(self.last, acknowledged)

    def push(self, source: int, number: int, decision: Any) -> None:
        if source == self._source and number > self.last:
            self.last = number
            self._waiting.append((number, decision))
            if number <= self._released:
                self._arrived.set()

    def release(self, upto: int) -> None:
        """Releases decisions up to this number, which are mirrored."""
        if upto > self._released:
            self._released = upto
            self._arrived.set()

    def forget(self, upto: int) -> None:
        self.acknowledged = max(self.acknowledged, upto)
        while self._waiting and self._waiting[0][0] <= upto:
            self._waiting.popleft()

    def close(self, because: str) -> None:
        self.closed_because = because
        self._arrived.set()

    async def read(self, after: int, most: int, seconds: float) -> list[tuple[int, Any]]:
        """Returns decisions after a number as soon as there are any; an empty list if none comes in time."""
        until = asyncio.get_running_loop().time() + seconds
        while True:
            self._arrived.clear()
            found: list[tuple[int, Any]] = []
            for one in self._waiting:
                if one[0] > self._released or len(found) >= most:
                    break
                if one[0] > after:
                    found.append(one)
            left = until - asyncio.get_running_loop().time()
            if found or self.closed_because is not None or left <= 0:
                return found
            try:
                await asyncio.wait_for(self._arrived.wait(), left)
            except asyncio.TimeoutError:
                return []
