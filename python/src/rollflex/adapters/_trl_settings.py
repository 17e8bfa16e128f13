"""Settings that follow from those of TRL's trainer."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any


def policy_config(
    args: Any, policy: Mapping[str, Any], rounds_ahead: int, recipe: str = "tail-batching"
) -> dict[str, Any]:
    """Returns the settings of the policy: those derived from the trainer's, overridden by ``policy``."""
    if recipe not in ("tail-batching", "lossless-tail"):
        raise ValueError(f"recipe: expected tail-batching or lossless-tail, got {recipe!r}")
    if rounds_ahead < 0:
        raise ValueError(f"rounds_ahead: expected 0 or more, got {rounds_ahead}")
    if policy.get("filter", "none") not in ("none", "zero-variance"):
        raise ValueError(f"policy: filter: expected none or zero-variance, got {policy['filter']!r}")
    a_step = args.per_device_train_batch_size * args.gradient_accumulation_steps * args.world_size
    prompts = policy.get("promptsPerRound", math.ceil(a_step / args.num_generations))
    # Number of weight syncs while samples wait: for the rounds ahead, for this round, and for a running sync.
    waiting = math.ceil((rounds_ahead + 1) * prompts * args.num_generations / (a_step * args.weight_sync_steps)) + 1
    # A round of the lossless tail waits for all responses, so none continues in the next round.
    is_lossless = recipe == "lossless-tail"
    staleness = 0 if is_lossless else policy.get("maxStaleness", max(0, args.max_staleness - waiting))
    if staleness + waiting > args.max_staleness:
        raise ValueError(
            f"max_staleness: expected at least {staleness + waiting}, got {args.max_staleness}: samples may wait for "
            f"{waiting} weight syncs with rounds_ahead {rounds_ahead} and {prompts} prompts a round, and the trainer "
            "would drop them"
        )
    ours = {"responsesPerPrompt", "placement"} & set(policy)
    if ours:
        raise ValueError(f"policy: {', '.join(sorted(ours))} follow from the trainer's arguments and the engines")
    return {
        **policy,
        "promptsPerRound": prompts,
        "responsesPerPrompt": args.num_generations,
        **({} if is_lossless else {"maxStaleness": staleness}),
        # A group counts when its rewards are in.
        "filter": "host",
        "placement": "host",
    }


def sampling_of(args: Any) -> dict[str, Any]:
    """The sampling parameters that TRL's own worker sends to vLLM."""
    sampling = {
        "max_tokens": args.max_completion_length,
        "temperature": args.temperature,
        "top_p": args.top_p,
        "top_k": args.top_k,
        "repetition_penalty": args.repetition_penalty,
    }
    return sampling if args.min_p is None else {**sampling, "min_p": args.min_p}
