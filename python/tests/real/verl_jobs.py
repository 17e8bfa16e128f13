"""Jobs of verl's trainer for the tests: their data and settings, and what they have written (`verl_driver`)."""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import rollflex
from tiny_model import make_tiny_model

batch_size, responses, steps = 8, 4, 6

reward = """
def compute_score(data_source, solution_str, ground_truth, extra_info=None, **_):
    right = int(ground_truth) % 3 != 0 and solution_str[0] in "ab"
    return {"score": float(right), "accuracy": float(right)}
"""


def lengths(prompts: int, seed: int = 7) -> list[list[int]]:
    """Tokens of each response: a heavy tail that differs between prompts more than inside one."""
    rng = random.Random(seed)
    centres = [rng.lognormvariate(5, 0.9) for _ in range(prompts)]
    return [[max(10, min(2000, int(one * rng.lognormvariate(0, 0.3)))) for _ in range(responses)] for one in centres]


def make_rows(file: Path, indices: range) -> None:
    import pandas

    rows = [
        {
            "data_source": "table",
            "prompt": [{"role": "user", "content": f"{index}#"}],
            "reward_model": {"style": "rule", "ground_truth": str(index)},
            "extra_info": {"index": index},
        }
        for index in indices
    ]
    pandas.DataFrame(rows).to_parquet(file)


class Log:
    """What a job has written."""

    def __init__(self, lines: list[dict[str, Any]]) -> None:
        self._lines = lines
        self.submitted: dict[str, int] = {}
        """The rows of the data by the ids of their prompts."""
        for line in lines:
            self.submitted.update(line.get("submitted", {}))
        self.steps: list[dict[str, Any]] = [line for line in lines if "step" in line]
        self.warnings: list[str] = [line["warning"] for line in lines if "warning" in line]
        self.validated: list[dict[str, float]] = [line["validated"] for line in lines if "validated" in line]
        self.end: dict[str, Any] = lines[-1] if "left" in lines[-1] else {}
        self.trained: Counter[str] = Counter()
        for step in self.steps:
            groups = Counter(key.split("_")[0] for key in step["keys"])
            assert set(groups.values()) == {responses} and len(groups) == batch_size, "groups are whole"
            step["groups"] = set(groups)
            self.trained.update(groups.keys())

    @property
    def dropped(self) -> set[str]:
        return set(self.submitted) - set(self.trained) - set(self.end["left"])

    def until(self, step: int) -> Log:
        """What was written by then."""
        return Log(self._lines[: 1 + next(i for i, line in enumerate(self._lines) if line.get("step") == step)])

    @property
    def named(self) -> set[str]:
        """Prompts that the log says were given up."""
        return {uid for line in self.warnings for uid in self.submitted if uid in line}

    def rows(self, uids: Iterable[str]) -> set[int]:
        return {self.submitted[uid] for uid in uids}

    @property
    def seconds(self) -> float:
        return float(sum(step["seconds"] for step in self.steps))

    def total(self, metric: str) -> float:
        return float(sum(step["metrics"].get(metric, 0) for step in self.steps))


class Jobs:
    """Starts jobs of the trainer, each in a process with a Ray of its own."""

    def __init__(self, folder: Path, checkout: Path | None) -> None:
        self.folder, self._checkout = folder, checkout
        self._ray = Path(tempfile.mkdtemp(prefix="rv", dir="/tmp"))
        make_tiny_model(folder / "model")
        (folder / "reward.py").write_text(reward)
        make_rows(folder / "train.parquet", range(200))
        make_rows(folder / "val.parquet", range(200, 204))

    def start(self, name: str, *overrides: str, **job: Any) -> subprocess.Popen[bytes]:
        folder = self.folder / name
        folder.mkdir(exist_ok=True)
        settings = {
            "trainer.v1.trainer_mode": "colocate_async",
            "trainer.v1.colocate_async.num_warmup_batches": 0,
            "trainer.v1.sampler.max_off_policy_threshold": 5,
            "trainer.device": "cpu",
            "trainer.n_gpus_per_node": 1,
            "trainer.logger": "[]",
            "trainer.total_training_steps": steps,
            "trainer.val_before_train": False,
            "trainer.default_local_dir": self.folder / f"{name}-checkpoints",
            "data.train_files": self.folder / "train.parquet",
            "data.val_files": self.folder / "val.parquet",
            "data.train_batch_size": batch_size,
            "data.max_prompt_length": 16,
            "data.max_response_length": 2000,
            "data.shuffle": False,
            "data.dataloader_num_workers": 0,
            "algorithm.adv_estimator": "grpo",
            "algorithm.rollout_correction.bypass_mode": True,
            "actor_rollout_ref.model.path": self.folder / "model",
            "actor_rollout_ref.actor.ppo_mini_batch_size": batch_size,
            "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu": 1,
            "actor_rollout_ref.rollout.name": "vllm",
            "actor_rollout_ref.rollout.n": responses,
            "actor_rollout_ref.rollout.tensor_model_parallel_size": 1,
            "actor_rollout_ref.rollout.agent.num_workers": 1,
            "reward.num_workers": 1,
            "reward.custom_reward_function.path": self.folder / "reward.py",
            "transfer_queue.enable": True,
            "transfer_queue.backend.SimpleStorage.num_data_storage_units": 1,
        }
        job = {
            "overrides": [f"{key}={value}" for key, value in settings.items()],
            "lengths": lengths(204),
            "fails": [],
            "slots": 48,
            "tokens_per_second": 150,
            "poll_interval": 0.1,
            "ray": str(self._ray),
            **job,
        }
        (folder / "job.json").write_text(json.dumps(job))
        paths = [self._checkout, Path(rollflex.__file__).parents[1], os.environ.get("PYTHONPATH")]
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(str(one) for one in paths if one),
            "TRANSFER_QUEUE_ENABLE": "1",
            "OMP_NUM_THREADS": "1",
            "HF_HUB_OFFLINE": "1",
            "HF_HOME": str(self.folder / "cache"),
            "RAY_USAGE_STATS_ENABLED": "0",
            "RAY_memory_monitor_refresh_ms": "0",
        }
        driver = Path(__file__).parent / "verl_driver.py"
        with (folder / "output.txt").open("w") as output:
            return subprocess.Popen(
                [sys.executable, str(driver), str(folder), *overrides],
                env=environment, stdout=output, stderr=subprocess.STDOUT, start_new_session=True,
            )  # fmt: skip

    def wait(self, process: subprocess.Popen[bytes], name: str, code: int = 0) -> Log:
        try:
            ended = process.wait(600)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        output = (self.folder / name / "output.txt").read_text()
        assert ended == code, output[-5000:]
        return Log([json.loads(line) for line in (self.folder / name / "log.jsonl").read_text().splitlines()])

    def run(self, name: str, *overrides: str, **job: Any) -> Log:
        return self.wait(self.start(name, *overrides, **job), name, -signal.SIGKILL if "dies_at" in job else 0)

    def close(self) -> None:
        shutil.rmtree(self._ray, ignore_errors=True)
