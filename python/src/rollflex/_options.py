"""What clients are made with: the options of a server that is started, and how one that runs is reached."""

from __future__ import annotations

import difflib
import math
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NewType, TypedDict

from ._command import Command, server_command
from ._connected import ConnectedCore
from ._core import Core
from ._embedded import EmbeddedCore, Embedding
from ._link import ChildLink, SocketLink
from ._opening import Opening, Reconnect

Path_ = str | os.PathLike[str]


Untyped = NewType("Untyped", str)
"""
Id of a policy or planner that this package has no types for: one of your own. A bare string is taken for one that ships
with rollflex, so that a type checker finds what is wrong in its configuration.
"""


class OpenOptions(TypedDict, total=False):
    """Options of ``open``, beside the policy and its configuration."""

    snapshot: Mapping[str, Any] | None
    """Where the session goes on from."""
    session: str | None
    """Id of the session; one is made if it is not given."""
    on_existing: Literal["fail", "attach", "replace"] | None
    """If there is a session with this id: refuse (the default), use it as it is, or put a new one in its place."""
    deliver: Literal["reply", "stream"] | None
    """Where decisions go: into what ``send`` returns (the default), or to subscribers."""
    timers: Literal["host", "server"] | None
    """Who answers ``timer.set``: the host (the default), or the server, which needs ``deliver="stream"``."""
    shadow: bool | None
    """Whether the host decides by itself and says what, as ``host.decided``: decisions are only compared."""
    armed: Sequence[Mapping[str, Any]] | None
    """Timers that run, as ``session.armed()`` gave them beside a snapshot."""
    producer: str | None
    """Who sends, for a host that goes on as the same after a restart; new for each session if it is not given."""
    timeout: float | None
    """Seconds that this call may take."""


def embedding(
    limits: Mapping[str, float] | None = None,
    memory_limit: int | None = None,
    time_limit: float | None = None,
    timeout: float = 60.0,
    *,
    state_dir: Path_ | None = None,
    fsync: Literal["always", "interval"] | None = None,
    log_dir: Path_ | None = None,
) -> Embedding:
    """The policies in this process. Raises ValueError for limits that are none, and what contradicts each other."""
    for name, limit in (("memory_limit", memory_limit), ("time_limit", time_limit)):
        if limit is not None and not limit > 0:
            raise ValueError(f"{name} is to be more than 0, not {limit!r}")
    if fsync is not None and (state_dir is None or fsync not in ("always", "interval")):
        raise ValueError(f'fsync is "always" or "interval", beside a state_dir, not {fsync!r} beside {state_dir!r}')
    return Embedding(
        limits or {},
        memory_limit,
        time_limit,
        timeout,
        state_dir=None if state_dir is None else os.fspath(state_dir),
        fsync=fsync or "always",
        log_dir=None if log_dir is None else os.fspath(log_dir),
    )


def core_of(opening: Opening | Embedding) -> Core:
    return EmbeddedCore(opening) if isinstance(opening, Embedding) else ConnectedCore(opening)


def spawning(
    command: Command | None,
    *,
    state_dir: Path_ | None,
    fsync: str | None,
    policies: Path_ | None,
    limits: Mapping[str, float] | None,
    metrics_port: int | None,
    args: tuple[str, ...],
    env: Mapping[str, str] | None,
    timeout: float,
    check_version: bool,
    reconnect: Reconnect | None,
) -> Opening:
    """A server of one's own, on standard input and output."""
    words = [*server_command(command), "serve", "--stdio"]
    given = {"state-dir": state_dir, "fsync": fsync, "policies": policies, "metrics-port": metrics_port}
    for name, value in given.items():
        if value is not None:
            words += [f"--{name}", os.fspath(value) if isinstance(value, os.PathLike) else str(value)]
    for name, bound in (limits or {}).items():
        # maxSessions as --max-sessions.
        words += ["--" + re.sub(r"[A-Z]", lambda letter: "-" + letter[0].lower(), name), str(bound)]
    words += args
    return Opening(
        open=lambda timeout: ChildLink(words, _with_room(env)),
        token=None,
        restorable=state_dir is not None,
        timeout=timeout,
        wait=0.0,
        check_version=check_version,
        reconnect=reconnect or Reconnect(),
    )


def _with_room(env: Mapping[str, str] | None) -> dict[str, str]:
    """Events and decisions live for a moment: with less room for what is young, V8 copies many of them first."""
    merged = {**os.environ, **(env or {})}
    given = merged.get("NODE_OPTIONS", "")
    if "semi-space" not in given.replace("_", "-"):
        merged["NODE_OPTIONS"] = f"{given} --max-semi-space-size=64".strip()
    return merged


def connecting(
    path: Path_ | None,
    *,
    host: str | None,
    port: int | None,
    token: str | None,
    token_file: Path_ | None,
    timeout: float,
    wait: float,
    check_version: bool,
    reconnect: Reconnect | None,
) -> Opening:
    """A server that listens. Raises ValueError for options that contradict each other."""
    if (path is None) == (port is None):
        raise ValueError("give either the path of a Unix socket, or a port")
    if path is not None and host is not None:
        raise ValueError("a Unix socket has no host")
    if token is not None and token_file is not None:
        raise ValueError("give either a token or a token_file")
    if token_file is not None:
        token = Path(token_file).read_text(encoding="utf-8").strip()
    address: str | tuple[str, int] = os.fspath(path) if path is not None else (host or "127.0.0.1", int(port or 0))
    return Opening(
        open=lambda timeout: SocketLink(address, timeout),
        token=token,
        restorable=True,
        timeout=timeout,
        wait=wait,
        check_version=check_version,
        reconnect=reconnect or Reconnect(),
    )


def open_params(policy: str | None, options: Mapping[str, Any]) -> tuple[dict[str, Any], bool]:
    """Parameters of `session.open`, and whether the caller has named the session."""
    names = {
        "config": "config",
        "snapshot": "snapshot",
        "session": "session",
        "on_existing": "onExisting",
        "deliver": "deliver",
        "timers": "timers",
        "shadow": "shadow",
        "armed": "armed",
    }
    unknown = sorted(set(options) - set(names))
    if unknown:
        near = difflib.get_close_matches(unknown[0], [*names, "timeout", "producer"], n=1)
        meant = f" (did you mean {near[0]!r}?)" if near else ""
        raise TypeError(f"open() has no option {', '.join(unknown)}{meant}")
    params = {names[name]: value for name, value in options.items() if value is not None}
    if policy is not None:
        params["policy"] = policy
    named = "session" in params
    if not named:
        params["session"] = f"{policy or 'session'}-{os.urandom(8).hex()}"
    return params, named


def deadline_after(timeout: float, now: float) -> float | None:
    """When a call that begins now is given up; infinity is never."""
    return None if timeout == math.inf else now + timeout
