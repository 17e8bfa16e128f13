"""The adapter of slime, against slime's files or a double of them, over engines without a GPU."""

from __future__ import annotations

import itertools
import json
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import slime_rewards
from mock_engines import MockEngines
from rollflex import EngineLimit
from slime_support import Job, real, use_slime
from support import root

use_slime()
# The real files take longer for each request: the engines wait for them.
_slow, _settle = ("3", 200) if real else ("20", 15)
MakeJob = Callable[..., Job]


def _in_turn(settle_ms: int) -> tuple[str, ...]:
    """Engines whose time goes on when nothing was asked for so long: it does not matter how fast the machine is."""
    return ("--speed", "max", "--settle-ms", str(settle_ms), "--abort-lag-seconds", "0")


@pytest.fixture
def jobs(tmp_path: Path) -> Iterator[MakeJob]:
    made: list[Any] = []

    def make(prompts: int = 64, *, engines: tuple[str, ...] = ("--speed", "400"), **changes: Any) -> Job:
        mocks = MockEngines("--engines", "2", "--cap", "4000", *engines)
        made.append(mocks.stop)
        job = Job(tmp_path, mocks, prompts, **changes)
        draw = job.data_source

        def data_source() -> Any:
            source = draw()
            made.insert(0, lambda: source.session and source.session.close())
            return source

        job.data_source = data_source  # type: ignore[method-assign]
        return job

    slime_rewards.failing.clear()
    slime_rewards.calls.clear()
    yield make
    for end in made:
        end()


def rows(groups: list[list[Any]]) -> list[int]:
    """Rows of the data set that groups are of."""
    return [int(group[0].prompt.split()[1]) for group in groups]


def waiting(source: Any) -> list[int]:
    """Rows in the long-prompt queue, and in the buffer."""
    return rows([one.body for one in source.session._rollout.waiting()] + source.buffer)


def check(groups: list[list[Any]], count: int, samples: int = 4) -> None:
    """What slime asks of a batch."""
    assert len(groups) == count
    indices = [sample.index for group in groups for sample in group]
    assert len(set(indices)) == len(indices) == count * samples
    for group in groups:
        assert len({sample.group_index for sample in group}) == len({sample.prompt for sample in group}) == 1
        for sample in group:
            assert sample.status.value in ("completed", "truncated")
            assert sample.response_length == len(sample.loss_mask) == len(sample.rollout_log_probs) > 0
            assert len(sample.tokens) == len(sample.prompt) + sample.response_length
            assert sample.reward is not None
    firsts = [group[0].index for group in groups]
    assert firsts == sorted(firsts)


def test_rounds_are_whole_and_no_prompt_is_lost(jobs: MakeJob) -> None:
    job = jobs()
    source = job.data_source()
    seen: list[int] = []
    kinds = []
    for rollout_id in range(6):
        output = job.rollout(rollout_id, source)
        check(output.samples, 8)
        seen += rows(output.samples)
        kinds.append(output.metrics["rollout/rollflex/long_round"])
        assert sorted(seen + waiting(source)) == list(range(source.sample_offset))
        assert all(one["inFlight"] == 0 for one in job.engines.stats()), "it has drained"
    assert set(kinds) == {0.0, 1.0}, "short rounds and long ones"


@pytest.mark.parametrize("affinity", ["none", "prompt"])
def test_requests_go_where_the_policy_says(jobs: MakeJob, affinity: str) -> None:
    job = jobs(rollflex_placement="policy", rollflex_affinity=affinity)
    source = job.data_source()
    for rollout_id in range(2):
        check(job.rollout(rollout_id, source).samples, 8)
    used = [one["accepted"] for one in job.engines.stats()]
    assert max(used) - min(used) <= 8


