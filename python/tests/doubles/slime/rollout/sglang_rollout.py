"""slime's own rollout: whole groups, over-sampling, first finished wins, then everything that runs is aborted."""

from __future__ import annotations

import asyncio
import copy
import json
import uuid
from typing import Any

from slime.rollout.base_types import RolloutFnEvalOutput, RolloutFnTrainOutput
from slime.rollout.filter_hub.base_types import MetricGatherer, call_dynamic_filter, should_drop_dynamic_filter_output
from slime.utils.async_utils import run
from slime.utils.http_utils import get, get_rollout_num_engines, post
from slime.utils.misc import SingletonMeta, load_function
from slime.utils.types import Sample

from .rm_hub import async_rm, batched_async_rm


class GenerateState(metaclass=SingletonMeta):
    def __init__(self, args: Any) -> None:
        self.args = args
        self.semaphore = asyncio.Semaphore(args.sglang_server_concurrency * get_rollout_num_engines(args))
        self.sampling_params: dict[str, Any] = {
            "temperature": args.rollout_temperature,
            "max_new_tokens": args.rollout_max_response_len,
        }
        self.reset()

    def reset(self) -> None:
        self.remaining_batch_size = 0
        self.pendings: set[asyncio.Task[Any]] = set()
        self.aborted = False

    def submit_generate_tasks(self, samples: list[list[Sample]]) -> None:
        for group in samples:
            work = generate_and_rm_group(self.args, group, self.sampling_params.copy(), evaluation=False)
            self.pendings.add(asyncio.create_task(work))
        self.remaining_batch_size += len(samples)


async def generate(args: Any, sample: Sample, sampling_params: dict[str, Any]) -> Sample:
    assert sample.status in (Sample.Status.PENDING, Sample.Status.ABORTED)
    if not sample.tokens:
        sample.tokens = [ord(one) for one in sample.prompt]
    sampling_params["max_new_tokens"] -= sample.response_length
    if sampling_params["max_new_tokens"] == 0:
        sample.status = Sample.Status.TRUNCATED
        return sample
    payload = {"sampling_params": sampling_params, "return_logprob": True, "input_ids": sample.tokens}
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    output = await post(url, payload, headers=None)
    listed = output["meta_info"].get("output_token_logprobs", [])
    sample.append_response_tokens(
        args,
        tokens=[one[1] for one in listed],
        log_probs=[one[0] for one in listed],
        trainable=True,
        meta_info=output["meta_info"],
        text=output["text"],
    )
    return sample


async def generate_and_rm(args: Any, sample: Any, sampling_params: dict[str, Any], evaluation: bool = False) -> Any:
    if sample.status in (Sample.Status.COMPLETED, Sample.Status.TRUNCATED):
        assert args.group_rm or sample.reward is not None
        return sample
    state = GenerateState(args)
    async with state.semaphore:
        if state.aborted:
            sample.status = Sample.Status.ABORTED
            return sample
        path = sample.generate_function_path or args.custom_generate_function_path
        if path is None:
            sample = await generate(args, sample, sampling_params)
        else:
            sample = await load_function(path)(args, sample, sampling_params)
    if args.group_rm:
        return sample
    samples = sample if isinstance(sample, list) else [sample]
    if all(one.status != Sample.Status.ABORTED for one in samples):
        if isinstance(sample, list):
            for one, reward in zip(sample, await batched_async_rm(args, sample), strict=True):
                one.reward = reward
        elif sample.reward is None:
            sample.reward = await async_rm(args, sample)
    return sample


async def generate_and_rm_group(
    args: Any, group: list[Sample], sampling_params: dict[str, Any], evaluation: bool = False
) -> list[Any]:
    state = GenerateState(args)
    if state.aborted:
        return group
    for sample in group:
        sample.session_id = sample.session_id or str(uuid.uuid4())
    done = await asyncio.gather(
        *(generate_and_rm(args, one, sampling_params.copy(), evaluation=evaluation) for one in group)
    )
    if not state.aborted and args.group_rm:
        for sample, reward in zip(done, await batched_async_rm(args, done), strict=True):
            sample.reward = reward
    return done


