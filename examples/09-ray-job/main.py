"""A rollout job on a Ray cluster whose server's node is killed in the middle, and one node with an engine too."""

from __future__ import annotations

import time

from cluster import Nodes, real_lengths
from controller import Controller

from rollflex.models import TailBatchingConfig
from rollflex.ray import get_or_create

prompts, responses = 120, 8
config: TailBatchingConfig = {
    "promptsPerRound": 30,
    "responsesPerPrompt": responses,
    "placement": "policy",
    "maxInFlightPerEngine": 128,
}


def main() -> None:
    with Nodes(4) as nodes:
        policy = get_or_create(node=nodes.id("n0"))
        job = Controller(policy, real_lengths(prompts), config, seconds_per_token=0.001)
        for name in ("n1", "n2", "n3"):
            job.add_engine(label_selector={"rollflex-node": name})
        begun = time.monotonic()
        killed = []

        def kill(accepted: int) -> None:
            for name, after in (("n0", 200), ("n2", 500)):
                if accepted == after:
                    nodes.kill(name)
                    killed.append(f"{name} after {accepted} responses")

        job.on_progress = kill
        job.run(deadline=time.monotonic() + 600)
        print(f"killed: {', '.join(killed)}; {time.monotonic() - begun:.1f} s, {len(job.trained)} rounds")

        trained = [prompt for step in job.trained for prompt in step]
        assert sorted(prompt for prompt, _ in trained) == sorted(real_lengths(prompts)), "each prompt, once"
        used = [request for _, requests in trained for request in requests]
        assert len(used) == len(set(used)) == prompts * responses, "each with responses of its own"
        assert job.lost == ["engine-1"] and len(job.engines) == 4, "another engine took the place of the lost one"

        reported = job.finish()
        for name, count in reported.items():
            applied = policy.open("tail-batching", session="job", on_existing="attach", producer=name).next_seq
            assert applied == count, f"{name} has reported {count} events, and {applied} were applied"
        where = policy.info()
        assert where["generation"] >= 2 and where["mirrored_elsewhere"], "the server went on from its mirror"
        print(f"{sum(reported.values())} events, each applied once; server of generation {where['generation']}")
        policy.shutdown()
        job.stop()


if __name__ == "__main__":
    main()
