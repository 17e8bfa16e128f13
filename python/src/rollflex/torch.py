"""
From groups to a gradient: advantages, micro-batches and factors of the planners, as tensors of torch.

Nothing here needs the groups to come from :class:`rollflex.rollout.Rollout`, nor the model to be of ``transformers``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Literal

import torch

from ._options import Untyped
from .aio import AsyncClient
from .rollout import Group

__all__ = ["MicroBatch", "log_probs_of", "micro_batches", "policy_loss"]

Unit = Literal["samples", "tokens"]


@dataclass(frozen=True)
class MicroBatch:
    """Sequences for one forward and backward pass, padded on the right: prompt, then response."""

    input_ids: torch.Tensor
    """Token ids, of shape (sequences, tokens), like the next three tensors."""
    attention_mask: torch.Tensor
    """1 where a token is, 0 where padding is."""
    response_mask: torch.Tensor
    """1 where a token of a response is, otherwise 0."""
    old_log_probs: torch.Tensor | None
    """
    Log probability of the token at this place, from the engine; 0 outside responses. None if the engine gave none.
    """
    advantages: torch.Tensor
    """One advantage per sequence, of shape (sequences,)."""
    factor: float
    """Factor for the mean of this micro-batch, with which all micro-batches add up to the mean of the batch."""
    unit: Unit


async def micro_batches(
    client: AsyncClient,
    groups: Sequence[Group[Any, Any]],
    *,
    max_tokens: int,
    unit: Unit = "tokens",
    prompt_ids: Callable[[Any], Sequence[int]] = list,
    pad_id: int = 0,
    device: Any = None,
    rank: int = 0,
    ranks: int = 1,
    collective: Literal["sum", "mean"] = "sum",
    advantages: dict[str, Any] | None = None,
) -> list[MicroBatch]:
    """
    Returns the micro-batches of a batch, each with at most ``max_tokens`` tokens, without padding. Responses need
    ``token_ids`` (as :class:`rollflex.rollout.Generated` has them) and a reward; ``prompt_ids`` gives the tokens of a
    prompt, by default the prompt itself.

    ``unit``: the loss is a mean over responses or over their tokens. With ``ranks``, returns the micro-batches of one
    data-parallel ``rank``, whose gradients the ``collective`` adds up or averages; each rank has the same number of
    micro-batches, and an empty one consists of one padding token. ``advantages``: options of the planner
    ``grpo-advantages``.

    Raises ValueError for a response without a reward or tokens, and :class:`rollflex.PolicyError` of a planner, such as
    ``infeasible`` where one sequence has more tokens than ``max_tokens``.
    """
    rewards = [{"groupId": one.prompt_id, "rewards": [_reward(sample) for sample in one.samples]} for one in groups]
    planned = await client.plan(Untyped("grpo-advantages"), {**(advantages or {}), "groups": rewards})
    rows = [
        _Row(list(prompt_ids(group.prompt)), list(sample.body.token_ids), sample.body.log_probs, advantage)
        for group, plan in zip(groups, planned["groups"], strict=True)
        for sample, advantage in zip(group.samples, plan["advantages"], strict=True)
    ]
    lengths = [len(row.prompt) + len(row.response) for row in rows]
    cut = {"lengths": lengths, "ranks": ranks, "maxTokensPerMicroBatch": max_tokens}
    plan = await client.plan(Untyped("micro-batches"), cut)
    batches = [[[rows[at] for at in one["sequences"]] for one in of["microBatches"]] for of in plan["ranks"]]
    replicas = [{**_counts(list(chain(*of))), "microBatches": [_counts(one) for one in of]} for of in batches]
    scaled = {"unit": unit, "replicas": replicas, "collective": collective}
    factors = (await client.plan(Untyped("gradient-renormalization"), scaled))["microBatchFactors"][rank]
    has_log_probs = all(row.log_probs is not None for row in rows)
    return [
        _tensors(one, factor, unit, pad_id, device, has_log_probs)
        for one, factor in zip(batches[rank], factors, strict=True)
    ]


def log_probs_of(logits: torch.Tensor, batch: MicroBatch, temperature: float = 1.0) -> torch.Tensor:
    """
    Log probabilities of a micro-batch's tokens, of shape (sequences, tokens), by softmax(logits / temperature); 0
    outside responses. ``logits``: output of the model for ``input_ids``, of shape (sequences, tokens, vocabulary).
    """
    scaled = torch.log_softmax(logits[:, :-1].float() / temperature, dim=-1)
    chosen = scaled.gather(-1, batch.input_ids[:, 1:, None])[..., 0]
    return torch.nn.functional.pad(chosen, (1, 0)) * batch.response_mask


def policy_loss(batch: MicroBatch, log_probs: torch.Tensor, *, clip: float = 0.2) -> torch.Tensor:
    """
    The clipped PPO loss with GRPO advantages, scaled so that the gradients of all micro-batches add up to the gradient
    of the whole batch. ``log_probs``: result of :func:`log_probs_of`. The ratio is relative to ``old_log_probs``, or 1
    without them.
    """
    old = log_probs.detach() if batch.old_log_probs is None else batch.old_log_probs
    ratio = torch.exp(log_probs - old)
    gains = batch.advantages[:, None] * torch.stack([ratio, ratio.clamp(1 - clip, 1 + clip)])
    losses = -gains.amin(0) * batch.response_mask
    tokens = batch.response_mask.sum(-1)
    if batch.unit == "tokens":
        return batch.factor * losses.sum() / tokens.sum().clamp(min=1)
    return batch.factor * (losses.sum(-1) / tokens.clamp(min=1)).mean()


@dataclass(frozen=True)
class _Row:
    prompt: list[int]
    response: list[int]
    log_probs: Sequence[float] | None
    advantage: float


def _reward(sample: Any) -> float:
    if sample.reward is None:
        raise ValueError(f"response {sample.request_id} has no reward: expected one of Host.reward for each response")
    if not getattr(sample.body, "token_ids", None):
        raise ValueError(f"response {sample.request_id} has no token_ids: expected an engine that gives them")
    return float(sample.reward)


def _counts(rows: Sequence[_Row]) -> dict[str, int]:
    return {"samples": len(rows), "tokens": sum(len(row.response) for row in rows)}


def _tensors(
    rows: Sequence[_Row], factor: float, unit: Unit, pad_id: int, device: Any, has_log_probs: bool
) -> MicroBatch:
    # An empty pass is made, because other ranks wait for this one.
    rows = rows or [_Row([pad_id], [], [], 0.0)]
    longest = max(len(row.prompt) + len(row.response) for row in rows)

    def padded(values: Callable[[_Row], Sequence[float]], dtype: torch.dtype, pad: float = 0) -> torch.Tensor:
        given = [list(values(row)) for row in rows]
        return torch.tensor([one + [pad] * (longest - len(one)) for one in given], dtype=dtype, device=device)

    def old(row: _Row) -> Sequence[float]:
        return [0.0] * len(row.prompt) + list(row.log_probs or ())

    return MicroBatch(
        input_ids=padded(lambda row: row.prompt + row.response, torch.long, pad_id),
        attention_mask=padded(lambda row: [1] * (len(row.prompt) + len(row.response)), torch.long),
        response_mask=padded(lambda row: [0] * len(row.prompt) + [1] * len(row.response), torch.long),
        old_log_probs=padded(old, torch.float32) if has_log_probs else None,
        advantages=torch.tensor([row.advantage for row in rows], dtype=torch.float32, device=device),
        factor=factor,
        unit=unit,
    )
