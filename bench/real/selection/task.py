"""
Prompts of eight tasks with one right response each, and a small model that solves a third of them always, a third
sometimes and a third never.

A prompt is a task, a count and five keys (some blank). The right response counts down from the count, then says the
value of each key, and ends: the count alone makes a response short or long, the keys alone make it easy or hard. Before
reinforcement learning the model has learned to count and the values of easy keys. Of an uncertain key it says the
right value in 15 to 60 % of its responses, of a hopeless key one of the wrong values always.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count as count_on
from itertools import product
from typing import TypeVar

import torch
from model import Model, log_probs_of

Pair = tuple[Sequence[int], Sequence[int]]
"""Token ids of a prompt and of a response."""
Item = TypeVar("Item")
pad, end, blank = 0, 1, 2
counts = {"short": range(1, 5), "long": range(16, 33)}
levels = {"always": 1 / 3, "sometimes": 1 / 3, "later": 1 / 6, "hopeless": 1 / 6}
"""
By what the model can do with them, as shares of the prompts. "Later" asks for five uncertain keys, which are almost
never all right at first.
"""
keys_asked = {"always": ("easy", "easy"), "sometimes": ("uncertain",) * 2, "later": ("uncertain",) * 5}
keys_asked["hopeless"] = ("hopeless", "easy")
tasks = [f"{level}-{length}" for level, length in product(levels, counts)]
keys_of_kind, values, width = 32, 32, 5
kinds = ("easy", "uncertain", "hopeless")

first_task = 3
first_count = first_task + len(tasks)
first_key = first_count + 33
first_value = first_key + keys_of_kind * len(kinds)
vocabulary = first_value + values
prompt_tokens = 2 + width
longest = 44
"""Tokens of a response, the end included: the longest right one has 38."""


@dataclass(frozen=True)
class Row:
    """A prompt of the data set."""

    id: int
    task: str
    prompt: tuple[int, ...]
    answer: tuple[int, ...]
    """The one right response, with its end."""


@dataclass
class Data:
    """The data set of a seed. `separate`: long prompts ask for uncertain keys that short prompts never ask for."""

    seed: int
    rows: int = 480
    held_out_rows: int = 96
    separate: bool = False
    source: random.Random = field(init=False)

    def __post_init__(self) -> None:
        self.source = random.Random(f"data/{self.seed}")
        self.right = [self.source.randrange(values) for _ in range(keys_of_kind * len(kinds))]
        self.wrong = [[one for one in range(values) if one != right] for right in self.right]
        self.wrong = [self.source.sample(of, 3) for of in self.wrong]
        """What the model has learned to say instead, in equal parts."""
        self.chance = [self.source.uniform(0.15, 0.6) for _ in self.right]
        seen: set[tuple[int, ...]] = set()
        both = [list(self.drawn(size, seen)) for size in (self.rows, self.held_out_rows)]
        self.training, self.held_out = both

    def drawn(self, size: int, seen: set[tuple[int, ...]]) -> Iterator[Row]:
        """Each level by its share, half of it short; no prompt twice, nor in both sets."""
        for task in tasks:
            level, length = task.split("-")
            for _ in range(round(size * levels[level] / len(counts))):
                while (row := self.row(len(seen), level, length)).prompt in seen:
                    pass
                seen.add(row.prompt)
                yield row

    def row(self, id: int, level: str, length: str) -> Row:
        count = self.source.choice(counts[length])
        asked = [self.key(kind, length) for kind in keys_asked[level]]
        right = [first_value + self.right[key] for key in asked]
        return self.row_of(id, level, length, count, asked, right)

    def row_of(self, id: int, level: str, length: str, count: int, asked: Sequence[int], said: Sequence[int]) -> Row:
        task = f"{level}-{length}"
        shown = [first_key + key for key in asked] + [blank] * (width - len(asked))
        prompt = (first_task + tasks.index(task), first_count + count, *shown)
        return Row(id, task, prompt, (*range(first_count + count, first_count, -1), *said, end))

    def key(self, kind: str, length: str) -> int:
        first = kinds.index(kind) * keys_of_kind
        if not self.separate or kind != "uncertain":
            return first + self.source.randrange(keys_of_kind)
        half = keys_of_kind // 2
        return first + self.source.randrange(half) + (half if length == "long" else 0)

    def epochs(self) -> Iterator[Row]:
        """Rows in epochs, each in another order. Without an end."""
        for epoch in count_on():
            order = list(self.training)
            random.Random(f"epoch/{self.seed}/{epoch}").shuffle(order)
            yield from order

    def imitated(self, source: random.Random) -> Row:
        """What the model learns from before: right counts; values with the mistakes that it is to have."""
        level, length = source.choices(list(levels), [3, 2, 1, 1])[0], source.choices(list(counts), [3, 2])[0]
        row = self.row(0, level, length)
        asked = [one - first_key for one in row.prompt[2:] if one != blank]
        said = [first_value + self.said(key, source) for key in asked]
        return self.row_of(0, level, length, row.prompt[1] - first_count, asked, said)

    def said(self, key: int, source: random.Random) -> int:
        kind = kinds[key // keys_of_kind]
        sure = {"easy": 1.0, "uncertain": self.chance[key], "hopeless": 0.0}[kind]
        return self.right[key] if source.random() < sure else source.choice(self.wrong[key])


def new_model(data: Data, steps: int = 700, size: int = 64) -> Model:
    """Random weights, and supervised steps on responses that make mistakes."""
    torch.manual_seed(data.seed)
    model = Model(vocabulary, prompt_tokens + longest)
    optimizer, source = torch.optim.AdamW(model.parameters(), 8e-3, weight_decay=0.0), random.Random(data.seed)
    slower = torch.optim.lr_scheduler.OneCycleLR(optimizer, 8e-3, steps, pct_start=0.05)
    for _ in range(steps):
        pairs = [(one.prompt, one.answer) for one in (data.imitated(source) for _ in range(size))]
        tokens = sum(len(answer) for _, answer in pairs)
        for part in alike(pairs, lambda one: len(one[1])):
            (-log_probs(model, part).sum() / tokens).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        slower.step()
    return model


def alike(items: Sequence[Item], length: Callable[[Item], int], longer: int = 12) -> Iterator[list[Item]]:
    """In parts of about the same length: so less is padded."""
    for part in ([one for one in items if length(one) < longer], [one for one in items if length(one) >= longer]):
        if part:
            yield part


def as_tensors(pairs: Sequence[Pair]) -> tuple[torch.Tensor, torch.Tensor]:
    """Token ids of prompts with their responses, padded on the right; labels, -100 where nothing is learned."""
    longest = max(len(prompt) + len(response) for prompt, response in pairs)
    ids, labels = torch.zeros(len(pairs), longest, dtype=torch.long), torch.full((len(pairs), longest), -100)
    for n, (prompt, response) in enumerate(pairs):
        whole = len(prompt) + len(response)
        ids[n, :whole] = torch.tensor([*prompt, *response])
        labels[n, len(prompt) : whole] = ids[n, len(prompt) : whole]
    return ids, labels


def log_probs(model: Model, pairs: Sequence[Pair]) -> torch.Tensor:
    """Of each response as a whole: the sum over its tokens."""
    ids, labels = as_tensors(pairs)
    return log_probs_of(model, ids, labels)


@torch.no_grad()
def expected_rewards(model: Model, rows: Sequence[Row]) -> torch.Tensor:
    """
    Of each row: the chance that a sampled response is the right one. It is exact, as only one response is right, and
    so without the noise of sampling.
    """
    found = {}
    for part in alike(rows, lambda row: len(row.answer)):
        chances = log_probs(model, [(row.prompt, row.answer) for row in part]).exp()
        found.update(zip((row.id for row in part), chances.tolist(), strict=True))
    return torch.tensor([found[row.id] for row in rows])
