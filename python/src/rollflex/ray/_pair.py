"""The two actors of a server: one serves, and the other one, on another node, takes over when it does not answer."""

from __future__ import annotations

import asyncio
import logging
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import ray
from ray.exceptions import ActorDiedError, RayError

from ._log import Log
from ._mirror import Mirroring, end
from ._nodes import placement
from ._process import ServerOptions
from ._register import Configuration, Register

_log = logging.getLogger("rollflex.ray")
_concurrency = 10_000
_tick_seconds = 0.25
_answer_seconds = 1.0

lost_both = "the server and its mirror were lost at the same time, and with them every session"


@dataclass(frozen=True)
class ActorOptions:
    """Options with which the actors are made."""

    name: str
    namespace: str
    mirror: bool = True
    stall_seconds: float = 60.0
    watch_seconds: float = 2.0
    checkpoint_bytes: int = 1 << 20
    server: ServerOptions = field(default_factory=ServerOptions)
    failover_seconds: float | None = None
    max_restarts: int = -1
    actor_options: Mapping[str, Any] = field(default_factory=dict)
    incarnation: str = ""
    """Tells these actors from earlier ones with the same name."""

    @property
    def names(self) -> tuple[str, str]:
        return names_of(self.name)


def names_of(name: str) -> tuple[str, str]:
    """Returns the names of both actors."""
    return name, f"{name}/2"


def make(kind: type, options: ActorOptions, member: str, node: str | Mapping[str, str] | None) -> None:
    """
    Makes one of the two actors in its place, unless an actor with its name exists.

    :raises ValueError: there is no such node
    """
    ray.remote(kind).options(
        **{
            "name": member,
            "namespace": options.namespace,
            "get_if_exists": True,
            # The actor is not owned by the process that happens to make it.
            "lifetime": "detached",
            "max_restarts": options.max_restarts,
            # Callers repeat their calls themselves, up to a deadline.
            "max_task_retries": 0,
            "max_concurrency": _concurrency,
            "num_cpus": 0,
            **placement(node),
            **options.actor_options,
        }
    ).remote(options, member)


class Pair:
    """Both actors, in the view of one of them."""

    def __init__(self, options: ActorOptions, member: str, node_id: str) -> None:
        first, second = options.names
        self._options = options
        self._member = member
        self._other = second if member == first else first
        self._other_handle: Any = None
        self._before: Configuration | None = None
        self._heard = time.monotonic()
        self.node_id = node_id
        self.instance = uuid.uuid4().hex
        self.standby_node: str | None = None
        """Node of the other actor, as far as the serving actor knows."""
        self.trouble = ""
        """Why the last attempt to find out whose turn it is failed."""
        self.well = False
        """Whether the serving actor has just answered."""
        self._register = Register(options.namespace, options.name, options.incarnation)
        me = Configuration(0, 1, member, self.instance, node_id, "")
        self.mirroring = Mirroring(options.name, options.namespace, self._register, me)

    async def turn(self, stands_by: Callable[[], None]) -> Log:
        """
        Returns when it is this actor's turn to serve, with the log to continue from; calls `stands_by` if it must wait.
        """
        while True:
            try:
                log = await self._look()
            except Exception as error:
                # The mirror may be slow, and the GCS may be coming back.
                _log.warning("no answer yet: %r", error)
                self.trouble = f"{error!r:.500}"
                log = None
            else:
                self.trouble = ""
            if log is not None:
                return log
            if self.well:
                stands_by()
            await asyncio.sleep(_tick_seconds)

    async def _look(self) -> Log | None:
        seen = "gone" if self._before is None else await self._see(self._before)
        self.well = seen == "well"
        if self.well:
            self._heard = time.monotonic()
            return None
        latest = await asyncio.to_thread(self._register.latest)
        if latest is None:
            return await self._first()
        if latest != self._before:
            # An actor that has taken over gets its time, too, but an earlier process of this same actor does not.
            self._before, self._heard = latest, time.monotonic()
            return None
        patience = self._options.failover_seconds
        silent = latest.member != self._member and time.monotonic() - self._heard < (patience or 0.0)
        if silent:
            return None
        lost = lost_both if seen == "gone" else ""
        return await asyncio.to_thread(self.mirroring.take_over, latest, lost)

    async def _first(self) -> Log | None:
        if self._member == self._options.name:
            return await asyncio.to_thread(self.mirroring.found)
        # The pair was shut down while this actor was being made.
        await asyncio.to_thread(end, self._member, self._options.namespace)
        return None

    async def _see(self, one: Configuration) -> Literal["well", "silent", "gone"]:
        """Returns the state of a configuration's process. It is gone if Ray says so, or has replaced it."""
        if one.member == self._member:
            return "gone"
        try:
            status = await self._status()
        except (ValueError, ActorDiedError):
            self._other_handle = None
            return "gone"
        except (RayError, asyncio.TimeoutError, TimeoutError):
            return "silent"
        return "well" if status["instance"] == one.instance else "gone"

    async def _status(self) -> dict[str, Any]:
        if self._other_handle is None:
            self._other_handle = await asyncio.to_thread(ray.get_actor, self._other, self._options.namespace)
        return dict(await asyncio.wait_for(answer_of(self._other_handle.status.remote()), _answer_seconds))

    async def attend(self, kind: type) -> None:
        """Keeps the other actor alive, on another node if there is one; for the serving actor."""
        if self._options.failover_seconds is None:
            return
        nodes = await asyncio.to_thread(self.mirroring.other_nodes)
        try:
            status = await self._status()
        except (ValueError, ActorDiedError):
            self._other_handle = self.standby_node = None
            if nodes:
                # The other actor avoids the mirror's node if possible, because both would be lost together.
                nodes.sort(key=lambda one: one == self.mirroring.node_id)
                await asyncio.to_thread(make, kind, self._options, self._other, nodes[0])
        except (RayError, asyncio.TimeoutError, TimeoutError):
            # Ray restarts the actor, or it is on its way.
            self.standby_node = None
        else:
            self.standby_node = status["node"]
            self.mirroring.trust(status["node"])
            if status["node"] == self.node_id and nodes and not status["serves"]:
                await asyncio.to_thread(end, self._other, self._options.namespace)


async def answer_of(ref: Any) -> Any:
    """Returns the result of a Ray reference in a form that asyncio can await."""
    return await ref
