"""The real scheduler of ROLL with the rollout loop; ``roll_job`` says what stands in."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from having import Ran, checkout, installed
from rollflex.adapters.roll import TailBatchingLoop
from tiny_model import make_tiny_model

steps = 6


@pytest.fixture
def roll(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    path = checkout("ROLL_PATH", "roll/distributed/scheduler/generate_scheduler.py")
    for needed in ("torch", "ray", "tensordict", "transformers", "datasets", "modelscope"):
        installed(needed)
    import ray

    # ROLL writes its logs into the folder that it is started in.
    monkeypatch.chdir(tmp_path)
    sys.path.insert(0, str(path))
    env = {"PYTHONPATH": os.pathsep.join([str(path), str(Path(__file__).parent)]), "OMP_NUM_THREADS": "1"}
    ray.init("local", num_cpus=1, include_dashboard=False, log_to_driver=False, runtime_env={"env_vars": env})
    from roll.distributed.scheduler.transfer_backend import init_transfer_backend

    init_transfer_backend(None)
    yield path
    ray.shutdown()


class Played:
    """What a job has done after some steps."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.trained: list[int] = []
        self.drawn: set[int] = set()
        self.waiting: set[int] = set()
        self.aborted = 0


async def play(model: Path, loop: str, additional: bool, **options: Any) -> Played:
    import roll_job

    job = roll_job.Job(str(model), loop, additional, **options)
    await job.scheduler.initialize()
    found = Played()
    for number in range(1, steps + 1):
        began = time.monotonic()
        found.trained += await job.step(number)
        found.seconds += time.monotonic() - began
        running, found.aborted = await job.state()
        assert running == 0, "it has drained"
    found.drawn = job.drawn()
    if isinstance(job.scheduler.udrl, TailBatchingLoop):
        rollout: Any = job.scheduler.udrl.rollout
        found.waiting = {int(one.body.data.non_tensor_batch["row"][0]) for one in rollout.waiting()}
    await asyncio.wait_for(job.scheduler.shutdown(), 60)
    return found


def test_the_scheduler_trains_or_keeps_every_prompt(roll: Path, tmp_path: Path, ran: Ran) -> None:
    model = make_tiny_model(tmp_path / "model")
    default = "roll.distributed.scheduler.user_defined_rollout_loop.UserDefinedRolloutLoop"
    ours = asyncio.run(play(model, "rollflex.adapters.roll.TailBatchingLoop", True))
    own = asyncio.run(play(model, default, False))
    extra = asyncio.run(play(model, default, True))
    assert len(ours.trained) == len(set(ours.trained)) == len(own.trained)
    assert set(ours.trained) | ours.waiting == ours.drawn and not set(ours.trained) & ours.waiting
    assert set(own.trained) == own.drawn
    commit = subprocess.run(["git", "-C", roll, "rev-parse", "--short", "HEAD"], capture_output=True, text=True)
    versions = ", ".join(f"{name} {installed(name)}" for name in ("torch", "ray", "tensordict", "transformers"))
    ran(
        "ROLL",
        commit.stdout.strip(),
        real="`DynamicSamplingScheduler`, `ReplayBuffer`, `RolloutContext`, `RouterManager` with "
        f"`PromptAffinityRouter`, the default loop's generation and rewards, `DataProto`, collator; {versions}",
        stands_in="the actors that generate (400 tokens a second for each request) and give rewards, the "
        "configuration, `create_sampling_params_for_sglang`",
        steps=steps,
        prompts=len(ours.drawn),
        accounted=len(ours.trained) + len(ours.waiting),
        seconds=ours.seconds,
        own_seconds=own.seconds,
        note=f"{len(ours.waiting)} prompts wait at the end; ROLL's own: the default loop without additional prompts; "
        f"with them it takes {extra.seconds:.1f} s and loses {len(extra.drawn) - len(extra.trained)} of "
        f"{len(extra.drawn)} prompts, the long ones",
    )


def test_the_lossless_tail_trains_each_row_once_in_each_epoch(roll: Path, tmp_path: Path) -> None:
    model = make_tiny_model(tmp_path / "model")
    found = asyncio.run(play(model, "roll_job.LosslessLoop", False, data_rows=16))
    # Two steps are an epoch, and a window.
    assert found.aborted == 0 and not found.waiting
    assert [sorted(found.trained[first : first + 16]) for first in (0, 16, 32)] == [list(range(16))] * 3
