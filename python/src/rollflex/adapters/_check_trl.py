"""What :class:`rollflex.adapters.trl.TailBatchingWorker` needs of TRL, and of the trainer's arguments."""

from __future__ import annotations

import argparse
import ast
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ._check import Finding, Framework, WrongUse, try_policy
from ._config import scalar
from ._hooks import Hook

_folder = "experimental/async_grpo"
_asked = ("start", "stop", "update_model_version", "check_health")
_sample = (
    "prompt",
    "completion",
    "input_ids",
    "completion_mask",
    "old_log_probs",
    "advantage",
    "model_version",
    "group_id",
    "metrics",
    "enqueued_at",
)
framework = Framework(
    "trl",
    "trl",
    "trl",
    (),
    [
        Hook(f"{_folder}/async_grpo_trainer.py", "AsyncGRPOTrainer", takes=("rollout_worker",)),
        Hook(
            f"{_folder}/async_grpo_trainer.py",
            "RolloutWorkerProtocol",
            only=(*_asked, "rollout_buffer", "metrics_queue"),
        ),
        Hook(f"{_folder}/async_grpo_trainer.py", "RolloutWorkerProtocol.check_health", takes=("stale_after_s",)),
        Hook(
            f"{_folder}/async_grpo_trainer.py",
            "RolloutWorkerProtocol.update_model_version",
            takes=("model_version",),
        ),
        Hook(f"{_folder}/async_rollout_worker.py", "RolloutSample", takes=_sample),
    ],
    "[name=value of the AsyncGRPOConfig …] [rounds_ahead=1]",
)
_of_transformers = {"per_device_train_batch_size": 8, "gradient_accumulation_steps": 1, "world_size": 1}


def policy_config(args: Any, policy: Mapping[str, Any], rounds_ahead: int) -> dict[str, Any]:
    """Settings of the policy: those that follow from the trainer's, and then ``policy``."""
    if rounds_ahead < 0:
        raise ValueError(f"rounds_ahead: expected 0 or more, got {rounds_ahead}")
    if policy.get("filter", "none") not in ("none", "zero-variance"):
        raise ValueError(f"policy: filter: expected none or zero-variance, got {policy['filter']!r}")
    a_step = args.per_device_train_batch_size * args.gradient_accumulation_steps * args.world_size
    prompts = policy.get("promptsPerRound", math.ceil(a_step / args.num_generations))
    # Syncs while samples wait: for those of the rounds ahead, for those of the round, and one that is under way.
    waiting = math.ceil((rounds_ahead + 1) * prompts * args.num_generations / (a_step * args.weight_sync_steps)) + 1
    staleness = policy.get("maxStaleness", max(0, args.max_staleness - waiting))
    if staleness + waiting > args.max_staleness:
        raise ValueError(
            f"max_staleness: expected at least {staleness + waiting}, got {args.max_staleness}: samples may wait for "
            f"{waiting} weight syncs with rounds_ahead {rounds_ahead} and {prompts} prompts a round, and the trainer "
            "would drop them"
        )
    ours = {"responsesPerPrompt", "placement"} & set(policy)
    if ours:
        raise ValueError(f"policy: {', '.join(sorted(ours))} follow from the trainer's arguments and the engines")
    return {
        **policy,
        "promptsPerRound": prompts,
        "responsesPerPrompt": args.num_generations,
        "maxStaleness": staleness,
        # A group counts when its rewards are in.
        "filter": "host",
        "placement": "host",
    }


def configured(argv: Sequence[str], root: Path) -> list[Finding]:
    """Takes fields of the trainer's ``AsyncGRPOConfig``, which a script makes; TRL's defaults for the others."""
    given: dict[str, Any] = {}
    for one in argv:
        name, equals, value = one.lstrip("-").partition("=")
        if not equals:
            raise WrongUse(f"{one}: expected name=value")
        given[name] = scalar(value)
    ahead = given.pop("rounds_ahead", 1)
    known = {**_of_transformers, **dict(_defaults(root / _folder / "async_grpo_config.py"))}
    try:
        config = policy_config(argparse.Namespace(**{**known, **given}), {}, ahead)
    except ValueError as error:
        where, _, wrong = str(error).partition(": ")
        return [Finding(where, wrong)]
    except AttributeError as error:
        return [Finding("AsyncGRPOConfig", str(error), "give its value here, too")]
    return try_policy(None, config, "AsyncGRPOConfig")


def _defaults(path: Path) -> Iterator[tuple[str, Any]]:
    """Fields of the dataclasses in a file, with the defaults that are written there."""
    if not path.exists():
        return
    for one in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name) and one.value is not None:
            value: ast.expr | None = one.value
            if isinstance(value, ast.Call):
                value = next((each.value for each in value.keywords if each.arg == "default"), None)
            if isinstance(value, ast.Constant):
                yield one.target.id, value.value
