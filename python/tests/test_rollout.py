"""The loop between a policy and a framework, against a real server."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

import rollflex
from rollflex.rollout import (
    Dropped,
    GenerationFailed,
    Group,
    Host,
    Launch,
    PolicyUnavailable,
    Response,
    Rollout,
    Supplied,
)
from support import Served, eventually_async

config: dict[str, Any] = {
    "promptsPerRound": 2,
    "responsesPerPrompt": 2,
    "promptSpeculation": 2,
    "responseSpeculation": 1.5,
}


class Toy(Host[str, str]):
    """Prompts `p0`, `p1`, …; a response ends when the test says so, or after some seconds."""

    def __init__(self, prompts: int = 100) -> None:
        self.source = [f"p{index}" for index in range(prompts)]
        self.launched: dict[str, Launch[str, str]] = {}
        self.ends: dict[str, asyncio.Future[int]] = {}
        self.ended: list[str] = []
        self.aborted: list[str] = []
        self.given_back: list[str] = []
        self.gone: list[Dropped[str]] = []
        self.decisions: list[str] = []
        self.deaf = False
        self.slow_supply = 0.0
        self.evaluations = 0

    async def supply(self, count: int, domains: Mapping[str, int] | None) -> Sequence[Supplied[str]]:
        await asyncio.sleep(self.slow_supply)
        taken, self.source = self.source[:count], self.source[count:]
        return [Supplied(one, f"text of {one}") for one in taken]

    async def generate(self, launch: Launch[str, str]) -> Response[str]:
        assert launch.request_id not in self.launched
        self.launched[launch.request_id] = launch
        self.ends[launch.request_id] = asyncio.get_running_loop().create_future()
        try:
            tokens = await self.ends[launch.request_id]
        finally:
            self.ended.append(launch.request_id)
        return Response(f"answer to {launch.prompt_id}", abs(tokens), finished=tokens >= 0)

    async def abort(self, launch: Launch[str, str]) -> None:
        self.aborted.append(launch.request_id)
        if not self.deaf:
            self.end(launch.request_id, -3)

    async def reward(self, launch: Launch[str, str], response: Response[str]) -> float | None:
        return float(launch.index)

    def dropped(self, dropped: Dropped[str]) -> None:
        self.gone.append(dropped)

    async def give_back(self, prompts: Sequence[Supplied[str]]) -> None:
        self.given_back += [one.prompt_id for one in prompts]

    def decided(self, decision: Mapping[str, Any]) -> None:
        self.decisions.append(decision["type"])

    def end(self, request_id: str, tokens: int = 10) -> None:
        if not self.ends[request_id].done():
            self.ends[request_id].set_result(tokens)

    def of(self, prompt_id: str) -> list[str]:
        """Requests of a prompt that run, by index."""
        found = [one for one in self.launched.values() if one.prompt_id == prompt_id]
        return [one.request_id for one in sorted(found, key=lambda one: one.index) if one.request_id not in self.ended]

    async def running(self, count: int) -> None:
        await eventually_async(lambda: len(self.launched) - len(self.ended) == count)

    async def finish(self, *prompt_ids: str) -> None:
        for prompt_id in prompt_ids:
            for request_id in self.of(prompt_id)[:2]:
                self.end(request_id)


@contextlib.asynccontextmanager
async def rollouts(host: Toy, **options: Any) -> AsyncIterator[Rollout[str, str]]:
    settings = {**config, **options.pop("config", {})}
    options = {"send_interval_seconds": 0.0, **options}
    async with rollflex.AsyncClient.embedded(timeout=120) as client:
        rollout = await Rollout.open(client, host, settings, **options)
        try:
            yield rollout
        finally:
            await rollout.close()


def run(test: Any) -> None:
    asyncio.run(asyncio.wait_for(test, 60))


def ids(groups: Sequence[Group[str, str]]) -> list[str]:
    return [one.prompt_id for one in groups]


def test_short_rounds_then_a_long_one() -> None:
    async def test() -> None:
        host = Toy()
        async with rollouts(host) as rollout:
            first = asyncio.ensure_future(rollout.round(1))
            await host.running(12)
            await host.finish("p2", "p1")
            done = await first
            assert (done.kind, ids(done.groups), done.deferred) == ("short", ["p1", "p2"], 2)
            assert [sample.body for sample in done.groups[0].samples] == ["answer to p1"] * 2
            assert [sample.reward for sample in done.groups[0].samples] == [0.0, 1.0]
            assert (done.launched, done.aborted, done.aborted_tokens) == (12, 8, 24)
            assert host.launched.keys() == set(host.ended), "it has drained"
            # Two prompts are in the queue: the next round is long, and draws nothing.
            second = asyncio.ensure_future(rollout.round(2))
            await host.running(4)
            assert len(host.source) == 96
            await host.finish("p0", "p3")
            done = await second
            assert (done.kind, ids(done.groups)) == ("long", ["p0", "p3"])
            assert [group.deferrals for group in done.groups] == [1, 1]
            assert rollout.prompts == 0

    run(test())


def test_aborts_name_requests_and_spare_all_others() -> None:
    async def test() -> None:
        host = Toy()
        async with rollouts(host) as rollout:
            round = asyncio.ensure_future(rollout.round(1))
            await host.running(12)
            await host.finish("p0", "p1")
            await round
            assert sorted(host.aborted) == sorted(one for one in host.launched if host.ends[one].result() < 0)
            assert len(set(host.aborted)) == len(host.aborted) == 8

    run(test())


def test_engine_that_ignores_aborts_and_completions_that_win_the_race() -> None:
    async def test() -> None:
        host = Toy()
        host.deaf = True
        async with rollouts(host, abort_seconds=0.1) as rollout:
            round = asyncio.ensure_future(rollout.round(1))
            await host.running(12)
            await host.finish("p0", "p1")
            await eventually_async(lambda: len(host.aborted) == 8)
            # One of them completes after its abort was decided: it is surplus.
            host.end(host.of("p2")[0], 77)
            done = await round
            assert ids(done.groups) == ["p0", "p1"]
            assert "response.surplus" in host.decisions
            assert rollout.in_flight == 0

    run(test())


def test_a_task_that_crashes_is_tried_again_and_its_group_is_not_lost() -> None:
    async def test() -> None:
        host = Toy()
        async with rollouts(host, config={"promptSpeculation": 1, "responseSpeculation": 1}) as rollout:
            round = asyncio.ensure_future(rollout.round(1))
            await host.running(4)
            broken = host.of("p0")[0]
            host.ends[broken].set_exception(ConnectionResetError("gone"))
            await eventually_async(lambda: len(host.launched) == 5)
            assert broken not in host.of("p0") and len(host.of("p0")) == 2
            await host.finish("p0", "p1")
            done = await round
            assert (ids(done.groups), done.failures) == (["p0", "p1"], 1)

    run(test())


def test_a_prompt_at_fault_fails_by_name_and_is_replaced() -> None:
    async def test() -> None:
        host = Toy()
        settings = {"promptSpeculation": 1, "responseSpeculation": 1, "retry": {"data": 0}}
        async with rollouts(host, config=settings) as rollout:
            round = asyncio.ensure_future(rollout.round(1))
            await host.running(4)
            host.ends[host.of("p0")[0]].set_exception(GenerationFailed("too long", "data"))
            await eventually_async(lambda: len(host.of("p2")) == 2)
            await host.finish("p1", "p2")
            done = await round
            assert ids(done.groups) == ["p1", "p2"]
            assert [(one.prompt_id, one.prompt, one.cause) for one in host.gone] == [("p0", "text of p0", "failed")]
            assert done.dropped == host.gone

    run(test())


def test_a_failed_environment_has_a_budget_of_its_own_and_no_reward() -> None:
    class Rewarding(Toy):
        async def reward(self, launch: Launch[str, str], response: Response[str]) -> float | None:
            return 1.0

    async def test() -> None:
        host = Rewarding()
        retry = {"infrastructure": 0, "data": 0, "environment": 1}
        settings = {"promptSpeculation": 1, "responseSpeculation": 1, "retry": retry}
        async with rollouts(host, config=settings) as rollout:
            round = asyncio.ensure_future(rollout.round(1))
            await host.running(4)
            broken = host.of("p0")[0]
            host.ends[broken].set_exception(GenerationFailed("the sandbox is gone", "environment"))
            await eventually_async(lambda: len(host.launched) == 5)
            await host.finish("p0", "p1")
            done = await round
            assert (ids(done.groups), done.failures) == (["p0", "p1"], 1)
            assert [one.reward for group in done.groups for one in group.samples] == [1.0] * 4
            assert broken not in [one.request_id for group in done.groups for one in group.samples]

    run(test())


def test_the_host_judges_collected_groups_and_failed_rewards_have_a_name() -> None:
    class Judging(Toy):
        async def reward(self, launch: Launch[str, str], response: Response[str]) -> float | None:
            if launch.prompt_id == "p1":
                raise ValueError("no reward")
            return 1.0

        async def judge(self, group: Group[str, str]) -> bool:
            assert [sample.reward for sample in group.samples] == [1.0, 1.0]
            return group.prompt_id != "p0"

    async def test() -> None:
        host = Judging()
        settings = {"promptSpeculation": 1, "responseSpeculation": 1, "filter": "host"}
        async with rollouts(host, config=settings) as rollout:
            round = asyncio.ensure_future(rollout.round(1))
            await host.running(4)
            await host.finish("p0", "p1")
            await eventually_async(lambda: len(host.of("p3")) == 2)
            await host.finish("p2", "p3")
            done = await round
            assert ids(done.groups) == ["p2", "p3"]
            assert {one.prompt_id: one.cause for one in done.dropped} == {"p0": "filtered", "p1": "reward_failed"}

    run(test())


def test_an_exhausted_source_ends_the_round_and_then_all_rounds() -> None:
    async def test() -> None:
        host = Toy(prompts=3)
        async with rollouts(host) as rollout:
            round = asyncio.ensure_future(rollout.round(1))
            await host.running(9)
            await host.finish("p0", "p1")
            assert ids((await round).groups) == ["p0", "p1"]
            round = asyncio.ensure_future(rollout.round(2))
            await host.running(2)
            await host.finish("p2")
            done = await round
            assert (ids(done.groups), done.reason) == (["p2"], "source_exhausted")
            done = await rollout.round(3)
            assert (done.groups, done.reason) == ([], "source_drained")

    run(test())


def test_an_error_of_the_data_source_fails_the_round_and_loses_nothing() -> None:
    class Broken(Toy):
        draws = 0

        async def supply(self, count: int, domains: Mapping[str, int] | None) -> Sequence[Supplied[str]]:
            self.draws += 1
            if self.draws == 2:
                await eventually_async(lambda: len(self.launched) == 6)
                raise OSError("disk")
            return await super().supply(max(1, count // 2), domains)

    async def test() -> None:
        host = Broken()
        async with rollouts(host) as rollout:
            round = asyncio.ensure_future(rollout.round(1))
            with pytest.raises(OSError, match="disk"):
                await round
            assert rollout.in_flight == 0
            assert [one.prompt_id for one in rollout.waiting()] == ["p0", "p1"]
            assert len(host.source) == 98
            round = asyncio.ensure_future(rollout.round(1))
            # They are in the next round, before new ones.
            await host.running(12)
            assert len(host.source) == 96
            await host.finish("p0", "p1")
            assert ids((await round).groups) == ["p0", "p1"]

    run(test())


def test_cancelling_a_round_keeps_its_prompts_for_the_next() -> None:
    async def test() -> None:
        host = Toy()
        async with rollouts(host) as rollout:
            round = asyncio.ensure_future(rollout.round(1))
            await host.running(12)
            round.cancel()
            with pytest.raises(asyncio.CancelledError):
                await round
            assert (rollout.in_flight, rollout.prompts) == (0, 4)
            round = asyncio.ensure_future(rollout.round(1))
            await host.running(12)
            assert len(host.source) == 96
            await host.finish("p0", "p1")
            assert ids((await round).groups) == ["p0", "p1"]

    run(test())


def test_a_round_that_is_completed_while_it_is_given_up_goes_back(served: Served) -> None:
    import signal

    async def test() -> None:
        host = Toy()
        async with rollflex.AsyncClient.connect(served.address) as client:
            rollout = await Rollout.open(client, host, config, send_interval_seconds=0.0)
            round = asyncio.ensure_future(rollout.round(1))
            await host.running(12)
            served.process.send_signal(signal.SIGSTOP)
            await host.finish("p0", "p1")
            await asyncio.sleep(0.1)
            round.cancel()
            await asyncio.sleep(0.1)
            served.process.send_signal(signal.SIGCONT)
            with pytest.raises(asyncio.CancelledError):
                await round
            await eventually_async(lambda: bool(host.given_back))
            assert host.given_back == ["p0", "p1"]
            assert [one.prompt_id for one in rollout.waiting()] == ["p2", "p3"]
            await rollout.close()

    run(test())


@pytest.mark.parametrize("waits_for", ["responses", "rewards", "aborts"])
def test_closing_ends_a_round_that_is_waited_for(waits_for: str) -> None:
    class Rewarding(Toy):
        async def reward(self, launch: Launch[str, str], response: Response[str]) -> float | None:
            await asyncio.sleep(60 if waits_for == "rewards" else 0)
            return 1.0

    async def test() -> None:
        host = Rewarding()
        host.deaf = waits_for == "aborts"
        async with rollouts(host, abort_seconds=0.5) as rollout:
            round = asyncio.ensure_future(rollout.round(1))
            await host.running(12)
            if waits_for != "responses":
                await host.finish("p0", "p1")
                await eventually_async(lambda: "round.completed" in host.decisions)
            if waits_for == "rewards":
                await eventually_async(lambda: "round.drained" in host.decisions)
            if waits_for == "aborts":
                await eventually_async(lambda: rollout.prompts == 2)
            assert not round.done()
            await asyncio.gather(rollout.close(), rollout.close())
            with pytest.raises(rollflex.ClientClosed, match="the rollout was closed"):
                await asyncio.wait_for(round, 5)
            assert sorted(host.given_back) == ["p0", "p1", "p2", "p3"]
            assert (rollout.in_flight, rollout.prompts, host.gone) == (0, 0, [])
            assert len(set(host.aborted)) == len(host.aborted) == (12 if waits_for == "responses" else 8)
            for again in (rollout.round(2), rollout.group("p0"), rollout.wait_drained(), rollout.checkpoint()):
                with pytest.raises(rollflex.ClientClosed):
                    await again

    run(test())


def test_closing_ends_a_group_that_is_waited_for() -> None:
    class Rewarding(Toy):
        async def reward(self, launch: Launch[str, str], response: Response[str]) -> float | None:
            await asyncio.sleep(60)
            return 1.0

    async def test() -> None:
        host = Rewarding()
        async with rollouts(host, policy="tail-pipelining", config={"globalBatchSamples": 2}) as rollout:
            round = asyncio.ensure_future(rollout.round(1))
            await host.running(12)
            await host.finish("p1")
            await eventually_async(lambda: "prompt.counted" in host.decisions)
            group = asyncio.ensure_future(rollout.group("p1"))
            await asyncio.sleep(0.05)
            assert not group.done()
            await rollout.close()
            for waiting in (group, round):
                with pytest.raises(rollflex.ClientClosed, match="the rollout was closed"):
                    await asyncio.wait_for(waiting, 5)
            assert sorted(host.given_back) == ["p0", "p1", "p2", "p3"]

    run(test())


def test_closing_between_rounds_gives_the_queue_back() -> None:
    async def test() -> None:
        host = Toy()
        async with rollouts(host) as rollout:
            round = asyncio.ensure_future(rollout.round(1))
            await host.running(12)
            await host.finish("p0", "p1")
            assert ids((await round).groups) == ["p0", "p1"]
            await rollout.close()
            assert sorted(host.given_back) == ["p2", "p3"]

    run(test())


def test_a_lost_engine_has_its_requests_launched_elsewhere() -> None:
    async def test() -> None:
        host = Toy()
        settings = {"promptSpeculation": 1, "responseSpeculation": 1, "placement": "policy"}
        async with rollouts(host, config=settings) as rollout:
            for name in ("a", "b"):
                rollout.engine_added(name)
            round = asyncio.ensure_future(rollout.round(1))
            await host.running(4)
            assert {one.engine_id for one in host.launched.values()} == {"a", "b"}
            rollout.engine_lost("a")
            await eventually_async(lambda: len(host.launched) == 6)
            await host.running(4)
            assert {host.launched[one].engine_id for one in [*host.of("p0"), *host.of("p1")]} == {"b"}
            await host.finish("p0", "p1")
            assert len((await round).groups) == 2
            assert "response.late" in host.decisions, "what the engine said later has changed nothing"

    run(test())


def test_groups_are_trained_before_the_round_is_complete() -> None:
    """The recipe ``tail-pipelining``: what is beyond the rollout is carried out by the host, with what it decides."""

    class Trainer(Toy):
        rollout: Rollout[str, str]
        trained: list[tuple[str, list[str]]]
        dispatched = steps = 0

        def decided(self, decision: Mapping[str, Any]) -> None:
            super().decided(decision)
            if decision["type"] == "train.dispatch":
                self.working = asyncio.ensure_future(self.train(decision, self.dispatched))
                self.dispatched += 1
            elif decision["type"] == "optimizer.step":
                self.steps += 1
                done = {name: decision[name] for name in ("roundId", "updateId")}
                self.rollout.tell({"type": "optimizer.stepped", **done})
            elif decision["type"] == "weights.publish":
                said = {name: decision[name] for name in ("roundId", "publicationId")}
                said["weightVersion"] = decision["weightVersion"] + 1
                self.rollout.tell({"type": "weights.published", **said})

        async def train(self, update: Mapping[str, Any], number: int) -> None:
            # One after the other.
            await eventually_async(lambda: self.steps == number)
            groups = [await self.rollout.group(id) for id in update["groups"]]
            self.trained += [(one.prompt_id, [sample.body for sample in one.samples]) for one in groups]
            assert [[sample.reward for sample in one.samples] for one in groups] == [[0.0, 1.0]]
            said = {"updateId": update["updateId"], "groups": update["groups"], "seconds": 0.1}
            self.rollout.tell({"type": "update.consumed", **said})

    async def test() -> None:
        host = Trainer()
        host.trained = []
        settings = {"globalBatchSamples": 2}
        async with rollouts(host, policy="tail-pipelining", config=settings) as rollout:
            host.rollout = rollout
            round = asyncio.ensure_future(rollout.round(1))
            await host.running(12)
            await host.finish("p1")
            await eventually_async(lambda: host.steps == 1)
            assert host.trained == [("p1", ["answer to p1"] * 2)] and not round.done()
            with pytest.raises(KeyError, match="does not count"):
                await rollout.group("p0")
            await host.finish("p0")
            assert ids((await round).groups) == ["p0", "p1"]
            await eventually_async(lambda: host.steps == 2)
            assert [one[0] for one in host.trained] == ["p1", "p0"]
            round = asyncio.ensure_future(rollout.round(2))
            await host.running(4)
            await host.finish("p2", "p3")
            assert ids((await round).groups) == ["p2", "p3"]
            await eventually_async(lambda: host.steps == 4)

    run(test())


def test_what_is_kept_of_a_deferred_prompt_is_resumed() -> None:
    async def test() -> None:
        host = Toy()
        async with rollouts(host, config={"partialRollout": True, "maxStaleness": 1}) as rollout:
            round = asyncio.ensure_future(rollout.round(1))
            await host.running(12)
            host.end(host.of("p2")[0], 50)
            await host.finish("p0", "p1")
            await round
            round = asyncio.ensure_future(rollout.round(2))
            await eventually_async(lambda: len([one for one in host.launched.values() if one.round_id != ""]) > 12)
            await host.running(3)
            resumed = [host.launched[one] for one in [*host.of("p2"), *host.of("p3")]]
            assert [one.resume_from for one in resumed] == [f"answer to {one.prompt_id}" for one in resumed]
            assert [one.resume_tokens for one in resumed] == [3, 3, 3]
            for one in resumed:
                host.end(one.request_id, 20)
            done = await round
            assert ids(done.groups) == ["p2", "p3"]
            assert sorted(sample.tokens for sample in done.groups[0].samples) == [20, 50]
            assert {one.weight_versions: one.tokens for one in done.groups[0].samples} == {(1,): 50, (1, 2): 20}

    run(test())


def test_a_checkpoint_between_rounds_has_the_queue_in_it() -> None:
    async def test() -> None:
        host = Toy()
        async with rollflex.AsyncClient.spawn(timeout=120) as client:
            rollout = await Rollout.open(client, host, config, session="job", send_interval_seconds=0.0)
            round = asyncio.ensure_future(rollout.round(1))
            await host.running(12)
            await host.finish("p0", "p1")
            await round
            saved = await rollout.checkpoint(lambda: list(host.source))
            # It goes on for a while, and is killed: nobody says good-bye.
            round = asyncio.ensure_future(rollout.round(2))
            await host.running(4)
            again = Toy()
            again.source = saved["source"]
            other = await Rollout.open(client, again, config, checkpoint=saved, send_interval_seconds=0.0)
            assert [one.prompt_id for one in other.waiting()] == ["p2", "p3"]
            next = asyncio.ensure_future(other.round(2))
            await again.running(4)
            assert not set(again.launched) & set(host.launched), "ids are new"
            assert {one.prompt for one in again.launched.values()} == {"text of p2", "text of p3"}
            await again.finish("p2", "p3")
            done = await next
            assert (done.kind, ids(done.groups)) == ("long", ["p2", "p3"])
            await other.close()
            round.cancel()
            await asyncio.gather(round, return_exceptions=True)
            await rollout.close()

    run(test())


def test_a_checkpoint_in_the_middle_of_a_round_goes_on_with_it() -> None:
    class Judging(Toy):
        patience = 0.0

        async def judge(self, group: Group[str, str]) -> bool:
            await asyncio.sleep(self.patience)
            return True

    async def test() -> None:
        host = Judging()
        host.patience = 30
        settings = {**config, "filter": "host"}
        async with rollflex.AsyncClient.spawn(timeout=120) as client:
            rollout = await Rollout.open(client, host, settings, session="job", send_interval_seconds=0.0)
            round = asyncio.ensure_future(rollout.round(1, round_id="first"))
            await host.running(12)
            host.end(host.of("p0")[0], 5)
            await host.finish("p1")
            await eventually_async(lambda: "prompt.collected" in host.decisions)
            saved = await rollout.checkpoint(lambda: list(host.source))
            assert list(saved["judging"]) == ["p1"]
            round.cancel()
            await asyncio.gather(round, return_exceptions=True)
            again = Judging()
            again.source = saved["source"]
            other = await Rollout.open(client, again, settings, checkpoint=saved, send_interval_seconds=0.0)
            next = asyncio.ensure_future(other.round(1))
            # What is held is not generated again: p1 is judged, and p0 needs one more.
            await again.running(2 + 3 + 3)
            again.end(again.of("p0")[0], 6)
            done = await next
            assert (done.round_id, ids(done.groups)) == ("first", ["p0", "p1"])
            assert [sample.tokens for sample in done.groups[0].samples] == [5, 6]
            assert [sample.reward for sample in done.groups[1].samples] == [0.0, 1.0]
            await other.close()
            await rollout.close()

    run(test())


def test_a_refused_event_fails_the_round_by_name() -> None:
    async def test() -> None:
        host = Toy()
        async with rollouts(host) as rollout:
            round = asyncio.ensure_future(rollout.round(5))
            await host.running(12)
            await host.finish("p0", "p1")
            await round
            with pytest.raises(rollflex.PolicyError, match="weight version"):
                await rollout.round(4)
            round = asyncio.ensure_future(rollout.round(6))
            await host.running(4)
            await host.finish("p2", "p3")
            assert len((await round).groups) == 2

    run(test())


def test_a_server_that_stalls_stalls_nothing_and_one_that_is_gone_gives_everything_back(served: Served) -> None:
    import signal

    async def test() -> None:
        host = Toy()
        client = await rollflex.AsyncClient.connect(served.address, timeout=5)
        options: dict[str, Any] = {"send_interval_seconds": 0.0, "unreachable_seconds": 10, "abort_seconds": 1}
        rollout = await Rollout.open(client, host, config, **options)
        round = asyncio.ensure_future(rollout.round(1))
        await host.running(12)
        served.process.send_signal(signal.SIGSTOP)
        try:
            # Requests go on and end, and their reports wait.
            began = asyncio.get_running_loop().time()
            host.end(host.of("p0")[0])
            await asyncio.sleep(0.1)
            for request_id in host.of("p1")[:2]:
                host.end(request_id)
            await host.running(9)
            assert asyncio.get_running_loop().time() - began < 8
            served.process.send_signal(signal.SIGCONT)
            await eventually_async(lambda: "prompt.collected" in host.decisions)
            served.process.send_signal(signal.SIGSTOP)
            host.end(host.of("p2")[0])
            with pytest.raises(PolicyUnavailable):
                await round
        finally:
            served.process.send_signal(signal.SIGCONT)
        assert rollout.in_flight == 0
        assert sorted(host.given_back) == ["p0", "p1", "p2", "p3"]
        with pytest.raises(PolicyUnavailable):
            await rollout.round(2)
        await rollout.close()
        await client.close()

    run(test())


def test_a_server_that_keeps_its_sessions_may_be_killed(short: Path) -> None:
    async def test() -> None:
        served = Served("--socket", str(short / "s"), "--state-dir", str(short / "state"))
        host = Toy()
        try:
            async with rollflex.AsyncClient.connect(served.address, timeout=120) as client:
                rollout = await Rollout.open(client, host, config, send_interval_seconds=0.0)
                for step in range(3):
                    round = asyncio.ensure_future(rollout.round(step))
                    await host.running(4 if step == 1 else 12)
                    here = [one.prompt_id for one in rollout.waiting()]
                    await host.finish(here[0])
                    served.kill()
                    await host.finish(here[1])
                    await asyncio.sleep(0.05)
                    served.start()
                    assert ids((await round).groups) == here[:2]
                await rollout.close()
        finally:
            served.stop()

    run(test())


def test_a_server_that_has_forgotten_the_session_is_not_waited_for(served: Served) -> None:
    async def test() -> None:
        host = Toy()
        reconnect = rollflex.Reconnect(limit_seconds=10)
        client = await rollflex.AsyncClient.connect(served.address, timeout=5, reconnect=reconnect)
        rollout = await Rollout.open(client, host, config, send_interval_seconds=0.0, unreachable_seconds=30)
        round = asyncio.ensure_future(rollout.round(1))
        await host.running(12)
        served.kill()
        served.start()
        host.end(host.of("p0")[0])
        with pytest.raises(PolicyUnavailable):
            await round
        assert sorted(host.given_back) == ["p0", "p1", "p2", "p3"]
        assert sorted(host.aborted) == sorted(one for one in host.launched if host.ends[one].result() < 0)
        await rollout.close()
        await client.close()

    run(test())


def test_events_pile_up_into_few_calls() -> None:
    async def test() -> None:
        host = Toy(200)
        settings = {"promptsPerRound": 50, "responsesPerPrompt": 8, "promptSpeculation": 1, "responseSpeculation": 1}
        async with rollouts(host, config=settings, send_interval_seconds=0.05) as rollout:
            round = asyncio.ensure_future(rollout.round(1))
            await host.running(400)
            calls = rollout.outbox.calls
            for request_id in list(host.launched):
                host.end(request_id)
                await asyncio.sleep(0)
            assert len((await round).groups) == 50
            assert rollout.outbox.calls - calls <= 10

    run(test())
