"""Sessions and subscriptions for asyncio: the same names as for threads."""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import AsyncIterator, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar, cast, overload

from ._client_base import ClientBase, Made
from ._opening import Embedding, Opening
from ._pending import Pending
from ._sending import Producer
from ._session_base import D, E, SessionBase, SubscriptionBase
from ._steps import Steps
from ._subscription import End, Item, Subscribed
from .errors import CallTimeout, ClientClosed

if TYPE_CHECKING:
    from .models.methods import SessionSnapshotResultSnapshot, SessionWhyAllResult, SessionWhyResult

T = TypeVar("T")

# Calls that never wait may follow each other for so many seconds before the loop gets its turn.
_longest_turn = 0.005


def _settle(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


async def ended(pending: Pending, deadline: float | None) -> None:
    """Waits for a call. Raises :class:`CallTimeout`; a later answer, or one after a cancellation, is dropped."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[None] = loop.create_future()

    def tell() -> None:
        # The loop may have been closed by now.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(_settle, future)

    pending.then(tell)
    timer = None if deadline is None else loop.call_at(deadline, _settle, future)
    try:
        await future
        if not pending.done:
            raise pending.late()
    except BaseException:
        pending.unwanted = True
        raise
    finally:
        if timer is not None:
            timer.cancel()


async def run(steps: Steps[T], deadline: float | None) -> T:
    try:
        pending = next(steps)
        while True:
            try:
                if not pending.done:
                    await ended(pending, deadline)
            except BaseException as error:
                pending = steps.throw(error)
            else:
                pending = steps.send(None)
    except StopIteration as stop:
        result: T = stop.value
        return result


class Tasks(ClientBase[Made]):
    """Runs steps in the task of the caller."""

    def __init__(self, opening: Opening | Embedding | None = None, **options: NoReturn) -> None:
        super().__init__(opening, **options)
        self._turned = 0.0

    async def _run(self, steps: Steps[T], timeout: float | None) -> T:
        await self._let_others()
        return await run(steps, self._deadline(timeout))

    async def _let_others(self) -> None:
        """Lets other tasks run, because answers that the engine gives at once never wait."""
        now = asyncio.get_running_loop().time()
        if now - self._turned > _longest_turn:
            self._turned = now
            await asyncio.sleep(0)

    def _deadline(self, timeout: float | None) -> float | None:
        return self._deadline_after(timeout, asyncio.get_running_loop().time())


class AsyncSession(SessionBase[E, D]):
    """A policy with its state, on the server. Tasks that share a session send one after the other."""

    def __init__(self, client: Tasks[Any], producer: Producer) -> None:
        super().__init__(producer)
        self._client = client
        self._sending = asyncio.Lock()

    async def send(
        self, events: E | Sequence[E], *, first_seq: int | None = None, timeout: float | None = None
    ) -> list[D]:
        """Applies events, as :meth:`rollflex.Session.send` does; after a cancellation :meth:`retry` gets the answer."""
        return await self._exclusively(self._sent(events, first_seq), timeout)

    async def retry(self, *, timeout: float | None = None) -> list[D]:
        """Returns all decisions of a ``send`` that ended without an answer. No event is applied twice."""
        return await self._exclusively(self._producer.retry(), timeout)

    async def snapshot(self, *, timeout: float | None = None) -> SessionSnapshotResultSnapshot:
        """Returns the whole state, for ``open(snapshot=…)``."""
        result = await self._client._run(self._attachment.snapshot(), timeout)
        return cast("SessionSnapshotResultSnapshot", result["snapshot"])

    @overload
    async def why(
        self, id: None = None, what: str | None = None, *, timeout: float | None = None
    ) -> SessionWhyAllResult: ...
    @overload
    async def why(self, id: str, what: str | None = None, *, timeout: float | None = None) -> SessionWhyResult: ...
    async def why(self, id: str | None = None, what: str | None = None, *, timeout: float | None = None) -> Any:
        """Says why something waits and who must act, as :meth:`rollflex.Session.why` does."""
        return await self._client._run(self._attachment.why(id, what), timeout)

    async def armed(self, *, timeout: float | None = None) -> list[Any]:
        """Returns the timers that the server runs for the session, for ``open(armed=…)`` together with a snapshot."""
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

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        # The session stays after an error, because its content may still be wanted.
        if kind is None:
            await self.close()

    async def _exclusively(self, steps: Steps[list[D]], timeout: float | None) -> list[D]:
        self._attachment.core.assert_here()
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
            return await run(steps, deadline)
        finally:
            self._sending.release()


class AsyncSubscription(SubscriptionBase[D]):
    """Decisions with their numbers, in order of arrival: ``async for number, decision in subscription``."""

    def __init__(self, client: Tasks[Any], subscribed: Subscribed) -> None:
        super().__init__(subscribed)
        self._client = client
        self._items: deque[Item | End] = deque()
        self._loop = asyncio.get_running_loop()
        self._arrived = asyncio.Event()
        self._waiting = 0
        """Number of waiting tasks, which a thread must wake after adding an item."""
        subscribed.take = self._put
        subscribed.end = self._put

    async def get(self, timeout: float | None = None) -> tuple[int, D]:
        """
        The next decision.

        :raises CallTimeout: none came in time (by default, any)
        :raises EOFError: the subscription, the session or the client was closed
        """
        self._assert_open()
        if not self._items:
            try:
                self._client._core.nudge()
            except ClientClosed:
                self._put(None)
        self._waiting += 1
        try:
            while not self._items:
                self._arrived.clear()
                # An item may have come between the check and the clearing.
                if self._items:
                    break
                try:
                    await asyncio.wait_for(self._arrived.wait(), timeout)
                except asyncio.TimeoutError:
                    raise CallTimeout("no decision came in time") from None
        finally:
            self._waiting -= 1
        return self._given(self._items.popleft())

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

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def _put(self, item: Item | End) -> None:
        self._items.append(item)
        # The order matters: a task that misses the item looks again after announcing that it waits.
        if self._waiting:
            # The loop may have been closed by now.
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._arrived.set)
