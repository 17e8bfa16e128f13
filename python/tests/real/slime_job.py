"""
A job of slime without a GPU, as a program: `python slime_job.py FOLDER ROLLOUT… -- ARGUMENT…` generates these rollouts,
after the checkpoint before the first of them, and saves after the last. `FOLDER/log.jsonl` gets a line for each.

Of slime everything is real: the parsers and checks of its arguments, the `RolloutManager` with its engine actors, the
router, the data source, rewards, and the schedule of micro-batches. An accelerator of the CPU, which slime's registry
takes, and what only Megatron's parser defines are from here.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

here = Path(__file__).resolve()


def on_a_cpu() -> None:
    """Of each process of Ray: slime asks for the number of its device, and knows GPUs only."""
    import torch
    from slime.utils import accelerator
    from slime.utils.accelerator.torch_accelerator import TorchAccelerator

    class Cpu(TorchAccelerator):
        name = device_type = "cpu"
        communication_backend_name = "gloo"

        def _module(self) -> Any:
            return torch.cpu

    accelerator.register_accelerator("cpu", Cpu, lambda: True)


def arguments(given: list[str]) -> Any:
    """As `slime.utils.arguments.parse_args`, without Megatron."""
    from slime.backends.sglang_utils.arguments import sglang_parse_args, validate_args
    from slime.utils.arguments import _pre_parse_mode, get_slime_extra_args_provider, slime_validate_args

    sys.argv = [sys.argv[0], *given]
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1234)
    parser.add_argument("--fp16", action="store_true")
    get_slime_extra_args_provider()(parser)
    args, _ = parser.parse_known_args(given)
    for more in (_pre_parse_mode(), sglang_parse_args()):
        vars(args).update(vars(more))
    slime_validate_args(args)
    validate_args(args)
    return args


def main(folder: Path, rollouts: list[int], given: list[str]) -> None:
    on_a_cpu()
    import ray
    from slime.ray.rollout import RolloutManager
    from transformers import AutoTokenizer

    args = arguments(given)
    tokenizer = AutoTokenizer.from_pretrained(args.hf_checkpoint)
    parallel = {"dp_size": 2, "cp_size": 1, "vpp_size": 1, "microbatch_group_size_per_vp_stage": 1}
    paths = [str(here.parent), str(here.parents[1]), str(here.parents[2] / "src"), os.environ["SLIME_PATH"]]
    env = {"PYTHONPATH": os.pathsep.join(paths), "OMP_NUM_THREADS": "1"}
    hook = "slime_job.on_a_cpu"
    ray.init(
        "local", num_cpus=4, include_dashboard=False, runtime_env={"env_vars": env, "worker_process_setup_hook": hook}
    )
    manager: Any = RolloutManager.options(num_cpus=1, num_gpus=0).remote(args, None)
    ray.get(manager.set_train_parallel_config.remote(parallel))
    if rollouts[0] > 0:
        ray.get(manager.load.remote(rollouts[0] - 1))
    engines = ray.get(manager.get_updatable_engines_and_lock.remote())[0]
    for rollout_id in rollouts:
        began = time.monotonic()
        boxes = ray.get(manager.generate.remote(rollout_id))
        seconds = time.monotonic() - began
        ranks = [ray.get(box.inner) for box in boxes]
        update(ray, engines, rollout_id + 1)
        write(folder, rollout=rollout_id, seconds=seconds, **summary(ranks, tokenizer))
    ray.get(manager.save.remote(rollouts[-1]))
    # Megatron's save writes it; without it slime begins anew.
    (folder / "latest_checkpointed_iteration.txt").write_text(str(rollouts[-1]))
    write(folder, saved=rollouts[-1], **saved(folder / "rollout", rollouts[-1]))
    ray.get(manager.dispose.remote())
    ray.shutdown()


def update(ray: Any, engines: list[Any], version: int) -> None:
    """New weights, by slime's engine actors."""
    for ask in (
        lambda one: one.pause_generation.remote(),
        lambda one: one.flush_cache.remote(),
        lambda one: one.update_weights_from_disk.remote(model_path="mock-model", weight_version=str(version)),
        lambda one: one.continue_generation.remote(),
    ):
        ray.get([ask(one) for one in engines])


def summary(ranks: list[dict[str, Any]], tokenizer: Any) -> dict[str, Any]:
    """What the ranks of data parallelism get: prompts, samples, and the schedule."""
    prompts, lengths = [], []
    for rank in ranks:
        for tokens, length in zip(rank["tokens"], rank["response_lengths"], strict=True):
            assert len(tokens) > length > 0
            prompts.append(tokenizer.decode(tokens[:-length]))
            lengths.append(length)
        micro_batches = rank["micro_batch_indices"]
        assert sorted(one for batch in micro_batches for one in batch) == list(range(len(rank["tokens"])))
        assert rank["num_microbatches"] == ranks[0]["num_microbatches"]
    samples = [index for rank in ranks for index in rank["sample_indices"]]
    rewards = [reward for rank in ranks for reward in rank["rewards"]]
    return {"prompts": prompts, "samples": samples, "lengths": lengths, "mean_reward": sum(rewards) / len(rewards)}


def saved(folder: Path, rollout_id: int) -> dict[str, Any]:
    """What a checkpoint has: how many prompts were drawn, and the rows of those that wait, in the adapter's file."""
    import torch

    drawn = torch.load(folder / f"global_dataset_state_dict_{rollout_id}.pt")["sample_offset"]
    ours = folder / f"rollflex_state_{rollout_id}.pt"
    if not ours.exists():
        return {"drawn": drawn, "waiting": []}
    state = torch.load(ours, weights_only=False)
    if "order" in state:
        known = state["order"]["snapshot"]["state"]["memory"]["prompts"]
        passes = [int(one["promptId"].removeprefix("row-")) for one in known if one["passes"] > 0]
        return {"drawn": state["order"]["drawn"], "passed": state["order"]["passed"], "passed_last": passes}
    queued = [int(prompt.removeprefix("group-")) for prompt in state["checkpoint"]["bodies"]]
    return {"drawn": drawn, "waiting": queued + [group[0].group_index for group in state["buffer"]]}


def write(folder: Path, **line: Any) -> None:
    with (folder / "log.jsonl").open("a") as log:
        log.write(json.dumps(line) + "\n")


if __name__ == "__main__":
    between = sys.argv.index("--")
    main(Path(sys.argv[1]), [int(one) for one in sys.argv[2:between]], sys.argv[between + 1 :])
