"""The sampler for verl, on a double of its trainer in simulated time, beside what verl does by itself."""

from __future__ import annotations

import importlib
import inspect
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import rollflex
from rollflex.adapters.verl import TailBatchingSampler
from support import Served

from .engines import Engines, lengths
from .verl_double import Queue, ReplayBufferAsync, Sleeper, Trainer

batch_size = 16
Make = Callable[..., Trainer]


class Worlds:
    """Trainers of one test, with the server and the closing that they need."""

    def __init__(self, served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
        self._served, self._monkeypatch = served, monkeypatch
        self._samplers: list[TailBatchingSampler] = []

    def trainer(self, *, rows: list[list[int]] | None = None, size: int = batch_size, **options: Any) -> Trainer:
        """A trainer without a sampler, at the beginning of time."""
        engines = Engines(slots=64)
        self.sleeper = Sleeper(engines)
        queue = Queue()
        self._monkeypatch.setitem(sys.modules, "transfer_queue", queue)
        self._monkeypatch.setattr("rollflex.adapters.verl.time", self.sleeper)
        return Trainer(queue, engines, rows or lengths(600, 4), size, **options)

    def sampled(self, trainer: Trainer, *, threshold: int | None = 5, **kwargs: Any) -> Trainer:
        """The trainer, with the sampler of this package."""
        kwargs = {"server": {"path": self._served.address, "timeout": 20}, **kwargs}
        sampler = TailBatchingSampler(
            trainer_mode="colocate_async",
            trainer_config={"num_warmup_batches": trainer.warmup},
            max_off_policy_threshold=threshold,
            max_off_policy_strategy="drop",
            sampler_kwargs=kwargs,
            refill_fn=trainer.refill,
        )
        self._samplers.append(sampler)
        trainer.sampler = sampler
        return trainer

    def close(self) -> None:
        for one in self._samplers:
            one.close()


@pytest.fixture
def worlds(served: Served, monkeypatch: pytest.MonkeyPatch) -> Iterator[Worlds]:
    made = Worlds(served, monkeypatch)
    yield made
    made.close()


def lost(trainer: Trainer) -> set[int]:
    return set(range(trainer.drawn)) - set(trainer.trained) - trainer.waiting()


def tokens_a_step(trainer: Trainer) -> float:
    return sum(sum(trainer.rows[prompt]) for prompt in trainer.trained) / len(trainer.rollout_seconds)


def test_beside_verl_itself_on_the_same_lengths(worlds: Worlds) -> None:
    steps = 12
    own = worlds.trainer()
    own.sampler = buffer = ReplayBufferAsync(own, worlds.sleeper, threshold=3)
    own.run(steps)
    waits = worlds.trainer(warmup=0)
    waits.sampler = ReplayBufferAsync(waits, worlds.sleeper, threshold=3)
    waits.run(steps)
    ours = worlds.sampled(worlds.trainer())
    ours.run(steps)

    # verl drops the longest prompts for good, and trains on shorter ones than were drawn.
    assert lost(own) == set(buffer.dropped) and len(buffer.dropped) > 0
    assert lost(ours) == set()
    assert max(ours.spans) <= 5
    assert tokens_a_step(own) < 0.95 * tokens_a_step(ours)
    # It is faster than waiting for each batch, and generates nothing twice.
    assert sum(ours.rollout_seconds) < 0.7 * sum(waits.rollout_seconds)
    assert ours.engines.generated <= sum(sum(row) for row in ours.rows[: ours.drawn])
    # What would be too old in the next step is waited for in this one: nothing is left for a long round.
    assert {metrics["training/rollflex/long_round"] for metrics in ours.metrics} == {0.0}


@pytest.mark.parametrize(("warmup", "threshold"), [(0, 3), (0, 8), (1, 3), (1, 5), (1, 8), (2, 4), (2, 8)])
@pytest.mark.parametrize("seed", [1])
def test_nothing_is_older_than_the_threshold(worlds: Worlds, warmup: int, threshold: int, seed: int) -> None:
    trainer = worlds.sampled(worlds.trainer(rows=lengths(600, 4, seed), warmup=warmup), threshold=threshold)
    trainer.run(12)
    assert max(trainer.spans) <= threshold
    assert max(metrics["training/off_policy/span/max"] for metrics in trainer.metrics) == max(trainer.spans)
    assert lost(trainer) == set()
    assert len(trainer.waiting()) <= (warmup + 1) * batch_size


def test_a_round_is_one_update_of_several(worlds: Worlds) -> None:
    """`separate_async` with a `parameter_sync_step` asks for parts of a batch, with weights of one version."""
    trainer = worlds.sampled(worlds.trainer(updates=4), threshold=8)
    trainer.run(10)
    assert lost(trainer) == set() and len(trainer.trained) == 10 * batch_size
    assert len(trainer.metrics) == 40 and max(trainer.spans) <= 8
    assert len(trainer.waiting()) <= 2 * batch_size


def test_a_step_does_not_wait_for_a_straggler(worlds: Worlds) -> None:
    """verl #6090: a loop that drains what is in flight holds new work back until the longest response has ended."""
    rows = [[100] * 4 for _ in range(2000)]
    rows[3] = [8192] * 4
    trainer = worlds.sampled(worlds.trainer(rows=rows), threshold=None)
    trainer.run(6)
    assert max(trainer.rollout_seconds) < 20 < 8192 / 40
    assert 3 not in trainer.trained and 3 in trainer.waiting()
    trainer.run(90)
    assert trainer.trained[3] == 1


def test_failed_groups_are_named_and_replaced(worlds: Worlds, caplog: pytest.LogCaptureFixture) -> None:
    """NeMo-RL #3938, SkyRL #1173: a prompt that fails for good must not leave a hole in a step."""
    trainer = worlds.sampled(worlds.trainer(fails=lambda prompt: prompt % 5 == 0))
    trainer.run(5)
    given_up = sum(metrics["training/rollout_failure/evicted_samples"] for metrics in trainer.metrics)
    assert lost(trainer) == {prompt for prompt in lost(trainer) if prompt % 5 == 0} != set()
    assert given_up == len(lost(trainer)) and all(f"u{prompt}" in caplog.text for prompt in lost(trainer))
    assert not any(prompt % 5 == 0 for prompt in trainer.trained)
    # What it left in the queue is cleared too.
    kept = {int(key[1:].split("_")[0]) for key in trainer.queue.tags["train"]}
    assert kept == trainer.waiting()


@pytest.mark.parametrize("metric", ["score", "reward"])
def test_groups_without_variance_are_replaced(worlds: Worlds, metric: str) -> None:
    alike = {prompt for prompt in range(600) if prompt % 3 == 0}
    trainer = worlds.trainer(rewards=lambda prompt, session: 0.3 if prompt in alike else session * 0.1)
    worlds.sampled(trainer, filter_groups_metric=metric)
    trainer.run(6)
    assert not alike & set(trainer.trained)
    assert lost(trainer) <= alike and lost(trainer) != set()
    assert sum(metrics["training/filter_groups/evicted_samples"] for metrics in trainer.metrics) == len(lost(trainer))


def test_one_response_is_not_without_variance(worlds: Worlds) -> None:
    trainer = worlds.trainer(rows=lengths(200, 1))
    worlds.sampled(trainer, filter_groups_metric="score").run(3)
    assert lost(trainer) == set() and len(trainer.trained) == 3 * batch_size


def test_a_metric_that_is_not_there(worlds: Worlds) -> None:
    with pytest.raises(RuntimeError, match="has no 'accuracy' in its reward_extra_info"):
        worlds.sampled(worlds.trainer(), filter_groups_metric="accuracy").run(1)


def test_evaluation_is_no_part_of_the_rounds(worlds: Worlds) -> None:
    trainer = worlds.sampled(worlds.trainer())
    trainer.run(2)
    session = trainer.sampler._session
    before, waiting = session.seq, trainer.waiting()
    batch = trainer.validate(7)
    assert {key.split("_")[0] for key in batch.keys} == {f"v{index}" for index in range(7)}
    assert len(batch.keys) == 28
    assert (session.seq, trainer.waiting()) == (before, waiting)
    trainer.run(2)
    assert lost(trainer) == set()


def test_evaluation_before_training(worlds: Worlds) -> None:
    trainer = worlds.sampled(worlds.trainer())
    assert len(trainer.validate(3).keys) == 12
    assert trainer.sampler._session is None


def test_resume_from_a_checkpoint(worlds: Worlds) -> None:
    """A new sampler finds in TransferQueue all that it must know: nothing of its own is to be saved."""
    first = worlds.sampled(worlds.trainer())
    first.run(4)
    state = first.checkpoint()
    first.run(2)
    again = worlds.trainer(first=state["drawn"])
    again.resumed(state)
    worlds.sampled(again)
    again.run(8)
    before = {prompt for prompt in range(state["drawn"]) if f"u{prompt}" not in state["tags"]["train"]}
    assert not before & set(again.trained)
    assert set(range(again.drawn)) == before | set(again.trained) | again.waiting()


def test_the_server_is_gone(worlds: Worlds, served: Served, short: Any) -> None:
    trainer = worlds.sampled(
        worlds.trainer(),
        server={"path": served.address, "timeout": 5, "reconnect_seconds": 0.5},
    )
    # In the next step the engines have to be waited for.
    trainer.run(3)
    prompts = trainer.waiting()
    worlds.sleeper.at_sleep = served.kill
    began = time.monotonic()
    with pytest.raises(rollflex.RollflexError) as raised:
        trainer.run(1)
    assert isinstance(raised.value, ConnectionError)
    assert time.monotonic() - began < 100
    # The prompts are where the framework has them, with those of the step that did not come about.
    assert trainer.waiting() == prompts | set(range(trainer.drawn - batch_size, trainer.drawn))
    served.start()
    worlds.sleeper.at_sleep = lambda: None
    state = trainer.checkpoint()
    again = worlds.trainer(first=state["drawn"])
    again.resumed(state)
    worlds.sampled(again).run(2)
    assert len(again.trained) == 2 * batch_size


def test_hybrid_switch(worlds: Worlds) -> None:
    trainer = worlds.sampled(worlds.trainer())
    trainer.refill(20)
    sampler = trainer.sampler
    assert sampler.get_sampleable_count(1, "train") == 0
    uids, metrics = sampler.wait_for_sampleable(1, "train", 5)
    assert len(uids) >= 5 and metrics == {}
    assert sampler.get_sampleable_count(1, "train") == len(uids)
    assert sampler.poll_interval == 0.5


def test_what_it_cannot_do_is_refused(worlds: Worlds) -> None:
    def make(**changes: Any) -> TailBatchingSampler:
        options: dict[str, Any] = {
            "trainer_mode": "separate_async",
            "trainer_config": {},
            "max_off_policy_threshold": 8,
            "max_off_policy_strategy": "wait",
            "sampler_kwargs": {},
            "refill_fn": len,
        }
        return TailBatchingSampler(**{**options, **changes})

    make().close()
    with pytest.raises(ValueError, match="use colocate_async or separate_async"):
        make(trainer_mode="sync")
    with pytest.raises(ValueError, match="expected at least 3 with num_warmup_batches 1, or null, got 2"):
        make(max_off_policy_threshold=2)
    with pytest.raises(ValueError, match="expected at least 5 with num_warmup_batches 3"):
        make(max_off_policy_threshold=4, trainer_config={"num_warmup_batches": 3})
    with pytest.raises(ValueError, match="expected at least 4 with num_warmup_batches 1.5"):
        make(max_off_policy_threshold=3, trainer_config={"num_warmup_batches": 1.5})
    with pytest.raises(TypeError, match="max_wait"):
        make(sampler_kwargs={"max_wait": 1})


def test_batches_of_another_size(worlds: Worlds) -> None:
    trainer = worlds.sampled(worlds.trainer())
    trainer.run(1)
    with pytest.raises(ValueError, match="rounds have 16 prompts; expected the same batch_size, got 8"):
        trainer.sampler.sample(global_steps=2, partition_id="train", batch_size=8)


def test_verl_itself_takes_it() -> None:
    """With verl installed: it is loaded as verl loads it, and takes what verl passes."""
    trainer_base = pytest.importorskip("verl.trainer.ppo.v1.trainer_base")
    load = importlib.import_module("verl.utils.import_utils").load_extern_type
    assert load("pkg://rollflex.adapters.verl", "TailBatchingSampler") is TailBatchingSampler
    source = inspect.getsource(trainer_base.PPOTrainer._build_replay_buffer)
    for name in inspect.signature(TailBatchingSampler).parameters:
        assert f"{name}=" in source
