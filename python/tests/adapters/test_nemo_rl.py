"""The sampler for NeMo-RL, on a double of its single controller in simulated time, beside its own samplers."""

from __future__ import annotations

import asyncio
import importlib
import time
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

import rollflex
from rollflex.adapters.nemo_rl import TailBatchingSampler
from support import Served

from .engines import lengths
from .nemo_rl_double import Buffer, Controller, InOrderSampler, WindowedSampler

groups = 16


@pytest.fixture(autouse=True)
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    """The engines go on with every turn of the event loop."""
    monkeypatch.setattr("rollflex.adapters.nemo_rl._POLL_SECONDS", 0)


@pytest.fixture
def ours(served: Served) -> Callable[..., Callable[[Buffer], TailBatchingSampler]]:
    server = {"path": served.address, "timeout": 20, "reconnect_seconds": 0.5}
    return lambda **options: lambda buffer: TailBatchingSampler(buffer, server=server, **options)


Ours = Callable[..., Callable[[Buffer], TailBatchingSampler]]


def run(*controllers: Controller, steps: int) -> None:
    """Runs them one after the other, each for so many steps."""

    async def all_of_them() -> None:
        for one in controllers:
            await one.run(steps)
            if isinstance(one.sampler, TailBatchingSampler):
                await one.sampler.close()

    in_loop(all_of_them())


def in_loop(coroutine: Coroutine[Any, Any, None]) -> None:
    async def bounded() -> None:
        await asyncio.wait_for(coroutine, 60)

    asyncio.run(bounded())


def lost(one: Controller) -> set[int]:
    return set(range(one.drawn)) - set(one.trained) - one.kept


def tokens_a_step(one: Controller) -> float:
    return sum(sum(one.rows[prompt]) for prompt in one.trained) / len(one.rollout_seconds)


def test_beside_nemo_rl_itself_on_the_same_lengths(ours: Ours) -> None:
    rows, prompts = lengths(400, 4), 400
    in_order = Controller(lambda buffer: InOrderSampler(buffer, 1), rows, groups, epochs_of=prompts)
    windowed = Controller(lambda buffer: WindowedSampler(buffer, 2), rows, groups, epochs_of=prompts)
    adapter = Controller(ours(), rows, groups, epochs_of=prompts)
    run(in_order, windowed, adapter, steps=8)
    # NeMo-RL #3599: the prompts that are lost are the long ones.
    assert len(windowed.aborted) > 0 and windowed.aborted <= lost(windowed)
    assert tokens_a_step(windowed) < 0.9 * tokens_a_step(in_order)
    assert (adapter.aborted, adapter.evicted, lost(adapter)) == (set(), set(), set())
    assert max(adapter.lags) <= 6
    assert sum(adapter.rollout_seconds) < 0.8 * sum(in_order.rollout_seconds)


@pytest.mark.parametrize(("staleness", "lookahead"), [(1, 0), (2, 1), (3, 1), (5, 1), (6, 1), (8, 1), (7, 2)])
@pytest.mark.parametrize("seed", [1])
def test_nothing_is_older_than_it_may_be(ours: Ours, staleness: int, lookahead: int, seed: int) -> None:
    make = ours(max_staleness_versions=staleness, max_lookahead_versions=lookahead)
    one = Controller(make, lengths(600, 4, seed), groups, epochs_of=192, max_buffered=128)
    run(one, steps=12)
    assert max(one.lags) <= staleness
    assert len(one.trained) == 192 and lost(one) == set()


def test_all_of_the_data_is_trained(ours: Ours) -> None:
    """NeMo-RL #2899: the end of the data is no deadlock; and no group is left in the buffer."""
    one = Controller(ours(), lengths(600, 4), groups, epochs_of=96, min_groups=1)
    run(one, steps=50)
    assert set(one.trained) == set(range(96))
    assert len(one.buffer) == 0 and one.version == 6


def test_a_remainder_ends_as_with_its_own_samplers(ours: Ours) -> None:
    for make in (ours(), lambda buffer: InOrderSampler(buffer, 1)):
        one = Controller(make, lengths(600, 4), groups, epochs_of=40)
        with pytest.raises(RuntimeError, match="rollout exhausted before a complete training step"):
            run(one, steps=50)
        assert len(one.trained) >= 32


def test_skipped_prompts_leave_no_hole(ours: Ours) -> None:
    """NeMo-RL #3938, #3238: a prompt that fails for good, and one that fails once."""
    attempts = {5: 2, 6: 1, 20: 2, 33: 1}
    make = ours()
    one = Controller(make, lengths(600, 4), groups, epochs_of=400, attempts=lambda prompt: attempts.get(prompt, 0))
    run(one, steps=6)
    assert one.skipped == {5, 20} == lost(one)
    assert len(one.trained) == 6 * groups and {6, 33} <= set(one.trained)


