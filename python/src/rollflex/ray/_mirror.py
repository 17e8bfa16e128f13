"""The mirror: a small actor on another node that holds what the server has acknowledged."""

from __future__ import annotations

import logging
import time
import uuid
from collections.abc import Sequence
from concurrent import futures
from dataclasses import replace
from typing import Any

import ray
from ray import ObjectRef
from ray.exceptions import ActorDiedError, ActorUnschedulableError, RayError, RayTaskError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from ..errors import RollflexError
from ._log import Log, Record
from ._nodes import alive_nodes
from ._register import Configuration, Register

_log = logging.getLogger("rollflex.ray")
_answer_seconds = 30.0
_claim_seconds = 5.0
_retry_seconds = 0.25
_suspect_seconds = 60.0


class Superseded(RollflexError):
    """Another server has taken over, so this one must not acknowledge anything any more."""


class Mirror:
    """
    Holds a log. A server that takes over seals the log with a higher number: servers with a lower number are refused
    from then on.
    """

    def __init__(self) -> None:
        self._log: Log | None = None
        self._number = 0

    def claim(self, number: int) -> tuple[Log | None, str]:
        """Returns the log and the node of this mirror, for a server that wants to take over."""
        self._check(number)
        return self._log, ray.get_runtime_context().get_node_id()

    def seed(self, number: int, log: Log) -> None:
        """Takes a whole log."""
        self._check(number)
        self._log = log

    def append(self, number: int, first: int, records: Sequence[Record]) -> None:
        """Takes records from this number on, and skips records that are here already."""
        self._check(number)
        if self._log is None or self._log.number < first:
            raise ValueError("records are missing")
        self._log.extend(records[self._log.number - first :])

    def _check(self, number: int) -> None:
        if number < self._number:
            raise Superseded(f"configuration {self._number} has taken over from this one, {number}")
        self._number = number


