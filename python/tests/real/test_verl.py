"""verl's own trainer, TransferQueue, agent loops and rewards, with the sampler of this package and with its own."""

from __future__ import annotations

import re
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from statistics import fmean
from typing import Any

import pytest

from having import Ran, checkout, installed
from real.verl_jobs import Jobs, Log, batch_size, lengths, steps
from support import Served, root

page = (root / "docs" / "adapters" / "verl.md").read_text(encoding="utf-8")
sampler = re.search(r"```text\n(.*?)```", page, re.DOTALL).group(1).split()  # type: ignore[union-attr]
ran_for_real = (
    "PPOTrainerColocateAsync.fit with its set-up, checkpoints and validation, TransferQueue, AgentLoopWorkerTQ, "
    "RewardLoopWorker, LLMServerManager, FullyAsyncLLMServerClient, GlobalRequestLoadBalancer, "
    "CheckpointEngineManager, log probabilities (bypass mode) and GRPO advantages"
)
stands_in = "the engine (a Ray actor that answers in time by a table of lengths), the worker with the model"


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
        "verl", version(), real=ran_for_real, stands_in=stands_in, steps=steps, prompts=len(ours.submitted),
        accounted=len(ours.trained) + len(ours.end["left"]), seconds=round(ours.seconds, 1),
        own_seconds=round(own.seconds, 1), note=f"{len(own.submitted)} prompts with verl's own sampler",
    )  # fmt: skip


def lossless(jobs: Jobs, name: str, **job: Any) -> Log:
    """Three epochs of 16 rows, two steps each."""
    settings = page.split("## The lossless tail")[1].split("```text\n")[1].split("```")[0].split()
    return jobs.run(
        name, *settings, "data.shuffle=True", "data.seed=5", "data.train_max_samples=16", "trainer.save_freq=3", **job
    )


def test_the_lossless_tail_in_the_synchronous_trainer(jobs: Jobs) -> None:
    log = lossless(jobs, "lossless")
    assert log.end["error"] is None and not log.end["left"]
    rounds = [log.rows(step["groups"]) for step in log.steps]
    assert len(rounds) == steps and set(log.trained.values()) == {1}
    epochs = [rounds[first] | rounds[first + 1] for first in (0, 2, 4)]
    assert len(epochs[0]) == 2 * batch_size and epochs == [epochs[0]] * 3
    means = [sum(sum(lengths(204)[row]) for row in one) for one in rounds]
    assert means[4] > 2 * means[5], "long rows are together in the third epoch, when all lengths are known"

    before = lossless(jobs, "lossless-killed", dies_at=5)
    assert before.steps[-1]["step"] == 5
    again = lossless(jobs, "lossless-killed")
    # It goes on from the checkpoint of step 3, in the middle of an epoch.
    assert [step["step"] for step in again.steps[5:]] == [4, 5, 6]
    assert [again.rows(step["groups"]) for step in again.steps[5:]] == rounds[3:]


def selecting(jobs: Jobs, name: str, *more: str, count: int = 12, **job: Any) -> Log:
    settings = page.split("## Prompts worth their tokens")[1].split("```text\n")[1].split("```")[0].split()
    return jobs.run(
        name, *settings, "+data.rollflex.settings.threshold=1.5", "+data.rollflex.settings.domainFloor=0", *more,
        "data.train_max_samples=24", f"trainer.total_training_steps={count}", "trainer.total_epochs=100",
        "trainer.save_freq=4", lengths=[[100, 120, 90, 110]] * 204, tokens_per_second=600, **job,
    )  # fmt: skip


def test_rows_that_teach_nothing_are_passed_over(jobs: Jobs) -> None:
    """One row in three is never right. Those that were rolled out even so are filtered, and replaced."""
    log = selecting(jobs, "selecting")
    assert log.end["error"] is None and not log.end["left"] and not log.end["orphans"]
    assert [step["step"] for step in log.steps] == list(range(1, 13))
    assert not any(row % 3 == 0 for row in log.rows(log.trained))
    counts = Counter(log.submitted.values())
    never, sometimes = (fmean(counts[row] for row in range(24) if (row % 3 == 0) is it) for it in (True, False))
    assert never < 0.6 * sometimes and min(counts[row] for row in range(24)) > 0
    metrics = log.steps[-1]["metrics"]
    assert 0 < metrics["rollflex/passed"] < metrics["rollflex/offered"] - len(log.submitted) + 1
    assert log.total("training/filter_groups/evicted_samples") > 0

    assert selecting(jobs, "selecting-killed", dies_at=6).steps[-1]["step"] == 6
    again = selecting(jobs, "selecting-killed").steps[6:]
    assert [step["step"] for step in again] == list(range(5, 13))


def test_prompts_are_selected_in_an_asynchronous_mode_too(jobs: Jobs) -> None:
    more = (
        "trainer.v1.trainer_mode=colocate_async",
        "trainer.v1.sampler.custom_sampler.name=PromptSelectionSamplerAsync",
    )
    log = selecting(jobs, "selecting-async", *more)
    assert log.end["error"] is None and not log.end["orphans"]
    counts = Counter(log.submitted.values())
    never, sometimes = (fmean(counts[row] for row in range(24) if (row % 3 == 0) is it) for it in (True, False))
    assert never < 0.8 * sometimes and log.steps[-1]["metrics"]["rollflex/passed"] > 0


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
        "verl main", commit, real=ran_for_real, stands_in=stands_in, steps=steps, prompts=len(log.submitted),
        accounted=len(log.trained) + len(log.end["left"]),
    )  # fmt: skip
