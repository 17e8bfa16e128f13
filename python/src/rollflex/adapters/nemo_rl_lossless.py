"""
The lossless tail in NeMo-RL's single controller: a data set (`data.train.dataset_name`) that gives its rows in composed
rounds, and a sampler (`async_rl.sampler`) that tells it how long responses were.
"""

from __future__ import annotations

from typing import Any

from ._nemo_rl_order import OrderedDataset, OrderedSampler, dataset_of


def __getattr__(name: str) -> Any:
    """`…nemo_rl_lossless.DAPOMath17K` is NeMo-RL's data set of that name, in composed rounds."""
    return dataset_of(LosslessTailDataset, name)


class LosslessTailDataset(OrderedDataset):
    """A data set of NeMo-RL in composed rounds. `of` is its name, in a class of your own."""


class LosslessTailSampler(OrderedSampler):
    """NeMo-RL's `in_order` sampler; the rounds are composed by the lengths of the groups."""

    policy = "round-composition"
