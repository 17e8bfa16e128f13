"""
What the simulator says, in Python: what would have been, and which settings to switch on. It runs where Node.js is, in a
process of its own, by the command line that this package carries.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from typing import Any, cast

from ._command import carried_command
from .errors import PolicyError, PolicyErrorCode, RollflexError, policy_error_codes
from .logs import Paths

__all__ = ["advise", "what_if"]

_refusal = re.compile(r"^rollflex: (?:(.*): )?expected (.*), got (.*) \((\w+)\)$", re.M)


def what_if(
    log: Paths,
    *,
    settings: Mapping[str, Any] | None = None,
    policy: str | None = None,
    at: str | int | None = None,
    session: str | None = None,
    preset: str | None = None,
    model: str | None = None,
    gpu: str | None = None,
    gpus: int | None = None,
    tp: int | None = None,
    engine: str | None = None,
    engines: int | None = None,
    precision: str | None = None,
    cap: int | None = None,
    seeds: int = 10,
    seed: int = 1,
) -> dict[str, Any]:
    """
    Says what would have happened after an event of a log, with other settings or another policy: ``saved``, ``kept``,
    ``log``, ``asItWas``, ``changed``, ``assumed`` and more, as ``rollflex what-if --json`` prints them.

    :param settings: values from there on; a name with a dot is a field of a setting
    :param policy: the policy that takes over after the open round: ``synchronous``, ``tail-batching``, ``lossless-tail``
    :param at: after this event, or at this place, as the command takes it (``"912.5s"``)
    :param model: your model, by its name (``"Qwen2.5-32B"``) or its ``config.json``; beside it ``gpu`` (``"H100"``), ``gpus``, ``tp``,
        ``engine`` (``vllm``, ``sglang``, ``trtllm``) and ``precision``: what you do not say is in ``assumed``
    :param preset: a job of RollPacker in place of yours

    Raises :class:`NodeNotFound`, :class:`NodeTooOld`; :class:`PolicyError` for what the command refuses.
    """
    cluster = _options(model=model, gpu=gpu, gpus=gpus, tp=tp, engine=engine, engines=engines, precision=precision)
    given = _options(policy=policy, at=at, session=session, preset=preset, cap=cap, seeds=seeds, seed=seed) + cluster
    for name, value in (settings or {}).items():
        given += ["--set", f"{name}={json.dumps(value)}"]
    return _run("what-if", log, given)


def advise(dump: Paths, **options: Any) -> dict[str, Any]:
    """
    Recommends settings, from the dump of a trainer: ``verdict``, ``paid``, ``settings``, ``paste``, ``assumed`` and more,
    as ``rollflex advise --json`` prints them. The search has a budget of work, 1.2 million simulated responses.

    :param options: those of the command, in snake case: ``trainer="verl"``, ``prompts_per_round=128``; of your cluster
        ``model="Qwen2.5-32B"``, ``gpu="H100"``, ``gpus=64``, ``tp=2``, ``engine="sglang"``, ``precision="fp8"``; ``thorough=True`` looks at several times as much, in many minutes

    Raises :class:`NodeNotFound`, :class:`NodeTooOld`; :class:`PolicyError` for what the command refuses.
    """
    return _run("advise", dump, _options(**options))


def _options(**options: Any) -> list[str]:
    words: list[str] = []
    for name, value in options.items():
        if value is None or value is False:
            continue
        words.append(f"--{name.replace('_', '-')}")
        if value is not True:
            words.append(str(value))
    return words


def _run(command: str, paths: Paths, options: Sequence[str]) -> dict[str, Any]:
    files = [paths] if isinstance(paths, str | os.PathLike) else paths
    words = [*carried_command(), command, *[os.fspath(one) for one in files], "--json", *options]
    run = subprocess.run(words, capture_output=True, text=True, check=False)
    if run.returncode == 0:
        return cast(dict[str, Any], json.loads(run.stdout))
    said = run.stderr.strip()
    refused = _refusal.search(said)
    if refused is not None and refused[4] in policy_error_codes:
        path, expected, got, code = refused.groups()
        raise PolicyError(cast(PolicyErrorCode, code), path=path or "", expected=expected, got=got)
    raise RollflexError(f"rollflex {command} ended with exit code {run.returncode}: {said:.2000}")
