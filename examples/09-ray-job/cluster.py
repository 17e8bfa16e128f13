"""A cluster of real Ray nodes on one machine, each with processes of its own, which can be killed like a machine."""

from __future__ import annotations

import json
import os
from pathlib import Path
from types import TracebackType
from typing import Any

import ray
from ray.cluster_utils import Cluster

here = Path(__file__).resolve().parent
root = here.parents[1]

# A node that is gone is given up after a second, and not after half a minute.
_hurried = {
    "health_check_initial_delay_ms": 500,
    "health_check_period_ms": 200,
    "health_check_failure_threshold": 3,
    # One that is only slow, on a machine that has other work, is not given up: one that is gone refuses at once.
    "health_check_timeout_ms": 60_000,
}


class Nodes:
    """A head, where the controller is, and nodes `n0`, `n1`, …"""

    def __init__(self, count: int, cpus: int = 4) -> None:
        # What runs on the nodes must find this example, and rollflex.
        paths = [str(here), str(root / "python" / "src"), os.environ.get("PYTHONPATH", "")]
        os.environ["PYTHONPATH"] = os.pathsep.join(paths)
        os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
        self._cpus = cpus
        self._made = 0
        self._nodes: dict[str, Any] = {}
        head = {"num_cpus": 0, "include_dashboard": False, "object_store_memory": 80 << 20, "_system_config": _hurried}
        self._cluster = Cluster(initialize_head=True, head_node_args=head)
        for _ in range(count):
            self.add()
        ray.init(address=self._cluster.address, namespace="job", log_to_driver=False)

    @property
    def address(self) -> str:
        """For `ray.init` of other programs."""
        found: str = self._cluster.address
        return found

    def add(self) -> str:
        name = f"n{self._made}"
        self._made += 1
        self._nodes[name] = self._cluster.add_node(
            num_cpus=self._cpus, object_store_memory=80 << 20, labels={"rollflex-node": name}
        )
        return name

    def id(self, name: str) -> str:
        found: str = self._nodes[name].node_id
        return found

    def name_of(self, node_id: str) -> str | None:
        """Nothing for the head, and for a node that is gone."""
        return next((name for name, node in self._nodes.items() if node.node_id == node_id), None)

    @property
    def names(self) -> list[str]:
        return list(self._nodes)

    def kill(self, name: str) -> None:
        """Ends all processes of a node at once, as when its power fails."""
        self._cluster.remove_node(self._nodes.pop(name), allow_graceful=False)

    def close(self) -> None:
        ray.shutdown()
        self._cluster.shutdown()

    def __enter__(self) -> Nodes:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def real_lengths(prompts: int, trace: str = "castillo-qwen2.5-7b-instruct-1m") -> dict[str, list[int]]:
    """Lengths of responses of a real model, by prompt; the trace begins again where it is too short."""
    text = (root / "examples" / "traces" / f"{trace}.jsonl").read_text()
    lines = [json.loads(line)["response_tokens"] for line in text.splitlines()]
    return {f"p{index}": lines[index % len(lines)] for index in range(prompts)}
