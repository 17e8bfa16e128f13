"""From groups to a gradient, which is that of the whole batch however it is cut."""

from __future__ import annotations

import asyncio
import random
from typing import Any, Literal

import pytest

pytest.importorskip("torch", reason="pip install torch transformers")
transformers = pytest.importorskip("transformers", reason="pip install torch transformers")

import torch

import rollflex
from rollflex.rollout import Generated, Group, Sample
from rollflex.torch import MicroBatch, log_probs_of, micro_batches, policy_loss

vocabulary = 40


def model_of() -> Any:
    torch.manual_seed(3)
    config = transformers.Qwen2Config(
        vocab_size=vocabulary,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
    )
    return transformers.AutoModelForCausalLM.from_config(config)


def groups_of(sizes: tuple[int, ...] = (3, 4, 2, 5), log_probs: bool = True) -> list[Group[list[int], Generated]]:
    """Prompts and responses of uneven lengths."""
    source = random.Random(1)

    def ids(longest: int) -> list[int]:
        return [source.randrange(vocabulary) for _ in range(source.randint(1, longest))]

    def sample(name: str, index: int) -> Sample[Generated]:
        tokens = ids(40)
        old = [-source.uniform(2.5, 5) for _ in tokens] if log_probs else None
        body = Generated(token_ids=tokens, tokens=len(tokens), log_probs=old)
        return Sample(f"{name}/{index}", index, len(tokens), body, source.random())

    return [Group(f"p{n}", ids(12), [sample(f"p{n}", index) for index in range(size)]) for n, size in enumerate(sizes)]


def cut(groups: Any, **options: Any) -> list[MicroBatch]:
    async def plan() -> list[MicroBatch]:
        async with rollflex.AsyncClient() as client:
            return await micro_batches(client, groups, **options)

    return asyncio.run(plan())


def gradient(model: Any, batches: list[MicroBatch], **options: Any) -> torch.Tensor:
    model.zero_grad()
    for batch in batches:
        logits = model(input_ids=batch.input_ids, attention_mask=batch.attention_mask).logits
        policy_loss(batch, log_probs_of(logits, batch), **options).backward()
    return torch.cat([one.grad.flatten() for one in model.parameters()])


@pytest.mark.parametrize("unit", ["samples", "tokens"])
@pytest.mark.parametrize("log_probs", [False, True])
def test_gradients_of_micro_batches_and_ranks_add_up_to_that_of_the_batch(
    unit: Literal["samples", "tokens"], log_probs: bool
) -> None:
    model, groups = model_of(), groups_of(log_probs=log_probs)
    (whole,) = cut(groups, max_tokens=10_000, unit=unit)
    assert whole.factor == 1 and whole.input_ids.shape[0] == 14
    expected = gradient(model, [whole])
    largest = expected.abs().max()
    assert largest > 0.01
    pieces = cut(groups, max_tokens=90, unit=unit)
    assert len(pieces) >= 4 and len({one.factor for one in pieces}) > 1
    assert all(one.attention_mask.sum() <= 90 for one in pieces)
    assert (gradient(model, pieces) - expected).abs().max() < 1e-6 * largest

    sums = [gradient(model, cut(groups, max_tokens=90, unit=unit, rank=n, ranks=3)) for n in range(3)]
    assert (torch.stack(sums).sum(0) - expected).abs().max() < 1e-6 * largest
    options: Any = {"max_tokens": 90, "unit": unit, "ranks": 3, "collective": "mean"}
    means = [gradient(model, cut(groups, rank=n, **options)) for n in range(3)]
    assert (torch.stack(means).mean(0) - expected).abs().max() < 1e-6 * largest


def test_a_rank_without_sequences_takes_part_with_zeros() -> None:
    model, groups = model_of(), groups_of((2,))
    ranks = [cut(groups, max_tokens=90, rank=n, ranks=3) for n in range(3)]
    assert len({len(one) for one in ranks}) == 1
    empty = [one for of in ranks for one in of if one.response_mask.sum() == 0]
    assert empty and not any(gradient(model, [one]).any() for one in empty)


def test_the_loss_is_that_of_ppo() -> None:
    """Written out for each token, against the definition."""
    model, groups = model_of(), groups_of()
    (batch,) = cut(groups, max_tokens=10_000)
    found = policy_loss(batch, log_probs_of(model(input_ids=batch.input_ids).logits, batch, 0.7), clip=0.1)
    total, tokens = 0.0, 0
    samples = [(group, one) for group in groups for one in group.samples]
    order = [(one.tolist(), mask.sum().item()) for one, mask in zip(batch.input_ids, batch.attention_mask, strict=True)]
    for group, sample in samples:
        rewards = torch.tensor([one.reward for one in group.samples])
        assert sample.reward is not None
        advantage = (sample.reward - rewards.mean()) / (rewards.std() + 1e-6)
        ids = [*group.prompt, *sample.body.token_ids]
        at = order.index((ids + [0] * (batch.input_ids.shape[1] - len(ids)), len(ids)))
        assert batch.advantages[at].item() == pytest.approx(advantage.item(), abs=1e-5)
        log_probs = torch.log_softmax(model(torch.tensor([ids])).logits[0] / 0.7, -1)
        assert sample.body.log_probs is not None
        for place, (token, old) in enumerate(zip(sample.body.token_ids, sample.body.log_probs, strict=True)):
            ratio = torch.exp(log_probs[len(group.prompt) - 1 + place, token] - old)
            total -= torch.minimum(ratio * advantage, ratio.clamp(0.9, 1.1) * advantage).item()
            tokens += 1
    assert found.item() == pytest.approx(total / tokens, rel=1e-4)


def test_what_is_missing_is_said() -> None:
    groups: list[Any] = groups_of((2,))
    unrewarded = Group("p", [1], [Sample("p/0", 0, 1, Generated(token_ids=[1]), None)])
    with pytest.raises(ValueError, match=r"p/0 has no reward: expected one of Host\.reward"):
        cut([unrewarded], max_tokens=90)
    with pytest.raises(ValueError, match="p/0 has no token_ids"):
        cut([Group("p", [1], [Sample("p/0", 0, 1, Generated(text="words"), 1.0)])], max_tokens=90)
    with pytest.raises(rollflex.PolicyError, match="infeasible"):
        cut(groups, max_tokens=5)
