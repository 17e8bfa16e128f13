"""
The lossless tail in verl's v1 trainer with `trainer_mode: sync`: a data set (`data.custom_cls`) that gives its rows in
composed rounds, and a sampler (`trainer.v1.sampler.custom_sampler`) that tells it how long responses were.

Follows verl 0.9.1 and main at 1dda039 (2026-08-22): `create_rl_dataset`, `ReplayBuffer.sample` and `AgentLoopWorkerTQ`.
"""

from __future__ import annotations

from verl.trainer.ppo.v1.replay_buffer import ReplayBuffer

from ._verl_order import Learning, OrderedDataset

__all__ = ["LosslessTailDataset", "LosslessTailSampler"]


class LosslessTailDataset(OrderedDataset):
    """The training data set in composed rounds."""

    policy = "round-composition"


class LosslessTailSampler(Learning, ReplayBuffer):  # type: ignore[misc]
    """verl's own synchronous sampler; the data set learns from the samples that it returns."""
