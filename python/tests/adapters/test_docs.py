"""The pages of the adapters: what they say to write is written here, and runs."""

from __future__ import annotations

import asyncio
import importlib
import re
import sys
import types
from pathlib import Path
from typing import Any

import pytest

from support import root

from . import roll_double
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
