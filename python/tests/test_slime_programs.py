"""Agents of slime, whose turns the policy places, over engines without a GPU."""

from __future__ import annotations

import asyncio
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mock_engines import MockEngines
from rollflex import PolicyError
from slime_support import Job, use_slime

use_slime()
turns = 4


async def agent(args: Any, sample: Any, sampling_params: dict[str, Any]) -> Any:
    """An agent of somebody: it goes on with all that was said, and what its tool has answered."""
    from slime.utils.http_utils import post

    tokens = [sample.index] * 64
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    found = []
    for _ in range(turns):
        params = {"max_new_tokens": 20, "ignore_eos": True}
        output = await post(url, {"input_ids": tokens, "sampling_params": params})
        found.append(output["meta_info"])
        tokens = tokens + output["output_ids"] + [1] * 10
        await asyncio.sleep(0.01)
    sample.metadata["turns"] = found
    return sample


@pytest.fixture
def engines(request: pytest.FixtureRequest) -> Iterator[MockEngines]:
    made = MockEngines("--engines", str(getattr(request, "param", 3)), "--speed", "200")
    module = types.ModuleType("slime_agent")
    module.agent = agent  # type: ignore[attr-defined]
    sys.modules["slime_agent"] = module
    yield made
    made.stop()


def run(job: Job, samples: int, meanwhile: Any = None) -> list[Any]:
    from slime.utils.types import Sample

    from rollflex.adapters import slime_programs

    async def work() -> list[Any]:
        slime_programs._turns.clear()
        made = [Sample(index=one, prompt=f"question {one}") for one in range(samples)]
        running = [slime_programs.generate(job.args, one, {"max_new_tokens": 30}) for one in made]
        others = [] if meanwhile is None else [meanwhile()]
        done = await asyncio.gather(*running, *others)
        turns_of_job = slime_programs._turns[id(asyncio.get_running_loop())]
        assert turns_of_job.programs._programs == {}
        await turns_of_job.programs.end()
        return done[:samples]

    return asyncio.run(asyncio.wait_for(work(), 60))


@pytest.mark.parametrize("engines", [1], indirect=True)
def test_turns_find_the_cache_of_the_turns_before(tmp_path: Path, engines: MockEngines) -> None:
    job = Job(tmp_path, engines, 1, rollflex_generate="slime_agent.agent")
    found = [[one["cached_tokens"] for one in sample.metadata["turns"]] for sample in run(job, 12)]
    # 64 tokens, and 30 more with each turn, of which the last 10 are new; in blocks of 16.
    assert found == [[0, 80, 112, 144]] * 12


def test_turns_are_spread_over_engines(tmp_path: Path, engines: MockEngines) -> None:
    job = Job(tmp_path, engines, 1, rollflex_generate="slime_agent.agent")
    run(job, 12)
    accepted = [one["accepted"] for one in engines.stats()]
    assert sum(accepted) == 48
    assert min(accepted) >= 8


def test_an_engine_that_dies_has_its_turns_run_elsewhere(tmp_path: Path, engines: MockEngines) -> None:
    job = Job(tmp_path, engines, 1, rollflex_generate="slime_agent.agent")

    async def crash() -> None:
        while engines.stats()[1]["accepted"] < 2:
            await asyncio.sleep(0.005)
        await engines.told("/fault", {"fault": "crash", "engine": 1})

    for sample in run(job, 12, crash):
        assert [one["completion_tokens"] for one in sample.metadata["turns"]] == [20] * turns


def test_slimes_own_function_is_a_program_of_one_turn(tmp_path: Path, engines: MockEngines) -> None:
    job = Job(tmp_path, engines, 1, rollout_max_response_len=30)
    done = run(job, 6)
    assert all(0 < one.response_length <= 30 for one in done)
    assert sum(one["accepted"] for one in engines.stats()) == 6


def test_what_the_policy_refuses_is_raised(tmp_path: Path, engines: MockEngines) -> None:
    job = Job(tmp_path, engines, 1, rollflex_generate="slime_agent.agent", rollflex_programs={"budgetShare": 3})
    with pytest.raises(PolicyError, match="budgetShare"):
        run(job, 1)
