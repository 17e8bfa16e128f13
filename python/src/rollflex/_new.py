"""
``python -m rollflex new trainer NAME``: a folder with a trainer that runs and tests itself, without Node.js. The
command line makes the other kinds, which are in TypeScript.
"""

from __future__ import annotations

import difflib
import json
import re
import shutil
from collections.abc import Sequence
from pathlib import Path

from ._carried import examples

_kinds = ("host", "policy", "trainer")
_commands = ("pip install pytest mypy", "python trainer.py", "pytest")
_name = re.compile(r"[a-z0-9][a-z0-9._-]{0,99}")


class WrongUse(Exception):
    """What was typed cannot be done; the message says what can be."""


def is_for_python(words: Sequence[str]) -> bool:
    """
    Whether these words of the command line are done here.

    :raises WrongUse: there is no such kind of folder
    """
    if len(words) < 2 or words[0] != "new" or any(one.startswith("-") for one in words):
        return False
    kind = words[1]
    if kind not in _kinds:
        near = difflib.get_close_matches(kind, _kinds, n=1)
        meant = f" (did you mean {near[0]}?)" if near else ""
        raise WrongUse(f"new: expected {', '.join(_kinds[:-1])} or {_kinds[-1]}, got {json.dumps(kind)}{meant}")
    return kind == "trainer"


def make_trainer(names: Sequence[str]) -> str:
    """
    Makes the folder below the working directory.

    :param names: the words after ``new trainer``
    :returns: what to say: its files, and what comes next
    :raises WrongUse: not one plain name, or a folder that has something in it
    """
    if len(names) != 1:
        raise WrongUse(f"new trainer: expected one name, such as my_trainer, got {len(names)}")
    name = names[0]
    if _name.fullmatch(name) is None:
        expected = "small letters, digits, ., _ and -, such as my_trainer"
        raise WrongUse(f"new trainer: expected {expected}, got {json.dumps(name)}")
    folder = Path(name)
    if folder.is_file() or (folder.exists() and any(folder.iterdir())):
        raise WrongUse(f"new trainer: expected a folder that is empty or not there, got {folder.absolute()}")
    template = examples() / "17-own-trainer"
    programs = sorted(template.glob("*.py"))
    page = template / "README.md"
    if not programs or not page.exists():
        raise FileNotFoundError(
            f"{template} is not there: in a checkout, npm ci && npm run build:python makes it; else install the "
            "package anew"
        )
    folder.mkdir(exist_ok=True)
    for one in programs:
        shutil.copyfile(one, folder / one.name)
    (folder / "README.md").write_text(_page(name, page.read_text(encoding="utf-8")), encoding="utf-8")
    files = ", ".join(sorted(one.name for one in folder.iterdir()))
    return f"{name}: {files}\nnext: cd {name} && {' && '.join(_commands)}"


def _page(name: str, text: str) -> str:
    """The page of the example, with the commands of the folder in place of its own, as the command line writes it."""
    commands = "\n".join(("```sh", *_commands, "```"))
    text = re.sub(r"^# .*$", f"# {name}", text, count=1, flags=re.M)
    text = re.sub(r"^```sh\n.*?\n```$", commands, text, count=1, flags=re.M | re.S)
    return re.sub(r"\s?`(?:python -m )?rollflex new .*?\.(?=\n\n)", "", text, count=1, flags=re.S)
