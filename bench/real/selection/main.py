"""
Runs strategies over seeds, and adds what comes out to a file of JSON lines. What is there is not run again.

    python main.py --seeds 0-29 --jobs 2 --out results.jsonl
    python main.py --seeds 1000-1009 --variants variants.json --out pilot.jsonl
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
from collections.abc import Iterator
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

budget, rate = 80_000, 1e-3
Job = tuple[str, int, dict[str, Any]]


def run(folder: Path, job: Job) -> dict[str, Any]:
    from training import train

    strategy, seed, settings = job
    found = train(strategy, seed, folder=folder, **{"budget": budget, "rate": rate, **settings})
    return {"strategy": strategy, "seed": seed, "settings": settings, **found}


def named(job: Job) -> str:
    return json.dumps(job, sort_keys=True)


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def asked(options: argparse.Namespace) -> Iterator[Job]:
    """All strategies of a seed, then the next seed: whatever is done can be compared."""
    first, _, last = options.seeds.partition("-")
    variants = [[name, {}] for name in options.strategies.split(",")]
    if options.variants:
        variants = json.loads(options.variants.read_text())
    for seed in range(int(first), int(last or first) + 1):
        for strategy, settings in variants:
            yield strategy, seed, settings


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", default="0-29", help="first and last")
    parser.add_argument("--strategies", default="uniform,dapo,greso,greso-exact,value,ours")
    parser.add_argument("--variants", type=Path, help="a JSON list of [strategy, settings], in place of --strategies")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--models", type=Path, default=Path("/tmp/grpo-models"), help="a folder for first models")
    options = parser.parse_args()
    done = {named((one["strategy"], one["seed"], one["settings"])) for one in read(options.out)}
    jobs = [job for job in asked(options) if named(job) not in done]
    options.out.parent.mkdir(parents=True, exist_ok=True)
    # A pool ends its workers when it is left, which a signal alone does not do.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with get_context("spawn").Pool(options.jobs) as pool, options.out.open("a") as out:
        for found in pool.imap_unordered(partial(run, options.models), jobs):
            out.write(json.dumps(found) + "\n")
            out.flush()
            end = found["curve"][-1]
            print(found["strategy"], found["seed"], found["settings"], end, found["seconds"], flush=True)


if __name__ == "__main__":
    main()
