# Generated from the schemas by `npm run docs:generate`: do not edit.
"""Decisions: parallelism."""

from typing import Literal

from .._typing import NotRequired, TypedDict
from ..objects import ProfileConfiguration, ReplicaGroup


class ProfileMeasureReasonObservedFar(TypedDict):
    """Reason `observed_far` of :class:`ProfileMeasure`."""

    code: Literal["observed_far"]

    rounds: int
    """Rounds of such observations in a row. Whole number ≥ 0."""

    observedSeconds: float
    """Seconds of a decode step that were observed. Number ≥ 0."""

    profileSeconds: float
    """Seconds that the profile says for such a step. Number ≥ 0."""


class ProfileMeasureReasonNotProfiled(TypedDict):
    """Reason `not_profiled` of :class:`ProfileMeasure`."""

    code: Literal["not_profiled"]

    rounds: int
    """Rounds of such observations in a row. Whole number ≥ 0."""

    observedSeconds: float
    """Seconds of a decode step that were observed. Number ≥ 0."""


class ProfileMeasure(TypedDict):
    """
    A command. Measure these points and answer with `profile.measured`; asked for again while observations
    stay far off.
    """

    type: Literal["profile.measure"]

    at: float
    """Time on the clock of the session, in seconds; an earlier one is read as the latest. Number ≥ 0."""

    configurations: list[ProfileConfiguration]
    """Points to measure, by batch size and length."""

    reason: ProfileMeasureReasonObservedFar | ProfileMeasureReasonNotProfiled
    """Why, with the numbers."""


class TpKeptReasonFirstStep(TypedDict):
    """Reason `first_step` of :class:`TpKept`."""

    code: Literal["first_step"]

    preemptions: int
    """Preemptions of the step, over all engines. Whole number ≥ 0."""


class TpKeptReasonSteady(TypedDict):
    """Reason `steady` of :class:`TpKept`."""

    code: Literal["steady"]

    preemptions: int
    """Preemptions of the step, over all engines. Whole number ≥ 0."""

    previousPreemptions: int
    """Preemptions of the step of this kind before. Whole number ≥ 0."""

    calmSteps: int
    """Steps in a row without a preemption. Whole number ≥ 0."""


class TpKeptReasonCooldown(TypedDict):
    """Reason `cooldown` of :class:`TpKept`."""

    code: Literal["cooldown"]

    preemptions: int
    """Preemptions of the step, over all engines. Whole number ≥ 0."""

    stepsLeft: int
    """Steps of the cooldown that are left after this one. Whole number ≥ 0."""


class TpKeptReasonAtBound(TypedDict):
    """Reason `at_bound` of :class:`TpKept`."""

    code: Literal["at_bound"]

    minTp: int
    """Least tensor-parallel degree that is possible. Whole number ≥ 1."""

    maxTp: int
    """Greatest tensor-parallel degree that is possible. Whole number ≥ 1."""


class TpKeptReasonVetoed(TypedDict):
    """Reason `vetoed` of :class:`TpKept`."""

    code: Literal["vetoed"]

    wantedTp: int
    """Tensor-parallel degree that it would have changed to. Whole number ≥ 1."""

    wantedEp: NotRequired[int]
    """Expert-parallel degree that it would have changed to. Whole number ≥ 1."""

    wantedPredictedSeconds: float
    """Seconds that the profile predicts with the degrees that were wanted. Number ≥ 0."""

    predictedSeconds: float
    """Seconds that it predicts with those that stay. Number ≥ 0."""


class TpKeptReasonDoesNotFit(TypedDict):
    """Reason `does_not_fit` of :class:`TpKept`."""

    code: Literal["does_not_fit"]

    wantedTp: int
    """Tensor-parallel degree that it would have changed to. Whole number ≥ 1."""

    wantedEp: NotRequired[int]
    """Expert-parallel degree that it would have changed to. Whole number ≥ 1."""


class TpKeptReasonLoadUnchanged(TypedDict):
    """Reason `load_unchanged` of :class:`TpKept`."""

    code: Literal["load_unchanged"]

    wantedTp: int
    """Tensor-parallel degree that it would have changed to. Whole number ≥ 1."""

    wantedEp: NotRequired[int]
    """Expert-parallel degree that it would have changed to. Whole number ≥ 1."""

    loadTokens: float
    """Load of the step, in tokens. Number ≥ 0."""

    barredAtTokens: float
    """Load at which these degrees were undone or refused, in tokens. Number ≥ 0."""


