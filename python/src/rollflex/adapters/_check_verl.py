"""What :class:`rollflex.adapters.verl.TailBatchingSampler` needs of verl, and of its configuration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil
from pathlib import Path
from typing import Any

from ._check import Finding, Framework, WrongUse, try_policy, unknown
from ._config import Config, load
from ._hooks import Hook, missing
from ._order import selection, try_order

_v1 = "trainer/ppo/v1"
_given = (
    "trainer_mode",
    "trainer_config",
    "max_off_policy_threshold",
    "max_off_policy_strategy",
    "sampler_kwargs",
    "refill_fn",
)
_asked = ("sample", "get_sampleable_count", "wait_for_sampleable")
framework = Framework(
    "verl",
    "verl",
    "verl",
    ("1dda039",),
    [
        Hook(f"{_v1}/trainer_base.py", "PPOTrainer._build_replay_buffer", passes=_given),
        Hook(f"{_v1}/trainer_base.py", "PPOTrainer", of="replay_buffer", only=_asked),
        Hook(f"{_v1}/trainer_base.py", "PPOTrainer._add_prompts_to_generate"),
        Hook(f"{_v1}/trainer_separate_async.py", "PPOTrainerSeparateAsync", of="replay_buffer", only=_asked),
        Hook(f"{_v1}/replay_buffer.py", "ReplayBuffer.sample", takes=("global_steps", "partition_id", "batch_size")),
        Hook(f"{_v1}/replay_buffer.py", "ReplayBuffer._clear_groups", takes=("partition_id", "uids")),
        Hook("utils/dataset/rl_dataset.py", "RLHFDataset.__init__", takes=("data_files", "config")),
        Hook("utils/dataset/rl_dataset.py", "RLHFDataset.__getitem__"),
        Hook("utils/import_utils.py", "load_extern_type", takes=("file_path", "type_name")),
        Hook(
            "__init__.py",
            "",
            sets=("kv_list", "kv_clear", "kv_batch_get", "KVBatchMeta"),
            package="transfer_queue",
        ),
    ],
    "<the arguments of verl.trainer.main_ppo>",
)
_of_rollflex = ("pkg://rollflex.adapters.verl", "TailBatchingSampler")
_ordered = {
    ("pkg://rollflex.adapters.verl_lossless", "LosslessTailSampler"): ("LosslessTailDataset", "round-composition"),
    ("pkg://rollflex.adapters.verl_selection", "PromptSelectionSampler"): ("PromptSelectionDataset", selection),
    ("pkg://rollflex.adapters.verl_selection", "PromptSelectionSamplerAsync"): ("PromptSelectionDataset", selection),
}
"""Samplers that have a data set with an order: the data set, and the policy."""
_settings = ("server", "prompt_speculation", "filter_groups_metric", "poll_interval")


_router = "rollflex.adapters.verl_router.ProgramRouter"
_path_of_router = "actor_rollout_ref.rollout.router_config_path"
_hooks_of_router = [
    Hook(
        "workers/rollout/router.py",
        "RequestLoadBalancer",
        only=(
            "acquire_server",
            "release_server",
            "require_acquire_fields",
            "require_release_fields",
            "add_servers",
            "remove_servers",
            "get_all_servers",
            "get_status",
            "clear_sticky_cache",
            "get_total_inflight",
        ),
    ),
    Hook("workers/rollout/router.py", "RequestLoadBalancer.release_server", takes=("server_id", "request_id")),
    Hook("workers/rollout/router.py", "_create_plugin_extension", takes=("servers", "router_config_path")),
    Hook("workers/rollout/llm_server.py", "LLMServerClient.generate", takes=("request_id", "prompt_ids")),
]


def least_threshold(warmup_batches: float) -> int:
    """A group may wait for its first round, be found too old there, and be awaited in the next round."""
    return 3 + max(0, ceil(warmup_batches) - 1)


def refusals(trainer_mode: str, threshold: int | None, warmup_batches: float) -> list[Finding]:
    """Reasons why the sampler cannot run."""
    found = []
    if trainer_mode == "sync":
        found.append(
            Finding(
                "trainer.v1.trainer_mode",
                "sync ends a step by putting its engines to sleep, and a sampler cannot stop requests",
                "use colocate_async or separate_async",
            )
        )
    least = least_threshold(warmup_batches)
    if threshold is not None and threshold < least:
        found.append(
            Finding(
                "trainer.v1.sampler.max_off_policy_threshold",
                f"expected at least {least} with num_warmup_batches {warmup_batches}, or null, got {threshold}",
                "this sampler drops nothing, so old groups need a step to end in",
            )
        )
    return found


def problems(config: Config) -> list[Finding]:
    """Problems of these settings."""
    found = list(config.findings)
    if not config.get("trainer.use_v1", True):
        found.append(Finding("trainer.use_v1", "the old trainer has no samplers", "write trainer.use_v1=True"))
    sampler = "trainer.v1.sampler"
    chosen = tuple(config.get(f"{sampler}.custom_sampler.{one}") for one in ("path", "name"))
    if chosen in _ordered:
        return found + _problems_of_order(config, chosen)
    meant = _meant(config, chosen[0])
    if meant is not None:
        write = "write {0}.path={1} {0}.name={2}".format(f"{sampler}.custom_sampler", *meant)
        found.append(Finding(f"{sampler}.custom_sampler", f"is {chosen[0]}, {chosen[1]}", write))
        return found + _problems_of_order(config, meant)
    if chosen == (None, None) and config.get(_path_of_router):
        return found
    if chosen != _of_rollflex:
        own = "verl's own is used" if None in chosen else f"is {chosen[0]}, {chosen[1]}"
        write = "write {0}.path={1} {0}.name={2}".format(f"{sampler}.custom_sampler", *_of_rollflex)
        found.append(Finding(f"{sampler}.custom_sampler", own, write, note=None not in chosen))
    mode = config.get("trainer.v1.trainer_mode", "sync")
    if mode not in ("sync", "colocate_async", "separate_async"):
        expected = "expected colocate_async or separate_async"
        found.append(Finding("trainer.v1.trainer_mode", f"verl has no {mode}", expected))
    warmup = config.get(f"trainer.v1.{mode}.num_warmup_batches", 1)
    found += refusals(mode, config.get(f"{sampler}.max_off_policy_threshold"), warmup)
    if mode == "colocate_async" and warmup:
        wrong = f"{warmup}: with warm-up batches verl's own max_off_policy_strategy wait loses nothing, and is faster"
        found.append(Finding(f"trainer.v1.{mode}.num_warmup_batches", wrong, "write 0, or take verl's", note=True))
    kwargs: Mapping[str, Any] = config.get(f"{sampler}.sampler_kwargs") or {}
    found += unknown(f"{sampler}.sampler_kwargs", kwargs, _settings)
    if config.get("algorithm.filter_groups.enable") and not kwargs.get("filter_groups_metric"):
        metric = config.get("algorithm.filter_groups.metric") or "…"
        write = f"write +{sampler}.sampler_kwargs.filter_groups_metric={metric}"
        found.append(Finding("algorithm.filter_groups.enable", "a custom sampler does not see it", write))
    if config.get("skip.rollout_tq.enable"):
        found.append(Finding("skip.rollout_tq.enable", "this sampler skips no rollouts", "write false", note=True))
    prompts = config.get("data.train_batch_size", 1)
    updates = config.get(f"trainer.v1.{mode}.parameter_sync_step", 1)
    if prompts % updates:
        wrong = f"{prompts} prompts cannot be divided by parameter_sync_step {updates}: each update has its own round"
        found.append(Finding("data.train_batch_size", wrong, f"write {-(-prompts // updates) * updates}"))
    settings = {
        "promptsPerRound": max(1, prompts // updates),
        "responsesPerPrompt": 1,
        "promptSpeculation": kwargs.get("prompt_speculation", 1.5),
    }
    return found + try_policy(kwargs.get("server"), settings, f"{sampler}.sampler_kwargs")


def _meant(config: Config, path: Any) -> tuple[str, str] | None:
    """The sampler with an order that a wrong name stands for, or that the data set needs."""
    is_ahead = config.get("trainer.v1.trainer_mode", "sync") != "sync"
    for given in (path, config.get("data.custom_cls.path")):
        some = [one for one in _ordered if one[0] == given]
        if some:
            return next((one for one in some if one[1].endswith("Async") == is_ahead), some[0])
    return None


def _problems_of_order(config: Config, chosen: tuple[Any, ...]) -> list[Finding]:
    """Problems of the data set that has an order, and of its sampler."""
    dataset, policy = _ordered[chosen]
    metric = config.get("trainer.v1.sampler.sampler_kwargs.filter_groups_metric") if policy == selection else None
    wanted = {
        "data.custom_cls.path": chosen[0],
        "data.custom_cls.name": dataset,
        "data.dataloader_num_workers": 0,
        "algorithm.filter_groups.enable": metric is not None,
    }
    defaults = {"trainer.v1.trainer_mode": "sync", "algorithm.filter_groups.enable": False}
    found = []
    if not chosen[1].endswith("Async"):
        wanted = {"trainer.v1.trainer_mode": "sync", **wanted}
    elif config.get("trainer.v1.trainer_mode", "sync") == "sync":
        found.append(Finding("trainer.v1.trainer_mode", "is sync", "write PromptSelectionSampler for the sampler"))
    for where, expected in wanted.items():
        got = config.get(where, defaults.get(where))
        if got != expected:
            instead = f"write {expected}"
            if policy == selection and where == "algorithm.filter_groups.enable" and got:
                metric_of = config.get("algorithm.filter_groups.metric") or "reward"
                instead += f", or +trainer.v1.sampler.sampler_kwargs.filter_groups_metric={metric_of}"
            found.append(Finding(where, f"expected {expected} with {chosen[1]}, got {got}", instead))
    model = "reward.reward_model"
    if policy == selection and config.get(f"{model}.enable") and not config.get(f"{model}.enable_resource_pool"):
        wrong = "rewards are not there yet when the sampler returns"
        found.append(Finding(f"{model}.enable_resource_pool", wrong, "write true"))
    given = config.get("data.rollflex") or {}
    if not isinstance(given, Mapping):
        return [*found, Finding("data.rollflex", f"expected settings by name, got {given!r}")]
    found += unknown("data.rollflex", given, ("responses_per_prompt", "settings", "server", "domain"))
    prompts, responses = config.get("data.train_batch_size", 1), given.get("responses_per_prompt", 1)
    begun = config.get("actor_rollout_ref.rollout.n")
    if policy == selection and begun not in (None, responses):
        wrong = f"expected {begun}, as actor_rollout_ref.rollout.n, got {responses}"
        found.append(Finding("data.rollflex.responses_per_prompt", wrong, f"write {begun}"))
        responses = begun
    return found + try_order(policy, prompts, responses, given, "data.rollflex.settings")


def configured(argv: Sequence[str], root: Path) -> list[Finding]:
    """Reads the arguments of ``python -m verl.trainer.main_ppo``."""
    name, folder, overrides = "ppo_trainer", None, []
    rest = list(argv)
    while rest:
        one, equals, value = rest.pop(0).partition("=")
        if one in ("--config-name", "-cn", "--config-path", "-cp", "--config-dir", "-cd"):
            if not equals and not rest:
                raise WrongUse(f"{one}: expected a value")
            value = value if equals else rest.pop(0)
            if one in ("--config-name", "-cn"):
                name = value.removesuffix(".yaml")
            else:
                folder = Path(value)
        elif one.startswith("-"):
            raise WrongUse(f"{one}: expected a=b, --config-name or --config-path")
        else:
            overrides.append(one + equals + value)
    if folder is None and root == Path():
        # Without verl, its defaults are unknown: that it is not installed has been said.
        return []
    own = root / "trainer" / "config"
    # The generated file has the content of all config groups, as verl itself writes it.
    whole = own / f"_generated_{name}.yaml"
    beside = (folder or own) / f"{name}.yaml"
    if folder is not None or not whole.exists():
        base = Config.read(own / "_generated_ppo_trainer.yaml") if folder and whole.parent.exists() else Config({})
        config = Config.read(beside).over(base)
    else:
        config = Config.read(whole)
    for each in overrides:
        config.override(each)
    return problems(config) + _problems_of_router(config, root)


def _problems_of_router(config: Config, root: Path) -> list[Finding]:
    """Problems of the router that places turns, if it is configured."""
    path = config.get(_path_of_router)
    if not path:
        return []
    given = load(Path(path))
    if given.get("router_class") != _router:
        return []
    found = [Finding(one.where, why, "use verl 0.9.1") for one in _hooks_of_router for why in missing(root, one)]
    found += unknown(_path_of_router, given, ("router_class", "settings", "server", "idle_seconds"))
    settings: Mapping[str, Any] = given.get("settings") or {}
    return found + try_policy(given.get("server"), settings, f"{_path_of_router}: settings", "program-scheduling")
