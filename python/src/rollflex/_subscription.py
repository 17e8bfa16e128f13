"""A subscription to the decisions of a session, on whatever connection there is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ._attachment import Ask, Attachment
from ._steps import Steps, call
from .errors import PolicyError, SessionLost

Item = tuple[int, Any]
End = Exception | None


class Subscribed:
    """Gives each decision once and in order."""

    rank = 1

    def __init__(self, session: Attachment, after: int | None, types: list[str] | None) -> None:
        self.session = session
        self.core = session.core
        self.types = types
        self.given = after or 0
        """Number of the last decision that was handed on."""
        self.acknowledged = after or 0
        self.closed_because: str | None = None
        """``closed`` or ``replaced``, when the server has closed the session."""
        self._after = after
        self.take: Callable[[Item], None] = lambda item: None
        self.end: Callable[[End], None] = lambda error: None

    def open(self) -> Steps[None]:
        self.session.assert_open()
        readers = self.core.readers
        if self.session.id in readers:
            raise PolicyError(
                "duplicate_id",
                expected="one subscription of a client to a session",
                got=self.session.id,
                path="session",
            )
        readers[self.session.id] = self
        try:
            yield from call(self.core, "session.subscribe", self._params(self._after), owner=self.session)
        except BaseException:
            readers.pop(self.session.id, None)
            raise
        self.core.attach(self)

    def acknowledge(self, decision_seq: int) -> None:
        """Acknowledges decisions. Raises `out_of_order` for decisions that were not given yet."""
        if decision_seq > self.given:
            expected = f"a number that was given, at most {self.given}"
            raise PolicyError("out_of_order", expected=expected, got=str(decision_seq), path="decisionSeq")
        if decision_seq <= self.acknowledged:
            return
        self.acknowledged = decision_seq
        # If the acknowledgement does not arrive, the next connection begins after this decision.
        self.core.notify("session.ack", {"session": self.session.id, "decisionSeq": decision_seq})

    def close(self) -> Steps[None]:
        """Decisions that were not acknowledged stay in the backlog of the session."""
        if self.core.readers.get(self.session.id) is not self:
            return
        self._leave(None)
        if self.session.error is None:
            yield from call(self.core, "session.unsubscribe", {"session": self.session.id}, owner=self.session)

    def notified(self, method: str, params: dict[str, Any]) -> None:
        if method == "session.decision":
            number = params["decisionSeq"]
            if number > self.given:
                self.given = number
                self.take((number, params["decision"]))
        elif method == "session.closed":
            self.closed_because = str(params.get("reason"))
            self._leave(None)

    def restore(self, ask: Ask) -> None:
        """Subscribes again after the last acknowledged decision, and skips decisions that were given already."""
        try:
            ask("session.subscribe", self._params(self.acknowledged))
        except PolicyError as error:
            if error.code != "out_of_order":
                raise
            self._skip_forgotten(ask)

    def lost(self, error: Exception) -> None:
        self._leave(error)

    def interrupted(self, error: Exception) -> None:
        self.end(error)

    def _skip_forgotten(self, ask: Ask) -> None:
        """
        Other subscribers have acknowledged more than this one. Nothing is missing if this one has received those
        decisions, too.
        """
        forgotten = ask("session.subscribe", self._params(None))["acknowledged"]
        if not self.acknowledged <= forgotten <= self.given:
            text = f"decisions {self.given + 1} to {forgotten} of session {self.session.id} are not kept any more"
            raise SessionLost(text)

    def _params(self, after: int | None) -> dict[str, Any]:
        params: dict[str, Any] = {"session": self.session.id}
        if after is not None:
            params["after"] = after
        if self.types is not None:
            params["types"] = self.types
        return params

    def _leave(self, error: End) -> None:
        if self.core.readers.get(self.session.id) is self:
            del self.core.readers[self.session.id]
        self.core.detach(self)
        self.end(error)
