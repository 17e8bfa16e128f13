"""What an adapter needs of a framework's source: read, and not imported, which may need a GPU."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

Definition = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Hook:
    """A class or function of the framework, by its dotted name, and the parts of it that the adapter uses."""

    file: str
    """Name of the file in the package's folder."""
    name: str
    takes: tuple[str, ...] = ()
    """Parameters, or dataclass fields, that the adapter passes by name or position."""
    passes: tuple[str, ...] = ()
    """The exact keywords of a call in its body, with which the adapter is called."""
    sets: tuple[str, ...] = ()
    """Attributes of its objects."""
    only: tuple[str, ...] = ()
    """
    All public methods and attributes that an interface may have; with ``of``, all methods that are called on the
    attribute.
    """
    of: str = ""
    """Name of an attribute."""
    package: str = ""
    """Name of the package with the file, if it is not the framework's own."""

    @property
    def where(self) -> str:
        return f"{self.file}, {self.name}" if self.name else self.file


def missing(root: Path, hook: Hook) -> list[str]:
    """Returns the differences from what the adapter needs, in words."""
    path = root / hook.file
    if not path.exists():
        return ["there is no such file"]
    try:
        tree = _tree(path)
    except SyntaxError as error:
        return [f"cannot be read: {error}"]
    if not hook.name:
        gone = [one for one in hook.sets if one not in _names(tree)]
        return [f"has no {', '.join(gone)}"] if gone else []
    found = _find(tree, hook.name)
    if found is None:
        return ["does not exist"] if hook.name not in _names(tree) else []
    wrong = []
    gone = [one for one in hook.takes if one not in _parameters(tree, found)]
    if gone:
        wrong.append(f"does not take {', '.join(gone)}")
    if hook.passes and set(hook.passes) not in _calls(found):
        nearest = max(_calls(found), key=lambda one: len(one & set(hook.passes)), default=frozenset())
        odd = sorted(nearest ^ set(hook.passes))
        wrong.append(f"calls with other arguments than the adapter takes ({', '.join(odd)})")
    gone = [one for one in hook.sets if one not in set(_attributes(tree, found))]
    if gone:
        wrong.append(f"has no {', '.join(gone)}")
    if hook.only:
        used = _methods_of(found, hook.of) if hook.of else _public(found)
        more = sorted(set(used) - set(hook.only))
        if more:
            wrong.append(f"asks for {', '.join(more)}, which the adapter does not have")
    return wrong


@lru_cache(maxsize=64)
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def _names(tree: ast.Module) -> set[str]:
    """Names that a module defines or imports."""
    found: set[str] = set()
    for one in ast.walk(tree):
        if isinstance(one, Definition):
            found.add(one.name)
        elif isinstance(one, ast.Import | ast.ImportFrom):
            found |= {alias.asname or alias.name for alias in one.names}
    return found


def _find(tree: ast.Module, name: str) -> Definition | None:
    """Finds a definition by its dotted name; a method may be in a base class in the same file."""
    first, *rest = name.split(".")
    found = next((one for one in ast.walk(tree) if isinstance(one, Definition) and one.name == first), None)
    for part in rest:
        if found is None:
            return None
        found = next((one for whole in _family(tree, found) for one in _members(whole) if one.name == part), None)
    return found


def _family(tree: ast.Module, one: Definition) -> Iterator[Definition]:
    yield one
    if isinstance(one, ast.ClassDef):
        for base in one.bases:
            found = _find(tree, base.id) if isinstance(base, ast.Name) else None
            if found is not None and found is not one:
                yield from _family(tree, found)


def _members(one: Definition) -> Iterator[Definition]:
    return (inner for inner in one.body if isinstance(inner, Definition))


def _parameters(tree: ast.Module, one: Definition) -> set[str]:
    if isinstance(one, ast.ClassDef):
        made = _find(tree, f"{one.name}.__init__")
        # A dataclass takes its fields as parameters.
        return _parameters(tree, made) if made is not None else set(_attributes(tree, one))
    arguments = one.args
    return {each.arg for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}


def _calls(one: Definition) -> list[frozenset[str]]:
    return [
        frozenset(each.arg for each in call.keywords if each.arg is not None)
        for call in ast.walk(one)
        if isinstance(call, ast.Call)
    ]


def _attributes(tree: ast.Module, one: Definition) -> Iterator[str]:
    for whole in _family(tree, one):
        for inner in ast.walk(whole):
            if isinstance(inner, ast.Attribute) and isinstance(inner.ctx, ast.Store):
                yield inner.attr
            elif isinstance(inner, ast.AnnAssign | ast.Assign):
                targets = inner.targets if isinstance(inner, ast.Assign) else [inner.target]
                yield from (each.id for each in targets if isinstance(each, ast.Name))
            elif isinstance(inner, Definition):
                yield inner.name


def _public(one: Definition) -> Iterator[str]:
    yield from (inner.name for inner in _members(one) if not inner.name.startswith("_"))
    for inner in one.body:
        if isinstance(inner, ast.AnnAssign) and isinstance(inner.target, ast.Name):
            yield inner.target.id


def _methods_of(one: Definition, attribute: str) -> Iterator[str]:
    """Names that are called as ``self.<attribute>.<name>(…)``."""
    for call in ast.walk(one):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
            held = call.func.value
            if isinstance(held, ast.Attribute) and held.attr == attribute:
                yield call.func.attr
