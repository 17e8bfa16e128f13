"""The modules of the package point one way, in what they import for type checkers only, too."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from support import package


def modules(package: Path) -> dict[str, Path]:
    """The modules of a package, by their names."""
    found = {}
    for path in package.rglob("*.py"):
        parts = [package.name, *path.relative_to(package).with_suffix("").parts]
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imported(name: str, path: Path, known: Mapping[str, Path]) -> Iterator[str]:
    """The modules that a module imports, anywhere in it."""
    here = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (one.name for one in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = here[: len(here) - node.level + 1] if node.level else []
            origin = ".".join([*above, *([node.module] if node.module else [])])
            whole = (f"{origin}.{one.name}" for one in node.names)
            yield from (one if one in known else origin for one in whole)


def circle(package: Path) -> list[str]:
    """Modules that import each other in turn; none if they all point one way."""
    known = modules(package)
    graph = {name: known.keys() & set(imported(name, path, known)) for name, path in known.items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        found: list[str] = error.args[1]
        return found
    return []


def test_the_modules_point_one_way() -> None:
    assert circle(package) == []


@pytest.mark.parametrize(
    "second",
    [
        "from .first import A",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from . import first",
        "def f() -> None:\n    import pack.first",
        "from . import A",
    ],
)
def test_a_circle_is_found(tmp_path: Path, second: str) -> None:
    package = tmp_path / "pack"
    package.mkdir()
    (package / "__init__.py").write_text("from .first import A\n")
    (package / "first.py").write_text("from .second import f\nA = 1\n")
    (package / "second.py").write_text("f = 1\n")
    assert circle(package) == []
    (package / "second.py").write_text(second)
    assert {"pack.first", "pack.second"} <= set(circle(package))
