"""Prompts and responses as TRL has them: rows of a data set, messages, rewards, and samples with advantages."""

from __future__ import annotations

import asyncio
import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..rollout import Generated, Sample

RewardFunction = Callable[..., Any]
"""
A reward function of TRL: it takes lists of prompts, completions and columns, and returns a list of numbers or None; it
may be async.
"""
_of_a_row = {"prompt", "completion", "completion_ids"}


@dataclass(frozen=True)
class Row:
    """A prompt that was drawn from the data set."""

    group_id: int
    columns: Mapping[str, Any]
    prompt_ids: list[int]
    row: int
    """In the data set."""


class Scorer:
    """Makes TRL's samples from the responses to one prompt."""

    def __init__(self, tokenizer: Any, reward_funcs: Sequence[RewardFunction]) -> None:
        from trl.experimental.async_grpo.async_rollout_worker import RolloutSample

        self._sample = RolloutSample
        self._tokenizer = tokenizer
        self._functions = reward_funcs
        self._names = [getattr(one, "__name__", type(one).__name__) for one in reward_funcs]

    async def score(self, row: Row, samples: Sequence[Sample[Generated]]) -> list[Any]:
        """
        Returns one ``RolloutSample`` per response. Rewards are summed; if every function returns None for a response,
        its advantage is 0, and the others are compared without it. Raises errors of the functions.
        """
        prompts = [row.columns["prompt"]] * len(samples)
        completions = [self._completion(row, one.body) for one in samples]
        ids = [one.body.token_ids for one in samples]
        columns = {name: [value] * len(samples) for name, value in row.columns.items() if name not in _of_a_row}
        rewards = await asyncio.gather(
            *(
                _call(one, prompts=prompts, completions=completions, completion_ids=ids, **columns)
                for one in self._functions
            )
        )
        for name, found in zip(self._names, rewards, strict=True):
            if len(found) != len(samples):
                raise ValueError(f"reward function {name}: expected {len(samples)} rewards, got {len(found)}")
        table = [[math.nan if one is None else float(one) for one in found] for found in rewards]
        totals = [_sum(column) for column in zip(*table, strict=True)]
        advantages, deviation = _advantages(totals)
        return [
            self._make(
                row,
                one,
                completions[i],
                advantages[i],
                {
                    "reward": totals[i],
                    "reward_std": deviation,
                    **{f"rewards/{name}": table[k][i] for k, name in enumerate(self._names)},
                },
            )
            for i, one in enumerate(samples)
        ]

    def _make(self, row: Row, sample: Sample[Generated], completion: Any, advantage: float, metrics: Any) -> Any:
        import numpy as np

        found, before = sample.body, len(row.prompt_ids)
        assert found.log_probs is not None
        return self._sample(
            prompt=_messages(row.columns["prompt"], "user"),
            completion=_messages(completion, "assistant"),
            input_ids=np.asarray([*row.prompt_ids, *found.token_ids], dtype=np.int64),
            completion_mask=np.asarray([0] * before + [1] * len(found.token_ids), dtype=np.int64),
            old_log_probs=np.asarray([0.0] * before + found.log_probs, dtype=np.float32),
            advantage=advantage,
            model_version=min(sample.weight_versions),
            group_id=row.group_id,
            metrics=metrics,
        )

    def _completion(self, row: Row, found: Generated) -> Any:
        """Returns completions in the form that TRL gives to reward functions: texts, or lists of messages."""
        if isinstance(row.columns["prompt"], str):
            return self._tokenizer.decode(found.token_ids, skip_special_tokens=True)
        if any(getattr(self._tokenizer, name, None) is not None for name in ("response_template", "response_schema")):
            from trl.chat_template_utils import parse_response

            return [parse_response(self._tokenizer, found.token_ids, prefix=row.prompt_ids)]
        text = self._tokenizer.decode(found.token_ids, skip_special_tokens=True)
        return [{"role": "assistant", "content": text}]


def tokens_of(tokenizer: Any, prompt: Any, template_options: Mapping[str, Any]) -> list[int]:
    """The ids of a prompt, which is text or messages."""
    if isinstance(prompt, str):
        return list(tokenizer(prompt)["input_ids"])
    return list(
        tokenizer.apply_chat_template(prompt, return_dict=False, add_generation_prompt=True, **template_options)
    )


async def _call(function: RewardFunction, **given: Any) -> Sequence[Any]:
    """A plain function may be slow and runs in a thread; an async function runs here."""
    said = await asyncio.to_thread(function, **given)
    found: Sequence[Any] = await said if inspect.isawaitable(said) else said
    return found


def _sum(rewards: Sequence[float]) -> float:
    known = [one for one in rewards if not math.isnan(one)]
    return sum(known) if known else math.nan


def _advantages(rewards: Sequence[float]) -> tuple[list[float], float]:
    """
    The advantage that TRL computes: distance from the mean in standard deviations (of the population), 0 without a
    reward.
    """
    known = [one for one in rewards if not math.isnan(one)]
    if not known:
        return [0.0] * len(rewards), math.nan
    mean = sum(known) / len(known)
    deviation = math.sqrt(sum((one - mean) ** 2 for one in known) / len(known))
    return [0.0 if math.isnan(one) else (one - mean) / (deviation + 1e-8) for one in rewards], deviation


def _messages(said: Any, role: str) -> Any:
    return [{"role": role, "content": said}] if isinstance(said, str) else said
