"""
Tail batching for hooks that see prompt groups: the framework has dispatched them already, and the hook says how many
more to bring, and which ones a step trains on. What such a hook cannot do is stop a group, or start one anew.

So a group is one response here. Unfinished groups run on into the next round; those that get too old are named by
`request.abort`, which means "no round waits for it now", and then by `request.launch` in a long round, which means
"this round waits for it". Nothing is dropped but what failed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from ..models.objects import Prompt
    from ..models.policies.tail_batching import TailBatchingConfig, TailBatchingDecision, TailBatchingEvent


@dataclass(frozen=True)
class Group:
    """A prompt group in the framework's present view."""

    status: Literal["running", "finished", "failed"]
    tokens: int = 0


@dataclass(frozen=True)
class Settings:
    """Settings that all adapters for groups share."""

    prompt_speculation: float
    """Factor by which a short round has more groups to choose from than it needs."""
    max_staleness: int
    """Number of weight versions for which an unfinished group runs on before a long round waits for it."""
    judged: bool = False
    """Whether the host judges each finished group before it counts."""

    def config(self, prompts_per_round: int) -> TailBatchingConfig:
        config: TailBatchingConfig = {
            "promptsPerRound": prompts_per_round,
            "responsesPerPrompt": 1,
            "promptSpeculation": self.prompt_speculation,
            "responseSpeculation": 1,
            # Frameworks retry before they give a group up, and the adapter cannot start a group again.
            "retry": {"infrastructure": 0, "data": 0, "environment": 0},
            "filter": "host" if self.judged else "none",
            "maxStaleness": self.max_staleness,
            # An old group gains nothing by waiting, because it runs already.
            "maxWaitRounds": 1,
        }
        return config


