"""Handles of the actor that block: the names of :mod:`rollflex.client`, from any worker of the cluster."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar, overload

from .._steps import plan_params
from .._typed import TypedClient
from ._calls import Steps, call, run
from ._handles import HandleBase, SessionBase, all_sessions, opened
from ._sessions import Attached, Reading

if TYPE_CHECKING:
    from ..models.methods import SessionWhyAllResult, SessionWhyResult
    from .aio import AsyncRollflexHandle

T = TypeVar("T")


class RollflexHandle(HandleBase, TypedClient):
    """
    Calls the actor, and blocks until the answer. Any worker may get this handle, and any number of threads may use it.
    A call to a lost node is repeated on the next one, until ``deadline_seconds`` have passed.
    """

    def _open(self, policy: str | None, options: dict[str, Any]) -> RaySession:
        deadline = self._deadline(options.pop("timeout", None))
        return RaySession(self, run(opened(self._actor, policy, options, deadline), deadline))

    def _plan(self, planner: str, input: Any, deadline: float | None, timeout: float | None) -> Any:
        return self._read("plan", plan_params(planner, input, deadline), timeout)["plan"]

    def sessions(self, *, timeout: float | None = None) -> list[Any]:
        """Returns the sessions of the server in the order of ids."""
        return self._call(lambda deadline: all_sessions(self._actor, deadline), timeout)

    def server_info(self, *, timeout: float | None = None) -> Any:
        """Version, policies and limits of the server."""
        return self._read("server.info", {}, timeout)

    def discover(self, *, timeout: float | None = None) -> Any:
        """The OpenRPC document: methods, events, decisions and settings."""
        return self._read("rpc.discover", {}, timeout)

    def info(self, *, timeout: float | None = None) -> dict[str, Any]:
        """Returns where the server and its mirror are, and their history."""
        return self._call(lambda deadline: call(self._actor, deadline, "info"), timeout)

    def as_async(self) -> AsyncRollflexHandle:
        """Returns the same handle for asyncio."""
        from .aio import AsyncRollflexHandle

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


class RaySession(SessionBase):
    """A policy with its state. A session that is passed to a worker sends there as a separate producer."""

    def __init__(self, handle: RollflexHandle, attached: Attached) -> None:
        super().__init__(handle, attached)
        self._sending = threading.Lock()

    def send(self, events: Any, *, first_seq: int | None = None, timeout: float | None = None) -> list[Any]:
        """
        Applies events in order, each once, and returns the decisions.

        :raises PolicyError: an event was refused; earlier events are applied
        :raises CallTimeout: there was no answer in time; :meth:`retry` fetches it
        """
        several = [events] if isinstance(events, Mapping) else list(events)
        with self._sending:
            return self._call(lambda deadline: self._attached.send(several, first_seq, deadline), timeout)

    def retry(self, *, timeout: float | None = None) -> list[Any]:
        """Returns the decisions of a ``send`` that ended without an answer. No event is applied twice."""
        with self._sending:
            return self._call(self._attached.retry, timeout)

    def snapshot(self, *, timeout: float | None = None) -> Any:
        """Returns the whole state, for ``open(snapshot=…)``."""
        return self._call(self._attached.snapshot, timeout)

    @overload
    def why(self, id: None = None, what: str | None = None, *, timeout: float | None = None) -> SessionWhyAllResult: ...
    @overload
    def why(self, id: str, what: str | None = None, *, timeout: float | None = None) -> SessionWhyResult: ...
    def why(self, id: str | None = None, what: str | None = None, *, timeout: float | None = None) -> Any:
        """Says why something waits and who must act, as :meth:`rollflex.Session.why` does."""
        return self._call(lambda deadline: self._attached.why(id, what, deadline), timeout)

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
    """
    Decisions with their numbers, in order: ``for number, decision in subscription``. Only one subscriber acknowledges.
    """

    def __init__(self, session: RaySession, reading: Reading) -> None:
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
