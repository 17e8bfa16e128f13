"""The real single controller of NeMo-RL with the sampler; ``nemo_rl_job`` says what stands in."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from having import Ran, checkout, installed

steps = 8
ours = {"name": "custom", "target": "rollflex.adapters.nemo_rl:TailBatchingSampler", "max_staleness_versions": 6}
own = {"name": "in_order", "max_lookahead_versions": 1}


@pytest.fixture(scope="module")
def nemo_rl() -> Iterator[Path]:
    path = checkout("NEMO_RL_PATH", "nemo_rl/algorithms/single_controller.py")
    for needed in ("torch", "ray", "tensordict", "torchdata"):
        installed(needed)
    import ray

    sys.path.insert(0, str(path))
    env = {"PYTHONPATH": os.pathsep.join([str(path), str(Path(__file__).parent)]), "OMP_NUM_THREADS": "1"}
    ray.init("local", num_cpus=1, include_dashboard=False, log_to_driver=False, runtime_env={"env_vars": env})
    yield path
    ray.shutdown()


def test_the_controller_trains_every_prompt_once_within_the_bound(nemo_rl: Path, tmp_path: Path, ran: Ran) -> None:
    import nemo_rl_job

    trainer, seconds, buffer = asyncio.run(nemo_rl_job.run(tmp_path, ours, steps))
    beside, own_seconds, _ = asyncio.run(nemo_rl_job.run(tmp_path, own, steps))
    prompts = steps * nemo_rl_job.prompts_per_step
    for one in (trainer, beside):
        assert [len(of_step) for of_step in one.steps] == [nemo_rl_job.prompts_per_step] * steps
        assert sorted(row for of_step in one.steps for row in of_step) == list(range(prompts))
    assert len(buffer) == 0
    assert max(trainer.lags) <= ours["max_staleness_versions"]
    commit = subprocess.run(["git", "-C", nemo_rl, "rev-parse", "--short", "HEAD"], capture_output=True, text=True)
    versions = ", ".join(f"{name} {installed(name)}" for name in ("torch", "ray", "tensordict"))
    ran(
        "NeMo-RL",
        commit.stdout.strip(),
        real="`SingleControllerActor.run` with its pumps, `create_sampler`, checks of the settings, "
        f"`TQReplayBuffer`, `RolloutManager`, advantages, the data plane in memory; {versions}",
        stands_in="engines (64 slots, 500 tokens a second each), environment, the worker of the model (0.2 s a step)",
        steps=len(trainer.steps),
        prompts=prompts,
        accounted=sum(map(len, trainer.steps)),
        seconds=seconds,
        own_seconds=own_seconds,
        note=f"at most {max(trainer.lags)} versions behind, of 6 allowed; NeMo-RL's own: `in_order`, 1 ahead",
    )


def ordered(tmp_path: Path, module: str, rows: int) -> Any:
    """NeMo-RL's data set of rows, with an order."""
    import nemo_rl_job
    from nemo_rl.data.datasets import AllTaskProcessedDataset, load_response_dataset

    path = tmp_path / "rows.jsonl"
    path.write_text("".join(f'{{"input": "{row}", "output": ""}}\n' for row in range(rows)))
    made = load_response_dataset(
        {
            "dataset_name": f"{module}.ResponseDataset",
            "data_path": str(path),
            "input_key": "input",
            "output_key": "output",
        }
    )
    # In place of a tokenizer.
    made.processor._given = lambda *given: nemo_rl_job.datum(given[-1])
    dataset = AllTaskProcessedDataset(made.dataset, None, None, {made.task_name: (made.task_spec, made.processor)})
    dataset._bos_checked = True
    return dataset


def test_composed_rounds_train_each_row_once_in_each_epoch(nemo_rl: Path, tmp_path: Path) -> None:
    import nemo_rl_job

    rows, epochs = 64, 3
    steps = rows * epochs // nemo_rl_job.prompts_per_step
    sampler = {
        "name": "custom",
        "target": "rollflex.adapters.nemo_rl_lossless:LosslessTailSampler",
        "responses_per_prompt": nemo_rl_job.responses,
        "settings": {"windowRounds": 4},
        "state_dir": str(tmp_path / "states"),
    }
    dataset = ordered(tmp_path, "rollflex.adapters.nemo_rl_lossless", rows)
    trainer, _, _ = asyncio.run(nemo_rl_job.run(tmp_path, sampler, steps, epochs, dataset))
    trained = [row for of_step in trainer.steps for row in of_step]
    for epoch in range(epochs):
        assert sorted(trained[epoch * rows : (epoch + 1) * rows]) == list(range(rows))
    assert max(trainer.lags) == 0
    longest = [max(max(of_row) for of_row in (nemo_rl_job.lengths(rows)[row] for row in one)) for one in trainer.steps]
    assert sum(longest[-4:]) < sum(longest[:4]), "long ones are together, once they are known"


def test_rows_that_teach_nothing_are_passed_over(nemo_rl: Path, tmp_path: Path) -> None:
    """The rewards of one row in four are equal."""
    import nemo_rl_job

    rows, epochs = 64, 5
    steps = rows * epochs // nemo_rl_job.prompts_per_step
    sampler = {
        "name": "custom",
        "target": "rollflex.adapters.nemo_rl_selection:PromptSelectionSampler",
        "responses_per_prompt": nemo_rl_job.responses,
        "settings": {"rewards": "real", "lengthExponent": 0, "threshold": 1.5, "domainFloor": 0},
        "state_dir": str(tmp_path / "states"),
    }
    dataset = ordered(tmp_path, "rollflex.adapters.nemo_rl_selection", rows)
    # A row that teaches comes more often than once in each epoch of the trainer.
    trainer, _, _ = asyncio.run(nemo_rl_job.run(tmp_path, sampler, steps, epochs, dataset))
    assert [len(of_step) for of_step in trainer.steps] == [nemo_rl_job.prompts_per_step] * steps
    counts = Counter(row for of_step in trainer.steps for row in of_step)
    equal, others = (fmean(counts[row] for row in range(rows) if (row % 4 == 0) is it) for it in (True, False))
    assert equal < 0.7 * others and len(counts) == rows and max(trainer.lags) == 0


def test_a_buffer_that_is_too_small_is_refused_by_nemo_rl(nemo_rl: Path, tmp_path: Path) -> None:
    import nemo_rl_job
    from nemo_rl.algorithms.async_utils.staleness_sampler import create_sampler
    from nemo_rl.algorithms.single_controller_utils.config import (
        validate_sampler_buffer_capacity,
        validate_single_controller_config,
    )

    master: Any = nemo_rl_job.config(tmp_path, ours, steps, max_buffered_rollouts=62)
    validate_single_controller_config(master)
    sampler = create_sampler(None, master.async_rl.sampler)
    needed = sampler.required_buffer_capacity(master.grpo.num_prompts_per_step)
    assert needed == 63, "as the page says"
    with pytest.raises(ValueError, match="max_buffered_rollouts"):
        validate_sampler_buffer_capacity(master.async_rl, required_capacity=needed, sampler_name="TailBatchingSampler")
