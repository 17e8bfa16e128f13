"""
A double of what verl's v1 trainer does around its sampler, in simulated time.

Faithful to verl 0.9.1: `verl/trainer/ppo/v1/trainer_base.py` (`prepare_step`, `_add_prompts_to_generate`, `_validate`,
`_reissue_inflight_prompts`), `trainer_colocate_async.py` (warm-up batches; interrupted generation goes on with its
tokens), `agent_loop_tq.py` (keys and tags), and of the package TransferQueue 0.1.11 `kv_list`, `kv_clear`,
`kv_batch_get`, `KVBatchMeta`.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from .engines import Engines


@dataclass
class KVBatchMeta:
    partition_id: str
    keys: list[str]
    tags: list[dict[str, Any]]
    extra_info: dict[str, Any] = field(default_factory=dict)


class Scores(list[float]):
    """A tensor with the reward at each token."""

    def sum(self) -> float:
        return sum(self)


class Queue:
    """The module `transfer_queue`, in memory."""

    KVBatchMeta = KVBatchMeta

    def __init__(self) -> None:
        self.tags: dict[str, dict[str, dict[str, Any]]] = {"train": {}, "val": {}}
        self.fields: dict[str, dict[str, Any]] = {}

    def put(self, key: str, partition_id: str, tag: dict[str, Any], fields: dict[str, Any] | None = None) -> None:
        self.tags[partition_id].setdefault(key, {}).update(tag)
        if fields is not None:
            self.fields[key] = fields

    def kv_list(self, partition_id: str | None = None) -> dict[str, dict[str, dict[str, Any]]]:
        tags = self.tags if partition_id is None else {partition_id: self.tags[partition_id]}
        return copy.deepcopy(tags)

    def kv_clear(self, keys: list[str], partition_id: str) -> None:
        for key in keys:
            del self.tags[partition_id][key]
            self.fields.pop(key, None)

    def kv_batch_get(self, keys: list[str], partition_id: str, select_fields: list[str]) -> dict[str, Any]:
        assert keys and all(key in self.tags[partition_id] for key in keys)
        return {name: [self.fields[key][name] for key in keys] for name in select_fields}


class Sleeper:
    """The module `time`, for code that polls: sleeping lets the engines run."""

    def __init__(self, engines: Engines) -> None:
        self._engines = engines
        self.at_sleep: Callable[[], None] = lambda: None

    def sleep(self, seconds: float) -> None:
        self.at_sleep()
        self._engines.advance(seconds)

    def time(self) -> float:
        return self._engines.now


class Trainer:
    """`PPOTrainerColocateAsync` without the training: prompts in, batches out."""

    def __init__(
        self,
        queue: Queue,
        engines: Engines,
        rows: list[list[int]],
        batch_size: int,
        *,
        rewards: Callable[[int, int], float] = lambda prompt, session: float(session % 2),
        fails: Callable[[int], bool] = lambda prompt: False,
        warmup: int = 1,
        first: int = 0,
        updates: int = 1,
    ) -> None:
        self.queue, self.engines, self.rows, self.batch_size = queue, engines, rows, batch_size
        self.rewards, self.fails, self.warmup = rewards, fails, warmup
        self.updates = updates
        """In a step (`parameter_sync_step`), each with its part of the batch."""
        self.sampler: Any = None
        self.global_steps = 1
        self.drawn = first
        self.trained: Counter[int] = Counter()
        self.spans: list[int] = []
        self.rollout_seconds: list[float] = []
        self.metrics: list[dict[str, float]] = []
        self.refills: list[int] = []

    def refill(self, count: int) -> int:
        assert count > 0
        self.refills.append(count)
        for _ in range(count):
            self._submit(f"u{self.drawn}", "train")
            self.drawn += 1
        return count

    def run(self, steps: int) -> None:
        if self.global_steps == 1:
            for _ in range(self.warmup):
                self._add_batch()
        for _ in range(steps):
            self._add_batch()
            began = self.engines.now
            for _ in range(self.updates):
                batch, metrics = self.sampler.sample(
                    global_steps=self.global_steps, partition_id="train", batch_size=self.batch_size // self.updates
                )
                self.metrics.append(metrics)
                self._train(batch)
            self.rollout_seconds.append(self.engines.now - began)
            self.global_steps += 1

    def validate(self, prompts: int) -> KVBatchMeta:
        for index in range(prompts):
            self._submit(f"v{index}", "val")
        batch, _ = self.sampler.sample(global_steps=self.global_steps, partition_id="val", batch_size=prompts)
        self.queue.kv_clear(keys=batch.keys, partition_id="val")
        assert isinstance(batch, KVBatchMeta)
        return batch

    def resumed(self, state: dict[str, Any]) -> None:
        """`tq.load_checkpoint`, then `_reissue_inflight_prompts`."""
        self.queue.tags = copy.deepcopy(state["tags"])
        self.queue.fields = copy.deepcopy(state["fields"])
        self.global_steps = state["global_steps"]
        tags = self.queue.tags["train"]
        for key in [
            key for key, tag in tags.items() if tag.get("is_prompt") and tag["status"] in ("pending", "running")
        ]:
            self.queue.kv_clear([one for one in tags if one.startswith(f"{key}_")], "train")
            self._submit(key, "train")

    def checkpoint(self) -> dict[str, Any]:
        return {
            "tags": copy.deepcopy(self.queue.tags),
            "fields": copy.deepcopy(self.queue.fields),
            "global_steps": self.global_steps,
            "drawn": self.drawn,
        }

    def waiting(self) -> set[int]:
        """Prompts that were drawn and are neither trained nor given up."""
        return {int(key[1:]) for key, tag in self.queue.tags["train"].items() if tag.get("is_prompt")}

    def _add_batch(self) -> None:
        for _ in range(self.batch_size):
            self._submit(f"u{self.drawn}", "train")
            self.drawn += 1

    def _submit(self, uid: str, partition_id: str) -> None:
        prompt, steps = int(uid[1:]), self.global_steps
        tag = {"is_prompt": True, "status": "pending", "global_steps": steps}
        self.queue.put(uid, partition_id, tag)
        self.queue.put(uid, partition_id, {"status": "running"})
        sessions = self.rows[prompt % len(self.rows)]
        left = set(range(len(sessions)))

        def ended(session: int, tokens: int) -> None:
            failed = self.fails(prompt) and session == 0
            if not failed:
                score = self.rewards(prompt, session)
                fields = {"extra_fields": {"reward_extra_info": {"score": score}}, "rm_scores": Scores([0.0, score])}
                trajectory = {"status": "success", "response_len": tokens, "global_steps": steps}
                self.queue.put(f"{uid}_{session}_0", partition_id, trajectory, fields)
            left.discard(session)
            if not left:
                self.queue.put(uid, partition_id, {"status": "failure" if self.fails(prompt) else "finished"})

        for session, tokens in enumerate(sessions):
            self.engines.submit(f"{uid}_{session}", tokens, lambda s=session, t=tokens: ended(s, t))  # type: ignore[misc]

    def _train(self, batch: KVBatchMeta) -> None:
        groups: dict[int, int] = Counter(int(key.split("_")[0][1:]) for key in batch.keys)
        assert len(groups) == self.batch_size // self.updates
        for prompt, count in groups.items():
            assert count == len(self.rows[prompt % len(self.rows)]), "a group is whole"
            assert self.trained[prompt] == 0, "a prompt is trained once"
            self.trained[prompt] += 1
        self.spans += [self.global_steps - tag["global_steps"] + 1 for tag in batch.tags]
        self.queue.kv_clear(keys=batch.keys, partition_id="train")


class ReplayBufferAsync:
    """
    What verl does by itself: `ReplayBufferAsync` of `replay_buffer.py` with `max_off_policy_strategy: drop`. Of the
    groups that have ended it takes the oldest steps first; those older than the threshold are cleared, and replaced.
    """

    def __init__(self, trainer: Trainer, time: Sleeper, threshold: int, poll_interval: float = 0.5) -> None:
        self.trainer, self.time, self.threshold, self.poll_interval = trainer, time, threshold, poll_interval
        self.dropped: list[int] = []

    def sample(self, global_steps: int, partition_id: str, batch_size: int) -> tuple[KVBatchMeta, dict[str, float]]:
        queue = self.trainer.queue
        while True:
            tags = queue.tags[partition_id]
            ended = [key for key, tag in tags.items() if tag.get("status") == "finished" and tag.get("is_prompt")]
            stale = [uid for uid in ended if global_steps - tags[uid]["global_steps"] + 1 > self.threshold]
            if stale:
                queue.kv_clear([key for key in tags if key.split("_")[0] in stale], partition_id)
                self.dropped += [int(uid[1:]) for uid in stale]
                self.trainer.refill(len(stale))
                continue
            if len(ended) >= batch_size:
                chosen = sorted(ended, key=lambda uid: tags[uid]["global_steps"])[:batch_size]
                queue.kv_clear(chosen, partition_id)
                keys = [key for key in tags if key.split("_")[0] in chosen]
                return KVBatchMeta(partition_id, keys, [dict(tags[key]) for key in keys]), {}
            self.time.sleep(self.poll_interval)
