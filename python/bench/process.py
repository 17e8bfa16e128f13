"""
The policies in this process, for long and by many threads. In `python/`, after `npm run build:python`:

    PYTHONPATH=src:tests python bench/process.py memory 1000000
    PYTHONPATH=src:tests python bench/process.py threads 4

`memory` sends so many events to a session, opens and closes others beside it, and says what the process takes.
`threads` has sessions of their own for 1, 2, … threads: all in one engine, which one thread at a time may use, or each
in an engine of its own; in turn, so that what else the machine does hits both.
"""

from __future__ import annotations

import gc
import statistics
import sys
import threading
import time
from pathlib import Path

import rollflex
from support import Day, tail, tail_batching

calls = 3000
runs = 5


def resident() -> float:
    """MiB of this process."""
    gc.collect()
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    raise AssertionError("no VmRSS")


def memory(most: int) -> None:
    print(f"{'events':>10} {'MiB':>8}")
    print(f"{'no client':>10} {resident():8.1f}")
    with rollflex.Client() as client:
        print(f"{'0':>10} {resident():8.1f}")
        session, day = client.open(tail_batching, config=tail), Day(1)
        sent, said = 0, 1000
        while sent < most:
            with client.open(tail_batching, config=tail) as other:
                twin = Day(2)
                for _ in range(10):
                    twin.see(other.send(twin.events(8)))
            for _ in range(200):
                events = day.events(8)
                day.see(session.send(events))
                sent += len(events)
                if sent >= said:
                    print(f"{sent:10} {resident():8.1f}", flush=True)
                    said *= 10
        print("bytes of the session:", len(str(session.snapshot())))


def pace(clients: list[rollflex.Client], threads: int) -> float:
    """Events a second of so many threads, which share the clients there are."""
    sent = [0] * threads
    sessions = [clients[number % len(clients)].open(tail_batching, config=tail) for number in range(threads)]

    def work(number: int) -> None:
        session, day = sessions[number], Day(number)
        for _ in range(calls):
            events = day.events(8)
            day.see(session.send(events))
            sent[number] += len(events)

    working = [threading.Thread(target=work, args=(number,)) for number in range(threads)]
    begun = time.perf_counter()
    for one in working:
        one.start()
    for one in working:
        one.join()
    seconds = time.perf_counter() - begun
    for session in sessions:
        session.close()
    return sum(sent) / seconds


def threads(most: int) -> None:
    clients = [rollflex.Client() for _ in range(most)]
    count = 1
    while count <= most:
        shared, own = [], []
        for _ in range(runs):
            shared.append(pace(clients[:1], count))
            own.append(pace(clients[:count], count))
        one, each = statistics.median(shared), statistics.median(own)
        print(f"{count} threads: {one:8.0f} events/s in one engine, {each:8.0f} in one each, {each / one:.2f} times")
        count *= 2
    for client in clients:
        client.close()


if __name__ == "__main__":
    {"memory": memory, "threads": threads}[sys.argv[1]](int(sys.argv[2]))
