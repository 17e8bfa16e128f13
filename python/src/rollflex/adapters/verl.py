"""
Tail batching as the sampler of verl's v1 trainer (`trainer.v1.sampler.custom_sampler`).

Follows verl 0.9.1 and main at 1dda039 (2026-08-22): `ReplayBufferAsync` and `PPOTrainer._build_replay_buffer`.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from statistics import fmean
from typing import TYPE_CHECKING, Any, Protocol

from ._check import main, refuse
from ._check_verl import configured, framework, least_threshold, refusals
from ._groups import Group, GroupRounds, Settings
from ._server import client

if TYPE_CHECKING:
    from ..client import Client, Session
    from ..models.policies.tail_batching import TailBatchingDecision, TailBatchingEvent

logger = logging.getLogger(__name__)

Tags = Mapping[str, Mapping[str, Any]]


class TransferQueue(Protocol):
    """The part of the module `transfer_queue` that is used."""

    KVBatchMeta: Any

    def kv_list(self, partition_id: str) -> Mapping[str, Tags] | None: ...
    def kv_clear(self, keys: list[str], partition_id: str) -> None: ...
    def kv_batch_get(self, keys: list[str], partition_id: str, select_fields: list[str]) -> Mapping[str, Any]: ...


class TailBatchingSampler:
    """
    Chooses which prompt groups a step trains on, and how many prompts are in flight beside them.

    :param sampler_kwargs: `trainer.v1.sampler.sampler_kwargs`; see :meth:`configure`
    :param refill_fn: the trainer's function that brings this many fresh prompts
    """

    def __init__(
        self,
        trainer_mode: str,
        trainer_config: Any,
        max_off_policy_threshold: int | None,
        max_off_policy_strategy: str,
        sampler_kwargs: Mapping[str, Any],
        refill_fn: Callable[[int], int],
    ) -> None:
        self._threshold = max_off_policy_threshold
        self._warmup: float = trainer_config.get("num_warmup_batches", 1)
        refuse(refusals(trainer_mode, self._threshold, self._warmup))
        self._refill = refill_fn
        self._client: Client | None = None
        self._session: Session[TailBatchingEvent, TailBatchingDecision] | None = None
        self._batch_size = 0
        self._rounds = GroupRounds()
        self.configure(**{str(key): sampler_kwargs[key] for key in sampler_kwargs})

    def configure(
        self,
        *,
        server: Mapping[str, Any] | None = None,
        prompt_speculation: float = 1.5,
        filter_groups_metric: str | None = None,
        poll_interval: float = 0.5,
    ) -> None:
        """
        Takes `sampler_kwargs`.

        :param server: parameters of :meth:`rollflex.Client.connect`, and `reconnect_seconds`; the policy runs in
            this process if absent
        :param prompt_speculation: a short round takes the first of this many times the groups that it needs
        :param filter_groups_metric: groups that are all alike in this `reward_extra_info`, or in their `reward`, are
            replaced
        """
        self._server = server
        self._metric = filter_groups_metric
        self.poll_interval = poll_interval
        judged = filter_groups_metric is not None
        self._settings = Settings(prompt_speculation, self._max_staleness(), judged)

    def sample(self, global_steps: int, partition_id: str, batch_size: int) -> tuple[Any, dict[str, float]]:
        """The groups that the step trains on, or the whole batch of an evaluation."""
        if partition_id == "val":
            # Evaluation is not part of the rounds, so all its groups are taken.
            return self._take(partition_id, self._wait(partition_id, batch_size)[:batch_size]), {}
        self._open(batch_size)
        failed = filtered = 0
        if self._rounds.can_open:
            self._send(self._rounds.open(global_steps))
        while True:
            tags = self._tags(partition_id)
            self._exchange(partition_id, tags)
            self._clear(partition_id, tags, self._rounds.failed + self._rounds.filtered)
            failed += len(self._rounds.failed)
            filtered += len(self._rounds.filtered)
            self._rounds.failed, self._rounds.filtered = [], []
            if not self._rounds.is_open:
                break
            if self._rounds.missing > 0:
                self._refill(self._rounds.missing)
            else:
                time.sleep(self.poll_interval)
        chosen = list(self._rounds.chosen)
        spans = [global_steps - int(tags[uid]["global_steps"]) + 1 for uid in chosen]
        batch = self._take(partition_id, chosen)
        self._rounds.chosen.clear()
        if self._threshold is not None and max(spans) > self._threshold:
            logger.warning("a group spans %d weight versions; the threshold is %d", max(spans), self._threshold)
        return batch, {
            "training/off_policy/span/mean": fmean(spans),
            "training/off_policy/span/max": float(max(spans)),
            "training/rollflex/long_round": float(self._rounds.kind == "long"),
            "training/rollout_failure/evicted_samples": float(failed),
            "training/filter_groups/evicted_samples": float(filtered),
        }

    def get_sampleable_count(self, global_steps: int, partition_id: str) -> int:
        """Groups that have ended (`hybrid_rollout.enable_switch`)."""
        return len(_ended(self._tags(partition_id)))

    def wait_for_sampleable(
        self, global_steps: int, partition_id: str, target_count: int
    ) -> tuple[set[str], dict[str, float]]:
        """Waits until so many groups have ended (`hybrid_rollout.enable_switch`)."""
        return set(self._wait(partition_id, target_count)), {}

    def close(self) -> None:
        """Ends the connection, and a server that was started for it."""
        if self._client is not None:
            self._client.close()

    def _max_staleness(self) -> int:
        """Number of versions after which a long round waits for a group, so that it is trained within the threshold."""
        if self._threshold is None:
            return 1 << 30
        return max(0, self._threshold - least_threshold(self._warmup) - 1)

    def _open(self, batch_size: int) -> None:
        if self._session is None:
            self._client = client(self._server)
            self._session = self._client.open("tail-batching", config=self._settings.config(batch_size))
            self._batch_size = batch_size
        if batch_size != self._batch_size:
            raise ValueError(f"rounds have {self._batch_size} prompts; expected the same batch_size, got {batch_size}")

    def _send(self, events: Sequence[TailBatchingEvent]) -> None:
        assert self._session is not None
        self._rounds.apply(self._session.send(events))

    def _exchange(self, partition_id: str, tags: Tags) -> None:
        groups = _groups(tags)
        while True:
            events = self._rounds.progress(groups)
            if self._metric is not None and self._rounds.to_judge:
                to_judge, self._rounds.to_judge = self._rounds.to_judge, []
                events += self._rounds.judged((uid, self._differs(partition_id, tags, uid)) for uid in to_judge)
            if not events:
                return
            self._send(events)

    def _differs(self, partition_id: str, tags: Tags, uid: str) -> bool:
        """Whether the metric differs within the group; a single trajectory differs from nothing."""
        keys = [key for key in tags if _uid(key) == uid and key != uid]
        field = "rm_scores" if self._metric == "reward" else "extra_fields"
        data = _queue().kv_batch_get(keys=keys, partition_id=partition_id, select_fields=[field])
        values = [self._value(uid, one) for one in data[field]]
        return len(values) == 1 or max(values) - min(values) > 1e-6

    def _value(self, uid: str, found: Any) -> float:
        if self._metric == "reward":
            return float(found.sum())
        info = getattr(found, "data", found).get("reward_extra_info", {})
        if self._metric not in info:
            raise RuntimeError(f"group {uid} has no {self._metric!r} in its reward_extra_info")
        return float(info[self._metric])

    def _wait(self, partition_id: str, count: int) -> list[str]:
        while True:
            ended = _ended(self._tags(partition_id))
            if len(ended) >= count:
                return ended
            time.sleep(self.poll_interval)

    def _take(self, partition_id: str, uids: Sequence[str]) -> Any:
        """Takes the trajectories of these groups, which then leave the queue."""
        queue, tags, taken = _queue(), self._tags(partition_id), set(uids)
        keys = [key for key in tags if _uid(key) in taken and key not in taken]
        queue.kv_clear(keys=list(uids), partition_id=partition_id)
        return queue.KVBatchMeta(partition_id=partition_id, keys=keys, tags=[dict(tags[key]) for key in keys])

    def _clear(self, partition_id: str, tags: Tags, uids: Sequence[str]) -> None:
        if uids:
            logger.warning("given up or filtered: %s", ", ".join(uids))
            gone = set(uids)
            _queue().kv_clear(keys=[key for key in tags if _uid(key) in gone], partition_id=partition_id)

    def _tags(self, partition_id: str) -> Tags:
        return (_queue().kv_list(partition_id) or {}).get(partition_id, {})


def _queue() -> TransferQueue:
    # Only processes of the framework have this module.
    queue: TransferQueue = import_module("transfer_queue")
    return queue


def _uid(key: str) -> str:
    """Returns the `uid` in a key: prompts have `uid`, trajectories `uid_session_index`."""
    return key.split("_", 1)[0]


def _ended(tags: Tags) -> list[str]:
    return [uid for uid, tag in tags.items() if tag.get("is_prompt") and tag["status"] in ("finished", "failure")]


def _groups(tags: Tags) -> dict[str, Group]:
    tokens: dict[str, int] = {}
    prompts: list[tuple[int, str]] = []
    for key, tag in tags.items():
        if tag.get("is_prompt"):
            prompts.append((tag["global_steps"], key))
        else:
            tokens[_uid(key)] = tokens.get(_uid(key), 0) + int(tag.get("response_len", 0))
    # The oldest prompts come first, in drawing order: the sort is stable.
    prompts.sort(key=lambda one: one[0])
    groups: dict[str, Group] = {}
    for _, uid in prompts:
        status = tags[uid]["status"]
        if status == "finished" and uid in tokens:
            groups[uid] = Group("finished", tokens[uid])
        else:
            groups[uid] = Group("failed" if status in ("failure", "finished") else "running")
    return groups


if __name__ == "__main__":
    raise SystemExit(main(framework, configured))
