"""The loop between a policy and a framework: decisions are carried out, and what comes of them is reported."""

from __future__ import annotations

import logging
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic

from .._options import Untyped
from ..aio import AsyncClient, AsyncSession
from ..errors import RollflexError
from ._checkpoint import Checkpoints, check
from ._decisions import Decisions
from ._ending import Ending
from ._groups import Groups
from ._judging import Judging
from ._outages import Outages
from ._outbox import Event, Outbox
from ._rounds import Rounds
from ._state import State
from ._supply import Supply
from ._work import Work
from .host import Group, Host, P, R, Round, Supplied

logger = logging.getLogger("rollflex")


class Rollout(Generic[P, R]):
    """
    Drives one session of ``tail-batching``, or of another recipe that takes ``round.requested``. Make it with
    :meth:`open`.
    """

    def __init__(
        self,
        session: AsyncSession[Any, Any],
        host: Host[P, R],
        *,
        judges: bool = False,
        clock: Callable[[], float] = time.time,
        send_interval_seconds: float = 0.1,
        unreachable_seconds: float = 60.0,
        abort_seconds: float = 10.0,
        outage_seconds: float | None = 600.0,
    ) -> None:
        """
        Sessions are opened by :meth:`open`, which takes the options below.

        :param send_interval_seconds: least time between two calls
        :param unreachable_seconds: time without an answer of the policy after which the rollout ends
        :param abort_seconds: time that an aborted request has to end
        :param outage_seconds: time in which only single tries are made and no request succeeds on any engine, or in any
            environment, after which the round fails with :class:`GenerationFailed`; its prompts are kept. None: never
        """
        self._session = session
        state = self._state = State(host, clock=clock, tell=self._tell)
        supply = Supply(state)
        work = self._work = Work(
            state,
            unusable=lambda error: self._ending.unusable(error, self.outbox.close, self._leave),
            abort_seconds=abort_seconds,
        )
        judging = Judging(state, work)
        self._groups = Groups(state, work=work, judging=judging)
        drain_seconds = abort_seconds * 2 + unreachable_seconds
        rounds = self._rounds = Rounds(state, work=work, groups=self._groups, drain_seconds=drain_seconds)
        self._outages: Outages[P, R] = Outages(state, outage_seconds)
        decisions = Decisions(
            state,
            supply=supply,
            work=work,
            judging=judging,
            rounds=rounds,
            outages=self._outages,
            judges=judges,
        )
        self._checkpoints = Checkpoints(state, supply=supply, judging=judging)
        self._ending = Ending(state, decisions=decisions, work=work, judging=judging, settle_seconds=abort_seconds)
        self.outbox = Outbox(
            session,
            carry_out=decisions.carry_out,
            refused=rounds.refused,
            lost=self._ending.lost,
            clock=clock,
            interval_seconds=send_interval_seconds,
            unreachable_seconds=unreachable_seconds,
        )

    @classmethod
    async def open(
        cls,
        client: AsyncClient,
        host: Host[P, R],
        config: Mapping[str, Any],
        *,
        policy: str = "tail-batching",
        session: str | None = None,
        checkpoint: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> Rollout[P, R]:
        """
        Opens a session. With a checkpoint, the session continues from there with the checkpoint's settings, and
        replaces a session that the server may still have: requests in flight are issued again. Options are those of the
        constructor.
        """
        if checkpoint is not None and config.get("dividedRollout") is not None:
            raise ValueError("expected no checkpoint with dividedRollout: responses in chunks are not kept in it")
        # No two hosts, and no two runs of one host, give engines the same ids.
        prefix = f"{secrets.token_hex(4)}-"
        name = session or (checkpoint or {}).get("session") or f"rollout-{secrets.token_hex(8)}"
        if checkpoint is None:
            settings = {"idPrefix": prefix, **config}
            opened = await client.open(Untyped(policy), config=settings, session=name, on_existing="replace")
            return cls(opened, host, judges=config.get("filter") == "host", **options)
        check(checkpoint, policy, config)
        snapshot = checkpoint["snapshot"]
        opened = await client.open(Untyped(policy), snapshot=snapshot, session=name, on_existing="replace")
        rollout: Rollout[P, R] = cls(opened, host, judges=snapshot["config"].get("filter") == "host", **options)
        await rollout._checkpoints.restore(checkpoint, prefix, rollout.outbox.flush)
        rollout._outages.watch()
        return rollout

    @property
    def session(self) -> AsyncSession[Any, Any]:
        return self._session

    @property
    def in_flight(self) -> int:
        """Requests that run."""
        return len(self._work.flights)

    @property
    def prompts(self) -> int:
        """Number of present prompts: in the round, or in the long-prompt queue."""
        return len(self._state.bodies)

    def waiting(self) -> list[Supplied[P]]:
        """Prompts that wait, in the order of arrival."""
        return self._state.bodies.prompts()

    async def round(self, weight_version: int, *, round_id: str | None = None, drained: bool = True) -> Round[P, R]:
        """
        Runs one round, and returns the groups to train on. With ``drained``, it returns only when no request of the
        round runs any more, so that weights may change; otherwise :meth:`wait_drained` waits for that.

        An error of the host fails the round: requests are aborted, prompts go to the queue, and the error is raised.
        Raises :class:`PolicyUnavailable`, :class:`GenerationFailed` of kind ``setup``, and
        :class:`rollflex.ClientClosed` once the rollout is closed; all three end the rollout. Raises
        :class:`GenerationFailed` of kind ``infrastructure`` or ``environment`` if nothing succeeded for
        ``outage_seconds``: another round may be begun.
        """
        return await self._rounds.run(weight_version, round_id, drained)

    async def group(self, prompt_id: str) -> Group[P, R]:
        """
        Returns a group that counts for the present or the previous round (``prompt.counted``, ``train.dispatch``), with
        its rewards, for recipes that train it before the round is complete. Raises KeyError for any other group.
        """
        return await self._groups.of(prompt_id)

    async def wait_drained(self) -> None:
        """Until nothing of the last round is in flight."""
        if self._state.opened is not None:
            await self._state.opened.drained.wait()
        self._state.assert_usable()

    async def checkpoint(self, source: Callable[[], Any] | None = None) -> dict[str, Any]:
        """
        Returns a checkpoint for :meth:`open`: the state of the policy, and the bodies of its prompts and responses,
        including the long-prompt queue, as the host's own objects. ``source`` is called while no prompt is being drawn.
        Its result, such as the place in the data set, is stored as ``source``, so that each prompt is either in the
        checkpoint or still to be drawn.
        """
        return await self._checkpoints.take(self._session, self.outbox, source)

    async def close(self) -> None:
        """
        Ends the rollout: requests are aborted one by one, its prompts go back to the data source, and the server
        forgets the session. Callers that wait for a round or a group get :class:`rollflex.ClientClosed`.
        """
        await self._ending.close(self.outbox.close, self._leave)

    def engine_added(self, engine_id: str) -> None:
        """An engine takes requests."""
        self._state.engines.add(engine_id)
        self._outages.watch()
        self._tell({"type": "engine.added", "engineId": engine_id}, urgent=True)

    def engine_drained(self, engine_id: str) -> None:
        """An engine takes nothing new."""
        if engine_id in self._state.engines:
            self._tell({"type": "engine.drained", "engineId": engine_id}, urgent=True)

    def engine_lost(self, engine_id: str, request_ids: Sequence[str] = ()) -> None:
        """
        Reports that an engine is gone. Its requests, and those named in addition, are over and are launched on other
        engines.
        """
        if engine_id not in self._state.engines:
            return
        self._state.engines.discard(engine_id)
        self._outages.watch()
        self._tell({"type": "engine.lost", "engineId": engine_id}, urgent=True)
        for request_id in {*request_ids, *self._work.flights.on_engine(engine_id)}:
            self._work.flights.cancel(request_id)

    def request_started(self, request_id: str, engine_id: str) -> None:
        """Reports that a request runs on this engine (``placement: host``)."""
        self._tell({"type": "request.started", "requestId": request_id, "engineId": engine_id})

    def source_reopened(self) -> None:
        """The data source has prompts again."""
        self._tell({"type": "source.reopened"}, urgent=True)

    def tell(self, event: Mapping[str, Any], *, urgent: bool = False) -> None:
        """Reports any other event, such as events of trajectories or GPUs."""
        self._tell(dict(event), urgent=urgent)

    def _tell(self, event: Event, *, urgent: bool = False) -> None:
        self.outbox.put(event, urgent=urgent)

    async def _leave(self) -> None:
        try:
            await self._session.close(timeout=5)
        except RollflexError as error:
            logger.info("the session was not closed: %r", error)
