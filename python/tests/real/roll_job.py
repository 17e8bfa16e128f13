"""
ROLL's scheduler without a GPU. Real: `DynamicSamplingScheduler` with `ReplayBuffer` and `RolloutContext`,
`RouterManager` with `PromptAffinityRouter`, the default loop, `DataProto`, the collator, the filter of prompts. What
stands in is here: the actors that generate and that give rewards, the configuration, and the sampling parameters of
SGLang, for whose version ROLL has no patch.
"""

from __future__ import annotations

import asyncio
import random
import sys
import types
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, ClassVar

import ray
import torch
from datasets import Dataset
from roll.configs.base_config import RouterArguments
from roll.datasets.collator import DataCollatorWithPaddingForPaddedKeys
from roll.distributed.scheduler.generate_scheduler import DynamicSamplingScheduler
from roll.distributed.scheduler.protocol import DataProto

from rollflex.adapters.roll import TailBatchingLoop

prompts, responses, prompt_tokens, longest = 8, 4, 8, 2048
first_token = 1000
"""A prompt is one token: this, and its row."""


def lengths(rows: int) -> list[list[int]]:
    """With a heavy tail, and nearer to each other for one prompt; one more for each than a group has."""
    chance = random.Random(7)
    found = []
    for _ in range(rows):
        centre = chance.lognormvariate(6.3, 0.9) / 4
        found.append([max(5, min(longest, int(centre * chance.lognormvariate(0, 0.4)))) for _ in range(responses + 1)])
    return found


@ray.remote(num_cpus=0, max_concurrency=1000)
class Engine:
    """All requests at one pace. An abort ends a request with the tokens that it has."""

    def __init__(self, rows: list[list[int]], tokens_per_second: float = 400) -> None:
        self._rows, self._pace = rows, tokens_per_second
        self._given = [0] * len(rows)
        self._stops: dict[str, asyncio.Event] = {}
        self._aborted = 0

    async def generate_request(self, payload: dict[str, Any]) -> dict[str, Any]:
        row = payload["input_ids"][0] - first_token
        count = self._rows[row][self._given[row] % (responses + 1)]
        self._given[row] += 1
        stop = self._stops[payload["rid"]] = asyncio.Event()
        loop = asyncio.get_running_loop()
        began, reason = loop.time(), "stop"
        try:
            await asyncio.wait_for(stop.wait(), count / self._pace)
            count, reason = int((loop.time() - began) * self._pace), "abort"
            self._aborted += count
        except asyncio.TimeoutError:
            pass
        finally:
            del self._stops[payload["rid"]]
        tokens = [[7] * count]
        return {"finish_reasons": [reason], "output_token_ids": tokens, "output_logprobs": [[-1.0] * count]}

    async def abort_requests(self, request_ids: list[str]) -> None:
        for one in request_ids:
            if one in self._stops:
                self._stops[one].set()

    async def state(self) -> tuple[int, int]:
        """Requests that run, and tokens of those that were aborted."""
        return len(self._stops), self._aborted


@ray.remote(num_cpus=0)
class Rewards:
    def compute_rewards(self, data: DataProto) -> DataProto:
        reward = data.batch["response_mask"].sum(-1).float() % 2
        return DataProto.from_dict({"response_level_rewards": reward, "scores": reward})


def stand_in_for_sglang() -> None:
    module: Any = types.ModuleType("roll.distributed.strategy.sglang_strategy")
    module.create_sampling_params_for_sglang = lambda gen_kwargs: {"n": gen_kwargs["num_return_sequences"]}
    sys.modules[module.__name__] = module


engine: Any = Engine
judge: Any = Rewards


class LosslessLoop(TailBatchingLoop):
    recipe = "lossless-tail"
    policy: ClassVar[Mapping[str, Any]] = {"windowRounds": 2}


class Job:
    """Steps of a pipeline without the training."""

    def __init__(self, model: str, loop: str, additional: bool, data_rows: int = 256) -> None:
        stand_in_for_sglang()
        rows = lengths(data_rows)
        given = [
            {"input_ids": [first_token + row], "attention_mask": [1], "domain": "math", "row": row}
            for row in range(len(rows))
        ]
        self.engines = [engine.remote(rows) for _ in range(2)]
        worker = SimpleNamespace(
            model_args=SimpleNamespace(model_name_or_path=model),
            strategy_args=SimpleNamespace(strategy_name="sglang", strategy_config={}),
        )
        config = SimpleNamespace(
            seed=1,
            sequence_length=prompt_tokens + longest,
            prompt_length=prompt_tokens,
            generate_opt_level=1,
            async_generation_ratio=0,
            is_num_return_sequences_expand=True,
            is_use_additional_prompts=additional,
            max_additional_running_prompts=10,
            router_args=RouterArguments(router_name="PromptAffinityRouter", max_running_requests=32),
            num_gpus_per_node=1,
            user_defined_rollout_loop_cls=loop,
            rewards={"math": SimpleNamespace(query_filter_config=SimpleNamespace(type="no_filter", filter_args={}))},
        )
        self.scheduler = DynamicSamplingScheduler(
            pipeline_config=config,
            actor_cluster=SimpleNamespace(workers=self.engines, worker_config=worker),
            reward_clusters={"math": SimpleNamespace(workers=[judge.remote()])},
            dataset=Dataset.from_list(given),
            collect_fn_cls=DataCollatorWithPaddingForPaddedKeys,
            collect_fn_kwargs={"max_length": prompt_tokens, "padding": "max_length"},
        )

    def drawn(self) -> set[int]:
        """Rows that the scheduler has taken of the data set, in its own order."""
        return set(self.scheduler.indices[: self.scheduler.dataset_iter_count])

    async def step(self, number: int) -> list[int]:
        """Rows that it trains on."""
        generation = {"num_return_sequences": responses, "max_new_tokens": longest}
        meta = {"generation_config": generation, "global_step": number, "collect_unfinished": False}
        batch = await self.scheduler.get_batch(DataProto(meta_info=meta), global_step=number, batch_size=prompts)
        rows = [int(row) for row in batch.non_tensor_batch["row"]]
        assert torch.isfinite(batch.batch["scores"]).all()
        assert len(rows) == prompts * responses and all(rows.count(row) == responses for row in rows), (
            "groups are whole"
        )
        return sorted(set(rows))

    async def state(self) -> tuple[int, int]:
        """Requests that run, and tokens of those that were aborted."""
        states = await asyncio.gather(*[one.state.remote() for one in self.engines])
        return sum(running for running, _ in states), sum(aborted for _, aborted in states)
