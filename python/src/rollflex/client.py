"""The client for threads. Any number of them may share one."""

from __future__ import annotations

import queue
import threading
import time
import weakref
from collections.abc import Iterator, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar, cast

from ._attachment import Attachment
from ._command import Command
from ._embedded import Embedding
from ._opening import Opening, Reconnect
from ._options import Path_, connecting, core_of, deadline_after, embedding, open_params, spawning
from ._sending import Producer
from ._steps import Steps, all_sessions, call, planned
from ._subscription import End, Item, Subscribed
from ._typed import TypedClient
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


def _run(steps: Steps[T], deadline: float | None) -> T:
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


class Client(TypedClient):
    """
    The policies: in this process (:meth:`embedded`, or no arguments), or in a server, which :meth:`spawn` starts and
    :meth:`connect` reaches.
    """

    def __init__(self, opening: Opening | Embedding | None = None) -> None:
        opening = opening or embedding()
        self._core = core_of(opening)
        self.timeout = opening.timeout
        """Seconds that a call may take, where it does not say otherwise."""
        self._finalizer = weakref.finalize(self, self._core.close)
        try:
            self._core.ready.wait(None)
            self._core.ready.take()
        except BaseException:
            self._finalizer()
            raise

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
    ) -> Client:
        """
        Runs the policies in this process: no server, no Node.js. Sessions are those of this client, and end with it, or
        go on with the next that has the same state directory.

        :param state_dir: where sessions are kept: what was acknowledged survives ``kill -9``
        :param fsync: when what was acknowledged is on the disk (``always``), or a second later (``interval``)
        :param log_dir: where events and decisions are written down
        :param limits: bounds, by their names (``maxSessions``)
        :param memory_limit: bytes that the policies may take, and each plan that is computed; any if it is not given
        :param time_limit: seconds of processor time, of all threads of this process, that a call may take
        :param timeout: seconds that a call may take; :data:`math.inf` for any
        """
        kept = embedding(limits, memory_limit, time_limit, timeout, state_dir=state_dir, fsync=fsync, log_dir=log_dir)
        return cls(kept)

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
    ) -> Client:
        """
        Starts a server of one's own: it leaves when this process does.

        :param command: what starts it, without ``serve``; see :func:`rollflex.server_command`
        :param state_dir: where sessions are kept; with it the server is started again when it has died
        :param fsync: when what was acknowledged is on the disk (``always``), or soon after (``interval``)
        :param policies: a module with definitions of one's own
        :param limits: bounds of the server, by their names (``maxSessions``)
        :param args: further options of ``rollflex serve``
        :param env: variables of its environment, beside those of this process
        :param timeout: seconds that a call may take; :data:`math.inf` for any
        """
        return cls(
            spawning(
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
    ) -> Client:
        """
        Connects to a server that listens at a Unix socket, or at a TCP port.

        :param wait: seconds in which the server may still be coming up
        """
        return cls(
            connecting(
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

    def _open(self, policy: str | None, options: dict[str, Any]) -> Session[Any, Any]:
        producer, timeout = options.pop("producer", None), options.pop("timeout", None)
        params, named = open_params(policy, options)
        attachment = Attachment(self._core, params, named)
        return Session(self, attachment, self._run(attachment.open(producer), timeout))

    def _plan(self, planner: str, input: Any, timeout: float | None) -> Any:
        return self._run(planned(self._core, planner, input), timeout)

    def sessions(self, *, timeout: float | None = None) -> list[SessionListResultSession]:
        """The sessions of the server, in the order of their ids."""
        return self._run(all_sessions(self._core), timeout)

    def server_info(self, *, timeout: float | None = None) -> ServerInfoResult:
        """Version, policies and limits of the server."""
        return cast("ServerInfoResult", self._run(call(self._core, "server.info", {}), timeout))

    def discover(self, *, timeout: float | None = None) -> RpcDiscoverResult:
        """The OpenRPC document: methods, events, decisions and settings."""
        return cast("RpcDiscoverResult", self._run(call(self._core, "rpc.discover", {}), timeout))

    def call(self, method: str, params: Mapping[str, Any] | None = None, *, timeout: float | None = None) -> Any:
        """Calls a method by its name. It is not sent again when the connection breaks."""
        return self._run(call(self._core, method, params or {}, "never"), timeout)

    def close(self) -> None:
        """Ends it, with a server or an engine that was started for it. Sessions stay with a server that goes on."""
        self._finalizer()

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _run(self, steps: Steps[T], timeout: float | None) -> T:
        return _run(steps, self._deadline(timeout))

    def _deadline(self, timeout: float | None) -> float | None:
        return deadline_after(self.timeout if timeout is None else timeout, time.monotonic())


class Session(Generic[E, D]):
    """
    A policy with its state, on the server.

    Threads that share one send one after the other. Those that should not wait for each other take one each
    (``client.open(policy, session=…, on_existing="attach")``).
    """

    def __init__(self, client: Client, attachment: Attachment, producer: Producer) -> None:
        self._client = client
        self._attachment = attachment
        self._producer = producer
        self._sending = threading.Lock()

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
        """Events of a ``send`` that ended without all its answers: :meth:`retry` gets them."""
        return self._producer.unanswered

    def send(self, events: E | Sequence[E], *, first_seq: int | None = None, timeout: float | None = None) -> list[D]:
        """
        Applies one event, or several in order, and gives their decisions; none where they are streamed.

        :param first_seq: events of this producer that were applied before these; counted here if it is not given
        :raises PolicyError: an event was refused; the earlier ones are applied, and the error has their decisions
        :raises CallTimeout: no answer in time; :meth:`retry` gets it
        :raises ConnectionLost: the connection is gone; :meth:`retry` may get the answer once there is a server again
        """
        # Most events are dicts, of which the abstract class takes longer to know.
        one = type(events) is dict or isinstance(events, Mapping)
        several: Sequence[Any] = [events] if one else list(events)  # type: ignore[arg-type]
        return self._exclusively(self._producer.send(several, first_seq), timeout)

    def retry(self, *, timeout: float | None = None) -> list[D]:
        """The decisions of a ``send`` that ended without its answer, all of them. Nothing is applied twice."""
        return self._exclusively(self._producer.retry(), timeout)

    def snapshot(self, *, timeout: float | None = None) -> SessionSnapshotResultSnapshot:
        """The whole state: what ``open(snapshot=…)`` takes."""
        result = self._client._run(self._attachment.snapshot(), timeout)
        return cast("SessionSnapshotResultSnapshot", result["snapshot"])

    def armed(self, *, timeout: float | None = None) -> list[Any]:
        """The timers that the server runs for it: what ``open(armed=…)`` takes beside a snapshot."""
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

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # After an error it stays: what it holds may be wanted.
        if kind is None:
            self.close()

    def _exclusively(self, steps: Steps[list[D]], timeout: float | None) -> list[D]:
        deadline = self._client._deadline(timeout)
        if not self._sending.acquire(blocking=False):
            patience = -1 if deadline is None else max(0.0, deadline - time.monotonic())
            if not self._sending.acquire(timeout=min(patience, threading.TIMEOUT_MAX)):
                raise CallTimeout(f"another thread sends to session {self.id} all the time; nothing was sent")
        try:
            return _run(steps, deadline)
        finally:
            self._sending.release()


class Subscription(Generic[D]):
    """
    Decisions with their numbers, as they come: ``for number, decision in subscription``.

    Acknowledge what was carried out; what was not is given again to the next subscriber.
    """

    def __init__(self, client: Client, subscribed: Subscribed) -> None:
        self._client = client
        self._subscribed = subscribed
        self._items: queue.SimpleQueue[Item | End] = queue.SimpleQueue()
        self._ended = False
        subscribed.take = self._items.put
        subscribed.end = self._items.put

    @property
    def closed_because(self) -> str | None:
        """``closed`` or ``replaced``, once the server has closed the session."""
        return self._subscribed.closed_because

    def get(self, timeout: float | None = None) -> tuple[int, D]:
        """
        The next decision.

        :raises CallTimeout: none came in time (by default, any)
        :raises EOFError: the subscription, the session or the client was closed
        """
        if self._ended:
            raise EOFError("the subscription has ended")
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
        if isinstance(item, tuple):
            return item
        self._ended = self._client._core.readers.get(self._subscribed.session.id) is not self._subscribed
        if item is None or isinstance(item, ClientClosed):
            raise EOFError("the subscription has ended")
        raise item

    def ack(self, number: int) -> None:
        """Acknowledges the decisions up to a number."""
        self._subscribed.acknowledge(number)

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

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
