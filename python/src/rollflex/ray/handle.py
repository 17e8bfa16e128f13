"""Handles of the actor: the names of :mod:`rollflex.client` and :mod:`rollflex.aio`, from any worker of the cluster."""

from __future__ import annotations

import asyncio
import threading
import time
import uuid
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

import ray

from .._options import open_params
from .._typed import TypedAsyncClient, TypedClient
from ._calls import Actor, Steps, call, run, run_async
from ._mirror import Mirroring
from ._sessions import Attached, Reading

T = TypeVar("T")


def _opened(actor: Actor, policy: str | None, options: dict[str, Any], deadline: float) -> Steps[Attached]:
    producer = options.pop("producer", None)
    params, named = open_params(policy, options)
    result = yield from call(actor, deadline, "open", params, uuid.uuid4().hex, named)
    found = Attached(actor, result["session"], result["policy"], result["version"], result["seq"], producer)
    if producer is not None:
        yield from found.learn(deadline)
    return found


def _all_sessions(actor: Actor, deadline: float) -> Steps[list[Any]]:
    found: list[Any] = []
    params: dict[str, Any] = {}
    while True:
        page = yield from call(actor, deadline, "read", "session.list", params)
        found += page["sessions"]
        if "next" not in page:
            return found
        params = {"after": page["next"]}


class _Base:
    def __init__(self, name: str, namespace: str, deadline_seconds: float) -> None:
        self._actor = Actor(name, namespace)
        self.deadline_seconds = deadline_seconds
        """Seconds in which a call must be answered, another node included, where it does not say otherwise."""

    @property
    def name(self) -> str:
        return self._actor.name

    @property
    def namespace(self) -> str:
        return self._actor.namespace

    def shutdown(self) -> None:
        """Ends the actor, its server and its mirror, for everybody. Sessions are gone: take a snapshot before."""
        try:
            ray.kill(ray.get_actor(self.name, self.namespace), no_restart=True)
        except ValueError:
            pass
        Mirroring(self.name, self.namespace, "").end_all()

    def _deadline(self, timeout: float | None) -> float:
        return time.monotonic() + (self.deadline_seconds if timeout is None else timeout)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.name, self.namespace, self.deadline_seconds)


class RollflexHandle(_Base, TypedClient):
    """
    Calls the actor, and blocks meanwhile. May be given to any worker, and used by any number of threads. A call that
    meets a node that is gone is made again on the next one, until ``deadline_seconds`` have passed.
    """

    def _open(self, policy: str | None, options: dict[str, Any]) -> RaySession:
        deadline = self._deadline(options.pop("timeout", None))
        return RaySession(self, run(_opened(self._actor, policy, options, deadline), deadline))

    def _plan(self, planner: str, input: Any, timeout: float | None) -> Any:
        return self._read("plan", {"planner": planner, "input": input}, timeout)["plan"]

    def sessions(self, *, timeout: float | None = None) -> list[Any]:
        """The sessions of the server, in the order of their ids."""
        return self._call(lambda deadline: _all_sessions(self._actor, deadline), timeout)

    def server_info(self, *, timeout: float | None = None) -> Any:
        """Version, policies and limits of the server."""
        return self._read("server.info", {}, timeout)

    def discover(self, *, timeout: float | None = None) -> Any:
        """The OpenRPC document: methods, events, decisions and settings."""
        return self._read("rpc.discover", {}, timeout)

    def info(self, *, timeout: float | None = None) -> dict[str, Any]:
        """Where the server and its mirror are, and how they have fared."""
        return self._call(lambda deadline: call(self._actor, deadline, "info"), timeout)

    def as_async(self) -> AsyncRollflexHandle:
        """The same for asyncio."""
        return AsyncRollflexHandle(self.name, self.namespace, self.deadline_seconds)

    def __enter__(self) -> RollflexHandle:
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()

    def _read(self, method: str, params: Mapping[str, Any], timeout: float | None) -> Any:
        return self._call(lambda deadline: call(self._actor, deadline, "read", method, dict(params)), timeout)

    def _call(self, steps: Callable[[float], Steps[T]], timeout: float | None) -> T:
        deadline = self._deadline(timeout)
        return run(steps(deadline), deadline)


