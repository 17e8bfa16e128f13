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
    """What the actors are made with."""

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
    """What tells these actors from earlier ones of the same name."""

    @property
    def names(self) -> tuple[str, str]:
        return names_of(self.name)


def names_of(name: str) -> tuple[str, str]:
    """The names of both actors."""
    return name, f"{name}/2"


def make(kind: type, options: ActorOptions, member: str, node: str | Mapping[str, str] | None) -> None:
    """
    One of the two, where it shall be, if there is none of this name.

    :raises ValueError: there is no such node
    """
    ray.remote(kind).options(
        **{
            "name": member,
            "namespace": options.namespace,
            "get_if_exists": True,
            # Not owned by the process that happens to make it.
            "lifetime": "detached",
            "max_restarts": options.max_restarts,
            # Calls are made again by who waits for them, up to a deadline.
            "max_task_retries": 0,
            "max_concurrency": _concurrency,
            "num_cpus": 0,
            **placement(node),
            **options.actor_options,
        }
    ).remote(options, member)


class Pair:
    """Both actors, as one of them sees them."""

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
        """Where the other one is, as far as the one that serves knows."""
        self.trouble = ""
        """Why it could not be found out last time whose turn it is."""
        self.well = False
        """Whether the one that serves has answered just now."""
        self._register = Register(options.namespace, options.name, options.incarnation)
        me = Configuration(0, 1, member, self.instance, node_id, "")
        self.mirroring = Mirroring(options.name, options.namespace, self._register, me)

    async def turn(self, stands_by: Callable[[], None]) -> Log:
        """Comes back when it is this one's turn to serve, with what it goes on from; calls if it must wait for that."""
        while True:
            try:
                log = await self._look()
            except Exception as error:
                # The mirror may only be slow, and the GCS on its way back.
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
            # Who has taken over has its time, too. That is not so of an earlier process of this same actor.
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
        # It was shut down, and this one was just being made.
        await asyncio.to_thread(end, self._member, self._options.namespace)
        return None

    async def _see(self, one: Configuration) -> Literal["well", "silent", "gone"]:
        """How the process of a configuration is. Gone: Ray says so, or has put another one in its place."""
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
        """For the one that serves: the other one is there, on another node, if there is one."""
        if self._options.failover_seconds is None:
            return
        nodes = await asyncio.to_thread(self.mirroring.other_nodes)
        try:
            status = await self._status()
        except (ValueError, ActorDiedError):
            self._other_handle = self.standby_node = None
            if nodes:
                # Not where the mirror is, if it can be: both would be lost together.
                nodes.sort(key=lambda one: one == self.mirroring.node_id)
                await asyncio.to_thread(make, kind, self._options, self._other, nodes[0])
        except (RayError, asyncio.TimeoutError, TimeoutError):
            # Ray makes it again, or it is on its way.
            self.standby_node = None
        else:
            self.standby_node = status["node"]
            self.mirroring.trust(status["node"])
            if status["node"] == self.node_id and nodes and not status["serves"]:
                await asyncio.to_thread(end, self._other, self._options.namespace)


async def answer_of(ref: Any) -> Any:
    """What a reference of Ray comes to, as asyncio can wait for it."""
    return await ref
