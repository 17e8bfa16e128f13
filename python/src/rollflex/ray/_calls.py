"""Calls of an actor that may be on its way to another node: made again until they are answered, or a deadline."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Generator
from concurrent import futures
from typing import Any, TypeVar, cast

import ray
from ray.exceptions import ActorDiedError, RayError, RayTaskError

from ..errors import CallTimeout, ConnectionLost, RollflexError, ServerUnavailable, SessionLost

T = TypeVar("T")

Steps = Generator["ray.ObjectRef[Any] | float", None, T]
"""Yields what must have come, or seconds that must have passed, before it goes on; returns the result."""

_first_delay = 0.05
_longest_delay = 1.0


class Actor:
    """The server's actor by its name, wherever it is."""

    def __init__(self, name: str, namespace: str) -> None:
        self.name = name
        self.namespace = namespace
        self._handle: Any = None

    def handle(self) -> Any:
        """Raises :class:`ServerUnavailable` where there is none any more."""
        if self._handle is None:
            try:
                self._handle = ray.get_actor(self.name, self.namespace)
            except ValueError as error:
                raise ServerUnavailable(
                    f"there is no actor {self.name} in namespace {self.namespace}: it was shut down, was never made, "
                    "or has used up its max_restarts"
                ) from error
        return self._handle

    def forget(self) -> None:
        self._handle = None


def call(actor: Actor, deadline: float, method: str, *args: Any) -> Steps[Any]:
    """
    Calls a method of the actor. It must be one that may be done twice: an answer that is lost is asked for again.

    :raises ServerUnavailable: the actor is no more
    :raises CallTimeout: there was no answer until the deadline
    """
    delay = _first_delay
    last: BaseException | None = None
    while True:
        if time.monotonic() >= deadline:
            raise CallTimeout(f"no answer to {method} of actor {actor.name} in time; last: {last}") from last
        ref = getattr(actor.handle(), method).remote(*args)
        try:
            return (yield ref)
        except RayTaskError as error:
            cause = error.cause
            if isinstance(cause, ConnectionLost) and not isinstance(cause, SessionLost):
                # The server died under it; its actor makes another one.
                last = cause
            elif isinstance(cause, RollflexError | ValueError | TypeError):
                raise cause from None
            else:
                raise
        except ActorDiedError as error:
            last = error
            actor.forget()
        except (RayError, asyncio.TimeoutError, TimeoutError) as error:
            last = error
        yield min(delay, max(0.0, deadline - time.monotonic()))
        delay = min(delay * 2, _longest_delay)


def run(steps: Steps[T], deadline: float) -> T:
    """Drives steps, and blocks meanwhile."""
    try:
        step = next(steps)
        while True:
            if isinstance(step, float):
                time.sleep(step)
                step = steps.send(None)
                continue
            try:
                # Not `ray.get`, which warns in async actors even on a thread of its own.
                value = step.future().result(_patience(deadline))
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
            try:
                value = await asyncio.wait_for(_answer(step), _patience(deadline))
            except (asyncio.TimeoutError, RayError) as error:
                step = steps.throw(error)
            else:
                step = steps.send(value)
    except StopIteration as stop:
        return cast(T, stop.value)


async def _answer(ref: Any) -> Any:
    return await ref


def _patience(deadline: float) -> float:
    return max(0.001, deadline - time.monotonic())
