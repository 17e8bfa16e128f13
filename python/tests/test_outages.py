"""Engines that all fail: the policy waits, and the rollout says when it has waited long enough."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

import pytest

import rollflex
from rollflex.rollout import GenerationFailed, Launch, Response, Rollout
from support import eventually_async
from test_rollout import Toy, config, ids, rollouts, run

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
            # Those that have waited come first.
            assert set(ids(done.groups)) <= {"p0", "p1", "p2", "p3"}

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
