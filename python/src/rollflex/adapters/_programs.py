"""Programs and their turns at `program-scheduling`, for trainers whose agents ask for an engine at each turn."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from .. import Untyped
from ._server import async_client

Event = dict[str, Any]


@dataclass
class _Program:
    request_id: str
    context_tokens: int
    """Context tokens of the last turn, and growth since the turn before."""
    growth: int = 0
    tokens: int = 0
    """Tokens that the program has generated, as far as known."""
    used_at: float = 0.0
    running: bool = False
    """Whether a caller was told where a turn runs, and has not reported its end."""
    engine: str | None = None
    """Engine of the running turn; None if the engine was lost and no other is chosen yet."""
    waiting: asyncio.Future[str] | None = None


class Programs:
    """
    One for each job, in one event loop.

    :param config: configuration of the policy
    :param server: parameters of :meth:`rollflex.Client.connect`; the policy runs in this process if absent
    :param idle_seconds: a program without a turn for so long is over
    """

    def __init__(
        self, config: Mapping[str, Any], *, server: Mapping[str, Any] | None = None, idle_seconds: float = 900.0
    ) -> None:
        self._config = dict(config)
        self._server = server
        self._idle_seconds = idle_seconds
        self._programs: dict[str, _Program] = {}
        self._named: dict[str, str] = {}
        self._engines: set[str] = set()
        self._events: list[Event] = []
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._pump: asyncio.Task[None] | None = None
        self._client: Any = None
        self._session: Any = None
        self._failed: BaseException | None = None
        self._made = 0
        self._swept_at = time.monotonic()

    @property
    def engines(self) -> Collection[str]:
        """Engines that take turns."""
        return self._engines

    def added(self, engines: Collection[str]) -> None:
        for one in sorted(set(engines) - self._engines):
            self._tell({"type": "engine.added", "engineId": one})
        self._engines |= set(engines)

    def drained(self, engines: Collection[str]) -> None:
        """Tells the policy that these engines finish their present turns and take no more."""
        self._gone(engines, "engine.drained")

    def lost(self, engines: Collection[str]) -> None:
        """
        Tells the policy that these engines are lost. Their turns are routed again: :meth:`turn` of each says where.
        """
        for one in self._programs.values():
            one.engine = None if one.engine in engines else one.engine
        self._gone(engines, "engine.lost")

    def reported(self, engine: str, load: Mapping[str, int]) -> None:
        self._tell({"type": "engine.reported", "engineId": engine, **load})

    async def turn(self, name: str, context_tokens: int) -> str:
        """
        The engine for the next turn of a program, once the policy lets it run. Asked again before the turn has
        finished, it runs anew.

        Raises what has ended the session with the policy.
        """
        if self._failed is not None:
            raise self._failed
        self._sweep()
        program = self._program(name, context_tokens)
        program.used_at = time.monotonic()
        program.growth = max(0, context_tokens - program.context_tokens)
        program.context_tokens = context_tokens
        self._tell({"type": "turn.requested", "requestId": program.request_id, "contextTokens": context_tokens})
        return await self._placed(program)

    async def again(self, name: str, failed: str, context_tokens: int) -> str:
        """Returns the engine for a turn that has failed on one: the same engine if it still exists."""
        program = self._programs.get(self._named.get(name, ""))
        if program is None or not program.running or program.engine == failed:
            return await self.turn(name, context_tokens)
        return program.engine if program.engine is not None else await self._placed(program)

    def finished(self, name: str, tokens: int | None = None, cached_tokens: int | None = None) -> None:
        """
        Notes that a turn has ended in any way; from now on the program is in its tools.

        :param tokens: generated tokens of the turn; if unknown, as many as the previous turn has added
        """
        program = self._programs.get(self._named.get(name, ""))
        if program is None or not program.running:
            return
        program.running, program.engine = False, None
        program.used_at = time.monotonic()
        program.tokens += program.growth if tokens is None else tokens
        cached = {} if cached_tokens is None else {"cachedTokens": cached_tokens}
        request_id = program.request_id
        self._tell({"type": "turn.finished", "requestId": request_id, "tokens": program.tokens, **cached})
        self._tell({"type": "tool.started", "requestId": request_id, "tool": "unnamed"})

    def close(self, name: str) -> None:
        """A program is over."""
        request_id = self._named.pop(name, None)
        if request_id is not None:
            del self._programs[request_id]
            self._tell({"type": "program.closed", "requestId": request_id})

    async def end(self) -> None:
        """Ends the session."""
        for timer in self._timers.values():
            timer.cancel()
        if self._pump is not None:
            await asyncio.wait([self._pump])
        if self._client is not None:
            await self._client.close()

    async def _placed(self, program: _Program) -> str:
        # A turn that nobody waits for ends when it is routed.
        program.running, program.engine = False, None
        program.waiting = asyncio.get_running_loop().create_future()
        try:
            engine = await program.waiting
            program.running = True
            return engine
        finally:
            program.waiting = None

    def _gone(self, engines: Collection[str], kind: str) -> None:
        for one in sorted(set(engines) & self._engines):
            self._tell({"type": kind, "engineId": one})
        self._engines -= set(engines)

    def _program(self, name: str, context_tokens: int) -> _Program:
        known = self._programs.get(self._named.get(name, ""))
        if known is not None:
            return known
        self._made += 1
        # A name that is used again after its end means another program.
        program = _Program(f"{name}#{self._made}", context_tokens)
        self._named[name] = program.request_id
        self._programs[program.request_id] = program
        self._tell({"type": "program.opened", "requestId": program.request_id})
        return program

    def _sweep(self) -> None:
        now = time.monotonic()
        if now < self._swept_at + self._idle_seconds / 8:
            return
        self._swept_at = now
        before = now - self._idle_seconds
        for name, request_id in list(self._named.items()):
            one = self._programs[request_id]
            if not one.running and one.waiting is None and one.used_at < before:
                self.close(name)

    def _tell(self, event: Event) -> None:
        self._events.append({**event, "at": time.time()})
        if self._pump is None or self._pump.done():
            self._pump = asyncio.get_running_loop().create_task(self._send())

    async def _send(self) -> None:
        """Sends all waiting events in one call that a caller's cancellation does not interrupt."""
        try:
            if self._session is None:
                self._client = await async_client(self._server)
                self._session = await self._client.open(Untyped("program-scheduling"), config=self._config)
            while self._events:
                events, self._events = self._events, []
                for decision in await self._session.send(events):
                    self._carry_out(decision)
        except Exception as error:
            self._failed = error
            for one in self._programs.values():
                if one.waiting is not None and not one.waiting.done():
                    one.waiting.set_exception(error)

    def _carry_out(self, decision: Mapping[str, Any]) -> None:
        if decision["type"] == "turn.route":
            self._route(self._programs.get(decision["requestId"]), decision)
        elif decision["type"] == "timer.set":
            timer_id = decision["timerId"]
            earlier = self._timers.pop(timer_id, None)
            if earlier is not None:
                earlier.cancel()
            delay = max(0.0, decision["fireAtSeconds"] - time.time())
            fired = {"type": "timer.fired", "timerId": timer_id}
            self._timers[timer_id] = asyncio.get_running_loop().call_later(delay, self._tell, fired)

    def _route(self, program: _Program | None, decision: Mapping[str, Any]) -> None:
        if program is not None and (program.running or program.waiting is not None):
            program.engine = decision["engineId"]
            if program.waiting is not None and not program.waiting.done():
                program.waiting.set_result(program.engine)
            return
        # Nobody waits for the turn any more.
        tokens = 0 if program is None else program.tokens
        self._tell({"type": "turn.finished", "requestId": decision["requestId"], "tokens": tokens})
