"""`python -m rollflex new trainer NAME`: without Node.js, and what it refuses."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from support import environment, root

example = root / "examples" / "17-own-trainer"


def made(where: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """On a machine without Node.js."""
    run = [sys.executable, "-m", "rollflex", "new", *words]
    return subprocess.run(run, cwd=where, capture_output=True, text=True, env={**environment(), "PATH": str(where)})


def test_the_folder_runs_and_tests_itself(tmp_path: Path) -> None:
    done = made(tmp_path, "trainer", "mine")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == (
        "mine: README.md, checkpoint.py, job.py, test_trainer.py, trainer.py\n"
        "next: cd mine && pip install pytest mypy && python trainer.py && pytest\n"
    )
    folder = tmp_path / "mine"
    page = (folder / "README.md").read_text()
    assert page.startswith("# mine\n")
    assert "```sh\npip install pytest mypy\npython trainer.py\npytest\n```" in page
    assert "rollflex new" not in page and "examples/" not in page
    for program in ("trainer.py", "job.py", "checkpoint.py", "test_trainer.py"):
        assert (folder / program).read_bytes() == (example / program).read_bytes(), "npm run build:python was not run"

    ran = subprocess.run(
        [sys.executable, "trainer.py"], cwd=folder, capture_output=True, text=True, env=environment(), timeout=300
    )
    said = re.search(r"^It prints:\n\n```text\n(.*?)^```", (example / "README.md").read_text(), re.M | re.S)
    assert said is not None and (ran.returncode, ran.stdout) == (0, said[1]), ran.stderr
    # With the folder's own settings, which are none. scripts/check-wheel.sh runs them all, with those that kill it.
    words = [sys.executable, "-m", "pytest", "-q", "-c", "/dev/null", "--rootdir", ".", "-p", "no:cacheprovider"]
    words += ["-k", "nothing_left_to_do or defect"]
    tested = subprocess.run(words, cwd=folder, capture_output=True, text=True, env=environment(), timeout=600)
    assert tested.returncode == 0, tested.stdout


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("trainr", "mine"), 'new: expected host, policy or trainer, got "trainr" (did you mean trainer?)'),
        (("zebra", "mine"), 'new: expected host, policy or trainer, got "zebra"'),
        (("trainer",), "new trainer: expected one name, such as my_trainer, got 0"),
        (("trainer", "a", "b"), "new trainer: expected one name, such as my_trainer, got 2"),
        (("trainer", "../mine"), 'small letters, digits, ., _ and -, such as my_trainer, got "../mine"'),
        (("trainer", "a/b"), 'got "a/b"'),
        (("trainer", ".."), 'got ".."'),
        (("trainer", "full"), "new trainer: expected a folder that is empty or not there, got "),
        (("trainer", "file"), "new trainer: expected a folder that is empty or not there, got "),
    ],
)
def test_what_is_refused(tmp_path: Path, words: tuple[str, ...], says: str) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "notes.txt").write_text("mine")
    (tmp_path / "file").write_text("mine")
    before = sorted(tmp_path.rglob("*"))
    done = made(tmp_path, *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("rollflex: new") and says in done.stderr
    assert sorted(tmp_path.rglob("*")) == before


def test_an_empty_folder_is_filled(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    assert made(tmp_path, "trainer", "mine").returncode == 0
    assert (tmp_path / "mine" / "trainer.py").exists()


@pytest.mark.parametrize("words", [("host", "mine"), ("policy", "mine"), ("--help",), ("trainer", "--help"), ()])
def test_everything_else_is_for_the_command_line(tmp_path: Path, words: tuple[str, ...]) -> None:
    done = made(tmp_path, *words)
    assert done.returncode == 1 and "Node.js 20 or newer" in done.stderr
    assert list(tmp_path.iterdir()) == []
