"""
What policy calls cost 64 workers that report 10,000 responses a minute: each for itself, and by reporters.

`python bench/ray_workers.py`; needs Ray, and the server of this repository (`npm run build`).
"""

from __future__ import annotations

import json
import os
import statistics
import threading
import time
from pathlib import Path
from typing import Any

import ray

from rollflex.ray import Reporter, RollflexHandle, get_or_create

processes, threads = 4, 16
responses_a_minute = 10_000
seconds = 20.0
root = Path(__file__).resolve().parents[2]
prompts, responses = 1000, 8


class Worker:
    """Sixteen workers in one process of Ray."""

    def run(self, policy: RollflexHandle, requests: list[list[str]], reported: bool) -> dict[str, Any]:
        session: Any = policy.open("tail-batching", session="job", on_existing="attach")
        session.send([])
        reporter = Reporter(session) if reported else None
        pause = processes * threads / (responses_a_minute / 60)
        took: list[float] = []

        def work(own: list[str], first: float) -> None:
            mine: Any = session if reported else policy.open("tail-batching", session="job", on_existing="attach")
            time.sleep(first)
            for request in own:
                event = {"type": "response.completed", "requestId": request, "tokens": 500}
                begun = time.perf_counter()
                if reporter is not None:
                    reporter.report(event)
                else:
                    mine.send(event)
                took.append(time.perf_counter() - begun)
                time.sleep(max(0.0, pause - took[-1]))

        all = [threading.Thread(target=work, args=(own, i * pause / threads)) for i, own in enumerate(requests)]
        process_cpu = time.process_time()
        begun = time.perf_counter()
        for one in all:
            one.start()
        for one in all:
            one.join()
        elapsed = time.perf_counter() - begun
        if reporter is not None:
            reporter.close(60)
        return {"took": took, "elapsed": elapsed, "cpu": time.process_time() - process_cpu}


def measure(reported: bool) -> dict[str, Any]:
    with get_or_create(f"bench-{reported}", command=["node", str(root / "dist" / "cli.js")]) as policy:
        config: Any = {"promptsPerRound": prompts, "responsesPerPrompt": responses, "promptSpeculation": 1}
        session: Any = policy.open("tail-batching", config=config, session="job", deliver="stream")
        session.send({"type": "round.requested", "roundId": "r", "weightVersion": 0})
        supplied = [{"promptId": f"p{index}"} for index in range(prompts)]
        session.send({"type": "prompts.supplied", "roundId": "r", "prompts": supplied})
        each = int(seconds * responses_a_minute / 60 / processes / threads)
        ids = iter(f"p{p}/{i}#0" for i in range(responses) for p in range(prompts))
        requests = [[[next(ids) for _ in range(each)] for _ in range(threads)] for _ in range(processes)]
        workers: list[Any] = [ray.remote(Worker).options(num_cpus=0).remote() for _ in range(processes)]
        found = ray.get([one.run.remote(policy, own, reported) for one, own in zip(workers, requests, strict=True)])
        for one in workers:
            ray.kill(one)
        took = [one for worker in found for one in worker["took"]]
        elapsed = statistics.mean(worker["elapsed"] for worker in found)
        assert session.snapshot()["seq"] == 2 + processes * threads * each
        return {
            "calls": "reporter" if reported else "each for itself",
            "responses_a_minute": round(len(took) / elapsed * 60),
            "percent_of_a_worker_s_time": round(100 * sum(took) / (elapsed * processes * threads), 3),
            "median_microseconds": round(statistics.median(took) * 1e6, 1),
            "longest_milliseconds": round(max(took) * 1e3, 2),
            "cpu_percent_of_a_process": round(100 * sum(worker["cpu"] for worker in found) / elapsed / processes, 2),
        }


def main() -> None:
    os.environ["PYTHONPATH"] = os.pathsep.join([str(root / "python" / "src"), os.environ.get("PYTHONPATH", "")])
    ray.init("local", num_cpus=8, namespace="bench", log_to_driver=False, include_dashboard=False)
    for reported in (False, True):
        print(json.dumps(measure(reported)), flush=True)
    ray.shutdown()


if __name__ == "__main__":
    main()
