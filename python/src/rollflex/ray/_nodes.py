"""Nodes of the cluster, and where actors go."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import ray

_head = "node:__internal_head__"


def alive_nodes() -> list[str]:
    """Ids of the nodes that are there: the head first, since without it there is no cluster."""
    nodes = [one for one in ray.nodes() if one["Alive"]]
    nodes.sort(key=lambda one: (_head not in one["Resources"], one["NodeID"]))
    return [one["NodeID"] for one in nodes]


def placement(node: str | Mapping[str, str] | None) -> dict[str, Any]:
    """
    Options of an actor that shall be on a node, given by its id or by labels; anywhere else once there is none.

    :raises ValueError: there is no such node
    """
    if node is None:
        return {}
    # Ray disregards a soft node affinity of an actor that needs no resources, and heeds this.
    labels = dict(node) if isinstance(node, Mapping) else {"ray.io/node-id": node}
    if not any(labels.items() <= (one.get("Labels") or {}).items() for one in ray.nodes() if one["Alive"]):
        raise ValueError(f"no node has the labels {labels}")
    return {"label_selector": labels, "fallback_strategy": [{"label_selector": {}}]}
