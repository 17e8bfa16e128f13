"""What fails for all requests: since when, and the end of a round that waits for it in vain."""

from __future__ import annotations

import asyncio
import logging
from datetime import datetime, timezone
from typing import Any, Generic

from ._outbox import Decision
from ._state import State
from .host import FailureKind, GenerationFailed, P, R

logger = logging.getLogger("rollflex")
_kinds: dict[str, FailureKind] = {"engine": "infrastructure", "environment": "environment"}


class Outages(Generic[P, R]):
    """Follows ``tries.suspended`` and ``tries.recovered``. The policy itself waits without end."""

    def __init__(self, state: State[P, R], seconds: float | None) -> None:
        self._state = state
        self._seconds = seconds
        self._round_since = 0.0
        self._timer: asyncio.TimerHandle | None = None

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = None

    def round_began(self) -> None:
        """Notes that a round begins, which has the full time however long its predecessor has waited."""
        self._round_since = self._state.clock()
        self.watch()

    def suspended(self, decision: Decision) -> None:
        scope, id, failures = decision["scope"], decision.get("id"), decision["reason"]["failures"]
        where = " ".join(filter(None, (scope, id)))
        logger.warning("%s failures in a row (%s): only single tries are made until one succeeds", failures, where)
        if scope == "prompt":
            logger.warning("no more prompts are drawn: source_reopened() of the rollout, or a next round, goes on")
        self._state.suspended.setdefault((scope, id), self._state.clock())
        self.watch()

    def recovered(self, decision: Decision) -> None:
        scope, id = decision["scope"], decision.get("id")
        seconds = decision["reason"]["suspendedSeconds"]
        logger.warning("%s goes on after %.0f s", " ".join(filter(None, (scope, id))), seconds)
        self._state.suspended.pop((scope, id), None)
        self.watch()

    def watch(self) -> None:
        """Sets the end again; called after changes of the engines."""
        self.stop()
        found = [since for since in map(self._all_since, _kinds) if since is not None]
        if not found or self._seconds is None:
            return
        due = max(min(found), self._round_since) + self._seconds
        self._timer = asyncio.get_running_loop().call_later(max(0.0, due - self._state.clock()), self._end)

    def _all_since(self, scope: str) -> float | None:
        """Time since which a whole scope fails, as a whole or engine by engine."""
        whole = self._state.suspended.get((scope, None))
        if whole is not None or scope != "engine" or not self._state.engines:
            return whole
        each = [self._state.suspended.get((scope, id)) for id in self._state.engines]
        known = [since for since in each if since is not None]
        return max(known) if len(known) == len(each) else None

    def _end(self) -> None:
        for scope, kind in _kinds.items():
            since = self._all_since(scope)
            if since is None:
                continue
            text = (
                f"every request has failed since {datetime.fromtimestamp(since, timezone.utc):%Y-%m-%d %H:%M:%S} UTC, "
                f"for all {scope}s and longer than outage_seconds ({self._seconds:g}); the last: "
                f"{self._state.last_failure}. No prompt was given up for it: mend the {scope}s and begin another round, "
                "or let rounds wait longer (outage_seconds of the rollout; None: without end)"
            )
            self._state.fail_round(GenerationFailed(text, kind))
            return
