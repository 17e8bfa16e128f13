"""verl's own trainer, TransferQueue, agent loops and rewards, with the sampler of this package and with its own."""

from __future__ import annotations

import contextlib
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

import rollflex
from having import Ran, checkout, installed
from support import Served, root
from tiny_model import make_tiny_model

batch_size, responses, steps = 8, 4, 6
page = (root / "docs" / "adapters" / "verl.md").read_text(encoding="utf-8")
sampler = re.search(r"```text\n(.*?)```", page, re.DOTALL).group(1).split()  # type: ignore[union-attr]
real = (
    "PPOTrainerColocateAsync.fit with its set-up, checkpoints and validation, TransferQueue, AgentLoopWorkerTQ, "
    "RewardLoopWorker, LLMServerManager, FullyAsyncLLMServerClient, GlobalRequestLoadBalancer, "
    "CheckpointEngineManager, log probabilities (bypass mode) and GRPO advantages"
)
stands_in = "the engine (a Ray actor that answers in time by a table of lengths), the worker with the model"

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

    def wait(self, process: subprocess.Popen[bytes], name: str) -> Log:
        try:
            code = process.wait(300)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        output = (self.folder / name / "output.txt").read_text()
        assert code in (0, -signal.SIGKILL), output[-5000:]
        return Log([json.loads(line) for line in (self.folder / name / "log.jsonl").read_text().splitlines()])

    def run(self, name: str, *overrides: str, **job: Any) -> Log:
        return self.wait(self.start(name, *overrides, **job), name)

    def close(self) -> None:
        shutil.rmtree(self._ray, ignore_errors=True)


def version() -> str:
    return installed("verl", "0.9.1")


@pytest.fixture(scope="module")
def jobs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Jobs]:
    version()
    made = Jobs(tmp_path_factory.mktemp("verl"), None)
    yield made
    made.close()


@pytest.fixture(scope="module")
def ours(jobs: Jobs) -> Log:
    return jobs.run("ours", *sampler, "trainer.test_freq=3")


def check(log: Log, first: int = 1) -> None:
    """Every prompt is trained once, or in TransferQueue, or was given up and named."""
    assert log.end["error"] is None
    assert [step["step"] for step in log.steps] == list(range(first, steps + 1))
    assert set(log.trained.values()) == {1}
    assert log.dropped == log.named


def test_it_trains_what_verl_trains_in_less_time(jobs: Jobs, ours: Log, ran: Ran) -> None:
    own = jobs.run("own")
    check(ours)
    check(own)
    assert not ours.dropped and not own.dropped
    assert ours.end["orphans"] == own.end["orphans"] == []
    assert ours.seconds < 0.8 * own.seconds
    assert {step["metrics"]["training/rollflex/long_round"] for step in ours.steps} == {0.0, 1.0}
    assert max(step["metrics"]["training/off_policy/span/max"] for step in ours.steps) <= 5
    # Generation was aborted for each update, and went on.
    assert ours.end["aborted"] > 0 == own.end["aborted"]
    ran(
        "verl", version(), real=real, stands_in=stands_in, steps=steps, prompts=len(ours.submitted),
        accounted=len(ours.trained) + len(ours.end["left"]), seconds=round(ours.seconds, 1),
        own_seconds=round(own.seconds, 1), note=f"{len(own.submitted)} prompts with verl's own sampler",
    )  # fmt: skip


def test_validation_is_beside_the_rounds(ours: Log) -> None:
    assert len(ours.validated) == 2
    # Of its four prompts, one in three is never right.
    assert all(metrics["val-aux/table/accuracy/mean@1"] == 0.75 for metrics in ours.validated)
    assert ours.end["validation_left"] == 0


def test_failed_and_filtered_groups_are_named_and_replaced(jobs: Jobs) -> None:
    fails = {4, 11, 19, 20}
    metric = "+trainer.v1.sampler.sampler_kwargs.filter_groups_metric=accuracy"
    log = jobs.run("failing", *sampler, metric, fails=sorted(fails))
    check(log)
    dropped = log.rows(log.dropped)
    failed = dropped & fails
    assert failed and all(row % 3 == 0 for row in dropped - failed)
    assert not any(row in fails or row % 3 == 0 for row in log.rows(log.trained))
    assert log.total("training/rollout_failure/evicted_samples") == len(failed)
    assert log.total("training/filter_groups/evicted_samples") == len(dropped - failed)
    assert log.end["orphans"] == []


def test_a_job_that_is_killed_goes_on_from_its_checkpoint(jobs: Jobs) -> None:
    """With the reward as verl itself has it (`rm_scores`) as the metric."""
    settings = (
        *sampler,
        "+trainer.v1.sampler.sampler_kwargs.filter_groups_metric=reward",
        f"trainer.default_local_dir={jobs.folder / 'checkpoints'}",
        "trainer.save_freq=3",
    )
    before = jobs.run("killed", *settings, dies_at=5)
    assert not before.end and [step["step"] for step in before.steps] == [1, 2, 3, 4, 5]
    after = jobs.run("resumed", *settings)
    saved = before.until(3)
    # Prompts that the checkpoint has keep their ids; the others are drawn again.
    open_then = saved.submitted.keys() - saved.trained.keys() - saved.named
    drawn = sorted([*saved.submitted.values(), *after.submitted.values()])
    assert drawn == list(range(len(drawn)))
    after.submitted |= {uid: saved.submitted[uid] for uid in open_then}
    check(after, first=4)
    assert open_then and not saved.rows(saved.trained) & after.rows(after.trained)
    # verl saves before it clears what the step was trained on, and nothing clears that later.
    assert {key.split("_")[0] for key in after.end["orphans"]} == before.steps[2]["groups"]


def test_a_server_that_dies_ends_the_job_and_loses_nothing(jobs: Jobs, served: Served) -> None:
    server = f"+trainer.v1.sampler.sampler_kwargs.server={{path:{served.address},reconnect_seconds:0.5}}"
    process = jobs.start("serverless", *sampler, server)
    file = jobs.folder / "serverless" / "log.jsonl"
    while process.poll() is None and not (file.exists() and '"step": 2' in file.read_text()):
        time.sleep(0.05)
    served.kill()
    log = jobs.wait(process, "serverless")
    name, is_connection_error, message = log.end["error"]
    assert is_connection_error, f"{name}: {message}"
    assert 2 <= len(log.steps) < steps
    assert log.submitted.keys() == log.trained.keys() | log.end["left"].keys()


def test_main(tmp_path_factory: pytest.TempPathFactory, ran: Ran) -> None:
    """The same with a checkout of verl, which need not be installed."""
    path = checkout("VERL_PATH", "verl/trainer/ppo/v1")
    for one in ("transferqueue", "tensordict", "ray"):
        installed(one)
    jobs = Jobs(tmp_path_factory.mktemp("main"), path)
    try:
        log = jobs.run("ours", *sampler)
    finally:
        jobs.close()
    check(log)
    assert not log.dropped
    commit = subprocess.run(
        ["git", "-C", str(path), "rev-parse", "--short", "HEAD"], check=True, capture_output=True, text=True
    ).stdout.strip()
    ran(
        "verl main", commit, real=real, stands_in=stands_in, steps=steps, prompts=len(log.submitted),
        accounted=len(log.trained) + len(log.end["left"]), seconds=round(log.seconds, 1),
    )  # fmt: skip