class TpKeptReasonSettled(TypedDict):
    """Reason `settled` of :class:`TpKept`."""

    code: Literal["settled"]

    wantedTp: int
    """Tensor-parallel degree that it would have changed to. Whole number ≥ 1."""

    wantedEp: NotRequired[int]
    """Expert-parallel degree that it would have changed to. Whole number ≥ 1."""

    changes: int
    """Changes that were made at this load. Whole number ≥ 0."""

    mostChanges: int
    """Most changes at one load. Whole number ≥ 0."""


class TpKeptReasonOtherParallelism(TypedDict):
    """Reason `other_parallelism` of :class:`TpKept`."""

    code: Literal["other_parallelism"]

    ranTp: int
    """Tensor-parallel degree that the round has run with. Whole number ≥ 1."""

    ranEp: NotRequired[int]
    """Expert-parallel degree that the round has run with. Whole number ≥ 1."""


class TpKeptReasonRepeated(TypedDict):
    """Reason `repeated` of :class:`TpKept`."""

    code: Literal["repeated"]


class TpKeptReasonNotApplied(TypedDict):
    """Reason `not_applied` of :class:`TpKept`."""

    code: Literal["not_applied"]

    failedTp: int
    """Tensor-parallel degree that could not be set. Whole number ≥ 1."""

    failedEp: NotRequired[int]
    """Expert-parallel degree that could not be set. Whole number ≥ 1."""


class TpKeptReasonLate(TypedDict):
    """Reason `late` of :class:`TpKept`."""

    code: Literal["late"]

    failedTp: int
    """Tensor-parallel degree that could not be set. Whole number ≥ 1."""

    failedEp: NotRequired[int]
    """Expert-parallel degree that could not be set. Whole number ≥ 1."""


class TpKept(TypedDict):
    """A notice. The parallelism of this kind of round stays as it is."""

    type: Literal["tp.kept"]

    at: float
    """Time on the clock of the session, in seconds; an earlier one is read as the latest. Number ≥ 0."""

    roundId: NotRequired[str]
    """The round that has ended, if one has. String ≤ 512."""

    kind: Literal["short", "long"]
    """`short`: with speculation; `long`: without."""

    tp: int
    """Tensor-parallel degree: GPUs of one replica. Whole number ≥ 1."""

    ep: NotRequired[int]
    """Expert-parallel degree inside the replica; divides the TP. Whole number ≥ 1."""

    reason: (
        TpKeptReasonFirstStep
        | TpKeptReasonSteady
        | TpKeptReasonCooldown
        | TpKeptReasonAtBound
        | TpKeptReasonVetoed
        | TpKeptReasonDoesNotFit
        | TpKeptReasonLoadUnchanged
        | TpKeptReasonSettled
        | TpKeptReasonOtherParallelism
        | TpKeptReasonRepeated
        | TpKeptReasonNotApplied
        | TpKeptReasonLate
    )
    """Why, with the numbers."""


class TpSetReasonStartConfigured(TypedDict):
    """Reason `start_configured` of :class:`TpSet`."""

    code: Literal["start_configured"]


class TpSetReasonStartSmallest(TypedDict):
    """Reason `start_smallest` of :class:`TpSet`."""

    code: Literal["start_smallest"]


class TpSetReasonStartProfile(TypedDict):
    """Reason `start_profile` of :class:`TpSet`."""

    code: Literal["start_profile"]

    predictedSeconds: float
    """Seconds of a rollout step that the profile predicts. Number ≥ 0."""


class TpSetReasonHostRestarted(TypedDict):
    """Reason `host_restarted` of :class:`TpSet`."""

    code: Literal["host_restarted"]


class TpSetReasonProfileSelected(TypedDict):
    """Reason `profile_selected` of :class:`TpSet`."""

    code: Literal["profile_selected"]

    fromTp: int
    """Tensor-parallel degree before. Whole number ≥ 1."""

    fromEp: NotRequired[int]
    """Expert-parallel degree before. Whole number ≥ 1."""

    predictedSeconds: float
    """Seconds of a rollout step that the profile predicts. Number ≥ 0."""

    fromPredictedSeconds: NotRequired[float]
    """The same with the degrees before, where the profile knows them. Number ≥ 0."""


