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
    sandbox or the tools of a trajectory have failed, not what the model did there: tries have a budget of their own,
    and a failed one has no reward, which a 0 would be. With ``setup`` no try can help,
    of no prompt (a wrong key, model or URL): the rollout ends as if it were closed, and ``round`` raises this. Every
    other exception counts as ``infrastructure``.
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
    New whenever a prompt is to be trained on again; one that is here already is merged. With a policy that composes
    rounds (:func:`rollflex.rollout.composes`) the same in every epoch: its lengths are remembered by it.
    """
    body: P
    domain: str | None = None
    prompt_tokens: int | None = None
    expected_tokens: int | None = None
    ref: str | None = None
    """Opaque, at most 256 bytes; echoed by decisions."""


@dataclass(frozen=True)
class Launch(Generic[P, R]):
    """One response that is wanted."""

    request_id: str
    prompt_id: str
    index: int
    """Which response of the prompt, from 0; with speculation there are more of them than a group needs."""
    round_id: str
    weight_version: int
    prompt: P
    engine_id: str | None = None
    """Where to run it, with ``placement: policy``."""
    resume_from: R | None = None
    """A response that was cut short, to go on from (``partialRollout``)."""
    resume_tokens: int = 0


@dataclass(frozen=True)
class Response(Generic[R]):
    """What a request has generated."""

    body: R
    tokens: int
    """Over all attempts: those that it was resumed with included."""
    finished: bool = True
    """False where it was cut short, by an abort or by the engine itself."""
    weight_versions: Sequence[int] | None = None
    """Of the weights that generated it, over all attempts; None: those of the rounds in which it was launched."""


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
    """A prompt with the responses that it is trained with, by index."""

    prompt_id: str
    prompt: P
    samples: Sequence[Sample[R]]
    deferrals: int = 0
    """How often the prompt had been deferred."""


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
    """What a round has given."""

    round_id: str
    weight_version: int
    kind: Literal["short", "long"] | None = None
    groups: list[Group[P, R]] = field(default_factory=list)
    """What is trained on, in a stable order; none once the source is drained."""
    reason: str = ""
    """Why it ended: ``quota_reached``, ``source_exhausted``, …; ``source_drained`` if it was not even opened."""
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
        """That many prompts, or fewer; none: the source is exhausted. Each is taken out of the source."""
        raise NotImplementedError

    async def generate(self, launch: Launch[P, R]) -> Response[R]:
        """Generates one response. May be cancelled. Raises :class:`GenerationFailed`, or anything."""
        raise NotImplementedError

    async def abort(self, launch: Launch[P, R]) -> bool | None:
        """
        Stops one request, and no other: ``generate`` then ends. If it does not within ``abort_seconds``, if this
        raises, or if it says False because no engine has it yet, ``generate`` is cancelled.
        """
        raise NotImplementedError

    async def reward(self, launch: Launch[P, R], response: Response[R]) -> float | None:
        """The raw reward of a finished response; None if there is none for a single one. Runs beside generation."""
        return None

    async def judge(self, group: Group[P, R]) -> bool:
        """Whether a collected group counts (``filter: host``). Its rewards are in."""
        return True

    def dropped(self, dropped: Dropped[P]) -> None:
        """A prompt has left for good."""

    async def give_back(self, prompts: Sequence[Supplied[P]]) -> None:
        """Takes prompts back: the rollout or their round has ended, and nothing of them was trained."""
        raise NotImplementedError

    def decided(self, decision: Mapping[str, Any]) -> None:
        """Every decision, after it was carried out: for logs, and for what else a recipe wants done."""
