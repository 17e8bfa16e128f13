"""The policies in this process: calls are answered by a JavaScript engine, at once where they are short."""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections import deque
from typing import Any

from ._core import Core
from ._engine import Engine, QuickJs
from ._kept import KeptEngine
from ._messages import encode, is_deeper_than, too_deep
from ._opening import Embedding
from ._pending import Again, Pending
from ._planning import Planning, is_exhausted
from .errors import ClientClosed, EngineLimit, RollflexError, defect

_decode = json.JSONDecoder().raw_decode
# Longer messages, and methods that may take long, go to the thread, so that the caller can be interrupted and its loop
# continues.
_longest_at_once = 16_384
_long = frozenset({"rpc.discover", "session.snapshot", "session.why"})
# Bytes around method and parameters in a message over a connection, beyond those here.
_frame_bytes = 25
_close_grace = 1.0
# Python's clock may be ahead of the engine's clock, which counts milliseconds.
_late = 0.001


class EmbeddedCore(Core):
    """
    An engine, and the thread that uses it. For a short call while nobody waits, this is the thread of the caller;
    otherwise it is a separate thread, which also loads the engine and moves its clock. Plans have separate engines.
    """

    def __init__(self, embedding: Embedding) -> None:
        super().__init__()
        self.embedding = embedding
        self._engine: Engine | None = None
        self._planning = Planning(self._engine_made)
        # The caller can be interrupted while it waits for a disk, and its loop continues.
        self._is_quick = embedding.state_dir is None or embedding.fsync == "interval"
        self._longest: float = 0
        self._deepest: int = 0
        self._due: float | None = None
        """Time at which the engine's clock must move next."""
        self._watched: float | None = None
        """State that the thread reads while it waits."""
        self._busy = True
        """Whether somebody uses the engine; at first this is the thread that makes it."""
        self._queue: deque[tuple[Pending, str]] = deque()
        self._current: Pending | None = None
        """The call that the thread is at."""
        self._wake = threading.Condition(self._lock)
        self._thread = threading.Thread(target=self._work, name="rollflex", daemon=True)
        self._thread.start()

    def start_text(
        self, method: str, params: str, again: Again = "same", owner: object = None, again_params: str | None = None
    ) -> Pending:
        message = f'{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}'
        size = len(message)
        if size > self._longest - _frame_bytes and self._longest:
            self._assert_fits(size + _frame_bytes, self._longest)
        pending = Pending(1, method, b"", again, owner)
        pending.sent = 1
        if self._deepest and is_deeper_than(message, self._deepest):
            pending.finish(too_deep(self._deepest))
            return pending
        if method == "plan":
            self.nudge()
            self._planning.give(pending, message)
            return pending
        self._give(pending, message, at_once=self._is_quick and size <= _longest_at_once and method not in _long)
        return pending

    def notify(self, method: str, params: object) -> None:
        message = f'{{"jsonrpc":"2.0","method":"{method}","params":{encode(params)}}}'
        with contextlib.suppress(RollflexError):
            self._give(Pending(0, method, b"", "never", None), message, at_once=self._is_quick)

    def close(self) -> None:
        """Forgets the sessions. A running call of the engine continues."""
        self._end("closed", ClientClosed("the client was closed"))
        if self._thread is not threading.current_thread():
            self._thread.join(_close_grace)

    def abandon(self) -> None:
        if self._state == "closed":
            return
        self._lock = threading.RLock()
        self._state = "elsewhere"
        if self._busy and self._engine is not None:
            self._engine.leak()
        self._planning.abandon()

    def _give(self, pending: Pending, message: str, *, at_once: bool) -> None:
        with self._lock:
            self._assert_usable()
            if self._busy or self._queue or not at_once:
                self._queue.append((pending, message))
                if not self._busy:
                    self._wake.notify()
                return
            self._busy = True
        try:
            self._answer(pending, message)
        finally:
            self._leave()

    def _leave(self) -> None:
        """Gives the engine back; the thread handles what has come meanwhile."""
        with self._lock:
            self._busy = False
            if self._state in ("closed", "failed"):
                self._let_go()
            if self._queue or self._due != self._watched:
                self._wake.notify()

    def _answer(self, pending: Pending, message: str) -> None:
        """Calls the engine on behalf of its present user, and passes on the answer."""
        engine = self._engine
        if engine is None:
            return
        try:
            lines = engine.call(message)
        except RollflexError as error:
            return self._failed(pending, error)
        if not pending.id:
            return self._take_news(lines)
        answer, end = _decode(lines)
        if "error" in answer and is_exhausted(answer):
            return self._failed(pending, EngineLimit("the policies need more memory than memory_limit allows"))
        pending.connection = 1
        self._finish(pending, answer)
        if end < len(lines):
            self._take_news(lines)

    def _take_news(self, lines: str) -> None:
        """Reads when the clock must move next, and streamed decisions."""
        _, *news = lines.split("\n")
        if news:
            self._due = float(news[0]) if news[0] else None
            for one in news[1:]:
                self._notified(json.loads(one))

    def _finish(self, pending: Pending, answer: dict[str, Any] | None, error: Exception | None = None) -> None:
        """Ends a call, if the end of the client has not."""
        with self._lock:
            if pending.done:
                return
            pending.finish(answer, error)

    def _failed(self, pending: Pending, error: RollflexError) -> None:
        self._finish(pending, None, error)
        self._end("failed", type(error)(f"{error}; what ran in the engine is gone: make a new client"))

    def _end(self, state: str, error: Exception) -> None:
        with self._lock:
            if self._state in ("closed", "failed", "elsewhere"):
                # A client that has failed can still be closed.
                if self._state == "failed":
                    self._state = state
                return
            self._state, self._error, self._due = state, error, None
            if not self._busy:
                self._let_go()
            ended = [self.ready, *(pending for pending, _ in self._queue)]
            if self._current is not None:
                ended.append(self._current)
            self._queue.clear()
            self._wake.notify()
            for pending in ended:
                if not pending.done:
                    pending.finish(None, error)
        self._planning.end(error)
        for one in self.attached():
            one.lost(error)

    def _let_go(self) -> None:
        engine, self._engine = self._engine, None
        if engine is not None:
            engine.close(orderly=self._state == "closed")

    def _work(self) -> None:
        """Main function of the thread."""
        try:
            self._load()
            while self._wait():
                try:
                    self._turn()
                finally:
                    self._current = None
                    self._leave()
        except RollflexError as error:
            self._end("failed", error)
        except Exception as error:
            # A defect must not leave anybody waiting.
            self._end("failed", defect(error))

    def _engine_made(self) -> Engine:
        made = self.embedding
        return QuickJs(made.limits, made.memory_limit, made.time_limit)

    def _load(self) -> None:
        try:
            made = self.embedding
            is_kept = made.state_dir is not None or made.log_dir is not None
            engine = KeptEngine(made) if is_kept else self._engine_made()
            answer = engine.call('{"jsonrpc":"2.0","id":1,"method":"server.info","params":{}}')
            with self._lock:
                if self._state == "connecting":
                    self.info = json.loads(answer.partition("\n")[0])["result"]
                    # Stored sessions may have timers.
                    self._take_news(answer)
                    self._longest, self._deepest = self.limits["maxMessageBytes"], self.limits["maxDepth"]
                    self.connections = 1
                    self._engine = engine
                    self._state = "open"
                    self.ready.finish({})
            if self._engine is None:
                engine.close(orderly=True)
        finally:
            self._leave()

    def _wait(self) -> bool:
        """Waits for work, and takes the engine for it. Returns False at the end."""
        with self._wake:
            while self._state == "open":
                patience = None
                if not self._busy:
                    patience = None if self._due is None else self._due - time.time()
                    if self._queue or (patience is not None and patience <= 0):
                        self._busy = True
                        return True
                self._watched = None if patience is None else self._due
                self._wake.wait(None if patience is None else min(patience + _late, threading.TIMEOUT_MAX))
                self._watched = None
        return False

    def _turn(self) -> None:
        """The oldest call, or the clock."""
        with self._lock:
            pending, message = self._queue.popleft() if self._queue else (None, "")
            self._current = pending
        if pending is None:
            if self._engine is not None:
                self._take_news(self._engine.wind())
        else:
            self._answer(pending, message)
