"""What sessions are opened with."""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NewType, TypedDict

Untyped = NewType("Untyped", str)
"""
Id of a policy or planner without types in this package, such as one of your own. Bare strings count as ids of policies
that ship with rollflex, so that a type checker finds mistakes in their configurations.
"""


class OpenOptions(TypedDict, total=False):
    """Options of ``open``, beside the policy and its configuration."""

    snapshot: Mapping[str, Any] | None
    """The snapshot from which the session continues."""
    session: str | None
    """Id of the session; a new id is made if absent."""
    on_existing: Literal["fail", "attach", "replace"] | None
    """What to do if a session with this id exists: refuse (the default), use it unchanged, or replace it."""
    deliver: Literal["reply", "stream"] | None
    """Where decisions go: into the result of ``send`` (the default), or to subscribers."""
    timers: Literal["host", "server"] | None
    """Who answers ``timer.set``: the host (the default), or the server, which needs ``deliver="stream"``."""
    shadow: bool | None
    """Whether the host decides by itself and says what, as ``host.decided``: decisions are only compared."""
    armed: Sequence[Mapping[str, Any]] | None
    """Running timers, as ``session.armed()`` returned them together with a snapshot."""
    producer: str | None
    """
    Name of the sender, for a host that continues as the same sender after a restart; new for each session if absent.
    """
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
