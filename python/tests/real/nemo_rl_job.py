"""
NeMo-RL's single controller without a GPU. Real: `SingleControllerActor.run` with its pumps and checks of the
configuration, `create_sampler`, `TQReplayBuffer`, `RolloutManager`, the advantages and the data plane in memory. What
stands in is here: the engines, the environment that gives rewards, the worker that has the model, and its weights.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import ray
import torch
from nemo_rl.algorithms.advantage_estimator import GRPOAdvantageEstimator
from nemo_rl.algorithms.async_utils.replay_buffer import TQReplayBuffer
from nemo_rl.algorithms.grpo import AdvEstimatorConfig, GRPOConfig, _initial_grpo_save_state
from nemo_rl.algorithms.loss import ClippedPGLossConfig
from nemo_rl.algorithms.metric_utils import SetupTimingMetrics
from nemo_rl.algorithms.single_controller import SingleControllerActor
from nemo_rl.algorithms.single_controller_utils import AsyncRLConfig, MasterConfig
from nemo_rl.algorithms.single_controller_utils.setup import SingleControllerActorArgs
from nemo_rl.data.collate_fn import rl_collate_fn
from nemo_rl.data_plane.adapters.noop import NoOpDataPlaneClient
from nemo_rl.distributed.batched_data_dict import BatchedDataDict
from nemo_rl.environments.interfaces import EnvironmentReturn
from nemo_rl.experience.rollout_manager import RolloutManager
from torchdata.stateful_dataloader import StatefulDataLoader

prompts_per_step, responses = 16, 4
first_token = 1000
"""A prompt is one token: this, and its row."""


def lengths(prompts: int) -> list[list[int]]:
    """With a heavy tail, and nearer to each other for one prompt."""
    chance = random.Random(7)
    rows = []
    for _ in range(prompts):
        centre = chance.lognormvariate(6.3, 0.9)
        rows.append([max(20, min(8192, int(centre * chance.lognormvariate(0, 0.4)))) for _ in range(responses)])
    return rows


class Engines:
    """`slots` requests at once, first come, first served, all at one pace."""

    def __init__(self, rows: list[list[int]], slots: int = 64, tokens_per_second: float = 500) -> None:
        self._left = {row: list(of_row) for row, of_row in enumerate(rows)}
        self._slots, self._pace = asyncio.Semaphore(slots), tokens_per_second
        self.running = 0

    async def generate_async(self, data: Any, greedy: bool = False) -> AsyncIterator[tuple[int, Any]]:
        prompt = data["input_ids"][0]
        count = self._left[int(prompt[0]) - first_token].pop()
        async with self._slots:
            self.running += 1
            try:
                await asyncio.sleep(count / self._pace)
            finally:
                self.running -= 1
        # Rows of the whole length would only cost memory.
        made = torch.ones(1 + count // 64, dtype=prompt.dtype)
        output = {
            "output_ids": torch.cat([prompt, made]).unsqueeze(0),
            "unpadded_sequence_lengths": torch.tensor([len(prompt) + len(made)]),
            "logprobs": torch.zeros(1, len(prompt) + len(made)),
        }
        yield 0, BatchedDataDict(output)


@ray.remote(num_cpus=0)
class Environment:
    def step(self, messages: list[Any], metadata: list[Any]) -> EnvironmentReturn:
        count = len(messages)
        said = [{"role": "environment", "content": ""}] * count
        rows = [int(one[0]["content"]) for one in messages]
        rewards = torch.tensor([random.random() if row % 4 else 0.0 for row in rows])
        return EnvironmentReturn(said, metadata, [None] * count, rewards, torch.ones(count), [None] * count)


environment: Any = Environment


class Tokenizer:
    """Text is of no account here."""

    def __call__(self, text: str, **_: Any) -> Any:
        return type("Encoded", (), {"input_ids": torch.zeros(1, 0, dtype=torch.long)})

    def decode(self, *_: Any, **__: Any) -> str:
        return "…"


class Trainer:
    """The model's worker: reads what it is to train on, and has no gradients."""

    def __init__(self, data_plane: NoOpDataPlaneClient) -> None:
        self._data_plane = data_plane
        self.steps: list[list[int]] = []
        self.lags: list[int] = []

    def begin_train_step(self, loss_fn: Any) -> None:
        self.steps.append([])

    def train_microbatches_from_meta(self, meta: Any) -> None:
        data = self._data_plane.get_samples(meta.sample_ids, meta.partition_id, ["prompt_ids_for_adv", "advantages"])
        of_step = [int(ids.flatten()[0]) - first_token for ids in data["prompt_ids_for_adv"]]
        assert all(torch.isfinite(one).all() for one in data["advantages"])
        assert all(of_step.count(row) == responses for row in of_step), "groups are whole"
        self.steps[-1] += sorted(set(of_step))
        self.lags += [len(self.steps) - 1 - tag["weight_version"] for tag in meta.tags]

    def finish_train_step(self) -> dict[str, Any]:
        time.sleep(0.2)
        return {}

    def prepare_for_lp_inference(self, keep_train_buffers: bool = False) -> None: ...
    def prepare_for_training(self) -> None: ...


