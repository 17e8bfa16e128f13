"""Prompts of a JSON-lines file, and a buffer in front of it, with the defects of the original (wrap, save)."""

from __future__ import annotations

import copy
import json
import logging
import os
import random
from typing import Any

import torch

from slime.utils.misc import load_function
from slime.utils.types import Sample

logger = logging.getLogger(__name__)


class _Dataset:
    def __init__(self, path: str, key: str, seed: int) -> None:
        with open(path, encoding="utf-8") as file:
            rows = [json.loads(line) for line in file]
        self.origin_samples = [Sample(prompt=row[key], metadata=row.get("metadata") or {}) for row in rows]
        self.samples = self.origin_samples
        self.seed = seed

    def shuffle(self, epoch: int) -> None:
        order = list(self.origin_samples)
        random.Random(self.seed + epoch).shuffle(order)
        self.samples = order

    def __len__(self) -> int:
        return len(self.samples)


class RolloutDataSource:
    def __init__(self, args: Any) -> None:
        self.args = args
        self.epoch_id = self.sample_group_index = self.sample_index = self.sample_offset = 0
        self.metadata: dict[str, Any] = {}
        self.dataset: _Dataset | None = None
        if args.rollout_global_dataset and args.prompt_data is not None:
            self.dataset = _Dataset(args.prompt_data, args.input_key, args.rollout_seed)
            if args.rollout_shuffle:
                self.dataset.shuffle(0)

    def get_samples(self, num_samples: int) -> list[list[Sample]]:
        if self.dataset is None:
            drawn = [Sample() for _ in range(num_samples)]
        elif self.sample_offset + num_samples <= len(self.dataset):
            drawn = self.dataset.samples[self.sample_offset : self.sample_offset + num_samples]
            self.sample_offset += num_samples
        else:
            # It goes around once, whatever is missing then.
            drawn = self.dataset.samples[self.sample_offset :]
            missing = num_samples - len(drawn)
            self.epoch_id += 1
            if self.args.rollout_shuffle:
                self.dataset.shuffle(self.epoch_id)
            drawn = drawn + self.dataset.samples[:missing]
            self.sample_offset = missing
        return [self._group(one) for one in drawn]

    def _group(self, drawn: Sample) -> list[Sample]:
        group = []
        for _ in range(self.args.n_samples_per_prompt):
            sample = copy.deepcopy(drawn)
            sample.group_index, sample.index = self.sample_group_index, self.sample_index
            self.sample_index += 1
            group.append(sample)
        self.sample_group_index += 1
        return group

    _saved = ("sample_offset", "epoch_id", "sample_group_index", "sample_index", "metadata")

    def save(self, rollout_id: Any) -> None:
        if not self.args.rollout_global_dataset:
            return
        path = os.path.join(self.args.save, f"rollout/global_dataset_state_dict_{rollout_id}.pt")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        torch.save({name: getattr(self, name) for name in self._saved}, path)

    def load(self, rollout_id: Any = None) -> None:
        if not self.args.rollout_global_dataset or self.args.load is None:
            return
        path = os.path.join(self.args.load, f"rollout/global_dataset_state_dict_{rollout_id}.pt")
        if not os.path.exists(path):
            return
        for name, value in torch.load(path).items():
            setattr(self, name, value)
        if self.args.rollout_shuffle and self.dataset is not None:
            self.dataset.shuffle(self.epoch_id)

    def __len__(self) -> int:
        return 0 if self.dataset is None else len(self.dataset)


class RolloutDataSourceWithBuffer(RolloutDataSource):
    def __init__(self, args: Any) -> None:
        super().__init__(args)
        self.buffer: list[list[Sample]] = []
        path = args.buffer_filter_path
        self.buffer_filter = pop_first if path is None else load_function(path)

    def get_samples(self, num_samples: int) -> list[list[Sample]]:
        samples = self._get_samples_from_buffer(num_samples)
        missing = num_samples - len(samples)
        return samples if missing == 0 else samples + super().get_samples(missing)

    def _get_samples_from_buffer(self, num_samples: int) -> list[list[Sample]]:
        if not self.buffer or num_samples == 0:
            return []
        taken: list[list[Sample]] = self.buffer_filter(self.args, None, self.buffer, num_samples)
        return taken

    def add_samples(self, samples: list[list[Sample]]) -> None:
        for group in samples:
            assert len(group) == self.args.n_samples_per_prompt
            self.buffer.append(group)


def pop_first(args: Any, rollout_id: Any, buffer: list[Any], num_samples: int) -> list[Any]:
    taken = buffer[:num_samples]
    del buffer[:num_samples]
    return taken
