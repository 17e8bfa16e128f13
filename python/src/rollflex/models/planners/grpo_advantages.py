# Generated from the schemas by `npm run docs:generate`: do not edit.
"""Group-relative advantages: mean and standard deviation of each group, of any size."""

from collections.abc import Sequence
from typing import Literal

from .._typing import NotRequired, TypedDict


class GrpoAdvantagesInputGroup(TypedDict):
    """The responses of one prompt."""

    groupId: NotRequired[str]
    """Id of the group (its prompt), given by the host; echoed. String ≤ 512."""
    rewards: Sequence[float | None]
    """The raw reward of every training sample of the group; `null` where there is none, such as after a failure of its
    environment: it counts in no statistic."""
    responseIds: NotRequired[Sequence[str]]
    """Which response each sample belongs to. Samples of one response (the pieces of a trajectory) share its reward and
    count once; every sample is a response of its own if absent."""


class GrpoAdvantagesInput(TypedDict):
    """Input of `grpo-advantages`."""

    groups: Sequence[GrpoAdvantagesInputGroup]
    """The groups, each of any size."""
    baseline: NotRequired[Literal["group", "leave-one-out"]]
    """What is taken off a reward: the mean of its group, or of the others in it. Default: "group"."""
    normalization: NotRequired[Literal["std", "none"]]
    """Whether the difference is divided by standard deviation + `epsilon`. Default: "std"."""
    std: NotRequired[Literal["sample", "population"]]
    """Which standard deviation: over n − 1 (`sample`, as `torch.std`) or over n (`population`). Default: "sample"."""
    epsilon: NotRequired[float]
    """Added to the standard deviation. Number ≥ 0. Default: 0.000001."""
    varianceTolerance: NotRequired[float]
    """Population standard deviation of raw rewards up to which a group has zero variance. Number ≥ 0. Default:
    0.000001."""
    singleResponse: NotRequired[Literal["zero", "reward"]]
    """Advantage of the only response of a group, which has nothing to be compared with: 0, or its reward. Default:
    "zero"."""


class GrpoAdvantagesPlanGroup(TypedDict):
    """Part of :class:`GrpoAdvantagesPlan`."""

    groupId: NotRequired[str]
    """As it was given. String ≤ 512."""
    responses: int
    """Responses that count: those with a reward. Whole number ≥ 0."""
    mean: float
    """Mean of their rewards; 0 if there are none."""
    std: float
    """Their standard deviation, of the kind asked for; 0 for one response. Number ≥ 0."""
    zeroVariance: bool
    """Whether their rewards are all the same; false for one response, which has no variance."""
    advantages: list[float]
    """The advantage of every sample, in the order of `rewards`; 0 without a reward."""


class GrpoAdvantagesPlan(TypedDict):
    """Plan of `grpo-advantages`."""

    groups: list[GrpoAdvantagesPlanGroup]
    """In the order of the input."""
