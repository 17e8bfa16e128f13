"""What a client knows of a session, to find it again on a new connection."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ._core import Core
from ._steps import Steps, answered, call
from .errors import ClientClosed, PolicyError, SessionLost

Ask = Callable[[str, dict[str, Any]], dict[str, Any]]


class Attachment:
    """A session that is used over a connection which may be made again."""

    rank = 0

    def __init__(self, core: Core, params: dict[str, Any], named: bool) -> None:
        self.core = core
        self.params = params
        self.id: str = params["session"]
        self.error: Exception | None = None
        """Why the attachment cannot be used any more."""
        self.policy = ""
        self.version = 0
        self.seq = 0
        self._opened_seq = 0
        self._named = named

    def open(self) -> Steps[None]:
        core, params = self.core, self.params
        wish = params.get("onExisting", "fail")
        # An id made here can only belong to this client. For a given id, nobody could tell after a lost answer.
        again_params = {**params, "onExisting": "attach"} if wish == "fail" and not self._named else None
        pending = core.start(
            "session.open",
            params,
            "never" if wish == "fail" and self._named else "same",
            again_params=again_params,
        )
        result = yield from answered(pending)
        self.policy, self.version = result["policy"], result["version"]
        self.seq = self._opened_seq = result["seq"]
        core.attach(self)

    def snapshot(self) -> Steps[dict[str, Any]]:
        self.assert_open()
        result = yield from call(self.core, "session.snapshot", {"session": self.id}, owner=self)
        self.applied(result)
        return result

    def why(self, id: str | None, what: str | None) -> Steps[dict[str, Any]]:
        self.assert_open()
        asked = {key: value for key, value in (("id", id), ("what", what)) if value is not None}
        result = yield from call(self.core, "session.why", {"session": self.id, **asked}, owner=self)
        self.applied(result)
        return result

    def close(self) -> Steps[None]:
        """Closes the attachment; closing it twice is no error."""
        if self.error is not None:
            return
        self.core.detach(self)
        self.error = ClientClosed(f"session {self.id} was closed")
        pending = self.core.start("session.close", {"session": self.id})
        try:
            yield from answered(pending)
        except PolicyError as error:
            # The call was sent again after its answer was lost: the session had been closed already.
            if not (error.code == "unknown_id" and pending.sent > 1):
                raise

    def applied(self, data: dict[str, Any]) -> None:
        seq = data.get("seq")
        if isinstance(seq, int) and seq > self.seq:
            self.seq = seq

    def assert_open(self) -> None:
        if self.error is not None:
            raise type(self.error)(*self.error.args)

    def lost(self, error: Exception) -> None:
        if self.error is None:
            self.error = error

    def interrupted(self, error: Exception) -> None:
        pass

    def restore(self, ask: Ask) -> None:
        """Finds the session again. Raises :class:`SessionLost` if it does not exist any more, or has another state."""
        known = {key: value for key, value in self.params.items() if key not in ("snapshot", "armed")}
        untouched = self.seq == self._opened_seq and (self._opened_seq == 0 or "snapshot" in self.params)
        try:
            if untouched:
                known = self.params
            else:
                # An attaching call would make a missing session anew, empty.
                self._assert_there(ask)
            seq = ask("session.open", {**known, "onExisting": "attach"})["seq"]
        except PolicyError as error:
            raise SessionLost(f"the server has no session {self.id} as it was: {error}") from error
        if seq < self.seq:
            raise SessionLost(f"session {self.id} has applied {seq} events, and had acknowledged {self.seq}")

    def _assert_there(self, ask: Ask) -> None:
        try:
            ask("session.send", {"session": self.id, "events": []})
        except PolicyError as error:
            # A full backlog shows that the session exists.
            if error.code != "limit_exceeded":
                raise
