"""Reports of a worker that must not wait: events are put down, and sent behind its back, many at a time."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, Protocol

from ..errors import CallTimeout, ClientClosed, PolicyError


class Sends(Protocol):
    """The part of a session that a reporter's thread uses."""

    @property
    def unanswered(self) -> int: ...

    def send(self, events: Any, *, timeout: float | None = None) -> list[Any]: ...

    def retry(self, *, timeout: float | None = None) -> list[Any]: ...


class Reporter:
    """
    Sends events of one session from a thread of its own, in order, each once. :meth:`report` never waits: neither for
    the policy, nor while its server is on its way to another node.

    :param on_decisions: gets the decisions of a session that answers with them, on the thread of the reporter
    :param on_refusal: gets an event that was refused, and why; by default the next call here raises it
    :param most: events of one call
    :param capacity: events that may wait; more than a policy can have in flight is a sign that nobody listens
    :param try_again_seconds: time after which events are sent again if the backlog was full or there was no server
    """

    def __init__(
        self,
        session: Sends,
        *,
        on_decisions: Callable[[list[Any]], None] | None = None,
        on_refusal: Callable[[Any, PolicyError], None] | None = None,
        most: int = 1024,
        capacity: int = 1_000_000,
        try_again_seconds: float = 0.25,
    ) -> None:
        self._session = session
        self._on_decisions = on_decisions
        self._on_refusal = on_refusal
        self._most = most
        self._capacity = capacity
        self._try_again_seconds = try_again_seconds
        self._events: deque[Any] = deque()
        self._changed = threading.Condition()
        self._sending = 0
        self._closing = False
        self._error: Exception | None = None
        self._thread = threading.Thread(target=self._run, name="rollflex-reporter", daemon=True)
        self._thread.start()

    @property
    def waiting(self) -> int:
        """Events that the policy has not answered yet."""
        return len(self._events) + self._sending

    def report(self, *events: Mapping[str, Any]) -> None:
        """
        Puts events down. An event without ``at`` gets the present time.

        :raises PolicyError: ``limit_exceeded``, too many wait; or what an earlier event was refused for
        """
        now = time.time()
        with self._changed:
            self._raise_error()
            if self._closing:
                raise ClientClosed("the reporter was closed")
            if len(self._events) + len(events) > self._capacity:
                expected = f"at most {self._capacity} events that wait"
                raise PolicyError("limit_exceeded", expected=expected, got=str(len(self._events) + len(events)))
            self._events.extend(one if "at" in one else {**one, "at": now} for one in events)
            self._changed.notify_all()

    def flush(self, timeout: float | None = None) -> None:
        """
        Waits until everything has been answered.

        :raises CallTimeout: the answers took too long; sending continues
        """
        with self._changed:
            done = self._changed.wait_for(lambda: self._error is not None or self.waiting == 0, timeout)
            self._raise_error()
            if not done:
                raise CallTimeout(f"{self.waiting} events are not answered yet")

    def close(self, timeout: float | None = None) -> None:
        """Sends the remaining events, and ends. Raises the errors of :meth:`flush`."""
        try:
            self.flush(timeout)
        finally:
            with self._changed:
                self._closing = True
                self._changed.notify_all()
        self._thread.join(timeout)

    def __enter__(self) -> Reporter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._closing or self._events)
                if self._closing:
                    return
                batch = [self._events.popleft() for _ in range(min(self._most, len(self._events)))]
                self._sending = len(batch)
            try:
                self._send(batch)
            except Exception as error:
                with self._changed:
                    self._error = error
                    self._closing = True
                    self._changed.notify_all()
                return
            with self._changed:
                self._sending = 0
                self._changed.notify_all()

    def _send(self, batch: list[Any]) -> None:
        while batch and not self._closing:
            try:
                decisions = self._session.retry() if self._session.unanswered else self._session.send(batch)
                batch = []
            except PolicyError as refusal:
                decisions = refusal.decisions
                if refusal.index is not None:
                    refused, batch = batch[refusal.index], batch[refusal.index + 1 :]
                    self._refused(refused, refusal)
                elif refusal.code == "limit_exceeded":
                    # The backlog is full, so no event was applied.
                    time.sleep(self._try_again_seconds)
                else:
                    raise
            except CallTimeout:
                # The answer is requested again, for as long as it takes.
                continue
            if decisions and self._on_decisions is not None:
                self._on_decisions(decisions)

    def _refused(self, event: Any, refusal: PolicyError) -> None:
        if self._on_refusal is not None:
            self._on_refusal(event, refusal)
            return
        with self._changed:
            self._error = self._error or refusal

    def _raise_error(self) -> None:
        if self._error is not None:
            error, lasting = self._error, self._closing
            if not lasting:
                self._error = None
            raise error
