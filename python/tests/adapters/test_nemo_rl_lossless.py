"""The data set and the sampler that compose rounds in NeMo-RL, in a double of what its controller does with both."""

from __future__ import annotations

import asyncio
import importlib
import inspect
import itertools
import pickle
import sys
import types
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from rollflex.adapters._check_nemo_rl import _settings_of_order, problems
from rollflex.adapters._config import Config, scalar
from support import root

from .nemo_rl_double import Buffer, InOrderSampler, Meta

rows, batch_size, responses = 16, 4, 2
long_rows = {1, 5, 9, 13}
never = {0, 2, 3, 4, 6, 7, 8, 10}
"""Rows that are never solved."""
shared = "rollflex.adapters._nemo_rl_order"
lossless, selection = "The lossless tail", "Prompts worth their tokens"


def written(title: str = lossless) -> dict[str, Any]:
    """The settings of the page, `a.b` by `a.b`."""
    page = (root / "docs" / "adapters" / "nemo-rl.md").read_text(encoding="utf-8")
    lines = page.split(f"## {title}")[1].split("```text\n")[1].split("```")[0].split()
    pairs = [line.lstrip("+").split("=") for line in lines]
    return {key: scalar(value) for key, value in pairs}


def of_sampler(title: str) -> tuple[str, dict[str, Any]]:
    """Of these: the sampler, and what it is made with."""
    flat = {key.removeprefix("async_rl.sampler."): value for key, value in written(title).items() if "sampler" in key}
    assert flat.pop("name") == "custom"
    target = flat.pop("target")
    settings = {key.removeprefix("settings."): flat.pop(key) for key in list(flat) if key.startswith("settings.")}
    flat.pop("state_dir")
    return target, {**flat, "settings": settings}


def forget() -> None:
    """A process has its own modules, and the order in them."""
    for name in ("_nemo_rl_order", "nemo_rl_lossless", "nemo_rl_selection"):
        sys.modules.pop(f"rollflex.adapters.{name}", None)


class Given:
    """A `RawDataset`: whatever it is made of, it has these when `load_response_dataset` returns it."""

    def __init__(self, config: dict[str, Any]) -> None:
        self.data_config = config
        self.task_name, self.task_spec, self.preprocessor = "math", "spec", None
        self.dataset = [{"question": row, "task_name": "math"} for row in range(rows)]

    @staticmethod
    def processor(entry: dict[str, Any], task: Any, tokenizer: Any, max_seq_length: Any, idx: int) -> dict[str, Any]:
        return {"question": entry["question"], "idx": idx}


class InOrder(InOrderSampler):
    """With the arguments and the bookkeeping of NeMo-RL's own."""

    def set_dispatch_index(self, resume_from_step: int) -> None:
        self._dispatched = resume_from_step - 1

    def required_buffer_capacity(self, groups_per_step: int) -> int:
        return groups_per_step * (self._window + 1)


class AsyncBuffer(Buffer):
    """`commit` takes the record of a group, and awaits the data plane."""

    async def commit(self, group_id: str, record: Any, start: int, end: int) -> Meta:  # type: ignore[override]
        await asyncio.sleep(0)
        lengths = [sum(len(one["token_ids"]) for one in each.message_log) for each in record.completions]
        meta = Meta([f"{group_id}_g{index}" for index in range(len(lengths))], lengths, [start] * len(lengths))
        super().commit(group_id, meta)
        return meta