class GroupRounds:
    """Turns the framework's state into events, and keeps the content of decisions, without I/O."""

    def __init__(self) -> None:
        self.rounds = 0
        """Rounds that were opened."""
        self.is_open = False
        """Whether a round is open."""
        self.kind: str = ""
        """Kind of the latest planned round."""
        self.chosen: deque[str] = deque()
        """Counted groups in order, which the adapter takes from the left."""
        self.to_judge: list[str] = []
        """Finished groups that wait for a judgement (`judged`)."""
        self.filtered: list[str] = []
        """Filtered groups, which the adapter takes."""
        self.failed: list[str] = []
        """Failed groups, which the adapter takes."""
        self.is_drained = False
        """Whether the source is exhausted, and the policy has nothing left to plan a round with."""
        self._round_id = ""
        self._wanted = 0
        self._waiting: dict[str, None] = {}
        """Groups that the policy has not been given yet, oldest first."""
        self._awaited: dict[str, str] = {}
        """Groups that the open round waits for, each with its request id."""
        self._parked: set[str] = set()
        """Groups in the policy's queue, and groups that are being judged."""
        self._confirm: list[str] = []
        self._draining = False
        self._is_exhausted = False
        self._is_held = False
        """Whether the policy asks for no more groups, because all fail."""

    @property
    def missing(self) -> int:
        """Number of groups that the open round needs beyond those that the framework has dispatched."""
        return max(0, self._wanted - len(self._waiting))

    @property
    def has_waiting(self) -> bool:
        """Whether there are groups that the policy does not know yet."""
        return len(self._waiting) > 0

    def knows(self, prompt: str) -> bool:
        """Whether a group was seen before."""
        return prompt in self._waiting or prompt in self._known()

    @property
    def can_open(self) -> bool:
        return not self.is_open and not self._draining and not self.is_drained

    def open(self, weight_version: int) -> list[TailBatchingEvent]:
        """The events that ask for the next round."""
        self._round_id = f"round-{self.rounds}"
        self.rounds += 1
        self.is_open = self._draining = True
        return [{"type": "round.requested", "roundId": self._round_id, "weightVersion": weight_version}]

    def progress(self, groups: Mapping[str, Group]) -> list[TailBatchingEvent]:
        """
        Returns the events for changes. Send them, pass the decisions to `apply`, and repeat until there are no events.

        :param groups: all groups that no step has taken, oldest first
        """
        events: list[TailBatchingEvent] = []
        for request in self._confirm:
            events.append({"type": "request.aborted", "requestId": request})
        self._confirm = []
        if self._is_held and not self._is_exhausted:
            # The framework decides about failed groups: it continues, or stops.
            events.append({"type": "source.reopened"})
        self._is_held = False
        self._take_in(groups)
        for prompt, request in list(self._awaited.items()):
            group = groups.get(prompt)
            if group is not None and group.status == "running":
                continue
            del self._awaited[prompt]
            if group is not None and group.status == "finished":
                events.append({"type": "response.completed", "requestId": request, "tokens": group.tokens})
            else:
                message = "the framework has given the group up"
                events.append({"type": "response.failed", "requestId": request, "kind": "data", "message": message})
        if self.is_open and self._wanted > 0 and self._waiting:
            supplied = list(self._waiting)[: self._wanted]
            for prompt in supplied:
                del self._waiting[prompt]
            self._parked.update(supplied)
            self._wanted -= len(supplied)
            prompts: list[Prompt] = [{"promptId": prompt} for prompt in supplied]
            events.append({"type": "prompts.supplied", "roundId": self._round_id, "prompts": prompts})
        return events

    def exhausted(self) -> list[TailBatchingEvent]:
        """Events after the framework has run out of prompts: rounds end with the prompts they have."""
        self._is_exhausted = True
        return [{"type": "source.exhausted"}]

    def reopened(self) -> list[TailBatchingEvent]:
        """Events after the framework has prompts again."""
        self.is_drained = self._is_exhausted = False
        return [{"type": "source.reopened"}]

    def judged(self, verdicts: Iterable[tuple[str, bool]]) -> list[TailBatchingEvent]:
        """Events for the judgements of groups in `to_judge`."""
        return [
            {"type": "prompt.judged", "roundId": self._round_id, "promptId": prompt, "keep": keep}
            for prompt, keep in verdicts
        ]

    def apply(self, decisions: Sequence[TailBatchingDecision]) -> None:
        for one in decisions:
            if one["type"] == "prompts.request":
                self._wanted += one["count"]
            elif one["type"] == "round.planned":
                self.kind = one["kind"]
            elif one["type"] == "request.launch":
                self._parked.discard(one["promptId"])
                self._awaited[one["promptId"]] = one["requestId"]
            elif one["type"] == "request.abort":
                self._abort(one["requestId"])
            elif one["type"] == "prompt.collected":
                self._parked.add(one["promptId"])
                self.to_judge.append(one["promptId"])
            elif one["type"] == "judgement.request":
                if one["promptId"] not in self.to_judge:
                    self.to_judge.append(one["promptId"])
            elif one["type"] == "prompt.deferred" or one["type"] == "prompt.returned":
                self._parked.add(one["prompt"]["promptId"])
            elif one["type"] == "prompt.counted":
                self._parked.discard(one["promptId"])
                self.chosen.append(one["promptId"])
            elif one["type"] == "prompt.filtered":
                self._parked.discard(one["promptId"])
                self.filtered.append(one["promptId"])
            elif one["type"] == "prompt.failed":
                self._parked.discard(one["promptId"])
                self.failed.append(one["promptId"])
            elif one["type"] == "round.completed":
                self.is_open = False
                self._wanted = 0
                self.to_judge = []
            elif one["type"] == "tries.suspended":
                self._is_held = self._is_held or one["scope"] == "prompt"
            elif one["type"] == "source.drained":
                # No round was opened.
                self.is_open = self._draining = False
                self.is_drained = True
            elif one["type"] == "round.drained":
                self._draining = False

    def _take_in(self, groups: Mapping[str, Group]) -> None:
        known = self._known()
        for prompt in [one for one in self._waiting if one not in groups]:
            del self._waiting[prompt]
        for prompt in groups:
            if prompt not in known:
                self._waiting.setdefault(prompt)

    def _known(self) -> set[str]:
        return self._parked.union(self._awaited, self.chosen, self.filtered, self.failed)

    def _abort(self, request: str) -> None:
        for prompt, running in self._awaited.items():
            if running == request:
                del self._awaited[prompt]
                self._parked.add(prompt)
                break
        self._confirm.append(request)
