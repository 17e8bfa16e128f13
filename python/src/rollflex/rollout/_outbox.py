"""Events on their way to the policy: one call at a time, with all that piled up while the last one was under way."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol, TypeVar

from ..errors import CallTimeout, ClientClosed, ConnectionLost, PolicyError, ServerUnavailable, SessionLost

T = TypeVar("T")
Event = dict[str, Any]
Decision = Mapping[str, Any]


class Sends(Protocol):
    """The part of a session that the outbox uses."""

    async def send(self, events: Any, *, timeout: float | None = None) -> list[Any]: ...

    async def retry(self, *, timeout: float | None = None) -> list[Any]: ...


class Outbox:
    """Sends in order. Nobody who puts an event waits for the policy."""

    def __init__(
        self,
        session: Sends,
        *,
        carry_out: Callable[[list[Decision]], None],
        refused: Callable[[Event, PolicyError], None],
        lost: Callable[[Exception], None],
        clock: Callable[[], float],
        interval_seconds: float,
        unreachable_seconds: float,
    ) -> None:
        self._session = session
        self._carry_out = carry_out
        self._refused = refused
        self._lost = lost
        self._clock = clock
        self._interval = interval_seconds
        self._unreachable = unreachable_seconds
        self._events: list[Event] = []
        self._urgent = False
        self._wake = asyncio.Event()
        self._hurry = asyncio.Event()
        self._between: list[tuple[Callable[[], Awaitable[Any]], asyncio.Future[Any]]] = []
        self._put = 0
        self._answered = 0
        self._flushes: list[tuple[int, asyncio.Future[None]]] = []
        self._error: Exception | None = None
        self._last_call = -interval_seconds
        self.calls = 0
        self.events = 0
        self.busy_seconds = 0.0
        """Seconds in which a call was running."""
        self.waiting_since: float | None = None
        """Time at which the running call began, by ``time.monotonic``."""
        self._task = asyncio.get_running_loop().create_task(self._run(), name="rollflex-outbox")

    def put(self, event: Event, *, urgent: bool = False) -> None:
        """Queues an event with the present time. An urgent event does not wait for more events."""
        if self._error is not None:
            return
        event.setdefault("at", self._clock())
        self._events.append(event)
        self._put += 1
        self._wake.set()
        if urgent:
            self._urgent = True
            self._hurry.set()

    async def flush(self) -> None:
        """Waits until all queued events are answered, and the decisions are carried out."""
        if self._error is not None:
            raise self._error
        if self._answered == self._put:
            return
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._flushes.append((self._put, future))
        self._urgent = True
        self._wake.set()
        self._hurry.set()
        await future

    async def between(self, call: Callable[[], Awaitable[T]]) -> T:
        """Makes another call on the session, after all queued events and while no other call runs."""
        if self._error is not None:
            raise self._error
        done: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._between.append((call, done))
        self._wake.set()
        self._hurry.set()
        return await done

    async def close(self) -> None:
        """Sends nothing more."""
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
        self._end(ClientClosed("the rollout was closed"))

    async def _run(self) -> None:
        try:
            while True:
                await self._wake.wait()
                self._wake.clear()
                if self._between:
                    if self._events:
                        await self._send_all()
                    await self._call_between()
                if not self._events:
                    continue
                await self._pile_up()
                await self._send_all()
        except asyncio.CancelledError:
            raise
        except Exception as error:
            self._end(error)
            self._lost(error)

    async def _call_between(self) -> None:
        while self._between and not self._events:
            call, done = self._between.pop(0)
            try:
                result = await call()
            except Exception as error:
                if not done.done():
                    done.set_exception(error)
            else:
                if not done.done():
                    done.set_result(result)
        if self._between:
            self._wake.set()

    async def _pile_up(self) -> None:
        """Waits so that calls begin with some distance, unless something is urgent."""
        patience = self._last_call + self._interval - time.monotonic()
        if patience > 0 and not self._urgent and not self._between:
            self._hurry.clear()
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._hurry.wait(), patience)

    async def _send_all(self) -> None:
        events, self._events, self._urgent = self._events, [], False
        while events:
            try:
                decisions = await self._ask(events)
                taken, refusal = len(events), None
            except PolicyError as error:
                # Somebody has closed the session, or the call as a whole cannot be taken.
                if error.index is None or error.path == "session":
                    raise
                decisions, taken, refusal = error.decisions, error.index, error
            self.events += taken
            self._carry_out(decisions)
            if refusal is not None:
                self._refused(events[taken], refusal)
                taken += 1
            self._answered += taken
            events = events[taken:]
        # Carried-out decisions may have queued more events.
        if self._events or self._between:
            self._wake.set()
        kept = []
        for target, future in self._flushes:
            if target > self._answered:
                kept.append((target, future))
            elif not future.done():
                future.set_result(None)
        self._flushes = kept

    async def _ask(self, events: list[Event]) -> list[Decision]:
        """Makes one call until it is answered or the deadline has passed."""
        began = self.waiting_since = self._last_call = time.monotonic()
        give_up_at = began + self._unreachable
        self.calls += 1
        again = False
        try:
            while True:
                left = give_up_at - time.monotonic()
                try:
                    if again:
                        return await self._session.retry(timeout=max(0.01, left))
                    again = True
                    return await self._session.send(events, timeout=max(0.01, left))
                except (SessionLost, ClientClosed):
                    raise
                except (CallTimeout, ConnectionLost, ServerUnavailable):
                    if time.monotonic() >= give_up_at:
                        raise
                    await asyncio.sleep(min(0.5, max(0.0, give_up_at - time.monotonic())))
        finally:
            self.waiting_since = None
            self.busy_seconds += time.monotonic() - began

    def _end(self, error: Exception) -> None:
        self._error = error
        self._events.clear()
        for _, future in self._flushes:
            if not future.done():
                future.set_exception(error)
        self._flushes.clear()
        for _, done in self._between:
            if not done.done():
                done.set_exception(error)
        self._between.clear()
