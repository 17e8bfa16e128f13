"""The rollout loop for ROLL, on a double of its scheduler, beside ROLL's default loop."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from rollflex.adapters.roll import TailBatchingLoop
from rollflex.rollout import PolicyUnavailable
from support import Served, root

from . import roll_double
from .engines import lengths
from .roll_double import Config, Scheduler, UserDefinedRolloutLoop

prompts, responses = 8, 4
Make = Callable[..., TailBatchingLoop]


@pytest.fixture(autouse=True)
def roll(monkeypatch: pytest.MonkeyPatch) -> None:
    roll_double.install(monkeypatch)


@pytest.fixture
def loop(served: Served) -> Make:
    def make(**attributes: Any) -> TailBatchingLoop:
        server = {"path": served.address, "timeout": 20, "reconnect_seconds": 0.3}
        made: TailBatchingLoop = type("Loop", (TailBatchingLoop,), {"server": server, **attributes})()
        return made

    return make


def rows(seed: int = 7) -> list[list[int]]:
    return [[tokens // 4 for tokens in row] for row in lengths(400, responses + 1, seed)]


def scheduler(loop: Any, config: Config | None = None, **options: Any) -> Scheduler:
    return Scheduler(loop, options.pop("rows", None) or rows(), prompts, responses, config or Config(), **options)


def in_loop(work: Coroutine[Any, Any, None]) -> None:
    async def bounded() -> None:
        await asyncio.wait_for(work, 60)

    asyncio.run(bounded())


async def steps(one: Scheduler, count: int) -> None:
    for _ in range(count):
        await one.get_batch()


def held(loop: TailBatchingLoop) -> set[int]:
    """Rows of prompts that are drawn and not trained yet."""
    assert loop.rollout is not None
    return {one.body.data.meta_info["row"] for one in loop.rollout.waiting()}


def lost(one: Scheduler) -> set[int]:
    kept = held(one.udrl) if isinstance(one.udrl, TailBatchingLoop) else set()
    return set(range(one.drawn)) - set(one.trained) - kept


def test_beside_roll_itself_on_the_same_lengths(loop: Make) -> None:
    async def scenario() -> None:
        waits = scheduler(UserDefinedRolloutLoop(), Config(is_use_additional_prompts=False), speed=40)
        extra = scheduler(UserDefinedRolloutLoop(), speed=40)
        ours = scheduler(loop(), speed=40)
        for one in (waits, extra, ours):
            await steps(one, 5)
            missing = lost(one)
            if one is waits:
                assert missing == set()
            elif one is extra:
                # Additional prompts are thrown away when the batch is full, and they are the long ones.
                assert len(missing) > 2 * prompts
            else:
                assert missing == set() and len(held(ours.udrl)) == ours.drawn - 5 * prompts
            await one.shutdown()
        trained = [sum(one.meta_info["tokens"] for batch in each.batches for one in batch) for each in (extra, ours)]
        assert trained[0] < 0.6 * trained[1]
        # The fifth step is the long round of what the four before have deferred.
        assert ours.drawn == 4 * (prompts + 2)

    in_loop(scenario())


def test_every_group_is_generated_in_one_place(loop: Make) -> None:
    """Per-prompt affinity, for ROLL's router: one uid, one worker, also for prompts from the queue."""

    async def scenario() -> None:
        one = scheduler(loop())
        await steps(one, 6)
        for step, batch in enumerate(one.batches, 1):
            places: dict[int, set[tuple[int, int]]] = {}
            for response in batch:
                place = one.router_manager.placed[response.meta_info["request_id"]]
                places.setdefault(response.meta_info["row"], set()).add(place)
                # Those from the queue, too, are generated with what this step says.
                assert response.meta_info["global_step"] == step
            assert all(len(found) == 1 for found in places.values())
        await one.shutdown()

    in_loop(scenario())


def test_aborts_reach_the_engines_one_by_one(loop: Make) -> None:
    """`abort_running_requests` of ROLL aborts nothing; and nothing but what the policy names is aborted."""

    async def scenario() -> None:
        one = scheduler(loop(), rows=[[50] * 5] * prompts + [[10**6] * 5] * 2)
        await steps(one, 1)
        aborted = set(one.router_manager.aborts)
        chosen = {response.meta_info["request_id"] for response in one.batches[0]}
        assert len(aborted) >= 2 * 5 and not chosen & aborted
        assert set(one.trained) == set(range(prompts)) and held(one.udrl) == {prompts, prompts + 1}
        await one.shutdown()

    in_loop(scenario())


