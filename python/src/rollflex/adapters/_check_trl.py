"""What the adapters of TRL need of it, and of the configuration of its asynchronous trainer."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from ._check import Finding, Framework, WrongUse, try_policy
from ._hooks import Hook
from ._trl_settings import policy_config

_trainer = "experimental/async_grpo/async_grpo_trainer.py"
_sync = "trainer/grpo_trainer.py"
_worker = "experimental/async_grpo/async_rollout_worker.py"
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
_defaults = {
    "num_generations": 8,
    "per_device_train_batch_size": 8,
    "gradient_accumulation_steps": 1,
    "world_size": 1,
    "weight_sync_steps": 1,
    "max_staleness": 4,
    "rounds_ahead": 1,
}
framework = Framework(
    "trl",
    "trl",
    "trl",
    (),
    [
        Hook(_trainer, "AsyncGRPOTrainer.__init__", takes=("rollout_worker",)),
        Hook(_trainer, "RolloutWorkerProtocol", only=(*_asked, "rollout_buffer", "metrics_queue")),
        Hook(_trainer, "RolloutWorkerProtocol.update_model_version", takes=("model_version",)),
        Hook(_trainer, "RolloutWorkerProtocol.check_health", takes=("stale_after_s",)),
        Hook(_worker, "RolloutSample", takes=_sample),
        Hook(_sync, "GRPOTrainer", sets=("reward_weights", "scale_rewards", "shuffle_dataset", "num_generations")),
        Hook(_sync, "GRPOTrainer._get_train_sampler"),
        Hook(_sync, "GRPOTrainer._generate_and_score_completions", takes=("inputs",)),
        Hook(
            _sync, "GRPOTrainer._calculate_rewards", takes=("inputs", "prompts", "completions", "completion_ids_list")
        ),
        Hook("trainer/utils.py", "RepeatSampler", sets=("batch_size", "mini_repeat_count", "repeat_count")),
    ],
    "[name=value … of AsyncGRPOConfig, world_size, rounds_ahead]",
)


def configured(argv: Sequence[str], root: Path) -> list[Finding]:
    """Takes the settings that determine a round; settings that are absent have TRL's defaults."""
    given: dict[str, Any] = {}
    for one in argv:
        name, equals, value = one.partition("=")
        if not equals or name not in _defaults:
            raise WrongUse(f"{one}: expected name=value, with one of {', '.join(sorted(_defaults))}")
        try:
            given[name] = int(ast.literal_eval(value))
        except (ValueError, SyntaxError, TypeError):
            raise WrongUse(f"{one}: expected a whole number") from None
    args = SimpleNamespace(**{**_defaults, **given})
    try:
        config = policy_config(args, {}, args.rounds_ahead)
    except ValueError as error:
        return [Finding("AsyncGRPOConfig", str(error), "raise max_staleness, or lower rounds_ahead")]
    return try_policy(None, config, "policy")
