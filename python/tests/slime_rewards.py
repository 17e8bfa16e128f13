"""Rewards and generation that tests name to slime."""

from __future__ import annotations

import asyncio
from typing import Any

failing: set[str] = set()
calls: list[str] = []


async def by_length(args: Any, sample: Any) -> Any:
    """Of one sample, or of a group."""
    if isinstance(sample, list):
        return [float(one.response_length % 2) for one in sample]
    return float(sample.response_length % 2)


async def of_odd_rows(args: Any, sample: Any) -> float:
    """Of rows with an odd number one response in two is right, of the others none."""
    return float(int(sample.prompt.split()[1]) % 2 and sample.index % 2)


async def always_one(args: Any, sample: Any) -> Any:
    return [1.0] * len(sample) if isinstance(sample, list) else 1.0


async def slow_when_not_needed(args: Any, sample: Any) -> float:
    """A judge that never ends for responses of some prompts."""
    if sample.prompt in failing:
        await asyncio.sleep(3600)
    return 1.0


async def failing_for_some(args: Any, sample: Any) -> float:
    if sample.prompt in failing:
        raise ValueError("the judge has crashed")
    return 1.0


async def crashing_once(args: Any, sample: Any, sampling_params: Any) -> Any:
    """Generation that crashes the first time, for some prompts."""
    from slime.rollout.sglang_rollout import generate

    if sample.prompt in failing:
        failing.discard(sample.prompt)
        raise RuntimeError("the tool has crashed")
    return await generate(args, sample, sampling_params)


async def failing_once(args: Any, sample: Any, sampling_params: Any) -> Any:
    """An agent whose sandbox fails the first time, for some prompts: the status says so, its reward is 0."""
    from slime.rollout.sglang_rollout import generate
    from slime.utils.types import Sample

    sample = await generate(args, sample, sampling_params)
    if sample.prompt in failing:
        failing.discard(sample.prompt)
        sample.status, sample.reward = Sample.Status.FAILED, 0.0
    return sample


async def two_turns(args: Any, sample: Any, sampling_params: Any) -> Any:
    """An agent that asks twice, whatever the first answer says; the first of some prompts is long."""
    from slime.rollout.sglang_rollout import generate
    from slime.utils.types import Sample

    for turn in range(2):
        calls.append(sample.prompt)
        least = 7000 if sample.prompt in failing and turn == 0 else 0
        params = dict(sampling_params, max_new_tokens=8000 + sample.response_length, min_new_tokens=least)
        sample = await generate(args, sample, params)
        last, sample.status = sample.status, Sample.Status.PENDING
    sample.status = last
    return sample


async def as_long_as_the_row_says(args: Any, sample: Any, sampling_params: Any) -> Any:
    """One row in four has long responses."""
    from slime.rollout.sglang_rollout import generate

    tokens = 3000 if int(sample.prompt.split()[1]) % 4 == 1 else 50
    return await generate(args, sample, dict(sampling_params, max_new_tokens=tokens, min_new_tokens=tokens))


async def short(args: Any, sample: Any, sampling_params: Any) -> Any:
    """All responses have one length."""
    from slime.rollout.sglang_rollout import generate

    return await generate(args, sample, dict(sampling_params, max_new_tokens=50, min_new_tokens=50))
