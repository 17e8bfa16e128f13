"""The same handles for asyncio: the names of :mod:`rollflex.aio`."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar, overload

from .._steps import plan_params
from .._typed import TypedAsyncClient
from ._calls import Steps, call, run_async
from ._handles import HandleBase, SessionBase, all_sessions, opened
from ._sessions import Attached, Reading

if TYPE_CHECKING:
    from ..models.methods import SessionWhyAllResult, SessionWhyResult

T = TypeVar("T")


class AsyncRollflexHandle(HandleBase, TypedAsyncClient):
    """The same for asyncio; any number of tasks may share it."""

    async def _open(self, policy: str | None, options: dict[str, Any]) -> AsyncRaySession:
        deadline = self._deadline(options.pop("timeout", None))
        return AsyncRaySession(self, await run_async(opened(self._actor, policy, options, deadline), deadline))

    async def _plan(self, planner: str, input: Any, deadline: float | None, timeout: float | None) -> Any:
        return (await self._read("plan", plan_params(planner, input, deadline), timeout))["plan"]

    async def sessions(self, *, timeout: float | None = None) -> list[Any]:
        """Returns the sessions of the server in the order of ids."""
        return await self._call(lambda deadline: all_sessions(self._actor, deadline), timeout)

    async def server_info(self, *, timeout: float | None = None) -> Any:
        """Version, policies and limits of the server."""
        return await self._read("server.info", {}, timeout)

    async def discover(self, *, timeout: float | None = None) -> Any:
        """The OpenRPC document: methods, events, decisions and settings."""
        return await self._read("rpc.discover", {}, timeout)

    async def info(self, *, timeout: float | None = None) -> dict[str, Any]:
        """Returns where the server and its mirror are, and their history."""
        return await self._call(lambda deadline: call(self._actor, deadline, "info"), timeout)

    async def _read(self, method: str, params: Mapping[str, Any], timeout: float | None) -> Any:
        return await self._call(lambda deadline: call(self._actor, deadline, "read", method, dict(params)), timeout)

    async def _call(self, steps: Callable[[float], Steps[T]], timeout: float | None) -> T:
        deadline = self._deadline(timeout)
        return await run_async(steps(deadline), deadline)


class AsyncRaySession(SessionBase):
    """A policy with its state; tasks that share a session send one after the other."""

    def __init__(self, handle: AsyncRollflexHandle, attached: Attached) -> None:
        super().__init__(handle, attached)
        self._sending = asyncio.Lock()

    async def send(self, events: Any, *, first_seq: int | None = None, timeout: float | None = None) -> list[Any]:
        """Applies events, as :meth:`RaySession.send` does; after a cancellation :meth:`retry` gets the answer."""
        several = [events] if isinstance(events, Mapping) else list(events)
        async with self._sending:
            return await self._call(lambda deadline: self._attached.send(several, first_seq, deadline), timeout)

    async def retry(self, *, timeout: float | None = None) -> list[Any]:
        """Returns the decisions of a ``send`` that ended without an answer. No event is applied twice."""
        async with self._sending:
            return await self._call(self._attached.retry, timeout)

    async def snapshot(self, *, timeout: float | None = None) -> Any:
        """Returns the whole state, for ``open(snapshot=…)``."""
        return await self._call(self._attached.snapshot, timeout)

    @overload
    async def why(
        self, id: None = None, what: str | None = None, *, timeout: float | None = None
    ) -> SessionWhyAllResult: ...
    @overload
    async def why(self, id: str, what: str | None = None, *, timeout: float | None = None) -> SessionWhyResult: ...
    async def why(self, id: str | None = None, what: str | None = None, *, timeout: float | None = None) -> Any:
        """Says why something waits and who must act, as :meth:`rollflex.Session.why` does."""
        return await self._call(lambda deadline: self._attached.why(id, what, deadline), timeout)

    async def subscribe(self, *, after: int | None = None, types: Sequence[str] | None = None) -> AsyncRaySubscription:
        """The decisions of a session that was opened with ``deliver="stream"``."""
        return AsyncRaySubscription(self, Reading(self._attached, after, types))

    async def close(self, *, timeout: float | None = None) -> None:
        """Makes the server forget the session."""
        await self._call(self._attached.close, timeout)

    async def _call(self, steps: Callable[[float], Steps[T]], timeout: float | None) -> T:
        handle: AsyncRollflexHandle = self._handle
        return await handle._call(steps, timeout)


class AsyncRaySubscription:
    """Decisions with their numbers, in order: ``async for number, decision in subscription``."""

    def __init__(self, session: AsyncRaySession, reading: Reading) -> None:
        self._session = session
        self._reading = reading

    @property
    def closed_because(self) -> str | None:
        """``closed`` or ``replaced``, once the session is no more."""
        return self._reading.closed_because

    @property
    def waiting(self) -> int:
        """Number of decisions that have arrived, which :meth:`get` returns without a call."""
        return len(self._reading.items)

    async def get(self, timeout: float | None = None) -> tuple[int, Any]:
        """Returns the next decision, as :meth:`RaySubscription.get` does."""
        reading = self._reading
        until = None if timeout is None else time.monotonic() + timeout
        while not reading.items:
            if reading.closed_because is not None:
                raise EOFError(f"the session was {reading.closed_because}")
            left = reading.seconds if until is None else until - time.monotonic()
            if left < 0:
                raise TimeoutError("no decision came in time")
            seconds = min(reading.seconds, left)
            await self._session._call(partial(reading.more, seconds), None)
        return reading.items.pop()

    def ack(self, number: int) -> None:
        """Acknowledges the decisions up to a number, with the next look for more: they are not given again."""
        self._reading.ack(number)

    async def __aiter__(self) -> AsyncIterator[tuple[int, Any]]:
        while True:
            try:
                item = await self.get()
            except EOFError:
                return
            yield item
