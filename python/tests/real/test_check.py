"""``python -m rollflex.adapters.<name> --check`` beside the real frameworks, with what the pages say to write."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from having import checkout, installed
from support import package, root

pages = root / "docs" / "adapters"


def blocks(page: str, language: str) -> str:
    """The blocks of the section that leads from nothing to a run."""
    section = (pages / page).read_text().split("## From nothing to a run")[1].split("\n## ")[0]
    return "\n".join(re.findall(rf"^```{language}\n(.*?)^```$", section, re.M | re.S))


def run(name: str, *argv: str, path: Path | None = None, cwd: Path | None = None) -> tuple[int, list[str]]:
    paths = [str(package.parent), *([str(path)] if path else []), *([str(cwd)] if cwd else [])]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    words = [sys.executable, "-m", f"rollflex.adapters.{name}", "--check", *argv]
    done = subprocess.run(words, capture_output=True, text=True, env=env, cwd=cwd, timeout=120)
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    # At most a screen.
    assert len(lines) < 25
    return done.returncode, lines


def wrong(lines: list[str]) -> list[str]:
    return [line.removeprefix("wrong ").split(":")[0] for line in lines if line.startswith("wrong ")]


def test_verl() -> None:
    pytest.importorskip("yaml")
    version = installed("verl", "0.9.1")
    page = [line for line in blocks("verl.md", "text").splitlines() if "=" in line]
    code, lines = run("verl", *page)
    assert (code, lines[1].startswith(f"verl {version}, "), lines[-1]) == (0, True, "nothing found that would not work")
    assert "hooks: 7, all as needed" in lines
    assert not any("was tried with" in line for line in lines)
    # What verl has by itself.
    code, lines = run("verl")
    assert code == 0
    code, lines = run("verl", "--config-name=ppo_megatron_trainer", "trainer.v1.sampler.max_of_policy_threshold=9")
    expected = [
        "trainer.v1.sampler.max_of_policy_threshold",
        "trainer.v1.sampler.custom_sampler",
        "trainer.v1.trainer_mode",
    ]
    assert (code, wrong(lines)) == (1, expected)


def test_slime(tmp_path: Path) -> None:
    pytest.importorskip("yaml")
    path = checkout("SLIME_PATH", "slime")
    (tmp_path / "rollflex.yaml").write_text(re.sub("rollflex_server.*\n", "", blocks("slime.md", "yaml")))
    arguments = re.findall(r"^  (--[\w-]+) (\S+)", blocks("slime.md", "sh"), re.M)
    page = [word for pair in arguments for word in pair]
    code, lines = run("slime", *page, "--rollout-batch-size", "8", path=path, cwd=tmp_path)
    assert (code, wrong(lines), "hooks: 17, all as needed" in lines) == (0, [], True), lines
    code, lines = run("slime", "--rollout-batch-size", "8", path=path, cwd=tmp_path)
    assert (code, wrong(lines)) == (1, ["--rollout-function-path", "--data-source-path"])


def test_nemo_rl(tmp_path: Path) -> None:
    pytest.importorskip("yaml")
    path = checkout("NEMO_RL_PATH", "nemo_rl")
    base = path / "examples" / "configs" / "grpo_math_1B_megatron_single_controller.yaml"
    text = f"defaults: {base}\nloss_fn:\n  use_importance_sampling_correction: true\n" + blocks("nemo-rl.md", "yaml")
    # What its own file says of another sampler must go.
    text = text.replace("sampler:\n", "sampler:\n    max_lookahead_versions: 1\n")
    (tmp_path / "job.yaml").write_text(text)
    code, lines = run("nemo_rl", "--config", "job.yaml", "grpo.num_prompts_per_step=16", path=path, cwd=tmp_path)
    assert (code, wrong(lines), "hooks: 11, all as needed" in lines) == (0, [], True), lines
    # The number of prompts in its own file needs more room.
    code, lines = run("nemo_rl", "--config", "job.yaml", path=path, cwd=tmp_path)
    assert (code, wrong(lines)) == (1, ["async_rl.max_buffered_rollouts"])
    code, lines = run("nemo_rl", "--config", str(base), path=path, cwd=tmp_path)
    assert (code, wrong(lines)) == (1, ["async_rl.sampler"])


def test_roll(tmp_path: Path) -> None:
    pytest.importorskip("yaml")
    path = checkout("ROLL_PATH", "roll")
    (tmp_path / "my_rollout.py").write_text(blocks("roll.md", "python"))
    (tmp_path / "job.yaml").write_text(blocks("roll.md", "yaml") + "rollout_batch_size: 8\n")
    code, lines = run("roll", "--config", "job.yaml", path=path, cwd=tmp_path)
    assert (code, wrong(lines), "hooks: 13, all as needed" in lines) == (0, [], True), lines
    own = next(iter(sorted(path.glob("examples/qwen2.5-7B-rlvr_megatron/rlvr_config.yaml"))))
    code, lines = run("roll", "--config", str(own), path=path, cwd=tmp_path)
    assert (code, wrong(lines)) == (1, ["user_defined_rollout_loop_cls"])


def test_trl() -> None:
    version = installed("trl", "1.16.0")
    code, lines = run("trl")
    assert (code, lines[1].startswith(f"trl {version}, "), "hooks: 5, all as needed" in lines) == (0, True, True)
    code, lines = run("trl", "max_staleness=1")
    assert (code, wrong(lines)) == (1, ["AsyncGRPOConfig"])
