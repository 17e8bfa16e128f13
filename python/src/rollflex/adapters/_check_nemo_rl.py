"""What :class:`rollflex.adapters.nemo_rl.TailBatchingSampler` needs of NeMo-RL, and of its configuration."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ._check import Finding, Framework, try_policy, unknown
from ._config import Config
from ._config import configured as read
from ._hooks import Hook

_samplers = "algorithms/async_utils/staleness_sampler.py"
_buffer = "algorithms/async_utils/replay_buffer.py"
_asked = (
    "admit",
    "select",
    "evict",
    "should_abort_inflight",
    "is_on_policy",
    "required_buffer_capacity",
    "set_dispatch_index",
)
framework = Framework(
    "nemo_rl",
    "nemo_rl",
    None,
    ("7ea279a",),
    [
        Hook(_samplers, "create_sampler", takes=("buffer", "cfg")),
        Hook(_samplers, "CustomSamplerConfig", takes=("name", "target")),
        Hook(_samplers, "PromptGroupSampler", only=_asked),
        Hook(_samplers, "PromptGroupSampler.admit", takes=("trainer_version_fn",)),
        Hook(
            _samplers,
            "PromptGroupSampler.select",
            takes=("current_train_weight", "min_prompt_groups", "max_prompt_groups"),
        ),
        Hook(_samplers, "PromptGroupSampler.evict", takes=("current_train_weight",)),
        Hook(_samplers, "PromptGroupSampler.required_buffer_capacity", takes=("groups_per_step",)),
        Hook(_samplers, "PromptGroupSampler.set_dispatch_index", takes=("resume_from_step",)),
        Hook(_buffer, "TQReplayBuffer", sets=("meta_list", "start_weight_list", "ready_list", "_group_ids")),
        Hook(_buffer, "TQReplayBuffer.remove", takes=("idxs", "remove_in_dp")),
        Hook("algorithms/single_controller.py", "SingleControllerActor", of="_sampler", only=_asked),
    ],
    "[--config FILE] [a.b=value …]",
)
_target = "rollflex.adapters.nemo_rl:TailBatchingSampler"
_settings = ("max_staleness_versions", "max_lookahead_versions", "prompt_speculation", "server")


def least_staleness(lookahead: int) -> int:
    """A group may wait for its first round, is found too old in one, and is waited for in the next."""
    return 1 + lookahead


def refusals(staleness: int, lookahead: int) -> list[Finding]:
    """What the sampler cannot run with."""
    if lookahead < 0:
        wrong = f"expected 0 or more, got {lookahead}"
        return [Finding("async_rl.sampler.max_lookahead_versions", wrong, "write 1")]
    least = least_staleness(lookahead)
    if staleness < least:
        wrong = f"expected at least {least} with max_lookahead_versions {lookahead}, got {staleness}"
        why = "this sampler drops nothing, so old groups need a step to end in"
        return [Finding("async_rl.sampler.max_staleness_versions", wrong, why)]
    return []


def required_capacity(groups_per_step: int, lookahead: int, speculation: float) -> int:
    """Groups of a short round, those that are too old, the rest of a batch, and the steps ahead."""
    of_round = math.ceil(speculation * groups_per_step - 1e-9)
    return of_round + (of_round - groups_per_step) + (groups_per_step - 1) + lookahead * groups_per_step


def problems(config: Config) -> list[Finding]:
    """What would not work with these settings."""
    found = list(config.findings)
    if config.get("grpo.async_grpo") is not None:
        found.append(Finding("grpo.async_grpo", "the single controller refuses it", "write null"))
    sampler: Mapping[str, Any] = config.get("async_rl.sampler") or {}
    if sampler.get("name") != "custom" or sampler.get("target") != _target:
        own = f"is {sampler.get('name')!r}, with target {sampler.get('target')!r}"
        return [*found, Finding("async_rl.sampler", own, f"write name: custom, target: {_target}")]
    given = {name: value for name, value in sampler.items() if name not in ("name", "target")}
    found += unknown("async_rl.sampler", given, _settings)
    lookahead, speculation = given.get("max_lookahead_versions", 1), given.get("prompt_speculation", 1.5)
    refused = refusals(given.get("max_staleness_versions", 6), lookahead)
    groups = config.get("grpo.num_prompts_per_step")
    buffered = config.get("async_rl.max_buffered_rollouts")
    if not refused and groups is not None and buffered is not None:
        needed = required_capacity(groups, lookahead, speculation)
        if buffered < needed:
            wrong = f"expected at least {needed} with {groups} prompts a step, got {buffered}"
            found.append(Finding("async_rl.max_buffered_rollouts", wrong, f"write {needed}"))
    if not config.get("loss_fn.use_importance_sampling_correction"):
        wrong = "groups are older than the weights that they train"
        found.append(Finding("loss_fn.use_importance_sampling_correction", wrong, "write true"))
    settings = {"promptsPerRound": groups or 1, "responsesPerPrompt": 1, "promptSpeculation": speculation}
    return [*found, *refused, *try_policy(given.get("server"), settings, "async_rl.sampler")]


def configured(argv: Sequence[str], root: Path) -> list[Finding]:
    """Takes what ``run_grpo_single_controller.py`` takes."""
    return problems(read(argv))
