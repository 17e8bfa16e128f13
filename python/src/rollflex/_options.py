"""What sessions are opened with."""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NewType, TypedDict

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