class Weights:
    def sync_weights(self, *, kv_scales: Any = None) -> None: ...
    def shutdown(self) -> None: ...


def config(folder: Path, sampler: dict[str, Any], steps: int, **async_rl: Any) -> MasterConfig:
    """Policy, data and logger have what the controller reads of them; the rest is validated by NeMo-RL."""
    return MasterConfig.model_construct(
        policy={"train_global_batch_size": prompts_per_step * responses},
        loss_fn=ClippedPGLossConfig(
            use_importance_sampling_correction=True, force_on_policy_ratio=True, reference_policy_kl_penalty=0
        ),
        env={},
        data={"shuffle": False, "num_workers": 0},
        grpo=GRPOConfig(
            max_num_steps=steps,
            num_prompts_per_step=prompts_per_step,
            num_generations_per_prompt=responses,
            skip_reference_policy_logprobs_calculation=True,
        ),
        logger={"log_dir": str(folder / "logs"), "monitor_gpus": False}
        | {f"{name}_enabled": False for name in ("wandb", "swanlab", "tensorboard", "mlflow")},
        cluster={"num_nodes": 1, "gpus_per_node": 1},
        checkpointing={
            "enabled": False,
            "checkpoint_dir": str(folder / "checkpoints"),
            "metric_name": None,
            "higher_is_better": True,
            "keep_top_k": None,
            "save_period": 100,
            "save_optimizer": True,
            "checkpoint_must_save_by": None,
        },
        data_plane={"enabled": True, "impl": "transfer_queue"},
        async_rl=AsyncRLConfig(sampler=sampler, min_groups_for_streaming_train=4, **async_rl),
    )


async def run(
    folder: Path, sampler: dict[str, Any], steps: int, epochs: int = 1, dataset: Any = None
) -> tuple[Trainer, float, Any]:
    """
    Trains on `steps` times a batch of prompts, to the end of the data: what was trained, seconds, and the buffer. The
    data set has the rows of one epoch.
    """
    rows = lengths(steps * prompts_per_step // epochs)
    data_plane = NoOpDataPlaneClient()
    data_plane.register_partition(partition_id="rollout_data", fields=[], num_samples=10_000, consumer_tasks=["train"])
    buffer = TQReplayBuffer(data_plane, "rollout_data", pad_value_dict={"token_ids": 0})
    engines, trainer = Engines([of_row * 2 * epochs for of_row in rows]), Trainer(data_plane)
    manager = RolloutManager(
        tokenizer=Tokenizer(),
        task_to_env={"task": environment.remote()},
        num_generations_per_prompt=responses,
        max_seq_len=4096,
        policy_generation=engines,
        tq_buffer=buffer,
    )
    master = config(folder, sampler, steps + 100)
    master.grpo.max_num_epochs = epochs
    estimator = GRPOAdvantageEstimator(AdvEstimatorConfig(), master.loss_fn)
    given = SingleControllerActorArgs(
        gen_handle=engines,
        trainer_handle=trainer,
        env_handles={},
        train_cluster=None,
        inference_cluster=None,
        dp_client=data_plane,
        dataloader=StatefulDataLoader(
            dataset or [datum(row) for row in range(len(rows))], prompts_per_step, collate_fn=rl_collate_fn
        ),
        weight_synchronizer=Weights(),
        advantage_estimator=estimator,
        loss_fn=None,
        rollout_manager=manager,
        tq_buffer=buffer,
        partition_id="rollout_data",
        save_state=_initial_grpo_save_state(),
        last_checkpoint_path=None,
    )
    controller = SingleControllerActor.__ray_metadata__.modified_class(master, given, SetupTimingMetrics())
    began = time.monotonic()
    await controller.run()
    assert engines.running == 0
    return trainer, time.monotonic() - began, buffer


def datum(row: int) -> dict[str, Any]:
    token = torch.tensor([first_token + row])
    return {
        "message_log": [{"role": "user", "content": f"{row}", "token_ids": token}],
        "length": 1,
        "extra_env_info": {},
        "loss_multiplier": 1.0,
        "idx": row,
        "task_name": "task",
    }
