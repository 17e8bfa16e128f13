"""Called by `bench/python/calls.ts`: the pace of a client against the server and against an echo, in turn, as JSON."""

from __future__ import annotations

import asyncio
import json
import statistics
import sys
import time
from typing import Any

import rollflex

runs = 5
# For the compilers of Node.js.
warming = 3


def pace(took: list[float], events: int, begun: float) -> dict[str, float]:
    seconds = time.perf_counter() - begun
    return {"eventsPerSecond": events / seconds, "microseconds": statistics.median(took) * 1e6}


def with_threads(client: rollflex.Client, work: dict[str, Any], echo: bool) -> dict[str, float]:
    if echo:
        client.call("answers", {"answers": work["answers"]})
    session = client.open("tail-batching", config=work["config"])
    took = []
    begun = time.perf_counter()
    for events in work["groups"]:
        at = time.perf_counter()
        session.send(events)
        took.append(time.perf_counter() - at)
    result = pace(took, sum(map(len, work["groups"])), begun)
    session.close()
    return result


async def with_asyncio(client: rollflex.AsyncClient, work: dict[str, Any], echo: bool) -> dict[str, float]:
    if echo:
        await client.call("answers", {"answers": work["answers"]})
    session = await client.open("tail-batching", config=work["config"])
    took = []
    begun = time.perf_counter()
    for events in work["groups"]:
        at = time.perf_counter()
        await session.send(events)
        took.append(time.perf_counter() - at)
    result = pace(took, sum(map(len, work["groups"])), begun)
    await session.close()
    return result


def main() -> None:
    path, kind, echo_command, server_command, *state_dir = sys.argv[1:]
    with open(path, encoding="utf-8") as file:
        work = json.load(file)
    commands = [json.loads(server_command), json.loads(echo_command)]
    if kind == "threads":
        with (
            rollflex.Client.spawn(commands[0], state_dir=state_dir[0] if state_dir else None) as server,
            rollflex.Client.spawn(commands[1], check_version=False) as echo,
        ):
            found = [
                {"server": with_threads(server, work, False), "echo": with_threads(echo, work, True)}
                for _ in range(warming + runs)
            ]
    else:
        found = asyncio.run(in_a_loop(commands, work))
    print(json.dumps(found[warming:]))


async def in_a_loop(commands: list[list[str]], work: dict[str, Any]) -> list[dict[str, dict[str, float]]]:
    async with (
        rollflex.AsyncClient.spawn(commands[0]) as server,
        rollflex.AsyncClient.spawn(commands[1], check_version=False) as echo,
    ):
        return [
            {"server": await with_asyncio(server, work, False), "echo": await with_asyncio(echo, work, True)}
            for _ in range(warming + runs)
        ]


main()
