"""Called by `bench/python/calls.ts`: policies in process beside a server, and what comes and goes alone, as JSON."""

from __future__ import annotations

import json
import os
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import quickjs

import rollflex

runs = 5
# For the compilers of Node.js.
warming = 3


def pace(events: int, took: list[float]) -> dict[str, float]:
    late = sorted(took)[int(len(took) * 0.99)]
    return {"eventsPerSecond": events / sum(took), "microseconds": statistics.median(took) * 1e6, "late": late * 1e6}


def timed(groups: list[Any], send: Callable[[Any], Any]) -> dict[str, float]:
    took = []
    for events in groups:
        at = time.perf_counter()
        send(events)
        took.append(time.perf_counter() - at)
    return pace(sum(map(len, groups)), took)


def by_client(client: rollflex.Client, work: dict[str, Any]) -> dict[str, float]:
    with client.open("tail-batching", config=work["config"]) as session:
        return timed(work["groups"], session.send)


def by_echo(client: rollflex.Client, work: dict[str, Any]) -> dict[str, float]:
    client.call("answers", {"answers": work["answers"]})
    return by_client(client, work)


def by_function(function: Any, work: dict[str, Any]) -> dict[str, float]:
    """Events are written, and the texts of their decisions go through a function that returns its text."""
    texts = iter([json.dumps(one, separators=(",", ":")) for one in work["answers"]])
    return timed(
        work["groups"], lambda events: (json.dumps(events, separators=(",", ":")), json.loads(function(next(texts))))
    )


def large(client: rollflex.Client, prompts: int, responses: int) -> dict[str, float]:
    """Seconds of the call that launches everything, and of the one that completes the round."""
    speculation = {"promptSpeculation": 1, "responseSpeculation": 1}
    config: Any = {"promptsPerRound": prompts, "responsesPerPrompt": responses, **speculation}
    with client.open("tail-batching", config=config) as session:
        session.send({"type": "round.requested", "at": 0, "roundId": "r", "weightVersion": 0})
        supplied: Any = [{"promptId": f"prompt-{number}"} for number in range(prompts)]
        begun = time.perf_counter()
        launches = session.send({"type": "prompts.supplied", "at": 0, "roundId": "r", "prompts": supplied})
        launching = time.perf_counter() - begun
        ids = [one["requestId"] for one in launches if one["type"] == "request.launch"]
        assert len(ids) == prompts * responses
        ended: Any = [{"type": "response.completed", "at": 1, "requestId": one, "tokens": 512} for one in ids]
        session.send(ended[:-1])
        begun = time.perf_counter()
        last = session.send(ended[-1])
        completing = time.perf_counter() - begun
        assert any(one["type"] == "round.completed" and len(one["prompts"]) == prompts for one in last)
    return {"launching": launching, "completing": completing}


def both_large(client: rollflex.Client) -> dict[str, float]:
    """640 launches, and 160 prompts."""
    return {**large(client, 64, 10), "completing": large(client, 160, 8)["completing"]}


def mebibytes(pid: int | str) -> float:
    """What a process takes; nothing where the system does not say."""
    try:
        with open(f"/proc/{pid}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20
    except OSError:
        return 0.0


def loaded(make: Callable[[], rollflex.Client]) -> tuple[rollflex.Client, dict[str, float]]:
    before, begun = mebibytes("self"), time.perf_counter()
    client = make()
    seconds = time.perf_counter() - begun
    # Of a server that was started, what it takes; else how much more this process does.
    pump: Any = getattr(client._core, "_pump", None)
    taken = mebibytes("self") - before if pump is None else mebibytes(pump.link.pid)
    return client, {"seconds": seconds, "mebibytes": taken}


def main() -> None:
    path, echo_command, server_command = sys.argv[1:]
    with open(path, encoding="utf-8") as file:
        works = json.load(file)
    embedded, embedded_loading = loaded(rollflex.Client)
    server, server_loading = loaded(lambda: rollflex.Client.spawn(json.loads(server_command)))
    echo, echo_loading = loaded(lambda: rollflex.Client.spawn(json.loads(echo_command), check_version=False))
    context = quickjs.Context()
    function = context.eval("(text) => text")
    ways: dict[str, Callable[[Any], dict[str, float]]] = {
        "embedded": lambda work: by_client(embedded, work),
        "server": lambda work: by_client(server, work),
        "function": lambda work: by_function(function, work),
        "echo": lambda work: by_echo(echo, work),
    }
    found = []
    with embedded, server, echo:
        for work in works:
            turns = [{way: measure(work) for way, measure in ways.items()} for _ in range(warming + runs)]
            found.append(turns[warming:])
        clients = {"embedded": embedded, "server": server}
        calls = [{way: both_large(one) for way, one in clients.items()} for _ in range(warming + 4 * runs)][warming:]
    loading = {"embedded": embedded_loading, "server": server_loading, "echo": echo_loading}
    print(json.dumps({"paces": found, "large": calls, "loading": loading}))


main()
