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

# Dies at the n-th call of a function of the trainer, before or after it.
DYING = """
import asyncio, os, sys
sys.path.insert(0, sys.argv[1])
import trainer
from pathlib import Path

def dying(name, count, place):
    owner = trainer if hasattr(trainer, name) else trainer.Trainer
    function, calls = getattr(owner, name), []
    def wrapped(*args):
        calls.append(1)
        if len(calls) == count and place == "before":
            os._exit(9)
        result = function(*args)
        if len(calls) == count:
            os._exit(9)
        return result
    setattr(owner, name, wrapped)

dying(sys.argv[3], int(sys.argv[4]), sys.argv[5])
asyncio.run(trainer.main(Path(sys.argv[2]), 5))
"""

# A function of the trainer raises, or returns something wrong: `{function}` is one that does so now and then.
FAILING = """
import asyncio, random, sys
sys.path.insert(0, sys.argv[1])
import trainer
from pathlib import Path

{function}
asyncio.run(trainer.main(Path(sys.argv[2]), 5))
"""

# One of several reports is refused: those before it count.
REFUSED = """
tell = trainer.Trainer.tell
async def wrong(self, events):
    if self.checkpoint["step"] == 1 and events[-1]["type"] == "response.completed":
        events = [*events, {**events[-1], "tokens": -1}]
    await tell(self, events)
trainer.Trainer.tell = wrong
"""


def run(state: Path) -> str:
    done = subprocess.run([sys.executable, TRAINER, state, str(STEPS)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def run_failing(state: Path, function: str) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-c", FAILING.format(function=function), str(TRAINER.parent), str(state)]
    return subprocess.run(words, capture_output=True, text=True, timeout=300)


def check(state: Path) -> None:
    """Every prompt that was drawn was trained once, was given up, or waits in the policy."""
    checkpoint = json.loads((state / "checkpoint.json").read_text())
    assert (checkpoint["step"], checkpoint["due"]) == (STEPS, [])
    trained: Counter[str] = Counter(checkpoint["trained"])
    assert trained.total() == 4 * STEPS
    with rollflex.Client.embedded(state_dir=state / "policy") as client:
        session = client.open("tail-batching", session="job", on_existing="attach")
        assert session.why()["rounds"] == []
        for number in range(checkpoint["cursor"]):
            prompt = f"p{number}"
            try:
                waits = session.why(prompt, "prompts")["stands"]
            except rollflex.PolicyError as error:
                ends = trained[prompt] + checkpoint["gone"].count(prompt)
                assert (error.code, ends) == ("unknown_id", 1), prompt
            else:
                assert trained[prompt] == 0, f"{prompt} is trained and {waits}"


def test_it_runs_and_has_nothing_left_to_do(tmp_path: Path) -> None:
    assert run(tmp_path).splitlines()[0] == "step-0: short round, 4 prompts, 8 responses"
    check(tmp_path)
    assert run(tmp_path) == ""
    check(tmp_path)


def test_it_is_killed_in_the_middle_of_each_life(tmp_path: Path) -> None:
    words = [sys.executable, str(TRAINER), str(tmp_path), str(STEPS)]
    for _ in range(2):
        with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as life:
            assert life.stdout is not None
            life.stdout.readline()
            life.send_signal(signal.SIGKILL)
    run(tmp_path)
    check(tmp_path)


@pytest.mark.parametrize(
    ("function", "count", "place"),
    [
        ("save", 2, "before"),  # the first prompts are drawn, and not supplied
        ("save", 2, "after"),  # what is to be sent is on disk, and not sent
        ("save", 15, "after"),
        ("optimize", 2, "before"),  # a round is complete, and its training begins
        ("optimize", 2, "after"),  # it was trained, its aborts were confirmed meanwhile, and no checkpoint is there
        ("train", 3, "before"),
    ],
)
def test_it_dies_at_a_certain_place(tmp_path: Path, function: str, count: int, place: str) -> None:
    words = [sys.executable, "-c", DYING, str(TRAINER.parent), str(tmp_path), function, str(count), place]
    assert subprocess.run(words, timeout=300).returncode == 9
    run(tmp_path)
    check(tmp_path)


def test_an_engine_that_fails_costs_tries_and_nothing_else(tmp_path: Path) -> None:
    function = """
whole = trainer.engine
async def engine(prompt):
    if random.random() < 0.3:
        raise RuntimeError("CUDA out of memory")
    return await whole(prompt)
trainer.engine = engine
"""
    done = run_failing(tmp_path, function)
    assert done.returncode == 0, done.stderr
    check(tmp_path)


@pytest.mark.parametrize(
    ("function", "error"),
    [
        ("def optimize(samples): raise MemoryError('out of memory')\ntrainer.optimize = optimize", "MemoryError"),
        ("def log(notice): raise KeyError('a defect')\ntrainer.log = log", "KeyError"),
        ("async def generate(*_): raise OSError('disk full')\ntrainer.Trainer.generate = generate", "OSError"),
        (REFUSED, "PolicyError"),
    ],
)
def test_a_defect_ends_it_and_the_next_life_goes_on(tmp_path: Path, function: str, error: str) -> None:
    done = run_failing(tmp_path, function)
    assert done.returncode == 1 and error in done.stderr.splitlines()[-1]
    run(tmp_path)
    check(tmp_path)


@pytest.mark.skipif(importlib.util.find_spec("mypy") is None, reason="needs mypy")
def test_its_types(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path), TRAINER.name, Path(__file__).name]
    done = subprocess.run(words, cwd=TRAINER.parent, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
