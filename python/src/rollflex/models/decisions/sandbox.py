# Generated from the schemas by `npm run docs:generate`: do not edit.
"""Decisions: sandbox."""

from typing import Literal

from .._typing import TypedDict
from ..objects import TimeoutEstimate


class SandboxLateReason(TypedDict):
    """Why, with the numbers."""

    code: Literal["already_ended"]


class SandboxLate(TypedDict):
    """A notice. A report about a run that is over: nothing changes."""

    type: Literal["sandbox.late"]

    at: float
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Number ≥ 0.
    """

    runId: str
    """Id of the run, given by the host; new for every run. String ≤ 512."""

    reason: SandboxLateReason
    """Why, with the numbers."""


class SandboxReportReason(TypedDict):
    """Why, with the numbers."""

    code: Literal["requested"]

    historyRuns: int
    """Most runs that are remembered. Whole number ≥ 0."""


class SandboxReport(TypedDict):
    """A notice. What other timeouts would have cost and saved, from the runs that are remembered."""

    type: Literal["sandbox.report"]

    at: float
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Number ≥ 0.
    """

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
    """Why, with the numbers."""


class SandboxRunReasonAnchored(TypedDict):
    """Reason `anchored` of :class:`SandboxRun`."""

    code: Literal["anchored"]

    anchorSeconds: float
    """The longest correct run of the test case, in seconds. Number ≥ 0."""

    timeoutFactor: float
    """λ: the timeout is this many times the anchor."""

    minTimeoutSeconds: float
    """Tmin: the shortest timeout, in seconds. Number ≥ 0."""

    maxTimeoutSeconds: float
    """Tmax: the longest timeout, in seconds. Number > 0."""


class SandboxRunReasonNoAnchor(TypedDict):
    """Reason `no_anchor` of :class:`SandboxRun`."""

    code: Literal["no_anchor"]

    maxTimeoutSeconds: float
    """Tmax: the longest timeout, in seconds. Number > 0."""


class SandboxRunReasonExploration(TypedDict):
    """Reason `exploration` of :class:`SandboxRun`."""

    code: Literal["exploration"]

    anchorSeconds: float
    """The longest correct run of the test case, in seconds. Number ≥ 0."""

    exploreEvery: int
    """How many runs there are for one that explores. Whole number ≥ 0."""


class SandboxRun(TypedDict):
    """A command. Run the code, and stop it after this time."""

    type: Literal["sandbox.run"]

    at: float
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Number ≥ 0.
    """

    runId: str
    """Id of the run, given by the host; new for every run. String ≤ 512."""

    testCaseId: str
    """Id of the test case, given by the host; the same whenever it is run. String ≤ 512."""

    timeoutSeconds: float
    """How long the code may run, in seconds. Number > 0."""

    reason: SandboxRunReasonAnchored | SandboxRunReasonNoAnchor | SandboxRunReasonExploration
    """Why, with the numbers."""


class SandboxScoredReasonCorrect(TypedDict):
    """Reason `correct` of :class:`SandboxScored`."""

    code: Literal["correct"]

    seconds: float
    """How long the run took, in seconds. Number ≥ 0."""

    timeoutSeconds: float
    """How long the code may run, in seconds. Number > 0."""

    anchorSeconds: float
    """The longest correct run of the test case, in seconds. Number ≥ 0."""


class SandboxScoredReasonWrong(TypedDict):
    """Reason `wrong` of :class:`SandboxScored`."""

    code: Literal["wrong"]

    seconds: float
    """How long the run took, in seconds. Number ≥ 0."""

    timeoutSeconds: float
    """How long the code may run, in seconds. Number > 0."""


class SandboxScoredReasonTimeout(TypedDict):
    """Reason `timeout` of :class:`SandboxScored`."""

    code: Literal["timeout"]

    seconds: float
    """How long the run took, in seconds. Number ≥ 0."""

    timeoutSeconds: float
    """How long the code may run, in seconds. Number > 0."""

    maxTimeoutSeconds: float
    """Tmax: the longest timeout, in seconds. Number > 0."""


class SandboxScored(TypedDict):
    """A notice. A run has ended and scores."""

    type: Literal["sandbox.scored"]

    at: float
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Number ≥ 0.
    """

    runId: str
    """Id of the run, given by the host; new for every run. String ≤ 512."""

    testCaseId: str
    """Id of the test case, given by the host; the same whenever it is run. String ≤ 512."""

    score: Literal[0] | Literal[1]
    """1 for a correct run, else 0."""

    reason: SandboxScoredReasonCorrect | SandboxScoredReasonWrong | SandboxScoredReasonTimeout
    """Why, with the numbers."""


class SandboxUnscoredReasonInfrastructure(TypedDict):
    """Reason `infrastructure` of :class:`SandboxUnscored`."""

    code: Literal["infrastructure"]

    seconds: float
    """How long the run took, in seconds. Number ≥ 0."""


class SandboxUnscoredReasonCancelled(TypedDict):
    """Reason `cancelled` of :class:`SandboxUnscored`."""

    code: Literal["cancelled"]


class SandboxUnscoredReasonHostRestarted(TypedDict):
    """Reason `host_restarted` of :class:`SandboxUnscored`."""

    code: Literal["host_restarted"]


class SandboxUnscored(TypedDict):
    """
    A notice. A run has ended without a score, through no fault of the code: it may be run again, as a new
    run.
    """

    type: Literal["sandbox.unscored"]

    at: float
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Number ≥ 0.
    """

    runId: str
    """Id of the run, given by the host; new for every run. String ≤ 512."""

    testCaseId: str
    """Id of the test case, given by the host; the same whenever it is run. String ≤ 512."""

    reason: (
        SandboxUnscoredReasonInfrastructure
        | SandboxUnscoredReasonCancelled
        | SandboxUnscoredReasonHostRestarted
    )
    """Why, with the numbers."""
