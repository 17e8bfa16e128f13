"""The data sets and the samplers for verl's synchronous trainer, in a double of its loop."""

from __future__ import annotations

import importlib
import itertools
import json
import pickle
import sys
import types
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from rollflex.adapters._check_verl import problems
from rollflex.adapters._config import Config
from support import root

from .verl_double import KVBatchMeta, Queue, Scores

rows, batch_size, responses = 16, 4, 2
long_rows = {1, 5, 9, 13}
never = {0, 2, 3, 4, 6, 7, 8, 10}
"""Rows that are never solved."""


class RLHFDataset:
    """`verl/utils/dataset/rl_dataset.py`: a row for each number."""

    def __init__(self, data_files: Any, tokenizer: Any, processor: Any, config: Any, max_samples: int = -1) -> None:
        self.rows = rows
        self.dataframe = Columns(data_source=["math", "code"] * (rows // 2))

    def __len__(self) -> int:
        return self.rows

    def __getitem__(self, item: int) -> dict[str, Any]:
        return {"raw_prompt": f"question {item}"}


class Columns(dict[str, list[str]]):
    """A data set of Hugging Face, by columns."""

    @property
    def column_names(self) -> list[str]:
        return list(self)


class ReplayBuffer:
    """
    `verl/trainer/ppo/v1/replay_buffer.py`: everything that was submitted, since all of it has ended. Groups with equal
    rewards are cleared, where that is asked for, and replaced.
    """

    def __init__(
        self, *, queue: Queue, sampler_kwargs: Any, refill_fn: Any, filter_groups_metric: Any = None, **options: Any
    ) -> None:
        self.queue, self.refill, self.metric, self.options = queue, refill_fn, filter_groups_metric, options
        self.partitions: dict[str, dict[str, dict[str, Any]]] = {}

    def sample(self, global_steps: int, partition_id: str, batch_size: int) -> tuple[KVBatchMeta, dict[str, Any]]:
        while True:
            tags = self.partitions[partition_id] = self.queue.kv_list()[partition_id]
            groups: dict[str, set[float]] = {}
            for key in tags:
                groups.setdefault(key.split("_")[0], set()).add(self.queue.fields[key]["rm_scores"].sum())
            equal = {uid for uid, rewards in groups.items() if len(rewards) == 1}
            if self.metric is None or not equal:
                return KVBatchMeta(partition_id, list(tags), list(tags.values())), {}
            self._clear_groups(partition_id, equal)
            self.refill(len(equal))

    def _clear_groups(self, partition_id: str, uids: set[str]) -> None:
        keys = [key for key in self.partitions[partition_id] if key.split("_")[0] in uids]
        self.queue.kv_clear(keys, partition_id)


class Loader:
    """`StatefulDataLoader` of a map-style data set, without workers: its state has that of the data set."""

    def __init__(self, dataset: Any) -> None:
        self.dataset, self.given = dataset, 0

    def batch(self) -> list[Any]:
        """`drop_last`, as verl has it; the sampler is sequential."""
        first = self.given % (len(self.dataset) // batch_size * batch_size)
        self.given += batch_size
        return [self.dataset[item] for item in range(first, first + batch_size)]

    def state_dict(self) -> dict[str, Any]:
        return {"given": self.given, "dataset": self.dataset.state_dict()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.given = state["given"]
        self.dataset.load_state_dict(state["dataset"])


@pytest.fixture
def verl(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    queue = Queue()
    monkeypatch.setitem(sys.modules, "transfer_queue", queue)
    given: dict[str, dict[str, Any]] = {
        "torch.utils.data": {"get_worker_info": lambda: None},
        "verl.trainer.ppo.v1.replay_buffer": {"ReplayBuffer": ReplayBuffer, "ReplayBufferAsync": ReplayBuffer},
        "verl.utils.dataset.rl_dataset": {"RLHFDataset": RLHFDataset},
    }
    for name, values in given.items():
        parts = name.split(".")
        for end in range(1, len(parts) + 1):
            monkeypatch.setitem(sys.modules, ".".join(parts[:end]), types.ModuleType(".".join(parts[:end])))
        sys.modules[name].__dict__.update(values)
    forget()
    yield queue
    forget()


def forget() -> None:
    """A process of a trainer has its own modules, and the order in them."""
    for name in ("_verl_order", "verl_lossless", "verl_selection"):
        sys.modules.pop(f"rollflex.adapters.{name}", None)


def written(title: str = "The lossless tail") -> dict[str, str]:
    """The settings of the page."""
    page = (root / "docs" / "adapters" / "verl.md").read_text(encoding="utf-8")
    lines = page.split(f"## {title}")[1].split("```text\n")[1].split("```")[0].split()
    return dict(line.lstrip("+").split("=") for line in lines)


class Job:
    """What `PPOTrainerSync` does with both."""

    def __init__(self, queue: Queue, title: str = "The lossless tail", more: Any = None, **data: Any) -> None:
        forget()
        settings = written(title)
        path = settings["trainer.v1.sampler.custom_sampler.path"]
        assert path == settings["data.custom_cls.path"]
        module: Any = importlib.import_module(path.removeprefix("pkg://"))
        of_policy = {
            key.removeprefix("data.rollflex.settings."): json.loads(value)
            for key, value in settings.items()
            if key.startswith("data.rollflex.settings.")
        }
        config = {
            "train_files": ["train.parquet"],
            "val_files": "test.parquet",
            "train_batch_size": batch_size,
            "dataloader_num_workers": int(settings["data.dataloader_num_workers"]),
            "seed": 3,
            "rollflex": {"responses_per_prompt": responses, "settings": {**of_policy, **(more or {})}},
            **data,
        }
        kind = getattr(module, settings["data.custom_cls.name"])
        made = [
            kind(data_files=files, tokenizer=None, processor=None, config=config, max_samples=-1)
            for files in (config["train_files"], config["val_files"])
        ]
        self.loader, self.evaluation = Loader(made[0]), made[1]
        self.queue, self.steps = queue, 0
        self.submitted: Counter[int] = Counter()
        self.metrics: dict[str, Any] = {}
        metric = settings.get("trainer.v1.sampler.sampler_kwargs.filter_groups_metric")
        self.sampler = getattr(module, settings["trainer.v1.sampler.custom_sampler.name"])(
            queue=queue,
            sampler_kwargs={} if metric is None else {"filter_groups_metric": metric},
            refill_fn=self._refill,
        )

    def step(self) -> list[int]:
        self.steps += 1
        for prompt in self.loader.batch():
            self._submit(prompt)
        batch, self.metrics = self.sampler.sample(self.steps, "train", batch_size)
        found = sorted(self.queue.fields[key]["rollflex_row"] for key in batch.keys if key.endswith("_0_0"))
        self.queue.kv_clear(batch.keys, "train")
        return found

    def _refill(self, count: int) -> None:
        for _ in range(count):
            self._submit(self.loader.dataset[0])

    def _submit(self, prompt: dict[str, Any]) -> None:
        row = prompt["rollflex_row"]
        assert prompt["raw_prompt"] == f"question {row}"
        self.submitted[row] += 1
        for session in range(responses):
            # A session with two turns has two outputs; the last has its reward.
            for index, tokens in enumerate((1000 if row in long_rows else 10, 5)):
                reward = float(index and session == 0 and row not in never)
                fields = {"rollflex_row": row, "rm_scores": Scores([0.0, reward])}
                key = f"u{self.submitted.total()}_{session}_{index}"
                self.queue.put(key, "train", {"response_len": tokens}, fields)

    def close(self) -> None:
        self.loader.dataset.order.close()


@pytest.mark.parametrize("shuffle", [True, False])
def test_each_epoch_has_each_row_once_and_long_ones_together(verl: Queue, shuffle: bool) -> None:
    job = Job(verl, shuffle=shuffle)
    found = [job.step() for _ in range(12)]
    assert all(sorted(itertools.chain(*found[first : first + 4])) == list(range(rows)) for first in (0, 4, 8))
    assert found[8] == sorted(long_rows)
    assert job.evaluation[7] == {"raw_prompt": "question 7"}
    job.close()


def test_it_goes_on_from_the_middle_of_a_window(verl: Queue) -> None:
    job = Job(verl)
    expected = [job.step() for _ in range(12)]
    job.close()
    first = Job(verl)
    found = [first.step() for _ in range(6)]
    saved = pickle.dumps(first.loader.state_dict())
    first.step()
    first.close()
    again = Job(verl)
    again.loader.load_state_dict(pickle.loads(saved))
    assert found + [again.step() for _ in range(6)] == expected
    again.close()


def test_rows_that_teach_nothing_are_passed_over_and_groups_that_are_filtered_are_learnt(verl: Queue) -> None:
    """With `filter_groups_metric`, what is trained has taught something, and what was cleared is known, too."""
    typed = {"responses_per_prompt": responses, "domain": "data_sorce"}
    with pytest.raises(ValueError, match=r"data\.rollflex\.domain: expected .* one of data_source, got 'data_sorce'"):
        Job(verl, "Prompts worth their tokens", rollflex=typed)
    job = Job(verl, "Prompts worth their tokens", more={"threshold": 2, "domainFloor": 0})
    found = [job.step() for _ in range(24)]
    assert all(len(step) == batch_size and not never & set(step) for step in found)
    counts = job.submitted
    others = set(range(rows)) - never - long_rows
    # Of equal lengths, as often without selection.
    assert max(counts[row] for row in never) < 0.8 * min(counts[row] for row in others)
    assert min(counts.values()) > 0 and len(counts) == rows
    known = job.loader.dataset.order.state()["snapshot"]["state"]["domains"]
    assert {one["domain"] for one in known} == {"math", "code"}
    metrics = job.metrics
    assert 0 < metrics["rollflex/passed"] <= metrics["rollflex/offered"] - counts.total()
    job.close()


def test_the_check_knows_the_settings_of_the_page(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def found(title: str = "The lossless tail", **changed: Any) -> list[str]:
        config = Config({}, known=False)
        for name, value in {**written(title), "data.train_batch_size": "8", **changed}.items():
            config.override(f"{name}={value}")
        return [one.where for one in problems(config)]

    selection = "Prompts worth their tokens"
    assert found() == found(selection) == []
    later = {"reward.reward_model.enable": "true", "data.rollflex.settings.unbiased": "true"}
    assert found(selection, **later) == ["reward.reward_model.enable_resource_pool", "data.rollflex.settings"]
    assert found(selection, **{"algorithm.filter_groups.enable": "false"}) == ["algorithm.filter_groups.enable"]
    name = "trainer.v1.sampler.custom_sampler.name"
    for wrong in ({name: "PromptSelectionSampeler"}, {name: "null", "trainer.v1.sampler.custom_sampler.path": "null"}):
        assert found(selection, **wrong) == ["trainer.v1.sampler.custom_sampler"]
    assert found(selection, **{"actor_rollout_ref.rollout.n": "4"}) == []
    assert found(selection, **{"actor_rollout_ref.rollout.n": "8"}) == ["data.rollflex.responses_per_prompt"]
    for where in ("data.rollflex.settings", "data.rollflex"):
        assert found(selection, **{where: "5"}) == [where]
    ahead = {"trainer.v1.sampler.custom_sampler.name": "PromptSelectionSamplerAsync"}
    assert found(selection, **ahead) == ["trainer.v1.trainer_mode"]
    assert found(selection, **ahead, **{"trainer.v1.trainer_mode": "colocate_async"}) == []
    assert found(**{"trainer.v1.trainer_mode": "colocate_async", "data.dataloader_num_workers": "8"}) == [
        "trainer.v1.trainer_mode",
        "data.dataloader_num_workers",
    ]
    assert found(**{"data.rollflex.settings.windowRounds": "0", "data.rollflex.window": "3"}) == [
        "data.rollflex.window",
        "data.rollflex.settings",
    ]


def test_workers_that_would_draw_ahead_are_refused(verl: Queue) -> None:
    with pytest.raises(ValueError, match="dataloader_num_workers: expected 0"):
        Job(verl, dataloader_num_workers=8)
    with pytest.raises(ValueError, match="expected 20 rows at least, as many as a round has prompts, got 16"):
        Job(verl, train_batch_size=20)