class _SessionBase:
    def __init__(self, handle: Any, attached: Attached) -> None:
        self._handle = handle
        self._attached = attached

    @property
    def id(self) -> str:
        return self._attached.id

    @property
    def policy(self) -> str:
        return self._attached.policy

    @property
    def version(self) -> int:
        """Version of the policy."""
        return self._attached.version

    @property
    def seq(self) -> int:
        """Events that the session has applied, as far as this one has been told."""
        return self._attached.seq

    @property
    def producer(self) -> str:
        """Who sends: the server counts the events of each."""
        return self._attached.producer

    @property
    def next_seq(self) -> int:
        """Events of this producer that were applied."""
        return self._attached.next_seq

    @property
    def unanswered(self) -> int:
        """Events of a ``send`` that ended without its answer: ``retry`` gets it."""
        return 0 if self._attached.open_call is None else len(self._attached.open_call[0])

    def __reduce__(self) -> tuple[Any, ...]:
        # Another process is another producer.
        one = self._attached
        return _again, (type(self), self._handle, one.id, one.policy, one.version, one.seq)


def _again(kind: type[Any], handle: Any, id: str, policy: str, version: int, seq: int) -> Any:
    return kind(handle, Attached(handle._actor, id, policy, version, seq, None))


class RaySession(_SessionBase):
    """A policy with its state. One that is given to a worker sends there as a producer of its own."""

    def __init__(self, handle: RollflexHandle, attached: Attached) -> None:
        super().__init__(handle, attached)
        self._sending = threading.Lock()

    def send(self, events: Any, *, first_seq: int | None = None, timeout: float | None = None) -> list[Any]:
        """
        Applies events in order, each once, and returns the decisions.

        :raises PolicyError: one was refused; those before it are applied
        :raises CallTimeout: there was no answer in time: :meth:`retry` gets it
        """
        several = [events] if isinstance(events, Mapping) else list(events)
        with self._sending:
            return self._call(lambda deadline: self._attached.send(several, first_seq, deadline), timeout)

    def retry(self, *, timeout: float | None = None) -> list[Any]:
        """The decisions of a ``send`` that ended without its answer. Nothing is applied twice."""
        with self._sending:
            return self._call(self._attached.retry, timeout)

    def snapshot(self, *, timeout: float | None = None) -> Any:
        """The whole state: what ``open(snapshot=…)`` takes."""
        return self._call(self._attached.snapshot, timeout)

    def subscribe(self, *, after: int | None = None, types: Sequence[str] | None = None) -> RaySubscription:
        """The decisions of a session that was opened with ``deliver="stream"``."""
        return RaySubscription(self, Reading(self._attached, after, types))

    def close(self, *, timeout: float | None = None) -> None:
        """Makes the server forget the session."""
        self._call(self._attached.close, timeout)

    def _call(self, steps: Callable[[float], Steps[T]], timeout: float | None) -> T:
        handle: RollflexHandle = self._handle
        return handle._call(steps, timeout)


