"""
What the policy costs a host: 64 workers that complete 10,000 responses a minute, with the loop of `rollflex.rollout`
and without. Prints CPU time of the host's process, and whether a server that stands still holds generation up.

    python bench/rollout.py [SECONDS]
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).parents[1] / name) for name in ("src", "tests")]

import rollflex  # noqa: E402
from rollflex.rollout import Host, Launch, Response, Rollout, Supplied  # noqa: E402
from support import Served  # noqa: E402

workers, per_worker, pace = 64, 10, 10_000 / 60
# Those that are aborted run for a while too.
response_seconds = 0.65 * workers * per_worker / pace
config = {
    "promptsPerRound": 128,
    "responsesPerPrompt": 8,
    "promptSpeculation": 1.25,
    "responseSpeculation": 1.25,
    "maxInFlight": workers * per_worker,
}


class Sleeping(Host[int, None]):
    """A response is a sleep."""

    def __init__(self) -> None:
        self.next = 0
        self.completed = 0
        self.latest_gap = 0.0
        self._last = time.monotonic()

    async def supply(self, count: int, domains: Mapping[str, int] | None) -> Sequence[Supplied[int]]:
        self.next += count
        return [Supplied(f"prompt-{id}", id) for id in range(self.next - count, self.next)]

    async def generate(self, launch: Launch[int, None]) -> Response[None]:
        # Spread, without being random.
        spread = (hash(launch.request_id) & 1023) / 1023
        await asyncio.sleep(response_seconds * (0.5 + spread))
        self.mark()
        return Response(None, 500)

    def mark(self) -> None:
        self.completed += 1
        now = time.monotonic()
        self.latest_gap, self._last = max(self.latest_gap, now - self._last), now

    async def abort(self, launch: Launch[int, None]) -> bool | None:
        return False

    async def give_back(self, prompts: Sequence[Supplied[int]]) -> None:
        pass


async def without_policy(seconds: float) -> tuple[float, float]:
    """As many responses, in as many tasks, and nobody who decides."""
    host, until = Sleeping(), time.monotonic() + seconds

    async def worker(number: int) -> None:
        launch: Any = Launch(f"warm-{number}", "", 0, "", 0, 0)
        while time.monotonic() < until:
            task = asyncio.ensure_future(host.generate(Launch(f"{number}-{host.completed}", "", 0, "", 0, 0)))
            await asyncio.wait([task], timeout=max(0.0, until - time.monotonic()))
            task.cancel()
        del launch

    before = time.process_time()
    await asyncio.gather(*(worker(number) for number in range(workers * per_worker)))
    return time.process_time() - before, host.completed / seconds


async def with_policy(seconds: float, served: Served) -> dict[str, float]:
    host = Sleeping()
    async with rollflex.AsyncClient.connect(served.address) as client:
        rollout = await Rollout.open(client, host, config)
        step = 0

        async def rounds() -> None:
            nonlocal step
            while True:
                step += 1
                await rollout.round(step)

        before = time.process_time()
        training = asyncio.ensure_future(rounds())
        await asyncio.sleep(seconds)
        cpu = time.process_time() - before
        found = {
            "cpu": cpu,
            "pace": host.completed / seconds,
            "calls": rollout.outbox.calls / seconds,
            "in_calls": rollout.outbox.busy_seconds / seconds,
            "rounds": step,
        }
        # The server stands still: what runs goes on, and completes.
        os.kill(served.process.pid, signal.SIGSTOP)
        stopped_at, host.latest_gap = host.completed, 0.0
        await asyncio.sleep(1.5)
        found["completed while stopped"] = host.completed - stopped_at
        found["gap"] = host.latest_gap
        os.kill(served.process.pid, signal.SIGCONT)
        training.cancel()
        await asyncio.gather(training, return_exceptions=True)
        await rollout.close()
    return found


def main() -> None:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 30.0
    bare, bare_pace = asyncio.run(without_policy(seconds))
    with tempfile.TemporaryDirectory(prefix="rf") as folder:
        served = Served("--socket", f"{folder}/s")
        try:
            found = asyncio.run(with_policy(seconds, served))
        finally:
            served.process.send_signal(signal.SIGCONT)
            served.stop()
    share = (found["cpu"] - bare * found["pace"] / bare_pace) / seconds
    print(f"without: {bare_pace * 60:.0f} responses a minute, {bare / seconds:.2%} of a core")
    print(f"with:    {found['pace'] * 60:.0f} responses a minute, {found['cpu'] / seconds:.2%} of a core")
    print(f"policy:  {share:.2%} of a core, in {found['calls']:.1f} calls a second")
    print(f"stopped: {found['completed while stopped']:.0f} responses in 1.5 s, {found['gap']:.3f} s apart at most")


main()
