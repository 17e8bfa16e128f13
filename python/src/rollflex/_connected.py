"""Calls over a connection that is made again when it breaks."""

from __future__ import annotations

import contextlib
import math
import threading
import time
from typing import Any

from ._core import Core
from ._messages import body_of, check_version, encode, parsed, result_of
from ._opening import Opening
from ._pending import Again, Pending
from ._pump import Pump
from .errors import (
    ClientClosed,
    ConnectionLost,
    PolicyError,
    ProtocolError,
    RollflexError,
    ServerUnavailable,
    VersionMismatch,
    defect,
    error_from_reply,
)


class ConnectedCore(Core):
    """A connection, the calls in flight on it, and the thread that reads it."""

    def __init__(self, opening: Opening) -> None:
        super().__init__()
        self.opening = opening
        self._in_flight: dict[int, Pending] = {}
        self._last_id = 0
        self._final = False
        self._how = ""
        self._trouble = ""
        self._leaving = threading.Event()
        self._pump: Pump | None = None
        self._thread: threading.Thread | None = None
        self._start_thread()

    def start_text(
        self, method: str, params: str, again: Again = "same", owner: object = None, again_params: str | None = None
    ) -> Pending:
        body = body_of(method, params)
        self._assert_fits(len(body) + 48, self.limits.get("maxMessageBytes", math.inf))
        with self._lock:
            self._assert_usable()
            self._last_id += 1
            line = b'{"jsonrpc":"2.0","id":%d,%s' % (self._last_id, body)
            pending = Pending(self._last_id, method, line, again, owner)
            if again_params is not None:
                pending.again_line = b'{"jsonrpc":"2.0","id":%d,%s' % (pending.id, body_of(method, again_params))
            pending.trouble = self._trouble
            self._in_flight[pending.id] = pending
            if self._state == "open" and self._pump is not None:
                pending.sent = 1
                self._pump.write(line)
        return pending

    def notify(self, method: str, params: object) -> None:
        line = b'{"jsonrpc":"2.0",' + body_of(method, encode(params))
        with self._lock:
            if self._state == "open" and self._pump is not None:
                self._pump.write(line)

    def close(self) -> None:
        """Ends the connection, and the server if it is a child process."""
        with self._lock:
            if self._state in ("closed", "elsewhere"):
                return
            self._state = "closed"
            self._leaving.set()
            pump = self._pump
            if pump is not None:
                pump.reading_until = time.monotonic() + self.opening.close_grace
                pump.end()
        self._finish_all(ClientClosed("the client was closed"))
        thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join(self.opening.close_grace + 10)

    def abandon(self) -> None:
        """The parent process must not lose bytes to this one."""
        if self._state == "closed":
            return
        self._state = "elsewhere"
        if self._pump is not None:
            with contextlib.suppress(OSError):
                self._pump.abandon()

    def _assert_usable(self) -> None:
        if self._state == "failed" and not self._final:
            # The connection was given up some time ago; one more attempt is made.
            self._state = "connecting"
            self._start_thread()
        super()._assert_usable()

    def _start_thread(self) -> None:
        self._thread = threading.Thread(target=self._run, name="rollflex", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._stay_connected()
        except Exception as error:
            # A defect must not leave anybody waiting.
            self._fail(defect(error), final=True)

    def _stay_connected(self) -> None:
        first = self.connections == 0
        patience = self.opening.wait if first else self.opening.reconnect.limit_seconds
        given_up_at = time.monotonic() + patience
        delay = self.opening.reconnect.first_delay_seconds
        while not self._leaving.is_set():
            try:
                pump = self._greeted()
            except (ProtocolError, VersionMismatch, PolicyError) as error:
                return self._fail(error, final=True)
            except (ServerUnavailable, ConnectionLost) as error:
                self._tell(str(error))
                if time.monotonic() + delay > given_up_at:
                    if first or not self.connections:
                        return self._fail(error, final=True)
                    return self._fail(ConnectionLost(f"the connection could not be made again: {error}"), final=False)
                self._leaving.wait(delay)
                delay = min(delay * 2, self.opening.reconnect.longest_delay_seconds)
                continue
            self._tell("")
            answered = self._serve(pump)
            if self._leaving.is_set():
                return None
            self._tell(self._how)
            if not self.opening.restorable:
                return self._fail(ConnectionLost(f"{self._how}; nothing can be restored"), final=True)
            if answered or first:
                delay = self.opening.reconnect.first_delay_seconds
                given_up_at = time.monotonic() + self.opening.reconnect.limit_seconds
            first = False
            self._leaving.wait(delay)
        return None

    def _tell(self, trouble: str) -> None:
        """Text of errors for calls that get no answer."""
        with self._lock:
            self._trouble = trouble
            for pending in self._in_flight.values():
                pending.trouble = trouble

    def _greeted(self) -> Pump:
        """Returns a new connection that has shown its token and knows the server's version."""
        opening = self.opening
        pump = Pump(opening.open(opening.timeout))
        with self._lock:
            if self._state == "closed":
                pump.reading_until = time.monotonic()
            self._pump = pump
        try:
            if opening.token is not None:
                self._ask(pump, "server.authenticate", {"token": opening.token})
            info = self._ask(pump, "server.info", {})
            if opening.check_version:
                check_version(info.get("version"))
        except BaseException:
            pump.close(1.0)
            raise
        self.info = info
        return pump

    def _ask(self, pump: Pump, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Makes a call before all others. Raises the error of the server or of the connection."""
        with self._lock:
            self._last_id += 1
            id = self._last_id
        pump.write(b'{"jsonrpc":"2.0","id":%d,%s' % (id, body_of(method, encode(params))))
        if not self._leaving.is_set():
            pump.reading_until = time.monotonic() + self.opening.timeout
        for line in pump.lines():
            message = parsed(line)
            if "method" in message:
                self._notified(message)
            elif message.get("id") == id:
                pump.reading_until = None if not self._leaving.is_set() else time.monotonic()
                if "error" in message:
                    raise error_from_reply(message["error"])
                return result_of(message)
        if time.monotonic() >= (pump.reading_until or time.monotonic() + 1):
            raise ServerUnavailable(f"no answer to {method} in {self.opening.timeout} s")
        hint = "; is the token right?" if method == "server.authenticate" else ""
        raise ServerUnavailable(f"{pump.epitaph()}{hint}")

    def _serve(self, pump: Pump) -> bool:
        """Uses a connection until it breaks. Returns whether any call was answered."""
        answered = False
        trouble: str | None = None
        try:
            self._restore(pump)
            self._resume(pump)
            for line in pump.lines():
                if line:
                    self._take(line)
                    answered = True
        except ServerUnavailable as error:
            trouble = str(error)
        except ProtocolError as error:
            self._fail(error, final=True)
            self._leaving.set()
        finally:
            with self._lock:
                if self._state == "open":
                    self._state = "connecting"
                self._pump = None
            if self._leaving.is_set():
                pump.close(max(0.2, (pump.reading_until or 0) - time.monotonic()))
            else:
                self._how = trouble or pump.epitaph()
                pump.close(1.0)
        return answered

    def _restore(self, pump: Pump) -> None:
        """Restores sessions and subscriptions before any call goes out."""
        self.connections += 1
        if self.connections == 1:
            return
        for one in self.attached():
            try:
                one.restore(lambda method, params: self._ask(pump, method, params))
            except (ServerUnavailable, ProtocolError):
                raise
            except RollflexError as error:
                self.detach(one)
                one.lost(error)

    def _resume(self, pump: Pump) -> None:
        """Sends unanswered calls again, in order, and then lets new calls out."""
        ended: list[tuple[Pending, Exception]] = []
        with self._lock:
            waiting = list(self._in_flight.values())
            self._in_flight.clear()
            for pending in waiting:
                if pending.unwanted:
                    continue
                error = _hopeless(pending, self.opening.reconnect.most_sendings)
                if error is not None:
                    ended.append((pending, error))
                    continue
                self._in_flight[pending.id] = pending
                pump.write(pending.again_line if pending.sent else pending.line)
                pending.sent += 1
            if self._state == "connecting":
                self._state = "open"
        for pending, error in ended:
            pending.finish(None, error)
        if not self.ready.done:
            self.ready.finish({})

    def _take(self, line: bytes) -> None:
        message = parsed(line)
        id = message.get("id")
        if "method" in message and id is None:
            return self._notified(message)
        pending = self._in_flight.pop(id, None) if isinstance(id, int) else None
        if pending is not None:
            pending.connection = self.connections
            if "result" not in message and "error" not in message:
                pending.finish(None, ProtocolError(f"an answer without result and error: {line[:200]!r}"))
                raise ProtocolError(f"an answer without result and error: {line[:200]!r}")
            return pending.finish(message)
        if id is None and "error" in message:
            # The server could not read the id. It answers in order, so the error belongs to the oldest call.
            with self._lock:
                oldest = next(iter(self._in_flight), None)
                pending = None if oldest is None else self._in_flight.pop(oldest)
            if pending is not None:
                return pending.finish(message)
        if not isinstance(id, int) or not 0 < id <= self._last_id:
            raise ProtocolError(f"an answer to no call: {line[:200]!r}")
        return None

    def _fail(self, error: Exception, *, final: bool) -> None:
        with self._lock:
            if self._state not in ("closed", "elsewhere"):
                self._state, self._error, self._final = "failed", error, final
        self._finish_all(error)

    def _finish_all(self, error: Exception) -> None:
        with self._lock:
            ended = list(self._in_flight.values())
            self._in_flight.clear()
        if not self.ready.done:
            self.ready.finish(None, error)
        for pending in ended:
            pending.finish(None, error)
        for one in self.attached():
            if self._final or self._state == "closed":
                one.lost(error)
            else:
                one.interrupted(error)


def _hopeless(pending: Pending, most_sendings: int) -> Exception | None:
    """Why a call cannot be sent, or not again."""
    lost: Exception | None = getattr(pending.owner, "error", None)
    if lost is not None or pending.sent == 0:
        return lost
    if pending.again == "never":
        return ConnectionLost(f"the connection broke: whether {pending.method} was done cannot be known")
    if pending.sent >= most_sendings:
        return ConnectionLost(f"the connection broke {pending.sent} times while {pending.method} was not answered")
    return None
