"""
The lossless tail in verl's v1 trainer with `trainer_mode: sync`: a data set (`data.custom_cls`) that gives its rows in
composed rounds, and a sampler (`trainer.v1.sampler.custom_sampler`) that tells it how long responses were.

Follows verl 0.9.1 and main at 1dda039 (2026-08-22): `create_rl_dataset`, `ReplayBuffer.sample` and `AgentLoopWorkerTQ`.
"""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any

from torch.utils.data import get_worker_info
from verl.trainer.ppo.v1.replay_buffer import ReplayBuffer
from verl.utils.dataset.rl_dataset import RLHFDataset

from ._order import Order

__all__ = ["LosslessTailDataset", "LosslessTailSampler"]
_order: Order | None = None
"""The order of the training data set, which the trainer makes before the evaluation data set."""


class LosslessTailDataset(RLHFDataset):  # type: ignore[misc]
    """
    The training data set gives its rows in composed rounds, whatever index is requested; with `data.shuffle`, each
    epoch has its own order. `data.rollflex` may have `responses_per_prompt`, `settings` of `round-composition`, and
    `server`.
    """

    def __init__(self, data_files: Any, *args: Any, config: Any, **options: Any) -> None:
        global _order
        super().__init__(data_files, *args, config=config, **options)
        self.order: Order | None = None
        if _order is not None or _files(data_files) != _files(config.get("train_files")):
            return
        if config.get("dataloader_num_workers", 0) != 0:
            raise ValueError("data.dataloader_num_workers: expected 0, because others would draw rows ahead")
        given = config.get("rollflex") or {}
        rows, seed = len(self), config.get("seed")

        def epoch(number: int) -> list[int]:
            listed = list(range(rows))
            if config.get("shuffle", True):
                random.Random(f"{seed}/{number}").shuffle(listed)
            return listed

        self.order = _order = Order(
            rows,
            config.get("train_batch_size"),
            given.get("responses_per_prompt", 1),
            epoch=epoch,
            settings=dict(given.get("settings") or {}),
            server=given.get("server"),
        )

    def __getitem__(self, item: int) -> Any:
        if self.order is None:
            return super().__getitem__(item)
        if get_worker_info() is not None:
            raise ValueError("data.dataloader_num_workers: expected 0, because others would draw rows ahead")
        row = self.order.next()
        return {**super().__getitem__(row), "rollflex_row": row}

    def state_dict(self) -> dict[str, Any]:
        """Returns the state, which verl's `StatefulDataLoader` saves with its own."""
        return {} if self.order is None else self.order.state()

    def load_state_dict(self, state: dict[str, Any]) -> None:
        if self.order is not None and state:
            self.order.load(state)


class LosslessTailSampler(ReplayBuffer):  # type: ignore[misc]
    """verl's own synchronous sampler; the data set learns from the samples that it returns."""

    def sample(self, global_steps: int, partition_id: str, batch_size: int) -> tuple[Any, dict[str, Any]]:
        batch, metrics = super().sample(global_steps, partition_id, batch_size)
        if partition_id == "train" and _order is not None:
            _order.learn(_lengths(batch))
        return batch, metrics


def _files(named: Any) -> list[str]:
    return [str(named)] if named is None or isinstance(named, str) else [str(one) for one in named]


def _lengths(batch: Any) -> dict[int, list[int]]:
    """Returns the response lengths per row. A key is `uid_session_index`; a session may have several outputs."""
    data = import_module("transfer_queue").kv_batch_get(
        keys=batch.keys, partition_id=batch.partition_id, select_fields=["rollflex_row"]
    )
    sessions: dict[str, int] = {}
    rows: dict[str, int] = {}
    for key, tag, row in zip(batch.keys, batch.tags, data["rollflex_row"], strict=True):
        session = key.rsplit("_", 1)[0]
        sessions[session] = sessions.get(session, 0) + int(tag["response_len"])
        rows[session] = int(getattr(row, "data", row))
    found: dict[int, list[int]] = {}
    for session, tokens in sessions.items():
        found.setdefault(rows[session], []).append(tokens)
    return found
