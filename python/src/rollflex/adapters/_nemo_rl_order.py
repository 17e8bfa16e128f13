"""
NeMo-RL's data set in the order that a policy gives, and a sampler that tells it what came of the rows.

Follows NeMo-RL main at 7ea279a (2026-08-22): `load_response_dataset`, `AllTaskProcessedDataset`, `create_sampler`,
`InOrderSampler` and `TQReplayBuffer.commit`.
"""

from __future__ import annotations

import inspect
import json
import logging
import os
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

from nemo_rl.algorithms.async_utils.staleness_sampler import InOrderSampler
from torch.utils.data import get_worker_info

from ._order import Answer, Order, selection

logger = logging.getLogger(__name__)

_options = ("data_path", "input_key", "output_key", "subset", "split", "download_dir", "split_validation_size", "seed")
_kept_states = 8
_composed: OrderedSampler | None = None
"""The order of this process: the controller makes its sampler before it draws."""


def dataset_of(base: type[OrderedDataset], name: str) -> type[OrderedDataset]:
    """NeMo-RL's data set of that name, in the order of the policy: attribute of a module."""
    if name.startswith("_"):
        raise AttributeError(name)
    return type(name, (base,), {"of": name})


class OrderedDataset:
    """A data set of NeMo-RL, whose rows come in an order. `of` is its name, in a class of your own, too."""

    of: ClassVar[str]

    def __init__(self, **config: Any) -> None:
        load = import_module("nemo_rl.data.datasets").load_response_dataset
        given = load({**config, "dataset_name": self.of})
        self.task_name, self.task_spec = given.task_name, given.task_spec
        self.preprocessor = getattr(given, "preprocessor", None)
        self.val_dataset = getattr(given, "val_dataset", None)
        self.dataset = Rows(given.dataset)
        self.processor = Processor(self.dataset, given.processor)

    # NeMo-RL warns of options that a data set does not take by name.
    __init__.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [inspect.Parameter(one, inspect.Parameter.KEYWORD_ONLY, default=None) for one in _options]
    )

    def set_task_spec(self, data_config: Mapping[str, Any]) -> None:
        """The wrapped data set has its task spec already."""

    def set_processor(self) -> None:
        """The wrapped data set has its processor already."""


class Rows:
    """Whichever row is asked for, the next of the order."""

    def __init__(self, rows: Any) -> None:
        self._rows = rows
        self.last = 0
        """Index of the last row that was returned."""

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, item: int) -> Any:
        if get_worker_info() is not None:
            raise ValueError("data.num_workers: expected 0, because others would draw rows ahead")
        if _composed is None:
            raise RuntimeError("async_rl.sampler: expected a sampler of rollflex.adapters, which has the order")
        self.last = _composed.next_row(self)
        return self._rows[self.last]

    def column(self, row: int, name: str) -> Any:
        """A value of a row, if it has one."""
        return self._rows[row].get(name)


class Processor:
    """The processor of the data set, which adds the row number as `idx`, so that groups are recognised later."""

    def __init__(self, rows: Rows, given: Any) -> None:
        self._rows, self._given = rows, given

    def __call__(self, entry: Any, task: Any, tokenizer: Any, max_seq_length: Any, idx: int) -> Any:
        return self._given(entry, task, tokenizer, max_seq_length, self._rows.last)


