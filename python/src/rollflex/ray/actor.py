"""The actor that hosts the server, supervises it, and mirrors what it acknowledges; or stands by for another one."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import time
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import ray
from ray.exceptions import ActorDiedError, RayError, RayTaskError

from .._messages import encode, encoded
from ..errors import PolicyError, RollflexError, SessionLost
from ._engine import Call, Data, Engine
from ._log import Log, Record
from ._mirror import Mirroring, Superseded
from ._pair import ActorOptions, Pair
from ._process import Process
from ._stream import Stream

_logger = logging.getLogger("rollflex.ray")
_mirror_seconds = 3.0
_mirror_bytes_per_second = 10e6
_turn_seconds = 1.0


class Elsewhere(RollflexError):
    """This actor does not serve: the other one does, or this one will if the other is lost."""

    def __init__(self, name: str, well: bool, trouble: str = "") -> None:
        where = "is served elsewhere" if well else f"is not served yet: {trouble or 'its turn has not come'}"
        super().__init__(f"{name} {where}")
        self.well = well
        """Whether the serving actor has just answered."""


class RollflexActor:
    """
    Async actor around one ``rollflex serve``. Make it with :func:`rollflex.ray.get_or_create`, and call it through the
    returned handle.
    """

    def __init__(self, options: ActorOptions, member: str | None = None) -> None:
        context = ray.get_runtime_context()
        self._options = options
        self._node_id: str = context.get_node_id()
        with warnings.catch_warnings():
            # The warning is Ray's own, about a name that Ray itself uses.
            warnings.simplefilter("ignore")
            self._reconstructed: bool = context.was_current_actor_reconstructed
        self._pair = Pair(options, member or options.name, self._node_id) if options.mirror else None
        self._starting: asyncio.Task[Engine] | None = None
        self._turn: asyncio.Task[None] | None = None
        self._spare: asyncio.Task[Process] | None = None
        self._watching: asyncio.Task[None] | None = None
        self._opening: dict[str, asyncio.Task[Data]] = {}
        # A replacing actor must begin without waiting for a call.
        context.current_actor.status.remote()

    async def status(self) -> dict[str, Any]:
        """Returns who this actor is, and whether it serves."""
        self._take_turn()
        instance = self._pair.instance if self._pair else ""
        return {"instance": instance, "node": self._node_id, "serves": self._starting is not None}

    async def begin(self) -> None:
        """
        Begins to serve. Only the maker of the actor calls this, before anybody else, so nothing can have been lost yet.
        """
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
            # Decisions that a host reports do not count as events, which the log relies on.
            expected = "a policy whose decisions are carried out: shadow mode needs a server of its own"
            raise PolicyError("invalid_input", expected=expected, got="true", path="shadow")
        why = engine.log.why_lost(session)
        if why and named and params.get("onExisting") != "replace":
            raise SessionLost(f"{why}; open it with on_existing='replace', from the snapshot of your last checkpoint")
        # An opening that is not mirrored yet comes first.
        task = self._opening.get(token)
        kept = engine.log.sessions.get(session)
        if task is None and kept is not None and kept.opened.token == token:
            return dict(json.loads(kept.opened.answer))
        if task is None:
            task = self._opening[token] = asyncio.create_task(self._open(engine, params, token))
            task.add_done_callback(lambda done: self._opening.pop(token, None))
        return await asyncio.shield(task)

    async def send(self, session: str, events: Sequence[Any], producer: str | None, first_seq: int | None) -> Data:
        """Sends events, and stamps their times, so that repeated events have the same times."""
        engine = await self._engine()
        self._check_there(engine, session)
        now = time.time()
        stamped = [{**one, "at": now} if isinstance(one, Mapping) and "at" not in one else one for one in events]
        params: dict[str, Any] = {"session": session, "events": stamped}
        if producer is not None:
            params["producer"] = producer
        if first_seq is not None:
            params["firstSeq"] = first_seq
        text = encoded(params)

        def record(data: Data) -> Record | None:
            kept = engine.log.sessions.get(session)
            # No event was applied, or all had been applied before.
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
        """Returns decisions of a streaming session after a number, as soon as there are any."""
        engine = await self._engine()
        self._check_there(engine, session)
        stream = engine.streams.get(session)
        if stream is None:
            # The server's error says whether the session is unknown or not streaming.
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

    async def why(self, session: str, id: str | None, what: str | None) -> Data:
        engine = await self._engine()
        self._check_there(engine, session)
        asked = {key: value for key, value in (("id", id), ("what", what)) if value is not None}
        return await engine.do(Call("session.why", encode({"session": session, **asked})))

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
        """Returns where the server and its mirror are, and their history."""
        engine = await self._engine()
        pair, mirroring = self._pair, self._mirroring
        return {
            "node": self._node_id,
            "pid": os.getpid(),
            "server_restarts": engine.restarts,
            "generation": mirroring.now.generation if mirroring else 1,
            "mirror_node": mirroring.node_id if mirroring else None,
            "mirrored_elsewhere": bool(mirroring and mirroring.elsewhere),
            "standby_node": pair.standby_node if pair else None,
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

    @property
    def _mirroring(self) -> Mirroring | None:
        return self._pair.mirroring if self._pair else None

    async def _engine(self) -> Engine:
        """Returns the engine. Raises :class:`Elsewhere` if the other actor serves."""
        if self._starting is None:
            turn = self._take_turn()
            well = self._pair is not None and self._pair.well
            if not well:
                # Callers that come here because a server is gone are served as soon as possible.
                await asyncio.wait({turn}, timeout=_turn_seconds)
            if self._starting is None:
                raise Elsewhere(self._options.name, well, self._pair.trouble if self._pair else "")
        if self._starting.done() and self._starting.exception() is not None:
            self._starting = asyncio.create_task(self._start())
        return await asyncio.shield(self._starting)

    def _take_turn(self) -> asyncio.Task[None]:
        if self._turn is None:
            self._turn = asyncio.create_task(self._wait_for_turn())
        return self._turn

    async def _wait_for_turn(self) -> None:
        pair = self._pair
        if pair is None:
            self._log = Log("")
            if self._reconstructed:
                self._log.lost = "the server, which has no mirror, was lost, and with it every session"
        else:
            self._log = await pair.turn(self._warm)
        self._starting = asyncio.create_task(self._start())

    def _warm(self) -> None:
        """Does the slowest preparations before it is this actor's turn."""
        if self._spare is None:
            self._spare = asyncio.create_task(Process.spawn(self._options.server))
            self._spare.add_done_callback(_tell_of_failure)

    async def _start(self) -> Engine:
        async def spawn() -> Process:
            spare, self._spare = self._spare, None
            if spare is not None:
                with contextlib.suppress(RollflexError):
                    return await spare
            return await Process.spawn(self._options.server)

        mirroring = self._mirroring
        engine = Engine(spawn, self._log, self._commit, _fatal, self._options.checkpoint_bytes)
        try:
            await engine.start()
            if mirroring is not None:
                await self._superseded_is_fatal(asyncio.to_thread(mirroring.settle, self._log))
        except BaseException:
            await engine.close()
            raise
        self._watching = asyncio.create_task(self._watch(engine))
        return engine

    async def _commit(self, first: int, records: Sequence[Record]) -> None:
        mirroring = self._mirroring
        if mirroring is None:
            return
        if not mirroring.misplaced:
            seconds = _mirror_seconds + sum(len(one.text) for one in records) / _mirror_bytes_per_second
            try:
                return await asyncio.wait_for(mirroring.append(first, records), seconds)
            except (RayError, ValueError, asyncio.TimeoutError) as error:
                _logger.warning("the mirror is gone, a new one is made: %r", error)
                if not isinstance(error, ActorDiedError | RayTaskError):
                    # The mirror may not be the only loss on this node.
                    mirroring.suspect(mirroring.node_id)
        await self._superseded_is_fatal(asyncio.to_thread(mirroring.make, self._log))

    async def _superseded_is_fatal(self, work: Any) -> None:
        try:
            await work
        except Superseded as error:
            _logger.error("%s", error)
            _fatal()

    async def _watch(self, engine: Engine) -> None:
        """
        Notices a mirror or standby that is gone or could be on another node, a server that does not answer, and a
        takeover by another actor.
        """
        while True:
            await asyncio.sleep(self._options.watch_seconds)
            engine.check(self._options.stall_seconds)
            if self._pair is not None:
                try:
                    await self._pair.attend(RollflexActor)
                    self._pair.mirroring.misplaced = await asyncio.to_thread(self._pair.mirroring.should_move)
                except Exception as error:
                    _logger.warning("the nodes are not known: %r", error)
                await engine.confirm()


def _unless_refused(record: Any) -> Any:
    """Keeps a record only of calls that succeeded: an answer with an error code is a refusal."""
    return lambda data: None if "code" in data else record(data)


def _tell_of_failure(spare: asyncio.Task[Process]) -> None:
    error = None if spare.cancelled() else spare.exception()
    if error is not None:
        _logger.warning("the server that stands by does not start: %s", error)


def _fatal() -> None:
    # The exit must not look wanted to Ray: if this actor still counts, Ray makes it again from the mirror.
    os._exit(1)
