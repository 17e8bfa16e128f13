"""
What several clients called and were told, written down as it happens, in the format of
`test/support/servers/check-histories.ts`; and a host that can be one of many. As a program, it is a client in a process
of its own: ``python histories.py FOLDER SOCKET SESSION PRODUCER SEED``.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import os
import random
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import rollflex
from rollflex import AsyncClient, Client, PolicyError, Reconnect

root = Path(__file__).resolve().parents[2]
quick = Reconnect(limit_seconds=60, first_delay_seconds=0.001, longest_delay_seconds=0.01, most_sendings=50)
policy: Any = "reward-dispatch"
most_answers = 40 * int(os.environ.get("ROLLFLEX_HISTORY_ROUNDS", "1"))
"""On a busy machine a test lasts longer: an order of several hundred calls that were given up is searched for minutes."""
config: Any = {"defaultKind": "rule"}


class Recorder:
    """Writes the history of a process."""

    def __init__(self, folder: Path) -> None:
        self._file = (folder / f"{os.getpid()}.jsonl").open("a", buffering=1)
        self.close = self._file.close
        self._ids = itertools.count()

    @contextlib.contextmanager
    def call(self, method: str, params: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Records a call, with what is put into the result; no answer if it ends by anything but a refusal."""
        call = f"{os.getpid()}-{next(self._ids)}"
        result: dict[str, Any] = {}
        self._write({"call": call, "method": method, "params": params, "from": time.monotonic_ns()})
        try:
            yield result
        except PolicyError as error:
            data: dict[str, Any] = {
                "code": error.code,
                "path": error.path,
                "expected": error.expected,
                "got": error.got,
            }
            if error.index is not None:
                data |= {"index": error.index, "seq": error.seq, "decisions": error.decisions}
            self._write({"answer": call, "to": time.monotonic_ns(), "error": {"data": data}})
            raise
        self._write({"answer": call, "to": time.monotonic_ns(), "result": result})

    def streamed(self, session: str, begun: int, number: int, decision: Any) -> None:
        line = {"session": session, "from": begun, "to": time.monotonic_ns(), "first": number, "decisions": [decision]}
        self._write(line)

    def _write(self, line: dict[str, Any]) -> None:
        self._file.write(json.dumps(line) + "\n")


class Host:
    """One of several that ask for rewards, and report those that they were told of."""

    def __init__(self, name: str, seed: int) -> None:
        self._name = name
        self._random = random.Random(seed)
        self._asked = 0
        self._running: list[str] = []

    def events(self) -> list[Any]:
        return [self._event() for _ in range(self._random.randint(1, 3))]

    def _event(self) -> dict[str, Any]:
        if self._random.random() < 0.6 or not self._running:
            self._asked += 1
            return {"type": "reward.requested", "at": 1, "requestId": f"{self._name}-{self._asked}"}
        # It may be reported twice, and after a fault comes another.
        one = self._random.choice(self._running)
        if self._random.random() < 0.8:
            self._running.remove(one)
        ended: dict[str, Any] = {"type": "reward.finished", "at": 1, "dispatchId": one, "seconds": 1}
        if self._random.random() < 0.5:
            return {**ended, "outcome": "scored", "reward": 1}
        return {**ended, "outcome": "infrastructure"}

    def see(self, decisions: list[Any]) -> None:
        self._running += [one["dispatchId"] for one in decisions if one["type"] == "reward.dispatch"]


def params_of(session: Any, events: list[Any]) -> dict[str, Any]:
    return {"session": session.id, "producer": session.producer, "firstSeq": session.next_seq, "events": events}


