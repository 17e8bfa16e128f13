"""Configurations of frameworks as their commands take them: YAML files that build on others, and ``a.b=value``."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ._check import Finding, WrongUse


class Config:
    """Nested settings."""

    def __init__(self, values: Mapping[str, Any], known: bool = True) -> None:
        self.values: dict[str, Any] = dict(values)
        self._known = known
        """Whether the values contain all settings of the job."""
        self.findings: list[Finding] = []

    @classmethod
    def read(cls, path: Path) -> Config:
        """Reads a file, and the files in its ``defaults``. Raises :class:`WrongUse`."""
        values = load(path)
        below: dict[str, Any] = {}
        defaults = values.pop("defaults", [])
        for one in [defaults] if isinstance(defaults, str) else defaults:
            beside = path.parent / one if isinstance(one, str) else path
            # Hydra looks for groups in its own search path.
            if beside.suffix in (".yaml", ".yml") and beside.exists():
                below = merged(below, cls.read(beside).values)
        return cls(merged(below, values))

    def over(self, below: Config) -> Config:
        """Returns these settings, completed by the settings of another configuration."""
        return Config(merged(below.values, self.values), known=False)

    def get(self, name: str, default: Any = None) -> Any:
        found: Any = self.values
        for part in name.split("."):
            if not isinstance(found, Mapping) or part not in found:
                return default
            found = found[part]
        if isinstance(found, str) and found.startswith("${") and found.endswith("}"):
            return self.get(found[2:-1], default)
        return found

    def override(self, text: str) -> None:
        """``a.b=value``, with the signs of Hydra: ``+`` adds, ``++`` does either, ``~`` deletes."""
        name, equals, value = text.partition("=")
        *parents, last = name.lstrip("+~").split(".")
        if not equals and not name.startswith("~"):
            raise WrongUse(f"{text}: expected a.b=value")
        inner, adds = self.values, name.startswith("+")
        for part in parents:
            if not isinstance(inner.get(part), dict):
                inner[part] = {}
            inner = inner[part]
        if name.startswith("~"):
            inner.pop(last, None)
            return
        if self._known and not adds and last not in inner:
            where = ".".join([*parents, last])
            self.findings.append(Finding(where, "the framework has no such setting", f"write +{text}, if it is right"))
        inner[last] = scalar(value)


def configured(argv: Sequence[str], option: str = "--config") -> Config:
    """``--config FILE``, and overrides. Raises :class:`WrongUse`."""
    rest = list(argv)
    config = Config({}, known=False)
    while rest and rest[0].startswith("-"):
        name, equals, value = rest.pop(0).partition("=")
        if name != option or not (equals or rest):
            raise WrongUse(f"{name}: expected {option} FILE")
        config = Config.read(Path(value if equals else rest.pop(0)))
    for one in rest:
        config.override(one)
    return config


def load(path: Path) -> dict[str, Any]:
    """A YAML file with settings. Raises :class:`WrongUse`."""
    try:
        found = _parsed(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise WrongUse(f"{path}: {error}") from None
    if not isinstance(found, dict):
        raise WrongUse(f"{path}: expected settings with names, got {type(found).__name__}")
    return found


def merged(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    found = dict(below)
    for name, value in above.items():
        old = found.get(name)
        found[name] = merged(old, value) if isinstance(old, Mapping) and isinstance(value, Mapping) else value
    return found


def scalar(text: str) -> Any:
    """A value behind an equals sign."""
    try:
        return _parsed(text)
    except ValueError:
        return text


def _parsed(text: str) -> Any:
    try:
        # All JSON is YAML, and JSON needs no package.
        return json.loads(text)
    except ValueError:
        pass
    try:
        import yaml
    except ImportError:
        if "\n" in text:
            raise ValueError("YAML is read by PyYAML: pip install pyyaml") from None
        return text
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(str(error).replace("\n", " ")) from None