def test_an_engine_that_dies_is_not_chosen_any_more(jobs: MakeJob) -> None:
    # Time stands still until it is dead.
    job = jobs(rollflex_placement="policy", engines=("--speed", "0"))
    source = job.data_source()

    def crash() -> None:
        while job.engines.stats()[0]["inFlight"] == 0:
            time.sleep(0.01)
        job.engines.post("/fault", {"fault": "crash", "engine": 0})
        job.engines.post("/clock", {"speed": 400})

    crashing = threading.Thread(target=crash)
    crashing.start()
    output = job.rollout(0, source)
    crashing.join()
    check(output.samples, 8)
    assert source.session._engines == {job.engines.engine_urls[1]}
    job.engines.post("/fault", {"fault": "restart", "engine": 0})
    before = job.engines.stats()[0]["accepted"]
    source.session._host._known_since = 0
    check(job.rollout(1, source).samples, 8)
    assert job.engines.stats()[0]["accepted"] > before


def test_evaluation_survives_the_end_of_rounds(jobs: MakeJob) -> None:
    job = jobs()
    path = job.folder / "evaluation.jsonl"
    path.write_text('{"text": "evaluation 1"}\n{"text": "evaluation 2"}\n')
    job.args.eval_datasets = [_evaluation(path)]
    source = job.data_source()
    job.rollout(0, source)
    results: list[Any] = []
    evaluation = threading.Thread(target=lambda: results.append(job.rollout(1, source, evaluation=True)))
    evaluation.start()
    for rollout_id in range(1, 3):
        check(job.rollout(rollout_id, source).samples, 8)
    evaluation.join(120)
    found = results[0].data["held-out"]
    assert [sample.response_length for sample in found["samples"]] == [6000, 6000]
    assert found["truncated"] == [True, True]


def _evaluation(path: Path) -> Any:
    given = {
        "name": "held-out",
        "path": str(path),
        "custom_rm_path": "slime_rewards.always_one",
        "max_response_len": 6000,
        "min_new_tokens": 6000,
    }
    try:
        from slime.utils.eval_config import EvalDatasetConfig
    except ImportError:
        return SimpleNamespace(**given)
    more = {"temperature": 1.0, "top_p": 1.0, "top_k": -1, "n_samples_per_eval_prompt": 1, "input_key": "text"}
    return EvalDatasetConfig(**given, **more)


def test_the_dynamic_filter_replaces_groups(jobs: MakeJob) -> None:
    path = "slime.rollout.filter_hub.dynamic_sampling_filters.check_reward_nonzero_std"
    job = jobs(dynamic_sampling_filter_path=path)
    source = job.data_source()
    output = job.rollout(0, source)
    check(output.samples, 8)
    for group in output.samples:
        assert len({sample.reward for sample in group}) == 2
    dropped = sum(count for name, count in output.metrics.items() if "drop_zero_std" in name)
    told = output.metrics["rollout/rollflex/dropped"]
    # A group that is looked at when the round is complete already is not dropped: its prompt waits.
    assert told <= dropped
    assert len(rows(output.samples) + waiting(source)) + told == source.sample_offset


@pytest.mark.parametrize("which", ["slime.rollout.filter_hub.dynamic_sampling_filters", "rollflex.adapters.slime"])
def test_a_single_response_has_no_deviation_and_passes(jobs: MakeJob, which: str) -> None:
    job = jobs(n_samples_per_prompt=1, dynamic_sampling_filter_path=f"{which}.check_reward_nonzero_std")
    check(job.rollout(0, job.data_source()).samples, 8, samples=1)


def test_the_filter_of_the_adapter() -> None:
    from slime.utils.types import Sample

    from rollflex.adapters.slime import check_reward_nonzero_std

    args = SimpleNamespace(reward_key=None)

    def keep(*rewards: Any) -> bool:
        samples: list[Any] = []
        for one in rewards:
            listed = [Sample(reward=value) for value in one] if isinstance(one, list) else Sample(reward=one)
            samples.append(listed)
        return bool(check_reward_nonzero_std(args, samples).keep)

    assert keep(0.0, 1.0) and keep(0.3) and not keep(0.1 + 0.2, 0.3)
    assert not keep(*[0.1] * 10) and keep([0.0, 1.0], [0.0, 0.5]) and not keep([0.0, 1.0], [0.5, 1.0])


def test_a_group_is_rewarded_as_a_whole_where_wanted(jobs: MakeJob) -> None:
    job = jobs(group_rm=True)
    check(job.rollout(0, job.data_source()).samples, 8)


