"""The order of rows in which prompts are selected: nothing is lost, nothing is starved, and it continues exactly."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from rollflex.adapters._order import Answer, Group, Order

rows, per_round, responses = 48, 8, 4
# A third each is never solved, sometimes, and always, with lengths that say nothing of it.
chances = {row: (0.0, 0.5, 1.0)[row % 3] for row in range(rows)}


@contextmanager
def order(of: int = rows, policy: str = "prompt-selection", **options: Any) -> Iterator[Order]:
    settings = {"threshold": 1, "domainFloor": 0, "maxPasses": 4, **options.pop("settings", {})}
    settings = settings if policy == "prompt-selection" else {}
    made = Order(policy, of, per_round, responses, shuffle=True, seed=3, settings=settings, **options)
    try:
        yield made
    finally:
        made.close()


def answers(row: int, step: int) -> list[Answer]:
    solved = [(row + step + index) % 2 if chances[row] == 0.5 else int(chances[row]) for index in range(responses)]
    return [(100 + row % 7, float(one)) for one in solved]


def steps(made: Order, count: int, first: int = 0) -> list[list[int]]:
    found = []
    for step in range(first, first + count):
        drawn = [made.next() for _ in range(per_round)]
        made.learn((row, answers(row, step)) for row in drawn)
        made.version = step + 1
        found.append(drawn)
    return found


def test_rows_that_teach_nothing_are_passed_over_and_none_is_starved() -> None:
    merged: list[Any] = []
    with order() as made:
        carry_out = made._carry_out

        def noting(one: Any, round_id: str) -> Any:
            merged.extend([one] if one["type"] == "prompt.merged" else [])
            return carry_out(one, round_id)

        made._carry_out = noting  # type: ignore[method-assign]
        found = steps(made, 60)
        metrics, taken = made.metrics(), len(made.state()["snapshot"]["state"]["taken"])
    counts = Counter(row for step in found for row in step)
    often = [[counts[row] for row in range(rows) if (chances[row] == 0.5) is teaches] for teaches in (True, False)]
    assert min(often[0]) > 1.5 * max(often[1]), "what teaches is trained more often than anything else"
    epochs = int(metrics["rollflex/epochs"])
    # Each is looked at again within `maxPasses` (4) epochs.
    assert min(counts.values()) >= epochs // 5 > 0
    # A row that the next epoch offers while it waits for its round is in it once.
    assert metrics["rollflex/offered"] == metrics["rollflex/passed"] + counts.total() + taken + len(merged)
    # The first epoch is the whole data: nothing is known yet.
    assert sorted(row for step in found[: rows // per_round] for row in step) == list(range(rows))


def test_it_continues_exactly_and_draws_what_was_drawn_too_early_again() -> None:
    with order() as made:
        expected = steps(made, 30)
    with order() as made:
        begun = steps(made, 13)
        early = [(made.next(), made.weight) for _ in range(5)]
        state = json.loads(json.dumps(made.state(early)))
        steps(made, 3, 13)
    with order() as made:
        made.load(state)
        assert begun + steps(made, 17, 13) == expected


def test_rewards_that_are_none_move_nothing() -> None:
    def after(groups: list[Group], launched: int | None = None) -> dict[str, Any]:
        with order() as made:
            made.next()
            made.learn(groups, launched)
            state: dict[str, Any] = made.state()["snapshot"]["state"]
            return {name: state[name] for name in ("memory", "domains", "worth")}

    def evidence(state: dict[str, Any]) -> float:
        return sum(float(one["responses"]) for one in state["domains"])

    none: list[Answer] = [(5, None), (5, math.nan), (5, math.inf)]
    assert after([(0, none)]) == after([])
    some = after([(0, [(5, 1.0), *none, (5, 0.0)])])
    assert some == after([(0, [(5, 1.0), (5, 0.0)])]) and evidence(some) == 2
    # Of six that were begun, the first four to end are short.
    assert evidence(after([(0, [(5, 1.0)] * responses)], 6)) == 0
    assert evidence(after([(0, [(5, 1.0)] * responses)], 4)) == 4


def test_weights_add_up_to_all_of_the_data() -> None:
    """With `unbiased`, the sum of weights over what is taken is that of what was offered, on average."""
    settings = {"unbiased": True, "normalization": "none", "explorationShare": 0.2, "maxPasses": 1000}
    total = taken = 0.0
    with order(settings=settings, weighs=True) as made:
        for step in range(150):
            for _ in range(per_round):
                row = made.next()
                made.learn([(row, answers(row, step))])
                total += made.weight
                taken += 1
            made.version = step + 1
        offered = made.metrics()["rollflex/offered"]
    assert taken < 0.9 * offered and total == pytest.approx(offered, rel=0.15)


def test_domains_are_told_apart() -> None:
    with order(domain=lambda row: ["math", "", None][row % 3]) as made:
        steps(made, 6)
        domains = {one["domain"] for one in made.state()["snapshot"]["state"]["domains"]}
    assert domains == {"math", None}


def test_what_the_trainer_decides_is_refused_and_what_it_cannot_do() -> None:
    for name in ("fill", "minResponses", "maxResponses", "tokensPerRound"):
        with pytest.raises(ValueError, match=rf"settings\.{name}: the trainer decides"):
            with order(settings={name: 2}):
                pass
    with pytest.raises(ValueError, match=r"settings\.unbiased: the trainer has no place for the weights"):
        with order(settings={"unbiased": True}):
            pass
    with pytest.raises(ValueError, match=r"settings: expected settings by name, got 5"):
        Order("prompt-selection", rows, 4, 4, shuffle=False, settings=5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="expected 8 rows at least"):
        with order(of=7):
            pass