class Mirroring:
    """
    The server's side of mirroring: claims the mirror, feeds it, and makes a new mirror if the old one is gone or on the
    same node.
    """

    def __init__(self, name: str, namespace: str, register: Register, me: Configuration) -> None:
        self._prefix = f"{name}/mirror-"
        self._namespace = namespace
        self._register = register
        self._mirror: Any = None
        self._suspects: dict[str, float] = {}
        """Nodes on which an actor was just lost, with the time until which nothing new goes there."""
        self.now = me
        """The configuration of this server, once decided."""
        self.node_id: str | None = None
        """Where the mirror is."""
        self.misplaced = False
        """Whether the next commit moves the mirror."""

    @property
    def elsewhere(self) -> bool:
        """Whether the mirror is on another node than the server."""
        return self.node_id is not None and self.node_id != self.now.node

    def found(self) -> Log | None:
        """Makes the very first log; returns None if another server was first. Blocks."""
        log = Log("")
        return log if self._next(log, replace(self.now, number=0, generation=1)) else None

    def take_over(self, before: Configuration, lost: str) -> Log | None:
        """
        Returns the content of the mirror; None if another server has taken over, or if the mirror is dead and this
        cannot be said yet. ``lost`` says it if the previous server is certainly gone as well. Blocks.

        :raises RayError, TimeoutError: the mirror does not answer, and treating it as dead would lose its content
        """
        self.suspect(before.node)
        wanted = replace(self.now, number=before.number, generation=before.generation + 1)
        try:
            mirror = ray.get_actor(before.mirror, self._namespace)
            log: Log | None
            log, node_id = _wait_for(mirror.claim.remote(before.number + 1), _claim_seconds)
        except Superseded:
            return None
        except (ActorDiedError, ActorUnschedulableError, ValueError) as error:
            if not lost:
                return None
            _log.error("%s: %s", lost, error)
            empty = Log("", lost=lost)
            return empty if self._next(empty, wanted) else None
        wanted = replace(wanted, number=before.number + 1, mirror=before.mirror)
        if log is None or not self._register.decide(wanted):
            return None
        self.now, self._mirror, self.node_id = wanted, mirror, node_id
        return log

    def settle(self, log: Log) -> None:
        """Gives the mirror this log after a start, and moves it to another node if possible. Blocks."""
        if self._mirror is not None and not self.should_move():
            try:
                _wait_for(self._mirror.seed.remote(self.now.number, log))
                return
            except (RayError, TimeoutError, Superseded) as error:
                _log.warning("the mirror is gone, a new one is made: %s", error)
        self.make(log)

    def make(self, log: Log) -> None:
        """
        Makes a new mirror with this log, on another node if there is one. Blocks.

        :raises Superseded: another server has taken over, with the mirror that was
        """
        latest = self._register.latest()
        if latest != self.now or not self._next(log, self.now):
            raise Superseded(f"another server has taken over from configuration {self.now.number}")

    def suspect(self, node_id: str | None) -> None:
        """Keeps new actors away from this node for a while, because Ray may still regard it as alive."""
        if node_id is not None:
            self._suspects[node_id] = time.monotonic() + _suspect_seconds

    def trust(self, node_id: str) -> None:
        self._suspects.pop(node_id, None)

    def other_nodes(self) -> list[str]:
        """Nodes for actors that are to outlive this one."""
        now = time.monotonic()
        unfit = {one for one, until in self._suspects.items() if until > now} | {self.now.node}
        return [one for one in alive_nodes() if one not in unfit]

    async def append(self, first: int, records: Sequence[Record]) -> None:
        """
        Appends records. Raises the error of a failure, after which a new mirror must be made; only one server can do
        so.
        """
        await self._mirror.append.remote(self.now.number, first, records)

    def should_move(self) -> bool:
        """Whether the mirror could be on another node, and is not. Blocks."""
        return not self.elsewhere and bool(self.other_nodes())

    def _next(self, log: Log, now: Configuration) -> bool:
        """Goes on with a new mirror; not if another server has gone on from here."""
        made: Any = None
        nodes: list[str] = []
        while made is None:
            nodes = nodes or [*self.other_nodes(), self.now.node]
            node_id = nodes.pop(0)
            wanted = replace(now, number=now.number + 1, mirror=f"{self._prefix}{uuid.uuid4().hex[:12]}")
            try:
                made = self._made_on(node_id, log, wanted)
            except (RayError, ValueError, TimeoutError) as error:
                _log.warning("no mirror on node %s: %s", node_id, error)
                time.sleep(_retry_seconds)
        if not self._register.decide(wanted):
            ray.kill(made)
            return False
        before = self.now.mirror
        self.now, self._mirror, self.node_id, self.misplaced = wanted, made, node_id, False
        if not self.elsewhere:
            _log.warning("the mirror of %s is on the same node as the server: there is no other", self._prefix)
        if before:
            end(before, self._namespace)
        return True

    def _made_on(self, node_id: str, log: Log, wanted: Configuration) -> Any:
        mirror: Any = (
            ray.remote(Mirror)
            .options(
                name=wanted.mirror,
                namespace=self._namespace,
                # The mirror is not owned by the server, because it would then die with it.
                lifetime="detached",
                num_cpus=0,
                max_restarts=0,
                scheduling_strategy=NodeAffinitySchedulingStrategy(node_id, soft=False),
            )
            .remote()
        )
        try:
            _wait_for(mirror.seed.remote(wanted.number, log))
        except BaseException:
            ray.kill(mirror)
            raise
        return mirror


def mirror_names(name: str, namespace: str) -> list[str]:
    """Names of a server's existing mirrors."""
    named = ray.util.list_named_actors(all_namespaces=True)
    return [one["name"] for one in named if one["namespace"] == namespace and one["name"].startswith(f"{name}/mirror-")]


def end(name: str, namespace: str) -> None:
    """Ends an actor for good, if it exists."""
    try:
        ray.kill(ray.get_actor(name, namespace), no_restart=True)
    except (RayError, ValueError) as error:
        _log.info("actor %s was gone already: %s", name, error)


def _wait_for(ref: ObjectRef[Any], seconds: float = _answer_seconds) -> Any:
    # `ray.get` is avoided, because it warns in async actors even on a separate thread.
    try:
        return ref.future().result(seconds)
    except futures.TimeoutError:
        raise TimeoutError(f"no answer in {seconds} s") from None
    except RayTaskError as error:
        if isinstance(error.cause, Superseded):
            raise error.cause from None
        raise
