"""The order of a data set in which the rounds of a trainer are composed, for trainers that draw by themselves."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .. import Untyped
from ._composed import fitted
from ._server import client


class Order:
    """
    Rows in the order in which `round-composition` composes rounds. The only I/O is that of the session.

    :param rows: number of rows in the data set
    :param prompts_per_round: number of prompts that the trainer draws per step
    :param responses_per_prompt: responses per group
    :param epoch: function that returns the rows of an epoch in data order, given its number
    :param settings: further settings of `round-composition`
    :param server: parameters of :meth:`rollflex.Client.connect`; the policy runs in this process if absent
    """

    def __init__(
        self,
        rows: int,
        prompts_per_round: int,
        responses_per_prompt: int,
        *,
        epoch: Callable[[int], Sequence[int]],
        settings: Mapping[str, Any] | None = None,
        server: Mapping[str, Any] | None = None,
    ) -> None:
        needed = {"promptsPerRound": prompts_per_round, "responsesPerPrompt": responses_per_prompt}
        config = fitted({**(settings or {}), **needed}, rows)
        self._rows = rows
        self._epoch = epoch
        self._client = client(server)
        self._session = self._client.open(Untyped("round-composition"), config=config)
        self._rounds = 0
        self._drawn = 0
        self._ready: deque[int] = deque()

    def next(self) -> int:
        """The row that the trainer draws now."""
        while not self._ready:
            round_id = f"round-{self._rounds}"
            asked = {"type": "round.requested", "roundId": round_id, "weightVersion": self._rounds}
            self._rounds += 1
            decisions = self._session.send([asked])
            while decisions:
                one = decisions.pop(0)
                if one["type"] == "prompts.request":
                    prompts = [{"promptId": f"row-{self._draw()}"} for _ in range(one["count"])]
                    supplied = {"type": "prompts.supplied", "roundId": round_id, "prompts": prompts}
                    decisions += self._session.send([supplied])
                elif one["type"] == "round.planned":
                    self._ready.extend(int(each["promptId"].removeprefix("row-")) for each in one["queued"])
        return self._ready.popleft()

    def learn(self, lengths: Mapping[int, Sequence[int]]) -> None:
        """Learns from a training step: the lengths of the responses to each row, in tokens."""
        events = [
            {
                "type": "prompt.counted",
                "promptId": f"row-{row}",
                "roundId": f"round-{self._rounds - 1}",
                "responses": [{"requestId": f"{row}/{index}", "tokens": one} for index, one in enumerate(tokens)],
                "reason": {"code": "no_filter", "counted": number, "needed": len(lengths)},
            }
            for number, (row, tokens) in enumerate(lengths.items(), 1)
        ]
        if events:
            self._session.send(events)

    def state(self) -> dict[str, Any]:
        """Returns the state for :meth:`load`."""
        ready = list(self._ready)
        return {"snapshot": self._session.snapshot(), "rounds": self._rounds, "drawn": self._drawn, "ready": ready}

    def load(self, state: Mapping[str, Any]) -> None:
        """Continues from a state, with its settings."""
        self._session.close()
        self._session = self._client.open(Untyped("round-composition"), snapshot=state["snapshot"])
        self._rounds, self._drawn, self._ready = state["rounds"], state["drawn"], deque(state["ready"])

    def close(self) -> None:
        """Ends the connection, and a server that was started for it."""
        self._client.close()

    def _draw(self) -> int:
        epoch, place = divmod(self._drawn, self._rows)
        self._drawn += 1
        if place == 0 or not hasattr(self, "_of_epoch"):
            self._of_epoch = list(self._epoch(epoch))
        return self._of_epoch[place]
