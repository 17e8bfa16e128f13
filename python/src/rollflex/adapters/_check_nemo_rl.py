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
from ._order import selection, try_order

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
        Hook(_samplers, "InOrderSampler.__init__", takes=("buffer", "max_lookahead_versions")),
        Hook(_buffer, "TQReplayBuffer.commit", takes=("group_id", "record")),
        Hook("experience/interfaces.py", "PromptGroupRecord", takes=("prompt_idx", "completions")),
        Hook("experience/interfaces.py", "Completion", takes=("message_log",)),
        Hook("data/datasets/utils.py", "resolve_external_dataset_class", takes=("dataset_name",)),
        Hook("data/datasets/response_datasets/__init__.py", "load_response_dataset", takes=("data_config",)),
    ],
    "[--config FILE] [a.b=value …]",
)
_target = "rollflex.adapters.nemo_rl:TailBatchingSampler"
_ordered = {
    "rollflex.adapters.nemo_rl_lossless:LosslessTailSampler": "round-composition",
    "rollflex.adapters.nemo_rl_selection:PromptSelectionSampler": selection,
}
"""Samplers that have the order of the data set, and its policy."""
_settings_of_order = (
    "max_lookahead_versions",
    "responses_per_prompt",
    "shuffle",
    "seed",
    "domain",
    "settings",
    "server",
    "state_dir",
)
_settings = ("max_staleness_versions", "max_lookahead_versions", "prompt_speculation", "server")


def least_staleness(lookahead: int) -> int:
    """A group may wait for its first round, be found too old there, and be awaited in the next round."""
    return 1 + lookahead


def refusals(staleness: int, lookahead: int) -> list[Finding]:
    """Reasons why the sampler cannot run."""
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
    """Groups of a short round, groups that are too old, the rest of a batch, and the steps ahead."""
    of_round = math.ceil(speculation * groups_per_step - 1e-9)
    return of_round + (of_round - groups_per_step) + (groups_per_step - 1) + lookahead * groups_per_step


def problems(config: Config) -> list[Finding]:
    """Problems of these settings."""
    found = list(config.findings)
    if config.get("grpo.async_grpo") is not None:
        found.append(Finding("grpo.async_grpo", "the single controller refuses it", "write null"))
    sampler: Mapping[str, Any] = config.get("async_rl.sampler") or {}
    if sampler.get("target") in _ordered:
        return found + _problems_of_order(config, sampler)
    meant = next((one for one in _ordered if str(sampler.get("target")).startswith(one.partition(":")[0])), None)
    if meant is not None:
        found.append(Finding("async_rl.sampler.target", f"is {sampler.get('target')!r}", f"write {meant}"))
        return found + _problems_of_order(config, {**sampler, "target": meant})
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


def _problems_of_order(config: Config, sampler: Mapping[str, Any]) -> list[Finding]:
    """Problems of the data set that has an order, and of its sampler."""
    found = []
    policy, module = _ordered[sampler["target"]], sampler["target"].partition(":")[0]
    train = config.get("data.train") or {}
    name = None if isinstance(train, list) else train.get("dataset_name")
    if name is None or not name.startswith(f"{module}."):
        got = "several data sets" if isinstance(train, list) else f"is {name!r}"
        write = f"write {module}.NAME with the name of your data set, or a class of yours with this base"
        own = name is not None and "." in name and not name.startswith("rollflex.")
        found.append(Finding("data.train.dataset_name", got, write, note=own))
    for where, expected in {"data.num_workers": 0, "async_rl.sampler.name": "custom"}.items():
        got = config.get(where, expected)
        if got != expected:
            found.append(Finding(where, f"expected {expected} with {policy}, got {got}", f"write {expected}"))
    if config.get("async_rl.rollout_failure.on_dropped_prompt", "shrink") != "shrink":
        wrong = "batches that are put aside for that would be in no step"
        found.append(Finding("async_rl.rollout_failure.on_dropped_prompt", wrong, "write shrink"))
    given = {key: value for key, value in sampler.items() if key not in ("name", "target")}
    found += unknown("async_rl.sampler", given, _settings_of_order)
    responses, wanted = given.get("responses_per_prompt", 1), config.get("grpo.num_generations_per_prompt")
    if wanted is not None and responses != wanted:
        wrong = f"expected {wanted}, as grpo.num_generations_per_prompt, got {responses}"
        found.append(Finding("async_rl.sampler.responses_per_prompt", wrong, f"write {wanted}"))
    prompts = config.get("grpo.num_prompts_per_step", 1)
    return found + try_order(policy, prompts, responses, given, "async_rl.sampler.settings")


def configured(argv: Sequence[str], root: Path) -> list[Finding]:
    """Reads the arguments of ``run_grpo_single_controller.py``."""
    return problems(read(argv))
