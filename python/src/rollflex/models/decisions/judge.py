# Generated from the schemas by `npm run docs:generate`: do not edit.
"""Decisions: judge."""

from typing import Literal

from .._bases import AnyDecision
from .._typing import NotRequired, TypedDict


class JudgePlaceReason(TypedDict):
    """Reason of :class:`JudgePlace`. Why, with the numbers."""

    code: Literal["start", "longer_response", "round_planned"]
    responseTokens: NotRequired[int]
    """Tokens of the response that is longer. Whole number 0 to 1000000000. Only with `longer_response`."""
    plannedTokens: NotRequired[int]
    """Length that the plan before was for, in tokens. Whole number ≥ 1. Only with `longer_response`,
    `round_planned`."""
    longestTokens: NotRequired[int]
    """Longest length seen in rounds of this kind, in tokens. Whole number 0 to 1000000000. Only with
    `round_planned`."""


class JudgePlace(AnyDecision):
    """A command. Lay the layers of the judge out like this, before it is given anything longer than the plan before was
    for."""

    type: Literal["judge.place"]
    sequenceTokens: int
    """Greatest length that the plan is for, in tokens. Whole number ≥ 1."""
    residentLayers: int
    """Layers that stay on the GPU. Whole number ≥ 0."""
    streamedLayers: list[int]
    """The other layers, ascending: they pass through buffers from host memory."""
    prefetchDepth: int
    """Buffers of one layer each; 0 if no layer is streamed. Whole number ≥ 0."""
    mpsShare: float
    """Share of the SMs for the judge. Number 0.01 to 1."""
    memoryBytes: float
    """GPU memory that the judge takes, in bytes. Number ≥ 0."""
    pipelinedSeconds: float
    """Predicted seconds of a forward pass of that length. Number ≥ 0."""
    reason: JudgePlaceReason