class OrderedSampler(InOrderSampler):  # type: ignore[misc]
    """
    NeMo-RL's `in_order` sampler, which trains a step on the batch drawn for it; the order of rows learns from each
    group.

    :param max_lookahead_versions: steps ahead of the trainer for which batches are generated; 0 is on policy
    :param responses_per_prompt: `grpo.num_generations_per_prompt`
    :param shuffle: whether each epoch has an order of its own, by `seed`
    :param domain: the column that tells domains of the data apart, `task_name` by default
    :param settings: further settings of the policy
    :param server: parameters of :meth:`rollflex.Client.connect`; the policy runs in this process if absent
    :param state_dir: a folder for what was drawn and learnt, written after each step; without it, a job that is
        resumed begins the data anew
    """

    policy: ClassVar[str]

    def __init__(
        self,
        buffer: Any,
        *,
        max_lookahead_versions: int = 0,
        responses_per_prompt: int = 1,
        shuffle: bool = True,
        seed: int = 0,
        domain: str | None = None,
        settings: Mapping[str, Any] | None = None,
        server: Mapping[str, Any] | None = None,
        state_dir: str | os.PathLike[str] | None = None,
    ) -> None:
        global _composed
        super().__init__(buffer, max_lookahead_versions=max_lookahead_versions)
        self._responses, self._shuffle, self._seed = responses_per_prompt, shuffle, seed
        self._domain, self._settings, self._server = domain or "task_name", settings, server
        self._names_domain = domain is not None
        self._folder = None if state_dir is None else Path(state_dir)
        self._order: Order | None = None
        self._of: Rows | None = None
        self._groups_per_step = self._first_step = self._drawn = self._taken = 0
        self._states: dict[int, dict[str, Any]] = {}
        if buffer is not None:
            self._learn_from(buffer)
        _composed = self

    def required_buffer_capacity(self, groups_per_step: int) -> Any:
        """Returns the buffer capacity. NeMo-RL asks for it at the start, and so tells the number of groups per step."""
        self._groups_per_step = groups_per_step
        return super().required_buffer_capacity(groups_per_step)

    def set_dispatch_index(self, resume_from_step: int) -> None:
        """The step that the run begins with."""
        super().set_dispatch_index(resume_from_step)
        self._first_step = resume_from_step

    def next_row(self, rows: Rows) -> int:
        """The row that the data loader draws now."""
        if self._order is None:
            self._order, self._of = self._open(rows), rows
        if self._of is not rows:
            raise ValueError("data.train: expected one data set with composed rounds")
        row = self._order.next()
        self._drawn += 1
        if self._folder is not None and self._drawn % self._groups_per_step == 0:
            # Batches that were drawn ahead are drawn again after a restart.
            step = self._first_step + self._drawn // self._groups_per_step
            self._states[step] = {"order": self._order.state(), "learnt": []}
        return row

    async def select(self, **asked: Any) -> tuple[Any, int]:
        """Selects as `in_order` does; after the last group of a step, writes the state."""
        meta, count = await super().select(**asked)
        self._taken += count
        if count > 0 and self._taken % self._groups_per_step == 0:
            step = self._first_step + self._taken // self._groups_per_step
            if self._order is not None:
                self._order.version = step
            self._save(step)
        return meta, count

    def close(self) -> None:
        """Ends the connection, and a server that was started for it."""
        if self._order is not None:
            self._order.close()

    def _learn_from(self, buffer: Any) -> None:
        commit = buffer.commit

        async def commit_and_learn(group_id: str, record: Any, *versions: Any, **named: Any) -> Any:
            meta = await commit(group_id, record, *versions, **named)
            if self._order is not None:
                group = int(record.prompt_idx), [_answer(one) for one in record.completions]
                self._order.learn([group])
                for state in self._states.values():
                    state["learnt"].append(group)
            return meta

        # The manager of the rollouts has the same buffer.
        buffer.commit = commit_and_learn

    def _open(self, rows: Rows) -> Order:
        if self._groups_per_step == 0:
            raise RuntimeError("required_buffer_capacity tells how many groups a step has; it was never called")
        if self._names_domain and self.policy == selection and rows.column(0, self._domain) is None:
            raise ValueError(f"async_rl.sampler.domain: expected a column of the data set, got {self._domain!r}")
        order = Order(
            self.policy,
            len(rows),
            self._groups_per_step,
            self._responses,
            shuffle=self._shuffle,
            seed=self._seed,
            domain=lambda row: rows.column(row, self._domain) if self.policy == selection else None,
            settings=self._settings,
            server=self._server,
        )
        path = self._path(self._first_step)
        if path is not None and path.exists():
            state = json.loads(path.read_text(encoding="utf-8"))
            order.load(state["order"])
            order.learn(state["learnt"])
            order.version = self._first_step
        elif self._first_step > 0:
            logger.warning("step %d: the data begins anew, there is no %s", self._first_step, path or "state_dir")
        return order

    def _path(self, step: int) -> Path | None:
        return None if self._folder is None else self._folder / f"step-{step}.json"

    def _save(self, step: int) -> None:
        path, state = self._path(step), self._states.pop(step, None)
        if path is None or state is None:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_suffix(".part")
        unfinished.write_text(json.dumps(state), encoding="utf-8")
        unfinished.replace(path)
        old = self._path(step - _kept_states)
        if old is not None:
            old.unlink(missing_ok=True)


def _answer(completion: Any) -> Answer:
    """Tokens that the model has generated, over all turns, and the reward."""
    tokens = sum(len(one["token_ids"]) for one in completion.message_log if one["role"] == "assistant")
    reward = getattr(completion, "reward", None)
    return tokens, None if reward is None else float(reward)
