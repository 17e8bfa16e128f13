"""The loop between a policy and a framework: decisions are carried out, and what comes of them is reported."""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic

from .._options import Untyped
from ..aio import AsyncClient, AsyncSession
from ..errors import PolicyError, RollflexError
from ._bodies import Bodies
from ._flights import Flights
from ._judging import RewardFailed, Rewards
from ._opened import Opened
from ._outbox import Decision, Event, Outbox
from .host import DropCause, Dropped, Group, Host, Launch, P, PolicyUnavailable, R, Response, Round, Sample, Supplied

logger = logging.getLogger("rollflex")
_checkpoint_version = 1


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
        retry_delay_seconds: float = 1.0,
        longest_retry_delay_seconds: float = 30.0,
    ) -> None:
        self._session = session
        self._host = host
        self._judges = judges
        self._clock = clock
        self._unreachable_seconds = unreachable_seconds
        self._retry_delay = retry_delay_seconds
        self._abort_seconds = abort_seconds
        self._bodies: Bodies[P, R] = Bodies()
        self._flights: Flights[P, R] = Flights(
            host, self._ended, abort_seconds=abort_seconds, longest_delay=longest_retry_delay_seconds
        )
        self._rewards: Rewards[P, R] = Rewards(host, self._rewarded, self._unrewarded)
        self._judging: dict[str, tuple[list[str], asyncio.Task[None]]] = {}
        self._unrewarded_prompts: set[str] = set()
        self._counted: dict[str, list[str]] = {}
        self._supplying = asyncio.Lock()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._engines: set[str] = set()
        self._opened: Opened[P, R] | None = None
        self._rounds = 0
        self._failed: Exception | None = None
        self._given_up = asyncio.Event()
        self.outbox = Outbox(
            session,
            carry_out=self._carry_out,
            refused=self._refused,
            lost=self._lost,
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
        Opens a session. With a checkpoint it goes on from there, with its settings, in place of a session that
        the server may still have: what was in flight is issued again. Options are those of the constructor.
        """
        # No two hosts, and no two lives of one, give engines the same ids.
        prefix = f"{secrets.token_hex(4)}-"
        name = session or (checkpoint or {}).get("session") or f"rollout-{secrets.token_hex(8)}"
        if checkpoint is None:
            settings = {"idPrefix": prefix, **config}
            opened = await client.open(Untyped(policy), config=settings, session=name, on_existing="replace")
            return cls(opened, host, judges=config.get("filter") == "host", **options)
        if checkpoint.get("version") != _checkpoint_version:
            raise ValueError(f"a checkpoint of version {checkpoint.get('version')}, not {_checkpoint_version}")
        if checkpoint["policy"] != policy:
            raise ValueError(f"the checkpoint is of {checkpoint['policy']}, not of {policy}")
        snapshot = checkpoint["snapshot"]
        opened = await client.open(Untyped(policy), snapshot=snapshot, session=name, on_existing="replace")
        kept = snapshot["config"]
        other = sorted(name for name, value in config.items() if name != "idPrefix" and kept.get(name) != value)
        if other:
            logger.warning("the checkpoint has its own settings: those of %s stay as they were", ", ".join(other))
        judges = kept.get("filter") == "host"
        rollout: Rollout[P, R] = cls(opened, host, judges=judges, **options)
        await rollout._restore(checkpoint, prefix)
        return rollout

    @property
    def session(self) -> AsyncSession[Any, Any]:
        return self._session

    @property
    def in_flight(self) -> int:
        """Requests that run."""
        return len(self._flights)

    @property
    def prompts(self) -> int:
        """Prompts that are here: in the round, or in the long-prompt queue."""
        return len(self._bodies)

    def waiting(self) -> list[Supplied[P]]:
        """These prompts, as they came."""
        return self._bodies.prompts()

    async def round(self, weight_version: int, *, round_id: str | None = None, drained: bool = True) -> Round[P, R]:
        """
        One round: the groups that it is trained with. ``drained``: it returns only when no request of the round runs
        any more, so that the weights may be changed; otherwise :meth:`wait_drained` says when.

        An error of the host fails the round: its requests are aborted, its prompts go to the queue, and it is raised.
        Raises :class:`PolicyUnavailable`.
        """
        self._assert_usable()
        opened = self._opened
        if opened is not None and not opened.resumed:
            if not opened.completed.done():
                raise RuntimeError("a round is under way already")
            await opened.drained.wait()
            self._assert_usable()
        if opened is None or not opened.resumed:
            self._rounds += 1
            id = round_id or f"round-{self._rounds}-{secrets.token_hex(3)}"
            opened = self._opened = Opened(Round(id, weight_version))
            self._tell({"type": "round.requested", "roundId": id, "weightVersion": weight_version}, urgent=True)
        opened.resumed = False
        groups: list[Group[P, R]] | None = None
        try:
            # The future outlives a caller that is cancelled.
            await asyncio.wait([opened.completed])
            decision = opened.completed.result()
            if decision is not None:
                groups = opened.round.groups = await self._groups(opened.round, decision)
            if drained:
                await opened.drained.wait()
                self._assert_usable()
        except BaseException as error:
            await asyncio.shield(self._abandon(opened, error, groups))
            raise
        return opened.round

    async def group(self, prompt_id: str) -> Group[P, R]:
        """
        A group that counts for the present round or the last (``prompt.counted``, ``train.dispatch``), with its
        rewards: for recipes that train it before the round is complete. Raises KeyError for any other.
        """
        if self._opened is not None:
            for one in self._opened.round.groups:
                if one.prompt_id == prompt_id:
                    return one
        entry = self._bodies.entry(prompt_id)
        if entry is None or prompt_id not in self._counted:
            raise KeyError(f"{prompt_id} does not count for the round")
        samples = [await self._sample(*entry.responses[id]) for id in self._counted[prompt_id]]
        return Group(prompt_id, entry.supplied.body, samples)

    async def wait_drained(self) -> None:
        """Until nothing of the last round is in flight."""
        if self._opened is not None:
            await self._opened.drained.wait()
        self._assert_usable()

    async def checkpoint(self, source: Callable[[], Any] | None = None) -> dict[str, Any]:
        """
        What :meth:`open` goes on from: the state of the policy, and the bodies that it speaks of, those of the
        long-prompt queue among them, as the host's own objects. ``source`` is called while no prompt is being drawn:
        what it gives, such as the place in the data set, goes with it as ``source``, and no prompt is in neither or in
        both.
        """
        self._assert_usable()
        async with self._supplying:
            snapshot = await self.outbox.between(self._session.snapshot)
            opened = self._opened
            is_open = opened is not None and not opened.completed.done() and not opened.failed
            return {
                "version": _checkpoint_version,
                "policy": self._session.policy,
                "session": self._session.id,
                "snapshot": snapshot,
                "bodies": self._bodies.state(),
                "judging": {id: list(ids) for id, (ids, _) in self._judging.items()},
                "open": (opened.round.round_id, opened.round.weight_version, opened.round.kind)
                if opened is not None and is_open
                else None,
                "rounds": self._rounds,
                "engines": sorted(self._engines),
                "source": None if source is None else source(),
            }

    async def close(self) -> None:
        """Ends it: requests are aborted one by one, and the server forgets the session."""
        if self._failed is None:
            self._failed = RollflexError("the rollout was closed")
            if self._opened is not None:
                self._opened.fail(self._failed)
                self._opened.drained.set()
            await self._stop()
            await self.outbox.close()
            try:
                await self._session.close(timeout=5)
            except RollflexError as error:
                logger.info("the session was not closed: %r", error)
        else:
            await self.outbox.close()

    def engine_added(self, engine_id: str) -> None:
        """An engine takes requests."""
        self._engines.add(engine_id)
        self._tell({"type": "engine.added", "engineId": engine_id}, urgent=True)

    def engine_drained(self, engine_id: str) -> None:
        """An engine takes nothing new."""
        if engine_id in self._engines:
            self._tell({"type": "engine.drained", "engineId": engine_id}, urgent=True)

    def engine_lost(self, engine_id: str, request_ids: Sequence[str] = ()) -> None:
        """An engine is gone. The requests that ran on it, those named besides, are over and are launched elsewhere."""
        if engine_id not in self._engines:
            return
        self._engines.discard(engine_id)
        self._tell({"type": "engine.lost", "engineId": engine_id}, urgent=True)
        for request_id in {*request_ids, *self._flights.on_engine(engine_id)}:
            self._flights.cancel(request_id)

    def request_started(self, request_id: str, engine_id: str) -> None:
        """A request runs on this engine (``placement: host``)."""
        self._tell({"type": "request.started", "requestId": request_id, "engineId": engine_id})

    def source_reopened(self) -> None:
        """The data source has prompts again."""
        self._tell({"type": "source.reopened"}, urgent=True)

    def tell(self, event: Mapping[str, Any], *, urgent: bool = False) -> None:
        """Any other event, such as of a trajectory or of GPUs."""
        self._tell(dict(event), urgent=urgent)

    # What happens here.

    def _tell(self, event: Event, *, urgent: bool = False) -> None:
        self.outbox.put(event, urgent=urgent)

    def _ended(self, launch: Launch[P, R], event: Event, response: Response[R] | None) -> None:
        if self._failed is not None:
            return
        opened = self._opened
        if opened is not None:
            if event["type"] == "request.aborted":
                opened.round.aborted += 1
                opened.round.aborted_tokens += event.get("tokens", 0)
            elif event["type"] == "response.failed":
                opened.round.failures += 1
        if response is not None and (response.finished or response.tokens > 0):
            self._bodies.keep(launch, response)
        self._tell(event)
        if response is not None and response.finished:
            self._rewards.begin(launch, response)

    def _rewarded(self, request_id: str, reward: float) -> None:
        self._tell({"type": "reward.ready", "requestId": request_id, "reward": reward})

    def _unrewarded(self, request_id: str) -> None:
        reason = {"code": "infrastructure", "failures": 1, "budget": 0}
        self._tell({"type": "reward.failed", "requestId": request_id, "kind": "rule", "reason": reason})

    def _refused(self, event: Event, error: PolicyError) -> None:
        if event["type"] == "round.failed":
            # The round was completed just before.
            return
        logger.error("the policy refused %s: %s", event["type"], error)
        if self._opened is not None:
            self._opened.fail(error)
            if event["type"] == "round.requested":
                # It was not opened: there is nothing to drain.
                self._opened.failed = True
                self._opened.drained.set()

    # What the policy says.

    def _carry_out(self, decisions: list[Decision]) -> None:
        for decision in decisions:
            handler = _handlers.get(decision["type"])
            try:
                if handler is not None:
                    handler(self, decision)
                self._host.decided(decision)
            except Exception as error:
                logger.exception("%s could not be carried out", decision["type"])
                if self._opened is not None:
                    self._opened.fail(error)

    def _prompts_request(self, decision: Decision) -> None:
        self._spawn(self._supply(decision["roundId"], decision["count"], decision.get("domains")))

    async def _supply(self, round_id: str, count: int, domains: Mapping[str, int] | None) -> None:
        try:
            while count > 0:
                # A checkpoint sees a prompt in the data source or here, never in neither.
                async with self._supplying:
                    prompts = await self._host.supply(count, domains)
                    for one in prompts:
                        self._bodies.add(one)
                    if self._failed is not None:
                        return
                    if prompts:
                        listed = [_as_prompt(one) for one in prompts]
                        self._tell({"type": "prompts.supplied", "roundId": round_id, "prompts": listed}, urgent=True)
                count -= len(prompts)
                if domains is not None:
                    given = [one.domain for one in prompts]
                    domains = {name: left for name, n in domains.items() if (left := n - given.count(name)) > 0}
                if not prompts:
                    self._tell({"type": "source.exhausted"}, urgent=True)
                    return
        except Exception as error:
            logger.exception("the data source failed")
            if self._opened is not None:
                self._opened.fail(error)

    def _request_launch(self, decision: Decision) -> None:
        prompt_id = decision["promptId"]
        entry = self._bodies.entry(prompt_id)
        if entry is None:
            raise KeyError(f"the policy launches {decision['requestId']} of a prompt that is not here")
        resume = decision.get("resumeFrom")
        kept = None if resume is None else entry.responses.get(resume["requestId"])
        launch: Launch[P, R] = Launch(
            request_id=decision["requestId"],
            prompt_id=prompt_id,
            index=decision["index"],
            round_id=decision["roundId"],
            weight_version=decision["weightVersion"],
            prompt=entry.supplied.body,
            engine_id=decision.get("engineId"),
            resume_from=None if kept is None else kept[1].body,
            resume_tokens=0 if resume is None else resume["tokens"],
        )
        if self._opened is not None:
            self._opened.round.launched += 1
        reason = decision["reason"]
        attempt = reason.get("attempt", 0) if reason["code"].startswith("retry_") else 0
        self._flights.launch(launch, self._retry_delay * 2 ** (attempt - 1) if attempt > 0 else 0.0)

    def _request_abort(self, decision: Decision) -> None:
        self._flights.abort(decision["requestId"])

    def _request_expired(self, decision: Decision) -> None:
        self._flights.cancel(decision["requestId"])

    def _timer_set(self, decision: Decision) -> None:
        id = decision["timerId"]
        earlier = self._timers.pop(id, None)
        if earlier is not None:
            earlier.cancel()
        delay = max(0.0, decision["fireAtSeconds"] - self._clock())
        self._timers[id] = asyncio.get_running_loop().call_later(delay, self._fire, id)

    def _fire(self, timer_id: str) -> None:
        self._timers.pop(timer_id, None)
        self._tell({"type": "timer.fired", "timerId": timer_id}, urgent=True)

    def _reward_request(self, decision: Decision) -> None:
        kept = self._bodies.kept(decision["promptId"], decision["requestId"])
        if kept is None:
            self._unrewarded(decision["requestId"])
        else:
            self._rewards.begin_again(*kept)

    def _prompt_collected(self, decision: Decision) -> None:
        if self._judges:
            self._begin_judging(decision["promptId"], decision["requestIds"], decision["roundId"])

    def _prompt_counted(self, decision: Decision) -> None:
        self._counted[decision["promptId"]] = [one["requestId"] for one in decision["responses"]]

    def _begin_judging(self, prompt_id: str, request_ids: Sequence[str], round_id: str) -> None:
        task = self._spawn(self._judge(prompt_id, request_ids, round_id))
        self._judging[prompt_id] = (list(request_ids), task)

    async def _judge(self, prompt_id: str, request_ids: Sequence[str], round_id: str) -> None:
        entry = self._bodies.entry(prompt_id)
        if entry is None:
            return
        keep = False
        try:
            samples = [await self._sample(*entry.responses[id]) for id in request_ids]
            keep = await self._host.judge(Group(prompt_id, entry.supplied.body, samples))
        except RewardFailed as error:
            logger.warning("prompt %s is not trained on: %s", prompt_id, error)
            self._unrewarded_prompts.add(prompt_id)
        except Exception as error:
            logger.exception("prompt %s could not be judged", prompt_id)
            if self._opened is not None:
                self._opened.fail(error)
            return
        self._tell({"type": "prompt.judged", "roundId": round_id, "promptId": prompt_id, "keep": bool(keep)})

    def _response_gone(self, decision: Decision) -> None:
        """A response is of no use any more. A late report of a reward says nothing of its response."""
        if decision["type"] == "response.late" and decision["reason"]["code"] != "completion":
            return
        self._rewards.drop([decision["requestId"]])
        if "promptId" in decision:
            self._bodies.drop(decision["promptId"], decision["requestId"])

    def _prompt_deferred(self, decision: Decision) -> None:
        prompt = decision["prompt"]
        id = prompt["promptId"]
        self._stop_judging(id)
        entry = self._bodies.entry(id)
        if entry is None:
            return
        kept = {one["requestId"] for one in prompt.get("kept", ())}
        self._rewards.drop([one for one in entry.responses if one not in kept])
        self._bodies.keep_only(id, kept)
        if self._opened is not None and decision["type"] == "prompt.deferred":
            self._opened.round.deferred += 1

    def _prompt_gone(self, decision: Decision) -> None:
        id = decision["promptId"]
        self._stop_judging(id)
        cause: DropCause = "quarantined" if decision["type"] == "prompt.quarantined" else "filtered"
        if id in self._unrewarded_prompts:
            self._unrewarded_prompts.discard(id)
            cause = "reward_failed"
        entry = self._bodies.take(id)
        if entry is None:
            return
        self._rewards.drop(list(entry.responses))
        self._drop(Dropped(id, entry.supplied.body, cause, decision))

    def _prompt_merged(self, decision: Decision) -> None:
        # The other one of the two is here, and stays.
        entry = self._bodies.entry(decision["promptId"])
        if entry is not None:
            self._drop(Dropped(decision["promptId"], entry.supplied.body, "merged", decision))

    def _drop(self, dropped: Dropped[P]) -> None:
        if self._opened is not None:
            self._opened.round.dropped.append(dropped)
        self._host.dropped(dropped)

    def _stop_judging(self, prompt_id: str) -> None:
        found = self._judging.pop(prompt_id, None)
        if found is not None and found[1] is not asyncio.current_task():
            found[1].cancel()

    def _round_planned(self, decision: Decision) -> None:
        if self._opened is not None and self._opened.round.round_id == decision["roundId"]:
            self._opened.round.kind = decision["kind"]

    def _round_completed(self, decision: Decision) -> None:
        opened = self._opened
        if opened is None or opened.round.round_id != decision["roundId"]:
            return
        if opened.failed:
            # It was completed just before it was given up: nobody takes these groups.
            self._spawn(self._hand_back(decision))
            return
        opened.round.kind = decision["kind"]
        opened.round.reason = decision["reason"]["code"]
        if not opened.completed.done():
            opened.completed.set_result(decision)

    def _round_drained(self, decision: Decision) -> None:
        if self._opened is not None and self._opened.round.round_id == decision["roundId"]:
            self._opened.drained.set()

    def _source_drained(self, decision: Decision) -> None:
        opened = self._opened
        if opened is None or opened.round.round_id != decision["roundId"]:
            return
        opened.round.reason = "source_drained"
        opened.drained.set()
        if not opened.completed.done():
            opened.completed.set_result(None)

    # Rounds.

    async def _groups(self, round: Round[P, R], decision: Decision) -> list[Group[P, R]]:
        """The groups that the policy names, in its order, as soon as their rewards are in."""
        groups: list[Group[P, R]] = []
        for final in decision["prompts"]:
            id = final["promptId"]
            self._stop_judging(id)
            entry = self._bodies.entry(id)
            if entry is None:
                raise KeyError(f"the policy has completed prompt {id}, which is not here")
            named = [one["requestId"] for one in final["responses"]]
            self._rewards.drop([one for one in entry.responses if one not in named])
            try:
                samples = [
                    await self._sample(*entry.responses[one["requestId"]], one["weightVersions"])
                    for one in final["responses"]
                ]
            except RewardFailed as error:
                logger.error("prompt %s is left out of its round: %s", id, error)
                self._drop(Dropped(id, entry.supplied.body, "reward_failed", decision))
            else:
                deferrals = final.get("deferral", {}).get("count", 0)
                groups.append(Group(id, entry.supplied.body, samples, deferrals))
        self._counted.clear()
        for final in decision["prompts"]:
            taken = self._bodies.take(final["promptId"])
            if taken is not None:
                self._rewards.drop(list(taken.responses))
        return groups

    async def _sample(
        self, launch: Launch[P, R], response: Response[R], weight_versions: Sequence[int] = ()
    ) -> Sample[R]:
        id = launch.request_id
        if not self._rewards.knows(id):
            self._rewards.begin(launch, response)
        reward = await self._rewards.of(id)
        versions = weight_versions or response.weight_versions or (launch.weight_version,)
        return Sample(id, launch.index, response.tokens, response.body, reward, tuple(versions))

    async def _abandon(self, opened: Opened[P, R], error: BaseException, groups: list[Group[P, R]] | None) -> None:
        """The round is not handed over: its requests are aborted, and its prompts stay in the queue or go back."""
        if self._failed is not None:
            await self._given_up.wait()
            return
        level = logging.ERROR if isinstance(error, Exception) else logging.INFO
        logger.log(level, "round %s has failed: %r", opened.round.round_id, error)
        if groups is not None or opened.is_over:
            await self._hand_back(opened.completed.result(), groups or ())
        elif not opened.failed:
            opened.failed = True
            message = f"{type(error).__name__}: {error}"[:1000]
            self._tell({"type": "round.failed", "roundId": opened.round.round_id, "message": message}, urgent=True)
        # Nobody waits for it any more.
        opened.fail(RollflexError(f"the round has failed: {error!r}"))
        try:
            await asyncio.wait_for(opened.drained.wait(), self._abort_seconds * 2 + self._unreachable_seconds)
        except asyncio.TimeoutError:
            logger.error("round %s does not drain", opened.round.round_id)

    async def _hand_back(self, decision: Decision | None, groups: Sequence[Group[P, R]] = ()) -> None:
        """The policy has handed these prompts over, and they are not trained on."""
        ids = [] if decision is None else [one["promptId"] for one in decision["prompts"]]
        entries = [entry for entry in map(self._bodies.take, ids) if entry is not None]
        for entry in entries:
            self._rewards.drop(list(entry.responses))
        given = [one.supplied for one in entries] or [Supplied(one.prompt_id, one.prompt) for one in groups]
        if given:
            await self._host.give_back(given)

    def _lost(self, error: Exception) -> None:
        """The policy is out of reach for good."""
        if self._failed is not None:
            return
        self._failed = PolicyUnavailable(f"the policy could not be reached: {error}")
        self._failed.__cause__ = error
        logger.error("%s", self._failed)
        self._spawn(self._give_up())

    async def _give_up(self) -> None:
        """Own requests are aborted, one by one; what was drawn goes back; whoever waits for a round is told."""
        try:
            await self._stop()
            prompts = self._bodies.prompts()
            self._bodies.load({})
            if prompts:
                await self._host.give_back(prompts)
        except Exception:
            logger.exception("prompts could not be given back")
        finally:
            self._given_up.set()
            if self._opened is not None:
                assert self._failed is not None
                self._opened.fail(self._failed)
                self._opened.drained.set()

    async def _stop(self) -> None:
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()
        for prompt_id in list(self._judging):
            self._stop_judging(prompt_id)
        await self._flights.abort_all()
        await self._rewards.stop()
        # A data source that is being read is waited for: what it gives must not be lost.
        current = asyncio.current_task()
        others = [task for task in self._tasks if task is not current]
        if others:
            await asyncio.wait(others, timeout=self._abort_seconds)
        for task in others:
            task.cancel()

    async def _restore(self, checkpoint: Mapping[str, Any], prefix: str) -> None:
        self._rounds = checkpoint["rounds"]
        self._engines = set(checkpoint["engines"])
        self._bodies.load(checkpoint["bodies"])
        if checkpoint["open"] is not None:
            round_id, weight_version, kind = checkpoint["open"]
            self._opened = Opened(Round(round_id, weight_version, kind), resumed=True)
        self._tell({"type": "host.restarted", "idPrefix": prefix}, urgent=True)
        await self.outbox.flush()
        for prompt_id, request_ids in checkpoint["judging"].items():
            if self._opened is not None:
                self._begin_judging(prompt_id, request_ids, self._opened.round.round_id)

    def _assert_usable(self) -> None:
        if self._failed is not None:
            raise self._failed

    def _spawn(self, coroutine: Any) -> asyncio.Task[Any]:
        task: asyncio.Task[Any] = asyncio.get_running_loop().create_task(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task


def _as_prompt(one: Supplied[Any]) -> dict[str, Any]:
    fields = {
        "promptId": one.prompt_id,
        "domain": one.domain,
        "promptTokens": one.prompt_tokens,
        "expectedTokens": one.expected_tokens,
        "ref": one.ref,
    }
    return {name: value for name, value in fields.items() if value is not None}


_handlers: dict[str, Callable[[Rollout[Any, Any], Decision], None]] = {
    "prompts.request": Rollout._prompts_request,
    "request.launch": Rollout._request_launch,
    "request.abort": Rollout._request_abort,
    "request.expired": Rollout._request_expired,
    "timer.set": Rollout._timer_set,
    "reward.request": Rollout._reward_request,
    "prompt.collected": Rollout._prompt_collected,
    "prompt.counted": Rollout._prompt_counted,
    "prompt.deferred": Rollout._prompt_deferred,
    "prompt.returned": Rollout._prompt_deferred,
    "prompt.filtered": Rollout._prompt_gone,
    "prompt.quarantined": Rollout._prompt_gone,
    "prompt.merged": Rollout._prompt_merged,
    "response.surplus": Rollout._response_gone,
    "response.late": Rollout._response_gone,
    "response.dropped": Rollout._response_gone,
    "round.planned": Rollout._round_planned,
    "round.completed": Rollout._round_completed,
    "round.drained": Rollout._round_drained,
    "source.drained": Rollout._source_drained,
}
