# Generated from the schemas by `npm run docs:generate`: do not edit.
"""Factors that make gradients of uneven replicas and micro-batches equal to that of the whole batch."""

from collections.abc import Sequence
from typing import Literal

from .._typing import NotRequired, TypedDict


class GradientRenormalizationInputReplicaMicroBatche(TypedDict):
    """Part of :class:`GradientRenormalizationInputReplica`."""

    samples: int
    """Responses in it; one response that was cut into several rows is one. Whole number ≥ 0."""
    tokens: NotRequired[int]
    """Tokens in it that the loss counts; needed with `unit: tokens` where there are samples. Whole number ≥ 0."""
    groups: NotRequired[int]
    """Whole groups in it; needed with `unit: groups` where there are samples. Whole number ≥ 0."""
    weights: NotRequired[float]
    """Sum of the weights of its samples, by which the loss multiplies each (`weight` of `prompt-selection`); needed
    with `unit: weights` where there are samples. Number ≥ 0."""


class GradientRenormalizationInputReplica(TypedDict):
    """Part of :class:`GradientRenormalizationInput`."""

    samples: int
    """Responses in it; one response that was cut into several rows is one. Whole number ≥ 0."""
    tokens: NotRequired[int]
    """Tokens in it that the loss counts; needed with `unit: tokens` where there are samples. Whole number ≥ 0."""
    groups: NotRequired[int]
    """Whole groups in it; needed with `unit: groups` where there are samples. Whole number ≥ 0."""
    weights: NotRequired[float]
    """Sum of the weights of its samples, by which the loss multiplies each (`weight` of `prompt-selection`); needed
    with `unit: weights` where there are samples. Number ≥ 0."""
    microBatches: NotRequired[Sequence[GradientRenormalizationInputReplicaMicroBatche]]
    """Its micro-batches, empty ones included; their counts add up to its own."""


class GradientRenormalizationInput(TypedDict):
    """Input of `gradient-renormalization`."""

    replicas: Sequence[GradientRenormalizationInputReplica]
    """All data-parallel replicas that take part in the collective, also those that have trained on nothing."""
    unit: NotRequired[Literal["samples", "tokens", "groups", "weights", "constant"]]
    """What the loss of the whole batch is a mean over; `constant`: its sum over samples ÷ `divisor`. Default:
    "samples"."""
    divisor: NotRequired[float]
    """What the sum over the batch is divided by; with `unit: constant` only. Number ≥ 1e-9."""
    reduction: NotRequired[Literal["mean", "sum"]]
    """What a replica (a micro-batch) computes over its own units; with `unit: constant` over samples. Default:
    "mean"."""
    collective: NotRequired[Literal["sum", "mean"]]
    """What the all-reduce or reduce-scatter does over the replicas; DDP and FSDP take the mean. Default: "sum"."""
    accumulation: NotRequired[Literal["sum", "mean"]]
    """What the framework does over the micro-batches of a replica; `mean`: it divides by their number, empty ones
    included. Default: "sum"."""
    accumulated: NotRequired[bool]
    """Whether micro-batches are added up already, so that none can get a factor of its own any more. Default: false."""


class GradientRenormalizationPlan(TypedDict):
    """Plan of `gradient-renormalization`."""

    factors: list[float]
    """For each replica: what its local gradient is multiplied by before the collective."""
    microBatchFactors: NotRequired[list[list[float]]]
    """For each micro-batch of each replica: what its gradient (or loss) is multiplied by instead, before it is added
    up; a replica without micro-batches is one. Absent without micro-batches, or if they are accumulated."""
    total: float
    """Units of the whole batch, N; with `unit: constant` the divisor. Number > 0."""
