"""
A double of TRL's asynchronous trainer around its rollout worker, and an engine that decodes in real time.

Faithful to TRL 1.16.0, `experimental/async_grpo/async_grpo_trainer.py`: the order of `_TrainBeginCallback`,
`RolloutQueueDataset` (health is checked while it waits, stale samples are dropped), `FixedCountBatcher`,
`_sync_weight`, and the end of `_inner_training_loop`; of accelerate's `DataLoaderDispatcher`, which reads a micro-batch
ahead; of transformers' `Trainer`, which takes all micro-batches of a step before the first.
"""

from __future__ import annotations

import asyncio
import queue
import sys
import time
import types
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from rollflex.rollout import Engine, Generated, GenerationFailed
from rollflex.rollout.engines import Prompt


@dataclass
class RolloutSample:
    prompt: list[dict[str, str]]
    completion: list[dict[str, str]]
    input_ids: list[int]
    completion_mask: list[int]
    old_log_probs: list[float]
    advantage: float
    model_version: int
    group_id: int
    metrics: dict[str, float]
    enqueued_at: float | None = None


def install(monkeypatch: pytest.MonkeyPatch) -> None:
    """The modules that the adapter imports when it is used."""
    worker = types.ModuleType("trl.experimental.async_grpo.async_rollout_worker")
    worker.RolloutSample = RolloutSample  # type: ignore[attr-defined]
    for name in ("trl", "trl.experimental", "trl.experimental.async_grpo"):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    monkeypatch.setitem(sys.modules, worker.__name__, worker)
    numpy = types.ModuleType("numpy")
    numpy.asarray = lambda values, dtype: list(values)  # type: ignore[attr-defined]
    numpy.int64, numpy.float32 = int, float  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "numpy", numpy)


def config(**changed: Any) -> SimpleNamespace:
    """`AsyncGRPOConfig`, as much of it as matters here."""
    return SimpleNamespace(
        **{
            "num_generations": 4,
            "per_device_train_batch_size": 4,
            "gradient_accumulation_steps": 4,
            "world_size": 1,
            "weight_sync_steps": 1,
            "max_staleness": 4,
            "max_completion_length": 64,
            "temperature": 1.0,
            "top_p": 1.0,
            "top_k": 0,
            "min_p": None,
            "repetition_penalty": 1.0,
            "chat_template_kwargs": None,
            **changed,
        }
    )


class Tokenizer:
    """A token for each character."""

    def __call__(self, text: str) -> dict[str, list[int]]:
        return {"input_ids": [ord(one) for one in text]}

    def decode(self, ids: list[int], skip_special_tokens: bool) -> str:
        assert skip_special_tokens
        return "".join(map(chr, ids))

    def apply_chat_template(
        self, messages: list[dict[str, str]], return_dict: bool, add_generation_prompt: bool
    ) -> list[int]:
        assert not return_dict and add_generation_prompt
        return [ord(one) for message in messages for one in f"<{message['role']}>{message['content']}"] + [ord(">")]


class Talker(Engine):
    """Says `a` as often as `lengths` wants for a prompt and the number of its response; stands still in a pause."""

    def __init__(self, engine_id: str, lengths: Callable[[str, int], int], tokens_per_second: float) -> None:
        super().__init__(engine_id, poll_seconds=0.01)
        self._lengths = lengths
        self._pace = 1 / tokens_per_second
        self._said: dict[str, int] = {}
        self._aborted: set[str] = set()
        self.going = asyncio.Event()
        self.going.set()
        self.asked: list[dict[str, Any]] = []
        self.aborts = 0
        self.fails = False
        self.is_up = True

    async def is_healthy(self) -> bool:
        return self.is_up

    async def _generate(self, found: Generated, request_id: str, prompt: Prompt, sampling: Mapping[str, Any]) -> None:
        assert not isinstance(prompt, str)
        text = "".join(map(chr, prompt))
        self.asked.append(dict(sampling))
        if self.fails:
            raise GenerationFailed(f"{self.id}: no memory left")
        index = self._said[text] = self._said.get(text, -1) + 1
        found.log_probs = []
        for _ in range(self._lengths(text, index)):
            await asyncio.sleep(self._pace)
            while not self.going.is_set():
                await asyncio.sleep(0.001)
            if request_id in self._aborted:
                found.finish = "abort"
                return
            found.token_ids.append(ord("a"))
            found.log_probs.append(-0.5)
            found.tokens += 1
        found.finish = "stop"

    async def _abort(self, request_id: str) -> None:
        self.aborts += 1
        self._aborted.add(request_id)


@dataclass
class Trainer:
    """What `train` does with a worker."""

    args: SimpleNamespace
    worker: Any
    engines: list[Talker]
    train_seconds: float = 0.005
    version: int = 0
    steps: list[list[RolloutSample]] = field(default_factory=list)
    staleness: list[int] = field(default_factory=list)
    dropped: list[RolloutSample] = field(default_factory=list)
    buffered: int = 0
    metrics: dict[str, list[Any]] = field(default_factory=dict)
    stale_after_s: float = 5.0

    def train(self, steps: int) -> None:
        try:
            self._sync_weights()
            self.worker.start()
            batches = self._read_ahead()
            for step in range(1, steps + 1):
                taken = [next(batches) for _ in range(self.args.gradient_accumulation_steps)]
                time.sleep(self.train_seconds)
                self.steps.append([sample for batch in taken for sample in batch])
                if step % self.args.weight_sync_steps == 0:
                    self._sync_weights()
                self._log()
        finally:
            self.worker.stop()

    def _sync_weights(self) -> None:
        for one in self.engines:
            one.going.clear()
        time.sleep(0.002)
        for one in self.engines:
            one.going.set()
        self.version += 1
        self.worker.update_model_version(self.version)

    def _read_ahead(self) -> Iterator[list[RolloutSample]]:
        batches = self._batches()
        ahead = next(batches)
        while True:
            batch, ahead = ahead, next(batches)
            yield batch

    def _batches(self) -> Iterator[list[RolloutSample]]:
        batch: list[RolloutSample] = []
        for sample in self._samples():
            batch.append(sample)
            if len(batch) == self.args.per_device_train_batch_size * self.args.world_size:
                yield batch
                batch = []

    def _samples(self) -> Iterator[RolloutSample]:
        while True:
            try:
                self.buffered = max(self.buffered, self.worker.rollout_buffer.qsize())
                sample = self.worker.rollout_buffer.get(timeout=0.05)
            except queue.Empty:
                self.worker.check_health(self.stale_after_s)
                continue
            lag = self.version - sample.model_version
            if lag > self.args.max_staleness:
                self.dropped.append(sample)
                continue
            self.staleness.append(lag)
            yield sample

    def _log(self) -> None:
        while True:
            try:
                for key, value in self.worker.metrics_queue.get_nowait().items():
                    self.metrics.setdefault(key, []).append(value)
            except queue.Empty:
                return
