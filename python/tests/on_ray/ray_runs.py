"""
The job of the Ray example with 10,000 responses, in which the node of the server and one with an engine are killed at
random moments: `python tests/on_ray/ray_runs.py --runs 50`.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "examples" / "09-ray-job"))

from cluster import Nodes, real_lengths
from controller import Controller

from rollflex.models import TailBatchingConfig
from rollflex.ray import RollflexHandle, get_or_create


@dataclass(frozen=True)
class Size:
    """How much one run does."""

    prompts: int = 1250
    responses: int = 8
    prompts_per_round: int = 125
    in_flight_per_engine: int = 512
    seconds_per_token: float = 0.00025
    deadline_seconds: float = 240

    @property
    def total(self) -> int:
        return self.prompts * self.responses

    @property
    def config(self) -> TailBatchingConfig:
        return {
            "promptsPerRound": self.prompts_per_round,
            "responsesPerPrompt": self.responses,
            "placement": "policy",
            "maxInFlightPerEngine": self.in_flight_per_engine,
        }


def run_once(nodes: Nodes, size: Size, seed: int, *, faults: bool = True) -> dict[str, Any]:
    """One job; asserts that nothing is lost, and nothing done twice. Afterwards there are as many nodes as before."""
    chance = random.Random(seed)
    count = len(nodes.names)
    server, *others = nodes.names
    policy = get_or_create(f"run-{seed}", node=nodes.id(server), deadline_seconds=300, checkpoint_bytes=100_000)
    lengths = real_lengths(size.prompts)
    job = Controller(policy, lengths, size.config, size.seconds_per_token)
    for name in others:
        job.add_engine(label_selector={"rollflex-node": name})
    victims = {server: chance.randint(1, size.total), chance.choice(others): chance.randint(1, size.total)}
    left = sorted((at, name) for name, at in victims.items()) if faults else []
    begun = time.monotonic()

    def kill(accepted: int) -> None:
        while left and accepted >= left[0][0]:
            nodes.kill(left.pop(0)[1])

    job.on_progress = kill
    try:
        job.run(deadline=begun + size.deadline_seconds)
        seconds = time.monotonic() - begun
        assert not left
        figures = check(policy, job, size, sorted(lengths))
    finally:
        job.over = True
        policy.shutdown()
        job.stop()
    while len(nodes.names) < count:
        nodes.add()
    killed = {name: at for name, at in victims.items()} if faults else {}
    return {"seed": seed, "seconds": round(seconds, 1), "killed": killed, **figures}


def check(policy: RollflexHandle, job: Controller, size: Size, prompts: list[str]) -> dict[str, Any]:
    """What must hold at the end, whatever has happened."""
    trained = [prompt for step in job.trained for prompt in step]
    assert sorted(prompt for prompt, _ in trained) == prompts, "every prompt is trained on once"
    used = [request for _, requests in trained for request in requests]
    assert len(used) == len(set(used)) == size.total, "no response is trained on twice"
    for prompt, requests in trained:
        assert all(request.startswith(f"{prompt}/") for request in requests), "each prompt has responses of its own"
    reported = job.finish()
    assert job.refused == [], "no event was refused"
    for engine in job.never_added:
        assert attach(policy, engine).next_seq == 0, "an engine that was not known has reported nothing"
    applied = {name: attach(policy, name).next_seq for name in ["controller", *job.engines]}
    for name, events in reported.items():
        assert applied[name] == events, f"{name} has reported {events} events, and {applied[name]} were applied"
    session = attach(policy, "checker")
    assert sum(applied.values()) == session.seq, "the session has applied what its producers have sent, and no more"
    state = json.dumps(session.snapshot()["state"])
    assert not any(f'"{request}"' in state for request in used), "nothing is left in flight"
    info = policy.info()
    assert info["sessions"] == ["job"] and not info["lost"]
    return {"events": session.seq, "rounds": len(job.trained), "lost": len(job.lost), "generation": info["generation"]}


def attach(policy: RollflexHandle, producer: str) -> Any:
    return policy.open("tail-batching", session="job", on_existing="attach", producer=producer)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--runs", type=int, default=50)
    options.add_argument("--first", type=int, default=0, help="seed of the first run")
    options.add_argument("--prompts", type=int, default=1250)
    given = options.parse_args()
    size = Size(prompts=given.prompts)
    failed, seconds = 0, []
    with Nodes(4) as nodes:
        plain = run_once(nodes, size, -1, faults=False)
        print(json.dumps(plain), flush=True)
        for seed in range(given.first, given.first + given.runs):
            try:
                figures = run_once(nodes, size, seed)
                seconds.append(figures["seconds"])
                print(json.dumps(figures), flush=True)
            except Exception as error:
                failed += 1
                print(json.dumps({"seed": seed, "failed": repr(error)}), flush=True)
                while len(nodes.names) < 4:
                    nodes.add()
    median = round(statistics.median(seconds), 1) if seconds else None
    print(f"{given.runs - failed} of {given.runs} passed; {plain['seconds']} s without faults, median {median} s with")
    raise SystemExit(1 if failed else 0)


if __name__ == "__main__":
    main()