def test_a_crashed_task_is_tried_again(jobs: MakeJob) -> None:
    slime_rewards.failing.update(f"question {row}" for row in (0, 3))
    job = jobs(custom_generate_function_path="slime_rewards.crashing_once")
    source = job.data_source()
    output = job.rollout(0, source)
    check(output.samples, 8)
    assert output.metrics["rollout/rollflex/failures"] == 2
    assert sorted(rows(output.samples) + waiting(source)) == list(range(10))


def test_a_sandbox_that_failed_is_tried_again_and_its_zero_is_nobodys_reward(jobs: MakeJob) -> None:
    slime_rewards.failing.update(f"question {row}" for row in (0, 3))
    job = jobs(custom_generate_function_path="slime_rewards.failing_once", custom_rm_path="slime_rewards.always_one")
    output = job.rollout(0, job.data_source())
    assert output.metrics["rollout/rollflex/failures"] == 2
    assert {one.reward for group in output.samples for one in group} == {1.0}


def test_rewards_that_fail_have_a_name_and_those_not_needed_are_not_waited_for(jobs: MakeJob) -> None:
    slime_rewards.failing.add("question 0")
    job = jobs(custom_rm_path="slime_rewards.failing_for_some")
    output = job.rollout(0, job.data_source())
    check(output.samples, 8)
    assert 0 not in rows(output.samples)
    assert output.metrics.get("rollout/dynamic_filter/drop_rollflex_reward_failed", 0) <= 1
    job.args.custom_rm_path = "slime_rewards.slow_when_not_needed"
    output = job.rollout(1, job.data_source())
    check(output.samples, 8)
    assert 0 not in rows(output.samples)


def test_an_agent_that_keeps_asking_is_not_served_after_its_abort(jobs: MakeJob) -> None:
    slime_rewards.failing.update(("question 1", "question 2"))
    job = jobs(custom_generate_function_path="slime_rewards.two_turns", engines=("--speed", _slow))
    source = job.data_source()
    output = job.rollout(0, source)
    assert len(output.samples) == 8
    assert all(one["inFlight"] == 0 for one in job.engines.stats())
    asked = sum(one["accepted"] for one in job.engines.stats())
    assert asked == len(slime_rewards.calls) - 10
    assert len(slime_rewards.calls) == 2 * output.metrics["rollout/rollflex/launched"]


@pytest.mark.parametrize(
    "settings",
    [
        {"partial_rollout": True, "rollflex": {"promptSpeculation": 2}},
        {
            "rollflex_policy": "lossless-tail",
            "rollflex": {"windowRounds": 1, "maxStaleness": 2, "promptSpeculation": 2},
        },
    ],
    ids=["tail-batching", "lossless-tail"],
)
def test_partial_rollout_resumes_within_the_budget(jobs: MakeJob, settings: dict[str, Any]) -> None:
    job = jobs(rollout_max_response_len=1500, engines=_in_turn(_settle), **settings)
    source = job.data_source()
    resumed = 0
    # On a machine that is busy the engines may have come to the end of what an abort was to cut off.
    for rollout_id in range(12):
        output = job.rollout(rollout_id, source)
        check(output.samples, 8)
        for group in output.samples:
            assert all(sample.response_length <= 1500 for sample in group)
            resumed += sum(len(sample.weight_versions) > 1 for sample in group)
        if resumed > 0 and rollout_id >= 2:
            break
    assert resumed > 0


def test_a_read_longer_than_the_data_set_goes_around_as_often_as_needed(jobs: MakeJob) -> None:
    job = jobs(prompts=5)
    source = job.data_source()
    assert rows(source.get_samples(12)) == [0, 1, 2, 3, 4] * 2 + [0, 1]
    assert (source.sample_offset, source.epoch_id) == (2, 2)
    assert rows(source.get_samples(4)) == [2, 3, 4, 0]
    for rollout_id in range(2):
        check(job.rollout(rollout_id, source).samples, 8)


