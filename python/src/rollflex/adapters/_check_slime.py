"""What :mod:`rollflex.adapters.slime` needs of slime, and of its arguments."""

from __future__ import annotations

import argparse
import inspect
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..rollout import Rollout
from ._check import Finding, Framework, try_policy, unknown
from ._config import load
from ._hooks import Hook
from ._order import selection, try_order

_sample = (
    "group_index",
    "prompt",
    "label",
    "metadata",
    "session_id",
    "reward",
    "status",
    "response_length",
    "multimodal_inputs",
    "apply_chat_template_kwargs",
    "generate_function_path",
    "custom_rm_path",
    "train_metadata",
    "get_reward_value",
)
framework = Framework(
    "slime",
    "slime",
    None,
    ("624b824",),
    [
        Hook("rollout/base_types.py", "RolloutFnTrainOutput", takes=("samples", "metrics")),
        Hook("rollout/sglang_rollout.py", "", sets=("post",)),
        Hook("rollout/sglang_rollout.py", "GenerateState", takes=("args",), sets=("sampling_params",)),
        Hook(
            "rollout/sglang_rollout.py",
            "generate_and_rm",
            takes=("args", "sample", "sampling_params", "evaluation"),
        ),
        Hook(
            "rollout/sglang_rollout.py",
            "generate_rollout",
            takes=("args", "rollout_id", "data_source", "evaluation"),
        ),
        Hook("rollout/filter_hub/base_types.py", "DynamicFilterOutput", takes=("keep", "reason")),
        Hook("rollout/filter_hub/base_types.py", "call_dynamic_filter", takes=("fn",)),
        Hook(
            "rollout/filter_hub/base_types.py",
            "should_drop_dynamic_filter_output",
            takes=("output", "remaining_batch_size", "target_data_size"),
        ),
        Hook("rollout/filter_hub/base_types.py", "MetricGatherer.on_dynamic_filter_drop", takes=("reason",)),
        Hook("rollout/rm_hub/__init__.py", "async_rm", takes=("args", "sample")),
        Hook("rollout/rm_hub/__init__.py", "batched_async_rm", takes=("args", "samples")),
        Hook(
            "rollout/data_source.py",
            "RolloutDataSource",
            takes=("args",),
            sets=("dataset", "sample_offset", "sample_index", "get_samples", "save", "load"),
        ),
        Hook(
            "rollout/data_source.py",
            "RolloutDataSourceWithBuffer",
            sets=("buffer", "_get_samples_from_buffer", "add_samples"),
        ),
        Hook("utils/http_utils.py", "post", takes=("url", "payload")),
        Hook("utils/misc.py", "load_function", takes=("path",)),
        Hook("utils/async_utils.py", "run", takes=("coro",)),
        Hook("utils/types.py", "Sample", sets=_sample),
    ],
    "<the arguments of slime's train.py>",
)
_function = "rollflex.adapters.slime.generate_rollout"
_source = "rollflex.adapters.slime.RollflexDataSource"
_source_of_slime = "slime.rollout.data_source.RolloutDataSourceWithBuffer"
_settings = (
    *("", "_policy", "_server", "_token_file", "_placement", "_affinity", "_session", "_options"),
    *("_generate", "_programs"),
    *("_selection", "_domain"),
)
_selecting = "rollflex.adapters.slime_selection."
_selects = f"{_selecting}PromptSelectionDataSource"
_learns = f"{_selecting}learn"
_turns = "rollflex.adapters.slime_programs.generate"


def refusals(args: Any) -> list[Finding]:
    """Reasons why the rollout function cannot run, from attributes of slime's arguments."""
    found = []
    choices = (
        ("rollflex_policy", ("tail-batching", "lossless-tail")),
        ("rollflex_placement", ("router", "policy")),
        ("rollflex_affinity", ("none", "prompt")),
    )
    for name, allowed in choices:
        value = getattr(args, name, allowed[0])
        if value not in allowed:
            found.append(Finding(name, f"expected {' or '.join(allowed)}, got {value!r}"))
    given: Mapping[str, Any] = getattr(args, "rollflex", None) or {}
    for one in sorted({"promptsPerRound", "responsesPerPrompt", "filter", "placement"} & set(given)):
        found.append(Finding("args.rollflex", f"{one} follows from slime's own arguments", "leave it out"))
    options = getattr(args, "rollflex_options", None) or {}
    allowed_options = [*inspect.signature(Rollout.__init__).parameters][3:]
    return found + unknown("rollflex_options", options, [one for one in allowed_options if one != "judges"])


def policy_of(args: Any) -> str:
    """The policy that the job runs with."""
    return getattr(args, "rollflex_policy", None) or "tail-batching"


def policy_config(args: Any, placement: str) -> dict[str, Any]:
    """Returns the settings of the policy: those of slime, overridden by ``args.rollflex``."""
    # A round of the lossless tail ends with its last response, so nothing is cut off.
    is_cut_off = args.partial_rollout and policy_of(args) == "tail-batching"
    partial = {"partialRollout": True, "maxStaleness": 1} if is_cut_off else {}
    return {
        "promptsPerRound": args.rollout_batch_size,
        "responsesPerPrompt": args.n_samples_per_prompt,
        # A group counts when its rewards are in and slime's filter, if any, has passed it.
        "filter": "host",
        "placement": "policy" if placement == "policy" else "host",
        **partial,
        **(getattr(args, "rollflex", None) or {}),
    }


