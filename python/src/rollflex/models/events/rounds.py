# Generated from the schemas by `npm run docs:generate`: do not edit.
"""Events: rounds."""

from collections.abc import Sequence
from typing import Literal

from .._bases import AnyEvent
from .._typing import NotRequired
from ..objects import Prompt


class PromptsSupplied(AnyEvent):
    """Prompts that `prompts.request` asked for, in portions of any size."""

    type: Literal["prompts.supplied"]
    roundId: str
    """The round of the `prompts.request`; prompts for another round are returned. String ≤ 512."""
    prompts: Sequence[Prompt]
    """In any number and order; what is beyond the count stands by. A prompt that is here already is merged."""


class RoundFailed(AnyEvent):
    """The open round is given up by the host: nothing of it was trained."""

    type: Literal["round.failed"]
    roundId: str
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""
    message: NotRequired[str]
    """What went wrong, for operators: a text of any length, of which 2,000 characters are kept."""


class RoundOpened(AnyEvent):
    """A rollout round begins with these prompts; what is missing is asked for."""

    type: Literal["round.opened"]
    roundId: str
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""
    kind: Literal["short", "long"]
    """`short`: with speculation; `long`: without."""
    weightVersion: int
    """Version of the actor weights; never decreases. Whole number 0 to 4000000000000000."""
    prompts: Sequence[Prompt]
    """Prompts that it begins with, in order."""


class RoundRequested(AnyEvent):
    """The host is ready to begin a rollout round: engines are known where the policy places requests, and the last
    round has drained."""

    type: Literal["round.requested"]
    roundId: str
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""
    weightVersion: int
    """Version of the actor weights; never decreases. Whole number 0 to 4000000000000000."""


class SourceExhausted(AnyEvent):
    """The data source has no more prompts, for good or until `source.reopened`."""

    type: Literal["source.exhausted"]
    domain: NotRequired[str]
    """Only this domain is exhausted. String ≤ 512."""


class SourceReopened(AnyEvent):
    """The data source has prompts again (a new epoch)."""

    type: Literal["source.reopened"]
