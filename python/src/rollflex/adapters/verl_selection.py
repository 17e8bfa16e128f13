"""
Prompts worth their tokens in verl's v1 trainer: a data set (`data.custom_cls`) that passes rows over which teach
little, and samplers (`trainer.v1.sampler.custom_sampler`) that tell it rewards and lengths, of filtered groups too.

Follows verl 0.9.1 and main at 1dda039 (2026-08-22): `create_rl_dataset`, `ReplayBuffer.sample`, `_clear_groups`.
"""

from __future__ import annotations

from verl.trainer.ppo.v1.replay_buffer import ReplayBuffer, ReplayBufferAsync

from ._order import selection
from ._verl_order import LearningOfAll, OrderedDataset

__all__ = ["PromptSelectionDataset", "PromptSelectionSampler", "PromptSelectionSamplerAsync"]


class PromptSelectionDataset(OrderedDataset):
    """The training data set without the rows that are passed over in an epoch."""

    policy = selection


class PromptSelectionSampler(LearningOfAll, ReplayBuffer):  # type: ignore[misc]
    """verl's own sampler for `trainer_mode: sync`. `sampler_kwargs` may have `filter_groups_metric`."""


class PromptSelectionSamplerAsync(LearningOfAll, ReplayBufferAsync):  # type: ignore[misc]
    """verl's own sampler for the asynchronous modes."""