async def abort(args: Any, rollout_id: int) -> list[list[Sample]]:
    """Everything, on every engine, evaluation included, until they are idle."""
    state = GenerateState(args)
    state.aborted = True
    workers = await get(f"http://{args.sglang_router_ip}:{args.sglang_router_port}/workers")
    for url in [one["url"] for one in workers["workers"]]:
        while True:
            await post(f"{url}/abort_request", {"abort_all": True})
            load = (await get(f"{url}/v1/loads?include=core"))["loads"][0]
            if load["num_running_reqs"] + load["num_waiting_reqs"] == 0:
                break
            await asyncio.sleep(0.05)
    groups = []
    while state.pendings:
        done, state.pendings = await asyncio.wait(state.pendings, return_when=asyncio.FIRST_COMPLETED)
        groups += [task.result() for task in done] if args.partial_rollout else []
    return groups


async def generate_rollout_async(args: Any, rollout_id: int, data_source: Any) -> tuple[Any, list[list[Sample]]]:
    state = GenerateState(args)
    path = args.dynamic_sampling_filter_path
    dynamic_filter = None if path is None else load_function(path)
    metrics = MetricGatherer()
    target = args.rollout_batch_size
    data: list[list[Sample]] = []
    everything: list[list[Sample]] = []
    while len(data) < target:
        while state.remaining_batch_size < target:
            state.submit_generate_tasks(data_source(args.over_sampling_batch_size))
        done, state.pendings = await asyncio.wait(state.pendings, return_when=asyncio.FIRST_COMPLETED)
        for group in [task.result() for task in done]:
            everything.append(group)
            output = call_dynamic_filter(dynamic_filter, args, group)
            if should_drop_dynamic_filter_output(
                output, remaining_batch_size=state.remaining_batch_size, target_data_size=target
            ):
                metrics.on_dynamic_filter_drop(reason=output.reason)
                state.remaining_batch_size -= 1
            elif len(data) < target:
                # A group that is finished and not needed goes nowhere.
                data.append(group)
    aborted = await abort(args, rollout_id)
    state.reset()
    data.sort(key=lambda group: group[0].index or 0)
    if args.rollout_all_samples_process_path is not None:
        load_function(args.rollout_all_samples_process_path)(args, everything, data_source)
    return RolloutFnTrainOutput(samples=data, metrics=metrics.collect()), aborted


async def eval_rollout(args: Any, rollout_id: int) -> RolloutFnEvalOutput:
    results: dict[str, Any] = {}
    for dataset in args.eval_datasets:
        with open(dataset.path, encoding="utf-8") as file:
            prompts = [json.loads(line)[args.input_key] for line in file]
        tasks = []
        for index, prompt in enumerate(prompts):
            sample = Sample(prompt=prompt, index=index, custom_rm_path=dataset.custom_rm_path)
            params = {"max_new_tokens": dataset.max_response_len, "min_new_tokens": dataset.min_new_tokens}
            tasks.append(generate_and_rm(args, copy.deepcopy(sample), params, evaluation=True))
        samples = sorted(await asyncio.gather(*tasks), key=lambda one: one.index or 0)
        results[dataset.name] = {
            "rewards": [one.reward for one in samples],
            "truncated": [one.status == Sample.Status.TRUNCATED for one in samples],
            "samples": samples,
        }
    return RolloutFnEvalOutput(data=results)


def generate_rollout(args: Any, rollout_id: int, data_source: Any, evaluation: bool = False) -> Any:
    if evaluation:
        return run(eval_rollout(args, rollout_id))
    output, aborted = run(generate_rollout_async(args, rollout_id, data_source.get_samples))
    if aborted:
        data_source.add_samples(aborted)
    return output
