"""Sessions and subscriptions for threads, which wait for the answers to their steps."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, cast, overload

from ._client_base import ClientBase, Made
from ._sending import Producer
from ._session_base import D, E, SessionBase, SubscriptionBase
from ._steps import Steps
from ._subscription import End, Item, Subscribed
from .errors import CallTimeout, ClientClosed

if TYPE_CHECKING:
    from .models.methods import SessionSnapshotResultSnapshot, SessionWhyAllResult, SessionWhyResult

T = TypeVar("T")


def run(steps: Steps[T], deadline: float | None) -> T:
    try:
        pending = next(steps)
        while True:
            try:
                pending.wait(deadline)
            except BaseException as error:
                pending = steps.throw(error)
            else:
                pending = steps.send(None)
    except StopIteration as stop:
        result: T = stop.value
        return result


class Threads(ClientBase[Made]):
    """Runs steps in the thread of the caller."""

    def _run(self, steps: Steps[T], timeout: float | None) -> T:
        return run(steps, self._deadline(timeout))

    def _deadline(self, timeout: float | None) -> float | None:
        return self._deadline_after(timeout, time.monotonic())


class Session(SessionBase[E, D]):
    """
    A policy with its state, on the server.

    Threads that share a session send one after the other. Threads that should not wait for each other use one session
    object each (``client.open(policy, session=…, on_existing="attach")``).
    """

    def __init__(self, client: Threads[Any], producer: Producer) -> None:
        super().__init__(producer)
        self._client = client
        self._sending = threading.Lock()

    def send(self, events: E | Sequence[E], *, first_seq: int | None = None, timeout: float | None = None) -> list[D]:
        """
        Applies one or several events in order, and returns their decisions; an empty list if decisions are streamed.

        :param first_seq: number of events of this producer before these; counted by the client if absent
        :raises PolicyError: an event was refused; the earlier ones are applied, and the error has their decisions
        :raises CallTimeout: no answer in time; :meth:`retry` fetches the answer
        :raises ConnectionLost: the connection is gone; :meth:`retry` may get the answer once there is a server again
        """
        return self._exclusively(self._sent(events, first_seq), timeout)

    def retry(self, *, timeout: float | None = None) -> list[D]:
        """Returns all decisions of a ``send`` that ended without an answer. No event is applied twice."""
        return self._exclusively(self._producer.retry(), timeout)

    def snapshot(self, *, timeout: float | None = None) -> SessionSnapshotResultSnapshot:
        """Returns the whole state, for ``open(snapshot=…)``."""
        result = self._client._run(self._attachment.snapshot(), timeout)
        return cast("SessionSnapshotResultSnapshot", result["snapshot"])

    @overload
    def why(self, id: None = None, what: str | None = None, *, timeout: float | None = None) -> SessionWhyAllResult: ...
    @overload
    def why(self, id: str, what: str | None = None, *, timeout: float | None = None) -> SessionWhyResult: ...
    def why(self, id: str | None = None, what: str | None = None, *, timeout: float | None = None) -> Any:
        """
        Says why a thing waits: where it ``stands``, what it waits for (``through``), and who owes which event
        (``owed``: overdue events first, then the oldest). Without an id, returns the rounds (``rounds``: whether each
        is ``open``, and how many events of each type it waits for), and all events that are owed to the policy. Nothing
        changes.

        :param id: id of a prompt, a request, a round, or of another thing that the policy holds
        :param what: kind of the thing, such as ``prompts``, where things of several kinds have this id
        :raises PolicyError: ``unknown_id``, with the nearest known id, if the policy holds no such thing
        """
        return self._client._run(self._attachment.why(id, what), timeout)

    def armed(self, *, timeout: float | None = None) -> list[Any]:
        """Returns the timers that the server runs for the session, for ``open(armed=…)`` together with a snapshot."""
        armed: list[Any] = self._client._run(self._attachment.snapshot(), timeout).get("armed", [])
        return armed

    def subscribe(
        self, *, after: int | None = None, types: Sequence[str] | None = None, timeout: float | None = None
    ) -> Subscription[D]:
        """The decisions of a session that was opened with ``deliver="stream"``."""
        subscribed = Subscribed(self._attachment, after, None if types is None else list(types))
        subscription: Subscription[D] = Subscription(self._client, subscribed)
        self._client._run(subscribed.open(), timeout)
        return subscription

    def close(self, *, timeout: float | None = None) -> None:
        """Makes the server forget the session."""
        self._client._run(self._attachment.close(), timeout)

    def __enter__(self) -> Session[E, D]:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        # The session stays after an error, because its content may still be wanted.
        if kind is None:
            self.close()

    def _exclusively(self, steps: Steps[list[D]], timeout: float | None) -> list[D]:
        self._attachment.core.assert_here()
        deadline = self._client._deadline(timeout)
        if not self._sending.acquire(blocking=False):
            patience = -1 if deadline is None else max(0.0, deadline - time.monotonic())
            if not self._sending.acquire(timeout=min(patience, threading.TIMEOUT_MAX)):
                raise CallTimeout(f"another thread sends to session {self.id} all the time; nothing was sent")
        try:
            return run(steps, deadline)
        finally:
            self._sending.release()


class Subscription(SubscriptionBase[D]):
    """
    Decisions with their numbers, as they come: ``for number, decision in subscription``.

    Acknowledge carried-out decisions; all others are given again to the next subscriber.
    """

    def __init__(self, client: Threads[Any], subscribed: Subscribed) -> None:
        super().__init__(subscribed)
        self._client = client
        self._items: queue.SimpleQueue[Item | End] = queue.SimpleQueue()
        subscribed.take = self._items.put
        subscribed.end = self._items.put

    def get(self, timeout: float | None = None) -> tuple[int, D]:
        """
        The next decision.

        :raises CallTimeout: none came in time (by default, any)
        :raises EOFError: the subscription, the session or the client was closed
        """
        self._assert_open()
        item: Item | End
        try:
            try:
                item = self._items.get_nowait()
            except queue.Empty:
                self._client._core.nudge()
                item = self._items.get(timeout=timeout)
        except queue.Empty:
            raise CallTimeout("no decision came in time") from None
        except ClientClosed:
            item = None
        return self._given(item)

    def close(self, *, timeout: float | None = None) -> None:
        self._client._run(self._subscribed.close(), timeout)

    def __iter__(self) -> Iterator[tuple[int, D]]:
        return self

    def __next__(self) -> tuple[int, D]:
        try:
            return self.get()
        except EOFError:
            raise StopIteration from None

    def __enter__(self) -> Subscription[D]:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
