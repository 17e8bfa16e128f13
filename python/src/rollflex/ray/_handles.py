"""What handles of both kinds share: the actor by its name, and a session as one producer sees it."""

from __future__ import annotations

import time
import uuid
from typing import Any

from .._options import open_params
from ._calls import Actor, Steps, call
from ._mirror import end, mirror_names
from ._pair import names_of
from ._register import forget
from ._sessions import Attached


def opened(actor: Actor, policy: str | None, options: dict[str, Any], deadline: float) -> Steps[Attached]:
    producer = options.pop("producer", None)
    params, named = open_params(policy, options)
    result = yield from call(actor, deadline, "open", params, uuid.uuid4().hex, named)
    found = Attached(actor, result["session"], result["policy"], result["version"], result["seq"], producer)
    if producer is not None:
        yield from found.learn(deadline)
    return found


def all_sessions(actor: Actor, deadline: float) -> Steps[list[Any]]:
    found: list[Any] = []
    params: dict[str, Any] = {}
    while True:
        page = yield from call(actor, deadline, "read", "session.list", params)
        found += page["sessions"]
        if "next" not in page:
            return found
        params = {"after": page["next"]}


class HandleBase:
    def __init__(self, name: str, namespace: str, deadline_seconds: float) -> None:
        self._actor = Actor(name, namespace)
        self.deadline_seconds = deadline_seconds
        """
        Seconds in which a call must be answered, including a move to another node, unless the call says otherwise.
        """

    @property
    def name(self) -> str:
        return self._actor.name

    @property
    def namespace(self) -> str:
        return self._actor.namespace

    def shutdown(self) -> None:
        """
        Ends the actor with its standby, server and mirror, for everybody. The sessions are lost: take snapshots before.
        """
        # Without a configuration, a standby in the making ends itself.
        forget(self.namespace, self.name)
        for name in (*names_of(self.name), *mirror_names(self.name, self.namespace)):
            end(name, self.namespace)

    def _deadline(self, timeout: float | None) -> float:
        return time.monotonic() + (self.deadline_seconds if timeout is None else timeout)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.name, self.namespace, self.deadline_seconds)


class SessionBase:
    def __init__(self, handle: Any, attached: Attached) -> None:
        self._handle = handle
        self._attached = attached

    @property
    def id(self) -> str:
        return self._attached.id

    @property
    def policy(self) -> str:
        return self._attached.policy

    @property
    def version(self) -> int:
        """Version of the policy."""
        return self._attached.version

    @property
    def seq(self) -> int:
        """Number of events that the session has applied, as far as this client knows."""
        return self._attached.seq

    @property
    def producer(self) -> str:
        """Id of this sender: the server counts events per producer."""
        return self._attached.producer

    @property
    def next_seq(self) -> int:
        """Number of applied events of this producer."""
        return self._attached.next_seq

    @property
    def unanswered(self) -> int:
        """Events of a ``send`` that ended without an answer; ``retry`` fetches it."""
        return 0 if self._attached.open_call is None else len(self._attached.open_call[0])

    def __reduce__(self) -> tuple[Any, ...]:
        # Another process is another producer.
        one = self._attached
        return _again, (type(self), self._handle, one.id, one.policy, one.version, one.seq)


def _again(kind: type[Any], handle: Any, id: str, policy: str, version: int, seq: int) -> Any:
    return kind(handle, Attached(handle._actor, id, policy, version, seq, None))
