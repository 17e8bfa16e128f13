"""Making the actor, or finding it."""

from __future__ import annotations

import contextlib
import time
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

import ray

from .._command import Command
from .._opening import Path_
from ..errors import ServerUnavailable
from ._calls import Actor, call, run
from ._pair import ActorOptions, make, names_of
from ._process import ServerOptions
from .actor import RollflexActor
from .handle import RollflexHandle


def get_or_create(
    name: str = "rollflex",
    *,
    namespace: str | None = None,
    node: str | Mapping[str, str] | None = None,
    mirror: bool = True,
    max_restarts: int = -1,
    command: Command | None = None,
    policies: Path_ | None = None,
    limits: Mapping[str, float] | None = None,
    args: Sequence[str] = (),
    env: Mapping[str, str] | None = None,
    checkpoint_bytes: int = 1 << 20,
    stall_seconds: float = 60.0,
    failover_seconds: float | None = 2.0,
    deadline_seconds: float = 300.0,
    actor_options: Mapping[str, Any] | None = None,
) -> RollflexHandle:
    """
    Returns a handle of the actor with this name, which is made if it does not exist; an existing actor keeps its
    options.

    :param namespace: namespace of the actor; by default the namespace of the job
    :param node: preferred node of the server, by id or labels
    :param mirror: whether what is acknowledged is kept on another node as well
    :param max_restarts: how often Ray makes the actor again when it dies; -1 for any
    :param command: what starts the server, without ``serve``; see :func:`rollflex.server_command`
    :param policies: a module with your own definitions
    :param limits: bounds of the server, by their names (``maxBacklog``)
    :param checkpoint_bytes: size of a session's steps from which a snapshot replaces them in the mirror
    :param stall_seconds: a server that leaves a call unanswered for longer is killed, and started again
    :param failover_seconds: time without an answer of the actor after which its standby on another node takes over;
        ``None`` for no standby: then Ray must first declare the node dead
    :param deadline_seconds: time in which each call must be answered, even if the server moves to another node
    :param actor_options: further options of the actor for Ray (``num_cpus``, ``runtime_env``)
    """
    space = namespace if namespace is not None else ray.get_runtime_context().namespace
    handle = RollflexHandle(name, space, deadline_seconds)
    for member in names_of(name):
        with contextlib.suppress(ValueError):
            ray.get_actor(member, space)
            return handle
    if failover_seconds is not None and failover_seconds <= 0:
        raise ValueError(f"failover_seconds: expected a positive number or None, got {failover_seconds}")
    server = ServerOptions(command, policies, dict(limits or {}), tuple(args), env)
    options = ActorOptions(
        name,
        space,
        mirror,
        stall_seconds,
        checkpoint_bytes=checkpoint_bytes,
        server=server,
        failover_seconds=failover_seconds if mirror else None,
        max_restarts=max_restarts,
        actor_options=dict(actor_options or {}),
        incarnation=uuid.uuid4().hex,
    )
    make(RollflexActor, options, name, node)
    deadline = time.monotonic() + deadline_seconds
    try:
        run(call(Actor(name, space), deadline, "begin"), deadline)
    except ServerUnavailable:
        # A failed actor would stand in the way of a correct one.
        handle.shutdown()
        raise
    return handle
