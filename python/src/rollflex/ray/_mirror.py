"""The mirror: a small actor on another node that holds what the server has acknowledged."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from concurrent import futures
from typing import Any

import ray
from ray import ObjectRef
from ray.exceptions import ActorDiedError, ActorUnschedulableError, RayError, RayTaskError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from ..errors import RollflexError
from ._log import Log, Record
from ._nodes import alive_nodes, other_node

_log = logging.getLogger("rollflex.ray")
_answer_seconds = 30.0
_retry_seconds = 0.5


class Superseded(RollflexError):
    """Another server has taken over: this one must acknowledge nothing any more."""


class Mirror:
    """Holds a log. Each server that takes over has a higher generation; those before it are refused."""

    def __init__(self) -> None:
        self._log: Log | None = None
        self._generation = 0

    def claim(self) -> tuple[int, Log | None, str]:
        """For a server that takes over: its generation, what there is to go on with, and the node of this mirror."""
        self._generation += 1
        return self._generation, self._log, ray.get_runtime_context().get_node_id()

    def seed(self, generation: int, log: Log) -> None:
        """Takes a whole log."""
        self._check(generation)
        self._log = log

    def append(self, generation: int, first: int, records: Sequence[Record]) -> None:
        """Takes records, the first of which has this number; those that are here already are passed over."""
        self._check(generation)
        if self._log is None or self._log.number < first:
            raise ValueError("records are missing")
        self._log.extend(records[self._log.number - first :])

    def number(self) -> int | None:
        """Records held; nothing before the first log has come."""
        return None if self._log is None else self._log.number

    def _check(self, generation: int) -> None:
        if generation < self._generation:
            raise Superseded(f"a server of generation {self._generation} has taken over from this one, {generation}")
        self._generation = generation


class Mirroring:
    """The server's side: finds the mirror, feeds it, and makes a new one where it is gone or on the same node."""

    def __init__(self, name: str, namespace: str, node_id: str) -> None:
        self._prefix = f"{name}/mirror-"
        self._namespace = namespace
        self._node_id = node_id
        self._made = 0
        self._number = 0
        self._mirror: Any = None
        self.generation = 1
        self.node_id: str | None = None
        """Where the mirror is."""
        self.misplaced = False
        """Whether the next commit shall move it."""

    @property
    def elsewhere(self) -> bool:
        """Whether it is on another node than the server."""
        return self.node_id is not None and self.node_id != self._node_id

    def names(self) -> list[tuple[int, str]]:
        """The mirrors that there are, the newest first."""
        found = []
        for one in ray.util.list_named_actors(all_namespaces=True):
            if one["namespace"] == self._namespace and one["name"].startswith(self._prefix):
                found.append((int(one["name"][len(self._prefix) :]), one["name"]))
        return sorted(found, reverse=True)

    def take_over(self) -> Log | None:
        """What the newest mirror holds that was ever filled, or nothing if there is none. Blocks."""
        for number, name in self.names():
            self._made = max(self._made, number)
            claimed = self._claimed(name)
            if claimed is not None:
                self._mirror, self._number = claimed[0], number
                self.generation, log, self.node_id = claimed[1]
                return log
        return None

    def _claimed(self, name: str) -> tuple[Any, tuple[int, Log, str]] | None:
        """A mirror and what it holds; nothing if it is dead, or was never filled."""
        while True:
            try:
                mirror = ray.get_actor(name, self._namespace)
                if _wait_for(mirror.number.remote()) is None:
                    return None
                return mirror, _wait_for(mirror.claim.remote())
            except (ActorDiedError, ActorUnschedulableError, ValueError) as error:
                _log.warning("mirror %s is dead: %s", name, error)
                return None
            except (RayError, TimeoutError) as error:
                # It may only be slow. To take it for dead would lose what it holds.
                _log.warning("mirror %s does not answer yet: %s", name, error)
                time.sleep(_retry_seconds)

    def settle(self, log: Log) -> None:
        """After a start: the mirror has this log, and is elsewhere if it can be. Blocks."""
        if self._mirror is not None and not self.should_move():
            try:
                _wait_for(self._mirror.seed.remote(self.generation, log))
                # One that the server before this one was just making must not be found by the next.
                return self._end_others()
            except (RayError, TimeoutError) as error:
                _raise_if_superseded(error)
        self.make(log)

    def make(self, log: Log) -> None:
        """A new mirror with this log, elsewhere if there is an elsewhere; the others end. Blocks."""
        unfit: set[str] = {self._node_id}
        while True:
            node_id = other_node(unfit)
            try:
                mirror = self._made_on(node_id or self._node_id, log)
                break
            except (RayError, ValueError, TimeoutError) as error:
                _raise_if_superseded(error)
                _log.warning("no mirror on node %s: %s", node_id, error)
                if node_id is None:
                    time.sleep(_retry_seconds)
                    unfit = {self._node_id}
                else:
                    unfit.add(node_id)
        self._mirror, self._number, self.node_id = mirror, self._made, node_id or self._node_id
        self.misplaced = False
        if not self.elsewhere:
            _log.warning("the mirror of %s is on the same node as the server: there is no other", self._prefix)
        self._end_others()

    def end_all(self) -> None:
        for _, name in self.names():
            _end(name, self._namespace)

    async def append(self, first: int, records: Sequence[Record]) -> None:
        """Raises what went wrong; :class:`Superseded` says that this server must stop."""
        assert self._mirror is not None
        try:
            await self._mirror.append.remote(self.generation, first, records)
        except RayError as error:
            _raise_if_superseded(error)
            raise

    def should_move(self) -> bool:
        """Whether the mirror could be on another node, and is not. Blocks."""
        return not self.elsewhere and len(alive_nodes()) > 1

    def _made_on(self, node_id: str, log: Log) -> Any:
        self._made += 1
        mirror: Any = (
            ray.remote(Mirror)
            .options(
                name=f"{self._prefix}{self._made}",
                namespace=self._namespace,
                # Not owned by the server, with which it would die.
                lifetime="detached",
                num_cpus=0,
                max_restarts=0,
                scheduling_strategy=NodeAffinitySchedulingStrategy(node_id, soft=False),
            )
            .remote()
        )
        try:
            _wait_for(mirror.seed.remote(self.generation, log))
        except BaseException:
            ray.kill(mirror)
            raise
        return mirror

    def _end_others(self) -> None:
        for number, name in self.names():
            if number != self._number:
                _end(name, self._namespace)


def _wait_for(ref: ObjectRef[Any]) -> Any:
    # Not `ray.get`, which warns in async actors even on a thread of its own.
    try:
        return ref.future().result(_answer_seconds)
    except futures.TimeoutError:
        raise TimeoutError(f"no answer in {_answer_seconds} s") from None


def _raise_if_superseded(error: Exception) -> None:
    if isinstance(error, RayTaskError) and isinstance(error.cause, Superseded):
        raise error.cause from None


def _end(name: str, namespace: str) -> None:
    try:
        ray.kill(ray.get_actor(name, namespace))
    except (RayError, ValueError) as error:
        _log.info("mirror %s was gone already: %s", name, error)
