"""Requests and their rewards, and what is reported of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic

from ._flights import Flights
from ._outbox import Decision, Event
from ._rewards import RewardFailed, Rewards
from ._state import State
from .host import Launch, P, R, Response, Sample


class Work(Generic[P, R]):
    """Launches the requests that the policy asks for, and reports how they ended."""

    def __init__(
        self,
        state: State[P, R],
        *,
        unusable: Callable[[Exception], None],
        abort_seconds: float,
    ) -> None:
        self._state = state
        self.flights: Flights[P, R] = Flights(state.host, self._ended, unusable, abort_seconds=abort_seconds)
        self.rewards: Rewards[P, R] = Rewards(state.host, self._rewarded, self.unrewarded)

    def launch(self, decision: Decision) -> None:
        """Carries out ``request.launch``."""
        state = self._state
        prompt_id = decision["promptId"]
        entry = state.bodies.entry(prompt_id)
        if entry is None:
            raise KeyError(f"the policy launches {decision['requestId']} of a prompt that is not here")
        resume = decision.get("resumeFrom")
        kept = None if resume is None else entry.responses.get(resume["requestId"])
        launch: Launch[P, R] = Launch(
            request_id=decision["requestId"],
            prompt_id=prompt_id,
            index=decision["index"],
            round_id=decision["roundId"],
            weight_version=decision["weightVersion"],
            prompt=entry.supplied.body,
            engine_id=decision.get("engineId"),
            resume_from=None if kept is None else kept[1].body,
            resume_tokens=0 if resume is None else resume["tokens"],
        )
        if state.opened is not None:
            state.opened.round.launched += 1
        self.flights.launch(launch)

    async def sample(
        self, launch: Launch[P, R], response: Response[R], weight_versions: Sequence[int] = ()
    ) -> Sample[R]:
        """Returns a response with its reward, as soon as the reward is there. Raises :class:`RewardFailed`."""
        id = launch.request_id
        if not self.rewards.knows(id):
            self.rewards.begin(launch, response)
        try:
            reward = await self.rewards.of(id)
        except RewardFailed:
            # At the end of a rollout rewards are cancelled, which is no fault of the prompt.
            self._state.assert_usable()
            raise
        self._state.assert_usable()
        versions = response.weight_versions or weight_versions or (launch.weight_version,)
        return Sample(id, launch.index, response.tokens, response.body, reward, tuple(versions))

    def unrewarded(self, request_id: str) -> None:
        """Notes that a response has no reward."""
        reason = {"code": "infrastructure", "failures": 1, "budget": 0}
        self._state.tell({"type": "reward.failed", "requestId": request_id, "kind": "rule", "reason": reason})

    async def stop(self) -> None:
        await self.flights.abort_all()
        await self.rewards.stop()

    def _ended(self, launch: Launch[P, R], event: Event, response: Response[R] | None) -> None:
        state = self._state
        if state.failed is not None:
            return
        opened = state.opened
        if opened is not None:
            if event["type"] == "request.aborted":
                opened.round.aborted += 1
                opened.round.aborted_tokens += event.get("tokens", 0)
            elif event["type"] == "response.failed":
                opened.round.failures += 1
        if event["type"] == "response.failed":
            state.last_failure = event["message"]
        if response is not None and (response.finished or response.tokens > 0):
            state.bodies.keep(launch, response)
        state.tell(event)
        if response is not None and response.finished:
            self.rewards.begin(launch, response)

    def _rewarded(self, request_id: str, reward: float) -> None:
        self._state.tell({"type": "reward.ready", "requestId": request_id, "reward": reward})
