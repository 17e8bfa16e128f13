"""slime's own filter: the deviation of a sample, which a single reward does not have."""

from __future__ import annotations

from typing import Any

import torch

from .base_types import DynamicFilterOutput


def check_reward_nonzero_std(args: Any, samples: list[Any], **options: Any) -> DynamicFilterOutput:
    rewards = [one.get_reward_value(args) for one in samples]
    keep = torch.tensor(rewards, dtype=torch.float64).std() > 1e-6
    return DynamicFilterOutput(keep=keep, reason=None if keep else f"zero_std_{round(rewards[0], 1)}")
