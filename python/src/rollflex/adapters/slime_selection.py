"""
Prompts worth their tokens in slime: ``--data-source-path rollflex.adapters.slime_selection.PromptSelectionDataSource``
passes prompts over which teach little; ``--rollout-all-samples-process-path rollflex.adapters.slime_selection.learn``
tells it rewards and lengths, of filtered groups too. Follows slime at commit 624b824 (21 August 2026).
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from slime.utils.types import Sample

from ._check import refuse
from ._check_slime import problems_of_selection, server_of, unknown_settings
from ._order import Answer, Order, selection
from ._slime_source import RollflexDataSource

__all__ = ["PromptSelectionDataSource", "learn"]
logger = logging.getLogger("rollflex")


class PromptSelectionDataSource(RollflexDataSource):
    """
    First gives the groups of the buffer, then those of the data set without what is passed over, which comes again in
    the next epoch. ``rollflex_selection`` has settings of the policy; ``rollflex_domain`` names what tells domains
    apart in the metadata of a sample.
    """

    def __init__(self, args: Any) -> None:
        super().__init__(args)
        if self.dataset is None:
            raise ValueError("--prompt-data: expected a data set, whose prompts come again in each epoch")
        refuse([*unknown_settings(args), *problems_of_selection(args)])
        self._of_rows = self.dataset.origin_samples
        name = getattr(args, "rollflex_domain", "source_name")
        if hasattr(args, "rollflex_domain") and not any(name in (one.metadata or {}) for one in self._of_rows):
            raise ValueError(f"rollflex_domain: expected a name in the metadata of a sample, got {name!r}")
        self.order = Order(
            selection,
            len(self._of_rows),
            args.rollout_batch_size,
            args.n_samples_per_prompt,
            shuffle=args.rollout_shuffle,
            seed=args.rollout_seed,
            domain=lambda row: (self._of_rows[row].metadata or {}).get(name),
            settings=getattr(args, "rollflex_selection", None),
            server=server_of(args),
        )

    def learn(self, groups: list[list[Any]]) -> None:
        """Learns from all groups of a rollout, those that were filtered too."""
        learnt = []
        for group in groups:
            last = [one[-1] if isinstance(one, list) else one for one in group]
            row = getattr(last[0], "rollflex_row", None)
            if row is not None:
                parts = [one if isinstance(one, list) else [one] for one in group]
                learnt.append((row, [self._answer(one) for one in parts]))
        self.order.learn(learnt)
        self.order.version += 1
        logger.info("prompts: %s", self.order.metrics())

    def state(self) -> dict[str, Any]:
        return {**super().state(), "order": self.order.state()}

    def restore(self, state: dict[str, Any]) -> None:
        super().restore(state)
        if "order" in state:
            self.order.load(state["order"])
        else:
            logger.warning("the checkpoint is one without selection: the data begins anew")

    def _draw(self, most: int) -> list[list[Any]]:
        self.dataset.samples, self.sample_offset = self._of_rows, self.order.next()
        return super()._draw(1)

    def _answer(self, parts: list[Any]) -> Answer:
        """Tokens and reward of a response, which may have fanned out: its last sample has the reward."""
        failed = any(one.status in (Sample.Status.FAILED, Sample.Status.ABORTED) for one in parts)
        reward = None if failed or parts[-1].reward is None else parts[-1].get_reward_value(self.args)
        tokens = sum(one.response_length for one in parts)
        return tokens, float(reward) if isinstance(reward, int | float) else None


def learn(args: Any, all_samples: list[list[Any]], data_source: Callable[[int], Any]) -> None:
    """For ``--rollout-all-samples-process-path``; slime passes the method that draws."""
    source = getattr(data_source, "__self__", data_source)
    if not isinstance(source, PromptSelectionDataSource):
        raise TypeError("--data-source-path must be rollflex.adapters.slime_selection.PromptSelectionDataSource")
    source.learn(all_samples)
