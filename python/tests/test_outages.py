"""Engines that all fail: the policy waits, and the rollout says when it has waited long enough."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

import rollflex
from rollflex.rollout import (
    Dropped,
    Engine,
    EngineHost,
    EnginePool,
    Generated,
    GenerationFailed,
    Launch,
    Response,
    Rollout,
    Supplied,
)
from rollflex.rollout.engines import Prompt
from support import eventually_async
from test_rollout import Toy, config, rollouts, run

said = r"every request has failed since 20\d\d-.* UTC, for all {}s and longer than outage_seconds \(0.5\); the last: {}"


class Cluster(Toy):
    """Answers at once, or fails at once."""

    def __init__(self, kind: Any = "infrastructure") -> None:
        super().__init__()
        self.kind = kind
        self.works = False
        self.tries = 0

    async def generate(self, launch: Launch[str, str]) -> Response[str]:
        self.tries += 1
        await asyncio.sleep(0.001)
        if not self.works:
            raise GenerationFailed("no memory left", self.kind)
        return Response(f"answer to {launch.prompt_id}", 10)


@pytest.mark.parametrize(("kind", "scope"), [("infrastructure", "engine"), ("environment", "environment")])
def test_a_round_of_nothing_but_failures_ends_by_name_and_costs_no_prompt(kind: Any, scope: str) -> None:
    async def test() -> None:
        host = Cluster(kind)
        async with rollouts(host, outage_seconds=0.5) as rollout:
            for step in range(2):
                with pytest.raises(GenerationFailed, match=said.format(scope, "GenerationFailed: no memory")) as failed:
                    await rollout.round(step)
                assert failed.value.kind == kind
            host.works = True
            # The pauses between single tries have grown beyond half a second.
            done = None
            while done is None:
                step += 1
                with contextlib.suppress(GenerationFailed):
                    done = await rollout.round(step)
            assert len(done.groups) == 2
            assert not host.gone
            assert len(host.source) + rollout.prompts + len(done.groups) == 100

    run(test())


def test_engines_that_fail_each_by_itself() -> None:
    async def test() -> None:
        host = Cluster()
        async with rollouts(host, outage_seconds=0.5, config={"placement": "policy"}) as rollout:
            for one in ("e0", "e1"):
                rollout.engine_added(one)
            round = asyncio.ensure_future(rollout.round(1))
            with pytest.raises(GenerationFailed, match="for all engines"):
                await round

    run(test())


class Switched(Engine):
    """Answers at once, or refuses at once."""

    def __init__(self, id: str, works: bool) -> None:
        super().__init__(id)
        self.works = works
        self.asked = 0

    async def is_healthy(self) -> bool:
        return True

    async def _generate(self, found: Generated, request_id: str, prompt: Prompt, sampling: Mapping[str, Any]) -> None:
        self.asked += 1
        await asyncio.sleep(0.01)
        if not self.works:
            raise GenerationFailed("no memory left")
        found.token_ids, found.finish = [1, 2], "stop"

    async def _abort(self, request_id: str) -> None:
        return


class Pooled(EngineHost[str]):
    def __init__(self, engines: Sequence[Engine]) -> None:
        super().__init__(EnginePool(engines), {})
        self.notices: list[tuple[str, str | None]] = []
        self.gone: list[str] = []
        self._drawn = 0

    async def supply(self, count: int, domains: Mapping[str, int] | None) -> Sequence[Supplied[str]]:
        self._drawn += count
        return [Supplied(f"p{number}", f"p{number}") for number in range(self._drawn - count, self._drawn)]

    async def give_back(self, prompts: Sequence[Supplied[str]]) -> None:
        return

    def dropped(self, dropped: Dropped[str]) -> None:
        self.gone.append(dropped.prompt_id)

    def decided(self, decision: Mapping[str, Any]) -> None:
        if decision["type"].startswith("tries."):
            self.notices.append((decision["type"], decision.get("id")))


def test_an_engine_that_refuses_is_avoided_by_the_pool_and_named_by_the_policy() -> None:
    async def test() -> None:
        bad, good = Switched("a", works=False), Switched("b", works=True)
        host = Pooled([bad, good])
        settings = {"promptsPerRound": 16, "responsesPerPrompt": 2, "promptSpeculation": 1, "responseSpeculation": 1}
        async with rollflex.AsyncClient.embedded(timeout=120) as client:
            rollout = await Rollout.open(client, host, settings, send_interval_seconds=0.0)
            async with host.watching(rollout):
                for step in range(4):
                    assert len((await rollout.round(step)).groups) == 16
                # Half of the first round, and one request now and then.
                assert bad.asked < 24
                assert host.notices == [("tries.suspended", "a")]
                bad.works = True
                while bad.asked < 40:
                    step += 1
                    await rollout.round(step)
                assert host.notices == [("tries.suspended", "a"), ("tries.recovered", "a")]
            await rollout.close()
        assert host.gone == []

    run(test())


def test_engines_that_all_refuse_take_turns() -> None:
    async def test() -> None:
        engines = [Switched(id, works=False) for id in "abc"]
        pool = EnginePool(engines)
        for number in range(12):
            with pytest.raises(GenerationFailed, match="no memory left"):
                await pool.generate(f"r{number}", [1], {})
        assert [one.asked for one in engines] == [4, 4, 4]

    run(test())


def test_what_recovers_in_time_ends_nothing(caplog: pytest.LogCaptureFixture) -> None:
    async def test() -> None:
        host = Cluster()
        async with rollouts(host, outage_seconds=3) as rollout:
            round = asyncio.ensure_future(rollout.round(1))
            await eventually_async(lambda: "tries.suspended" in host.decisions)
            host.works = True
            assert len((await round).groups) == 2
            await asyncio.sleep(3)
            assert len((await rollout.round(2)).groups) == 2

    run(test())
    assert "(engine): only single tries are made until one succeeds" in caplog.text
    assert "engine goes on after" in caplog.text


def test_a_checkpoint_knows_what_fails() -> None:
    async def test() -> None:
        host = Cluster()
        async with rollflex.AsyncClient.embedded(timeout=120) as client:
            rollout = await Rollout.open(client, host, config, send_interval_seconds=0.0)
            round = asyncio.ensure_future(rollout.round(1, round_id="first"))
            await eventually_async(lambda: "tries.suspended" in host.decisions)
            saved = await rollout.checkpoint()
            round.cancel()
            await asyncio.gather(round, return_exceptions=True)
            again = Cluster()
            other = await Rollout.open(client, again, config, checkpoint=saved, outage_seconds=0.5)
            with pytest.raises(GenerationFailed, match="for all engines"):
                await other.round(1)
            await other.close()
            await rollout.close()

    run(test())
