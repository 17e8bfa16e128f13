"""The data set and the sampler for verl's synchronous trainer, in a double of its loop."""

from __future__ import annotations

import importlib
import itertools
import pickle
import sys
import types
from collections.abc import Iterator
from typing import Any

import pytest

from rollflex.adapters._check_verl import problems
from rollflex.adapters._config import Config
from support import root

from .verl_double import KVBatchMeta, Queue

rows, batch_size, responses = 16, 4, 2
long_rows = {1, 5, 9, 13}


class RLHFDataset:
    """`verl/utils/dataset/rl_dataset.py`: a row for each number."""

    def __init__(self, data_files: Any, tokenizer: Any, processor: Any, config: Any, max_samples: int = -1) -> None:
        self.rows = rows

    def __len__(self) -> int:
        return self.rows

    def __getitem__(self, item: int) -> dict[str, Any]:
        return {"raw_prompt": f"question {item}"}


class ReplayBuffer:
    """`verl/trainer/ppo/v1/replay_buffer.py`: everything that was submitted, since all of it has ended."""

    def __init__(self, queue: Queue) -> None:
        self.queue = queue

    def sample(self, global_steps: int, partition_id: str, batch_size: int) -> tuple[KVBatchMeta, dict[str, Any]]:
        tags = self.queue.tags[partition_id]
        return KVBatchMeta(partition_id, list(tags), list(tags.values())), {}


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
        "verl.trainer.ppo.v1.replay_buffer": {"ReplayBuffer": ReplayBuffer},
        "verl.utils.dataset.rl_dataset": {"RLHFDataset": RLHFDataset},
    }
    for name, values in given.items():
        parts = name.split(".")
        for end in range(1, len(parts) + 1):
            monkeypatch.setitem(sys.modules, ".".join(parts[:end]), types.ModuleType(".".join(parts[:end])))
        sys.modules[name].__dict__.update(values)
    monkeypatch.delitem(sys.modules, "rollflex.adapters.verl_lossless", raising=False)
    yield queue
    sys.modules.pop("rollflex.adapters.verl_lossless", None)


def written() -> dict[str, str]:
    """The settings of the page."""
    page = (root / "docs" / "adapters" / "verl.md").read_text(encoding="utf-8")
    lines = page.split("## The lossless tail")[1].split("```text\n")[1].split("```")[0].split()
    return dict(line.lstrip("+").split("=") for line in lines)


class Job:
    """What `PPOTrainerSync` does with both."""

    def __init__(self, queue: Queue, **data: Any) -> None:
        sys.modules.pop("rollflex.adapters.verl_lossless", None)
        settings = written()
        path = settings["trainer.v1.sampler.custom_sampler.path"]
        assert path == settings["data.custom_cls.path"]
        module: Any = importlib.import_module(path.removeprefix("pkg://"))
        config = {
            "train_files": ["train.parquet"],
            "val_files": "test.parquet",
            "train_batch_size": batch_size,
            "dataloader_num_workers": int(settings["data.dataloader_num_workers"]),
            "seed": 3,
            "rollflex": {
                "responses_per_prompt": responses,
                "settings": {"windowRounds": int(settings["data.rollflex.settings.windowRounds"])},
            },
            **data,
        }
        assert settings["data.custom_cls.name"] == "LosslessTailDataset"
        made = [
            module.LosslessTailDataset(data_files=files, tokenizer=None, processor=None, config=config, max_samples=-1)
            for files in (config["train_files"], config["val_files"])
        ]
        self.loader, self.evaluation = Loader(made[0]), made[1]
        self.queue, self.steps = queue, 0
        self.sampler = getattr(module, settings["trainer.v1.sampler.custom_sampler.name"])(queue)

    def step(self) -> list[int]:
        self.steps += 1
        for place, prompt in enumerate(self.loader.batch()):
            row = prompt["rollflex_row"]
            assert prompt["raw_prompt"] == f"question {row}"
            for session in range(responses):
                # A session with two turns has two outputs.
                for index, tokens in enumerate((1000 if row in long_rows else 10, 5)):
                    tag = {"response_len": tokens}
                    self.queue.put(f"u{self.steps}-{place}_{session}_{index}", "train", tag, {"rollflex_row": row})
        batch, _ = self.sampler.sample(self.steps, "train", batch_size)
        found = sorted({self.queue.fields[key]["rollflex_row"] for key in batch.keys})
        self.queue.kv_clear(batch.keys, "train")
        return found

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


def test_the_check_knows_the_settings_of_the_page(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def found(**changed: Any) -> list[str]:
        config = Config({}, known=False)
        for name, value in {**written(), "data.train_batch_size": "8", **changed}.items():
            config.override(f"{name}={value}")
        return [one.where for one in problems(config)]

    assert found() == []
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
