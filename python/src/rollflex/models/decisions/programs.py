# Generated from the schemas by `npm run docs:generate`: do not edit.
"""Decisions: programs."""

from typing import Literal

from .._bases import AnyDecision
from .._typing import NotRequired, TypedDict
from .chunks import ChunkLateReason


class EngineFreedReason(TypedDict):
    """Reason of :class:`EngineFreed`. Why, with the numbers."""

    code: Literal["packed"]
    programs: int
    """Programs that are left. Whole number ≥ 0."""
    engines: int
    """Engines that go on. Whole number ≥ 0."""
    usedTokens: int
    """Tokens of the programs that run on the engine, this one included. Whole number 0 to 1000000000000."""
    budgetTokens: int
    """Tokens that they may have. Whole number 0 to 1000000000000."""


class EngineFreed(AnyDecision):
    """A notice. The programs that are left need this engine no more, and it runs no turn: a host that sends
    `engine.drained` may use it for something else. It holds until a `turn.route` names the engine."""

    type: Literal["engine.freed"]
    engineId: str
    """Id of the inference engine, given by the host. String ≤ 512."""
    reason: EngineFreedReason


class KvRetainReason(TypedDict):
    """Reason of :class:`KvRetain`. Why, with the numbers."""

    code: Literal["tool_time"]
    answers: int
    """Answers of the tool that were seen. Whole number ≥ 0."""
    expectedSeconds: NotRequired[float]
    """How long the tool is expected to take, in seconds, if anything is known of it. Number ≥ 0."""


class KvRetain(AnyDecision):
    """A command. Keep the cache of this program on this engine for so long after its tool has started."""

    type: Literal["kv.retain"]
    requestId: str
    """Id of the request, minted by the policy. String ≤ 1200."""
    engineId: str
    """Id of the inference engine, given by the host. String ≤ 512."""
    seconds: float
    """For how long, in seconds; 0: it may be freed at once. Number ≥ 0."""
    reason: KvRetainReason


class ProgramAwaitedReason(TypedDict):
    """Reason of :class:`ProgramAwaited`. Why, with the numbers."""

    code: Literal["host_restarted"]
    turns: int
    """Turns that it has finished. Whole number ≥ 0."""
    contextTokens: int
    """Tokens of its context. Whole number 0 to 1000000000000."""
    tool: NotRequired[str]
    """The tool that it waits for, if it does."""


class ProgramAwaited(AnyDecision):
    """A notice. After a restart of the host: this program goes on where its last finished turn has ended, and its next
    report is awaited."""

    type: Literal["program.awaited"]
    requestId: str
    """Id of the request, minted by the policy. String ≤ 1200."""
    reason: ProgramAwaitedReason


class ProgramEndedReason(TypedDict):
    """Reason of :class:`ProgramEnded`. Why, with the numbers."""

    code: Literal["closed"]
    turns: int
    """Turns that it has finished. Whole number ≥ 0."""
    moves: int
    """How often a turn ran on another engine than the one before. Whole number ≥ 0."""
    pausedSeconds: float
    """How long it was paused, in seconds. Number ≥ 0."""


class ProgramEnded(AnyDecision):
    """A notice. A program was closed: nothing of it is kept."""

    type: Literal["program.ended"]
    requestId: str
    """Id of the request, minted by the policy. String ≤ 1200."""
    tokens: int
    """Tokens that it has generated, as far as was reported. Whole number 0 to 1000000000."""
    reason: ProgramEndedReason


class ProgramLate(AnyDecision):
    """A notice. A report about a program that is over, or about a turn or a tool that is not running: nothing
    changes."""

    type: Literal["program.late"]
    requestId: str
    """Id of the request, minted by the policy. String ≤ 1200."""
    reason: ChunkLateReason


class ProgramPauseReason(TypedDict):
    """Reason of :class:`ProgramPause`. Why, with the numbers."""

    code: Literal["over_budget"]
    engineId: str
    """Id of the inference engine, given by the host. String ≤ 512."""
    usedTokens: int
    """Tokens of the programs that run on the engine, this one included. Whole number 0 to 1000000000000."""
    budgetTokens: int
    """Tokens that they may have. Whole number 0 to 1000000000000."""


class ProgramPause(AnyDecision):
    """A command. Keep this program from engines until it is resumed; its cache may be freed."""

    type: Literal["program.pause"]
    requestId: str
    """Id of the request, minted by the policy. String ≤ 1200."""
    reason: ProgramPauseReason


class ProgramResumeReason(TypedDict):
    """Reason of :class:`ProgramResume`. Why, with the numbers."""

    code: Literal["fits", "paused_longest"]
    engineId: NotRequired[str]
    """Id of the inference engine, given by the host. String ≤ 512. Only with `fits`."""
    usedTokens: NotRequired[int]
    """Tokens of the programs that run on the engine, this one included. Whole number 0 to 1000000000000. Only with
    `fits`."""
    budgetTokens: NotRequired[int]
    """Tokens that they may have. Whole number 0 to 1000000000000. Only with `fits`."""
    pausedSeconds: float
    """How long it was paused, in seconds. Number ≥ 0."""
    limitSeconds: NotRequired[float]
    """How long a program may be paused, in seconds. Number ≥ 0. Only with `paused_longest`."""


class ProgramResume(AnyDecision):
    """A command. This program runs again: its next turn is routed when it asks for it, or now if it has asked."""

    type: Literal["program.resume"]
    requestId: str
    """Id of the request, minted by the policy. String ≤ 1200."""
    reason: ProgramResumeReason


class TurnRouteReason(TypedDict):
    """Reason of :class:`TurnRoute`. Why, with the numbers."""

    code: Literal["first", "cached", "moved", "engine_lost", "host_restarted", "probe"]
    seconds: float
    """Expected cost there, in seconds of turns: until it would have finished, and by which it would delay those that
    run there. Number ≥ 0."""
    cachedTokens: int
    """Tokens of its context that the engine is believed to have cached. Whole number 0 to 1000000000000."""
    waitedSeconds: float
    """How long the program waited for room, in seconds. Number ≥ 0."""
    stayingSeconds: NotRequired[float]
    """Expected cost on the engine of its last turn, in seconds; absent if that takes no turns. Number ≥ 0. Only with
    `moved`."""
    failures: NotRequired[int]
    """Tries that have failed in this domain, none having succeeded since. Whole number ≥ 0. Only with `probe`."""
    pauseSeconds: NotRequired[float]
    """Time since the single turn before, in seconds. Number ≥ 0. Only with `probe`."""


class TurnRoute(AnyDecision):
    """A command. Run the turn of this program on this engine."""

    type: Literal["turn.route"]
    requestId: str
    """Id of the request, minted by the policy. String ≤ 1200."""
    engineId: str
    """Id of the inference engine, given by the host. String ≤ 512."""
    reason: TurnRouteReason
