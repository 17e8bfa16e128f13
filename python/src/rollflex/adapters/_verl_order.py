"""verl's data set in the order that a policy gives, and samplers that tell it what came of the rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import Any, ClassVar

from torch.utils.data import get_worker_info
from verl.utils.dataset.rl_dataset import RLHFDataset

from ._order import Answer, Group, Order, selection

_order: Order | None = None
"""The order of the training data set, which the trainer makes before the evaluation data set."""


class OrderedDataset(RLHFDataset):  # type: ignore[misc]
    """
    The training data set gives its rows in the order of the policy, whatever index is requested; with `data.shuffle`,
    each epoch has its own order. `data.rollflex` may have `responses_per_prompt`, `settings` of the policy, `server`,
    and `domain`, a column.
    """

    policy: ClassVar[str]

    def __init__(self, data_files: Any, *args: Any, config: Any, **options: Any) -> None:
        global _order
        super().__init__(data_files, *args, config=config, **options)
        self.order: Order | None = None
        if _order is not None or _files(data_files) != _files(config.get("train_files")):
            return
        if config.get("dataloader_num_workers", 0) != 0:
            raise ValueError("data.dataloader_num_workers: expected 0, because others would draw rows ahead")
        given = config.get("rollflex") or {}
        column = given.get("domain", "data_source")
        if self.policy == selection and "domain" in given and column not in self.dataframe.column_names:
            columns = ", ".join(self.dataframe.column_names)
            raise ValueError(f"data.rollflex.domain: expected a column of the data, one of {columns}, got {column!r}")
        named = self.policy == selection and column in self.dataframe.column_names
        domains = list(self.dataframe[column]) if named else None
        self.order = _order = Order(
            self.policy,
            len(self),
            config.get("train_batch_size"),
            given.get("responses_per_prompt", 1),
            shuffle=config.get("shuffle", True),
            seed=config.get("seed"),
            domain=lambda row: None if domains is None else domains[row],
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


class Learning:
    """What samplers of verl have beside their own: the order learns from the samples that they return."""

    def sample(self, global_steps: int, partition_id: str, batch_size: int) -> tuple[Any, dict[str, Any]]:
        batch, metrics = super().sample(global_steps, partition_id, batch_size)  # type: ignore[misc]
        if partition_id == "train" and _order is not None:
            _order.learn(_groups(partition_id, dict(zip(batch.keys, batch.tags, strict=True))))
            _order.version = global_steps
            metrics = {**metrics, **_order.metrics()}
        return batch, metrics


class LearningOfAll(Learning):
    """Learns from groups that are cleared, too, and filters groups, which verl leaves to a custom sampler."""

    def __init__(self, *, sampler_kwargs: Mapping[str, Any], **given: Any) -> None:
        metric = sampler_kwargs.get("filter_groups_metric")
        filtered = {} if metric is None else {"filter_groups_metric": metric, "gen_batch_size": 1}
        super().__init__(sampler_kwargs=sampler_kwargs, **given, **filtered)  # type: ignore[call-arg]

    def sample(self, global_steps: int, partition_id: str, batch_size: int) -> tuple[Any, dict[str, Any]]:
        self.train_batch_size = batch_size
        return super().sample(global_steps, partition_id, batch_size)

    def _clear_groups(self, partition_id: str, uids: set[str]) -> None:
        cleared: Mapping[str, Any] = self.partitions[partition_id]  # type: ignore[attr-defined]
        tags = {key: tag for key, tag in cleared.items() if key.split("_")[0] in uids}
        if partition_id == "train" and _order is not None and tags:
            _order.learn(_groups(partition_id, tags))
        super()._clear_groups(partition_id, uids)  # type: ignore[misc]


def _files(named: Any) -> list[str]:
    return [str(named)] if named is None or isinstance(named, str) else [str(one) for one in named]


def _groups(partition_id: str, tags: Mapping[str, Mapping[str, Any]]) -> Iterable[Group]:
    """
    Returns the responses of each prompt. A key is `uid_session_index`; a session may have several outputs, the last
    of which has its reward.
    """
    assert _order is not None
    fields = ["rollflex_row", *(["rm_scores"] if _order.needs_rewards else [])]
    data = import_module("transfer_queue").kv_batch_get(
        keys=list(tags), partition_id=partition_id, select_fields=fields
    )
    scores = data["rm_scores"] if _order.needs_rewards else [None] * len(tags)
    rows: dict[str, int] = {}
    groups: dict[str, dict[str, Answer]] = {}
    last: dict[str, int] = {}
    for (key, tag), row, score in zip(tags.items(), data["rollflex_row"], scores, strict=True):
        uid, index = key.split("_")[0], int(key.rsplit("_", 1)[1])
        session = key.rsplit("_", 1)[0]
        rows[uid] = int(getattr(row, "data", row))
        tokens, reward = groups.setdefault(uid, {}).get(session, (0, None))
        if index >= last.get(session, 0):
            last[session], reward = index, None if score is None else float(score.sum())
        groups[uid][session] = (tokens + int(tag["response_len"]), reward)
    return [(rows[uid], list(sessions.values())) for uid, sessions in groups.items()]
