"""
Which prompts are rolled out: rules behind one interface.

A step calls `choose` with the groups it has, rolls out what it is given, tells it by `observe`, and so on until
`choose` gives nothing; it trains on `trained` of its groups, and then calls `published`.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from task import Row

from rollflex import Client, Untyped

per_group = 8


@dataclass
class Group:
    """Responses to one prompt."""

    row: Row
    responses: list[list[int]]
    rewards: list[float]

    @property
    def passed(self) -> int:
        return round(sum(self.rewards))

    @property
    def effective(self) -> bool:
        """It has a gradient."""
        return min(self.rewards) < max(self.rewards)

    @property
    def tokens(self) -> int:
        return sum(map(len, self.responses))


class Uniform:
    """The next prompts of the epoch."""

    def __init__(self, epochs: Iterator[Row], seed: int, size: int = 8) -> None:
        self.epochs, self.size = epochs, size
        self.random = random.Random(f"selection/{seed}")
        self.passed_over = 0

    def choose(self, groups: Sequence[Group]) -> list[Row]:
        return [] if groups else self.next(self.size)

    def next(self, count: int) -> list[Row]:
        return [next(self.epochs) for _ in range(count)]

    def observe(self, groups: Sequence[Group]) -> None:
        """What was rolled out."""

    def published(self) -> None:
        """The next rollouts have new weights."""

    def trained(self, groups: Sequence[Group]) -> list[Group]:
        return [one for one in groups if one.effective]

    def told(self) -> dict[str, Any]:
        """For the record."""
        return {}


class Dapo(Uniform):
    """
    Dynamic sampling (2503.14476): on until so many groups have a gradient. It asks for as many prompts as are missing,
    so that no group is generated beyond them.
    """

    def choose(self, groups: Sequence[Group]) -> list[Row]:
        return self.next(max(0, self.size - sum(one.effective for one in groups)))


class Greso(Uniform):
    """
    GRESO (2506.02177), with the constants of the paper and of its code: a prompt whose last z rollouts all had equal
    rewards is passed over with the chance 1 - p^z; p is one for right and one for wrong responses, and follows a
    target for the share of such groups. Rounds of sampling adapt their size; groups beyond the step's are dropped.
    """

    def __init__(
        self,
        epochs: Iterator[Row],
        seed: int,
        size: int = 8,
        first: float = 1.5,
        beta: float = 1.25,
        rest: bool = False,
    ) -> None:
        super().__init__(epochs, seed, size)
        self.first, self.beta, self.rest = round(first * size), beta, rest
        """Prompts in the first round of a step (384 for 256 in the paper); `rest`: train on all groups."""
        self.p = {1.0: 0.5, 0.0: 0.5}
        self.targets = {1.0: 0.25 / 3, 0.0: 0.25 * 2 / 3}
        self.alike: dict[int, tuple[float, int]] = {}
        """By prompt: the reward of its last groups that were alike, and how many they were."""
        self.step: list[Group] = []
        self.last: Sequence[Group] = ()

    def choose(self, groups: Sequence[Group]) -> list[Row]:
        missing = self.size - sum(one.effective for one in groups)
        if not groups:
            return self.filtered(self.first)
        if missing <= 0:
            return []
        kept = sum(one.effective for one in self.last) / len(self.last)
        return self.filtered(max(1, min(self.first, int(self.beta * missing / kept) if kept else self.first)))

    def filtered(self, count: int) -> list[Row]:
        found: list[Row] = []
        while len(found) < count:
            row = next(self.epochs)
            reward, times = self.alike.get(row.id, (0.0, 0))
            # The least chance is that of the code.
            if self.random.random() < max(self.p[reward] ** times, 0.01):
                found.append(row)
            else:
                self.passed_over += 1
        return found

    def observe(self, groups: Sequence[Group]) -> None:
        self.last = groups
        self.step += groups
        for one in groups:
            reward, times = self.alike.get(one.row.id, (one.rewards[0], 0))
            if one.effective:
                self.alike.pop(one.row.id, None)
            else:
                self.alike[one.row.id] = (one.rewards[0], times + 1 if reward == one.rewards[0] else 1)

    def published(self) -> None:
        for reward, target in self.targets.items():
            share = sum(not one.effective and one.rewards[0] == reward for one in self.step) / len(self.step)
            self.p[reward] = min(0.95, max(0.05, self.p[reward] + (-0.01 if share >= target else 0.01)))
        self.step = []

    def trained(self, groups: Sequence[Group]) -> list[Group]:
        kept = super().trained(groups)
        return kept if self.rest else kept[: self.size]

    def told(self) -> dict[str, Any]:
        return {"p_easy": self.p[1.0], "p_hard": self.p[0.0]}


class Selected(Uniform):
    """The policy `prompt-selection`: it is offered the prompts of the epoch, and takes some."""

    def __init__(self, epochs: Iterator[Row], seed: int, size: int = 4, **settings: Any) -> None:
        super().__init__(epochs, seed, size)
        needed = {"promptsPerRound": size, "responsesPerPrompt": per_group, "seed": seed}
        self.client = Client()
        self.session = self.client.open(Untyped("prompt-selection"), config={**needed, **settings})
        self.version = 0
        self.offered: dict[str, Row] = {}

    def choose(self, groups: Sequence[Group]) -> list[Row]:
        if groups:
            return []
        taken: list[Row] = []
        asked = {"type": "round.requested", "roundId": f"r{self.version}", "weightVersion": self.version}
        decisions = self.session.send([asked])
        while decisions:
            one = decisions.pop(0)
            if one["type"] == "prompts.request":
                rows = self.next(one["count"])
                self.offered.update((f"row-{row.id}", row) for row in rows)
                prompts = [{"promptId": f"row-{row.id}", "domain": row.task} for row in rows]
                supplied = {"type": "prompts.supplied", "roundId": one["roundId"], "prompts": prompts}
                decisions += self.session.send([supplied])
            elif one["type"] == "prompts.passed":
                self.passed_over += len(one["prompts"])
            elif one["type"] == "prompts.selected":
                taken += [self.offered[each["promptId"]] for each in one["prompts"]]
        return taken

    def observe(self, groups: Sequence[Group]) -> None:
        self.session.send([self.rewarded(one) for one in groups])

    def rewarded(self, group: Group) -> dict[str, Any]:
        both = zip(group.responses, group.rewards, strict=True)
        responses = [
            {"requestId": f"{group.row.id}/{n}", "tokens": len(response), "reward": reward}
            for n, (response, reward) in enumerate(both)
        ]
        return {
            **{"type": "group.rewarded", "roundId": f"r{self.version}", "promptId": f"row-{group.row.id}"},
            **{"samples": per_group, "tokens": group.tokens, "responses": responses},
            "reason": {"code": "all_rewarded", "responses": per_group, "missing": 0, "waitedSeconds": 0},
        }

    def published(self) -> None:
        self.version += 1


strategies: dict[str, tuple[type[Uniform], dict[str, Any]]] = {
    "uniform": (Uniform, {"size": 2}),
    "dapo": (Dapo, {"size": 1}),
    "greso": (Greso, {"size": 2}),
    # Rounds of as many prompts as are missing, so that no group is generated beyond the step's.
    "greso-exact": (Greso, {"size": 1, "first": 1, "beta": 1}),
    "value": (Selected, {"lengthExponent": 0.0}),
    "ours": (Selected, {"lengthExponent": 1.0}),
}
"""
With the settings that were the best of each on the pilot's seeds. `size` is the prompts of a step of `uniform`, `value`
and `ours`, and the groups with a gradient of a step of the others.
"""