class TpSetReasonRoutingSkewed(TypedDict):
    """Reason `routing_skewed` of :class:`TpSet`."""

    code: Literal["routing_skewed"]

    fromTp: int
    """Tensor-parallel degree before. Whole number ≥ 1."""

    fromEp: NotRequired[int]
    """Expert-parallel degree before. Whole number ≥ 1."""

    predictedSeconds: float
    """Seconds of a rollout step that the profile predicts. Number ≥ 0."""

    fromPredictedSeconds: NotRequired[float]
    """The same with the degrees before, where the profile knows them. Number ≥ 0."""

    routingSkew: float
    """Observed tokens of the most loaded expert rank ÷ their mean over the ranks. Number ≥ 0."""


class TpSetReasonPreemptionsRose(TypedDict):
    """Reason `preemptions_rose` of :class:`TpSet`."""

    code: Literal["preemptions_rose"]

    fromTp: int
    """Tensor-parallel degree before. Whole number ≥ 1."""

    fromEp: NotRequired[int]
    """Expert-parallel degree before. Whole number ≥ 1."""

    preemptions: int
    """Preemptions of the step, over all engines. Whole number ≥ 0."""

    previousPreemptions: int
    """Preemptions of the step of this kind before. Whole number ≥ 0."""


class TpSetReasonPreemptionFree(TypedDict):
    """Reason `preemption_free` of :class:`TpSet`."""

    code: Literal["preemption_free"]

    fromTp: int
    """Tensor-parallel degree before. Whole number ≥ 1."""

    fromEp: NotRequired[int]
    """Expert-parallel degree before. Whole number ≥ 1."""

    steps: int
    """Steps in a row without a preemption. Whole number ≥ 0."""


class TpSetReasonUndone(TypedDict):
    """Reason `undone` of :class:`TpSet`."""

    code: Literal["undone"]

    fromTp: int
    """Tensor-parallel degree before. Whole number ≥ 1."""

    fromEp: NotRequired[int]
    """Expert-parallel degree before. Whole number ≥ 1."""

    measuredToPredicted: float
    """Measured ÷ predicted seconds of the step after the change. Number ≥ 0."""

    before: float
    """The same before the change: of the last step, or the mean over its steps if that is more. Number ≥ 0."""


class TpSetReasonNotApplied(TypedDict):
    """Reason `not_applied` of :class:`TpSet`."""

    code: Literal["not_applied"]

    fromTp: int
    """Tensor-parallel degree before. Whole number ≥ 1."""

    fromEp: NotRequired[int]
    """Expert-parallel degree before. Whole number ≥ 1."""


class TpSet(TypedDict):
    """
    A command. Run rounds of this kind with these replicas, from the next one on; what runs now is not
    touched.
    """

    type: Literal["tp.set"]

    at: float
    """Time on the clock of the session, in seconds; an earlier one is read as the latest. Number ≥ 0."""

    roundId: NotRequired[str]
    """The round whose end led to it, if one did. String ≤ 512."""

    kind: Literal["short", "long"]
    """`short`: with speculation; `long`: without."""

    tp: int
    """Tensor-parallel degree: GPUs of one replica. Whole number ≥ 1."""

    ep: NotRequired[int]
    """Expert-parallel degree inside the replica; divides the TP. Whole number ≥ 1."""

    replicas: list[ReplicaGroup]
    """Every replica with its GPUs, each inside one server."""

    reason: (
        TpSetReasonStartConfigured
        | TpSetReasonStartSmallest
        | TpSetReasonStartProfile
        | TpSetReasonHostRestarted
        | TpSetReasonProfileSelected
        | TpSetReasonRoutingSkewed
        | TpSetReasonPreemptionsRose
        | TpSetReasonPreemptionFree
        | TpSetReasonUndone
        | TpSetReasonNotApplied
    )
    """Why, with the numbers."""


class TpUseReason(TypedDict):
    """Why, with the numbers."""

    code: Literal["round_planned"]


class TpUse(TypedDict):
    """
    A command. Run this round with these replicas: change the engines, where they differ, before its requests
    are launched.
    """

    type: Literal["tp.use"]

    at: float
    """Time on the clock of the session, in seconds; an earlier one is read as the latest. Number ≥ 0."""

    roundId: str
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""

    kind: Literal["short", "long"]
    """`short`: with speculation; `long`: without."""

    tp: int
    """Tensor-parallel degree: GPUs of one replica. Whole number ≥ 1."""

    ep: NotRequired[int]
    """Expert-parallel degree inside the replica; divides the TP. Whole number ≥ 1."""

    replicas: list[ReplicaGroup]
    """Every replica with its GPUs, each inside one server."""

    reason: TpUseReason
    """Why, with the numbers."""
