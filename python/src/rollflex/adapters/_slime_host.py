"""slime as the host of a rollout: its own generation, hooks, rewards and filter, one response at a time."""

from __future__ import annotations

import asyncio
import copy
import time
import uuid
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from slime.rollout import sglang_rollout
from slime.rollout.filter_hub.base_types import MetricGatherer, call_dynamic_filter, should_drop_dynamic_filter_output
from slime.rollout.rm_hub import async_rm, batched_async_rm
from slime.utils import http_utils
from slime.utils.misc import load_function
from slime.utils.types import Sample

from ..rollout import Dropped, GenerationFailed, Group, Host, Launch, Response, Supplied
from ..rollout._http import Address, HttpError, call
from ._slime_filter import check_reward_nonzero_std, has_a_filter_for_one
from ._slime_requests import Requests, current, with_ids

Samples = list[Any]
"""A group of slime: the samples of one prompt. An item is a ``Sample``, or a list of samples if generation fans out."""
_workers_are_known_seconds = 2.0
_aborts_at_once = 64
_health_seconds = 5.0
_for_a_window = ("window_begun", "host_restarted")


class SlimeHost(Host[Samples, Any]):
    """The host of a rollout, one per data source."""

    def __init__(self, args: Any, data_source: Any, *, affinity: str, composes: bool = False) -> None:
        self.args = args
        self._data_source = data_source
        self._affinity = affinity
        self._composes = composes
        # slime's state is a singleton, so it must see the present arguments.
        sglang_rollout.GenerateState(args)
        self._without_reward = copy.copy(args)
        self._without_reward.group_rm = True
        self._requests: dict[str, Requests] = {}
        self._at_once = asyncio.Semaphore(_aborts_at_once)
        self._known_workers: list[str] = []
        self._known_since = float("-inf")
        path = args.dynamic_sampling_filter_path
        self._filter = None if path is None else load_function(path)
        if path is not None and args.n_samples_per_prompt == 1 and not has_a_filter_for_one(path):
            # The standard deviation of a single reward is not a number, so no group would ever pass.
            self._filter = check_reward_nonzero_std
        http_utils.post = with_ids(http_utils.post)
        sglang_rollout.post = with_ids(sglang_rollout.post)
        self.engine_failed: Callable[[str], Awaitable[None]] | None = None
        """Told when a request has failed at an engine that the policy had chosen."""
        self.begin_round()

    def begin_round(self) -> None:
        self.metrics = MetricGatherer()
        self.all_groups: list[Samples] = []
        self._candidates = 0

    async def workers(self) -> list[str]:
        """Engines behind the router."""
        if time.monotonic() > self._known_since + _workers_are_known_seconds:
            router = Address.of(f"http://{self.args.sglang_router_ip}:{self.args.sglang_router_port}")
            answer = await call(router, "GET", "/workers", timeout=30)
            self._known_workers = [one["url"].rstrip("/") for one in answer["workers"]]
            self._known_since = time.monotonic()
        return self._known_workers

    async def supply(self, count: int, domains: Mapping[str, int] | None) -> Sequence[Supplied[Samples]]:
        return [Supplied(self._prompt_id(group), group) for group in self._data_source.get_samples(count)]

    async def give_back(self, prompts: Sequence[Supplied[Samples]]) -> None:
        self._data_source.add_samples([one.body for one in prompts])

    async def generate(self, launch: Launch[Samples, Any]) -> Response[Any]:
        sample = copy.deepcopy(launch.resume_from) if launch.resume_from is not None else self._new_sample(launch)
        requests = Requests(launch.request_id, launch.engine_id, self.workers, self._at_once)
        self._requests[launch.request_id] = requests
        current.set(requests)
        state = sglang_rollout.GenerateState(self.args)
        params = state.sampling_params.copy()
        if getattr(self.args, "sglang_enable_deterministic_inference", False):
            params["sampling_seed"] = self.args.rollout_seed + launch.index
        try:
            result = await sglang_rollout.generate_and_rm(self._without_reward, sample, params, evaluation=False)
        except Exception:
            if launch.engine_id is not None and self.engine_failed is not None:
                await self.engine_failed(launch.engine_id)
            raise
        finally:
            del self._requests[launch.request_id]
        parts = result if isinstance(result, list) else [result]
        if any(one.status == Sample.Status.FAILED for one in parts):
            # A failed sample's reward does not judge the model.
            raise GenerationFailed("the sample has the status FAILED", "environment")
        tokens = sum(one.response_length for one in parts)
        finished = all(one.status != Sample.Status.ABORTED for one in parts)
        return Response(result, tokens, finished=finished)

    async def abort(self, launch: Launch[Samples, Any]) -> bool | None:
        requests = self._requests.get(launch.request_id)
        return None if requests is None else await requests.abort()

    async def reward(self, launch: Launch[Samples, Any], response: Response[Any]) -> float | None:
        if self.args.group_rm:
            return None
        result = response.body
        if isinstance(result, list):
            missing = [one for one in result if one.reward is None]
            rewards = await batched_async_rm(self.args, missing) if missing else []
            for one, reward in zip(missing, rewards, strict=True):
                one.reward = reward
            return None
        if result.reward is None:
            result.reward = await async_rm(self.args, result)
        value = result.get_reward_value(self.args)
        return float(value) if isinstance(value, int | float) else None

    async def judge(self, group: Group[Samples, Any]) -> bool:
        samples = samples_of(group)
        if self.args.group_rm:
            rewards = await batched_async_rm(self.args, samples)
            for one, reward in zip(samples, rewards, strict=True):
                one.reward = reward
        self.all_groups.append(samples)
        output = call_dynamic_filter(self._filter, self.args, samples)
        target = self.args.rollout_batch_size
        if not should_drop_dynamic_filter_output(
            output, remaining_batch_size=self._candidates, target_data_size=target
        ):
            return True
        self.metrics.on_dynamic_filter_drop(reason=output.reason)
        return False

    def dropped(self, dropped: Dropped[Samples]) -> None:
        if dropped.cause != "filtered":
            self.metrics.on_dynamic_filter_drop(reason=f"rollflex_{dropped.cause}")

    def decided(self, decision: Mapping[str, Any]) -> None:
        """Counts the prompts that may still come to be trained on."""
        kind = decision["type"]
        if kind in ("round.planned", "prompts.released"):
            self._candidates += len(decision["queued"])
        elif kind == "prompts.request" and not (self._composes and decision["reason"]["code"] in _for_a_window):
            self._candidates += decision["count"]
        elif kind in ("prompt.filtered", "prompt.failed", "prompt.merged"):
            self._candidates -= 1

    def _prompt_id(self, group: Samples) -> str:
        """Id of the group, which is new in every epoch; or of the row, for a policy that remembers its lengths."""
        first = group[0][0] if isinstance(group[0], list) else group[0]
        row = getattr(first, "rollflex_row", None)
        if self._composes and row is not None:
            return f"row-{row}"
        return str(uuid.uuid4()) if first.group_index is None else f"group-{first.group_index}"

    def _new_sample(self, launch: Launch[Samples, Any]) -> Any:
        group = launch.prompt
        if launch.index < len(group):
            sample = copy.deepcopy(group[launch.index])
        else:
            sample = fresh(group[0])
            sample.index = self._data_source.new_index()
        if self._affinity == "prompt":
            sample.session_id = f"{launch.prompt_id}-{launch.round_id}"
        elif sample.session_id is None:
            sample.session_id = str(uuid.uuid4())
        return sample


async def is_healthy(url: str) -> bool:
    """Whether an engine answers."""
    try:
        await call(Address.of(url), "GET", "/health", timeout=_health_seconds)
    except (OSError, HttpError, asyncio.TimeoutError):
        return False
    return True


def samples_of(group: Group[Samples, Any]) -> Samples:
    """Returns a group in slime's form."""
    return [one.body for one in group.samples]


def fresh(sample: Any) -> Any:
    """The same prompt, with nothing generated."""
    new = Sample(group_index=sample.group_index, prompt=copy.deepcopy(sample.prompt), label=sample.label)
    for name in _of_the_prompt:
        setattr(new, name, copy.deepcopy(getattr(sample, name)))
    new.metadata.pop("start_rollout_id", None)
    return new


_of_the_prompt = (
    "multimodal_inputs",
    "apply_chat_template_kwargs",
    "metadata",
    "generate_function_path",
    "custom_rm_path",
    "train_metadata",
)