@pytest.fixture
def nemo_rl(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    given: dict[str, dict[str, Any]] = {
        "torch.utils.data": {"get_worker_info": lambda: None},
        "nemo_rl.algorithms.async_utils.staleness_sampler": {"InOrderSampler": InOrder},
        "nemo_rl.data.datasets": {"load_response_dataset": Given},
    }
    for module, values in given.items():
        parts = module.split(".")
        for end in range(1, len(parts) + 1):
            path = ".".join(parts[:end])
            if path not in sys.modules or path == module:
                monkeypatch.setitem(sys.modules, path, types.ModuleType(path))
        sys.modules[module].__dict__.update(values)
    forget()
    yield
    forget()


class Job:
    """A process of the controller: the driver makes the data set, and Ray brings it here."""

    def __init__(self, step: int = 0, title: str = lossless, **options: Any) -> None:
        forget()
        target, given = of_sampler(title)
        name, _, sampler = target.partition(":")
        module: Any = importlib.import_module(name)
        path, _, kind = written(title)["data.train.dataset_name"].rpartition(".")
        assert path == name
        made = getattr(module, kind)(dataset_name=f"{name}.{kind}", split="train")
        made.set_task_spec({})
        made.set_processor()
        self.dataset, self.processor = pickle.loads(pickle.dumps((made.dataset, made.processor)))
        self.buffer, self.version = AsyncBuffer(), step
        self.sampler = getattr(module, sampler)(self.buffer, **{**given, "responses_per_prompt": responses, **options})
        self.sampler.set_dispatch_index(step)
        assert self.sampler.required_buffer_capacity(batch_size) == batch_size
        self.next: list[Any] = []

    def step(self, ahead: int = 0) -> list[int]:
        return asyncio.run(self._step(ahead))

    async def _step(self, ahead: int) -> list[int]:
        batch = self.next or self._batch()
        # The pump draws a batch before it asks whether it may be dispatched.
        self.next = self._batch() if ahead else []
        for datum in batch:
            assert datum["question"] == datum["idx"]
        target = await self.sampler.admit(trainer_version_fn=lambda: self.version)
        groups = [(self.buffer.reserve(self.version, target), datum) for datum in batch]
        for group, datum in reversed(groups):
            tokens = 1000 if datum["idx"] in long_rows else 10
            log = [{"role": "user", "token_ids": [0] * 7}, {"role": "assistant", "token_ids": [0] * tokens}]
            rewards = [float(index == 0 and datum["idx"] not in never) for index in range(responses)]
            answers = [SimpleNamespace(message_log=log, reward=one) for one in rewards]
            done = SimpleNamespace(prompt_idx=datum["idx"], completions=answers)
            await self.buffer.commit(group, done, self.version, self.version)
        taken = 0
        while taken < batch_size:
            asked = {"min_prompt_groups": 1, "max_prompt_groups": min(3, batch_size - taken)}
            meta, count = await self.sampler.select(current_train_weight=self.version, **asked)
            assert meta is not None
            taken += count
        self.version += 1
        return sorted(datum["idx"] for _, datum in groups)

    def _batch(self) -> list[Any]:
        """The loader shuffles, and drops the last rows of an epoch; this data set gives what it gives."""
        return [self.processor(self.dataset[item % 3], "spec", None, 64, item % 3) for item in range(batch_size)]


@pytest.mark.parametrize("options", [{}, {"shuffle": False}, {"ahead": 1}])
def test_each_epoch_has_each_row_once_and_long_ones_together(nemo_rl: None, options: dict[str, Any]) -> None:
    ahead = options.pop("ahead", 0)
    job = Job(**options)
    found = [job.step(ahead) for _ in range(12)]
    assert all(sorted(itertools.chain(*found[first : first + 4])) == list(range(rows)) for first in (0, 4, 8))
    assert found[8] == sorted(long_rows)
    job.sampler.close()


def test_rows_that_teach_nothing_are_passed_over(nemo_rl: None, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"async_rl\.sampler\.domain: expected a column of the data set, got 'tusk'"):
        Job(title=selection, domain="tusk").step()
    options: dict[str, Any] = {"title": selection, "state_dir": tmp_path}
    options["settings"] = {"threshold": 2, "domainFloor": 0}
    job = Job(**options)
    found = [job.step() for _ in range(32)]
    job.sampler.close()
    counts = Counter(itertools.chain(*found))
    others = set(range(rows)) - never - long_rows
    assert max(counts[row] for row in never) < 0.8 * min(counts[row] for row in others)
    assert len(counts) == rows
    again = Job(26, **options)
    assert [again.step() for _ in range(6)] == found[26:]
    again.sampler.close()


def test_a_resumed_job_takes_the_steps_that_it_would_have_taken(nemo_rl: None, tmp_path: Path) -> None:
    options: dict[str, Any] = {"state_dir": tmp_path / "states"}
    job = Job(**options)
    expected = [job.step() for _ in range(12)]
    job.sampler.close()
    for of, steps in (("exact", 6), ("ahead", 7)):
        options = {"state_dir": tmp_path / of}
        first = Job(**options)
        found = [first.step(ahead=int(of == "ahead")) for _ in range(steps)]
        first.sampler.close()
        again = Job(steps, **options)
        found += [again.step() for _ in range(12 - steps)]
        assert all(sorted(itertools.chain(*found[at : at + 4])) == list(range(rows)) for at in (0, 4, 8))
        if of == "exact":
            assert found == expected
        again.sampler.close()
    assert len(list((tmp_path / "states").iterdir())) == 8


def test_without_a_state_it_says_that_the_data_begins_anew(nemo_rl: None, caplog: pytest.LogCaptureFixture) -> None:
    job = Job(3)
    assert len(job.step()) == batch_size
    assert "step 3: the data begins anew" in caplog.text
    job.sampler.close()


def test_what_would_break_the_order_is_refused(nemo_rl: None, monkeypatch: pytest.MonkeyPatch) -> None:
    job = Job()
    job.dataset[0]
    other = type(job.dataset)([1, 2, 3, 4])
    with pytest.raises(ValueError, match=r"data\.train: expected one data set"):
        other[0]
    module: Any = sys.modules[shared]
    monkeypatch.setattr(module, "get_worker_info", lambda: object())
    with pytest.raises(ValueError, match=r"data\.num_workers: expected 0"):
        job.dataset[0]
    monkeypatch.setattr(module, "get_worker_info", lambda: None)
    monkeypatch.setattr(module, "_composed", None)
    with pytest.raises(RuntimeError, match="expected a sampler of rollflex.adapters"):
        job.dataset[0]
    job.sampler.close()


def test_the_check_knows_the_settings_of_the_page(nemo_rl: None) -> None:
    def found(*changed: str, title: str = lossless) -> list[str]:
        config = Config({}, known=False)
        for one in [
            *(f"{key}={value}" for key, value in written(title).items()),
            "grpo.num_prompts_per_step=8",
            *changed,
        ]:
            config.override(one)
        return [one.where for one in problems(config)]

    assert found() == found(title=selection) == []
    assert found("async_rl.sampler.settings.fill=kept", title=selection) == ["async_rl.sampler.settings"]
    wrong = "rollflex.adapters.nemo_rl_selection:PromptSelectionSampeler"
    assert found(f"async_rl.sampler.target={wrong}", title=selection) == ["async_rl.sampler.target"]
    assert found("data.train.dataset_name=rollflex.adapters.nemo_rl_lossless.X", title=selection) == [
        "data.train.dataset_name"
    ]
    assert found("data.num_workers=8", "data.train.dataset_name=DAPOMath17K", "grpo.num_generations_per_prompt=4") == [
        "data.train.dataset_name",
        "data.num_workers",
        "async_rl.sampler.responses_per_prompt",
    ]
    assert found("async_rl.sampler.window=3", "async_rl.sampler.settings.windowRounds=0") == [
        "async_rl.sampler.window",
        "async_rl.sampler.settings",
    ]
    assert found("async_rl.rollout_failure.on_dropped_prompt=replace") == ["async_rl.rollout_failure.on_dropped_prompt"]
    sampler: Any = importlib.import_module(shared).OrderedSampler
    assert [*inspect.signature(sampler).parameters][1:] == list(_settings_of_order)
