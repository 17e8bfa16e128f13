"""
Prompts worth their tokens in NeMo-RL's single controller: a data set (`data.train.dataset_name`) that passes rows over
which teach little, and a sampler (`async_rl.sampler`) that tells it rewards and lengths.
"""

from __future__ import annotations

from typing import Any

from ._nemo_rl_order import OrderedDataset, OrderedSampler, dataset_of
from ._order import selection


def __getattr__(name: str) -> Any:
    """`…nemo_rl_selection.DAPOMath17K` is NeMo-RL's data set of that name, without what is passed over."""
    return dataset_of(PromptSelectionDataset, name)


class PromptSelectionDataset(OrderedDataset):
    """A data set of NeMo-RL without the rows that are passed over. `of` is its name, in a class of your own."""


class PromptSelectionSampler(OrderedSampler):
    """NeMo-RL's `in_order` sampler; rows are selected by the rewards and lengths of the groups."""

    policy = selection
