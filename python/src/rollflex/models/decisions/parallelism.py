# Generated from the schemas by `npm run docs:generate`: do not edit.
"""Decisions: parallelism."""

from typing import Literal

from .._bases import AnyDecision
from .._typing import NotRequired, TypedDict
from ..objects import ProfileConfiguration, ReplicaGroup


class KindTpKeptReason(TypedDict):
    """Reason of :class:`KindTpKept`. Why, with the numbers."""

    code: Literal[
        "first_step", "steady", "cooldown", "at_bound", "vetoed", "does_not_fit", "load_unchanged", "settled",
        "other_parallelism", "repeated", "not_applied", "late",
    ]
    preemptions: NotRequired[int]
    """Preemptions of the step, over all engines. Whole number ≥ 0. Only with `first_step`, `steady`, `cooldown`."""
    previousPreemptions: NotRequired[int]
    """Preemptions of the step of this kind before. Whole number ≥ 0. Only with `steady`."""
    calmSteps: NotRequired[int]
    """Steps in a row without a preemption. Whole number ≥ 0. Only with `steady`."""
    stepsLeft: NotRequired[int]
    """Steps of the cooldown that are left after this one. Whole number ≥ 0. Only with `cooldown`."""
    minTp: NotRequired[int]
    """Least tensor-parallel degree that is possible. Whole number ≥ 1. Only with `at_bound`."""
    maxTp: NotRequired[int]
    """Greatest tensor-parallel degree that is possible. Whole number ≥ 1. Only with `at_bound`."""
    wantedTp: NotRequired[int]
    """Tensor-parallel degree that it would have changed to. Whole number ≥ 1. Only with `vetoed`, `does_not_fit`,
    `load_unchanged`, `settled`."""
    wantedEp: NotRequired[int]
    """Expert-parallel degree that it would have changed to. Whole number ≥ 1. Only with `vetoed`, `does_not_fit`,
    `load_unchanged`, `settled`."""
    wantedPredictedSeconds: NotRequired[float]
    """Seconds that the profile predicts with the degrees that were wanted. Number ≥ 0. Only with `vetoed`."""
    predictedSeconds: NotRequired[float]
    """Seconds that it predicts with those that stay. Number ≥ 0. Only with `vetoed`."""
    loadTokens: NotRequired[float]
    """Load of the step, in tokens. Number ≥ 0. Only with `load_unchanged`."""
    barredAtTokens: NotRequired[float]
    """Load at which these degrees were undone or refused, in tokens. Number ≥ 0. Only with `load_unchanged`."""
    changes: NotRequired[int]
    """Changes that were made at this load. Whole number ≥ 0. Only with `settled`."""
    mostChanges: NotRequired[int]
    """Most changes at one load. Whole number ≥ 0. Only with `settled`."""
    ranTp: NotRequired[int]
    """Tensor-parallel degree that the round has run with. Whole number ≥ 1. Only with `other_parallelism`."""
    ranEp: NotRequired[int]
    """Expert-parallel degree that the round has run with. Whole number ≥ 1. Only with `other_parallelism`."""
    failedTp: NotRequired[int]
    """Tensor-parallel degree that could not be set. Whole number ≥ 1. Only with `not_applied`, `late`."""
    failedEp: NotRequired[int]
    """Expert-parallel degree that could not be set. Whole number ≥ 1. Only with `not_applied`, `late`."""


class KindTpKept(AnyDecision):
    """A notice. The parallelism of this kind of round stays as it is."""

    type: Literal["kind-tp.kept"]
    roundId: NotRequired[str]
    """The round that has ended, if one has. String ≤ 512."""
    kind: Literal["short", "long"]
    """`short`: with speculation; `long`: without."""
    tp: int
    """Tensor-parallel degree: GPUs of one replica. Whole number ≥ 1."""
    ep: NotRequired[int]
    """Expert-parallel degree inside the replica; divides the TP. Whole number ≥ 1."""
    reason: KindTpKeptReason


class KindTpSetReason(TypedDict):
    """Reason of :class:`KindTpSet`. Why, with the numbers."""

    code: Literal[
        "start_configured", "start_smallest", "start_profile", "host_restarted", "profile_selected", "routing_skewed",
        "preemptions_rose", "preemption_free", "undone", "not_applied",
    ]
    predictedSeconds: NotRequired[float]
    """Seconds of a rollout step that the profile predicts. Number ≥ 0. Only with `start_profile`, `profile_selected`,
    `routing_skewed`."""
    fromTp: NotRequired[int]
    """Tensor-parallel degree before. Whole number ≥ 1. Only with `profile_selected`, `routing_skewed`,
    `preemptions_rose`, `preemption_free`, `undone`, `not_applied`."""
    fromEp: NotRequired[int]
    """Expert-parallel degree before. Whole number ≥ 1. Only with `profile_selected`, `routing_skewed`,
    `preemptions_rose`, `preemption_free`, `undone`, `not_applied`."""
    fromPredictedSeconds: NotRequired[float]
    """The same with the degrees before, where the profile knows them. Number ≥ 0. Only with `profile_selected`,
    `routing_skewed`."""
    routingSkew: NotRequired[float]
    """Observed tokens of the most loaded expert rank ÷ their mean over the ranks. Number ≥ 0. Only with
    `routing_skewed`."""
    preemptions: NotRequired[int]
    """Preemptions of the step, over all engines. Whole number ≥ 0. Only with `preemptions_rose`."""
    previousPreemptions: NotRequired[int]
    """Preemptions of the step of this kind before. Whole number ≥ 0. Only with `preemptions_rose`."""
    steps: NotRequired[int]
    """Steps in a row without a preemption. Whole number ≥ 0. Only with `preemption_free`."""
    measuredToPredicted: NotRequired[float]
    """Measured ÷ predicted seconds of the step after the change. Number ≥ 0. Only with `undone`."""
    before: NotRequired[float]
    """The same before the change: of the last step, or the mean over its steps if that is more. Number ≥ 0. Only with
    `undone`."""


class KindTpSet(AnyDecision):
    """A command. Run rounds of this kind with these replicas, from the next one on; what runs now is not touched."""

    type: Literal["kind-tp.set"]
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
    reason: KindTpSetReason


class ProfileMeasureReason(TypedDict):
    """Reason of :class:`ProfileMeasure`. Why, with the numbers."""

    code: Literal["observed_far", "not_profiled"]
    rounds: int
    """Rounds of such observations in a row. Whole number ≥ 0."""
    observedSeconds: float
    """Seconds of a decode step that were observed. Number ≥ 0."""
    profileSeconds: NotRequired[float]
    """Seconds that the profile says for such a step. Number ≥ 0. Only with `observed_far`."""


class ProfileMeasure(AnyDecision):
    """A command. Measure these points and answer with `profile.measured`; asked for again while observations stay far
    off."""

    type: Literal["profile.measure"]
    configurations: list[ProfileConfiguration]
    """Points to measure, by batch size and length."""
    reason: ProfileMeasureReason


class RoundTpSetReason(TypedDict):
    """Reason of :class:`RoundTpSet`. Why, with the numbers."""

    code: Literal["round_planned", "host_restarted"]


class RoundTpSet(AnyDecision):
    """A command. Run this round with these replicas: change the engines, where they differ, before its requests are
    launched."""

    type: Literal["round-tp.set"]
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
