# Generated from the schemas by `npm run docs:generate`: do not edit.
"""Decisions: sandbox."""

from typing import Literal

from .._bases import AnyDecision
from .._typing import NotRequired, TypedDict
from ..objects import TimeoutEstimate


class SandboxLateReason(TypedDict):
    """Reason of :class:`SandboxLate`. Why, with the numbers."""

    code: Literal["already_ended"]


class SandboxLate(AnyDecision):
    """A notice. A report about a run that is over: nothing changes."""

    type: Literal["sandbox.late"]
    runId: str
    """Id of the run, given by the host; new for every run. String ≤ 512."""
    reason: SandboxLateReason


class SandboxReportReason(TypedDict):
    """Reason of :class:`SandboxReport`. Why, with the numbers."""

    code: Literal["requested"]
    historyRuns: int
    """Most runs that are remembered. Whole number ≥ 0."""


class SandboxReport(AnyDecision):
    """A notice. What other timeouts would have cost and saved, from the runs that are remembered."""

    type: Literal["sandbox.report"]
    runs: int
    """Runs remembered: those that had an anchor and scored. Whole number ≥ 0."""
    correctRuns: int
    """Correct ones among them. Whole number ≥ 0."""
    exploredRuns: int
    """Runs among them that were given the maximum to explore. Whole number ≥ 0."""
    exploredCorrectRuns: int
    """Correct ones among those: `exploredKilled` is to be held against them. Whole number ≥ 0."""
    runSeconds: float
    """Seconds that they took. Number ≥ 0."""
    fixedSeconds: float
    """Seconds with the maximum for all; timed-out ones count up to it. Number ≥ 0."""
    estimates: list[TimeoutEstimate]
    """One for each λ asked for, in that order."""
    testCases: int
    """Test cases with an anchor. Whole number ≥ 0."""
    forgottenTestCases: int
    """Test cases that left because there were too many. Whole number ≥ 0."""
    reason: SandboxReportReason


class SandboxRunReason(TypedDict):
    """Reason of :class:`SandboxRun`. Why, with the numbers."""

    code: Literal["anchored", "no_anchor", "exploration"]
    anchorSeconds: NotRequired[float]
    """The longest correct run of the test case, in seconds. Number ≥ 0. Only with `anchored`, `exploration`."""
    timeoutFactor: NotRequired[float]
    """λ: the timeout is this many times the anchor. Only with `anchored`."""
    minTimeoutSeconds: NotRequired[float]
    """Tmin: the shortest timeout, in seconds. Number ≥ 0. Only with `anchored`."""
    maxTimeoutSeconds: NotRequired[float]
    """Tmax: the longest timeout, in seconds. Number > 0. Only with `anchored`, `no_anchor`."""
    exploreEvery: NotRequired[int]
    """How many runs there are for one that explores. Whole number ≥ 0. Only with `exploration`."""


class SandboxRun(AnyDecision):
    """A command. Run the code, and stop it after this time."""

    type: Literal["sandbox.run"]
    runId: str
    """Id of the run, given by the host; new for every run. String ≤ 512."""
    testCaseId: str
    """Id of the test case, given by the host; the same whenever it is run. String ≤ 512."""
    timeoutSeconds: float
    """How long the code may run, in seconds. Number > 0."""
    reason: SandboxRunReason


class SandboxScoredReason(TypedDict):
    """Reason of :class:`SandboxScored`. Why, with the numbers."""

    code: Literal["correct", "wrong", "timeout"]
    seconds: float
    """How long the run took, in seconds. Number ≥ 0."""
    timeoutSeconds: float
    """How long the code may run, in seconds. Number > 0."""
    anchorSeconds: NotRequired[float]
    """The longest correct run of the test case, in seconds. Number ≥ 0. Only with `correct`."""
    maxTimeoutSeconds: NotRequired[float]
    """Tmax: the longest timeout, in seconds. Number > 0. Only with `timeout`."""


class SandboxScored(AnyDecision):
    """A notice. A run has ended and scores."""

    type: Literal["sandbox.scored"]
    runId: str
    """Id of the run, given by the host; new for every run. String ≤ 512."""
    testCaseId: str
    """Id of the test case, given by the host; the same whenever it is run. String ≤ 512."""
    score: Literal[0] | Literal[1]
    """1 for a correct run, else 0."""
    reason: SandboxScoredReason


class SandboxUnscoredReason(TypedDict):
    """Reason of :class:`SandboxUnscored`. Why, with the numbers."""

    code: Literal["infrastructure", "cancelled", "host_restarted"]
    seconds: NotRequired[float]
    """How long the run took, in seconds. Number ≥ 0. Only with `infrastructure`."""


class SandboxUnscored(AnyDecision):
    """A notice. A run has ended without a score, through no fault of the code: it may be run again, as a new run."""

    type: Literal["sandbox.unscored"]
    runId: str
    """Id of the run, given by the host; new for every run. String ≤ 512."""
    testCaseId: str
    """Id of the test case, given by the host; the same whenever it is run. String ≤ 512."""
    reason: SandboxUnscoredReason