def test_evaluation_is_no_part_of_the_rounds(loop: Make) -> None:
    async def scenario() -> None:
        training, evaluating = loop(), loop()
        train = scheduler(training)
        await steps(train, 1)
        assert training.rollout is not None
        sent = training.rollout.session.seq
        evaluate = scheduler(evaluating, Config(is_use_additional_prompts=False), is_val=True)
        await steps(evaluate, 1)
        assert set(evaluate.trained) == set(range(prompts))
        assert evaluating.rollout is None and training.rollout.session.seq == sent
        await evaluate.shutdown()
        await train.shutdown()

    in_loop(scenario())


def test_weight_versions_are_steps(loop: Make) -> None:
    seen: list[tuple[int, int]] = []

    class Watched(TailBatchingLoop):
        def decided(self, decision: Any) -> None:
            if decision["type"] == "round.completed":
                versions = {v for p in decision["prompts"] for r in p["responses"] for v in r["weightVersions"]}
                assert versions == {decision["weightVersion"]}
                seen.append((decision["weightVersion"], len(decision["prompts"])))

    async def scenario() -> None:
        Watched.server = loop().server
        one = scheduler(Watched())
        await steps(one, 3)
        await one.shutdown()

    in_loop(scenario())
    assert seen == [(1, prompts), (2, prompts), (3, prompts)]


def test_one_step_ahead(loop: Make) -> None:
    """`async_generation_ratio: 1`: interrupted requests go on, and prompts run on into the next round."""

    async def scenario() -> None:
        one = scheduler(loop(), Config(async_generation_ratio=1))
        await steps(one, 5)
        assert max(one.trained.values()) == 1
        # What was drawn last may be with the round that is under way.
        assert lost(one) <= set(range(one.drawn - 2 * prompts, one.drawn))
        await one.shutdown()

    in_loop(scenario())


def test_resume_from_a_checkpoint(loop: Make, tmp_path: Path) -> None:
    """vime #324, NeMo-RL #3599: prompts in the queue are drawn, so a data set that goes on has them no more."""

    async def scenario() -> None:
        first = scheduler(loop(state_dir=tmp_path))
        await steps(first, 2)
        drawn, trained = first.drawn, set(first.trained)
        await steps(first, 1)
        first.kill()
        again = scheduler(loop(state_dir=tmp_path), first=drawn, step=2)
        await steps(again, 4)
        assert not trained & set(again.trained) and max(again.trained.values()) == 1
        assert set(range(again.drawn)) == trained | set(again.trained) | held(again.udrl)
        assert set(range(drawn)) - trained <= set(again.trained)
        await again.shutdown()

    in_loop(scenario())
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"math-{step}.pickle" for step in range(1, 7)]


def test_the_lossless_tail_composes_steps_of_rows_that_return(tmp_path: Path) -> None:
    page = (root / "docs" / "adapters" / "roll.md").read_text(encoding="utf-8")
    code = page.split("## The lossless tail")[1].split("```python\n")[1].split("```")[0]
    names: dict[str, Any] = {"TailBatchingLoop": TailBatchingLoop}
    exec(code.replace("/checkpoints", str(tmp_path)), names)
    long_rows = {1, 5, 9, 13}
    lengths = [[400] * 3 if row in long_rows else [20] * 3 for row in range(16)]

    def job(**options: Any) -> Scheduler:
        config = Config(is_use_additional_prompts=False)
        return Scheduler(names["Loop"](), lengths, 4, 2, config, data_rows=16, **options)

    async def scenario() -> None:
        first = job()
        await steps(first, 6)
        drawn, found = first.drawn, [{one.meta_info["row"] for one in batch} for batch in first.batches]
        await steps(first, 1)
        first.kill()
        again = job(first=drawn, step=6)
        await steps(again, 6)
        found += [{one.meta_info["row"] for one in batch} for batch in again.batches]
        assert all(set().union(*found[epoch : epoch + 4]) == set(range(16)) for epoch in (0, 4, 8))
        assert found[8] == long_rows and again.router_manager.aborts == []
        await again.shutdown()

    in_loop(scenario())


