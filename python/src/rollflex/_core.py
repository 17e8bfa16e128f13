"""What calls go through: what the clients share, whether the policies run in a server or in this process."""

from __future__ import annotations

import os
import threading
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, NoReturn, Protocol

from ._messages import encode, encoded
from ._pending import Again, Pending
from .errors import ClientClosed, PolicyError


class Attached(Protocol):
    """Base of what must be restored on a new connection: a session, or a subscription to one."""

    @property
    def rank(self) -> int:
        """Attachments with a lower rank are restored first."""

    def restore(self, ask: Callable[[str, dict[str, Any]], dict[str, Any]]) -> None:
        """Restores the attachment. Raises why it cannot be restored; then it is not tried again."""

    def lost(self, error: Exception) -> None:
        """Tells the attachment that it does not exist any more."""

    def interrupted(self, error: Exception) -> None:
        """The connection could not be made for now; the next use tries again."""


class Reader(Protocol):
    """Receives what the server sends unasked for one session."""

    def notified(self, method: str, params: dict[str, Any]) -> None: ...


_cores: weakref.WeakSet[Core] = weakref.WeakSet()


class Core(ABC):
    """Sends calls, and receives answers and unasked messages."""

    def __init__(self) -> None:
        self.info: dict[str, Any] = {}
        """Answer of `server.info`."""
        self.connections = 0
        """Number of connections so far; an answer on an earlier connection says nothing about the present one."""
        self.readers: dict[str, Reader] = {}
        self.ready = Pending(0, "the greeting", b"", "never", None)
        self._attached: weakref.WeakSet[Attached] = weakref.WeakSet()
        # A client that nobody holds any more is closed wherever the collector runs, within these as well.
        self._attaching = threading.RLock()
        self._lock = threading.RLock()
        self._state = "connecting"
        self._error: Exception | None = None
        _cores.add(self)

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "a client and its sessions belong to their process: make one in each, or let each connect to one server"
        )

    @property
    def limits(self) -> dict[str, Any]:
        """Bounds of the server."""
        limits = self.info.get("limits")
        return limits if isinstance(limits, dict) else {}

    def start(
        self,
        method: str,
        params: object,
        again: Again = "same",
        owner: object = None,
        again_params: object = None,
    ) -> Pending:
        """
        Sends a call; `again_params` go in place of its parameters if it has to be sent again.

        Raises :class:`ClientClosed`, what broke the connection, `limit_exceeded`, TypeError or ValueError for what is no JSON.
        """
        text = encoded(params)
        second = None if again_params is None else encode(again_params)
        return self.start_text(method, text, again, owner, second)

    @abstractmethod
    def start_text(
        self, method: str, params: str, again: Again = "same", owner: object = None, again_params: str | None = None
    ) -> Pending:
        """The same, with parameters as JSON."""

    @abstractmethod
    def notify(self, method: str, params: object) -> None:
        """Sends a call without an answer, or drops it if it cannot be sent."""

    def nudge(self) -> None:
        """Tries to connect after an attempt was given up. Raises the errors of :meth:`start`."""
        with self._lock:
            self._assert_usable()

    @abstractmethod
    def close(self) -> None:
        """Ends the core. Waiting calls get :class:`ClientClosed`."""

    @abstractmethod
    def abandon(self) -> None:
        """
        Leaves the core to the parent, in a forked process. No lock is taken, because its holder does not exist here.
        """

    def attach(self, one: Attached) -> None:
        """Restores the attachment on each new connection, as long as somebody holds it."""
        with self._attaching:
            self._attached.add(one)

    def detach(self, one: Attached) -> None:
        with self._attaching:
            self._attached.discard(one)

    def attached(self) -> list[Attached]:
        """The attachments: sessions first, then their subscriptions."""
        with self._attaching:
            return sorted(self._attached, key=lambda one: one.rank)

    def assert_here(self) -> None:
        """
        Raises :class:`ClientClosed` in a forked process. Called before any lock is taken, because its holder may not
        exist here.
        """
        if self._state == "elsewhere":
            raise ClientClosed("the client belongs to the process that this one was forked from: make one here")

    def _assert_usable(self) -> None:
        if self._state in ("open", "connecting"):
            return
        self.assert_here()
        if self._state == "closed":
            raise ClientClosed("the client was closed")
        assert self._error is not None
        raise type(self._error)(*self._error.args)

    def _assert_fits(self, size: int, most: float) -> None:
        if size > most:
            expected = f"a message of at most {most} bytes"
            raise PolicyError("limit_exceeded", expected=expected, got=str(size), path="params")

    def _notified(self, message: dict[str, Any]) -> None:
        params = message.get("params")
        if isinstance(params, dict):
            reader = self.readers.get(str(params.get("session")))
            if reader is not None:
                reader.notified(str(message["method"]), params)


def _after_fork() -> None:
    for core in list(_cores):
        core._attaching = threading.RLock()
        core.abandon()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
