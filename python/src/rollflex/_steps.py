"""Steps: what a call does between its answers, written once for threads and for asyncio."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, TypeVar

from ._core import Core
from ._messages import result_of
from ._pending import Again, Pending
from .errors import error_from_reply

T = TypeVar("T")

Steps = Generator[Pending, None, T]
"""Steps: a generator yields calls that must end before it continues, and returns the result."""


def answered(pending: Pending) -> Steps[dict[str, Any]]:
    """Returns the result of a call. Raises the error of the server or the connection."""
    yield pending
    answer = pending.take()
    if "error" in answer:
        raise error_from_reply(answer["error"])
    return result_of(answer)


def call(core: Core, method: str, params: object, again: Again = "same", owner: object = None) -> Steps[dict[str, Any]]:
    """Calls a method and returns its result."""
    return (yield from answered(core.start(method, params, again, owner)))


def all_sessions(core: Core) -> Steps[list[Any]]:
    """Every page of the sessions."""
    found: list[Any] = []
    params: dict[str, Any] = {}
    while True:
        page = yield from call(core, "session.list", params)
        found += page["sessions"]
        if "next" not in page:
            return found
        params = {"after": page["next"]}


def plan_params(planner: str, input: object, deadline: float | None) -> dict[str, Any]:
    given = {} if deadline is None else {"deadlineSeconds": deadline}
    return {"planner": planner, "input": input, **given}


def planned(core: Core, planner: str, input: object, deadline: float | None) -> Steps[Any]:
    result = yield from call(core, "plan", plan_params(planner, input, deadline))
    return result["plan"]
