"""What a host gives to a rollout, and what it gets back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypeVar

from ..errors import RollflexError

P = TypeVar("P")
"""The body of a prompt: whatever the framework has. The policy sees its id and some numbers."""
R = TypeVar("R")
"""The body of a response."""


FailureKind = Literal["infrastructure", "environment", "data", "setup"]


class GenerationFailed(RollflexError):
    """
    Raised by :meth:`Host.generate` and :meth:`Host.abort`. With ``data`` the prompt itself is at fault (too long, no
    template) and is tried once more at most; with ``infrastructure`` another try may help. With ``environment`` the
    sandbox or the tools of a trajectory have failed, and not the model: such tries have a separate budget, and a failed
    try has no reward, not a reward of 0. With ``setup`` no try of any prompt can help (a wrong key, model or URL): the
    rollout ends as if it were closed, and ``round`` raises this error. Every other exception counts as
    ``infrastructure``.
    """

    def __init__(self, message: str, kind: FailureKind = "infrastructure") -> None:
        super().__init__(message)
        self.kind: FailureKind = kind


class PolicyUnavailable(RollflexError):
    """The policy could not be reached in time: requests were aborted, and prompts given back to the data source."""


def composes(policy: str, config: Mapping[str, Any]) -> bool:
    """Whether a policy composes rounds of prompts that return: ``lossless-tail``, or a recipe with ``composition``."""
    return policy == "lossless-tail" or bool(config.get("composition", False))


@dataclass(frozen=True)
class Supplied(Generic[P]):
    """A prompt from the data source."""

    prompt_id: str
    """
    Id of the prompt. It must be new whenever a prompt is to be trained on again; an id that is present already is
    merged. For a policy that composes rounds (:func:`rollflex.rollout.composes`), the id is the same in every epoch,
    because the policy remembers lengths by it.
    """
    body: P
    domain: str | None = None
    prompt_tokens: int | None = None
    expected_tokens: int | None = None
    ref: str | None = None
    """Opaque, at most 256 bytes; echoed by decisions."""


@dataclass(frozen=True)
class Launch(Generic[P, R]):
    """A requested response."""

    request_id: str
    prompt_id: str
    index: int
    """Index of the response, from 0; with speculation there are more indices than a group needs."""
    round_id: str
    weight_version: int
    prompt: P
    engine_id: str | None = None
    """Engine that runs the request, with ``placement: policy``."""
    resume_from: R | None = None
    """A response that was cut short, from which this one continues (``partialRollout``)."""
    resume_tokens: int = 0


@dataclass(frozen=True)
class Response(Generic[R]):
    """The result of a request."""

    body: R
    tokens: int
    """Number of tokens over all attempts, including tokens that the request was resumed with."""
    finished: bool = True
    """False if the response was cut short, by an abort or by the engine itself."""
    weight_versions: Sequence[int] | None = None
    """
    Versions of the weights that generated the response, over all attempts; None: those of the rounds in which it was
    launched.
    """


@dataclass(frozen=True)
class Sample(Generic[R]):
    """A response of a group."""

    request_id: str
    index: int
    tokens: int
    body: R
    reward: float | None
    weight_versions: Sequence[int] = ()


@dataclass(frozen=True)
class Group(Generic[P, R]):
    """A prompt with the responses to train on, by index."""

    prompt_id: str
    prompt: P
    samples: Sequence[Sample[R]]
    deferrals: int = 0
    """Number of deferrals of the prompt."""


DropCause = Literal["filtered", "failed", "merged", "reward_failed"]


@dataclass(frozen=True)
class Dropped(Generic[P]):
    """A prompt that left for good, and why."""

    prompt_id: str
    prompt: P
    cause: DropCause
    decision: Mapping[str, Any]


@dataclass
class Round(Generic[P, R]):
    """The result of a round."""

    round_id: str
    weight_version: int
    kind: Literal["short", "long"] | None = None
    groups: list[Group[P, R]] = field(default_factory=list)
    """Groups to train on, in a stable order; empty once the source is drained."""
    reason: str = ""
    """Why the round ended: ``quota_reached``, ``source_exhausted``, …; ``source_drained`` if it was not even opened."""
    dropped: list[Dropped[P]] = field(default_factory=list)
    deferred: int = 0
    """Prompts that went to the long-prompt queue."""
    launched: int = 0
    aborted: int = 0
    aborted_tokens: int = 0
    """Tokens of the requests that were cut short, as far as engines told."""
    failures: int = 0
    """Requests that failed; most were tried again."""


class Host(Generic[P, R]):
    """
    The framework's side. :meth:`supply`, :meth:`generate`, :meth:`abort` and :meth:`give_back` must be given; all run
    on the event loop of the rollout, and none waits for the policy.
    """

    async def supply(self, count: int, domains: Mapping[str, int] | None) -> Sequence[Supplied[P]]:
        """
        Returns so many prompts, or fewer; an empty list means that the source is exhausted. Returned prompts are taken
        out of the source.
        """
        raise NotImplementedError

    async def generate(self, launch: Launch[P, R]) -> Response[R]:
        """Generates one response. May be cancelled. Raises :class:`GenerationFailed`, or any other exception."""
        raise NotImplementedError

    async def abort(self, launch: Launch[P, R]) -> bool | None:
        """
        Stops one request and no other, after which its ``generate`` ends. If that does not happen within
        ``abort_seconds``, or this method raises, or returns False because no engine has the request yet, ``generate``
        is cancelled.
        """
        raise NotImplementedError

    async def reward(self, launch: Launch[P, R], response: Response[R]) -> float | None:
        """Returns the raw reward of a finished response; None if single responses have none. Runs beside generation."""
        return None

    async def judge(self, group: Group[P, R]) -> bool:
        """Whether a collected group with complete rewards counts (``filter: host``)."""
        return True

    def dropped(self, dropped: Dropped[P]) -> None:
        """A prompt has left for good."""

    async def give_back(self, prompts: Sequence[Supplied[P]]) -> None:
        """Takes prompts back after the rollout or their round has ended, without any training on them."""
        raise NotImplementedError

    def decided(self, decision: Mapping[str, Any]) -> None:
        """Called with every decision after it was carried out, for logs, and for further actions of a recipe."""
