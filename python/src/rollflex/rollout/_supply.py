"""Prompts, as the policy asks for them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from typing import Any, Generic

from ._state import State
from .host import P, R, Supplied

logger = logging.getLogger("rollflex")

PORTION = 64
"""Prompts per event: a server limits the ids of an event, including ids of the requests made for it."""


class Supply(Generic[P, R]):
    """Draws from the host's data source, one call after the other."""

    def __init__(self, state: State[P, R]) -> None:
        self._state = state
        self.lock = asyncio.Lock()
        """Held while prompts are being drawn: so a checkpoint sees each prompt either in the data source or here."""

    def begin(self, round_id: str, count: int, domains: Mapping[str, int] | None) -> None:
        self._state.spawn(self._draw(round_id, count, domains))

    def again(self, round_id: str) -> None:
        """The round is over: the policy takes prompts that came too early now."""
        state = self._state
        early, state.early = state.early, []
        if early:
            listed = [_as_prompt(one) for one in early]
            state.tell({"type": "prompts.supplied", "roundId": round_id, "prompts": listed}, urgent=True)

    async def _draw(self, round_id: str, count: int, domains: Mapping[str, int] | None) -> None:
        state = self._state
        try:
            while count > 0:
                async with self.lock:
                    prompts = await state.host.supply(count, domains)
                    for one in prompts:
                        state.bodies.add(one)
                    if state.failed is not None:
                        return
                    if prompts:
                        listed = [_as_prompt(one) for one in prompts]
                        for at in range(0, len(listed), PORTION):
                            part = listed[at : at + PORTION]
                            state.tell({"type": "prompts.supplied", "roundId": round_id, "prompts": part}, urgent=True)
                count -= len(prompts)
                if domains is not None:
                    given = [one.domain for one in prompts]
                    domains = {name: left for name, n in domains.items() if (left := n - given.count(name)) > 0}
                if not prompts:
                    state.tell({"type": "source.exhausted"}, urgent=True)
                    return
        except Exception as error:
            logger.exception("the data source failed")
            state.fail_round(error)


def _as_prompt(one: Supplied[Any]) -> dict[str, Any]:
    fields = {
        "promptId": one.prompt_id,
        "domain": one.domain,
        "promptTokens": one.prompt_tokens,
        "expectedTokens": one.expected_tokens,
        "ref": one.ref,
    }
    return {name: value for name, value in fields.items() if value is not None}
