"""The order of rows that a policy gives to trainers that draw by themselves, and what it learns from responses."""

from __future__ import annotations

import logging
import math
import random
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from .. import Untyped
from ._check import Finding, try_policy
from ._composed import fitted
from ._server import client

logger = logging.getLogger("rollflex")

Answer = tuple[int, float | None]
"""Tokens of a response, and its reward: None or no number if there is none."""
Group = tuple[int, Sequence[Answer]]
"""A row, and its responses."""
selection = "prompt-selection"
_of_the_trainer = ("fill", "minResponses", "maxResponses", "tokensPerRound")


def refusal(policy: str, settings: Any, weighs: bool = False) -> str | None:
    """What cannot be set, because the trainer draws as many rows as it wants, with so many responses each."""
    if not isinstance(settings, Mapping):
        return f"expected settings by name, got {settings!r}"
    if policy == selection and settings.get("unbiased") and not weighs:
        return "unbiased: the trainer has no place for the weights that this needs"
    wrong = [one for one in _of_the_trainer if policy == selection and one in settings]
    return f"{wrong[0]}: the trainer decides how many prompts and responses a step has" if wrong else None


def try_order(
    policy: str, prompts: int, responses: int, given: Mapping[str, Any], where: str, weighs: bool = False
) -> list[Finding]:
    """Problems of the `settings` and the `server` that are given."""
    own = given.get("settings") or {}
    refused = refusal(policy, own, weighs)
    if refused is not None:
        return [Finding(where, refused, "leave it out")]
    settings = {**own, "promptsPerRound": prompts, "responsesPerPrompt": responses}
    return try_policy(given.get("server"), settings, where, policy)


