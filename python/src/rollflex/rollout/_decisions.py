"""What the policy decides, carried out: one method for each decision."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any, Generic

from ._judging import Judging
from ._outages import Outages
from ._outbox import Decision
from ._rounds import Rounds
from ._state import State
from ._supply import Supply
from ._work import Work
from .host import DropCause, Dropped, P, R

logger = logging.getLogger("rollflex")


class Decisions(Generic[P, R]):
    """Carries out the policy's decisions in order, without waiting."""

    def __init__(
        self,
        state: State[P, R],
        *,
        supply: Supply[P, R],
        work: Work[P, R],
        judging: Judging[P, R],
        rounds: Rounds[P, R],
        outages: Outages[P, R],
        judges: bool,
    ) -> None:
        self._state = state
        self._supply = supply
        self._work = work
        self._judging = judging
        self._rounds = rounds
        self._outages = outages
        self._judges = judges
        self._timers: dict[str, asyncio.TimerHandle] = {}

    def carry_out(self, decisions: list[Decision]) -> None:
        for decision in decisions:
            handler = _handlers.get(decision["type"])
            try:
                if handler is not None:
                    handler(self, decision)
                self._state.host.decided(decision)
            except Exception as error:
                logger.exception("%s could not be carried out", decision["type"])
                self._state.fail_round(error)

    def stop(self) -> None:
        """No timer fires any more."""
        self._outages.stop()
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()

    def _prompts_request(self, decision: Decision) -> None:
        self._supply.begin(decision["roundId"], decision["count"], decision.get("domains"))

    def _request_launch(self, decision: Decision) -> None:
        self._work.launch(decision)

    def _request_abort(self, decision: Decision) -> None:
        self._work.flights.abort(decision["requestId"])

    def _request_expired(self, decision: Decision) -> None:
        self._work.flights.cancel(decision["requestId"])

    def _timer_set(self, decision: Decision) -> None:
        id = decision["timerId"]
        earlier = self._timers.pop(id, None)
        if earlier is not None:
            earlier.cancel()
        delay = max(0.0, decision["fireAtSeconds"] - self._state.clock())
        self._timers[id] = asyncio.get_running_loop().call_later(delay, self._fire, id)

    def _fire(self, timer_id: str) -> None:
        self._timers.pop(timer_id, None)
        self._state.tell({"type": "timer.fired", "timerId": timer_id}, urgent=True)

    def _reward_request(self, decision: Decision) -> None:
        kept = self._state.bodies.kept(decision["promptId"], decision["requestId"])
        if kept is None:
            self._work.unrewarded(decision["requestId"])
        else:
            self._work.rewards.begin_again(*kept)

    def _prompt_collected(self, decision: Decision) -> None:
        if self._judges:
            self._judging.begin(decision["promptId"], decision["requestIds"], decision["roundId"])

    def _judgement_request(self, decision: Decision) -> None:
        if self._judges:
            self._judging.begin_again(decision["promptId"], decision["requestIds"], decision["roundId"])

    def _prompt_counted(self, decision: Decision) -> None:
        self._state.counted[decision["promptId"]] = [one["requestId"] for one in decision["responses"]]

    def _response_gone(self, decision: Decision) -> None:
        """Drops a response of no further use. A late reward report says nothing about its response."""
        if decision["type"] == "response.late" and decision["reason"]["code"] != "completion":
            return
        self._work.rewards.drop([decision["requestId"]])
        if "promptId" in decision:
            self._state.bodies.drop(decision["promptId"], decision["requestId"])

    def _prompt_deferred(self, decision: Decision) -> None:
        prompt = decision["prompt"]
        id = prompt["promptId"]
        self._judging.stop(id)
        if id not in self._state.bodies or decision["reason"]["code"] == "round_closed":
            # The response came too late for its round, and was never part of it.
            return
        kept = [one["requestId"] for one in prompt.get("kept", ())]
        self._work.rewards.drop(self._state.bodies.set_aside(id, kept))
        if self._state.opened is not None and decision["type"] == "prompt.deferred":
            self._state.opened.round.deferred += 1

    def _prompt_gone(self, decision: Decision) -> None:
        id = decision["promptId"]
        self._judging.stop(id)
        cause: DropCause = "failed" if decision["type"] == "prompt.failed" else "filtered"
        if self._judging.lacked_reward(id):
            cause = "reward_failed"
        entry = self._state.bodies.take(id)
        if entry is None:
            return
        self._work.rewards.drop(list(entry.responses))
        self._state.drop(Dropped(id, entry.supplied.body, cause, decision))

    def _prompt_merged(self, decision: Decision) -> None:
        id = decision["promptId"]
        entry = self._state.bodies.newest(id)
        if entry is None:
            return
        if self._state.composes:
            # The prompt belongs to the next epoch, and is supplied again after the round.
            self._state.early.append(entry.supplied)
            return
        self._state.bodies.take_newest(id)
        self._state.drop(Dropped(id, entry.supplied.body, "merged", decision))

    def _tries_suspended(self, decision: Decision) -> None:
        self._outages.suspended(decision)

    def _tries_recovered(self, decision: Decision) -> None:
        self._outages.recovered(decision)

    def _round_planned(self, decision: Decision) -> None:
        self._outages.round_began()
        self._state.composes = decision["reason"]["code"] == "composed"
        self._prompts_released(decision)
        opened = self._state.opened
        if opened is not None and opened.round.round_id == decision["roundId"]:
            opened.round.kind = decision["kind"]

    def _prompts_released(self, decision: Decision) -> None:
        for one in decision["queued"]:
            self._state.bodies.planned(one["promptId"], [kept["requestId"] for kept in one.get("kept", ())])

    def _round_completed(self, decision: Decision) -> None:
        self._supply.again(decision["roundId"])
        opened = self._state.opened
        if opened is None or opened.round.round_id != decision["roundId"]:
            return
        if opened.failed:
            # The round was completed just before it was given up, so nobody takes its groups.
            self._state.spawn(self._rounds.hand_back(decision))
            return
        opened.round.kind = decision["kind"]
        opened.round.reason = decision["reason"]["code"]
        if not opened.completed.done():
            opened.completed.set_result(decision)

    def _round_drained(self, decision: Decision) -> None:
        opened = self._state.opened
        if opened is not None and opened.round.round_id == decision["roundId"]:
            opened.drained.set()

    def _source_drained(self, decision: Decision) -> None:
        opened = self._state.opened
        if opened is None or opened.round.round_id != decision["roundId"]:
            return
        opened.round.reason = "source_drained"
        opened.drained.set()
        if not opened.completed.done():
            opened.completed.set_result(None)


