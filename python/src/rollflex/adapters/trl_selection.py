"""
Prompts worth their tokens in TRL's synchronous trainer: a :class:`trl.GRPOTrainer` that passes rows over which teach
little. Follows TRL 1.16.0: ``_get_train_sampler``, ``_calculate_rewards``, ``_generate_and_score_completions``.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator, Mapping, Sequence, Sized
from pathlib import Path
from typing import Any

import torch
from torch.utils.data import Sampler
from trl import GRPOTrainer

from ._order import Answer, Order, selection

__all__ = ["PromptSelectionTrainer"]
_file = "rollflex_selection.json"
Drawn = list[tuple[int, float]]
"""Rows of a generation, and their weights."""


class PromptSelectionTrainer(GRPOTrainer):  # type: ignore[misc]
    """
    TRL's trainer, whose rows are selected by the rewards and lengths of their completions.

    :param selection: settings of `prompt-selection`; `normalization` follows from ``scale_rewards``
    :param domain: the column of the data set that tells domains apart
    :param server: parameters of :meth:`rollflex.Client.connect`; the policy runs in this process if absent
    """

    def __init__(
        self,
        *args: Any,
        selection: Mapping[str, Any] | None = None,
        domain: str | None = None,
        server: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> None:
        self._settings, self._domain, self._server = dict(selection or {}), domain, server
        self._order: Order | None = None
        self._drawn: deque[Drawn] = deque()
        """What the data loader has drawn, and nothing is generated of yet."""
        super().__init__(*args, **options)
        # What was drawn is in the checkpoint: drawing it again would select other rows.
        self.args.ignore_data_skip = True

    def _get_train_sampler(self, dataset: Any = None) -> Any:
        sampler = super()._get_train_sampler(dataset)
        if self._order is None:
            rows = sampler.data_source
            domains = None if self._domain is None else rows[self._domain]
            scale = {"normalization": "std" if self.scale_rewards == "group" else "none"}
            self._order = Order(
                selection,
                len(rows),
                sampler.batch_size,
                self.num_generations,
                shuffle=self.shuffle_dataset,
                seed=self.args.seed,
                domain=lambda row: None if domains is None else domains[row],
                settings={**scale, **self._settings},
                server=self._server,
                weighs=True,
            )
        return Selected(sampler, self._order, self._drawn)

    def _generate_and_score_completions(self, inputs: Any) -> Any:
        self._of_batch: Drawn = []
        output = super()._generate_and_score_completions(inputs)
        if any(weight != 1 for _, weight in self._of_batch):
            every = [weight for _, weight in self._of_batch for _ in range(self.num_generations)]
            first = self.accelerator.process_index * len(inputs)
            weights = torch.tensor(every[first : first + len(inputs)], device=output["advantages"].device)
            output["advantages"] = output["advantages"] * weights
        return output

    def _calculate_rewards(self, inputs: Any, prompts: Any, completions: Any, completion_ids_list: Any) -> Any:
        rewards = super()._calculate_rewards(inputs, prompts, completions, completion_ids_list)
        if not self.model.training:
            return rewards
        if self._order is None:
            raise RuntimeError("train_dataset: expected rows that can be drawn by number, not a stream")
        # All processes learn the same, so that they go on drawing the same.
        lengths = torch.tensor([len(ids) for ids in completion_ids_list], device=rewards.device)
        answers = _answers(self.accelerator.gather(lengths), rewards, self.reward_weights)
        self._of_batch = self._drawn.popleft()
        if len(answers) != self.num_generations * len(self._of_batch):
            raise RuntimeError(f"expected {self.num_generations} completions of {len(self._of_batch)} prompts")
        each = range(0, len(answers), self.num_generations)
        groups = [answers[first : first + self.num_generations] for first in each]
        self._order.learn((row, group) for (row, _), group in zip(self._of_batch, groups, strict=True))
        self._order.version += 1
        for name, value in self._order.metrics().items():
            self._metrics["train"][name].append(value)
        return rewards

    def _save_checkpoint(self, model: Any, trial: Any) -> None:
        super()._save_checkpoint(model, trial)
        if self._order is not None and self.args.should_save:
            folder = Path(self._get_output_dir(trial=trial)) / f"checkpoint-{self.state.global_step}"
            undone = [one for drawn in self._drawn for one in drawn]
            (folder / _file).write_text(json.dumps(self._order.state(undone)), encoding="utf-8")

    def _load_optimizer_and_scheduler(self, checkpoint: Any) -> None:
        super()._load_optimizer_and_scheduler(checkpoint)
        if checkpoint is not None and self._order is not None and (Path(checkpoint) / _file).exists():
            self._order.load(json.loads((Path(checkpoint) / _file).read_text(encoding="utf-8")))
            self._drawn.clear()


class Selected(Sampler):  # type: ignore[misc]
    """As TRL's ``RepeatSampler`` repeats rows, those that the order gives."""

    def __init__(self, given: Any, order: Order, drawn: deque[Drawn]) -> None:
        self._given, self._order, self._drawn = given, order, drawn
        self.data_source: Sized = given.data_source

    def __iter__(self) -> Iterator[int]:
        for _ in range(self._given.num_samples // self._given.batch_size):
            batch = [(self._order.next(), self._order.weight) for _ in range(self._given.batch_size)]
            self._drawn.append(batch)
            for _ in range(self._given.repeat_count):
                for row, _ in batch:
                    yield from [row] * self._given.mini_repeat_count

    def __len__(self) -> int:
        return len(self._given)


def _answers(lengths: Any, rewards: Any, weights: Any) -> Sequence[Answer]:
    """Tokens and reward of each completion; a completion that no reward function has scored has none."""
    scored = ~torch.isnan(rewards).all(dim=1)
    sums = (rewards * weights.to(rewards.device).unsqueeze(0)).nansum(dim=1)
    found = zip(lengths.tolist(), sums.tolist(), scored.tolist(), strict=True)
    return [(tokens, reward if is_scored else None) for tokens, reward, is_scored in found]
