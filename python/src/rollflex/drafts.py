"""
Speculative decoding between an engine and the planner ``draft-budget``: what the engine says of acceptance, and budgets
for every size of the batch, as engines take them at their start.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from .models.planners.draft_budget import DraftBudgetInput, DraftBudgetInputSeenItem, DraftBudgetPlan

__all__ = ["by_batch_size", "seen_in_sglang", "seen_in_vllm", "sglang_adaptive_config"]

_sample = re.compile(r"^vllm:spec_decode_num_(\w+?)_total\{([^}]*)\} (\S+)", re.M)


def seen_in_vllm(metrics: str, before: str = "") -> list[DraftBudgetInputSeenItem]:
    """
    Returns observed acceptance, as ``seen`` for ``draft-budget``, from the text of vLLM's ``GET /metrics``. Counts of
    several engines are added.

    vLLM counts accepted tokens by position, but offered tokens only in total. If the length of drafts changes, as with
    ``num_speculative_tokens_per_batch_size``, only the first position is certain, and only this position is returned.

    :param before: an earlier text of the same server: only later observations count, for example those since the last
        weight update
    """
    now, then = _counts(metrics), _counts(before)
    counts = {name: value - then.get(name, 0.0) for name, value in now.items()}
    drafts = counts.get("drafts", 0.0)
    accepted: list[float] = []
    while (value := counts.get(f"accepted_tokens_per_pos {len(accepted)}")) is not None:
        accepted.append(value)
    if drafts <= 0 or not accepted:
        return []
    is_fixed = counts.get("draft_tokens", 0.0) == drafts * len(accepted)
    return [{"offered": drafts, "accepted": one} for one in accepted[: None if is_fixed else 1]]


def _counts(metrics: str) -> dict[str, float]:
    counts: dict[str, float] = {}
    for name, labels, value in _sample.findall(metrics):
        position = re.search(r'position="(\d+)"', labels)
        key = name if position is None else f"{name} {position[1]}"
        counts[key] = counts.get(key, 0.0) + float(value)
    return counts


def seen_in_sglang(responses: Iterable[Mapping[str, Any]]) -> list[DraftBudgetInputSeenItem]:
    """
    The same by the ``meta_info`` of SGLang's responses: ``spec_verify_ct``, ``spec_num_correct_drafts`` and
    ``spec_num_proposed_drafts``. SGLang says how many were accepted in all, so that the same chance at every position
    is assumed. Responses without these fields are left out.
    """
    verified = correct = proposed = 0
    for one in responses:
        if one.get("spec_verify_ct"):
            verified += one["spec_verify_ct"]
            correct += one["spec_num_correct_drafts"]
            proposed += one["spec_num_proposed_drafts"]
    depth = round(proposed / verified) if verified else 0
    if depth == 0:
        return []
    low, high = 0.0, 1.0
    for _ in range(50):
        chance = (low + high) / 2
        if sum(chance**position for position in range(1, depth + 1)) < correct / verified:
            low = chance
        else:
            high = chance
    return [{"offered": verified, "accepted": verified * low**position} for position in range(1, depth + 1)]


def by_batch_size(
    plan: Callable[[DraftBudgetInput], DraftBudgetPlan], given: DraftBudgetInput, largest: int
) -> list[tuple[int, int, int]]:
    """
    Returns budgets for batches of 1 to ``largest`` sequences: ``(first, last, tokens)`` for each range of sizes with
    one budget. This is vLLM's ``num_speculative_tokens_per_batch_size``.

    :param plan: such as ``lambda one: client.plan("draft-budget", one)``
    :param given: input of the planner; its ``groups`` are replaced
    """
    ranges: list[tuple[int, int, int]] = []
    for size in range(1, largest + 1):
        tokens = plan({**given, "groups": [{"sequences": size}]})["draftTokens"]
        if ranges and ranges[-1][2] == tokens:
            ranges[-1] = (ranges[-1][0], size, tokens)
        else:
            ranges.append((size, size, tokens))
    return ranges


def sglang_adaptive_config(ranges: Iterable[tuple[int, int, int]]) -> dict[str, Any]:
    """
    Returns the file for SGLang's ``--speculative-adaptive-config`` from budgets by batch size: one candidate per size,
    so that SGLang has nothing to choose.
    """
    return {str(first): {"candidate_steps": [tokens]} for first, _, tokens in ranges}
