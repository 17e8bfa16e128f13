# Generated from the schemas by `npm run docs:generate`: do not edit.
"""Events: sandbox."""

from collections.abc import Sequence
from typing import Literal

from .._bases import AnyEvent
from .._typing import NotRequired


class SandboxCancelled(AnyEvent):
    """The host has given up a run: nobody needs it."""

    type: Literal["sandbox.cancelled"]
    runId: str
    """Id of the run, given by the host; new for every run. String ≤ 512."""


class SandboxFinished(AnyEvent):
    """A run has ended."""

    type: Literal["sandbox.finished"]
    runId: str
    """Id of the run, given by the host; new for every run. String ≤ 512."""
    outcome: Literal["correct", "wrong", "timeout", "infrastructure"]
    """`timeout`: stopped at the timeout that it was given. `infrastructure`: the sandbox failed, not the code in it."""
    seconds: float
    """How long the code ran, in seconds; without waiting for a sandbox. Number 0 to 1000000000."""
    message: NotRequired[str]
    """What went wrong, for operators: a text of any length, of which 2,000 characters are kept."""


class SandboxReportRequested(AnyEvent):
    """The host asks what other timeouts would have cost and saved."""

    type: Literal["sandbox.report.requested"]
    factors: NotRequired[Sequence[float]]
    """Values of λ to judge, each 1 to 1000; 1, 1.25, 1.5, 2, 3, 4, 6, 8 and 16 if absent."""


class SandboxRequested(AnyEvent):
    """A test case is to be run in a sandbox."""

    type: Literal["sandbox.requested"]
    runId: str
    """Id of the run, given by the host; new for every run. String ≤ 512."""
    testCaseId: str
    """Id of the test case, given by the host; the same whenever it is run. String ≤ 512."""
