"""A dynamic filter for slime."""

from __future__ import annotations

import math
from typing import Any

from slime.rollout.filter_hub.base_types import DynamicFilterOutput

_tolerance = 1e-6
_of_slime = "slime.rollout.filter_hub.dynamic_sampling_filters.check_reward_nonzero_std"


def check_reward_nonzero_std(args: Any, samples: list[Any], **options: Any) -> Any:
    """
    Keeps groups whose rewards differ (``--dynamic-sampling-filter-path``). A single response has no deviation, which is
    not the same as none; where a response has fanned out, its last sample has the reward.
    """
    last = [one[-1] if isinstance(one, list) else one for one in samples]
    rewards = [float(one.get_reward_value(args)) for one in last]
    mean = math.fsum(rewards) / len(rewards)
    deviation = math.sqrt(math.fsum((one - mean) ** 2 for one in rewards) / len(rewards))
    keep = len(rewards) == 1 or deviation > _tolerance
    return DynamicFilterOutput(keep=keep, reason=None if keep else f"zero_std_{round(rewards[0], 1)}")


def has_a_filter_for_one(path: str) -> bool:
    """Whether a filter can judge a group of one response: slime's own filter drops every such group."""
    return not path.startswith(_of_slime)
