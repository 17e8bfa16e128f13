"""
Logs in Python: why something waits, whether this version decides as a log says, and how two logs differ. A log is a file
of ``recordEvents``, or the folder (or files) of ``log_dir``. It is played in this process, by the engine of the policies;
for a long log the command ``rollflex explain``, which keeps an index, is much faster.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, TypedDict, cast

from ._engine import ask_logs
from .errors import PolicyError

__all__ = [
    "ChainStep",
    "Explanation",
    "LogComparison",
    "LogExplanation",
    "LogReplay",
    "Paths",
    "Place",
    "Standpoint",
    "compare_logs",
    "explain",
    "explanation_text",
    "replay",
]

Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
"""A file, a folder, or files of one log in their order."""


class Place(TypedDict, total=False):
    """A place in a session; one of these keys."""

    seq: int
    """The state after this event."""
    at: float
    """The state at this time of the session's clock, in seconds."""


class Standpoint(TypedDict, total=False):
    """Where a thing stands."""

    what: str
    id: str
    stands: str
    since: float


class ChainStep(TypedDict):
    """An event that led to a standing."""

    seq: int
    at: float
    event: dict[str, Any]
    decisions: list[dict[str, Any]]


class _Explanation(TypedDict):
    session: str
    policy: str
    seq: int
    at: float
    verdict: Literal["stuck", "suspended", "stalled", "waits", "idle", "ended", "unborn", "unknown"]
    through: list[Standpoint]
    owed: list[dict[str, Any]]
    more: int
    chain: list[ChainStep]
    notes: list[str]


class Explanation(_Explanation, total=False):
    """Why something, or a whole session, waits: the fields of ``Explanation`` in the npm package."""

    asked: dict[str, Any]
    standing: Standpoint
    stalled: dict[str, Any]
    suspended: list[dict[str, Any]]
    singles: list[dict[str, Any]]


class LogExplanation(TypedDict):
    """Explanations of a log; sessions that are stuck, suspended or stalled come first."""

    sessions: list[Explanation]
    droppedLines: int
    tornFiles: int


class LogReplay(TypedDict):
    """Result of a replay; ``groups`` is empty if every decision is as logged."""

    sessions: list[dict[str, Any]]
    groups: list[dict[str, Any]]
    droppedLines: int
    tornFiles: int


class LogComparison(TypedDict):
    """Differences between two logs, by session."""

    sessions: list[dict[str, Any]]
    onlyOne: list[str]
    onlyOther: list[str]


def explain(
    log: Paths,
    *,
    prompt: str | None = None,
    request: str | None = None,
    round: str | None = None,
    engine: str | None = None,
    gpu: str | None = None,
    id: str | None = None,
    at: Place | None = None,
    session: str | None = None,
) -> LogExplanation:
    """
    Says what a log waits for: who has to act, since when, and why. Give at most one id; without an id, the answer
    covers each session.

    Raises :class:`PolicyError` `unknown_id` for an id or a session that the log lacks, `invalid_input` for two ids, an
    event that the log lacks, or a broken line; `OSError` for files that cannot be read.
    """
    asked = {"prompt": prompt, "request": request, "round": round, "engine": engine, "gpu": gpu, "id": id}
    options = {name: value for name, value in {**asked, "at": at, "session": session}.items() if value is not None}
    return cast(LogExplanation, ask_logs("explain", _files(log), options))


def explanation_text(explanation: Explanation, *, whole: bool = False) -> list[str]:
    """
    An explanation in words: at most three lines of 80 columns, and notes.

    :param whole: also lists everything that is owed, and the events and reasons before
    """
    return cast(list[str], ask_logs("text", explanation, whole))


def replay(log: Paths, *, session: str | None = None) -> LogReplay:
    """
    Plays a log again, and compares every decision.

    Raises :class:`PolicyError` `unknown_id` if the log has no such session; else as :func:`explain` does.
    """
    return cast(LogReplay, ask_logs("replay", _files(log), {} if session is None else {"session": session}))


def compare_logs(one: Paths, other: Paths, *, session: str | None = None) -> LogComparison:
    """
    Compares two logs: of each session the first event or decision that differs, and what followed.

    Raises :class:`PolicyError` `invalid_input` for sessions of different policies, `unknown_id` for a log without the
    session; else as :func:`explain` does.
    """
    given = (_files(one), _files(other))
    return cast(LogComparison, ask_logs("compare", *given, *(() if session is None else (session,))))


def _files(log: Paths) -> list[tuple[str, str]]:
    paths = [log] if isinstance(log, str | os.PathLike) else log
    return [(file.name, file.read_text(encoding="utf-8")) for path in paths for file in _in(Path(path))]


def _in(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    files = sorted(path.glob("decisions-*.jsonl"))
    if not files:
        expected = "a folder with a decision log, or a file"
        raise PolicyError("invalid_input", path=str(path), expected=expected, got="no file decisions-….jsonl")
    return files
