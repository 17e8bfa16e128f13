"""
A job of verl's v1 trainer without a GPU, as a program: `python verl_driver.py FOLDER OVERRIDE…`. Of verl everything is
real but the engine, and the worker that has the model. `FOLDER/job.json` says how long responses are and what goes
wrong; `FOLDER/log.jsonl` gets a line for each submission, step and warning, and a last one with the end.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import sys
import time
from collections import deque
from pathlib import Path
from typing import Any

import ray
import torch
import transfer_queue as tq
from hydra import compose, initialize_config_module
from verl.single_controller.base import Worker
from verl.single_controller.base.decorator import Dispatch, make_nd_compute_dataproto_dispatch_fn, register
from verl.trainer.ppo.v1 import AgentLoopManagerTQ, get_trainer_cls, trainer_base
from verl.utils import tensordict_utils
from verl.workers.rollout.replica import RolloutReplica, RolloutReplicaRegistry, TokenOutput

folder = Path(sys.argv[1])
job: dict[str, Any] = json.loads((folder / "job.json").read_text())


class Engine:
    """Generates at one pace in so many slots, first come, first served. A prompt is `17#`, a response `bbbb…`."""

    def __init__(self, job: dict[str, Any]) -> None:
        self.job, self.free, self.version, self.aborted = job, job["slots"], 0, 0
        self.queue: deque[asyncio.Future[bool]] = deque()
        self.sessions: dict[int, deque[int]] = {}
        self.stopped, self.resumed = asyncio.Event(), asyncio.Event()
        self.resumed.set()

    async def generate(self, prompt_ids: list[int], sampling_params: dict[str, Any], **_: Any) -> TokenOutput:
        await self.resumed.wait()
        # The ids of `tiny_model` for what can be seen in ASCII; there is a newline, too.
        number, said = "".join(chr(ord("!") + one) for one in prompt_ids if one < 94).split("#")
        index, tokens, reason = int(number), 0, "aborted"
        if index in self.job["fails"]:
            raise RuntimeError(f"prompt {index} cannot be generated")
        if await self._slot():
            waiting = self.sessions.setdefault(index, deque())
            waiting.extend(range(len(self.job["lengths"][index])) if not waiting and not said else ())
            session = ord(said[0]) - ord("a") if said else waiting.popleft()
            left = self.job["lengths"][index][session] - len(said)
            began = time.monotonic()
            try:
                await asyncio.wait_for(self.stopped.wait(), left / self.job["tokens_per_second"])
                tokens = min(left - 1, int((time.monotonic() - began) * self.job["tokens_per_second"]))
                if tokens == 0 and not said:
                    waiting.appendleft(session)
            except TimeoutError:
                tokens, reason = left, "completed"
            self._release()
        self.aborted += reason == "aborted"
        return TokenOutput(
            token_ids=[ord("a") - ord("!") + session] * tokens if tokens else [],
            log_probs=[-1.0] * tokens,
            stop_reason=reason,
            num_preempted=0,
            extra_fields={"global_steps": self.version},
        )

    async def _slot(self) -> bool:
        if self.free > 0:
            self.free -= 1
            return True
        self.queue.append(asyncio.get_running_loop().create_future())
        return await self.queue[-1]

    def _release(self) -> None:
        if self.queue:
            self.queue.popleft().set_result(True)
        else:
            self.free += 1

    async def abort_all_requests(self, **_: Any) -> None:
        self.resumed.clear()
        self.stopped.set()
        while self.queue:
            self.queue.popleft().set_result(False)

    async def resume_generation(self) -> None:
        self.stopped = asyncio.Event()
        self.resumed.set()

    async def sleep(self) -> None:
        pass

    async def updated(self, version: int) -> None:
        self.version = version

    async def count(self) -> int:
        return self.aborted


class Replica(RolloutReplica):
    async def launch_servers(self) -> None:
        self._server_address = "engine"
        self._server_handle = ray.remote(Engine).options(name="engine", max_concurrency=2000).remote(job)
        self.servers = [self._server_handle]


class Model(Worker):
    """The worker of actor and rollout without a model: an update has no gradients, a checkpoint no weights."""

    def __init__(self, role: str, **_: Any) -> None:
        super().__init__()
        self._register_dispatch_collect_info("actor", dp_rank=self.rank, is_collect=True)

    @register(dispatch_mode=Dispatch.ONE_TO_ALL)
    def init_model(self) -> None:
        pass

    @register(dispatch_mode=make_nd_compute_dataproto_dispatch_fn(mesh_name="actor"))
    def update_actor(self, data: Any) -> Any:
        assert torch.isfinite(data["advantages"].values()).all()
        return tensordict_utils.get_tensordict({}, {"metrics": {"mfu": [0.0], "loss": [0.0]}})

    @register(dispatch_mode=Dispatch.ONE_TO_ALL)
    def save_checkpoint(self, local_path: str, *_: Any, **__: Any) -> None:
        Path(local_path).mkdir(parents=True)

    @register(dispatch_mode=Dispatch.ONE_TO_ALL)
    def load_checkpoint(self, local_path: str, **_: Any) -> None:
        assert Path(local_path).is_dir()

    @register(dispatch_mode=Dispatch.ONE_TO_ALL, blocking=False)
    async def update_weights(self, global_steps: int | None = None, mode: str = "auto") -> None:
        await ray.get_actor("engine").updated.remote(global_steps)


def write(**line: Any) -> None:
    with (folder / "log.jsonl").open("a") as log:
        log.write(json.dumps(line) + "\n")


class Warnings(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        write(warning=record.getMessage())


def watch(trainer: Any) -> None:
    """Writes down what the trainer submits and trains."""
    submit, step = trainer._submit_batch_to_rollout, trainer.step

    def submit_and_write(batch: Any) -> Any:
        indices = [int(info["index"]) for info in batch["extra_info"]]
        write(submitted=dict(zip(list(batch["uid"]), indices, strict=True)))
        return submit(batch)

    def step_and_write(metrics: dict[str, Any], timing: dict[str, float]) -> Any:
        batch = step(metrics, timing)
        real = [(key, tag) for key, tag in zip(batch.keys, batch.tags, strict=True) if not tag.get("is_padding")]
        numbers = {name: float(value) for name, value in metrics.items() if isinstance(value, (int, float))}
        write(step=trainer.global_steps, keys=dict(real), seconds=timing["gen"], metrics=numbers)
        if trainer.global_steps == job.get("dies_at"):
            os.kill(os.getpid(), signal.SIGKILL)
        return batch

    trainer._submit_batch_to_rollout, trainer.step = submit_and_write, step_and_write
    validate = trainer._validate

    def validate_and_write() -> dict[str, float]:
        metrics: dict[str, float] = validate()
        write(validated={name: float(value) for name, value in metrics.items()})
        return metrics

    trainer._validate = validate_and_write


def main() -> None:
    with initialize_config_module("verl.trainer.config", version_base=None):
        config = compose("ppo_trainer", [*job["overrides"], *sys.argv[2:]])
    trainer_base.ActorRolloutRefWorker = Model
    RolloutReplicaRegistry.register(config.actor_rollout_ref.rollout.name, lambda: Replica)
    logging.getLogger("rollflex").addHandler(Warnings(logging.WARNING))
    # More CPUs than there are: an actor reserves one, and waits most of the time.
    ray.init(num_cpus=64, num_gpus=1, include_dashboard=False, object_store_memory=1 << 28, _temp_dir=job["ray"])
    tq.init(config.transfer_queue)
    try:
        trainer = get_trainer_cls(config.trainer.v1.trainer_mode)(config=config)
        trainer.replay_buffer.poll_interval = job["poll_interval"]
        watch(trainer)
        trainer.init()
        agents = AgentLoopManagerTQ.create(
            config=config,
            llm_client=trainer.get_llm_client(),
            teacher_client=None,
            reward_loop_worker_handles=trainer.get_reward_handles(),
        )
        error = None
        try:
            trainer.fit(agents)
        except Exception as raised:
            error = [type(raised).__name__, isinstance(raised, ConnectionError), str(raised)]
        tags = (tq.kv_list("train") or {}).get("train", {})
        left = {key: tag["status"] for key, tag in tags.items() if tag.get("is_prompt")}
        orphans = [key for key in tags if key.split("_")[0] not in left]
        aborted = ray.get(ray.get_actor("engine").count.remote())
        validation = (tq.kv_list("val") or {}).get("val", {})
        write(left=left, orphans=orphans, validation_left=len(validation), error=error, aborted=aborted)
    finally:
        tq.close()
        ray.shutdown()


if __name__ == "__main__":
    main()
