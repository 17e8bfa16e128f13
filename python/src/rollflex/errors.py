"""What can go wrong. Every error of this package is a :class:`RollflexError`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args

PolicyErrorCode = Literal[
    "invalid_config",
    "invalid_event",
    "invalid_input",
    "unknown_id",
    "duplicate_id",
    "out_of_order",
    "infeasible",
    "snapshot_mismatch",
    "limit_exceeded",
    "closed",
    "internal",
]
"""Why something was refused: a closed set."""

policy_error_codes: tuple[PolicyErrorCode, ...] = get_args(PolicyErrorCode)


class RollflexError(Exception):
    """Base of all errors of this package."""

    def __reduce__(self) -> tuple[Any, ...]:
        # Errors cross processes, together with their further attributes.
        return _rebuild, (type(self), self.args, self.__dict__.copy())


def _rebuild(kind: type[RollflexError], args: tuple[Any, ...], state: dict[str, Any]) -> RollflexError:
    error = kind.__new__(kind, *args)
    error.args = args
    error.__dict__.update(state)
    return error


class PolicyError(RollflexError):
    """A refusal by a policy, a planner, a method or a limit. What was refused has changed nothing."""

    code: PolicyErrorCode
    path: str
    """Path of the bad field, or an empty string."""
    expected: str
    """The expected value."""
    got: str
    """The given value, shortened."""
    index: int | None
    """For a refused event: its index among the sent events, from 0. Earlier events are applied."""
    seq: int | None
    """For a refused event: the number of events that the session has applied."""
    decisions: list[Any]
    """For a refused event: the decisions on the earlier events, which must be carried out."""
    rpc_code: int
    """The JSON-RPC code."""

    def __init__(
        self,
        code: PolicyErrorCode,
        *,
        expected: str,
        got: str,
        path: str = "",
        message: str | None = None,
        index: int | None = None,
        seq: int | None = None,
        decisions: Sequence[Any] = (),
        rpc_code: int = -32000,
    ) -> None:
        where = f"{path}: " if path else ""
        super().__init__(f"{code}: {message or f'{where}expected {expected}, got {got}'}")
        self.code = code
        self.path = path
        self.expected = expected
        self.got = got
        self.index = index
        self.seq = seq
        self.decisions = list(decisions)
        self.rpc_code = rpc_code


class ProtocolError(RollflexError):
    """The other end does not speak the protocol, so the connection is closed."""


class ServerUnavailable(RollflexError, ConnectionError):
    """No server could be started or reached."""


class NodeNotFound(ServerUnavailable):
    """The server needs Node.js, which was not found."""


class NodeTooOld(ServerUnavailable):
    """The server needs a newer Node.js."""


class VersionMismatch(ServerUnavailable):
    """The server's version does not fit this package."""


class EngineUnavailable(RollflexError):
    """
    The policies cannot run in this process: the JavaScript engine or the script is missing, or state that must be kept
    cannot be written any more.
    """


class EngineLimit(RollflexError):
    """
    The policies in this process have reached their limit of memory or time. After a plan they continue; after any other
    call their sessions are gone, because half of an event may have been applied.
    """


class ConnectionLost(RollflexError, ConnectionError):
    """The connection is gone, and could not be made again: what was not answered may have been applied or not."""


class SessionLost(ConnectionLost):
    """The connection works again, but the server has forgotten the session, or a part of what it had acknowledged."""


class ClientClosed(RollflexError):
    """The client, or a rollout on it, was closed; or the client belongs to another process."""


class CallTimeout(RollflexError, TimeoutError):
    """No answer in time. A ``send`` that ends so may have been applied: ``session.retry()`` gets its answer."""


class UnansweredCall(RollflexError):
    """An earlier ``send`` of the session has no answer yet; ``session.retry()`` fetches it."""


def defect(error: Exception) -> ProtocolError:
    """The exception for an error in a thread of the client, with the text of that error, and the error as its cause."""
    made = ProtocolError(f"the client failed: {error!r:.500}")
    made.__cause__ = error
    return made


def error_from_reply(error: object) -> RollflexError:
    """The exception for the ``error`` of an answer."""
    if not isinstance(error, Mapping):
        return ProtocolError(f"an answer whose error is no object: {error!r:.200}")
    data = error.get("data")
    message = error.get("message")
    rpc_code = error.get("code")
    if not isinstance(data, Mapping) or data.get("code") not in policy_error_codes:
        return ProtocolError(f"the server answered with error {rpc_code!r}: {message!r:.500}")
    index, seq, decisions = data.get("index"), data.get("seq"), data.get("decisions")
    return PolicyError(
        data["code"],
        expected=str(data.get("expected", "")),
        got=str(data.get("got", "")),
        path=str(data.get("path", "")),
        message=str(message),
        index=index if isinstance(index, int) else None,
        seq=seq if isinstance(seq, int) else None,
        decisions=decisions if isinstance(decisions, list) else (),
        rpc_code=rpc_code if isinstance(rpc_code, int) else 0,
    )
