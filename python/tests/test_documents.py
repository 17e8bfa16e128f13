"""Every Python program in the documentation runs, and prints what stands below it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from support import environment, root

documents = ["README.md", "docs/python.md", "python/README.md", "src/planners/draft-budget/README.md"]


def programs(names: list[str] = documents) -> list[tuple[str, str, str]]:
    """Place, program, and what it prints: the block of text that follows it."""
    found: list[tuple[str, str, str]] = []
    for name in names:
        text = (root / name).read_text(encoding="utf-8")
        blocks = list(re.finditer(r"^```(\w+)\n(.*?)^```$", text, re.M | re.S))
        for block, following in zip(blocks, [*blocks[1:], None], strict=True):
            if block[1] == "python":
                line = text[: block.start()].count("\n") + 1
                printed = following[2] if following is not None and following[1] == "text" else ""
                found.append((f"{name}:{line}", block[2], printed))
    return found


@pytest.mark.parametrize(("program", "printed"), [one[1:] for one in programs()], ids=[one[0] for one in programs()])
def test_a_program_prints_what_stands_below_it(tmp_path: Path, program: str, printed: str) -> None:
    assert printed != "", "a program without its output"
    path = tmp_path / "program.py"
    path.write_text(program, encoding="utf-8")
    run = subprocess.run(
        [sys.executable, str(path)], capture_output=True, text=True, env=environment(), timeout=120, cwd=tmp_path
    )
    assert (run.stderr, run.returncode) == ("", 0)
    assert run.stdout == printed


def test_every_program_has_the_types_that_a_strict_reader_wants(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    places = {}
    for number, (place, program, _) in enumerate(programs([*documents, "docs/adapters/sglang-vllm.md"])):
        places[f"program{number}.py"] = place
        (tmp_path / f"program{number}.py").write_text(program, encoding="utf-8")
    words = [sys.executable, "-m", "mypy", "--strict", "--hide-error-context", "--cache-dir", "mypy", *places]
    # What a call could have been otherwise is very long.
    run = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path, env=environment(), timeout=300)
    wrong = [line for line in run.stdout.splitlines() if ": error: " in line]
    assert [f"{places.get(line.split(':')[0])} {line}" for line in wrong] == []
    assert run.returncode == 0, run.stderr


def test_the_program_of_the_readme_is_short_and_there_are_some() -> None:
    (readme,) = [one for one in programs() if one[0].startswith("README.md")]
    assert "tail-batching" in readme[1]
    assert len(readme[1].splitlines()) <= 25
    assert len(programs()) >= 7