def test_the_server_is_gone(loop: Make, served: Served) -> None:
    async def scenario() -> None:
        one = scheduler(loop(unreachable_seconds=0.5), speed=20)
        await steps(one, 1)
        stepping = asyncio.create_task(one.get_batch())
        await asyncio.sleep(0.1)
        served.kill()
        with pytest.raises(PolicyUnavailable):
            await stepping
        # Its requests were aborted, and no others; its prompts are back.
        assert not one.router_manager.inflight
        given = {prompt.body.data.meta_info["row"] for prompt in one.udrl._given_back}
        assert given == set(range(one.drawn)) - set(one.trained)
        one.kill()

    in_loop(scenario())
    served.start()


def test_shutdown_in_the_middle_of_a_step(loop: Make) -> None:
    async def scenario() -> None:
        one = scheduler(loop(), speed=10)
        stepping = asyncio.create_task(one.get_batch())
        await asyncio.sleep(0.5)
        await asyncio.wait_for(one.shutdown(), 5)
        stepping.cancel()
        assert not one.running_tasks

    in_loop(scenario())


def test_a_worker_that_dies_does_not_end_the_job(loop: Make) -> None:
    """ROLL ends the process at the first exception of a rollout loop."""

    async def scenario() -> None:
        one = scheduler(loop())
        one.router_manager.broken = lambda request: int(request.split("_")[1]) % 7 == 0
        await steps(one, 2)
        assert lost(one) == set() and len(one.trained) == 2 * prompts
        await one.shutdown()

    in_loop(scenario())


def test_filtered_prompts_are_replaced(loop: Make) -> None:
    """A filter that rejects a group and keeps its quota hangs; the replacement is drawn in the same step."""

    async def scenario() -> None:
        one = scheduler(loop(), Config(filtered=lambda row: row % 3 == 0))
        await steps(one, 3)
        assert len(one.trained) == 3 * prompts and not any(row % 3 == 0 for row in one.trained)
        assert lost(one) and all(row % 3 == 0 for row in lost(one))
        await one.shutdown()

    in_loop(scenario())


def test_what_it_cannot_do_is_refused(loop: Make) -> None:
    async def scenario() -> None:
        for config in (Config(is_use_additional_prompts=False), Config(max_additional_running_prompts=9)):
            one = scheduler(loop(), config)
            with pytest.raises(ValueError, match="max_additional_running_prompts of 10 at least"):
                await one.get_batch()
            one.kill()
        for ratio, recipe in ((1, "lossless-tail"), (0, "frontier")):
            one = scheduler(loop(recipe=recipe), Config(async_generation_ratio=ratio))
            with pytest.raises(
                ValueError, match="expected 0 with lossless-tail|expected tail-batching or lossless-tail"
            ):
                await one.get_batch()
            one.kill()
        without = scheduler(loop(prompt_speculation=1, response_speculation=1), Config(is_use_additional_prompts=False))
        await steps(without, 2)
        assert without.drawn == 2 * prompts
        await without.shutdown()

    in_loop(scenario())


def test_roll_itself_takes_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """With ROLL installed: what the loop uses is there."""
    monkeypatch.undo()
    scheduling = pytest.importorskip("roll.distributed.scheduler.generate_scheduler")
    loops = pytest.importorskip("roll.distributed.scheduler.user_defined_rollout_loop")
    routing = pytest.importorskip("roll.distributed.scheduler.router")
    for name in ("get_request_data", "do_generate_and_reward", "generate", "compute_rewards"):
        ours = inspect.signature(getattr(roll_double.RolloutContext, name)).parameters
        assert list(inspect.signature(getattr(scheduling.RolloutContext, name)).parameters) == list(ours)
    assert list(inspect.signature(routing.RouterManager.abort_requests).parameters) == ["self", "request_ids", "uid"]
    assert callable(loops.query_filter) and callable(routing.is_report_data_finished)
    assert callable(loops.UserDefinedRolloutLoop()._generate_and_reward) and callable(scheduling.expand_requests)
