"""
Which LLM server runs each turn of an agent in verl, and which turns wait: the router of `rollout.router_config_path`.

Follows verl 0.9.1: `RequestLoadBalancer` of `workers/rollout/router.py`, which runs as a Ray actor for the whole job.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ._programs import Programs


class ProgramRouter:
    """
    `program-scheduling` in the place of verl's sticky load balancer. A program is a `request_id` of the agent loop.

    :param servers: server ids, and their actors
    :param config: the YAML file: `router_class`, and optionally `settings` of the policy, `server` (parameters of
        :meth:`rollflex.Client.connect`), `idle_seconds` (a request id without a turn for so long is over)
    """

    def __init__(self, servers: Mapping[str, Any], config: Mapping[str, Any]) -> None:
        unknown = sorted(set(config) - {"router_class", "settings", "server", "idle_seconds"})
        if unknown:
            raise ValueError(
                f"router_config_path: expected settings, server and idle_seconds, got {', '.join(unknown)}"
            )
        self._servers: dict[str, Any] = {}
        self._running: dict[str, int] = {}
        self._waiting = dict(servers)
        self._programs = Programs(
            config.get("settings") or {},
            server=config.get("server"),
            idle_seconds=float(config.get("idle_seconds") or 900),
        )

    def require_acquire_fields(self) -> list[str]:
        """The router needs the prompt, whose length is that of the context."""
        return ["prompt_ids"]

    def require_release_fields(self) -> list[str]:
        return ["request_id"]

    async def acquire_server(self, request_id: str, prompt_ids: Any = (), **_: Any) -> tuple[str, Any]:
        """The server for the next turn, once the policy lets it run. Raises RuntimeError if there is none."""
        self._take_servers()
        if not self._servers:
            raise RuntimeError("No available servers in load balancer")
        server_id = await self._programs.turn(request_id, len(prompt_ids))
        self._running[server_id] = self._running.get(server_id, 0) + 1
        return server_id, self._servers[server_id]

    async def release_server(self, server_id: str, request_id: str | None = None) -> None:
        """verl does not say how long the response was: the next prompt does."""
        if self._running.get(server_id, 0) > 0:
            self._running[server_id] -= 1
        if request_id is not None:
            self._programs.finished(request_id)

    async def add_servers(self, servers: Mapping[str, Any]) -> None:
        self._waiting.update(servers)
        self._take_servers()

    async def remove_servers(self, server_ids: list[str]) -> None:
        """Tells the policy that these servers finish their present turns and leave."""
        self._take_servers()
        self._programs.drained(server_ids)
        for one in server_ids:
            self._servers.pop(one, None)
            self._running.pop(one, None)

    async def get_all_servers(self) -> list[str]:
        return [*self._servers, *self._waiting]

    async def get_inflight_count(self, server_id: str) -> int:
        return self._running.get(server_id, 0)

    async def get_total_inflight(self) -> int:
        return sum(self._running.values())

    async def get_status(self) -> dict[str, Any]:
        servers = {one: self._running.get(one, 0) for one in await self.get_all_servers()}
        return {
            "servers": servers,
            "total_inflight": sum(servers.values()),
            "active_servers": len(servers),
            "registered_handles": list(servers),
        }

    async def clear_sticky_cache(self) -> dict[str, Any]:
        """Does nothing, because no turn is bound to a server: each is placed by its cost."""
        return {"cleared_entries": 0, "server_loads": (await self.get_status())["servers"]}

    def _take_servers(self) -> None:
        # The constructor of an actor runs outside its event loop.
        if self._waiting:
            self._servers.update(self._waiting)
            self._waiting = {}
            self._programs.added(list(self._servers))
