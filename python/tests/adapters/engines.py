"""Engines in simulated time: slots that decode at one pace, first come, first served."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable


def lengths(prompts: int, responses: int, seed: int = 7) -> list[list[int]]:
    """Response lengths with a heavy tail, capped, that differ between prompts more than inside one."""
    rng = random.Random(seed)
    rows: list[list[int]] = []
    for _ in range(prompts):
        centre = rng.lognormvariate(6.3, 0.9)
        rows.append([max(20, min(8192, int(centre * rng.lognormvariate(0, 0.4)))) for _ in range(responses)])
    return rows


class Engines:
    def __init__(self, slots: int, tokens_per_second: float = 40.0) -> None:
        self.now = 0.0
        self.generated = 0.0
        self._slots = slots
        self._pace = tokens_per_second
        self._queue: deque[tuple[str, float, Callable[[], None]]] = deque()
        self._running: dict[str, tuple[float, Callable[[], None]]] = {}

    def submit(self, request: str, tokens: int, then: Callable[[], None]) -> None:
        self._queue.append((request, float(tokens), then))
        self._admit()

    def cancel(self, request: str) -> None:
        self._running.pop(request, None)
        self._queue = deque(one for one in self._queue if one[0] != request)
        self._admit()

    def advance(self, seconds: float) -> None:
        """Lets time pass; `then` of each request is called at the time of its end."""
        until = self.now + seconds
        while True:
            left = min((tokens for tokens, _ in self._running.values()), default=float("inf"))
            step = min(until - self.now, left / self._pace)
            self.now += step
            self.generated += step * self._pace * len(self._running)
            for request, (tokens, then) in list(self._running.items()):
                self._running[request] = (tokens - step * self._pace, then)
            for request, (tokens, then) in list(self._running.items()):
                if tokens <= 1e-6:
                    del self._running[request]
                    then()
            self._admit()
            if self.now >= until - 1e-9:
                return

    def _admit(self) -> None:
        while self._queue and len(self._running) < self._slots:
            request, tokens, then = self._queue.popleft()
            self._running[request] = (tokens, then)
