"""slime without a GPU: its own files where `SLIME_PATH` names a checkout, else a double of them; and a job."""

from __future__ import annotations

import importlib
import json
import os
import sys
from argparse import Namespace
from pathlib import Path
from typing import Any

from mock_engines import MockEngines
from tiny_model import make_tiny_model

doubles = Path(__file__).parent / "doubles"
real = os.environ.get("SLIME_PATH")


def use_slime() -> None:
    """Makes `slime` importable. Its own files need what they import: `bench/real/suites.ts` names it."""
    if "slime" in sys.modules:
        return
    sys.path.insert(0, real or str(doubles))
    if real is None:
        sys.path.append(str(doubles))
        importlib.import_module("torch")


class Job:
    """Arguments of slime, engines, and prompts."""

    def __init__(self, folder: Path, engines: MockEngines, prompts: int, **changes: Any) -> None:
        use_slime()
        from slime.utils.http_utils import init_http_client
        from slime.utils.misc import SingletonMeta

        SingletonMeta._instances.clear()
        self.engines = engines
        self.folder = folder
        path = folder / "prompts.jsonl"
        path.write_text("".join(json.dumps({"text": f"question {row}"}) + "\n" for row in range(prompts)))
        host, _, port = engines.url.removeprefix("http://").partition(":")
        given = {
            "prompt_data": str(path),
            "sglang_router_ip": host,
            "sglang_router_port": int(port),
            "rollout_num_engines": len(engines.engine_urls),
            "rollflex_options": {"send_interval_seconds": 0.0},
            "save": str(folder),
            "load": str(folder),
            "hf_checkpoint": str(make_tiny_model(folder / "model")) if real else "none",
        }
        self.args = Namespace(**{**_usual, **given, **changes})
        init_http_client(self.args)

    def data_source(self) -> Any:
        from rollflex.adapters.slime import RollflexDataSource

        return RollflexDataSource(self.args)

    def rollout(self, rollout_id: int, source: Any, evaluation: bool = False) -> Any:
        from rollflex.adapters.slime import generate_rollout

        return generate_rollout(self.args, rollout_id, source, evaluation=evaluation)

    def own_rollout(self, rollout_id: int, source: Any) -> Any:
        """slime's own."""
        from slime.rollout.sglang_rollout import generate_rollout

        return generate_rollout(self.args, rollout_id, source)


_usual: dict[str, Any] = {
    "rollout_batch_size": 8,
    "over_sampling_batch_size": 8,
    "n_samples_per_prompt": 4,
    "rollout_global_dataset": True,
    "dump_details": None,
    "rollout_max_prompt_len": None,
    "input_key": "text",
    "label_key": None,
    "metadata_key": "metadata",
    "tool_key": None,
    "multimodal_keys": None,
    "apply_chat_template": False,
    "apply_chat_template_kwargs": None,
    "rollout_seed": 1,
    "rollout_shuffle": False,
    "buffer_filter_path": None,
    "dynamic_sampling_filter_path": None,
    "partial_rollout": False,
    "mask_offpolicy_in_partial_rollout": False,
    "sglang_server_concurrency": 512,
    "sglang_dp_size": 1,
    "sglang_speculative_algorithm": None,
    "rollout_temperature": 1.0,
    "rollout_top_p": 1.0,
    "rollout_top_k": -1,
    "rollout_max_response_len": 8000,
    "rollout_stop": None,
    "rollout_stop_token_ids": None,
    "rollout_skip_special_tokens": True,
    "custom_generate_function_path": None,
    "custom_rm_path": "slime_rewards.by_length",
    "rm_type": None,
    "group_rm": False,
    "reward_key": None,
    "eval_reward_key": None,
    "eval_datasets": [],
    "eval_max_prompt_len": None,
    "rollout_sample_filter_path": None,
    "rollout_all_samples_process_path": None,
    "rollout_sample_hook_path": None,
    "use_rollout_routing_replay": False,
    "use_distributed_post": False,
    "router_policy": None,
    "ci_test": False,
}
