"""
Which prompts are rolled out: five rules behind one interface.

A step calls `choose` with the groups it has, rolls out what it is given, tells it by `observe`, and so on until
`choose` gives nothing; it trains on `trained` of its groups, and then calls `published`.
"""

from __future__ import annotations

import math
import random
from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from task import Row

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


@dataclass
class Evidence:
    """Passes, fails, and lengths of a prompt or of a task, which fade."""

    passes: float = 0.0
    fails: float = 0.0
    tokens: float = 0.0
    responses: float = 0.0
    version: int = 0
    skipped: int = 0

    def at(self, version: int, retention: float) -> Evidence:
        faded = retention ** (version - self.version)
        self.passes, self.fails, self.version = self.passes * faded, self.fails * faded, version
        return self

    def add(self, group: Group) -> None:
        self.passes += group.passed
        self.fails += len(group.rewards) - group.passed
        self.tokens += group.tokens
        self.responses += len(group.rewards)


def differ(a: float, b: float, n: int) -> float:
    """The chance that n responses do not all have the same reward, where the pass rate is of Beta(a, b)."""
    right = math.prod((a + i) / (a + b + i) for i in range(n))
    return 1 - right - math.prod((b + i) / (a + b + i) for i in range(n))


def spread(a: float, b: float, n: int) -> float:
    """(n - 1) times the mean of p(1 - p)."""
    return (n - 1) * a * b / ((a + b) * (a + b + 1))


@dataclass
class Settings:
    """Of the rule."""

    size: int = 8
    """Groups that a step is to train on."""
    until: str = "prompts"
    """
    A step has `size` prompts, or so many that the sum of their chances is `size` (`chances`), or goes on until `size`
    groups have a gradient (`groups`).
    """
    most: float = 3.0
    """Times `size`: prompts of a step of `chances`."""
    weight: float = 0.0
    """The power of a prompt's predicted tokens (lambda)."""
    threshold: float = 1.0
    """Of the mean score, beneath which a chance falls (theta)."""
    floor: float = 0.05
    """The least chance (epsilon)."""
    retention: float = 0.97
    """Of evidence, for each version of the weights (gamma)."""
    prior: float = 2.0
    """Responses that a task's mean counts for (kappa)."""
    task_retention: float = 0.9
    """Of the evidence of a task."""
    passes_most: int = 4
    """Epochs in a row in which a prompt is passed over (E)."""
    recent: int = 48
    """Prompts rolled out whose mean score is the reference."""
    value: str = "differ"
    hard: bool = False
    """A threshold in place of a ramp: the chance is 1 or the floor."""
    power: float = 1.0
    """Of the ratio of a score to the reference, in the ramp."""
    reference: str = "rolled"
    """Whose mean score: of the prompts `rolled` out, or of all that were `offered`."""
    length_prior: float = 8.0
    """Responses that a task's mean length counts for."""


class Chosen(Uniform):
    """Each prompt of the epoch has a chance by its score: the value it promises, for its predicted tokens."""

    def __init__(self, epochs: Iterator[Row], seed: int, **settings: Any) -> None:
        self.settings = Settings(**settings)
        super().__init__(epochs, seed, self.settings.size)
        self.prompts: dict[int, Evidence] = {}
        self.tasks: defaultdict[str, Evidence] = defaultdict(Evidence)
        self.all = Evidence()
        self.version = 0
        self.scores: deque[float] = deque(maxlen=self.settings.recent)
        self.chances: list[float] = []

    def choose(self, groups: Sequence[Group]) -> list[Row]:
        until = self.settings.until
        if until == "groups":
            missing = self.size - sum(one.effective for one in groups)
            return self.drawn(missing, len(groups)) if missing > 0 else []
        return [] if groups else self.drawn(self.size, 0)

    def drawn(self, wanted: float, before: int) -> list[Row]:
        found: list[Row] = []
        have, most = 0.0, (1e9 if self.settings.until == "groups" else self.settings.most * self.size)
        while have < wanted and len(found) < most:
            row = next(self.epochs)
            value, score = self.judged(row)
            evidence = self.prompts.setdefault(row.id, Evidence(version=self.version))
            chance = self.chance(score) if evidence.skipped < self.settings.passes_most else 1.0
            if self.settings.reference == "offered":
                self.scores.append(score)
            if self.random.random() >= chance:
                evidence.skipped += 1
                self.passed_over += 1
                continue
            evidence.skipped = 0
            if self.settings.reference == "rolled":
                self.scores.append(score)
            found.append(row)
            have += 1 if self.settings.until == "prompts" else value
        return found

    def chance(self, score: float) -> float:
        if len(self.scores) < 8 or self.version == 0:
            return 1.0
        reference = self.settings.threshold * sum(self.scores) / len(self.scores)
        if self.settings.hard:
            return 1.0 if score >= reference else self.settings.floor
        return min(1.0, max(self.settings.floor, (score / reference) ** self.settings.power))

    def judged(self, row: Row) -> tuple[float, float]:
        """The chance that it has a gradient, and its score."""
        to = self.settings
        task = self.tasks[row.task].at(self.version, to.task_retention)
        mean = (1 + task.passes) / (2 + task.passes + task.fails)
        own = self.prompts.get(row.id, Evidence(version=self.version)).at(self.version, to.retention)
        a, b = own.passes + to.prior * mean, own.fails + to.prior * (1 - mean)
        chance = differ(a, b, per_group)
        value = chance if to.value == "differ" else spread(a, b, per_group)
        # Of all responses, where the task has none.
        usual = (self.all.tokens + 1) / (self.all.responses + 1)
        usual = (task.tokens + usual) / (task.responses + 1)
        tokens = (own.tokens + to.length_prior * usual) / (own.responses + to.length_prior)
        return chance, value / tokens**to.weight

    def observe(self, groups: Sequence[Group]) -> None:
        for one in groups:
            self.prompts[one.row.id].at(self.version, self.settings.retention).add(one)
            self.tasks[one.row.task].at(self.version, self.settings.task_retention).add(one)
            self.all.add(one)

    def published(self) -> None:
        self.version += 1


rule = {"size": 4, "power": 2.0, "floor": 0.02, "passes_most": 16}
strategies: dict[str, tuple[type[Uniform], dict[str, Any]]] = {
    "uniform": (Uniform, {"size": 2}),
    "dapo": (Dapo, {"size": 1}),
    "greso": (Greso, {"size": 2}),
    # Rounds of as many prompts as are missing, so that no group is generated beyond the step's.
    "greso-exact": (Greso, {"size": 1, "first": 1, "beta": 1}),
    "value": (Chosen, {**rule, "weight": 0.0}),
    "ours": (Chosen, {**rule, "weight": 1.0}),
}
"""
With the settings that were the best of each on the pilot's seeds. `size` is the prompts of a step of `uniform`, `value`
and `ours`, and the groups with a gradient of a step of the others.
"""
