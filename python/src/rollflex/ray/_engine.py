"""Calls of many workers in one order: done by the server, kept by the mirror, and only then answered."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import time
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from .._messages import result_of
from ..errors import ConnectionLost, PolicyError, ProtocolError, RollflexError, ServerUnavailable, error_from_reply
from ._log import Log, Record
from ._process import Process, make_all_again
from ._stream import Stream

_logger = logging.getLogger("rollflex.ray")
_most_sendings = 5
_most_starts = 5

Data = dict[str, Any]


@dataclass(eq=False)
class Call:
    """A call, from its arrival to its answer."""

    method: str
    text: str
    record: Callable[[Data], Record | None] = lambda data: None
    """Makes the log record from the result, or from the data of a refusal."""
    kept: Callable[[Data], None] = lambda data: None
    """Set when the mirror has stored the call."""
    applied: Callable[[Data], None] = lambda data: None
    """Set when the server has done the call."""
    answer: Data | None = None
    sent: int = 0
    sent_at: float = 0.0
    future: asyncio.Future[Data] = field(default_factory=lambda: asyncio.get_running_loop().create_future())

    @property
    def data(self) -> Data:
        """Content of the answer, a result or a refusal; empty if nothing was done."""
        answer = self.answer or {}
        error = answer.get("error")
        found = answer.get("result") if error is None else error.get("data")
        return found if isinstance(found, dict) else {}

    def settle(self) -> None:
        if self.future.done():
            return
        answer = self.answer or {}
        if "error" in answer:
            self.future.set_exception(error_from_reply(answer["error"]))
            return
        try:
            self.future.set_result(result_of(answer))
        except ProtocolError as error:
            self.future.set_exception(error)

    def fail(self, error: Exception) -> None:
        if not self.future.done():
            self.future.set_exception(error)


Commit = Callable[[int, Sequence[Record]], Awaitable[None]]


class Engine:
    """The server process, started again with its sessions after it dies, and the log of its work."""

    def __init__(
        self,
        spawn: Callable[[], Awaitable[Process]],
        log: Log,
        commit: Commit,
        fatal: Callable[[], None],
        checkpoint_bytes: int,
    ) -> None:
        self.log = log
        self.streams: dict[str, Stream] = {}
        self.restarts = 0
        """Number of restarts of the process."""
        self._spawn = spawn
        self._commit = commit
        self._checkpoint_bytes = checkpoint_bytes
        self._fatal = fatal
        """Ends this process, because unstored work must not be answered."""
        self._process: Process | None = None
        self._calls: deque[Call] = deque()
        """Without an answer of the server, in order."""
        self._done: list[Call] = []
        """Done by the server, and not yet kept."""
        self._wake = asyncio.Event()
        self._idle = asyncio.Event()
        self._idle.set()
        self._checkpointing: set[str] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._starting = False
        self._later(self._keep())

    @property
    def waiting(self) -> int:
        return len(self._calls)

    async def start(self) -> None:
        """Starts the process with all sessions of the log. Raises :class:`ServerUnavailable`."""
        for session, kept in self.log.sessions.items():
            if json.loads(kept.opened.text).get("deliver") == "stream":
                self.streams[session] = Stream()
        self._process = await self._started()

    async def do(self, call: Call) -> Data:
        """The result of a call. Raises the refusal of the server, or that no server can be started."""
        self._calls.append(call)
        if self._process is not None:
            self._send(call)
        elif not self._starting:
            self._later(self._start_again())
        return await call.future

    async def confirm(self) -> None:
        """Returns when all finished actions so far are stored."""
        call = Call("", "", answer={"result": {}})
        self._done.append(call)
        self._wake.set()
        await call.future

    def check(self, stall_seconds: float) -> None:
        """Ends a process that has left a call unanswered for too long; another process replaces it."""
        first = self._calls[0] if self._calls else None
        if first is not None and first.sent_at and time.monotonic() - first.sent_at > stall_seconds:
            _logger.warning("no answer to %s in %s s: the server is started again", first.method, stall_seconds)
            self._break()

    def subscribe(self, session: str) -> None:
        """Streams the decisions of a session from now on."""
        stream = self.streams[session] = Stream()
        if self._process is not None:
            future = self._process.subscribe(session, stream)
            # A connection that breaks is everybody's affair.
            future.add_done_callback(lambda done: done.cancelled() or done.exception())

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        if self._process is not None:
            await self._process.close()

    def _send(self, call: Call) -> None:
        process = self._process
        assert process is not None

        def done(answer: Data) -> None:
            if process is self._process:
                call.answer = answer
                call.applied(call.data)
                self._collect()

        def broken(error: Exception) -> None:
            if process is self._process:
                _logger.warning("the server is gone: %s", error)
                self._break()

        call.sent += 1
        call.sent_at = time.monotonic()
        try:
            process.start(call.method, call.text, done, broken)
        except PolicyError as error:
            self._calls.remove(call)
            call.fail(error)
        except RollflexError:
            self._break()

    def _collect(self) -> None:
        """Answers come in the order of the calls."""
        while self._calls and self._calls[0].answer is not None:
            self._done.append(self._calls.popleft())
        self._idle.clear()
        self._wake.set()

    def _break(self) -> None:
        old, self._process = self._process, None
        if old is not None:
            self._later(old.close())
        if not self._starting:
            self._later(self._start_again())

    async def _start_again(self) -> None:
        if self._starting or self._process is not None:
            return
        self._starting = True
        self.restarts += 1
        try:
            # All answered calls are in the log before it is read.
            await self._idle.wait()
            process = await self._started()
            for call in list(self._calls):
                call.answer = None
                if call.sent >= _most_sendings:
                    self._calls.remove(call)
                    call.fail(ConnectionLost(f"the server died {call.sent} times while {call.method} was not answered"))
            self._process = process
            for call in list(self._calls):
                # The process may have died in the middle.
                if self._process is process:
                    self._send(call)
        except Exception as error:
            _logger.exception("the server cannot be started")
            why = error if isinstance(error, RollflexError) else ServerUnavailable(f"no server: {error!r}")
            while self._calls:
                self._calls.popleft().fail(why)
        finally:
            self._starting = False
            if self._process is None and self._calls:
                self._later(self._start_again())

    async def _started(self) -> Process:
        delay = 0.1
        for left in reversed(range(_most_starts)):
            process = None
            try:
                process = await self._spawn()
                number = self.log.number
                await make_all_again(process, self.log, self.streams)
                for session in [one for one in self.streams if one not in self.log.sessions]:
                    self.streams.pop(session).close("lost")
                if self.log.number != number:
                    _logger.error("sessions were lost: %s", self.log.lost_sessions)
                return process
            except RollflexError:
                if process is not None:
                    await process.close()
                if left == 0:
                    raise
                await asyncio.sleep(delay)
                delay *= 2
        raise AssertionError

    async def _keep(self) -> None:
        """Stores finished calls, many at a time, and then answers them."""
        try:
            while True:
                await self._wake.wait()
                self._wake.clear()
                while self._done:
                    batch, self._done = self._done, []
                    await self._keep_all(batch)
                self._idle.set()
        except Exception:
            _logger.exception("what was done cannot be kept")
            self._fatal()

    async def _keep_all(self, batch: Sequence[Call]) -> None:
        first, records = self.log.number, []
        for call in batch:
            record = call.record(call.data)
            if record is not None:
                self.log.extend([record])
                records.append(record)
        await self._commit(first, records)
        for call in batch:
            call.kept(call.data)
            call.settle()
        for session in {record.session for record in records}:
            self._checkpoint_if_due(session)

    def _checkpoint_if_due(self, session: str) -> None:
        kept = self.log.sessions.get(session)
        if kept is None or session in self._checkpointing:
            return
        if kept.bytes_since > max(self._checkpoint_bytes, 2 * len(kept.checkpoint or "")):
            self._later(self._checkpoint(session))

    async def _checkpoint(self, session: str) -> None:
        """Replaces the steps of a session by a snapshot, which bounds the stored size."""

        def record(data: Data) -> Record | None:
            if session not in self.log.sessions or "snapshot" not in data:
                return None
            state = {key: data[key] for key in ("snapshot", "armed", "delivery") if key in data}
            return Record("checkpoint", session, json.dumps(state), data["seq"])

        self._checkpointing.add(session)
        try:
            params = json.dumps({"session": session, "delivery": True})
            with contextlib.suppress(RollflexError):
                await self.do(Call("session.snapshot", params, record))
        finally:
            self._checkpointing.discard(session)

    def _later(self, work: Any) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
