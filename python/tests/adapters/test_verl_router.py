"""The router of verl: its protocol, a job of agents, and servers that come and go."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Coroutine
from typing import Any

import pytest

from rollflex.adapters.verl_router import ProgramRouter

config = {"router_class": "rollflex.adapters.verl_router.ProgramRouter"}
servers = {f"server-{one}": f"actor {one}" for one in range(3)}


def run(work: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(work, 60))


def router(**changes: Any) -> ProgramRouter:
    return ProgramRouter(changes.pop("servers", servers), {**config, **changes})


def test_it_has_what_the_protocol_of_verl_has() -> None:
    asked = inspect.signature(ProgramRouter.acquire_server).parameters
    assert list(asked) == ["self", "request_id", *router().require_acquire_fields(), "_"]
    assert router().require_release_fields() == ["request_id"]
    with pytest.raises(ValueError, match="expected settings, server and idle_seconds, got policy"):
        router(policy="x")


def test_turns_of_a_program_stay_where_their_cache_is_and_programs_spread() -> None:
    async def work() -> None:
        one = router()
        placed: dict[str, set[str]] = {}

        async def agent(name: str) -> None:
            context = 1000
            for _ in range(4):
                server_id, handle = await one.acquire_server(request_id=name, prompt_ids=[0] * context)
                assert handle == servers[server_id]
                placed.setdefault(name, set()).add(server_id)
                await asyncio.sleep(0.001)
                await one.release_server(server_id=server_id, request_id=name)
                context += 300

        await asyncio.gather(*(agent(f"a{number}") for number in range(12)))
        assert all(len(where) == 1 for where in placed.values())
        assert set.union(*placed.values()) == set(servers)
        assert await one.get_total_inflight() == 0
        assert (await one.get_status())["active_servers"] == 3
        await one._programs.end()

    run(work())


def test_a_turn_waits_while_there_is_no_room() -> None:
    async def work() -> None:
        one = router(servers={"only": "actor"}, settings={"kvCapacityTokens": 10_000})
        server_id, _ = await one.acquire_server("first", [0] * 8000)
        second = asyncio.ensure_future(one.acquire_server("second", [0] * 8000))
        gone = asyncio.ensure_future(one.acquire_server("gone", [0] * 8000))
        await asyncio.sleep(0.05)
        assert not second.done()
        gone.cancel()
        one._programs.close("first")
        assert await second == ("only", "actor")
        await one.release_server("only", "second")
        one._programs.close("second")
        third, _ = await one.acquire_server("third", [0] * 8000)
        assert third == server_id
        await one._programs.end()

    run(work())


def test_servers_come_and_go() -> None:
    async def work() -> None:
        one = router(servers={})
        with pytest.raises(RuntimeError, match="No available servers in load balancer"):
            await one.acquire_server("a", [0])
        await one.add_servers({"x": "actor x"})
        assert (await one.acquire_server("a", [0] * 100))[0] == "x"
        await one.add_servers({"y": "actor y"})
        await one.remove_servers(["x"])
        assert await one.get_all_servers() == ["y"]
        await one.release_server("x", "a")
        assert (await one.acquire_server("a", [0] * 200))[0] == "y"
        assert (await one.clear_sticky_cache())["server_loads"] == {"y": 1}
        await one._programs.end()

    run(work())


def test_a_program_without_turns_is_over_and_one_that_comes_again_is_new() -> None:
    async def work() -> None:
        one = router(idle_seconds=0.05)
        server_id, _ = await one.acquire_server("a", [0] * 100)
        await one.release_server(server_id, "a")
        await asyncio.sleep(0.1)
        await one.acquire_server("b", [0] * 100)
        assert list(one._programs._named) == ["b"]
        assert (await one.acquire_server("a", [0] * 100))[0] in servers
        await one._programs.end()

    run(work())


def test_what_ends_the_session_is_raised() -> None:
    async def work() -> None:
        one = router(settings={"budgetShare": 7})
        with pytest.raises(Exception, match="budgetShare"):
            await one.acquire_server("a", [0])
        with pytest.raises(Exception, match="budgetShare"):
            await one.acquire_server("b", [0])

    run(work())
