"""One server process, from its start to its end: calls in the order in which they are made, and sessions made again."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .._command import Command
from .._messages import result_of
from .._opening import Path_
from ..aio import AsyncClient
from ..errors import PolicyError, ProtocolError, RollflexError, error_from_reply
from ._log import Kept, Log, Record
from ._stream import Stream

Done = Callable[[dict[str, Any]], None]
Broken = Callable[[Exception], None]

# Only a known number of workers call, so whole answers and snapshots are allowed.
_limits: dict[str, float] = {
    "maxMessageBytes": 1 << 29,
    "maxOutputBytes": 1 << 30,
    "maxDepth": 512,
    "maxEventsPerCall": 1_000_000,
    "maxProducers": 100_000,
    "pageDecisions": 1_000_000,
}


@dataclass(frozen=True)
class ServerOptions:
    """How to start the server; see :meth:`rollflex.Client.spawn`."""

    command: Command | None = None
    policies: Path_ | None = None
    limits: Mapping[str, float] = field(default_factory=dict)
    args: Sequence[str] = ()
    env: Mapping[str, str] | None = None


class Process:
    """A server on standard input and output."""

    def __init__(self, client: AsyncClient) -> None:
        self._client = client
        self._core = client._core
        self._loop = asyncio.get_running_loop()
        self.version = str(self._core.info.get("version"))

    @classmethod
    async def spawn(cls, options: ServerOptions) -> Process:
        """Raises :class:`ServerUnavailable`."""
        return cls(
            await AsyncClient.spawn(
                options.command,
                policies=options.policies,
                limits={**_limits, **options.limits},
                args=options.args,
                env=options.env,
            )
        )

    def start(self, method: str, text: str, done: Done, broken: Broken) -> None:
        """
        Makes a call. One of the two callbacks is called once: with the answer, or with the reason why the connection
        ended.

        :raises PolicyError: the call is too long
        """
        pending = self._core.start_text(method, text, "never")
        told = False

        def tell() -> None:
            nonlocal told
            if told:
                return
            told = True
            if pending.error is not None:
                broken(pending.error)
            else:
                assert pending.answer is not None
                done(pending.answer)

        def hand_over() -> None:
            # The loop may have been closed by now.
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(tell)

        pending.then(hand_over)

    async def call(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """Returns the result of a call. Raises the error of the server or the connection."""
        return await self._later(method, json.dumps(params))

    def subscribe(self, session: str, stream: Stream) -> asyncio.Future[dict[str, Any]]:
        """From now on a stream gets the decisions of a session that nobody has acknowledged."""
        self._core.readers[session] = _Reader(self._loop, stream)

        def ready(result: dict[str, Any]) -> None:
            stream.begun(result["acknowledged"])

        return self._later("session.subscribe", json.dumps({"session": session}), ready)

    async def make_again(self, session: str, kept: Kept, stream: Stream | None) -> None:
        """
        Restores a session.

        :raises PolicyError: its repeated steps give other results than before
        """
        open_text = kept.opened.text
        if kept.checkpoint is not None:
            # Two JSON objects are joined into one.
            open_text = f"{kept.opened.text[:-1]},{kept.checkpoint[1:]}"
        steps = [("session.open", open_text, kept.start_seq)]
        for one in kept.since:
            if one.kind == "sent":
                steps.append(("session.send", one.text, one.seq))
            else:
                # This call also acknowledges, and does not request decisions that were sent already.
                steps.append(("session.subscribe", json.dumps({"session": session, "after": one.seq}), -1))
        answers = await asyncio.gather(
            *(self._later(method, text) for method, text, _ in steps), return_exceptions=True
        )
        for (method, _, seq), answer in zip(steps, answers, strict=True):
            got = answer.seq if isinstance(answer, PolicyError) else answer
            if isinstance(answer, BaseException) and got is None:
                raise answer
            if isinstance(got, dict):
                got = got.get("seq", -1)
            if got != seq:
                said = f"{got}: {answer}" if isinstance(answer, PolicyError) else str(got)
                raise PolicyError("snapshot_mismatch", expected=f"{seq} events after {method}", got=said)
        if stream is not None:
            # The effects of an acknowledgement above must not interfere.
            await self._later("session.unsubscribe", json.dumps({"session": session}))
            result = await self.subscribe(session, stream)
            stream.release(result["decisionSeq"])
            while stream.last < result["decisionSeq"]:
                await self.call("server.info", {})
                await asyncio.sleep(0.001)

    async def close(self) -> None:
        """Ends the process; kills a process that does not end by itself."""
        with contextlib.suppress(RollflexError):
            await self._client.close()

    def _later(self, method: str, text: str, ready: Done | None = None) -> asyncio.Future[dict[str, Any]]:
        future: asyncio.Future[dict[str, Any]] = self._loop.create_future()

        def done(answer: dict[str, Any]) -> None:
            if "error" in answer:
                return broken(error_from_reply(answer["error"]))
            try:
                result = result_of(answer)
            except ProtocolError as error:
                return broken(error)
            if ready is not None:
                ready(result)
            if not future.done():
                future.set_result(result)
            return None

        def broken(error: Exception) -> None:
            if not future.done():
                future.set_exception(error)

        try:
            self.start(method, text, done, broken)
        except Exception as error:
            broken(error)
        return future


class _Reader:
    """Takes unasked messages of the server, on the reading thread."""

    def __init__(self, loop: asyncio.AbstractEventLoop, stream: Stream) -> None:
        self._loop = loop
        self._stream = stream
        self._source = stream.begin()

    def notified(self, method: str, params: dict[str, Any]) -> None:
        if method == "session.decision":
            with contextlib.suppress(RuntimeError):
                number, decision = params["decisionSeq"], params["decision"]
                self._loop.call_soon_threadsafe(self._stream.push, self._source, number, decision)


async def make_all_again(process: Process, log: Log, streams: Mapping[str, Stream]) -> None:
    """Restores every session of a log. A session that cannot be restored is lost, which the log then says."""
    for session, kept in list(log.sessions.items()):
        why = ""
        if kept.since and log.version != process.version:
            why = f"its steps were done by version {log.version} of the server, and this is {process.version}"
        else:
            try:
                await process.make_again(session, kept, streams.get(session))
            except PolicyError as error:
                why = str(error)
        if why:
            log.extend([Record("lost", session, f"session {session} could not be made again: {why}")])
            with contextlib.suppress(PolicyError):
                await process.call("session.close", {"session": session})
    log.version = process.version
