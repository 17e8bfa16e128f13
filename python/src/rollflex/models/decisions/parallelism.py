# Generated from the schemas by `npm run docs:generate`: do not edit.
"""Decisions: parallelism."""

from typing import Literal

from .._typing import NotRequired, TypedDict
from ..objects import ProfileConfiguration, ReplicaGroup


class KindTpKeptReasonFirstStep(TypedDict):
    """Reason `first_step` of :class:`KindTpKept`."""

    code: Literal["first_step"]

    preemptions: int
    """Preemptions of the step, over all engines. Whole number ≥ 0."""


class KindTpKeptReasonSteady(TypedDict):
    """Reason `steady` of :class:`KindTpKept`."""

    code: Literal["steady"]

    preemptions: int
    """Preemptions of the step, over all engines. Whole number ≥ 0."""

    previousPreemptions: int
    """Preemptions of the step of this kind before. Whole number ≥ 0."""

    calmSteps: int
    """Steps in a row without a preemption. Whole number ≥ 0."""


class KindTpKeptReasonCooldown(TypedDict):
    """Reason `cooldown` of :class:`KindTpKept`."""

    code: Literal["cooldown"]

    preemptions: int
    """Preemptions of the step, over all engines. Whole number ≥ 0."""

    stepsLeft: int
    """Steps of the cooldown that are left after this one. Whole number ≥ 0."""


class KindTpKeptReasonAtBound(TypedDict):
    """Reason `at_bound` of :class:`KindTpKept`."""

    code: Literal["at_bound"]

    minTp: int
    """Least tensor-parallel degree that is possible. Whole number ≥ 1."""

    maxTp: int
    """Greatest tensor-parallel degree that is possible. Whole number ≥ 1."""


class KindTpKeptReasonVetoed(TypedDict):
    """Reason `vetoed` of :class:`KindTpKept`."""

    code: Literal["vetoed"]

    wantedTp: int
    """Tensor-parallel degree that it would have changed to. Whole number ≥ 1."""

    wantedEp: NotRequired[int]
    """Expert-parallel degree that it would have changed to. Whole number ≥ 1."""

    wantedPredictedSeconds: float
    """Seconds that the profile predicts with the degrees that were wanted. Number ≥ 0."""

    predictedSeconds: float
    """Seconds that it predicts with those that stay. Number ≥ 0."""


class KindTpKeptReasonDoesNotFit(TypedDict):
    """Reason `does_not_fit` of :class:`KindTpKept`."""

    code: Literal["does_not_fit"]

    wantedTp: int
    """Tensor-parallel degree that it would have changed to. Whole number ≥ 1."""

    wantedEp: NotRequired[int]
    """Expert-parallel degree that it would have changed to. Whole number ≥ 1."""


class KindTpKeptReasonLoadUnchanged(TypedDict):
    """Reason `load_unchanged` of :class:`KindTpKept`."""

    code: Literal["load_unchanged"]

    wantedTp: int
    """Tensor-parallel degree that it would have changed to. Whole number ≥ 1."""

    wantedEp: NotRequired[int]
    """Expert-parallel degree that it would have changed to. Whole number ≥ 1."""

    loadTokens: float
    """Load of the step, in tokens. Number ≥ 0."""

    barredAtTokens: float
    """Load at which these degrees were undone or refused, in tokens. Number ≥ 0."""


class KindTpKeptReasonSettled(TypedDict):
    """Reason `settled` of :class:`KindTpKept`."""

    code: Literal["settled"]

    wantedTp: int
    """Tensor-parallel degree that it would have changed to. Whole number ≥ 1."""

    wantedEp: NotRequired[int]
    """Expert-parallel degree that it would have changed to. Whole number ≥ 1."""

    changes: int
    """Changes that were made at this load. Whole number ≥ 0."""

    mostChanges: int
    """Most changes at one load. Whole number ≥ 0."""


class KindTpKeptReasonOtherParallelism(TypedDict):
    """Reason `other_parallelism` of :class:`KindTpKept`."""

    code: Literal["other_parallelism"]

    ranTp: int
    """Tensor-parallel degree that the round has run with. Whole number ≥ 1."""

    ranEp: NotRequired[int]
    """Expert-parallel degree that the round has run with. Whole number ≥ 1."""


class KindTpKeptReasonRepeated(TypedDict):
    """Reason `repeated` of :class:`KindTpKept`."""

    code: Literal["repeated"]


class KindTpKeptReasonNotApplied(TypedDict):
    """Reason `not_applied` of :class:`KindTpKept`."""

    code: Literal["not_applied"]

    failedTp: int
    """Tensor-parallel degree that could not be set. Whole number ≥ 1."""

    failedEp: NotRequired[int]
    """Expert-parallel degree that could not be set. Whole number ≥ 1."""


class KindTpKeptReasonLate(TypedDict):
    """Reason `late` of :class:`KindTpKept`."""

    code: Literal["late"]

    failedTp: int
    """Tensor-parallel degree that could not be set. Whole number ≥ 1."""

    failedEp: NotRequired[int]
    """Expert-parallel degree that could not be set. Whole number ≥ 1."""


