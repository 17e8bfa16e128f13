"""What :class:`rollflex.adapters.roll.TailBatchingLoop` needs of ROLL, and of its configuration."""

from __future__ import annotations

import math
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from ._check import Finding, Framework, try_policy
from ._config import Config
from ._config import configured as read
from ._hooks import Hook

_scheduler = "distributed/scheduler/generate_scheduler.py"
_loop = "distributed/scheduler/user_defined_rollout_loop.py"
_context = ("prompt_id", "meta_info", "pipeline_config", "is_val", "is_num_return_sequences_expand", "domain")
framework = Framework(
    "roll",
    "roll",
    None,
    ("8eb27cc",),
    [
        Hook(
            _scheduler,
            "expand_requests",
            takes=("data", "num_return_sequences", "is_num_return_sequences_expand"),
        ),
        Hook(_scheduler, "RolloutContext", sets=(*_context, "_scheduler")),
        Hook(_scheduler, "RolloutContext.get_request_data", takes=("meta_info",)),
        Hook(_scheduler, "RolloutContext.do_generate_and_reward", takes=("max_concurrency",)),
        Hook(_scheduler, "RolloutContext.generate", takes=("req", "domain")),
        Hook(_scheduler, "RolloutContext.compute_rewards", takes=("req", "domain")),
        Hook(
            _scheduler,
            "DynamicSamplingScheduler",
            sets=("router_manager", "replay_buffer", "reward_clusters", "indices", "dataset_iter_count"),
        ),
        Hook(_scheduler, "ReplayBuffer", sets=("batch_size",)),
        Hook(_loop, "UserDefinedRolloutLoop.process_new_prompt", takes=("context",)),
        Hook(_loop, "UserDefinedRolloutLoop._generate_and_reward", takes=("context", "req", "domain")),
        Hook(_loop, "query_filter", takes=("data_list", "config")),
        Hook("distributed/scheduler/router.py", "RouterManager", sets=("need_shutdown",)),
        Hook("distributed/scheduler/router.py", "RouterManager.abort_requests", takes=("request_ids", "uid")),
    ],
    "[--config FILE] [a.b=value …]",
)


def speculation(loop: Any) -> dict[str, float]:
    """Settings of a class from ``TailBatchingLoop``: the lossless tail has none."""
    if loop.recipe == "lossless-tail":
        return {}
    return {"promptSpeculation": loop.prompt_speculation, "responseSpeculation": loop.response_speculation}


def refusals(expands: bool, settings: Any, prompts: int, loop: Any) -> list[Finding]:
    """
    Reasons why the loop cannot run.

    :param expands: `is_num_return_sequences_expand`
    :param settings: ROLL's configuration
    :param prompts: number of prompts per step, in one scheduler
    :param loop: a class derived from ``TailBatchingLoop``
    """
    found = []
    if loop.recipe not in ("tail-batching", "lossless-tail"):
        found.append(Finding("recipe", f"expected tail-batching or lossless-tail, got {loop.recipe!r}"))
    prompt_speculation = speculation(loop).get("promptSpeculation", 1)
    if loop.recipe == "lossless-tail" and settings.async_generation_ratio > 0:
        # A window is drawn ahead of its training step, after ROLL has saved its place in the data set.
        wrong = f"expected 0 with lossless-tail, got {settings.async_generation_ratio}"
        found.append(Finding("async_generation_ratio", wrong, "write 0"))
    if not expands:
        wrong = "expected true, each response is a request of its own"
        found.append(Finding("is_num_return_sequences_expand", wrong, "write true"))
    needed = math.ceil(prompts * prompt_speculation - 1e-9)
    enough = settings.is_use_additional_prompts and settings.max_additional_running_prompts >= needed
    if prompt_speculation > 1 and not enough:
        wrong = (
            f"expected is_use_additional_prompts and max_additional_running_prompts of {needed} at least, for "
            f"prompt_speculation {prompt_speculation}"
        )
        instead = f"write is_use_additional_prompts: true, max_additional_running_prompts: {needed}"
        found.append(Finding("max_additional_running_prompts", wrong, instead))
    return found


class _Settings:
    """ROLL's own defaults, where a file says nothing."""

    def __init__(self, config: Config) -> None:
        self.async_generation_ratio = float(config.get("async_generation_ratio", 0))
        self.is_use_additional_prompts = bool(config.get("is_use_additional_prompts", False))
        self.max_additional_running_prompts = int(config.get("max_additional_running_prompts", 16))


def problems(config: Config) -> list[Finding]:
    """Problems of these settings."""
    found = list(config.findings)
    where = "user_defined_rollout_loop_cls"
    path = config.get(where)
    if not path:
        return [*found, Finding(where, "ROLL's own loop is used", "write the path of a class from TailBatchingLoop")]
    module, _, name = str(path).rpartition(".")
    try:
        loop = getattr(import_module(module), name)
    except (ImportError, ValueError, AttributeError) as error:
        return [*found, Finding(where, f"{path} cannot be imported: {error}", "put its folder on PYTHONPATH")]
    # The class is compared by name, because the module exists twice when the adapter runs as a program.
    if not any((one.__module__, one.__name__) == _base for one in getattr(loop, "__mro__", ())):
        return [*found, Finding(where, f"{path} is no class from {'.'.join(_base)}", "derive it from that")]
    level = config.get("generate_opt_level", 1)
    if level != 1:
        found.append(Finding("generate_opt_level", f"expected 1, which has a scheduler, got {level}", "write 1"))
    prompts = config.get("rollout_batch_size", 128)
    # Each domain has a separate scheduler; the largest needs most.
    share = max((config.get("actor_train.data_args.domain_interleave_probs") or {"": 1}).values())
    expands = bool(config.get("is_num_return_sequences_expand", False))
    found += refusals(expands, _Settings(config), math.ceil(prompts * share), loop)
    settings = {
        "promptsPerRound": prompts,
        "responsesPerPrompt": config.get("num_return_sequences_in_group", 1),
        "filter": "host",
        **speculation(loop),
        **loop.policy,
    }
    return found + try_policy(loop.server, settings, f"{path}.policy", loop.recipe)


_base = ("rollflex.adapters.roll", "TailBatchingLoop")


def configured(argv: Sequence[str], root: Path) -> list[Finding]:
    """Takes the file of the pipeline, which ``start_rlvr_pipeline.py`` names in two parts."""
    return problems(read(argv))
