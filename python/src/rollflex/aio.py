"""The client for asyncio: the same names as in :mod:`rollflex.client`. One client belongs to one event loop."""

from __future__ import annotations

import asyncio
import contextlib
import weakref
from collections import deque
from collections.abc import AsyncIterator, Callable, Generator, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar, cast

from ._attachment import Attachment
from ._command import Command
from ._embedded import Embedding
from ._opening import Opening, Reconnect
from ._options import Path_, connecting, core_of, deadline_after, embedding, open_params, spawning
from ._pending import Pending
from ._sending import Producer
from ._steps import Steps, all_sessions, call, planned
from ._subscription import End, Item, Subscribed
from ._typed import TypedAsyncClient
from .errors import CallTimeout, ClientClosed

if TYPE_CHECKING:
    from .models.methods import (
        RpcDiscoverResult,
        ServerInfoResult,
        SessionListResultSession,
        SessionSnapshotResultSnapshot,
    )

E = TypeVar("E")
D = TypeVar("D")
T = TypeVar("T")

# So long calls that never wait may follow each other before the loop has its turn.
_longest_turn = 0.005


def _settle(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


async def _ended(pending: Pending, deadline: float | None) -> None:
    """Waits for a call. Raises :class:`CallTimeout`; what comes later, or after a cancellation, is dropped."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[None] = loop.create_future()

    def tell() -> None:
        # The loop may be gone by now.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(_settle, future)

    pending.then(tell)
    timer = None if deadline is None else loop.call_at(deadline, _settle, future)
    try:
        await future
        if not pending.done:
            raise CallTimeout(f"no answer to {pending.method} in time")
    except BaseException:
        pending.unwanted = True
        raise
    finally:
        if timer is not None:
            timer.cancel()


async def _run(steps: Steps[T], deadline: float | None) -> T:
    try:
        pending = next(steps)
        while True:
            try:
                if not pending.done:
                    await _ended(pending, deadline)
            except BaseException as error:
                pending = steps.throw(error)
            else:
                pending = steps.send(None)
    except StopIteration as stop:
        result: T = stop.value
        return result


class Starting:
    """A client that is being made: ``await`` it, or use it as ``async with``."""

    def __init__(self, opening: Callable[[], Opening | Embedding]) -> None:
        self._opening = opening
        self._client: AsyncClient | None = None

    def __await__(self) -> Generator[Any, None, AsyncClient]:
        return self._start().__await__()

    async def __aenter__(self) -> AsyncClient:
        return await self._start()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._client is not None:
            await self._client.close()

    async def _start(self) -> AsyncClient:
        # Looking for Node.js takes a moment, and so may the disk.
        client = AsyncClient(await asyncio.to_thread(self._opening))
        try:
            await client._ready()
        except BaseException:
            await client.close()
            raise
        self._client = client
        return client


class AsyncClient(TypedAsyncClient):
    """
    The policies: in this process (:meth:`embedded`, or no arguments), or in a server, which :meth:`spawn` starts and
    :meth:`connect` reaches.
    """

    def __init__(self, opening: Opening | Embedding | None = None) -> None:
        opening = opening or embedding()
        self._core = core_of(opening)
        self._turned = 0.0
        self.timeout = opening.timeout
        """Seconds that a call may take, where it does not say otherwise."""
        self._finalizer = weakref.finalize(self, self._core.close)

    @classmethod
    def embedded(
        cls,
        *,
        state_dir: Path_ | None = None,
        fsync: Literal["always", "interval"] | None = None,
        log_dir: Path_ | None = None,
        limits: Mapping[str, float] | None = None,
        memory_limit: int | None = None,
        time_limit: float | None = None,
        timeout: float = 60.0,
    ) -> Starting:
        """Runs the policies in this process, as :meth:`rollflex.Client.embedded` does."""
        return Starting(
            lambda: embedding(
                limits, memory_limit, time_limit, timeout, state_dir=state_dir, fsync=fsync, log_dir=log_dir
            )
        )

    @classmethod
    def spawn(
        cls,
        command: Command | None = None,
        *,
        state_dir: Path_ | None = None,
        fsync: Literal["always", "interval"] | None = None,
        policies: Path_ | None = None,
        limits: Mapping[str, float] | None = None,
        metrics_port: int | None = None,
        args: Sequence[str] = (),
        env: Mapping[str, str] | None = None,
        timeout: float = 60.0,
        check_version: bool = True,
        reconnect: Reconnect | None = None,
    ) -> Starting:
        """Starts a server of one's own, as :meth:`rollflex.Client.spawn` does."""
        return Starting(
            lambda: spawning(
                command,
                state_dir=state_dir,
                fsync=fsync,
                policies=policies,
                limits=limits,
                metrics_port=metrics_port,
                args=tuple(args),
                env=env,
                timeout=timeout,
                check_version=check_version,
                reconnect=reconnect,
            )
        )

    @classmethod
    def connect(
        cls,
        path: Path_ | None = None,
        *,
        host: str | None = None,
        port: int | None = None,
        token: str | None = None,
        token_file: Path_ | None = None,
        timeout: float = 60.0,
        wait: float = 0.0,
        check_version: bool = True,
        reconnect: Reconnect | None = None,
    ) -> Starting:
        """Connects to a server that listens, as :meth:`rollflex.Client.connect` does."""
        return Starting(
            lambda: connecting(
                path,
                host=host,
                port=port,
                token=token,
                token_file=token_file,
                timeout=timeout,
                wait=wait,
                check_version=check_version,
                reconnect=reconnect,
            )
        )

    async def _open(self, policy: str | None, options: dict[str, Any]) -> AsyncSession[Any, Any]:
        producer, timeout = options.pop("producer", None), options.pop("timeout", None)
        params, named = open_params(policy, options)
        attachment = Attachment(self._core, params, named)
        return AsyncSession(self, attachment, await self._run(attachment.open(producer), timeout))

    async def _plan(self, planner: str, input: Any, timeout: float | None) -> Any:
        return await self._run(planned(self._core, planner, input), timeout)

    async def sessions(self, *, timeout: float | None = None) -> list[SessionListResultSession]:
        """The sessions of the server, in the order of their ids."""
        return await self._run(all_sessions(self._core), timeout)

    async def server_info(self, *, timeout: float | None = None) -> ServerInfoResult:
        """Version, policies and limits of the server."""
        return cast("ServerInfoResult", await self._run(call(self._core, "server.info", {}), timeout))

    async def discover(self, *, timeout: float | None = None) -> RpcDiscoverResult:
        """The OpenRPC document: methods, events, decisions and settings."""
        return cast("RpcDiscoverResult", await self._run(call(self._core, "rpc.discover", {}), timeout))

    async def call(self, method: str, params: Mapping[str, Any] | None = None, *, timeout: float | None = None) -> Any:
        """Calls a method by its name. It is not sent again when the connection breaks."""
        return await self._run(call(self._core, method, params or {}, "never"), timeout)

    async def close(self) -> None:
        """Ends it, with a server or an engine that was started for it. Sessions stay with a server that goes on."""
        await asyncio.to_thread(self._finalizer)

    async def __aenter__(self) -> AsyncClient:
        await self._ready()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def _ready(self) -> None:
        await _ended(self._core.ready, None)
        self._core.ready.take()

    async def _run(self, steps: Steps[T], timeout: float | None) -> T:
        await self._let_others()
        return await _run(steps, self._deadline(timeout))

    async def _let_others(self) -> None:
        """What the engine answers at once never waits: other tasks get their turn all the same."""
        now = asyncio.get_running_loop().time()
        if now - self._turned > _longest_turn:
            self._turned = now
            await asyncio.sleep(0)

    def _deadline(self, timeout: float | None) -> float | None:
        return deadline_after(self.timeout if timeout is None else timeout, asyncio.get_running_loop().time())


class AsyncSession(Generic[E, D]):
    """A policy with its state, on the server. Tasks that share one send one after the other."""

    def __init__(self, client: AsyncClient, attachment: Attachment, producer: Producer) -> None:
        self._client = client
        self._attachment = attachment
        self._producer = producer
        self._sending = asyncio.Lock()

    @property
    def id(self) -> str:
        return self._attachment.id

    @property
    def policy(self) -> str:
        return self._attachment.policy

    @property
    def version(self) -> int:
        """Version of the policy."""
        return self._attachment.version

    @property
    def seq(self) -> int:
        """Events that the session has applied, as far as this client has been told."""
        return self._attachment.seq

    @property
    def producer(self) -> str:
        """Who sends: the server counts the events of each."""
        return self._producer.name

    @property
    def next_seq(self) -> int:
        """Events of this producer that were applied: the ``firstSeq`` of the next call."""
        return self._producer.next_seq

    @property
    def unanswered(self) -> int:
        """Events of a ``send`` that ended, or was cancelled, without all its answers: :meth:`retry` gets them."""
        return self._producer.unanswered

    async def send(
        self, events: E | Sequence[E], *, first_seq: int | None = None, timeout: float | None = None
    ) -> list[D]:
        """Applies events, as :meth:`rollflex.Session.send` does; after a cancellation :meth:`retry` gets the answer."""
        several: Sequence[Any] = [events] if isinstance(events, Mapping) else list(events)  # type: ignore[arg-type]
        return await self._exclusively(lambda: self._producer.send(several, first_seq), timeout)

    async def retry(self, *, timeout: float | None = None) -> list[D]:
        """The decisions of a ``send`` that ended without its answer, all of them. Nothing is applied twice."""
        return await self._exclusively(self._producer.retry, timeout)

    async def snapshot(self, *, timeout: float | None = None) -> SessionSnapshotResultSnapshot:
        """The whole state: what ``open(snapshot=…)`` takes."""
        result = await self._client._run(self._attachment.snapshot(), timeout)
        return cast("SessionSnapshotResultSnapshot", result["snapshot"])

    async def armed(self, *, timeout: float | None = None) -> list[Any]:
        """The timers that the server runs for it: what ``open(armed=…)`` takes beside a snapshot."""
        armed: list[Any] = (await self._client._run(self._attachment.snapshot(), timeout)).get("armed", [])
        return armed

    async def subscribe(
        self, *, after: int | None = None, types: Sequence[str] | None = None, timeout: float | None = None
    ) -> AsyncSubscription[D]:
        """The decisions of a session that was opened with ``deliver="stream"``."""
        subscribed = Subscribed(self._attachment, after, None if types is None else list(types))
        subscription: AsyncSubscription[D] = AsyncSubscription(self._client, subscribed)
        await self._client._run(subscribed.open(), timeout)
        return subscription

    async def close(self, *, timeout: float | None = None) -> None:
        """Makes the server forget the session."""
        await self._client._run(self._attachment.close(), timeout)

    async def __aenter__(self) -> AsyncSession[E, D]:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # After an error it stays: what it holds may be wanted.
        if kind is None:
            await self.close()

    async def _exclusively(self, steps: Callable[[], Steps[list[D]]], timeout: float | None) -> list[D]:
        deadline = self._client._deadline(timeout)
        if self._sending.locked():
            patience = None if deadline is None else max(0.0, deadline - asyncio.get_running_loop().time())
            try:
                await asyncio.wait_for(self._sending.acquire(), patience)
            except asyncio.TimeoutError:
                raise CallTimeout(f"another task sends to session {self.id} all the time; nothing was sent") from None
        else:
            await self._sending.acquire()
        try:
            await self._client._let_others()
            return await _run(steps(), deadline)
        finally:
            self._sending.release()


class AsyncSubscription(Generic[D]):
    """Decisions with their numbers, as they come: ``async for number, decision in subscription``."""

    def __init__(self, client: AsyncClient, subscribed: Subscribed) -> None:
        self._client = client
        self._subscribed = subscribed
        self._items: deque[Item | End] = deque()
        self._loop = asyncio.get_running_loop()
        self._arrived = asyncio.Event()
        self._ended = False
        subscribed.take = self._put
        subscribed.end = self._put

    @property
    def closed_because(self) -> str | None:
        """``closed`` or ``replaced``, once the server has closed the session."""
        return self._subscribed.closed_because

    async def get(self, timeout: float | None = None) -> tuple[int, D]:
        """
        The next decision.

        :raises CallTimeout: none came in time (by default, any)
        :raises EOFError: the subscription, the session or the client was closed
        """
        if self._ended:
            raise EOFError("the subscription has ended")
        if not self._items:
            try:
                self._client._core.nudge()
            except ClientClosed:
                self._put(None)
        while not self._items:
            self._arrived.clear()
            # It may have come between the look and the clearing.
            if self._items:
                break
            try:
                await asyncio.wait_for(self._arrived.wait(), timeout)
            except asyncio.TimeoutError:
                raise CallTimeout("no decision came in time") from None
        item = self._items.popleft()
        if isinstance(item, tuple):
            return item
        self._ended = self._client._core.readers.get(self._subscribed.session.id) is not self._subscribed
        if item is None or isinstance(item, ClientClosed):
            raise EOFError("the subscription has ended")
        raise item

    def ack(self, number: int) -> None:
        """Acknowledges the decisions up to a number."""
        self._subscribed.acknowledge(number)

    async def close(self, *, timeout: float | None = None) -> None:
        await self._client._run(self._subscribed.close(), timeout)

    def __aiter__(self) -> AsyncIterator[tuple[int, D]]:
        return self

    async def __anext__(self) -> tuple[int, D]:
        try:
            return await self.get()
        except EOFError:
            raise StopAsyncIteration from None

    async def __aenter__(self) -> AsyncSubscription[D]:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def _put(self, item: Item | End) -> None:
        wake = not self._items
        self._items.append(item)
        if wake:
            # The loop may be gone by now.
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._arrived.set)
