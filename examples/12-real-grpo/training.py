"""One run: rounds of a recipe over a model in this process, and steps of GRPO after each."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from statistics import fmean, pstdev

import torch
from task import every_prompt, longest, new_model, reward_of, rows_in_epochs, shares, times

from rollflex import AsyncClient
from rollflex.rollout import EngineHost, EnginePool, Generated, HfEngine, Launch, Response, Rollout, Supplied, composes
from rollflex.torch import log_probs_of, micro_batches, policy_loss

per_round, per_prompt, learning_rate, warm_up, updates = 8, 8, 3e-3, 8, 2
data_rows = 80
"""Rows of the data set: an epoch has ten rounds."""
# The same code runs all: without speculation every response that is launched is waited for.
schedules: dict[str, tuple[str, dict[str, float]]] = {
    "synchronous": ("tail-batching", {"promptSpeculation": 1, "responseSpeculation": 1}),
    "tail batching": ("tail-batching", {"promptSpeculation": 1.25, "responseSpeculation": 1.25}),
    "lossless tail": ("lossless-tail", {"windowRounds": data_rows // per_round}),
}


@dataclass
class Point:
    """What a run has come to. Everything is counted since its beginning, without evaluations."""

    reward: float = 0.0
    """Of the evaluation."""
    steps: int = 0
    """Rounds, with their training."""
    kept: int = 0
    """Tokens of responses that were trained on."""
    generated: int = 0
    """Tokens, those of aborted responses included."""
    decode_steps: int = 0
    seconds: float = 0.0
    """Of processor time, for rollouts and training: what others do on the machine hardly disturbs it."""
    aborted: int = 0
    """Requests."""
    supplied: int = 0
    """Prompts."""
    waiting: int = 0
    """Of them: in the long-prompt queue, or in the window, now."""
    rewards: dict[str, float] = field(default_factory=dict)
    """Of the evaluation, by the number of words that prompts ask for."""
    spread: dict[str, float] = field(default_factory=lambda: {str(one): 0.0 for one in times.values()})
    """Standard deviations of the rewards of the groups that were trained on, summed, by the same."""


class Task(EngineHost[list[int]]):
    def __init__(self, engine: HfEngine, seed: int, composes: bool) -> None:
        super().__init__(EnginePool([engine]), {"max_new_tokens": longest})
        self.source = rows_in_epochs(seed, data_rows)
        self.composes = composes
        self.supplied = self.generated = 0

    async def supply(self, count: int, domains: Mapping[str, int] | None) -> list[Supplied[list[int]]]:
        self.supplied += count
        return [self.named(*next(self.source)) for _ in range(count)]

    def named(self, epoch: int, row: int, prompt: list[int]) -> Supplied[list[int]]:
        """Under one id in all epochs, where the policy remembers its lengths by it; else under a new one."""
        return Supplied(f"row-{row}" if self.composes else f"row-{row}@{epoch}", prompt)

    async def give_back(self, prompts: Sequence[Supplied[list[int]]]) -> None:
        """The run is over."""

    async def generate(self, launch: Launch[list[int], Generated]) -> Response[Generated]:
        response = await super().generate(launch)
        self.generated += response.tokens
        return response

    async def reward(self, launch: Launch[list[int], Generated], response: Response[Generated]) -> float:
        return reward_of(launch.prompt, response.body.token_ids)

    async def evaluate(self, step: int, samples: int = 8) -> dict[str, float]:
        """Mean reward by the number of words asked for."""

        async def one(n: int, prompt: list[int]) -> float:
            found = await self.pool.generate(f"evaluation/{step}/{n}", prompt, self.sampling)
            return reward_of(prompt, found.token_ids)

        asked = every_prompt * samples
        rewards = await asyncio.gather(*(one(n, prompt) for n, prompt in enumerate(asked)))
        return {
            str(times[kind]): fmean(reward for (_, of), reward in zip(asked, rewards, strict=True) if of == kind)
            for kind in shares
        }


async def train(schedule: str, seed: int, tokens: int, every: int) -> list[Point]:
    """Until so many tokens were trained on; a point after every so many."""

    async def answered(ended: Sequence[str]) -> None:
        """The next step waits until the policy has answered: a run is the same each time."""
        if ended:
            await turns()
            await rollout.outbox.flush()
            await turns()

    torch.set_num_threads(1)
    model = new_model(seed)
    optimizer = torch.optim.AdamW(model.parameters(), learning_rate, betas=(0.9, 0.95), weight_decay=0.0)
    rising = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / warm_up))
    engine = HfEngine(model, seed=seed, after_step=answered)
    policy, settings = schedules[schedule]
    host = Task(engine, seed, composes(policy, settings))
    config = {"promptsPerRound": per_round, "responsesPerPrompt": per_prompt, "idPrefix": "", **settings}
    now, points, trained = Point(), list[Point](), Counter[str]()
    async with AsyncClient() as client:
        rollout = await Rollout.open(client, host, config, policy=policy, send_interval_seconds=0.0)
        while True:
            if now.kept >= len(points) * every:
                now.rewards = await host.evaluate(now.steps)
                # Each kind of prompt counts as often as it comes in training.
                now.reward = sum(share * now.rewards[str(times[kind])] for kind, share in shares.items())
                points.append(Point(**asdict(now)))
            if now.kept >= tokens:
                break
            began, decoded, host.generated = time.process_time(), engine.steps, 0
            engine.weight_version = now.steps
            done = await rollout.round(weight_version=now.steps)
            for _ in range(updates):
                for batch in await micro_batches(client, done.groups, max_tokens=4096):
                    logits = model(input_ids=batch.input_ids, attention_mask=batch.attention_mask).logits
                    policy_loss(batch, log_probs_of(logits, batch)).backward()
                torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
                optimizer.zero_grad()
            rising.step()
            now.steps += 1
            now.seconds += time.process_time() - began
            now.decode_steps += engine.steps - decoded
            now.generated += host.generated
            now.aborted += done.aborted
            now.kept += sum(one.tokens for group in done.groups for one in group.samples)
            for group in done.groups:
                asked = str(times[group.prompt[1]])
                now.spread[asked] += pstdev([one.reward or 0.0 for one in group.samples])
            now.supplied, now.waiting = host.supplied, len(rollout.waiting())
            trained.update(one.prompt_id for one in done.groups)
            assert len(done.groups) == per_round and all(len(one.samples) == per_prompt for one in done.groups)
            assert trained.total() == now.steps * per_round == now.supplied - now.waiting, "none is lost"
            epoch = -(-trained.total() // data_rows) if host.composes else 1
            assert max(trained.values()) == epoch, "each row once in an epoch"
        await rollout.close()
    return points


async def turns() -> None:
    """What is ready on the event loop runs."""
    for _ in range(20):
        await asyncio.sleep(0)


async def step_costs(sizes: Sequence[int] = (1, 8, 64, 100)) -> dict[int, float]:
    """Milliseconds of processor time that a decode step takes, by the number of responses in it."""
    torch.set_num_threads(1)
    model, found = new_model(0), {}
    for size in sizes:
        engine = HfEngine(model)
        sampling = {"max_new_tokens": longest, "ignore_eos": True}
        began = time.process_time()
        await asyncio.gather(*(engine.generate(f"r{n}", every_prompt[n % 12], sampling) for n in range(size)))
        found[size] = (time.process_time() - began) / engine.steps * 1000
    return found