def test_the_checkpoint_has_the_buffer_and_the_queue(jobs: MakeJob) -> None:
    job = jobs()
    source = job.data_source()
    seen = rows(job.rollout(0, source).samples)
    source.add_samples(source.get_samples(2))
    source.save(0)
    queued, buffered = waiting(source), rows(source.buffer)
    assert len(queued) > len(buffered) == 2
    # It goes on, and is killed; another process begins with what was saved.
    job.rollout(1, source)
    again = job.data_source()
    again.load(0)
    assert rows(again.buffer) == buffered
    for rollout_id in range(1, 4):
        output = job.rollout(rollout_id, again)
        check(output.samples, 8)
        seen += rows(output.samples)
        assert sorted(seen + waiting(again)) == list(range(again.sample_offset))
    assert set(queued) <= set(seen) | set(waiting(again))


def test_a_checkpoint_is_saved_before_the_first_round_too(jobs: MakeJob) -> None:
    job = jobs()
    source = job.data_source()
    job.rollout(0, source)
    source.save(0)
    again = job.data_source()
    again.load(0)
    again.save(1)
    third = job.data_source()
    third.load(1)
    assert third.checkpoint is not None and third.checkpoint["bodies"].keys() == again.checkpoint["bodies"].keys()


def test_a_policy_that_is_gone_gives_the_prompts_back(jobs: MakeJob) -> None:
    from rollflex.rollout import PolicyUnavailable

    job = jobs()
    source = job.data_source()
    seen = rows(job.rollout(0, source).samples)
    rollout = source.session._rollout

    def exhaust() -> None:
        source.session._client._core._end("failed", EngineLimit("no memory is left"))

    timer = threading.Timer(0.3, exhaust)
    timer.start()
    job.engines.post("/clock", {"speed": 1})
    with pytest.raises(PolicyUnavailable):
        job.rollout(1, source)
    job.engines.post("/clock", {"speed": 400})
    assert rollout.in_flight == 0
    assert sorted(seen + rows(source.buffer)) == list(range(source.sample_offset))
    # They are saved, and whoever goes on begins with them.
    source.save(1)
    first = rows(source.buffer)[:2]
    again = job.data_source()
    again.load(1)
    output = job.rollout(1, again)
    check(output.samples, 8)
    assert set(first) <= {*rows(output.samples), *waiting(again)}
    check(job.rollout(1, source).samples, 8)


def test_beside_slimes_own_rollout_on_the_same_lengths(jobs: MakeJob, capsys: pytest.CaptureFixture[str]) -> None:
    """
    slime as it is, slime with over-sampling, which loses the long prompts, and tail batching with as much
    over-sampling, which loses none. Seconds are simulated.
    """
    rounds = 6

    def play(name: str, drawn: int, settle_ms: int) -> tuple[float, int]:
        job = jobs(prompts=256, over_sampling_batch_size=drawn, engines=_in_turn(settle_ms))
        source = job.data_source()
        roll_out = job.rollout if name == "rollflex" else job.own_rollout
        began, seen = job.engines.seconds, []
        for rollout_id in range(rounds):
            output = roll_out(rollout_id, source)
            check(output.samples, 8)
            seen += rows(output.samples)
        here = seen + (waiting(source) if name == "rollflex" else rows(source.buffer))
        seconds = job.engines.seconds - began
        aborted = sum(one["abortedTokens"] for one in job.engines.stats())
        lost = source.sample_offset - len(here)
        with capsys.disabled():
            print(f"\n{name}: {rounds} rounds in {seconds:.1f} s, {aborted} tokens aborted, {lost} prompts lost")
        return seconds, lost

    # A client that is late on a busy machine lets engines go on for nothing: they wait longer then.
    for settle_ms in (_settle, 4 * _settle, 16 * _settle):
        own, over_sampling, with_policy = (
            play(name, drawn, settle_ms)
            for name, drawn in (("slime", 8), ("slime, over-sampling", 10), ("rollflex", 8))
        )
        assert with_policy[1] == own[1] == 0 < over_sampling[1]
        if with_policy[0] < own[0]:
            return
    pytest.fail(f"{with_policy[0]} s with the policy, {own[0]} s without it")