def use(client: Client, recorder: Recorder, session_id: str, producer: str, seed: int, stop: threading.Event) -> int:
    """Sends to a session of several until it is told to stop, and reads it now and then; how often it was answered."""
    host, chance, answers = Host(f"{producer}-{seed}", seed), random.Random(seed), 0
    with recorder.call("session.send", {"session": session_id, "producer": producer, "events": []}) as learned:
        session: Any = client.open(policy, session=session_id, on_existing="attach", producer=producer)
        learned["nextSeq"] = session.next_seq
    while not stop.is_set():
        events = host.events()
        with contextlib.suppress(PolicyError), recorder.call("session.send", params_of(session, events)) as result:
            result["decisions"] = sent(session, events)
            result["nextSeq"] = session.next_seq
            host.see(result["decisions"])
        answers += 1
        time.sleep(0.01 * chance.random())
        if answers >= most_answers:
            stop.wait()
        if chance.random() < 0.2:
            with recorder.call("session.snapshot", {"session": session_id}) as result:
                result["snapshot"] = session.snapshot()
    return answers


def sent(session: Any, events: list[Any]) -> list[Any]:
    """The decisions; an answer that does not come in time is asked for again."""
    again = False
    while True:
        try:
            decisions: list[Any] = session.retry(timeout=0.2) if again else session.send(events, timeout=0.2)
            return decisions
        except (rollflex.CallTimeout, rollflex.ConnectionLost):
            again = session.unanswered > 0


async def use_in_loop(
    client: AsyncClient, recorder: Recorder, session_id: str, producer: str, seed: int, stop: threading.Event
) -> int:
    """The same on asyncio, where calls are given up by cancellation."""
    host, chance, answers = Host(f"{producer}-{seed}", seed), random.Random(seed), 0
    session: Any = await client.open(policy, session=session_id, on_existing="attach", producer=producer)
    while not stop.is_set():
        events = host.events()
        with contextlib.suppress(PolicyError), recorder.call("session.send", params_of(session, events)) as result:
            try:
                result["decisions"] = await asyncio.wait_for(session.send(events), chance.choice([0.001, 0.05, 5]))
            except (asyncio.TimeoutError, rollflex.ConnectionLost):
                result["decisions"] = await session.retry() if session.unanswered else []
                if not session.unanswered and not result["decisions"]:
                    # It was answered just as it was given up.
                    del result["decisions"]
            result["nextSeq"] = session.next_seq
            host.see(result.get("decisions", []))
        answers += 1
        await asyncio.sleep(0.01 * chance.random())
        while answers >= most_answers and not stop.is_set():
            await asyncio.sleep(0.05)
        if chance.random() < 0.2:
            with recorder.call("session.list", {}) as result:
                result["sessions"] = await client.sessions()
    return answers


def read(client: Client, recorder: Recorder, session_id: str, stop: threading.Event) -> int:
    """Subscribes until it is told to stop and has got all; how many decisions came."""
    session: Any = client.open(policy, session=session_id, on_existing="attach")
    begun = time.monotonic_ns()
    last = 0
    with session.subscribe() as subscription:
        while True:
            try:
                number, decision = subscription.get(timeout=0.05)
            except (rollflex.CallTimeout, rollflex.ConnectionLost):
                if stop.is_set() and client.call("session.snapshot", {"session": session_id})["decisionSeq"] == last:
                    return last
                continue
            assert number == last + 1, "each decision comes once, in order"
            last = number
            recorder.streamed(session_id, begun, number, decision)
            if number % 3 == 0:
                subscription.ack(number)


def check(folder: Path) -> dict[str, Any]:
    """Checks what was recorded in a folder; what was counted."""
    checker = root / "test" / "support" / "servers" / "check-histories.ts"
    done = subprocess.run(
        ["node", "--import", "tsx", str(checker), str(folder)], cwd=root, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    counts: dict[str, Any] = json.loads(done.stdout)
    return counts


def main(folder: str, socket: str, session_id: str, producer: str, seed: str) -> None:
    stop = threading.Event()

    def wait_for_end() -> None:
        sys.stdin.read()
        stop.set()

    with Client.connect(socket, reconnect=quick, timeout=120) as client:
        threading.Thread(target=wait_for_end, daemon=True).start()
        print("connected", flush=True)
        use(client, Recorder(Path(folder)), session_id, producer, int(seed), stop)


if __name__ == "__main__":
    main(*sys.argv[1:])