def test_a_straggler_does_not_hold_the_step(ours: Ours) -> None:
    rows = [[100] * 4 for _ in range(600)]
    rows[3] = [8192] * 4
    one = Controller(ours(max_staleness_versions=30), rows, groups, epochs_of=600)
    run(one, steps=6)
    assert max(one.rollout_seconds) < 20 < 8192 / 40
    assert 3 not in one.trained and lost(one) == set()


def test_dispatch_is_bounded_and_goes_on_while_the_trainer_trains(ours: Ours) -> None:
    one = Controller(ours(), lengths(600, 4), groups, epochs_of=600, max_inflight=600, max_buffered=600)
    run(one, steps=8)
    assert one.required is not None and one.in_flight_most <= one.required == 24 + 8 + 15 + 16
    # With a step ahead, the next step has groups as soon as the trainer is back.
    assert min(one.rollout_seconds[1:]) == 0.0 or sum(one.lags) > 0


def test_resume_from_a_checkpoint(ours: Ours) -> None:
    """Restored groups are trained first; what ran is lost by NeMo-RL itself, which keeps ready groups only."""
    first = Controller(ours(), lengths(600, 4), groups, epochs_of=400)
    run(first, steps=4)
    saved = first.groups()
    assert saved
    names = {int(meta.sample_ids[0].split("/")[0]) for _, meta, _ in saved}
    again = Controller(
        ours(), lengths(600, 4), groups, epochs_of=400, first=first.drawn, step=first.version, restored=saved
    )
    run(again, steps=6)
    assert names <= set(again.trained) and not set(first.trained) & set(again.trained)
    assert set(range(first.drawn, again.drawn)) - set(again.trained) - again.kept == set()


def test_the_server_is_gone(ours: Ours, served: Served) -> None:
    async def scenario() -> None:
        one = Controller(ours(), lengths(600, 4), groups, epochs_of=400)
        one.permitted.set()
        await one.run(2)
        kept = one.groups()
        served.kill()
        began = time.monotonic()
        with pytest.raises(rollflex.RollflexError) as raised:
            while True:
                await one.sampler.select(current_train_weight=2, min_prompt_groups=1, max_prompt_groups=groups)
                one.engines.advance(1)
        assert isinstance(raised.value, ConnectionError) and time.monotonic() - began < 100
        # Its buffer is as it was: a checkpoint has it.
        assert [name for name, _, _ in kept] == [name for name, _, _ in one.groups()][: len(kept)]
        await one.sampler.close()

    in_loop(scenario())


def test_what_it_cannot_do_is_refused() -> None:
    buffer = Buffer()
    with pytest.raises(ValueError, match="expected at least 2 with max_lookahead_versions 1, got 1"):
        TailBatchingSampler(buffer, max_staleness_versions=1)
    with pytest.raises(ValueError, match="max_lookahead_versions: expected 0 or more"):
        TailBatchingSampler(buffer, max_lookahead_versions=-1)
    with pytest.raises(ValueError, match="resume_from_step"):
        TailBatchingSampler(buffer).set_dispatch_index(-1)

    async def scenario() -> None:
        sampler = TailBatchingSampler(buffer)
        with pytest.raises(ValueError, match="min_prompt_groups"):
            await sampler.select(current_train_weight=0, min_prompt_groups=3, max_prompt_groups=2)
        with pytest.raises(RuntimeError, match="required_buffer_capacity"):
            await sampler.select(current_train_weight=0, min_prompt_groups=1, max_prompt_groups=2)
        assert await sampler.evict(current_train_weight=9) == 0
        assert not sampler.should_abort_inflight(start_weight_version=0, current_train_weight=9)
        assert sampler.is_on_policy is False

    in_loop(scenario())


def test_nemo_rl_itself_takes_it() -> None:
    """With NeMo-RL installed: its factory makes it from a configuration, and checks its protocol."""
    module = pytest.importorskip("nemo_rl.algorithms.async_utils.staleness_sampler")
    target = "rollflex.adapters.nemo_rl:TailBatchingSampler"
    config = module.CustomSamplerConfig(name="custom", target=target, max_staleness_versions=7)
    sampler = module.create_sampler(Buffer(), config)
    assert isinstance(sampler, TailBatchingSampler)
    assert importlib.import_module("rollflex.adapters.nemo_rl").TailBatchingSampler is type(sampler)
