"""
Plans: each in an engine without sessions, in a thread of its own. One that takes long holds up no session, and one that
nobody waits for any more, which no engine can stop, holds up no other plan.
"""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Callable
from typing import Any

from ._engine import Engine
from ._pending import Pending
from .errors import ClientClosed, EngineLimit, RollflexError, defect

# Engines that compute at the same time; each takes as much memory as a client without sessions.
_most = 4


class Planning:
    """Engines for plans. One engine is kept for the next plan; more exist while more plans are computed."""

    def __init__(self, make: Callable[[], Engine]) -> None:
        self._make = make
        # A client that nobody holds any more is closed wherever the collector runs, within these as well.
        self._lock = threading.RLock()
        self._wake = threading.Condition(self._lock)
        self._queue: deque[tuple[Pending, str]] = deque()
        self._current: set[Pending] = set()
        self._engines: set[Engine] = set()
        self._threads = 0
        self._idle = 0
        self._ended: Exception | None = None

    @property
    def computing(self) -> int:
        """Plans that engines compute now, even if nobody waits for them."""
        return len(self._current)

    def give(self, pending: Pending, message: str) -> None:
        """Computes a plan as soon as an engine is free."""
        with self._lock:
            if self._ended is not None:
                return pending.finish(None, self._ended)
            self._queue.append((pending, message))
            if self._idle >= len(self._queue):
                self._wake.notify()
            elif self._threads < _most:
                self._threads += 1
                threading.Thread(target=self._work, name="rollflex-plan", daemon=True).start()

    def end(self, error: Exception) -> None:
        """Gives waiting calls this error. A plan in computation continues, but nobody receives it."""
        with self._lock:
            if self._ended is not None:
                return
            self._ended = error
            ended = [*self._current, *(pending for pending, _ in self._queue)]
            self._queue.clear()
            self._wake.notify_all()
            for pending in ended:
                if not pending.done:
                    pending.finish(None, error)

    def abandon(self) -> None:
        """
        Drops the engines in a forked process: their threads do not exist, and the engines may be in the middle of a
        call.
        """
        self._lock = threading.RLock()
        self._ended = ClientClosed("the client belongs to the process that this one was forked from")
        for engine in self._engines:
            engine.leak()

    def _work(self) -> None:
        engine: Engine | None = None
        while (one := self._next(kept=engine is not None)) is not None:
            pending, message = one
            answer: dict[str, Any] | None = None
            error: Exception | None = None
            try:
                if engine is None:
                    engine = self._make()
                    self._engines.add(engine)
                answer = json.loads(engine.call(message))
                if is_exhausted(answer):
                    answer, error = None, EngineLimit("the plan needs more memory than memory_limit allows")
            except RollflexError as failure:
                error = failure
            except Exception as failure:
                # A defect must not leave anybody waiting.
                error = defect(failure)
            if error is not None and engine is not None:
                # The state of the engine after the error is unknown, so it is dropped.
                self._engines.discard(engine)
                engine = None
            with self._lock:
                self._current.discard(pending)
                if not pending.done:
                    pending.finish(answer, error)
        if engine is not None:
            self._engines.discard(engine)

    def _next(self, *, kept: bool) -> tuple[Pending, str] | None:
        """Returns the next wanted plan; None if the thread is not needed any more."""
        with self._lock:
            while self._ended is None:
                while self._queue:
                    pending, message = self._queue.popleft()
                    if not pending.unwanted:
                        self._current.add(pending)
                        return pending, message
                if self._idle or not kept:
                    break
                self._idle += 1
                self._wake.wait()
                self._idle -= 1
            self._threads -= 1
        return None


def is_exhausted(answer: dict[str, Any]) -> bool:
    """Whether an answer comes from an engine without memory: such an error has a unique name, or is null."""
    data = (answer.get("error") or {}).get("data") or {}
    got = str(data.get("got")).strip('"')
    return data.get("code") == "internal" and (got.startswith("InternalError") or got == "null")
