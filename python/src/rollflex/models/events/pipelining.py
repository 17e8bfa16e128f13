# Generated from the schemas by `npm run docs:generate`: do not edit.
"""Events: pipelining."""

from collections.abc import Sequence
from typing import Literal

from .._bases import AnyEvent
from .._typing import NotRequired


class TrainerRestarted(AnyEvent):
    """The trainer is there again, without gradients, and with the weights of an earlier moment of the round."""

    type: Literal["trainer.restarted"]
    roundId: str
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""
    updates: int
    """Updates of the round that are in these weights, from the first one on. Whole number ≥ 0."""


class UpdateConsumed(AnyEvent):
    """The trainer has accumulated the gradients of these groups of a `train.dispatch`; in one report or in several."""

    type: Literal["update.consumed"]
    updateId: str
    """Id of the update, minted by the policy; new for every try. String ≤ 200."""
    groups: Sequence[str]
    """Groups of the update that were not reported before."""
    seconds: float
    """How long the trainer computed for them, in seconds. Number ≥ 0."""


class UpdateLost(AnyEvent):
    """No gradient of a `train.dispatch` is there: it never arrived, failed, or its step failed."""

    type: Literal["update.lost"]
    updateId: str
    """Id of the update, minted by the policy; new for every try. String ≤ 200."""
    message: NotRequired[str]
    """What went wrong, for operators: a text of any length, of which 2,000 characters are kept."""


class WeightsPublished(AnyEvent):
    """The rollout engines have the weights that a `weights.publish` asked for, or that came of a `train.batch`."""

    type: Literal["weights.published"]
    roundId: str
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""
    publicationId: str
    """Id of the publication, minted by the policy; new for every try. String ≤ 200."""
    weightVersion: int
    """Version of these weights: later than that of the round. Whole number 0 to 4000000000000000."""
