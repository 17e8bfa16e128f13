"""The JavaScript and the examples that the package carries; a checkout has it once it was built."""

from __future__ import annotations

from pathlib import Path

from .errors import EngineUnavailable

_folder = Path(__file__).parent / "_js"


def embedded_script() -> str:
    """The script with the policies, for an engine in this process. Raises :class:`EngineUnavailable`."""
    path = _folder / "embedded.js"
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise EngineUnavailable(
            f"{path} is not there ({error.strerror}): in a checkout, npm ci && npm run build:python makes it; "
            "else install the package anew"
        ) from error


def command_line() -> Path | None:
    """The file with the server and the other commands, for Node.js."""
    path = _folder / "cli.js"
    return path if path.exists() else None


def examples() -> Path:
    """The folder with the examples that new folders are copies of."""
    return _folder / "examples"
