"""A data source of slime that loses nothing: its buffer and the long-prompt queue are part of the checkpoint."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from slime.rollout.data_source import RolloutDataSource, RolloutDataSourceWithBuffer

logger = logging.getLogger("rollflex")


class RollflexDataSource(RolloutDataSourceWithBuffer):  # type: ignore[misc]
    """For ``--data-source-path``; needed by :func:`rollflex.adapters.slime.generate_rollout`."""

    def __init__(self, args: Any) -> None:
        super().__init__(args)
        self.session: Any = None
        """Set by the rollout function while it exists."""
        self.checkpoint: dict[str, Any] | None = None
        """State of the session, from the loaded checkpoint."""
        self.take_checkpoint: Callable[[], dict[str, Any] | None] = lambda: self.checkpoint

    def get_samples(self, num_samples: int) -> list[list[Any]]:
        """
        Returns so many groups: first from the buffer, then from the data set, epoch after epoch. There are fewer only
        without a data set.
        """
        samples: list[list[Any]] = self._get_samples_from_buffer(num_samples)
        if self.dataset is None:
            return samples
        if len(self.dataset) == 0:
            raise ValueError("the prompt data set is empty, or every prompt is longer than --rollout-max-prompt-len")
        while len(samples) < num_samples:
            samples += self._draw(num_samples - len(samples))
        return samples

    def _draw(self, most: int) -> list[list[Any]]:
        """Draws from the data set, and marks samples with their row in it, whatever the order of the epoch."""
        # A single read of slime crosses at most one end of an epoch.
        room = len(self.dataset) - self.sample_offset or len(self.dataset)
        groups: list[list[Any]] = RolloutDataSource.get_samples(self, min(room, most))
        first = self.sample_offset - len(groups)
        for group, one in zip(groups, self.dataset.samples[first : self.sample_offset], strict=True):
            for sample in group:
                sample.rollflex_row = self._rows.get(id(one))
        return groups

    @cached_property
    def _rows(self) -> dict[int, int]:
        """Shuffling changes the order of the data set's samples, but keeps the objects."""
        return {id(one): row for row, one in enumerate(getattr(self.dataset, "origin_samples", ()))}

    def new_index(self) -> int:
        """Returns an index for an additional sample of a group, beyond those of the data source."""
        index = int(self.sample_index)
        self.sample_index += 1
        return index

    def save(self, rollout_id: Any) -> None:
        """
        Saves the policy's state and its prompts before slime's file, so that they exist wherever slime's file does.
        """
        path = self._path(self.args.save, rollout_id)
        path.parent.mkdir(parents=True, exist_ok=True)
        beside = path.with_suffix(".tmp")
        torch.save({"version": 1, **self.state()}, beside)
        os.replace(beside, path)
        super().save(rollout_id)

    def load(self, rollout_id: Any = None) -> None:
        super().load(rollout_id)
        if self.args.load is None:
            return
        path = self._path(self.args.load, rollout_id)
        if not path.exists():
            logger.warning("there is no %s: the buffer and the long-prompt queue begin empty", path)
            return
        state = torch.load(path, weights_only=False)
        if state.get("version") != 1:
            raise ValueError(f"{path} is of version {state.get('version')}, which this version does not read")
        self.restore(state)

    def state(self) -> dict[str, Any]:
        """Returns what is saved for :meth:`restore`."""
        return {"checkpoint": self.take_checkpoint(), "buffer": list(self.buffer)}

    def restore(self, state: dict[str, Any]) -> None:
        """Continues from a state."""
        self.buffer = state["buffer"]
        self.checkpoint = state["checkpoint"]

    @staticmethod
    def _path(folder: str, rollout_id: Any) -> Path:
        return Path(folder) / "rollout" / f"rollflex_state_{rollout_id}.pt"
