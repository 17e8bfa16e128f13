"""Prompts that return in every epoch, in rounds that the policy composes by their lengths."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import pickle
import random
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

import rollflex
from rollflex.rollout import Group, Host, Launch, Response, Rollout, Supplied, composes

rows, long_rows, per_round, responses = 12, {1, 5, 8, 10}, 4, 2
config: dict[str, Any] = {"promptsPerRound": per_round, "responsesPerPrompt": responses, "windowRounds": 3}


class Epochs(Host[tuple[int, int], int]):
    """A data set of some rows, shuffled in each epoch. The body of a prompt is its row, and the number of its draw."""

    def __init__(self, drawn: int = 0, of: int = rows) -> None:
        self.drawn = drawn
        self.rows = of
        self.unfit: set[int] = set()
        """Draws that do not pass the filter."""
        self.failing = False
        self.returned: list[int] = []

    async def supply(self, count: int, domains: Mapping[str, int] | None) -> Sequence[Supplied[tuple[int, int]]]:
        first, self.drawn = self.drawn, self.drawn + count
        return [self._prompt(number) for number in range(first, self.drawn)]

    def _prompt(self, number: int) -> Supplied[tuple[int, int]]:
        epoch, place = divmod(number, self.rows)
        row = random.Random(epoch).sample(range(self.rows), self.rows)[place]
        return Supplied(f"row-{row}", (row, number))

    async def generate(self, launch: Launch[tuple[int, int], int]) -> Response[int]:
        row, number = launch.prompt
        if self.failing and launch.index > 0:
            await asyncio.Event().wait()
        return Response(number, (5000 if row in long_rows else 100) + launch.index)

    async def abort(self, launch: Launch[tuple[int, int], int]) -> bool:
        return False

    async def judge(self, group: Group[tuple[int, int], int]) -> bool:
        if self.failing and len(self.returned) == 0:
            raise RuntimeError("the judge is not there")
        return group.prompt[1] not in self.unfit

    async def give_back(self, prompts: Sequence[Supplied[tuple[int, int]]]) -> None:
        self.returned += [one.body[1] for one in prompts]


@contextlib.asynccontextmanager
async def rollouts(host: Any, **options: Any) -> AsyncIterator[Rollout[tuple[int, int], int]]:
    settings = {**config, **options.pop("config", {})}
    async with rollflex.AsyncClient.embedded(timeout=120) as client:
        rollout = await Rollout.open(
            client, host, settings, policy="lossless-tail", send_interval_seconds=0.0, abort_seconds=0.05, **options
        )
        try:
            yield rollout
        finally:
            await rollout.close()


async def trained(rollout: Rollout[tuple[int, int], int], count: int, first: int = 0) -> list[list[int]]:
    """The rows of the next rounds. Every response is of the draw that its group was made for."""
    found = []
    for number in range(first, first + count):
        done = await rollout.round(number)
        for group in done.groups:
            assert [sample.index for sample in group.samples] == list(range(responses))
            assert {sample.body for sample in group.samples} == {group.prompt[1]}
        found.append(sorted(group.prompt[0] for group in done.groups))
    return found


def run(test: Any) -> None:
    asyncio.run(asyncio.wait_for(test, 60))


def test_each_epoch_trains_each_row_once_and_long_ones_together() -> None:
    async def test() -> None:
        async with rollouts(Epochs()) as rollout:
            rounds = await trained(rollout, 9)
        epochs = [rounds[:3], rounds[3:6], rounds[6:]]
        assert all(sorted(itertools.chain(*epoch)) == list(range(rows)) for epoch in epochs)
        order = random.Random(0).sample(range(rows), rows)
        assert epochs[0] == [sorted(order[first : first + per_round]) for first in (0, 4, 8)], "the order of the data"
        assert epochs[1][0] == epochs[2][0] == sorted(long_rows)

    run(test())


def test_it_goes_on_from_the_middle_of_a_window() -> None:
    after = 4

    async def test() -> None:
        async with rollouts(Epochs()) as rollout:
            expected = await trained(rollout, 9)
        host = Epochs()
        async with rollouts(host) as rollout:
            rounds = await trained(rollout, after)
            saved = pickle.dumps(await rollout.checkpoint(lambda: host.drawn))
            # It is killed later on.
            await trained(rollout, 2, after)
        checkpoint = pickle.loads(saved)
        async with rollouts(Epochs(checkpoint["source"]), checkpoint=checkpoint) as rollout:
            assert rounds + await trained(rollout, 9 - after, after) == expected

    run(test())


def test_a_data_set_of_any_size_is_trained_evenly() -> None:
    """Smaller than the window, equal to it, and larger."""

    async def test() -> None:
        for of in (5, 8, 12, 17):
            async with rollouts(Epochs(of=of)) as rollout:
                counts: Counter[int] = Counter()
                for number in range(2 * of):
                    (found,) = await trained(rollout, 1, number)
                    assert len(set(found)) == len(found) == per_round
                    counts.update(found)
                    # At the end of an epoch, each row has been trained as often as every other.
                    assert max(counts.values()) - min(counts[row] for row in range(of)) == (counts.total() % of > 0)
                    assert rollout.prompts <= per_round * 3 + of

    run(test())


def test_a_row_that_comes_again_in_its_own_round_is_trained_later() -> None:
    """Filtered prompts are replaced from the data set at once, and the next row may be in the round already."""

    async def test() -> None:
        host = Epochs()
        # Of the first epoch, which the first window takes. Rows of the second replace them.
        host.unfit = {0, 1, 2, 5, 6, 7, 13}
        merged: list[Any] = []
        host.decided = lambda one: merged.append(one) if one["type"] == "prompt.merged" else None  # type: ignore[assignment,method-assign]
        async with rollouts(host, config={"filter": "host"}) as rollout:
            seen: list[int] = []
            for number in range(12):
                done = await rollout.round(number)
                seen += [group.prompt[1] for group in done.groups]
                dropped = {one.prompt[1] for one in done.dropped}
                assert dropped <= host.unfit, [one.cause for one in done.dropped]
            assert merged
            here = [one.body[1] for one in rollout.waiting()]
            assert len(set(seen)) == len(seen) and len(seen) >= 12 * 3
            assert sorted([*seen, *here]) == [one for one in range(host.drawn) if one not in host.unfit]
            # A checkpoint has them all, too.
            bodies = (await rollout.checkpoint())["bodies"]
            assert sorted(one[0].body[1] for copies in bodies.values() for one in copies) == sorted(here)

    run(test())


def test_a_round_that_fails_comes_again_with_what_it_had() -> None:
    async def test() -> None:
        host = Epochs()
        async with rollouts(host) as rollout:
            before = await trained(rollout, 3)
            host.failing = True
            failing = asyncio.ensure_future(rollout.round(3))
            await asyncio.sleep(0.2)
            failing.cancel()
            await asyncio.gather(failing, return_exceptions=True)
            host.failing = False
            counts = Counter(itertools.chain(*before, *await trained(rollout, 6, 4)))
            assert sum(counts.values()) == 9 * per_round and set(counts.values()) == {3}

    run(test())


def test_which_policies_compose() -> None:
    assert composes("lossless-tail", {}) and composes("rollpacker", {"composition": True})
    assert not composes("tail-batching", {}) and not composes("rollpacker", {"composition": False})