class KindTpKept(TypedDict):
    """A notice. The parallelism of this kind of round stays as it is."""

    type: Literal["kind-tp.kept"]

    at: float
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Number ≥ 0.
    """

    roundId: NotRequired[str]
    """The round that has ended, if one has. String ≤ 512."""

    kind: Literal["short", "long"]
    """`short`: with speculation; `long`: without."""

    tp: int
    """Tensor-parallel degree: GPUs of one replica. Whole number ≥ 1."""

    ep: NotRequired[int]
    """Expert-parallel degree inside the replica; divides the TP. Whole number ≥ 1."""

    reason: (
        KindTpKeptReasonFirstStep
        | KindTpKeptReasonSteady
        | KindTpKeptReasonCooldown
        | KindTpKeptReasonAtBound
        | KindTpKeptReasonVetoed
        | KindTpKeptReasonDoesNotFit
        | KindTpKeptReasonLoadUnchanged
        | KindTpKeptReasonSettled
        | KindTpKeptReasonOtherParallelism
        | KindTpKeptReasonRepeated
        | KindTpKeptReasonNotApplied
        | KindTpKeptReasonLate
    )
    """Why, with the numbers."""


class KindTpSetReasonStartConfigured(TypedDict):
    """Reason `start_configured` of :class:`KindTpSet`."""

    code: Literal["start_configured"]


class KindTpSetReasonStartSmallest(TypedDict):
    """Reason `start_smallest` of :class:`KindTpSet`."""

    code: Literal["start_smallest"]


class KindTpSetReasonStartProfile(TypedDict):
    """Reason `start_profile` of :class:`KindTpSet`."""

    code: Literal["start_profile"]

    predictedSeconds: float
    """Seconds of a rollout step that the profile predicts. Number ≥ 0."""


class KindTpSetReasonHostRestarted(TypedDict):
    """Reason `host_restarted` of :class:`KindTpSet`."""

    code: Literal["host_restarted"]


class KindTpSetReasonProfileSelected(TypedDict):
    """Reason `profile_selected` of :class:`KindTpSet`."""

    code: Literal["profile_selected"]

    fromTp: int
    """Tensor-parallel degree before. Whole number ≥ 1."""

    fromEp: NotRequired[int]
    """Expert-parallel degree before. Whole number ≥ 1."""

    predictedSeconds: float
    """Seconds of a rollout step that the profile predicts. Number ≥ 0."""

    fromPredictedSeconds: NotRequired[float]
    """The same with the degrees before, where the profile knows them. Number ≥ 0."""


class KindTpSetReasonRoutingSkewed(TypedDict):
    """Reason `routing_skewed` of :class:`KindTpSet`."""

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


class KindTpSetReasonPreemptionsRose(TypedDict):
    """Reason `preemptions_rose` of :class:`KindTpSet`."""

    code: Literal["preemptions_rose"]

    fromTp: int
    """Tensor-parallel degree before. Whole number ≥ 1."""

    fromEp: NotRequired[int]
    """Expert-parallel degree before. Whole number ≥ 1."""

    preemptions: int
    """Preemptions of the step, over all engines. Whole number ≥ 0."""

    previousPreemptions: int
    """Preemptions of the step of this kind before. Whole number ≥ 0."""


class KindTpSetReasonPreemptionFree(TypedDict):
    """Reason `preemption_free` of :class:`KindTpSet`."""

    code: Literal["preemption_free"]

    fromTp: int
    """Tensor-parallel degree before. Whole number ≥ 1."""

    fromEp: NotRequired[int]
    """Expert-parallel degree before. Whole number ≥ 1."""

    steps: int
    """Steps in a row without a preemption. Whole number ≥ 0."""


class KindTpSetReasonUndone(TypedDict):
    """Reason `undone` of :class:`KindTpSet`."""

    code: Literal["undone"]

    fromTp: int
    """Tensor-parallel degree before. Whole number ≥ 1."""

    fromEp: NotRequired[int]
    """Expert-parallel degree before. Whole number ≥ 1."""

    measuredToPredicted: float
    """Measured ÷ predicted seconds of the step after the change. Number ≥ 0."""

    before: float
    """The same before the change: of the last step, or the mean over its steps if that is more. Number ≥ 0."""


class KindTpSetReasonNotApplied(TypedDict):
    """Reason `not_applied` of :class:`KindTpSet`."""

    code: Literal["not_applied"]

    fromTp: int
    """Tensor-parallel degree before. Whole number ≥ 1."""

    fromEp: NotRequired[int]
    """Expert-parallel degree before. Whole number ≥ 1."""


class KindTpSet(TypedDict):
    """
    A command. Run rounds of this kind with these replicas, from the next one on; what runs now is not
    touched.
    """

    type: Literal["kind-tp.set"]

    at: float
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Number ≥ 0.
    """

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
        KindTpSetReasonStartConfigured
        | KindTpSetReasonStartSmallest
        | KindTpSetReasonStartProfile
        | KindTpSetReasonHostRestarted
        | KindTpSetReasonProfileSelected
        | KindTpSetReasonRoutingSkewed
        | KindTpSetReasonPreemptionsRose
        | KindTpSetReasonPreemptionFree
        | KindTpSetReasonUndone
        | KindTpSetReasonNotApplied
    )
    """Why, with the numbers."""


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
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Number ≥ 0.
    """

    configurations: list[ProfileConfiguration]
    """Points to measure, by batch size and length."""

    reason: ProfileMeasureReasonObservedFar | ProfileMeasureReasonNotProfiled
    """Why, with the numbers."""


class RoundTpSetReason(TypedDict):
    """Why, with the numbers."""

    code: Literal["round_planned"]


class RoundTpSet(TypedDict):
    """
    A command. Run this round with these replicas: change the engines, where they differ, before its requests
    are launched.
    """

    type: Literal["round-tp.set"]

    at: float
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Number ≥ 0.
    """

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

    reason: RoundTpSetReason
    """Why, with the numbers."""
