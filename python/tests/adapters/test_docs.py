"""The pages of the adapters: what they say to write is written here, and runs."""

from __future__ import annotations

import asyncio
import importlib
import inspect
import re
import sys
import types
from pathlib import Path
from typing import Any

import pytest

from support import root

from . import roll_double, trl_double
from .engines import Engines, lengths
from .nemo_rl_double import Controller
from .roll_double import Config, Scheduler
from .verl_double import Queue, Sleeper, Trainer


class Page:
    """The section that leads from nothing to a run, with its blocks of code."""

    def __init__(self, name: str, folder: Path) -> None:
        text = (root / "docs" / "adapters" / f"{name}.md").read_text()
        section = text.split("## From nothing to a run")[1].split("\n## ")[0]
        found = re.findall(r"```(\w+)\n(.*?)```", section, re.DOTALL)
        assert sum(len(body.strip().splitlines()) for _, body in found) < 20
        self.blocks = {language: body.replace("/checkpoints", str(folder)) for language, body in found}

    @property
    def yaml(self) -> dict[str, Any]:
        """Nested maps of single values, which is all that the pages need."""
        result: dict[str, Any] = {}
        open_maps = [(-1, result)]
        for line in self.blocks["yaml"].splitlines():
            indent = len(line) - len(line.lstrip())
            key, _, value = line.strip().partition(": ")
            while open_maps[-1][0] >= indent:
                open_maps.pop()
            if value:
                open_maps[-1][1][key] = scalar(value)
            else:
                inner: dict[str, Any] = {}
                open_maps[-1][1][key.rstrip(":")] = inner
                open_maps.append((indent, inner))
        return result

    @property
    def overrides(self) -> dict[str, Any]:
        """The lines `a.b.c=value`."""
        result: dict[str, Any] = {}
        for line in self.blocks["text"].split():
            path, _, value = line.lstrip("+").partition("=")
            *parents, last = path.split(".")
            inner = result
            for one in parents:
                inner = inner.setdefault(one, {})
            inner[last] = scalar(value)
        return result


@pytest.fixture(autouse=True)
def no_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """The pages name none: the policies run in this process."""

    def refuse(*_: Any, **__: Any) -> Any:
        raise AssertionError("a server was asked for")

    monkeypatch.setattr("rollflex._client_base.server_command", refuse)


def scalar(text: str) -> Any:
    if text in ("true", "false"):
        return text == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


def test_verl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    v1 = Page("verl", tmp_path).overrides["trainer"]["v1"]
    custom = v1["sampler"]["custom_sampler"]
    engines = Engines(slots=64)
    queue, sleeper = Queue(), Sleeper(engines)
    monkeypatch.setitem(sys.modules, "transfer_queue", queue)
    module = importlib.import_module(custom["path"].removeprefix("pkg://"))
    monkeypatch.setattr(module, "time", sleeper)
    mode = v1["trainer_mode"]
    trainer = Trainer(queue, engines, lengths(200, 4), 16, warmup=v1[mode]["num_warmup_batches"])
    trainer.sampler = getattr(module, custom["name"])(
        trainer_mode=mode,
        trainer_config=v1[mode],
        max_off_policy_threshold=v1["sampler"]["max_off_policy_threshold"],
        max_off_policy_strategy="drop",
        sampler_kwargs=v1["sampler"]["sampler_kwargs"],
        refill_fn=trainer.refill,
    )
    trainer.run(3)
    assert len(trainer.trained) == 48
    trainer.sampler.close()


def test_nemo_rl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = Page("nemo-rl", tmp_path).yaml["async_rl"]
    sampler = settings["sampler"]
    assert sampler.pop("name") == "custom"
    module, _, name = sampler.pop("target").partition(":")
    monkeypatch.setattr(f"{module}._POLL_SECONDS", 0)
    make = getattr(importlib.import_module(module), name)

    async def scenario() -> None:
        one = Controller(
            lambda buffer: make(buffer, **sampler),
            lengths(200, 4),
            16,
            epochs_of=200,
            max_buffered=settings["max_buffered_rollouts"],
        )
        await asyncio.wait_for(one.run(3), 30)
        await one.sampler.close()
        assert len(one.trained) == 48 and one.required == 63

    asyncio.run(scenario())


def test_roll(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = Page("roll", tmp_path)
    settings = page.yaml
    module, _, name = settings.pop("user_defined_rollout_loop_cls").partition(".")
    assert settings.pop("is_num_return_sequences_expand") is True
    written = types.ModuleType(module)
    exec(compile(page.blocks["python"], f"{module}.py", "exec"), written.__dict__)
    roll_double.install(monkeypatch)

    async def scenario() -> None:
        one = Scheduler(getattr(written, name)(), lengths(200, 5), 8, 4, Config(**settings))
        for _ in range(3):
            await asyncio.wait_for(one.get_batch(), 30)
        await one.shutdown()
        assert len(one.trained) == 24

    asyncio.run(scenario())
    assert len(list((tmp_path / "rollflex").iterdir())) == 3


def test_trl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = Page("trl", tmp_path)
    trl_double.install(monkeypatch)
    args = trl_double.config(vllm_server_base_url="http://localhost:8000")
    engines: list[trl_double.Talker] = []

    def engine(url: str, *, model: str, log_probs: bool) -> trl_double.Talker:
        assert (url, model, log_probs) == (args.vllm_server_base_url, "Qwen/Qwen3-4B", True)
        engines.append(trl_double.Talker(url, lambda text, index: 5 + index, 5000.0))
        return engines[-1]

    class AsyncGRPOTrainer(trl_double.Trainer):
        def __init__(self, **given: Any) -> None:
            assert given.keys() == {"model", "args", "train_dataset", "reward_funcs", "rollout_worker"}
            super().__init__(given["args"], given["rollout_worker"], engines)

        def train(self, steps: int = 2) -> None:
            super().train(steps)

    names: dict[str, Any] = {
        "VllmEngine": engine,
        "TailBatchingWorker": importlib.import_module("rollflex.adapters.trl").TailBatchingWorker,
        "AsyncGRPOTrainer": AsyncGRPOTrainer,
        "args": args,
        "model": "Qwen/Qwen3-4B",
        "dataset": [{"prompt": f"p{number}"} for number in range(100)],
        "reward": lambda completions, **_: [float(len(one)) for one in completions],
        "tokenizer": trl_double.Tokenizer(),
    }
    exec(page.blocks["python"], names)
    trainer = names["trainer"]
    assert sum(map(len, trainer.steps)) == 32
    text = (root / "docs" / "adapters" / "trl.md").read_text()
    assert {name for name in trainer.metrics if name.startswith("rollflex/")} <= set(
        re.findall(r"`(rollflex/\w+)`", text)
    )
    parameters = inspect.signature(names["TailBatchingWorker"]).parameters
    table = re.findall(r"^\| `(\w+)` \|", text, re.M)
    assert table == [name for name in parameters if name not in ("args", "dataset", "reward_funcs", "tokenizer")]
