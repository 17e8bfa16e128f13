# Generated from the schemas by `npm run docs:generate`: do not edit.
"""Decisions: judge."""

from typing import Literal

from .._typing import TypedDict


class JudgePlaceReasonStart(TypedDict):
    """Reason `start` of :class:`JudgePlace`."""

    code: Literal["start"]


class JudgePlaceReasonLongerResponse(TypedDict):
    """Reason `longer_response` of :class:`JudgePlace`."""

    code: Literal["longer_response"]

    responseTokens: int
    """Tokens of the response that is longer. Whole number ≥ 0."""

    plannedTokens: int
    """Length that the plan before was for, in tokens. Whole number ≥ 1."""


class JudgePlaceReasonRoundPlanned(TypedDict):
    """Reason `round_planned` of :class:`JudgePlace`."""

    code: Literal["round_planned"]

    longestTokens: int
    """Longest length seen in rounds of this kind, in tokens. Whole number ≥ 0."""

    plannedTokens: int
    """Length that the plan before was for, in tokens. Whole number ≥ 1."""


class JudgePlace(TypedDict):
    """
    A command. Lay the layers of the judge out like this, before it is given anything longer than the plan
    before was for.
    """

    type: Literal["judge.place"]

    at: float
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Number ≥ 0.
    """

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

    reason: JudgePlaceReasonStart | JudgePlaceReasonLongerResponse | JudgePlaceReasonRoundPlanned
    """Why, with the numbers."""
