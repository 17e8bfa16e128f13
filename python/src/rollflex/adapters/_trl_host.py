"""The data set, the engines and the reward functions of a TRL job as the host of a rollout."""

from __future__ import annotations

import logging
import random
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from ..errors import RollflexError
from ..rollout import Dropped, EngineHost, EnginePool, Generated, Group, Launch, Response, Supplied
from ..rollout.engines import Prompt
from ._trl_samples import Row, Scorer, tokens_of

logger = logging.getLogger("rollflex")


class TrlHost(EngineHost[Row]):
    """Draws rows over and over, as TRL's own worker does, and scores each group as soon as it is collected."""

    def __init__(
        self,
        pool: EnginePool,
        sampling: Mapping[str, Any],
        *,
        dataset: Iterable[Mapping[str, Any]],
        tokenizer: Any,
        template_options: Mapping[str, Any],
        scorer: Scorer,
        version: Callable[[], int],
        push: Callable[[list[Any]], None],
        drops_equal_rewards: bool,
        failures_in_a_row: int,
        composes: bool,
    ) -> None:
        super().__init__(pool, sampling)
        self._rows = self._draw(dataset)
        self._given_back: deque[Row] = deque()
        self._tokenizer = tokenizer
        self._template_options = template_options
        self._scorer = scorer
        self._version = version
        self._push = push
        self._drops_equal_rewards = drops_equal_rewards
        self._composes = composes
        self._scored: dict[str, list[Any]] = {}
        self._failed_in_a_row = 0
        self._most_in_a_row = failures_in_a_row

    async def supply(self, count: int, domains: Mapping[str, int] | None) -> Sequence[Supplied[Row]]:
        rows = [self._given_back.popleft() if self._given_back else next(self._rows) for _ in range(count)]
        return [Supplied(self._prompt_id(one), one, prompt_tokens=len(one.prompt_ids)) for one in rows]

    def _prompt_id(self, one: Row) -> str:
        """Returns a prompt id that is new in every epoch, unless the policy remembers lengths by it."""
        return f"row-{one.row}" if self._composes else str(one.group_id)

    async def give_back(self, prompts: Sequence[Supplied[Row]]) -> None:
        self._given_back.extend(one.body for one in prompts)

    def prompt_of(self, body: Row) -> Prompt:
        return body.prompt_ids

    def sampling_of(self, launch: Launch[Row, Generated]) -> dict[str, Any]:
        # Servers that were started with the same seed would answer a prompt equally.
        seed = {"seed": random.getrandbits(63)} if "max_tokens" in self.sampling else {}
        return {**seed, **self.sampling}

    async def generate(self, launch: Launch[Row, Generated]) -> Response[Generated]:
        version = self._version()
        response = await super().generate(launch)
        # The tokens it continues from are older, and the policy knows their versions.
        versions = (version,) if launch.resume_from is None else None
        return Response(response.body, response.tokens, response.finished, versions)

    async def judge(self, group: Group[Row, Generated]) -> bool:
        for one in group.samples:
            if one.body.log_probs is None or not len(one.body.log_probs) == len(one.body.token_ids) == one.tokens:
                raise RollflexError(
                    f"engine {one.body.engine_id}: expected the ids and log-probabilities of {one.tokens} tokens, got "
                    f"{len(one.body.token_ids)} and {len(one.body.log_probs or ())}: make it with log_probs=True"
                )
        self._scored[group.prompt_id] = samples = await self._scorer.score(group.prompt, group.samples)
        self._failed_in_a_row = 0
        if not self._drops_equal_rewards:
            return True
        return any(one.advantage != 0 for one in samples)

    def decided(self, decision: Mapping[str, Any]) -> None:
        """A group that counts is final: the trainer need not wait for the rest of the round."""
        if decision["type"] == "prompt.counted":
            self._push(self._scored.pop(decision["promptId"]))

    def dropped(self, dropped: Dropped[Row]) -> None:
        self._scored.pop(dropped.prompt_id, None)
        if dropped.cause == "filtered":
            return
        reason = dropped.decision.get("reason", {})
        logger.warning("prompt %s of the data set is given up: %s", dropped.prompt_id, reason)
        self._failed_in_a_row += 1
        if self._failed_in_a_row >= self._most_in_a_row:
            raise RollflexError(f"{self._failed_in_a_row} prompts have failed one after the other, the last: {reason}")

    def _draw(self, dataset: Iterable[Mapping[str, Any]]) -> Iterator[Row]:
        drawn = 0
        while True:
            before = drawn
            for row, columns in enumerate(dataset):
                yield Row(drawn, columns, tokens_of(self._tokenizer, columns["prompt"], self._template_options), row)
                drawn += 1
            if drawn == before:
                raise RollflexError("the data set has no rows")
