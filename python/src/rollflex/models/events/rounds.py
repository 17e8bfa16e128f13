# Generated from the schemas by `npm run docs:generate`: do not edit.
"""Events: rounds."""

from collections.abc import Sequence
from typing import Literal

from .._typing import NotRequired, TypedDict
from ..objects import Prompt


class PromptsSupplied(TypedDict):
    """Prompts that `prompts.request` asked for, in portions of any size."""

    type: Literal["prompts.supplied"]

    at: NotRequired[float]
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Stamped by the server with Unix time if absent. Number ≥ 0.
    """

    roundId: str
    """The round of the `prompts.request`; prompts for another round are returned. String ≤ 512."""

    prompts: Sequence[Prompt]
    """In any number and order; what is beyond the count stands by. A prompt that is here already is merged."""


class RoundFailed(TypedDict):
    """The open round is given up by the host: nothing of it was trained."""

    type: Literal["round.failed"]

    at: NotRequired[float]
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Stamped by the server with Unix time if absent. Number ≥ 0.
    """

    roundId: str
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""

    message: NotRequired[str]
    """What went wrong, for operators. String ≤ 2000."""


class RoundOpened(TypedDict):
    """A rollout round begins with these prompts; what is missing is asked for."""

    type: Literal["round.opened"]

    at: NotRequired[float]
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Stamped by the server with Unix time if absent. Number ≥ 0.
    """

    roundId: str
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""

    kind: Literal["short", "long"]
    """`short`: with speculation; `long`: without."""

    weightVersion: int
    """Version of the actor weights; never decreases. Whole number ≥ 0."""

    prompts: Sequence[Prompt]
    """Prompts that it begins with, in order."""


class RoundRequested(TypedDict):
    """
    The host is ready to begin a rollout round: engines are known where the policy places requests, and the
    last round has drained.
    """

    type: Literal["round.requested"]

    at: NotRequired[float]
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Stamped by the server with Unix time if absent. Number ≥ 0.
    """

    roundId: str
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""

    weightVersion: int
    """Version of the actor weights; never decreases. Whole number ≥ 0."""


class SourceExhausted(TypedDict):
    """The data source has no more prompts, for good or until `source.reopened`."""

    type: Literal["source.exhausted"]

    at: NotRequired[float]
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Stamped by the server with Unix time if absent. Number ≥ 0.
    """

    domain: NotRequired[str]
    """Only this domain is exhausted. String ≤ 512."""


class SourceReopened(TypedDict):
    """The data source has prompts again (a new epoch)."""

    type: Literal["source.reopened"]

    at: NotRequired[float]
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Stamped by the server with Unix time if absent. Number ≥ 0.
    """