class Order:
    """
    Rows in the order of `round-composition` or `prompt-selection`, epoch after epoch. The only I/O is that of the
    session.

    :param policy: one of the two
    :param rows: number of rows in the data set
    :param prompts_per_round: number of prompts that the trainer draws per step
    :param responses_per_prompt: responses per group
    :param shuffle: whether each epoch has an order of its own, by `seed`
    :param domain: function that returns the domain of a row, if it has one
    :param settings: further settings of the policy
    :param server: parameters of :meth:`rollflex.Client.connect`; the policy runs in this process if absent
    :param weighs: whether the trainer multiplies gradients by `weight`
    """

    def __init__(
        self,
        policy: str,
        rows: int,
        prompts_per_round: int,
        responses_per_prompt: int,
        *,
        shuffle: bool,
        seed: Any = 0,
        domain: Callable[[int], Any] = lambda row: None,
        settings: Mapping[str, Any] | None = None,
        server: Mapping[str, Any] | None = None,
        weighs: bool = False,
    ) -> None:
        refused = refusal(policy, settings or {}, weighs)
        if refused is not None:
            raise ValueError(f"settings{'.' if isinstance(settings, Mapping) else ': '}{refused}")
        needed = {"promptsPerRound": prompts_per_round, "responsesPerPrompt": responses_per_prompt}
        config = fitted({**(settings or {}), **needed}, rows)
        self._policy, self._rows, self._shuffle, self._seed, self._domain = policy, rows, shuffle, seed, domain
        self._responses = responses_per_prompt
        self._client = client(server)
        self._session = self._client.open(Untyped(policy), config=config)
        self._rounds = self._drawn = self._passed = self._epochs = 0
        self._ready: deque[tuple[int, float]] = deque()
        self.version = 0
        """Version of the weights: the trainer's step."""
        self.needs_rewards = policy == selection
        self.weight = 1.0
        """With `unbiased`: what the gradient of the last row counts."""

    def next(self) -> int:
        """The row that the trainer draws now."""
        while not self._ready:
            round_id = f"round-{self._rounds}"
            asked = {"type": "round.requested", "roundId": round_id, "weightVersion": self.version}
            self._rounds += 1
            decisions = self._session.send([asked])
            while decisions:
                decisions += self._carry_out(decisions.pop(0), round_id)
        row, self.weight = self._ready.popleft()
        return row

    def learn(self, groups: Iterable[Group], launched: int | None = None) -> None:
        """
        Learns from groups that have ended, whether they are trained or filtered.

        :param launched: responses of each that were begun, if these are only the first to end
        """
        given = list(groups)
        if self.needs_rewards:
            events = [self._rewarded(*one, launched) for one in given if any(map(_has_reward, one[1]))]
        else:
            events = [self._counted(*one, number, len(given)) for number, one in enumerate(given, 1)]
        if events:
            self._session.send(events)

    def metrics(self) -> dict[str, float]:
        """Rows since the beginning."""
        if not self.needs_rewards:
            return {}
        found = {"offered": self._drawn, "passed": self._passed, "epochs": self._epochs}
        return {f"rollflex/{name}": float(value) for name, value in found.items()}

    def state(self, undone: Iterable[tuple[int, float]] = ()) -> dict[str, Any]:
        """Returns the state for :meth:`load`. Rows that were drawn too early, with their weights, are drawn again."""
        counts = {name: getattr(self, f"_{name}") for name in _counts}
        ready = [list(one) for one in (*undone, *self._ready)]
        return {"snapshot": self._session.snapshot(), **counts, "version": self.version, "ready": ready}

    def load(self, state: Mapping[str, Any]) -> None:
        """Continues from a state, with its settings."""
        self._session.close()
        self._session = self._client.open(Untyped(self._policy), snapshot=state["snapshot"])
        for name in _counts:
            setattr(self, f"_{name}", state[name])
        self.version, self._ready = state["version"], deque((row, weight) for row, weight in state["ready"])
        self.__dict__.pop("_of_epoch", None)

    def close(self) -> None:
        """Ends the connection, and a server that was started for it."""
        self._client.close()

    def _carry_out(self, one: Mapping[str, Any], round_id: str) -> Sequence[Any]:
        if one["type"] == "prompts.request":
            prompts = [self._offer() for _ in range(one["count"])]
            return self._session.send([{"type": "prompts.supplied", "roundId": round_id, "prompts": prompts}])
        if one["type"] == "round.planned":
            self._ready.extend((_row(each), 1.0) for each in one["queued"])
        elif one["type"] == "prompts.selected":
            self._ready.extend((_row(each), each.get("weight", 1.0)) for each in one["choices"])
        elif one["type"] == "prompts.passed":
            self._passed += len(one["prompts"])
        elif one["type"] == "epoch.ended":
            self._epochs += 1
            told = [one[name] for name in ("epoch", "selected", "offered", "longestSelected", "longestOffered")]
            logger.info("epoch %d of the data: %d of %d prompts; of the longest 1 %%: %d of %d", *told)
        return ()

    def _offer(self) -> dict[str, Any]:
        epoch, place = divmod(self._drawn, self._rows)
        self._drawn += 1
        if place == 0 or not hasattr(self, "_of_epoch"):
            self._of_epoch = list(range(self._rows))
            if self._shuffle:
                random.Random(f"{self._seed}/{epoch}").shuffle(self._of_epoch)
        row = self._of_epoch[place]
        domain = self._domain(row)
        return {"promptId": f"row-{row}"} | ({} if domain in (None, "") else {"domain": str(domain)[:256]})

    def _rewarded(self, row: int, answers: Sequence[Answer], launched: int | None) -> dict[str, Any]:
        known = [
            {"requestId": f"{row}/{index}", "tokens": one[0], "reward": one[1]}
            for index, one in enumerate(answers)
            if _has_reward(one)
        ]
        responses = max(len(answers), self._responses)
        return {
            **self._of_round(row),
            "type": "group.rewarded",
            "samples": len(known),
            "tokens": sum(one["tokens"] for one in known),
            "responses": known,
            "reason": {
                "code": "all_rewarded",
                "responses": responses,
                "missing": responses - len(known),
                "waitedSeconds": 0,
            },
            **({} if launched is None or launched <= responses else {"launched": launched}),
        }

    def _counted(self, row: int, answers: Sequence[Answer], number: int, of: int) -> dict[str, Any]:
        return {
            **self._of_round(row),
            "type": "prompt.counted",
            "responses": [{"requestId": f"{row}/{index}", "tokens": one} for index, (one, _) in enumerate(answers)],
            "reason": {"code": "no_filter", "counted": number, "needed": of},
        }

    def _of_round(self, row: int) -> dict[str, Any]:
        return {"promptId": f"row-{row}", "roundId": f"round-{max(0, self._rounds - 1)}"}


_counts = ("rounds", "drawn", "passed", "epochs")


def _has_reward(answer: Answer) -> bool:
    return answer[1] is not None and math.isfinite(answer[1])


def _row(prompt: Mapping[str, Any]) -> int:
    return int(prompt["promptId"].removeprefix("row-"))
