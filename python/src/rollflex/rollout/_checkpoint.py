"""Checkpoints: the state of the policy, with the bodies that it speaks of."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Generic

from ..aio import AsyncSession
from ._judging import Judging
from ._opened import Opened
from ._outbox import Outbox
from ._state import State
from ._supply import Supply
from .host import P, R, Round

logger = logging.getLogger("rollflex")
_version = 2


class Checkpoints(Generic[P, R]):
    """Takes checkpoints of a rollout, and restores a new rollout from one."""

    def __init__(self, state: State[P, R], *, supply: Supply[P, R], judging: Judging[P, R]) -> None:
        self._state = state
        self._supply = supply
        self._judging = judging

    async def take(
        self, session: AsyncSession[Any, Any], outbox: Outbox, source: Callable[[], Any] | None
    ) -> dict[str, Any]:
        state = self._state
        state.assert_usable()
        async with self._supply.lock:
            snapshot = await outbox.between(session.snapshot)
            opened = state.opened
            is_open = opened is not None and not opened.completed.done() and not opened.failed
            return {
                "version": _version,
                "policy": session.policy,
                "session": session.id,
                "snapshot": snapshot,
                "bodies": state.bodies.state(),
                "judging": self._judging.under_way(),
                "open": (opened.round.round_id, opened.round.weight_version, opened.round.kind)
                if opened is not None and is_open
                else None,
                "rounds": state.rounds,
                "composes": state.composes,
                "early": list(state.early),
                "engines": sorted(state.engines),
                "suspended": list(state.suspended),
                "source": None if source is None else source(),
            }

    async def restore(
        self, checkpoint: Mapping[str, Any], id_prefix: str, flush: Callable[[], Awaitable[None]]
    ) -> None:
        """Continues from a checkpoint: requests in flight are issued again under new ids."""
        state = self._state
        state.rounds = checkpoint["rounds"]
        state.engines = set(checkpoint["engines"])
        state.suspended = dict.fromkeys(checkpoint.get("suspended", ()), state.clock())
        state.composes = checkpoint["composes"]
        state.early = list(checkpoint["early"])
        state.bodies.load(checkpoint["bodies"])
        if checkpoint["open"] is not None:
            round_id, weight_version, kind = checkpoint["open"]
            state.opened = Opened(Round(round_id, weight_version, kind), resumed=True)
        state.tell({"type": "host.restarted", "idPrefix": id_prefix}, urgent=True)
        await flush()
        for prompt_id, request_ids in checkpoint["judging"].items():
            if state.opened is not None:
                self._judging.begin_again(prompt_id, request_ids, state.opened.round.round_id)


def check(checkpoint: Mapping[str, Any], policy: str, config: Mapping[str, Any]) -> None:
    """Raises ValueError for a checkpoint of another policy, and warns about settings that differ from it."""
    if checkpoint.get("version") != _version:
        raise ValueError(f"a checkpoint of version {checkpoint.get('version')}, not {_version}")
    if checkpoint["policy"] != policy:
        raise ValueError(f"the checkpoint is of {checkpoint['policy']}, not of {policy}")
    kept = checkpoint["snapshot"]["config"]
    other = sorted(name for name, value in config.items() if name != "idPrefix" and kept.get(name) != value)
    if other:
        logger.warning("the checkpoint has its own settings: those of %s stay as they were", ", ".join(other))
