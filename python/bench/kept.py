"""
What it costs that a client in this process keeps its sessions, and writes them down: the same calls with and without,
in turn; and how long it takes to go on after a crash. `npm run build:python && python python/bench/kept.py [FOLDER]`
"""

from __future__ import annotations

import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

root = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(root / "src"), str(root / "tests")]

from rollflex import Client  # noqa: E402
from support import Day, tail_batching  # noqa: E402

rounds = 5
config: Any = {"promptsPerRound": 128, "responsesPerPrompt": 8}
kinds: dict[str, dict[str, Any]] = {
    "nothing kept": {},
    "log_dir": {"log_dir": "log"},
    'state_dir, fsync="interval"': {"state_dir": "state", "fsync": "interval"},
    'state_dir, fsync="always"': {"state_dir": "state"},
    'state_dir, fsync="interval", and log_dir': {"state_dir": "state", "log_dir": "log", "fsync": "interval"},
}


def calls_of(size: int, count: int) -> list[list[Any]]:
    """Calls of so many events, as a host would make them; some are shorter."""
    day = Day(1)
    calls: list[list[Any]] = []
    with Client() as client:
        session = client.open(tail_batching, config=config)
        while len(calls) < count:
            events = day.events(size)
            calls.append(events)
            day.see(session.send(events))
    return calls


def pace(folder: Path, options: dict[str, Any], calls: list[list[Any]]) -> tuple[float, float, float]:
    shutil.rmtree(folder, ignore_errors=True)
    placed = {name: folder / value if name.endswith("_dir") else value for name, value in options.items()}
    with Client.embedded(**placed) as client:
        session = client.open(tail_batching, config=config)
        took = []
        for events in calls:
            at = time.perf_counter()
            session.send(events)
            took.append(time.perf_counter() - at)
    return statistics.median(took), sorted(took)[int(len(took) * 0.99)], sum(map(len, calls)) / sum(took)


def recovery(folder: Path, events: int) -> tuple[float, float]:
    """Seconds to open a directory that a crash has left, and one that was left in order."""
    shutil.rmtree(folder, ignore_errors=True)
    client = Client.embedded(state_dir=folder, fsync="interval")
    session = client.open(tail_batching, config=config)
    day = Day(1)
    while session.seq < events:
        day.see(session.send(day.events(16)))
    shutil.copytree(folder, folder.with_name("crashed"), dirs_exist_ok=True)
    client.close()
    seconds = []
    for one in (folder.with_name("crashed"), folder):
        begun = time.perf_counter()
        Client.embedded(state_dir=one).close()
        seconds.append(time.perf_counter() - begun)
    return seconds[0], seconds[1]


def main() -> None:
    with tempfile.TemporaryDirectory(dir=sys.argv[1] if len(sys.argv) > 1 else None) as name:
        folder = Path(name) / "kept"
        for size, count in ((1, 3000), (64, 150)):
            calls = calls_of(size, count)
            found: dict[str, list[tuple[float, float, float]]] = {kind: [] for kind in kinds}
            for _ in range(rounds):
                for kind, options in kinds.items():
                    found[kind].append(pace(folder, options, calls))
            plain = statistics.median(one[0] for one in found["nothing kept"])
            for kind, runs in found.items():
                middle, late, rate = (statistics.median(column) for column in zip(*runs, strict=True))
                print(
                    f"calls of {size}, {kind}: {middle / plain:.2f} of the time, median {middle * 1e6:.0f} µs, "
                    f"p99 {late * 1e6:.0f} µs, {rate:.0f} events/s"
                )
        for events in (1000, 5000, 9000, 30_000):
            crashed, in_order = recovery(folder, events)
            print(f"opened after {events} events: {crashed:.2f} s after a crash, {in_order:.2f} s after a close")
        begun = time.perf_counter()
        Client().close()
        print(f"opened without a directory: {time.perf_counter() - begun:.2f} s")


if __name__ == "__main__":
    main()
