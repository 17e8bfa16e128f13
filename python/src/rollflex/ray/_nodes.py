"""Nodes of the cluster, and where actors go."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import ray

_head = "node:__internal_head__"


def alive_nodes() -> list[str]:
    """Ids of alive nodes, the head node first, because there is no cluster without it."""
    nodes = [one for one in ray.nodes() if one["Alive"]]
    nodes.sort(key=lambda one: (_head not in one["Resources"], one["NodeID"]))
    return [one["NodeID"] for one in nodes]


def placement(node: str | Mapping[str, str] | None) -> dict[str, Any]:
    """
    Options that place an actor on a node, given by id or labels, or anywhere else if the node is gone.

    :raises ValueError: there is no such node
    """
    if node is None:
        return {}
    # For an actor without resources, Ray ignores a soft node affinity, but respects labels.
    labels = dict(node) if isinstance(node, Mapping) else {"ray.io/node-id": node}
    if not any(labels.items() <= (one.get("Labels") or {}).items() for one in ray.nodes() if one["Alive"]):
        raise ValueError(f"no node has the labels {labels}")
    return {"label_selector": labels, "fallback_strategy": [{"label_selector": {}}]}
