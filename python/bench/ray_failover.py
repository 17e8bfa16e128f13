"""
How long a call waits after the node of the server has died, on Ray's own settings: three raylets on this machine, the
server on one of them, and all processes of that node killed (as when its power fails) or stopped (as when its network
fails: connections stay open, and nothing answers).

`python bench/ray_failover.py --runs 10`; needs Ray, and the server of this repository (`npm run build`).
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import statistics
import time
from pathlib import Path
from typing import Any

import ray
from ray.cluster_utils import Cluster

from rollflex.ray import get_or_create

root = Path(__file__).resolve().parents[2]
hurried = {
    "health_check_initial_delay_ms": 500,
    "health_check_period_ms": 200,
    "health_check_failure_threshold": 3,
    "health_check_timeout_ms": 1000,
}


def family(pid: int) -> list[int]:
    """A process and all that it has started, the oldest first."""
    children: dict[int, list[int]] = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                parent = int(Path(f"/proc/{entry}/stat").read_text().rsplit(")", 1)[1].split()[1])
            except OSError:
                continue
            children.setdefault(parent, []).append(int(entry))
    found = [pid]
    for one in found:
        found += children.get(one, [])
    return found


def signalled(pids: list[int], what: signal.Signals) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, what)


def run_once(
    how: signal.Signals, whose: str, settle_seconds: float, options: dict[str, Any], config: dict[str, int]
) -> dict[str, Any]:
    """Seconds from the signal until a call is answered that changes something, and where everything is then."""
    extra = {"_system_config": config} if config else {}
    cluster = Cluster(
        initialize_head=True,
        head_node_args={"num_cpus": 0, "include_dashboard": False, "object_store_memory": 80 << 20, **extra},
    )
    stopped: list[int] = []
    try:
        nodes = [
            cluster.add_node(num_cpus=2, object_store_memory=80 << 20, labels={"rollflex-node": f"n{index}"})
            for index in range(2)
        ]
        ray.init(address=cluster.address, namespace="job", log_to_driver=False)
        # The head cannot be lost: where the mirror shall be, the server is there.
        place = nodes[0].node_id if whose == "server" else cluster.head_node.node_id
        policy = get_or_create(node=place, command=["node", str(root / "dist" / "cli.js")], **options)
        session: Any = policy.open("tail-batching", config={"promptsPerRound": 2, "responsesPerPrompt": 2})
        session.send({"type": "round.requested", "roundId": "r1", "weightVersion": 1})
        prompts = [{"promptId": one} for one in ("p1", "p2", "p3")]
        launches = session.send({"type": "prompts.supplied", "roundId": "r1", "prompts": prompts})
        time.sleep(settle_seconds)
        before = policy.info()
        assert before["node"] == place
        victim = next(one for one in nodes if one.node_id == before["node" if whose == "server" else "mirror_node"])
        pids = family(victim.all_processes["raylet"][0].process.pid)
        signalled(pids, how)
        stopped = pids if how == signal.SIGSTOP else []
        begun = time.monotonic()
        session.send({"type": "response.completed", "requestId": launches[0]["requestId"], "tokens": 5})
        took = time.monotonic() - begun
        assert session.snapshot()["seq"] == 3, "each event is applied once"
        after = policy.info()
        assert victim.node_id not in (after["node"], after["mirror_node"])
        where = {nodes[0].node_id: "n0", nodes[1].node_id: "n1"}
        return {
            "seconds": round(took, 2),
            "server": where.get(after["node"], "head"),
            "mirror": where.get(after["mirror_node"], "head"),
            "generation": after["generation"],
        }
    finally:
        signalled(stopped, signal.SIGKILL)
        ray.shutdown()
        cluster.shutdown()


def main() -> None:
    given = argparse.ArgumentParser(description=__doc__)
    given.add_argument("--runs", type=int, default=10)
    given.add_argument("--how", choices=["kill", "stop"], default="kill")
    given.add_argument("--whose", choices=["server", "mirror"], default="server", help="the node that is lost")
    given.add_argument("--without-standby", action="store_true")
    given.add_argument("--hurried", action="store_true", help="health checks of Ray that take a second")
    given.add_argument("--settle-seconds", type=float, default=8.0, help="between the start and the death")
    chosen = given.parse_args()
    os.environ["PYTHONPATH"] = str(root / "python" / "src")
    # The raylets of one machine would all kill workers when its memory is short, as no cluster does at once.
    os.environ["RAY_memory_monitor_refresh_ms"] = "0"  # noqa: SIM112
    how = signal.SIGKILL if chosen.how == "kill" else signal.SIGSTOP
    options: dict[str, Any] = {}
    if chosen.without_standby:
        options["failover_seconds"] = None
    took = []
    for _ in range(chosen.runs):
        figures = run_once(how, chosen.whose, chosen.settle_seconds, options, hurried if chosen.hurried else {})
        took.append(figures["seconds"])
        print(json.dumps(figures), flush=True)
    print(f"{len(took)} runs: median {statistics.median(took):.1f} s, longest {max(took)} s")


if __name__ == "__main__":
    main()
