"""
What the checks of the adapters share: ``python -m rollflex.adapters.<name> --check`` looks at what is installed and
configured, and says what would not work. Nothing of the framework is imported: its files are read.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .. import Client, RollflexError, Untyped, __version__
from . import _server
from ._hooks import Hook, missing


@dataclass(frozen=True)
class Finding:
    """A problem: what is wrong, where, and what to write instead. A note would work even so."""

    where: str
    wrong: str
    instead: str = ""
    note: bool = False

    def __str__(self) -> str:
        return f"{self.where}: {self.wrong}{self.instead and f'; {self.instead}'}"


def refuse(findings: Iterable[Finding]) -> None:
    """Raises the first finding that would not work as :class:`ValueError`, when the job runs."""
    for one in findings:
        if not one.note:
            raise ValueError(str(one))


@dataclass(frozen=True)
class Framework:
    """A trainer, and the interface that its adapter needs."""

    name: str
    package: str
    """The imported package."""
    distribution: str | None
    """Name on PyPI, if there is one: an extra of rollflex then names the version that was run."""
    commits: tuple[str, ...]
    """Commit of its repository with which the adapter was tried."""
    hooks: Sequence[Hook]
    arguments: str
    """Arguments after ``--check``."""


def folder_of(package: str) -> Path | None:
    """The folder of a package on ``sys.path``, without importing the package."""
    spec = importlib.util.find_spec(package)
    places = list(spec.submodule_search_locations or ()) if spec else []
    return Path(places[0]) if places else None


class WrongUse(Exception):
    """Arguments that nobody can understand: exit code 2."""


Configured = Callable[[Sequence[str], Path], list[Finding]]
"""Takes the arguments behind ``--check`` and the folder of the framework."""


def main(framework: Framework, configured: Configured, argv: Sequence[str] | None = None) -> int:
    """Runs the command; returns its exit code: 0 fine, 1 something would not work, 2 wrong use."""
    given = list(sys.argv[1:] if argv is None else argv)
    usage = f"usage: python -m rollflex.adapters.{framework.name} --check {framework.arguments}".rstrip()
    if given[:1] != ["--check"]:
        print(usage, file=sys.stderr)
        return 0 if given in (["--help"], ["-h"]) else 2
    print(f"rollflex {__version__}, Python {'.'.join(map(str, sys.version_info[:3]))}, {_engine()}")
    findings: list[Finding] = []
    root = folder_of(framework.package)
    if root is None:
        extra = f"pip install 'rollflex[{framework.name}]'"
        how = extra if framework.distribution else "put its checkout on PYTHONPATH"
        findings.append(Finding(framework.package, "is not installed", how))
    else:
        version, note = _version(framework, root)
        print(f"{framework.name} {version}, {root}")
        other = _other_version(framework)
        lost = [Finding(one.where, why, other) for one in framework.hooks for why in _look(root, one)]
        odd = len({one.where for one in lost})
        print(f"hooks: {len(framework.hooks)}, {f'{odd} not as needed' if odd else 'all as needed'}")
        findings += [*note, *lost]
    try:
        if len(given) > 1:
            findings += configured(given[1:], root or Path())
        else:
            # The policy must be able to run, whatever its configuration.
            findings += [Finding("configuration", "none was given", framework.arguments, note=True), *try_policy()]
    except WrongUse as error:
        print(f"{error}\n{usage}", file=sys.stderr)
        return 2
    for one in findings:
        print(f"{'note ' if one.note else 'wrong'} {one}")
    wrong = sum(not one.note for one in findings)
    print(f"would not work: {wrong} finding{'s' * (wrong > 1)}" if wrong else "nothing found that would not work")
    return 1 if wrong else 0


def try_policy(
    server: Mapping[str, Any] | None = None,
    config: Mapping[str, Any] | None = None,
    where: str = "settings",
    policy: str = "tail-batching",
) -> list[Finding]:
    """Opens a session as the adapter would, in this process or in the server, and closes it again."""
    try:
        # The check must not wait for a server that does not exist.
        connecting: Client = _server.client({**server, "reconnect_seconds": 0} if server else None)
    except (RollflexError, OSError, TypeError, ValueError, ImportError) as error:
        instead = "start it: rollflex serve, or leave the server out" if server else "pip install quickjs-ng"
        return [Finding("server" if server else "policy", _line(error), instead)]
    with connecting as one:
        found = []
        theirs = one.server_info()["version"] if server else __version__
        if theirs != __version__:
            found.append(Finding("server", f"is of version {theirs}, this is {__version__}", "run the same", note=True))
        if config is not None:
            try:
                one.open(Untyped(policy), config=dict(config)).close()
            except RollflexError as error:
                found.append(Finding(where, _line(error), f"see the settings of {policy}"))
        return found


def unknown(where: str, given: Iterable[str], allowed: Iterable[str]) -> list[Finding]:
    """Names that nobody reads."""
    names = sorted(allowed)
    return [
        Finding(f"{where}.{one}" if where else one, "is not a setting", f"expected one of {', '.join(names)}")
        for one in given
        if one not in names
    ]


def ran_version(distribution: str) -> str | None:
    """The version that was run: the lower bound in this package's extra."""
    try:
        wanted = importlib.metadata.requires("rollflex") or []
    except importlib.metadata.PackageNotFoundError:
        # A checkout is not installed, so its own project file is read.
        wanted = re.findall(r'"([^"\n]+)"', (Path(__file__).parents[3] / "pyproject.toml").read_text(encoding="utf-8"))
    found = (re.match(rf"{re.escape(distribution)}\b[^;]*?>=\s*([\w.]+)", one) for one in wanted)
    return next((one[1] for one in found if one), None)


