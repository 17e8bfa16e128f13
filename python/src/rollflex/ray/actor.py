"""The actor that hosts the server, supervises it, and mirrors what it acknowledges to another node."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import ray
from ray.exceptions import RayError

from .._messages import encode
from ..errors import PolicyError, SessionLost
from ._engine import Call, Data, Engine
from ._log import Log, Record
from ._mirror import Mirroring, Superseded
from ._process import Process, ServerOptions
from ._stream import Stream

_logger = logging.getLogger("rollflex.ray")
_mirror_seconds = 30.0


@dataclass(frozen=True)
class ActorOptions:
    """What the actor is made with."""

    name: str
    namespace: str
    mirror: bool = True
    stall_seconds: float = 60.0
    watch_seconds: float = 2.0
    checkpoint_bytes: int = 1 << 20
    server: ServerOptions = field(default_factory=ServerOptions)


class RollflexActor:
    """
    Async actor around one ``rollflex serve``. Make it with :func:`rollflex.ray.get_or_create`, and call it through the
    handle that this gives.
    """

    def __init__(self, options: ActorOptions) -> None:
        context = ray.get_runtime_context()
        self._options = options
        self._node_id: str = context.get_node_id()
        with warnings.catch_warnings():
            # Ray's own, of a name that it uses itself.
            warnings.simplefilter("ignore")
            self._reconstructed: bool = context.was_current_actor_reconstructed
        self._mirroring = Mirroring(options.name, options.namespace, self._node_id) if options.mirror else None
        self._starting: asyncio.Task[Engine] | None = None
        self._watching: asyncio.Task[None] | None = None
        self._opening: dict[str, asyncio.Task[Data]] = {}
        # A node that comes in the place of another one must not wait for somebody to call.
        context.current_actor.info.remote()

    async def begin(self) -> None:
        """For who has made the actor, before anybody else: nothing can have been lost yet."""
        engine = await self._engine()
        if engine.log.lost and not engine.log.sessions:
            await engine.do(Call("server.info", "{}", record=lambda data: Record("lost", "", "")))

    async def open(self, params: dict[str, Any], token: str, named: bool) -> Data:
        """The same token opens once, whatever becomes of the answer."""
        engine = await self._engine()
        session = params["session"]
        if params.get("timers") == "server":
            expected = "the host to run the timers: a server that is made again cannot fire them as they were fired"
            raise PolicyError("invalid_input", expected=expected, got="server", path="timers")
        if params.get("shadow"):
            # What a host decides by itself counts as no event, by which the log goes.
            expected = "a policy whose decisions are carried out: shadow mode needs a server of its own"
            raise PolicyError("invalid_input", expected=expected, got="true", path="shadow")
        why = engine.log.why_lost(session)
        if why and named and params.get("onExisting") != "replace":
            raise SessionLost(f"{why}; open it with on_existing='replace', from the snapshot of your last checkpoint")
        kept = engine.log.sessions.get(session)
        if kept is not None and kept.opened.token == token:
            return dict(json.loads(kept.opened.answer))
        task = self._opening.get(token)
        if task is None:
            task = self._opening[token] = asyncio.create_task(self._open(engine, params, token))
            task.add_done_callback(lambda done: self._opening.pop(token, None))
        return await asyncio.shield(task)

    async def send(self, session: str, events: Sequence[Any], producer: str | None, first_seq: int | None) -> Data:
        """Stamps the events: done again, they must have the same times."""
        engine = await self._engine()
        self._check_there(engine, session)
        now = time.time()
        stamped = [{**one, "at": now} if isinstance(one, Mapping) and "at" not in one else one for one in events]
        params: dict[str, Any] = {"session": session, "events": stamped}
        if producer is not None:
            params["producer"] = producer
        if first_seq is not None:
            params["firstSeq"] = first_seq
        text = encode(params)

        def record(data: Data) -> Record | None:
            kept = engine.log.sessions.get(session)
            # Nothing was applied, or it had been applied before.
            if kept is None or data.get("seq", -1) <= kept.seq:
                return None
            return Record("sent", session, text, data["seq"])

        def kept(data: Data) -> None:
            stream = engine.streams.get(session)
            if stream is not None and "decisionSeq" in data:
                stream.release(data["decisionSeq"])

        return await engine.do(Call("session.send", text, record, kept))

    async def decisions(
        self, session: str, after: int | None, ack: int | None, most: int, seconds: float
    ) -> dict[str, Any]:
        """Decisions of a streaming session after a number, as soon as there are any."""
        engine = await self._engine()
        self._check_there(engine, session)
        stream = engine.streams.get(session)
        if stream is None:
            # Says what it is: unknown, or not streaming.
            await engine.do(Call("session.unsubscribe", encode({"session": session})))
            expected = "a session that was opened with deliver: stream"
            raise PolicyError("invalid_input", expected=expected, got=session, path="session")
        if ack is not None and ack > stream.acknowledged:
            await self._acknowledge(engine, session, stream, ack)
        begin = stream.acknowledged if after is None else after
        found = await stream.read(begin, most, seconds)
        return {"decisions": found, "begin": begin, "closed": stream.closed_because}

    async def snapshot(self, session: str) -> Data:
        engine = await self._engine()
        self._check_there(engine, session)
        return await engine.do(Call("session.snapshot", encode({"session": session})))

    async def close(self, session: str) -> None:
        engine = await self._engine()
        self._check_there(engine, session)

        def record(data: Data) -> Record | None:
            return Record("closed", session) if session in engine.log.sessions else None

        def applied(data: Data) -> None:
            stream = engine.streams.pop(session, None)
            if stream is not None:
                stream.close("closed")

        await engine.do(Call("session.close", encode({"session": session}), _unless_refused(record), applied=applied))

    async def read(self, method: str, params: dict[str, Any]) -> Data:
        """A method that changes nothing."""
        engine = await self._engine()
        return await engine.do(Call(method, encode(params)))

    async def info(self) -> dict[str, Any]:
        """Where everything is, and how it has fared."""
        engine = await self._engine()
        mirroring = self._mirroring
        return {
            "node": self._node_id,
            "pid": os.getpid(),
            "server_restarts": engine.restarts,
            "generation": mirroring.generation if mirroring else 1,
            "mirror_node": mirroring.node_id if mirroring else None,
            "mirrored_elsewhere": bool(mirroring and mirroring.elsewhere),
            "records": engine.log.number,
            "records_held": sum(len(one.since) for one in engine.log.sessions.values()),
            "bytes_held": sum(one.bytes_since + len(one.checkpoint or "") for one in engine.log.sessions.values()),
            "sessions": sorted(engine.log.sessions),
            "lost": engine.log.lost,
            "waiting": engine.waiting,
        }

    async def _open(self, engine: Engine, params: dict[str, Any], token: str) -> Data:
        session = params["session"]
        on_existing = params.get("onExisting", "fail")
        again = encode({key: value for key, value in params.items() if key != "onExisting"})

        def is_attachment() -> bool:
            return on_existing == "attach" and session in engine.log.sessions

        def record(data: Data) -> Record | None:
            if is_attachment():
                return None
            return Record("opened", session, again, data["seq"], token, encode(data))

        def applied(data: Data) -> None:
            if "session" not in data or (on_existing == "attach" and session in engine.streams):
                return
            replaced = engine.streams.pop(session, None)
            if replaced is not None:
                replaced.close("replaced")
            if params.get("deliver") == "stream":
                engine.subscribe(session)

        return await engine.do(Call("session.open", encode(params), _unless_refused(record), applied=applied))

    async def _acknowledge(self, engine: Engine, session: str, stream: Stream, number: int) -> None:
        def record(data: Data) -> Record | None:
            return Record("acknowledged", session, seq=number) if session in engine.log.sessions else None

        params = encode({"session": session, "decisionSeq": number})
        await engine.do(Call("session.ack", params, _unless_refused(record)))
        stream.forget(number)

    def _check_there(self, engine: Engine, session: str) -> None:
        why = engine.log.why_lost(session)
        if why:
            raise SessionLost(why)

    async def _engine(self) -> Engine:
        if self._starting is None or (self._starting.done() and self._starting.exception() is not None):
            self._starting = asyncio.create_task(self._start())
        return await asyncio.shield(self._starting)

    async def _start(self) -> Engine:
        mirroring = self._mirroring
        log = None if mirroring is None else await asyncio.to_thread(mirroring.take_over)
        if log is None:
            log = Log("")
            if self._reconstructed:
                both = "the server and its mirror were" if mirroring else "the server, which has no mirror, was"
                log.lost = f"{both} lost at the same time, and with them every session"
                _logger.error("%s", log.lost)

        async def spawn() -> Process:
            return await Process.spawn(self._options.server)

        engine = Engine(spawn, log, self._commit, _fatal, self._options.checkpoint_bytes)
        self._log = log
        try:
            await engine.start()
            if mirroring is not None:
                await self._superseded_is_fatal(asyncio.to_thread(mirroring.settle, log))
        except BaseException:
            await engine.close()
            raise
        self._watching = asyncio.create_task(self._watch(engine))
        return engine

    async def _commit(self, first: int, records: Sequence[Record]) -> None:
        mirroring = self._mirroring
        if mirroring is None:
            return
        if mirroring.misplaced:
            return await self._superseded_is_fatal(asyncio.to_thread(mirroring.make, self._log))
        try:
            await self._superseded_is_fatal(asyncio.wait_for(mirroring.append(first, records), _mirror_seconds))
        except (RayError, ValueError, asyncio.TimeoutError) as error:
            _logger.warning("the mirror is gone, a new one is made: %s", error)
            await self._superseded_is_fatal(asyncio.to_thread(mirroring.make, self._log))

    async def _superseded_is_fatal(self, work: Any) -> None:
        try:
            await work
        except Superseded as error:
            _logger.error("%s", error)
            _fatal()

    async def _watch(self, engine: Engine) -> None:
        """Notices a mirror that is gone, one that could be on another node, and a server that does not answer."""
        while True:
            await asyncio.sleep(self._options.watch_seconds)
            engine.check(self._options.stall_seconds)
            mirroring = self._mirroring
            if mirroring is not None:
                try:
                    mirroring.misplaced = await asyncio.to_thread(mirroring.should_move)
                except RayError as error:
                    _logger.warning("the nodes are not known: %s", error)
                await engine.confirm()


def _unless_refused(record: Any) -> Any:
    """An answer with an error code in it is that of a refusal."""
    return lambda data: None if "code" in data else record(data)


def _fatal() -> None:
    # Not an exit that Ray takes for wanted: if this is the actor that counts, it is made again from the mirror.
    os._exit(1)
