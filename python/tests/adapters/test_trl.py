"""The rollout worker for TRL, in a double of its asynchronous trainer."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from rollflex.adapters.trl import TailBatchingWorker

from . import trl_double
from .trl_double import Talker, Tokenizer, Trainer, config

rows = [{"prompt": f"p{number}", "answer": number} for number in range(1000)]


@pytest.fixture(autouse=True)
def trl(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    trl_double.install(monkeypatch)
    yield
    assert "rollflex-trl" not in {one.name for one in threading.enumerate()}


def lengths(text: str, index: int) -> int:
    """Mostly short; one prompt in ten is ten times as long."""
    rng = random.Random(f"{text}/{index}")
    return rng.randint(5, 20) * (10 if random.Random(text).random() < 0.1 else 1)


def length_of(prompts: list[Any], completions: list[Any], **columns: Any) -> list[float]:
    return [float(len(one)) for one in completions]


def job(
    engine: Callable[[str, int], int] = lengths,
    *,
    args: Any = None,
    dataset: Any = rows,
    reward_funcs: Any = length_of,
    train_seconds: float = 0.005,
    pace: float = 2000.0,
    **options: Any,
) -> Trainer:
    args = args or config()
    engines = [Talker(f"engine-{number}", engine, tokens_per_second=pace) for number in range(2)]
    worker = TailBatchingWorker(
        args, dataset=dataset, reward_funcs=reward_funcs, tokenizer=Tokenizer(), engines=engines, **options
    )
    return Trainer(args, worker, engines, train_seconds)


def test_the_trainer_gets_whole_groups_as_it_has_them() -> None:
    one = job()
    one.train(8)
    samples = [sample for step in one.steps for sample in step]
    assert len(samples) == 8 * 16
    assert set(Counter(sample.group_id for sample in samples).values()) == {4}
    for sample in samples:
        said = "".join(map(chr, sample.input_ids))
        prompt = sample.prompt[0]["content"]
        assert sample.prompt == [{"role": "user", "content": f"p{sample.group_id}"}]
        assert said == prompt + sample.completion[0]["content"]
        new = len(said) - len(prompt)
        assert sample.completion_mask == [0] * len(prompt) + [1] * new
        assert sample.old_log_probs == [0.0] * len(prompt) + [-0.5] * new
        assert sample.metrics["reward"] == sample.metrics["rewards/length_of"] == new
        assert sample.enqueued_at is not None
    by_group: dict[int, list[Any]] = {}
    for sample in samples:
        by_group.setdefault(sample.group_id, []).append(sample)
    for group in by_group.values():
        assert abs(sum(sample.advantage for sample in group)) < 1e-6
        best = max(group, key=lambda sample: sample.metrics["reward"])
        assert best.advantage == max(sample.advantage for sample in group)
    seeds = [asked["seed"] for engine in one.engines for asked in engine.asked]
    assert len(set(seeds)) == len(seeds)
    assert one.engines[0].asked[0]["max_tokens"] == 64


@pytest.mark.parametrize("rounds_ahead", [0, 1, 2])
@pytest.mark.parametrize("train_seconds", [0.0, 0.05])
@pytest.mark.parametrize("changed", [{}, {"weight_sync_steps": 2}, {"gradient_accumulation_steps": 1}])
def test_nothing_is_too_old_for_the_trainer_and_the_buffer_is_bounded(
    rounds_ahead: int, train_seconds: float, changed: dict[str, int]
) -> None:
    one = job(args=config(max_staleness=rounds_ahead + 2, **changed), train_seconds=train_seconds, rounds_ahead=rounds_ahead)
    one.train(6)
    assert one.dropped == []
    assert one.buffered <= one.worker.rollout_buffer.maxsize
    assert one.worker.rollout_buffer.maxsize == (rounds_ahead + 1) * 4 * 4 * changed.get("gradient_accumulation_steps", 4) / 4
