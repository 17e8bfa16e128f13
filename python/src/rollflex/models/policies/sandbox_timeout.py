# Generated from the schemas by `npm run docs:generate`: do not edit.
"""Stops doomed code early: a timeout for each test case, from its longest correct run."""

from typing import Literal, TypeAlias, Union

from .._bases import AnySnapshot
from .._typing import NotRequired, TypedDict
from ..decisions.sandbox import SandboxLate, SandboxReport, SandboxRun, SandboxScored, SandboxUnscored
from ..events.sandbox import SandboxCancelled, SandboxFinished, SandboxReportRequested, SandboxRequested
from ..events.session import HostRestarted


class SandboxTimeoutConfig(TypedDict):
    """Configuration of `sandbox-timeout`."""

    timeoutFactor: NotRequired[float]
    """λ: a run may take this many times the longest correct run of its test case. The paper has 1.5. Number 1 to 1000.
    Default: 4."""
    minTimeoutSeconds: NotRequired[float]
    """Tmin: no timeout is shorter, in seconds. Number ≥ 0. Default: 2."""
    maxTimeoutSeconds: NotRequired[float]
    """Tmax: no timeout is longer; also the one of a test case that has not been solved, in seconds, > 0 and at most a
    day. Number > 0. Default: 30."""
    exploreEvery: NotRequired[int]
    """Every so many runs of a solved test case one is given Tmax, so that its anchor can rise; 0: none. Whole number ≥
    0. Default: 16."""
    maxTestCases: NotRequired[int]
    """Most test cases whose anchors are kept; the least recently used leave. Whole number 1 to 10000000. Default:
    100000."""
    historyRuns: NotRequired[int]
    """Most runs that reports are made from; the oldest leave. Whole number 1 to 1000000. Default: 2048."""


SandboxTimeoutEvent: TypeAlias = Union[
    SandboxRequested, SandboxFinished, SandboxCancelled, SandboxReportRequested, HostRestarted,
]
"""What `sandbox-timeout` is told."""


SandboxTimeoutCommand: TypeAlias = SandboxRun
"""Decisions of `sandbox-timeout` that a host must carry out."""


SandboxTimeoutNotice: TypeAlias = Union[
    SandboxScored, SandboxUnscored, SandboxLate, SandboxReport,
]
"""Decisions of `sandbox-timeout` that a host may read."""


SandboxTimeoutDecision: TypeAlias = Union[
    SandboxRun, SandboxScored, SandboxUnscored, SandboxLate, SandboxReport,
]
"""What `sandbox-timeout` answers."""


class SandboxTimeoutSnapshot(AnySnapshot):
    """State of `sandbox-timeout`: what `open(snapshot=…)` takes."""

    policy: Literal["sandbox-timeout"]
    config: SandboxTimeoutConfig