def server_of(args: Any) -> dict[str, Any] | None:
    """Returns the parameters of :meth:`rollflex.Client.connect`; None if the policy runs in this process."""
    where = getattr(args, "rollflex_server", None) or os.environ.get("ROLLFLEX_SERVER")
    if not where:
        return None
    host, colon, port = str(where).rpartition(":")
    address: dict[str, Any] = {"host": host, "port": int(port)} if colon and port.isdigit() else {"path": where}
    return {**address, "token_file": getattr(args, "rollflex_token_file", None)}


def unknown_settings(args: Any) -> list[Finding]:
    """Settings in ``--custom-config-path`` that begin as those of rollflex, and are none."""
    return unknown(
        "", [one for one in vars(args) if one.startswith("rollflex")], [f"rollflex{one}" for one in _settings]
    )


def problems_of_selection(args: Any) -> list[Finding]:
    """Problems of the data source that selects prompts."""
    found = []
    learns = str(args.rollout_all_samples_process_path)
    if _learns != learns:
        wrong = "nothing is learnt of rewards"
        write = f"write {_learns}, or call it in your own function"
        mine = args.rollout_all_samples_process_path is not None and not learns.startswith("rollflex.")
        found.append(Finding("--rollout-all-samples-process-path", wrong, write, note=mine))
    if args.rollout_function_path == _function:
        if policy_of(args) != "tail-batching":
            wrong = f"{policy_of(args)} has an order of its own"
            found.append(Finding("rollflex_policy", wrong, "write tail-batching, or use slime's own rollout"))
        elif policy_config(args, "router").get("responseSpeculation") != 1:
            wrong = "of groups that are cut only short responses are known, which says nothing of their rewards"
            found.append(Finding("rollflex", wrong, "write responseSpeculation: 1"))
    given = {"settings": getattr(args, "rollflex_selection", None), "server": server_of(args)}
    prompts, responses = args.rollout_batch_size, args.n_samples_per_prompt
    return found + try_order(selection, prompts, responses, given, "rollflex_selection")


def problems(args: Any) -> list[Finding]:
    """Problems of these arguments."""
    found = unknown_settings(args)
    places_turns = getattr(args, "custom_generate_function_path", None) == _turns
    if places_turns:
        settings = getattr(args, "rollflex_programs", None) or {}
        found += try_policy(server_of(args), settings, "rollflex_programs", "program-scheduling")
        if args.rollout_function_path is None:
            return found
    paths = (args.data_source_path, getattr(args, "rollout_all_samples_process_path", None))
    if any(str(one).startswith(_selecting) for one in paths):
        if args.data_source_path != _selects:
            wrong = f"is {args.data_source_path}" if args.data_source_path else "slime's own is used"
            mine = args.data_source_path is not None and not args.data_source_path.startswith("rollflex.")
            found.append(Finding("--data-source-path", wrong, f"write {_selects}, or a class of this base", note=mine))
        found += problems_of_selection(args)
        if args.rollout_function_path is None:
            return found
    if args.rollout_function_path != _function:
        wrong = f"is {args.rollout_function_path}" if args.rollout_function_path else "slime's own rollout is used"
        found.append(Finding("--rollout-function-path", wrong, f"write {_function}"))
    if args.data_source_path in (None, _source_of_slime):
        found.append(Finding("--data-source-path", "the rollout function refuses slime's own", f"write {_source}"))
    elif args.data_source_path not in (_source, _selects):
        wrong = f"{args.data_source_path} must be a class that derives from {_source}"
        found.append(Finding("--data-source-path", wrong, note=True))
    if args.over_sampling_batch_size not in (None, args.rollout_batch_size):
        wrong = "has no effect with this rollout function"
        instead = "write rollflex: { promptSpeculation: 1.25 } in --custom-config-path, with tail-batching"
        found.append(Finding("--over-sampling-batch-size", wrong, instead, note=True))
    refused = refusals(args)
    if refused:
        return found + refused
    config = policy_config(args, getattr(args, "rollflex_placement", "router"))
    return found + try_policy(server_of(args), config, "rollflex", policy_of(args))


def configured(argv: Sequence[str], root: Path) -> list[Finding]:
    """Reads the arguments of ``train.py``, and skips those that rollflex does not use."""
    parser = argparse.ArgumentParser(prog="train.py", add_help=False, allow_abbrev=False)
    paths = (
        "rollout-function-path",
        "data-source-path",
        "dynamic-sampling-filter-path",
        "custom-generate-function-path",
        "rollout-all-samples-process-path",
    )
    for name in ("custom-config-path", *paths):
        parser.add_argument(f"--{name}")
    for name in ("rollout-batch-size", "over-sampling-batch-size"):
        parser.add_argument(f"--{name}", type=int)
    parser.add_argument("--n-samples-per-prompt", type=int, default=1)
    parser.add_argument("--partial-rollout", action="store_true")
    args, _ = parser.parse_known_args(list(argv))
    found = []
    if args.custom_config_path:
        for name, value in load(Path(args.custom_config_path)).items():
            setattr(args, name, value)
    if args.rollout_batch_size is None:
        found.append(Finding("--rollout-batch-size", "is required by slime"))
        args.rollout_batch_size = 1
    return found + problems(args)
