"""What the tests run with is what users install, or they do not run."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from support import command, package, root

here = root / "python"
pytestmark = pytest.mark.skipif(package == here / "src" / "rollflex", reason="the source tree was asked for")


def collect(*options: str, **env: str) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-B", "-m", "pytest", "-p", "no:cacheprovider", "--collect-only", *options]
    return subprocess.run(
        [*words, "tests/test_circles.py"],
        cwd=here,
        env={name: value for name, value in {**os.environ, **env}.items() if value},
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_the_header_says_which_package_and_which_server() -> None:
    assert f"{package}; server: {' '.join(command())}" in collect().stdout


def test_another_product_is_refused(tmp_path: Path) -> None:
    other = tmp_path / "rollflex"
    shutil.copytree(package, other, ignore=shutil.ignore_patterns("__pycache__", "examples"))
    (other / "_steps.py").write_text("# of yesterday\n" + (package / "_steps.py").read_text())
    for said, env in (
        ("is the source tree", {"PYTHONPATH": str(here / "src")}),
        ("is another version, _steps.py differs", {"PYTHONPATH": str(tmp_path)}),
        ("the server would be", {"ROLLFLEX_COMMAND": sys.executable}),
    ):
        run = collect(**env)
        assert (run.returncode, said in run.stderr) == (pytest.ExitCode.USAGE_ERROR, True), run.stdout + run.stderr
