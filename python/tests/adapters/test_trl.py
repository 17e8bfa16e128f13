"""The rollout worker for TRL, in a double of its asynchronous trainer."""

from __future__ import annotations

import math
import queue
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from rollflex.adapters.trl import TailBatchingWorker
from rollflex.rollout import GenerationFailed
from support import root

from . import trl_double
from .trl_double import RolloutSample, Talker, Tokenizer, Trainer, config

rows = [{"prompt": f"p{number}", "answer": number} for number in range(1000)]


@pytest.fixture(autouse=True)
def trl(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    trl_double.install(monkeypatch)
    yield
    assert "rollflex-trl" not in {one.name for one in threading.enumerate()}


def lengths(text: str, index: int) -> int:
    """Mostly short; one prompt in ten is ten times as long."""
    short = random.Random(f"{text}/{index}").randint(5, 20)
    return short * (10 if random.Random(text).random() < 0.1 else 1)


def length_of(completions: list[str], **columns: Any) -> list[float]:
    assert columns["prompts"] == [f"p{number}" for number in columns["answer"]]
    return [float(len(one)) for one in completions]


def job(
    lengths: Callable[[str, int], int] = lengths,
    *,
    args: Any = None,
    dataset: Any = rows,
    reward_funcs: Any = length_of,
    train_seconds: float = 0.005,
    tokens_per_second: float = 5000.0,
    **options: Any,
) -> Trainer:
    args = args or config()
    engines = [Talker(f"engine-{number}", lengths, tokens_per_second) for number in range(2)]
    quick = {"send_interval_seconds": 0.005, **options.pop("options", {})}
    worker = TailBatchingWorker(
        args,
        dataset=dataset,
        reward_funcs=reward_funcs,
        tokenizer=Tokenizer(),
        engines=engines,
        options=quick,
        **options,
    )
    return Trainer(args, worker, engines, train_seconds)


def groups_of(one: Trainer) -> dict[int, list[RolloutSample]]:
    found: dict[int, list[RolloutSample]] = {}
    for step in one.steps:
        for sample in step:
            found.setdefault(sample.group_id, []).append(sample)
    return found


def test_the_trainer_gets_whole_groups_as_it_has_them() -> None:
    one = job()
    one.train(4)
    groups = groups_of(one)
    assert sum(map(len, groups.values())) == 4 * 16
    assert {len(group) for group in groups.values()} == {4}
    for id, group in groups.items():
        for sample in group:
            said = "".join(map(chr, sample.input_ids))
            assert sample.prompt == [{"role": "user", "content": f"p{id}"}]
            assert said == f"p{id}" + sample.completion[0]["content"]
            before = len(f"p{id}")
            new = len(said) - before
            assert sample.completion_mask == [0] * before + [1] * new
            assert sample.old_log_probs == [0.0] * before + [-0.5] * new
            assert sample.metrics["reward"] == sample.metrics["rewards/length_of"] == new
        assert abs(sum(sample.advantage for sample in group)) < 1e-6
        best = max(group, key=lambda sample: sample.metrics["reward"])
        assert best.advantage == max(sample.advantage for sample in group)
    asked = [asked for engine in one.engines for asked in engine.asked]
    # Two servers with one seed would say the same.
    assert len({one["seed"] for one in asked}) == len(asked)
    assert asked[0]["max_tokens"] == 64 and asked[0]["temperature"] == 1.0
    assert sum(one.metrics["rollflex/launched_total"]) >= 4 * 16
    assert sum(one.metrics["rollflex/dropped_total"]) == 0


@pytest.mark.parametrize(
    ("rounds_ahead", "changed", "train_seconds"),
    [
        (0, {}, 0.0),
        (1, {"weight_sync_steps": 2}, 0.0),
        (1, {"gradient_accumulation_steps": 2}, 0.02),
        (2, {"gradient_accumulation_steps": 2}, 0.02),
    ],
)
def test_nothing_is_too_old_for_the_trainer(rounds_ahead: int, changed: Any, train_seconds: float) -> None:
    args = config(max_staleness=4, **changed)
    one = job(args=args, rounds_ahead=rounds_ahead, train_seconds=train_seconds)
    one.train(6)
    assert one.dropped == []
    assert max(one.staleness) <= 4
    assert one.buffered <= one.worker.rollout_buffer.maxsize
    assert one.worker.rollout_buffer.maxsize == (rounds_ahead + 1) * 4 * args.gradient_accumulation_steps


def test_a_long_prompt_holds_nothing_up_and_is_not_lost() -> None:
    """It is given up where it would be too old, and comes again in a round that waits for it."""
    long = 300

    def one_is_long(text: str, index: int) -> int:
        return long if text == "p3" else 5

    one = job(one_is_long, args=config(max_staleness=3), tokens_per_second=1000.0, policy={"maxWaitRounds": 2})
    one.train(8)
    assert one.dropped == []
    steps = [number for number, step in enumerate(one.steps) if any(sample.group_id == 3 for sample in step)]
    assert steps and steps[0] > 0
    assert sum(one.metrics["rollflex/aborted_total"]) > 0


def test_groups_whose_rewards_are_equal_are_replaced_if_asked() -> None:
    def odd_is_equal(completions: list[str], answer: list[int], **_: Any) -> list[float]:
        return [1.0 if answer[0] % 2 else float(index) for index, _ in enumerate(completions)]

    one = job(reward_funcs=odd_is_equal, policy={"filter": "zero-variance"})
    one.train(4)
    assert groups_of(one).keys() and all(id % 2 == 0 for id in groups_of(one))
    other = job(reward_funcs=odd_is_equal)
    other.train(4)
    assert any(id % 2 == 1 for id in groups_of(other))


def test_the_lossless_tail_composes_rounds_of_rows_that_return() -> None:
    page = (root / "docs" / "adapters" / "trl.md").read_text(encoding="utf-8")
    code = page.split("## The lossless tail")[1].split("```python\n")[1].split("```")[0]
    engine = Talker("engine", lambda text, index: 120 if text in ("p1", "p5", "p9", "p13") else 5, 5000.0)
    names: dict[str, Any] = {
        "TailBatchingWorker": TailBatchingWorker,
        "args": config(),
        "dataset": rows[:16],
        "reward": length_of,
        "tokenizer": Tokenizer(),
        "engine": engine,
    }
    exec(code, names)
    one = Trainer(names["args"], names["worker"], [engine], 0.005)
    one.train(12)
    found = [Counter(sample.prompt[0]["content"] for sample in step) for step in one.steps]
    once = Counter({f"p{number}": 4 for number in range(16)})
    assert [sum(found[epoch : epoch + 4], Counter()) for epoch in (0, 4, 8)] == [once] * 3
    assert found[8].keys() == {"p1", "p5", "p9", "p13"}
    assert engine.aborts <= 16, "only what runs at the end is aborted"
    assert len(groups_of(one)) == 48, "each epoch has its own groups"


def test_rewards_are_summed_and_where_there_is_none_the_advantage_is_0() -> None:
    async def some(completions: list[str], **_: Any) -> list[float | None]:
        return [None, 1.0, 2.0, 3.0]

    def others(completions: list[str], **_: Any) -> list[float | None]:
        return [None, 1.0, None, 0.0]

    one = job(reward_funcs=[some, others])
    one.train(1)
    for group in groups_of(one).values():
        assert math.isnan(group[0].metrics["reward"]) and group[0].advantage == 0
        assert [sample.metrics["reward"] for sample in group[1:]] == [2.0, 2.0, 3.0]
        assert math.isnan(group[2].metrics["rewards/others"])
        spread = math.sqrt(2 / 9)
        assert abs(group[3].advantage - (3 - 7 / 3) / spread) < 1e-6
        assert abs(group[3].metrics["reward_std"] - spread) < 1e-9


def test_messages_go_through_the_chat_template() -> None:
    one = job(dataset=[{"prompt": [{"role": "user", "content": "p0"}]}], reward_funcs=lambda **_: [1.0] * 4)
    one.train(1)
    sample = one.steps[0][0]
    assert "".join(map(chr, sample.input_ids)).startswith("<user>p0>a")
    assert sample.completion[0] == {"role": "assistant", "content": "a" * sum(sample.completion_mask)}
    # A data set is read over and over, and each time its rows are other groups.
    assert len({sample.group_id for sample in one.steps[0]}) == 4


@pytest.mark.parametrize(
    ("reward", "said"),
    [
        (lambda **_: 1 / 0, "division by zero"),
        (lambda **_: [1.0], r"reward function <lambda>: expected 4 rewards, got 1"),
    ],
)
def test_a_reward_function_that_fails_ends_the_run(reward: Any, said: str) -> None:
    one = job(reward_funcs=reward)
    with pytest.raises(RuntimeError, match=f"the rollout worker has failed: {said}"):
        one.train(1)
    assert all(engine.load == 0 for engine in one.engines)


def test_engines_that_fail_for_good_end_the_run() -> None:
    one = job(options={"outage_seconds": 0.5})
    for engine in one.engines:
        engine.fails = True
    said = r"every request has failed since .* UTC, for all engines and longer than outage_seconds \(0.5\); the last: \w+: .+"
    with pytest.raises(RuntimeError, match=said):
        one.train(1)


def test_a_data_set_that_no_engine_takes_ends_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    async def refuse(*_: Any) -> None:
        raise GenerationFailed("too long", "data")

    monkeypatch.setattr(Talker, "_generate", refuse)
    with pytest.raises(RuntimeError, match="4 prompts have failed one after the other"):
        job().train(1)


def test_an_engine_without_log_probabilities_ends_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    generate = Talker._generate

    async def without(self: Talker, found: Any, *rest: Any) -> None:
        await generate(self, found, *rest)
        found.log_probs = None

    monkeypatch.setattr(Talker, "_generate", without)
    with pytest.raises(RuntimeError, match="engine engine-.: expected .* make it with log_probs=True"):
        job().train(1)


def test_a_worker_that_hangs_is_found() -> None:
    one = job()
    one.stale_after_s = 0.3
    hung = threading.Event()

    def hang(_: object) -> None:
        # Once: the worker has to end afterwards.
        if not hung.is_set():
            hung.set()
            time.sleep(2)

    one.worker._host.decided = hang
    with pytest.raises(RuntimeError, match="the rollout worker has hung for"):
        one.train(1)


def test_it_may_be_stopped_at_any_time_and_started_once() -> None:
    one = job()
    one.worker.stop()
    one.worker.check_health(0.0)
    other = job()
    other.worker.start()
    other.worker.stop()
    other.worker.stop()
    other.worker.check_health(60)
    with pytest.raises(RuntimeError, match="make a new one"):
        other.worker.start()
    with pytest.raises(queue.Empty):
        other.worker.rollout_buffer.get_nowait()


@pytest.mark.parametrize(
    ("changed", "options", "said"),
    [
        ({"max_staleness": 1}, {}, r"max_staleness: expected at least 3, got 1: samples may wait for 3 weight syncs"),
        ({}, {"rounds_ahead": -1}, r"rounds_ahead: expected 0 or more, got -1"),
        ({}, {"policy": {"filter": "host"}}, r"policy: filter: expected none or zero-variance, got 'host'"),
        ({}, {"policy": {"responsesPerPrompt": 2}}, r"policy: responsesPerPrompt follow"),
        ({}, {"policy": {"maxStaleness": 3}}, r"max_staleness: expected at least 6, got 4"),
    ],
)
def test_settings_that_do_not_fit_are_refused(changed: Any, options: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        job(args=config(**changed), **options)


def test_rows_that_are_over_are_an_error() -> None:
    with pytest.raises(RuntimeError, match="the data set has no rows"):
        job(dataset=[]).train(1)


def test_ids_of_groups_are_those_of_the_draws() -> None:
    one = job(dataset=rows[:7])
    one.train(4)
    assert all(sample.prompt[0]["content"] == f"p{id % 7}" for id, group in groups_of(one).items() for sample in group)
    assert set(Counter(groups_of(one))) > {0, 1}
