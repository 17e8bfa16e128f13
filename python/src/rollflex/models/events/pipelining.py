# Generated from the schemas by `npm run docs:generate`: do not edit.
"""Events: pipelining."""

from collections.abc import Sequence
from typing import Literal

from .._typing import NotRequired, TypedDict


class TrainerRestarted(TypedDict):
    """The trainer is there again, without gradients, and with the weights of an earlier moment of the round."""

    type: Literal["trainer.restarted"]

    at: NotRequired[float]
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Stamped by the server with Unix time if absent. Number ≥ 0.
    """

    roundId: str
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""

    updates: int
    """Updates of the round that are in these weights, from the first one on. Whole number ≥ 0."""


class UpdateConsumed(TypedDict):
    """
    The trainer has accumulated the gradients of these groups of a `train.dispatch`; in one report or in
    several.
    """

    type: Literal["update.consumed"]

    at: NotRequired[float]
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Stamped by the server with Unix time if absent. Number ≥ 0.
    """

    updateId: str
    """Id of the update, minted by the policy; new for every try. String ≤ 200."""

    groups: Sequence[str]
    """Groups of the update that were not reported before."""

    seconds: float
    """How long the trainer computed for them, in seconds. Number ≥ 0."""


class UpdateLost(TypedDict):
    """No gradient of a `train.dispatch` is there: it never arrived, failed, or its step failed."""

    type: Literal["update.lost"]

    at: NotRequired[float]
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Stamped by the server with Unix time if absent. Number ≥ 0.
    """

    updateId: str
    """Id of the update, minted by the policy; new for every try. String ≤ 200."""

    message: NotRequired[str]
    """What went wrong, for operators. String ≤ 2000."""


class WeightsPublished(TypedDict):
    """The rollout engines have the weights that a `weights.publish` asked for."""

    type: Literal["weights.published"]

    at: NotRequired[float]
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Stamped by the server with Unix time if absent. Number ≥ 0.
    """

    roundId: str
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""

    publicationId: str
    """Id of the publication, minted by the policy; new for every try. String ≤ 200."""

    weightVersion: int
    """Version of these weights: later than that of the round. Whole number ≥ 0."""