def _look(root: Path, hook: Hook) -> list[str]:
    place = folder_of(hook.package) if hook.package else root
    return [f"there is no package {hook.package}"] if place is None else missing(place, hook)


def _version(framework: Framework, root: Path) -> tuple[str, list[Finding]]:
    commit, version = _commit(root.parent), ""
    if framework.distribution is not None:
        try:
            version = importlib.metadata.version(framework.distribution)
        except importlib.metadata.PackageNotFoundError:
            version = ""
    ran = ran_version(framework.distribution) if framework.distribution else None
    found = commit[:9] if commit else version or "of an unknown version"
    same = any(commit.startswith(one) for one in framework.commits) if commit else version == ran
    if same:
        return found, []
    known = ", ".join([*([ran] if ran else []), *framework.commits])
    return found, [Finding(f"{framework.name} {found}", f"rollflex was tried with {known}", note=True)]


def _other_version(framework: Framework) -> str:
    ran = ran_version(framework.distribution) if framework.distribution else None
    return f"use {framework.name} {ran or framework.commits[0]}"


def _commit(folder: Path) -> str:
    """The checked-out commit of the folder; empty without one."""
    git = folder / ".git"
    try:
        if git.is_file():
            git = (folder / git.read_text().partition(":")[2].strip()).resolve()
        head = (git / "HEAD").read_text().strip()
        if not head.startswith("ref: "):
            return head
        name = head[5:]
        shared = git / (git / "commondir").read_text().strip() if (git / "commondir").exists() else git
        for place in (git, shared):
            if (place / name).exists():
                return (place / name).read_text().strip()
        packed = re.search(rf"^(\w+) {re.escape(name)}$", (shared / "packed-refs").read_text(), re.M)
        return packed[1] if packed else ""
    except OSError:
        return ""


def _engine() -> str:
    try:
        return f"quickjs-ng {importlib.metadata.version('quickjs-ng')}"
    except importlib.metadata.PackageNotFoundError:
        return "no quickjs-ng"


def _line(error: BaseException) -> str:
    return str(error).splitlines()[0] if str(error) else repr(error)
