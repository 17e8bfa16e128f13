"""The real `RolloutManager` of slime, with its router, over mock engines; ``slime_job`` says what stands in."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from having import Ran, checkout, installed
from mock_engines import MockEngines
from support import root
from tiny_model import make_tiny_model

program = Path(__file__).with_name("slime_job.py")
tests = program.parents[1]
rounds, restart = 6, 3
ours = [
    *("--rollout-function-path", "rollflex.adapters.slime.generate_rollout"),
    *("--data-source-path", "rollflex.adapters.slime.RollflexDataSource"),
]


class Job:
    """Engines of its own, so that every job gets the same lengths; and slime's arguments."""

    def __init__(self, folder: Path, slime: Path, model: Path, *more: str, prompts: int = 256) -> None:
        folder.mkdir()
        self._folder, self._slime = folder, slime
        self.engines = MockEngines("--engines", "2", "--cap", "4000", "--speed", "2", "--model", str(model))
        data = folder / "prompts.jsonl"
        data.write_text("".join(json.dumps({"text": f"question {row}"}) + "\n" for row in range(prompts)))
        self._arguments = [
            *("--hf-checkpoint", str(model), "--prompt-data", str(data), "--input-key", "text"),
            *("--rollout-external-engine-addrs", *self.engines.engine_urls),
            *("--rollout-batch-size", "8", "--n-samples-per-prompt", "4", "--rollout-max-response-len", "8000"),
            *("--global-batch-size", "32", "--micro-batch-size", "4", "--num-rollout", str(rounds)),
            *("--custom-rm-path", "slime_rewards.by_length", "--save", str(folder), "--load", str(folder)),
            *more,
        ]

    def run(self, *rollouts: int) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        """A process of its own: the lines of these rollouts, and the checkpoint after the last."""
        env = {**os.environ, "SLIME_PATH": str(self._slime), "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}
        env["PYTHONPATH"] = os.pathsep.join([str(self._slime), str(tests), str(tests.parent / "src")])
        command = [sys.executable, "-B", str(program), str(self._folder), *map(str, rollouts), "--", *self._arguments]
        printed = self._folder / "output.txt"
        with printed.open("a") as output:
            done = subprocess.run(command, env=env, stdout=output, stderr=subprocess.STDOUT, timeout=1200)
        assert done.returncode == 0, printed.read_text()[-6000:]
        lines = [json.loads(line) for line in (self._folder / "log.jsonl").read_text().splitlines()]
        (*steps, saved) = lines[-len(rollouts) - 1 :]
        return steps, saved


def rows(steps: list[dict[str, Any]]) -> list[int]:
    """Of the data set: those that the steps trained on, each once."""
    found: list[int] = []
    for step in steps:
        of_step = [int(prompt.removeprefix("question ")) for prompt in step["prompts"]]
        assert len(set(step["samples"])) == len(of_step) == 32
        assert all(of_step.count(row) == 4 for row in of_step), "groups are whole"
        found += sorted(set(of_step))
    return found


def test_the_rollout_manager_trains_every_prompt_and_goes_on_from_its_checkpoint(tmp_path: Path, ran: Ran) -> None:
    slime = checkout("SLIME_PATH", "slime/ray/rollout.py")
    versions = [f"{name} {installed(name)}" for name in ("sglang-router", "ray", "torch", "transformers")]
    versions.append(f"sglang {installed('sglang', '0.5.15.post1')}")
    model = make_tiny_model(tmp_path / "model")
    job, own = Job(tmp_path / "ours", slime, model, *ours), Job(tmp_path / "own", slime, model)
    try:
        first, saved = job.run(*range(restart))
        assert sorted(rows(first) + saved["waiting"]) == list(range(saved["drawn"])), "in the checkpoint"
        assert saved["waiting"], "prompts wait for a long round when the process ends"
        then, last = job.run(*range(restart, rounds))
        steps = first + then
        trained = rows(steps)
        assert sorted(trained + last["waiting"]) == list(range(last["drawn"])), "after the restart"
        assert all(engine["inFlight"] == 0 for engine in job.engines.stats())
        beside, _ = own.run(*range(rounds))
        assert len(rows(beside)) == len(trained)
    finally:
        job.engines.stop()
        own.engines.stop()
    commit = subprocess.run(["git", "-C", slime, "rev-parse", "--short", "HEAD"], capture_output=True, text=True)
    ran(
        "slime",
        commit.stdout.strip(),
        real="`RolloutManager` and engine actors on Ray, the parsers and checks of arguments, `sglang_router`, the "
        "data source and its checkpoint, `generate`, rewards, `build_dp_schedule`; " + ", ".join(versions),
        stands_in="the engines (`rollflex mock-engine`), Megatron (2 arguments of its parser), a GPU (an accelerator "
        "of the CPU in slime's registry)",
        steps=len(steps),
        prompts=last["drawn"],
        accounted=len(trained) + len(last["waiting"]),
        seconds=sum(step["seconds"] for step in steps),
        own_seconds=sum(step["seconds"] for step in beside),
        note=f"a new process goes on from the checkpoint of rollout {restart - 1}; slime's own: `generate_rollout` "
        f"without over-sampling, on the same lengths; {len(last['waiting'])} prompts wait at the end",
    )


def test_prompts_that_teach_nothing_are_passed_over(tmp_path: Path) -> None:
    """In slime's own rollout, with its own filter. Of even rows no response is right."""
    slime = checkout("SLIME_PATH", "slime/ray/rollout.py")
    page = (root / "docs" / "adapters" / "slime.md").read_text(encoding="utf-8")
    settings = page.split("## Prompts worth their tokens")[1].split("```text\n")[1].split("```")[0].split()
    more = tmp_path / "rollflex.yaml"
    more.write_text('{ "rollflex_selection": { "threshold": 1.5, "domainFloor": 0 } }')
    job = Job(
        tmp_path / "job", slime, make_tiny_model(tmp_path / "model"), *settings,
        *("--custom-config-path", str(more), "--custom-rm-path", "slime_rewards.of_odd_rows"),
        *("--custom-generate-function-path", "slime_rewards.short", "--num-rollout", "20"),
        prompts=64,
    )  # fmt: skip
    try:
        first, saved = job.run(*range(10))
        then, last = job.run(*range(10, 14))
    finally:
        job.engines.stop()
    assert all(row % 2 for row in rows(first + then))
    assert 0 < saved["passed"] < last["passed"] and saved["drawn"] < last["drawn"]
    # Those that were passed over when they were offered last.
    even = sum(row % 2 == 0 for row in last["passed_last"])
    assert even > 2 * (len(last["passed_last"]) - even)
