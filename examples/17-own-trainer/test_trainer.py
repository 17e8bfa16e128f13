"""The trainer is killed and started again: it has lost no prompt, and trained none twice. Run `pytest`."""

import importlib.util
import json
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
import rollflex

TRAINER = Path(__file__).with_name("trainer.py")
STEPS = 5

# Dies at the n-th call of a method, before or after it.
DYING = """
import asyncio, os, sys
sys.path.insert(0, sys.argv[1])
import trainer
from pathlib import Path

def dying(name, count, place):
    method, calls = getattr(trainer.Trainer, name), []
    def wrapped(self, *args):
        calls.append(1)
        if len(calls) == count and place == "before":
            os._exit(9)
        result = method(self, *args)
        if len(calls) == count:
            os._exit(9)
        return result
    setattr(trainer.Trainer, name, wrapped)

dying(sys.argv[3], int(sys.argv[4]), sys.argv[5])
asyncio.run(trainer.main(Path(sys.argv[2]), 5))
"""


def run(state: Path) -> str:
    done = subprocess.run([sys.executable, TRAINER, state, str(STEPS)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def check(state: Path) -> None:
    """Every prompt that was drawn was trained once, or waits in the policy."""
    checkpoint = json.loads((state / "checkpoint.json").read_text())
    assert checkpoint["step"] == STEPS
    trained = Counter(checkpoint["trained"])
    assert trained.total() == 4 * STEPS
    with rollflex.Client.embedded(state_dir=state / "policy") as client:
        session = client.open("tail-batching", session="job", on_existing="attach")
        assert session.why()["rounds"] == []
        for number in range(checkpoint["cursor"]):
            prompt = f"p{number}"
            try:
                waits = session.why(prompt, "prompts")["stands"]
            except rollflex.PolicyError as error:
                assert (error.code, trained[prompt]) == ("unknown_id", 1), prompt
            else:
                assert trained[prompt] == 0, f"{prompt} is trained and {waits}"


def test_it_runs_and_has_nothing_left_to_do(tmp_path: Path) -> None:
    assert run(tmp_path).splitlines()[0] == "step-0: short round, 4 prompts, 8 responses"
    check(tmp_path)
    assert run(tmp_path) == ""
    check(tmp_path)


def test_it_is_killed_in_the_middle_of_each_life(tmp_path: Path) -> None:
    words = [sys.executable, TRAINER, tmp_path, str(STEPS)]
    for _ in range(2):
        with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as life:
            assert life.stdout is not None
            life.stdout.readline()
            life.send_signal(signal.SIGKILL)
    run(tmp_path)
    check(tmp_path)


@pytest.mark.parametrize(
    ("method", "count", "place"),
    [
        ("save", 2, "before"),  # the first prompts are drawn, and not supplied
        ("save", 2, "after"),  # what is to be sent is on disk, and not sent
        ("save", 30, "after"),
        ("train", 2, "before"),  # a round is complete, and not trained
        ("train", 3, "after"),  # it is trained, and its aborts are not carried out
    ],
)
def test_it_dies_at_a_certain_place(tmp_path: Path, method: str, count: int, place: str) -> None:
    words = [sys.executable, "-c", DYING, str(TRAINER.parent), str(tmp_path), method, str(count), place]
    assert subprocess.run(words, timeout=300).returncode == 9
    run(tmp_path)
    check(tmp_path)


@pytest.mark.skipif(importlib.util.find_spec("mypy") is None, reason="needs mypy")
def test_its_types(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path), TRAINER.name]
    done = subprocess.run(words, cwd=TRAINER.parent, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