class RaySubscription:
    """Decisions with their numbers, in order: ``for number, decision in subscription``. One of them acknowledges."""

    def __init__(self, session: RaySession, reading: Reading) -> None:
        self._session = session
        self._reading = reading

    @property
    def closed_because(self) -> str | None:
        """``closed`` or ``replaced``, once the session is no more."""
        return self._reading.closed_because

    @property
    def waiting(self) -> int:
        """Decisions that have come, and that :meth:`get` gives without a call."""
        return len(self._reading.items)

    def get(self, timeout: float | None = None) -> tuple[int, Any]:
        """
        The next decision.

        :raises TimeoutError: none came in time (by default, any)
        :raises EOFError: the session was closed
        """
        reading = self._reading
        until = None if timeout is None else time.monotonic() + timeout
        while not reading.items:
            if reading.closed_because is not None:
                raise EOFError(f"the session was {reading.closed_because}")
            left = reading.seconds if until is None else until - time.monotonic()
            if left < 0:
                raise TimeoutError("no decision came in time")
            seconds = min(reading.seconds, left)
            self._session._call(partial(reading.more, seconds), None)
        return reading.items.pop()

    def ack(self, number: int) -> None:
        """Acknowledges the decisions up to a number, with the next look for more: they are not given again."""
        self._reading.ack(number)

    def __iter__(self) -> Iterator[tuple[int, Any]]:
        while True:
            try:
                yield self.get()
            except EOFError:
                return


class AsyncRollflexHandle(_Base, TypedAsyncClient):
    """The same for asyncio: any number of tasks may share one."""

    async def _open(self, policy: str | None, options: dict[str, Any]) -> AsyncRaySession:
        deadline = self._deadline(options.pop("timeout", None))
        return AsyncRaySession(self, await run_async(_opened(self._actor, policy, options, deadline), deadline))

    async def _plan(self, planner: str, input: Any, timeout: float | None) -> Any:
        return (await self._read("plan", {"planner": planner, "input": input}, timeout))["plan"]

    async def sessions(self, *, timeout: float | None = None) -> list[Any]:
        """The sessions of the server, in the order of their ids."""
        return await self._call(lambda deadline: _all_sessions(self._actor, deadline), timeout)

    async def server_info(self, *, timeout: float | None = None) -> Any:
        """Version, policies and limits of the server."""
        return await self._read("server.info", {}, timeout)

    async def discover(self, *, timeout: float | None = None) -> Any:
        """The OpenRPC document: methods, events, decisions and settings."""
        return await self._read("rpc.discover", {}, timeout)

    async def info(self, *, timeout: float | None = None) -> dict[str, Any]:
        """Where the server and its mirror are, and how they have fared."""
        return await self._call(lambda deadline: call(self._actor, deadline, "info"), timeout)

    async def _read(self, method: str, params: Mapping[str, Any], timeout: float | None) -> Any:
        return await self._call(lambda deadline: call(self._actor, deadline, "read", method, dict(params)), timeout)

    async def _call(self, steps: Callable[[float], Steps[T]], timeout: float | None) -> T:
        deadline = self._deadline(timeout)
        return await run_async(steps(deadline), deadline)


class AsyncRaySession(_SessionBase):
    """A policy with its state; tasks that share one send one after the other."""

    def __init__(self, handle: AsyncRollflexHandle, attached: Attached) -> None:
        super().__init__(handle, attached)
        self._sending = asyncio.Lock()

    async def send(self, events: Any, *, first_seq: int | None = None, timeout: float | None = None) -> list[Any]:
        """Applies events, as :meth:`RaySession.send` does; after a cancellation :meth:`retry` gets the answer."""
        several = [events] if isinstance(events, Mapping) else list(events)
        async with self._sending:
            return await self._call(lambda deadline: self._attached.send(several, first_seq, deadline), timeout)

    async def retry(self, *, timeout: float | None = None) -> list[Any]:
        """The decisions of a ``send`` that ended without its answer. Nothing is applied twice."""
        async with self._sending:
            return await self._call(self._attached.retry, timeout)

    async def snapshot(self, *, timeout: float | None = None) -> Any:
        """The whole state: what ``open(snapshot=…)`` takes."""
        return await self._call(self._attached.snapshot, timeout)

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
        """Decisions that have come, and that :meth:`get` gives without a call."""
        return len(self._reading.items)

    async def get(self, timeout: float | None = None) -> tuple[int, Any]:
        """The next decision, as :meth:`RaySubscription.get` gives it."""
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
