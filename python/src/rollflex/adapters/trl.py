"""
Tail batching in TRL's asynchronous trainer: ``AsyncGRPOTrainer(rollout_worker=TailBatchingWorker(…))``. Follows TRL
1.16.0: ``trl/experimental/async_grpo/async_grpo_trainer.py`` (``RolloutWorkerProtocol``) and
``…/async_rollout_worker.py`` (``RolloutSample``, and how samples are scored).
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import queue
import threading
import time
from collections.abc import Iterable, Mapping, Sequence, Sized
from typing import Any

from ..rollout import Engine, EnginePool, Generated, Rollout, Round, composes
from ._check import main
from ._check_trl import configured, framework
from ._composed import fitted
from ._server import async_client
from ._trl_host import TrlHost
from ._trl_samples import RewardFunction, Row, Scorer
from ._trl_settings import policy_config, sampling_of

__all__ = ["TailBatchingWorker"]
logger = logging.getLogger("rollflex")
_tick_seconds = 0.05
_stop_seconds = 30.0


class TailBatchingWorker:
    """
    A rollout worker for ``AsyncGRPOTrainer``. It runs in a thread of the trainer's process: reward functions need not
    be picklable, and may use its GPUs.

    :param args: the ``AsyncGRPOConfig`` of the trainer
    :param dataset: rows with ``prompt``: text, or messages; other columns go to the reward functions
    :param reward_funcs: as TRL's: one or several, whose rewards are summed
    :param tokenizer: tokenizer of the model
    :param engines: engines that get the new weights, made with ``log_probs=True``
    :param recipe: ``tail-batching``, or ``lossless-tail``: the data set then has its rows in the same order each time
    :param policy: settings of the recipe; ``filter`` is ``none`` or ``zero-variance``
    :param rounds_ahead: the next round begins when the samples of at most so many rounds wait for the trainer
    :param sampling: in the words of the engines; by default those of vLLM, from ``args``
    :param server: parameters of :meth:`rollflex.AsyncClient.connect`; the policy runs in this process if absent
    :param options: options of :class:`rollflex.rollout.Rollout`
    """

    def __init__(
        self,
        args: Any,
        *,
        dataset: Iterable[Mapping[str, Any]],
        reward_funcs: RewardFunction | Sequence[RewardFunction],
        tokenizer: Any,
        engines: Sequence[Engine],
        recipe: str = "tail-batching",
        policy: Mapping[str, Any] | None = None,
        rounds_ahead: int = 1,
        sampling: Mapping[str, Any] | None = None,
        server: Mapping[str, Any] | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self._config = policy_config(args, policy or {}, rounds_ahead, recipe)
        if composes(recipe, self._config) and isinstance(dataset, Sized):
            self._config = fitted(self._config, len(dataset))
        self._recipe = recipe
        a_round = self._config["promptsPerRound"] * self._config["responsesPerPrompt"]
        self._may_wait = rounds_ahead * a_round
        self.rollout_buffer: queue.Queue[Any] = queue.Queue(self._may_wait + a_round)
        """Samples for the trainer: at most those with which a round begins, and those of the present round."""
        self.metrics_queue: queue.Queue[dict[str, Any]] = queue.Queue(4096)
        self._host = TrlHost(
            EnginePool(engines),
            sampling_of(args) if sampling is None else sampling,
            dataset=dataset,
            tokenizer=tokenizer,
            template_options=args.chat_template_kwargs or {},
            scorer=Scorer(tokenizer, [reward_funcs] if callable(reward_funcs) else list(reward_funcs)),
            version=lambda: self._version,
            push=self._push,
            drops_equal_rewards=(policy or {}).get("filter") == "zero-variance",
            failures_in_a_row=self._config["promptsPerRound"],
            composes=composes(recipe, self._config),
        )
        self._server = server
        self._options = dict(options or {})
        self._version = 0
        self._beat = 0.0
        self._error: BaseException | None = None
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._main: asyncio.Task[None] | None = None
        self._stopping = False

    def start(self) -> None:
        """Begins to generate. The trainer calls this when the engines have their first weights."""
        if self._thread is not None:
            raise RuntimeError("the worker was started before: make a new one for another run")
        self._beat = time.monotonic()
        self._thread = threading.Thread(target=self._run, name="rollflex-trl", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Aborts running requests one after the other, and ends the thread. May be called at any time."""
        self._stopping = True
        thread = self._thread
        if thread is None or not thread.is_alive():
            return
        if self._loop is not None and self._main is not None:
            self._loop.call_soon_threadsafe(self._main.cancel)
        thread.join(_stop_seconds)
        if thread.is_alive():
            logger.warning("the rollout worker has not ended in %.0f s, and is left alone", _stop_seconds)

    def update_model_version(self, model_version: int) -> None:
        """
        Notes that the engines have these weights now. Running requests continue; new requests belong to this version.
        """
        self._version = model_version

    def check_health(self, stale_after_s: float) -> None:
        """Raises RuntimeError if the worker has failed, or its event loop has not run for so many seconds."""
        if self._error is not None:
            raise RuntimeError(f"the rollout worker has failed: {self._error}") from self._error
        silent = time.monotonic() - self._beat
        if self._thread is not None and not self._stopping and silent > stale_after_s:
            raise RuntimeError(f"the rollout worker has hung for {silent:.0f} s (heartbeat_stale_after_s)")

    def _run(self) -> None:
        try:
            asyncio.run(self._work())
        except asyncio.CancelledError:
            pass
        except BaseException as error:
            logger.exception("the rollout worker has failed")
            self._error = error

    async def _work(self) -> None:
        self._loop, self._main = asyncio.get_running_loop(), asyncio.current_task()
        if self._stopping:
            return
        beating = asyncio.create_task(self._tick())
        try:
            async with async_client(self._server) as client:
                rollout = await Rollout.open(client, self._host, self._config, policy=self._recipe, **self._options)
                try:
                    async with self._host.watching(rollout):
                        while True:
                            await self._room()
                            began = time.monotonic()
                            done = await rollout.round(self._version)
                            self._tell(self._metrics(rollout, done, time.monotonic() - began))
                finally:
                    await rollout.close()
        finally:
            beating.cancel()

    async def _room(self) -> None:
        """Until the trainer has taken enough."""
        began = time.monotonic()
        while self.rollout_buffer.qsize() > self._may_wait:
            await asyncio.sleep(_tick_seconds)
        waited = time.monotonic() - began
        if waited > _tick_seconds:
            self._tell({"rollout/backpressure_s": waited})

    async def _tick(self) -> None:
        while True:
            self._beat = time.monotonic()
            await asyncio.sleep(1)

    def _push(self, samples: list[Any]) -> None:
        for one in samples:
            one.enqueued_at = time.time()
            self.rollout_buffer.put_nowait(one)
        lengths = [int(sum(one.completion_mask)) for one in samples]
        self._tell(
            {
                "completions/mean_length": (float(sum(lengths)), float(len(lengths))),
                "completions/max_length": float(max(lengths)),
                "completions/min_length": float(min(lengths)),
            }
        )

    def _metrics(self, rollout: Rollout[Row, Generated], done: Round[Row, Generated], seconds: float) -> dict[str, Any]:
        return {
            "rollflex/round_s": seconds,
            "rollflex/long_round": float(done.kind == "long"),
            "rollflex/queued": float(rollout.prompts),
            "rollflex/deferred_total": float(done.deferred),
            "rollflex/dropped_total": float(len(done.dropped)),
            "rollflex/launched_total": float(done.launched),
            "rollflex/aborted_total": float(done.aborted),
            "rollflex/aborted_tokens_total": float(done.aborted_tokens),
            "rollflex/failures_total": float(done.failures),
        }

    def _tell(self, metrics: dict[str, Any]) -> None:
        """Passes on metrics. A trainer that does not read them delays nothing."""
        with contextlib.suppress(queue.Full):
            self.metrics_queue.put_nowait(metrics)


if __name__ == "__main__":
    raise SystemExit(main(framework, configured))
