"""Requests in flight: one task each, which ends with exactly one report."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any, Generic

from .host import GenerationFailed, Host, Launch, P, R, Response

logger = logging.getLogger("rollflex")
_longest_message = 1000

Report = Callable[[Launch[P, R], "dict[str, Any]", "Response[R] | None"], None]


class Flight(Generic[P, R]):
    """A launched request whose end was not reported."""

    def __init__(self, launch: Launch[P, R]) -> None:
        self.launch = launch
        self.aborting = False
        self.begun = False
        self.reported = False
        self.task: asyncio.Task[None] | None = None
        self.abort_task: asyncio.Task[None] | None = None


class Flights(Generic[P, R]):
    """Launches, aborts, and reports."""

    def __init__(
        self,
        host: Host[P, R],
        report: Report[P, R],
        unusable: Callable[[Exception], None],
        *,
        abort_seconds: float,
    ) -> None:
        """``unusable``: no request can succeed."""
        self._host = host
        self._report = report
        self._unusable = unusable
        self._abort_seconds = abort_seconds
        self._flights: dict[str, Flight[P, R]] = {}

    def __len__(self) -> int:
        return len(self._flights)

    def launch(self, launch: Launch[P, R]) -> None:
        """Starts a request, at once: when a retry is due is decided by the policy alone."""
        flight = Flight(launch)
        self._flights[launch.request_id] = flight
        flight.task = asyncio.get_running_loop().create_task(self._fly(flight))
        # A task that is cancelled before its first step never runs, so the callback ends the flight.
        flight.task.add_done_callback(lambda _: self._finish(flight, {"type": "request.aborted"}, None))

    def on_engine(self, engine_id: str) -> list[str]:
        """Requests that were launched on this engine."""
        return [id for id, flight in self._flights.items() if flight.launch.engine_id == engine_id]

    def abort(self, request_id: str) -> None:
        """Stops a request. Nothing is done for a request that has ended, since its end is reported."""
        flight = self._flights.get(request_id)
        if flight is None or flight.aborting:
            return
        flight.aborting = True
        assert flight.task is not None
        if flight.begun:
            flight.abort_task = asyncio.get_running_loop().create_task(self._stop(flight))
        else:
            flight.task.cancel()

    def cancel(self, request_id: str) -> None:
        """Ends a request whatever the engine does, because nobody waits for it any more."""
        flight = self._flights.get(request_id)
        if flight is not None and flight.task is not None:
            flight.aborting = True
            flight.task.cancel()

    async def abort_all(self) -> None:
        """Aborts every request of this rollout one by one, and waits for their ends."""
        tasks = [flight.task for flight in self._flights.values() if flight.task is not None]
        for request_id in list(self._flights):
            self.abort(request_id)
        if tasks:
            await asyncio.wait(tasks, timeout=self._abort_seconds + 1)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _fly(self, flight: Flight[P, R]) -> None:
        launch = flight.launch
        event: dict[str, Any]
        response: Response[R] | None = None
        try:
            flight.begun = True
            response = await self._host.generate(launch)
        except asyncio.CancelledError:
            # Whoever cancelled the request, it is over, and the policy decides what follows.
            event = {"type": "request.aborted"}
        except Exception as error:
            kind = error.kind if isinstance(error, GenerationFailed) else "infrastructure"
            if kind == "setup":
                # Before the report: the policy must not charge the prompt.
                self._unusable(error)
            message = f"{type(error).__name__}: {error}"[:_longest_message]
            # The end of a rollout is logged once.
            level = logging.DEBUG if kind == "setup" else logging.WARNING
            logger.log(level, "request %s failed (%s): %s", launch.request_id, kind, message)
            event = {"type": "response.failed", "kind": kind, "message": message}
            if flight.aborting:
                event = {"type": "request.aborted"}
        else:
            ended = "response.completed" if response.finished else "request.aborted"
            event = {"type": ended, "tokens": response.tokens}
            if response.weight_versions is not None:
                event["weightVersions"] = sorted(set(response.weight_versions))
        self._finish(flight, event, response)

    def _finish(self, flight: Flight[P, R], event: dict[str, Any], response: Response[R] | None) -> None:
        if flight.reported:
            return
        flight.reported = True
        self._flights.pop(flight.launch.request_id, None)
        event["requestId"] = flight.launch.request_id
        self._report(flight.launch, event, response)

    async def _stop(self, flight: Flight[P, R]) -> None:
        """Asks the engine, and ends the request here if that does not help."""
        assert flight.task is not None
        try:
            asked = await asyncio.wait_for(self._host.abort(flight.launch), self._abort_seconds)
            if asked is not False:
                await asyncio.wait([flight.task], timeout=self._abort_seconds)
        except asyncio.TimeoutError:
            pass
        except Exception as error:
            logger.warning("request %s could not be aborted: %r", flight.launch.request_id, error)
            if isinstance(error, GenerationFailed) and error.kind == "setup":
                self._unusable(error)
        if not flight.task.done():
            flight.task.cancel()