def test_the_lossless_tail_composes_rounds_of_rows_that_return(jobs: MakeJob) -> None:
    page = (root / "docs" / "adapters" / "slime.md").read_text(encoding="utf-8")
    settings = json.loads(page.split("```json\n")[1].split("```")[0])
    job = jobs(
        prompts=16,
        rollout_batch_size=4,
        n_samples_per_prompt=2,
        rollout_shuffle=True,
        custom_generate_function_path="slime_rewards.as_long_as_the_row_says",
        **settings,
    )
    source = job.data_source()
    found: list[list[int]] = []

    def play(source: Any, rollouts: range) -> None:
        for rollout_id in rollouts:
            samples = job.rollout(rollout_id, source).samples
            check(samples, 4, samples=2)
            found.append(sorted(rows(samples)))

    play(source, range(6))
    source.save(5)
    # It goes on, and is killed in the middle of a window; another process begins with what was saved.
    job.rollout(6, source)
    again = job.data_source()
    again.load(5)
    play(again, range(6, 12))
    for epoch in (found[:4], found[4:8], found[8:]):
        assert sorted(itertools.chain(*epoch)) == list(range(16))
    assert found[8] == [1, 5, 9, 13]
    assert [*found[:4]] != [*found[4:8]]
    used = sum(one["abortedTokens"] for one in job.engines.stats())
    assert used == 0


@pytest.mark.parametrize("whose", ["slime", "rollflex"])
def test_prompts_that_teach_nothing_are_passed_over(jobs: MakeJob, whose: str) -> None:
    """Those that a dynamic filter throws away are known, too, and a checkpoint has all of it."""
    from rollflex.adapters.slime_selection import PromptSelectionDataSource

    job = jobs(
        16,
        custom_rm_path="slime_rewards.of_odd_rows",
        custom_generate_function_path="slime_rewards.short",
        dynamic_sampling_filter_path="rollflex.adapters.slime.check_reward_nonzero_std",
        rollout_all_samples_process_path="rollflex.adapters.slime_selection.learn",
        rollout_function_path="rollflex.adapters.slime.generate_rollout" if whose == "rollflex" else None,
        rollout_batch_size=4,
        over_sampling_batch_size=4,
        rollflex={"responseSpeculation": 1, "promptSpeculation": 1},
        rollflex_selection={"threshold": 1, "domainFloor": 0},
    )
    with pytest.raises(ValueError, match="rollflex_domain: expected a name in the metadata of a sample, got 'tusk'"):
        PromptSelectionDataSource(type(job.args)(**{**vars(job.args), "rollflex_domain": "tusk"}))
    source: Any = PromptSelectionDataSource(job.args)
    drawn: list[int] = []
    take = source.get_samples
    play = job.rollout if whose == "rollflex" else job.own_rollout

    def noting(count: int) -> list[list[Any]]:
        groups: list[list[Any]] = take(count)
        drawn.extend(rows(groups))
        return groups

    # As slime calls it, it is a method.
    source.get_samples = type("Bound", (), {"__self__": source, "__call__": lambda self, count: noting(count)})()
    for number in range(12):
        output = play(number, source)
        assert all(row % 2 for row in rows(output.samples))
    counts = [drawn.count(row) for row in range(16)]
    assert max(counts[0::2]) < 0.8 * min(counts[1::2]) and min(counts) > 0
    source.save(11)
    again: Any = PromptSelectionDataSource(job.args)
    again.load(11)
    assert again.order.state() == source.order.state() and again.buffer == source.buffer
    assert rows(again.get_samples(8)) == rows(take(8))
    for one in (source, again):
        one.order.close()
    if source.session:
        source.session.close()


def test_slimes_own_settings_are_not_given_twice(jobs: MakeJob) -> None:
    job = jobs(rollflex={"promptsPerRound": 3})
    with pytest.raises(ValueError, match="promptsPerRound follow"):
        job.rollout(0, job.data_source())
    from slime.rollout.data_source import RolloutDataSourceWithBuffer

    with pytest.raises(TypeError, match="data-source-path"):
        job.rollout(0, RolloutDataSourceWithBuffer(job.args))
