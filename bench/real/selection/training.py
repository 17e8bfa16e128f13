"""One run of GRPO: groups that a strategy chose, and a step on those that have a gradient."""

from __future__ import annotations

import copy
from collections import Counter
from pathlib import Path
from time import process_time
from typing import Any

import torch
from model import Model, repeated, sample
from strategies import Group, Uniform, per_group, strategies
from task import Data, Row, alike, end, expected_rewards, log_probs, longest, new_model, prompt_tokens, vocabulary

every = 1_000
"""Generated tokens between evaluations, about."""


def first_model(data: Data, folder: Path) -> Model:
    """The same for each strategy: it is trained once for a seed, and kept in the folder."""
    kept = folder / f"model-{data.seed}{'-separate' if data.separate else ''}.pt"
    if not kept.exists():
        folder.mkdir(parents=True, exist_ok=True)
        torch.save(new_model(data).state_dict(), part := kept.with_suffix(".part"))
        part.rename(kept)
    model = Model(vocabulary, prompt_tokens + longest)
    model.load_state_dict(torch.load(kept))
    return model


def rolled_out(model: Model, rows: list[Row], source: torch.Generator) -> list[Group]:
    responses = sample(model, repeated([row.prompt for row in rows], per_group), end, longest, source)
    groups = []
    for n, row in enumerate(rows):
        of = responses[n * per_group : (n + 1) * per_group]
        groups.append(Group(row, of, [float(tuple(one) == row.answer) for one in of]))
    return groups


def gradient(model: Model, groups: list[Group], divisor: float) -> None:
    """Of GRPO's loss on fresh samples: the advantage times the log probability, summed over tokens, by a constant."""
    pairs, weights = [], []
    for group in groups:
        rewards = torch.tensor(group.rewards)
        for response, one in zip(group.responses, ((rewards - rewards.mean()) / rewards.std()).tolist(), strict=True):
            pairs.append((group.row.prompt, response))
            weights.append(one)
    for part in alike(list(zip(pairs, weights, strict=True)), lambda one: len(one[0][1])):
        found = log_probs(model, [pair for pair, _ in part])
        (-(found * torch.tensor([weight for _, weight in part])).sum() / divisor).backward()


def train(name: str, seed: int, budget: int, rate: float, folder: Path, **changed: Any) -> dict[str, Any]:
    """
    Until so many tokens were generated for training. The curve: generated tokens, the expected reward of held-out
    prompts, steps, groups rolled out, and groups trained on.
    """
    torch.set_num_threads(1)
    warm_up = changed.pop("warm_up", 5)
    data = Data(seed, **{key: changed.pop(key) for key in ("rows", "separate") if key in changed})
    model = copy.deepcopy(first_model(data, folder))
    kind, settings = strategies[name]
    strategy: Uniform = kind(data.epochs(), seed, **{**settings, **changed})
    optimizer = torch.optim.AdamW(model.parameters(), rate, betas=(0.9, 0.95), weight_decay=0.0)
    rising = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / warm_up))
    source = torch.Generator().manual_seed(seed)
    began, generated, steps, rolled, trained, evaluated = process_time(), 0, 0, 0, 0, -every
    rolled_of, trained_of = Counter[str](), Counter[str]()
    curve, tasks_at = [], []
    while True:
        if generated - evaluated >= every or generated >= budget:
            evaluated = generated
            rewards = expected_rewards(model, data.held_out)
            curve.append([generated, round(rewards.mean().item(), 4), steps, rolled, trained])
            if len(curve) % 10 == 1 or generated >= budget:
                tasks_at.append({"generated": generated, **by_task(data.held_out, rewards), **strategy.told()})
        if generated >= budget:
            break
        groups: list[Group] = []
        while rows := strategy.choose(groups):
            found = rolled_out(model, rows, source)
            generated += sum(one.tokens for one in found)
            strategy.observe(found)
            groups += found
            if generated >= budget:
                break
        if kept := strategy.trained(groups):
            gradient(model, kept, strategy.size * per_group)
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
        rising.step()
        strategy.published()
        steps, rolled, trained = steps + 1, rolled + len(groups), trained + len(kept)
        rolled_of.update(one.row.task for one in groups)
        trained_of.update(one.row.task for one in kept)
    return {
        "curve": curve,
        "tasks": tasks_at,
        "rolled": dict(rolled_of),
        "trained": dict(trained_of),
        "passed_over": strategy.passed_over,
        "seconds": round(process_time() - began, 1),
    }


def by_task(rows: list[Row], rewards: torch.Tensor) -> dict[str, float]:
    of: dict[str, list[float]] = {}
    for row, reward in zip(rows, rewards.tolist(), strict=True):
        of.setdefault(row.task, []).append(reward)
    return {task: round(sum(found) / len(found), 3) for task, found in of.items()}
