"""Logs in this process say what the command says, and what the simulator answers comes from Node.js."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from rollflex import PolicyError, RollflexError
from rollflex.logs import compare_logs, explain, explanation_text, replay
from rollflex.sim import advise, what_if
from support import command, root

logs = root / "test" / "zoo" / "logs"
stuck = logs / "verl-7155.jsonl"


def printed(*args: str | Path) -> Any:
    run = subprocess.run([*command(), *map(str, args)], capture_output=True, text=True, check=True)
    return json.loads(run.stdout)


@pytest.mark.parametrize("log", [stuck, logs / "slime-2340"])
def test_explain_is_what_the_command_prints(log: Path, tmp_path: Path) -> None:
    assert explain(log) == printed("explain", log, "--json", "--index", tmp_path)


def test_of_a_round_at_a_place_in_words(tmp_path: Path) -> None:
    found = explain(stuck, round="r3", at={"seq": 100})
    assert found == printed("explain", stuck, "--round", "r3", "--at", "100", "--json", "--index", tmp_path)
    first = found["sessions"][0]
    text = explanation_text(first)
    assert text[0].startswith("Round r3 ") and all(len(line) <= 80 for line in text)
    assert explanation_text(first, whole=True)[: len(text)] == text


def test_replay_and_comparison(tmp_path: Path) -> None:
    assert replay(stuck)["groups"] == []
    lines = stuck.read_text().splitlines(keepends=True)
    other = tmp_path / "run.jsonl"
    other.write_text("".join(lines[:-10]))
    parted = compare_logs(stuck, other)["sessions"][0]["parted"]
    assert parted["kind"] == "end" and parted["other"] is None


@pytest.mark.parametrize(
    ("options", "code", "path"),
    [
        ({"prompt": "p_14"}, "unknown_id", "prompt"),
        ({"prompt": "a", "round": "b"}, "invalid_input", "round"),
        ({"at": {"seq": 10**6}}, "invalid_input", "at"),
        ({"session": "s"}, "unknown_id", "session"),
    ],
)
def test_refusals(options: Any, code: str, path: str) -> None:
    with pytest.raises(PolicyError) as caught:
        explain(stuck, **options)
    assert (caught.value.code, caught.value.path) == (code, path)


def test_files_that_are_no_logs(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        explain(tmp_path / "nowhere.jsonl")
    with pytest.raises(PolicyError, match="a folder with a decision log, or a file"):
        explain(tmp_path)
    broken = tmp_path / "broken.jsonl"
    broken.write_text('{"snapshot": 1}\n')
    with pytest.raises(PolicyError, match="snapshot_mismatch"):
        explain(broken)


def test_what_if_and_advise_are_the_commands(tmp_path: Path) -> None:
    log = logs / "slime-2340"
    given = ("--session", "job-0", "--seeds", "1", "--seed", "1", "--set", "promptSpeculation=1.25")
    expected = printed("what-if", log, *given, "--json")
    assert what_if(log, session="job-0", seeds=1, settings={"promptSpeculation": 1.25}) == expected
    with pytest.raises(PolicyError, match="--session") as caught:
        what_if(log, session="nobody", seeds=1)
    assert caught.value.code == "unknown_id"
    with pytest.raises(RollflexError, match="no such file"):
        advise(tmp_path / "nowhere.jsonl", trainer="verl")


def test_a_cluster_is_said_as_on_the_command_line() -> None:
    log = logs / "slime-2340"
    said = what_if(log, session="job-0", seeds=1, model="Qwen3-8B", gpu="H200", tp=1, engine="sglang", precision="fp8")
    assert said["assumed"][0].startswith("training at")
    given = ("--model", "Qwen3-8B", "--gpu", "H200", "--tp", "1", "--engine", "sglang", "--precision", "fp8")
    assert said == printed("what-if", log, "--session", "job-0", "--seeds", "1", *given, "--json")
    with pytest.raises(PolicyError, match="Qwen2.5-32B") as caught:
        what_if(log, model="qwen2.5-33b")
    assert (caught.value.code, caught.value.path) == ("unknown_id", "--model")
