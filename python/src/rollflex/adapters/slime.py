"""
Tail batching in slime: ``--rollout-function-path rollflex.adapters.slime.generate_rollout`` and ``--data-source-path
rollflex.adapters.slime.RollflexDataSource``. Follows slime at commit 624b824 (21 August 2026).
"""

from __future__ import annotations

import logging
from typing import Any

if __name__ == "__main__":
    from ._check import main
    from ._check_slime import configured, framework

    # Before slime is imported, which may need a GPU.
    raise SystemExit(main(framework, configured))

from slime.rollout import sglang_rollout
from slime.rollout.base_types import RolloutFnTrainOutput
from slime.utils.async_utils import run
from slime.utils.misc import load_function

from ..aio import AsyncClient
from ..errors import RollflexError
from ..rollout import PolicyUnavailable, Rollout, Round, composes
from ._check import refuse
from ._check_slime import policy_config, policy_of, refusals, server_of
from ._composed import fitted
from ._slime_filter import check_reward_nonzero_std
from ._slime_host import Samples, SlimeHost, is_healthy, samples_of
from ._slime_source import RollflexDataSource

__all__ = ["RollflexDataSource", "check_reward_nonzero_std", "generate_rollout"]
logger = logging.getLogger("rollflex")


def generate_rollout(args: Any, rollout_id: int, data_source: Any, evaluation: bool = False) -> Any:
    """
    Generates one round. Evaluation stays slime's own: it is not part of the session, and no abort touches it.

    Settings are attributes of ``args``, such as those of a ``--custom-config-path`` file: ``rollflex_policy``
    (``tail-batching`` or ``lossless-tail``), ``rollflex`` (settings of the policy), ``rollflex_server`` (a socket, or
    ``host:port``; in this process if there is none), ``rollflex_token_file``, ``rollflex_placement`` (``router``, or
    ``policy``: past the router), ``rollflex_affinity`` (``none`` or ``prompt``), ``rollflex_options`` (of
    :class:`rollflex.rollout.Rollout`).
    """
    if evaluation:
        return sglang_rollout.generate_rollout(args, rollout_id, data_source, evaluation=True)
    if not isinstance(data_source, RollflexDataSource):
        raise TypeError("--data-source-path must be rollflex.adapters.slime.RollflexDataSource, or a class from it")
    if data_source.session is None:
        data_source.session = _Session(args, data_source)
        data_source.take_checkpoint = data_source.session.checkpoint
    return data_source.session.generate(rollout_id)


class _Session:
    """A session for a data source."""

    def __init__(self, args: Any, data_source: RollflexDataSource) -> None:
        self._args = args
        self._data_source = data_source
        self._placement = getattr(args, "rollflex_placement", "router")
        refuse(refusals(args))
        affinity = getattr(args, "rollflex_affinity", "none")
        returns = composes(policy_of(args), getattr(args, "rollflex", None) or {})
        self._host = SlimeHost(args, data_source, affinity=affinity, composes=returns)
        self._client: AsyncClient | None = None
        self._rollout: Rollout[Samples, Any] | None = None
        self._engines: set[str] = set()
        self._host.engine_failed = self._engine_failed

    def generate(self, rollout_id: int) -> Any:
        return run(self._generate(rollout_id))

    def checkpoint(self) -> dict[str, Any] | None:
        if self._rollout is None:
            return self._data_source.checkpoint
        found: dict[str, Any] = run(self._rollout.checkpoint())
        return found

    def close(self) -> None:
        if self._client is not None:
            run(self._close())

    async def _generate(self, rollout_id: int) -> Any:
        host = self._host
        rollout = self._rollout or await self._open()
        host.begin_round()
        if self._placement == "policy":
            await self._tell_engines(rollout)
        try:
            done = await rollout.round(rollout_id)
        except PolicyUnavailable:
            # The prompts are in the buffer now, so the next call begins with a new session.
            await self._close()
            raise
        if not done.groups:
            raise RollflexError(f"rollout {rollout_id} has nothing to train on: {done.reason}")
        data = [samples_of(group) for group in done.groups]
        data.sort(key=_first_index)
        if self._args.rollout_sample_filter_path is not None:
            load_function(self._args.rollout_sample_filter_path)(self._args, data)
        if self._args.rollout_all_samples_process_path is not None:
            everything = sorted(host.all_groups, key=_first_index)
            process = load_function(self._args.rollout_all_samples_process_path)
            process(self._args, everything, self._data_source.get_samples)
        return RolloutFnTrainOutput(samples=data, metrics={**host.metrics.collect(), **_metrics(rollout, done)})

    async def _open(self) -> Rollout[Samples, Any]:
        args = self._args
        if self._client is None:
            self._client = await _client(args)
        checkpoint = self._data_source.checkpoint
        config, dataset = policy_config(args, self._placement), self._data_source.dataset
        if composes(policy_of(args), config) and dataset is not None:
            config = fitted(config, len(dataset))
        self._rollout = await Rollout.open(
            self._client,
            self._host,
            config,
            policy=policy_of(args),
            session=getattr(args, "rollflex_session", None),
            checkpoint=checkpoint,
            **getattr(args, "rollflex_options", {}),
        )
        self._engines = set((checkpoint or {}).get("engines", ()))
        self._data_source.checkpoint = None
        return self._rollout

    async def _tell_engines(self, rollout: Rollout[Samples, Any]) -> None:
        """Tells the policy which engines the router has now."""
        urls = set(await self._host.workers())
        for url in sorted(urls - self._engines):
            rollout.engine_added(url)
        for url in sorted(self._engines - urls):
            rollout.engine_lost(url)
        self._engines = urls

    async def _engine_failed(self, url: str) -> None:
        """Checks an engine after a failed request: if it is gone, the policy must not send more requests there."""
        rollout = self._rollout
        if rollout is None or url not in self._engines or await is_healthy(url) or url not in self._engines:
            return
        logger.warning("engine %s is gone", url)
        self._engines.discard(url)
        rollout.engine_lost(url)

    async def _close(self) -> None:
        client, rollout, self._client, self._rollout = self._client, self._rollout, None, None
        if rollout is not None:
            await rollout.close()
        if client is not None:
            await client.close()


async def _client(args: Any) -> AsyncClient:
    server = server_of(args)
    return await AsyncClient.embedded() if server is None else await AsyncClient.connect(**server, wait=30)


def _first_index(group: Samples) -> int:
    first = group[0][0] if isinstance(group[0], list) else group[0]
    return int(first.index)


def _metrics(rollout: Rollout[Samples, Any], done: Round[Samples, Any]) -> dict[str, float]:
    outbox = rollout.outbox
    found = {
        "long_round": done.kind == "long",
        "deferred": done.deferred,
        "queued": rollout.prompts,
        "dropped": len(done.dropped),
        "launched": done.launched,
        "aborted": done.aborted,
        "aborted_tokens": done.aborted_tokens,
        "failures": done.failures,
        "policy_calls": outbox.calls,
    }
    return {f"rollout/rollflex/{name}": float(value) for name, value in found.items()}
