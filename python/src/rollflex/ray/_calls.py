"""Calls of an actor that may be on its way to another node: made again until they are answered, or a deadline."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Generator
from concurrent import futures
from typing import Any, TypeVar, cast

import ray
from ray import ObjectRef
from ray.exceptions import ActorDiedError, RayError, RayTaskError

from ..errors import CallTimeout, ConnectionLost, RollflexError, ServerUnavailable, SessionLost
from ._pair import answer_of, names_of
from .actor import Elsewhere

T = TypeVar("T")

Steps = Generator["tuple[ObjectRef[Any], float] | float", Any, T]
"""
Steps for calls to actors: a generator yields an awaited reference with its time limit in seconds (after which it gets a
TimeoutError, and may yield the reference again), or seconds to pass. It returns the result.
"""

_first_delay = 0.05
_longest_delay = 0.25
_look_seconds = 0.5
_status_seconds = 1.0
_most_stays = 3


class Actor:
    """The two actors of a server, found by name: one serves, and the other stands by."""

    def __init__(self, name: str, namespace: str) -> None:
        self.name = name
        self.namespace = namespace
        self._names = names_of(name)
        self._at = 0
        self._handles: list[Any] = [None, None]

    def handle(self) -> Any:
        """The serving actor, as far as known. Raises :class:`ServerUnavailable` if there is none any more."""
        found = self._find(self._at)
        if found is None:
            self._at = 1 - self._at
            found = self._find(self._at)
        if found is None:
            raise ServerUnavailable(
                f"there is no actor {self.name} in namespace {self.namespace}: it was shut down, was never made, "
                "or has used up its max_restarts"
            )
        return found

    def other(self) -> Any:
        """The other actor; None if there is none."""
        return self._find(1 - self._at)

    def switch(self) -> None:
        self._at = 1 - self._at

    def forget(self) -> None:
        self._handles[self._at] = None

    def _find(self, index: int) -> Any:
        if self._handles[index] is None:
            with contextlib.suppress(ValueError):
                self._handles[index] = ray.get_actor(self._names[index], self.namespace)
        return self._handles[index]


def call(actor: Actor, deadline: float, method: str, *args: Any) -> Steps[Any]:
    """
    Calls a method of the actor. The method must be safe to repeat, because a call whose answer is lost is made again.

    :raises ServerUnavailable: the actor does not exist any more
    :raises CallTimeout: there was no answer until the deadline
    """
    delay = _first_delay
    last: BaseException | None = None
    stays = 0
    while True:
        if time.monotonic() >= deadline:
            raise CallTimeout(f"no answer to {method} of actor {actor.name} in time; last: {last}") from last
        ref = getattr(actor.handle(), method).remote(*args)
        try:
            return (yield from _answer_to(actor, ref, deadline))
        except RayTaskError as error:
            cause = error.cause
            if isinstance(cause, Elsewhere):
                last = cause
                # A caller that does not see the server either may soon start it itself, but it may also be cut off
                # alone.
                stays = 0 if cause.well or stays == _most_stays else stays + 1
                if not stays:
                    actor.switch()
            elif isinstance(cause, ConnectionLost) and not isinstance(cause, SessionLost):
                # The server process died during the call; its actor starts another one.
                last = cause
            elif isinstance(cause, RollflexError | ValueError | TypeError):
                raise cause from None
            else:
                raise
        except ActorDiedError as error:
            last = error
            actor.forget()
            actor.switch()
        except (RayError, asyncio.TimeoutError, TimeoutError) as error:
            last = error
            actor.switch()
        yield min(delay, max(0.0, deadline - time.monotonic()))
        delay = min(delay * 2, _longest_delay)


def _answer_to(actor: Actor, ref: Any, deadline: float) -> Steps[Any]:
    """
    Returns the answer. Raises :class:`TimeoutError` if no answer will come as far as known, because another actor
    serves.
    """
    while True:
        try:
            return (yield ref, _look_seconds)
        except (asyncio.TimeoutError, TimeoutError):
            if time.monotonic() >= deadline:
                raise
        other = actor.other()
        if other is None:
            continue
        try:
            status = yield other.status.remote(), _status_seconds
        except (RayError, asyncio.TimeoutError, TimeoutError):
            continue
        if status["serves"]:
            raise TimeoutError("another actor has taken over")


def run(steps: Steps[T], deadline: float) -> T:
    """Drives steps, and blocks meanwhile."""
    try:
        step = next(steps)
        while True:
            if isinstance(step, float):
                time.sleep(step)
                step = steps.send(None)
                continue
            ref, seconds = step
            try:
                # `ray.get` is avoided, because it warns in async actors even on a separate thread.
                value = ref.future().result(min(seconds, _patience(deadline)))
            except (TimeoutError, futures.TimeoutError) as error:
                step = steps.throw(TimeoutError(str(error)))
            except RayError as error:
                step = steps.throw(error)
            else:
                step = steps.send(value)
    except StopIteration as stop:
        return cast(T, stop.value)


async def run_async(steps: Steps[T], deadline: float) -> T:
    """Drives steps in an event loop."""
    try:
        step = next(steps)
        while True:
            if isinstance(step, float):
                await asyncio.sleep(step)
                step = steps.send(None)
                continue
            ref, seconds = step
            try:
                value = await asyncio.wait_for(answer_of(ref), min(seconds, _patience(deadline)))
            except (asyncio.TimeoutError, RayError) as error:
                step = steps.throw(error)
            else:
                step = steps.send(value)
    except StopIteration as stop:
        return cast(T, stop.value)


def _patience(deadline: float) -> float:
    return max(0.001, deadline - time.monotonic())