_handlers: dict[str, Callable[[Decisions[Any, Any], Decision], None]] = {
    "prompts.request": Decisions._prompts_request,
    "request.launch": Decisions._request_launch,
    "request.abort": Decisions._request_abort,
    "request.expired": Decisions._request_expired,
    "timer.set": Decisions._timer_set,
    "reward.request": Decisions._reward_request,
    "prompt.collected": Decisions._prompt_collected,
    "judgement.request": Decisions._judgement_request,
    "prompt.counted": Decisions._prompt_counted,
    "prompt.deferred": Decisions._prompt_deferred,
    "prompt.returned": Decisions._prompt_deferred,
    "prompt.filtered": Decisions._prompt_gone,
    "prompt.failed": Decisions._prompt_gone,
    "prompt.merged": Decisions._prompt_merged,
    "response.surplus": Decisions._response_gone,
    "response.late": Decisions._response_gone,
    "response.dropped": Decisions._response_gone,
    "tries.suspended": Decisions._tries_suspended,
    "tries.recovered": Decisions._tries_recovered,
    "round.planned": Decisions._round_planned,
    "prompts.released": Decisions._prompts_released,
    "round.completed": Decisions._round_completed,
    "round.drained": Decisions._round_drained,
    "source.drained": Decisions._source_drained,
}
