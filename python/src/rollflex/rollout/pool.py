"""Several engines: where a request goes, and which of them are up."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, Literal

from ._chunks import Chunks, limits
from ._failing import FailingEngines
from ._headers import headers_of
from ._http_engine import HttpEngine
from ._weights import Weights
from .engines import Engine, Generated, Prompt
from .host import GenerationFailed, Host, Launch, P, Response
from .rollout import Rollout

logger = logging.getLogger("rollflex")
Affinity = Literal["none", "prompt"]


class EnginePool:
    """
    Engines by id. A request goes to the engine that the policy names. If the policy names none, it goes to the engine
    with the fewest requests or, with ``affinity="prompt"``, to the engine of its prompt's other responses, to share
    their KV cache. An engine whose requests fail is used last, except for one request after 1, 2, 4 … 60 s; engines that
    all fail take turns. ``api_key`` and ``headers`` are for servers without their own.
    """

    def __init__(
        self,
        engines: Sequence[Engine],
        *,
        affinity: Affinity = "none",
        api_key: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        if not engines:
            raise ValueError("a pool needs an engine")
        self.engines = {one.id: one for one in engines}
        if len(self.engines) < len(engines):
            raise ValueError("two engines have the same id")
        if api_key is not None or headers is not None:
            shared = headers_of(api_key, headers, environment=True)
            for one in engines:
                if isinstance(one, HttpEngine):
                    one.use_headers(shared)
        self.up = set(self.engines)
        self._some_up = asyncio.Event()
        self._affinity = affinity
        self._places: dict[str, tuple[str, int]] = {}
        self._failing = FailingEngines()

    async def generate(
        self,
        request_id: str,
        prompt: Prompt,
        sampling: Mapping[str, Any],
        *,
        engine_id: str | None = None,
        prompt_id: str | None = None,
        placed: Callable[[str], None] | None = None,
    ) -> Generated:
        """
        Generates one response. Evaluation may call this with its own ids, which other aborts do not touch. While
        :meth:`watch` finds no engine up, the request waits. ``placed`` is told the engine that the pool has chosen.
        Raises :class:`~rollflex.rollout.GenerationFailed`.
        """
        while engine_id is None and not self.up:
            await self._some_up.wait()
        engine = self._place(engine_id, prompt_id, request_id)
        if placed is not None and engine_id is None:
            placed(engine.id)
        if prompt_id is not None:
            self._places[prompt_id] = (engine.id, self._places.get(prompt_id, ("", 0))[1] + 1)
        try:
            found = await engine.generate(request_id, prompt, sampling)
        except GenerationFailed as error:
            if error.kind == "infrastructure":
                self._failing.failed(engine.id)
            raise
        else:
            if found.finish != "abort":
                self._failing.succeeded(engine.id)
            return found
        finally:
            self._failing.end(engine.id, request_id)
            if prompt_id is not None:
                id, count = self._places.pop(prompt_id)
                if count > 1:
                    self._places[prompt_id] = (id, count - 1)

    async def abort(self, request_id: str) -> bool:
        """Aborts one request on whichever engine it runs, and waits for its end. Returns False if no engine has it."""
        places = [engine for engine in self.engines.values() if request_id in engine.running()]
        for engine in places:
            await engine.abort(request_id)
        return bool(places)

    async def watch(
        self, rollout: Rollout[Any, Any], *, every_seconds: float = 5.0, misses: int = 2, divided: bool = False
    ) -> None:
        """
        Tells the policy which engines are up, until cancelled. An engine that fails so many checks in a row is lost;
        its requests are launched on other engines, or on this one when it is back. With ``divided`` requests do not
        end: their chunks run on other engines.
        """
        missed = dict.fromkeys(self.engines, 0)
        for id in sorted(self.up):
            rollout.engine_added(id)
        try:
            while True:
                await asyncio.sleep(every_seconds)
                ids = sorted(self.engines)
                healthy = await asyncio.gather(*(self.engines[id].is_healthy() for id in ids))
                for id, is_healthy in zip(ids, healthy, strict=True):
                    missed[id] = 0 if is_healthy else missed[id] + 1
                    if is_healthy and id not in self.up:
                        logger.warning("engine %s answers again, and takes requests", id)
                        self._mark_up(id)
                        rollout.engine_added(id)
                    elif missed[id] >= misses and id in self.up:
                        self._lose(rollout, self.engines[id], divided)
        finally:
            # Nobody watches the engines any more.
            for id in self.engines:
                self._mark_up(id)

    def _mark_up(self, id: str) -> None:
        self.up.add(id)
        self._some_up.set()

    def _lose(self, rollout: Rollout[Any, Any], engine: Engine, divided: bool) -> None:
        self.up.discard(engine.id)
        ids, why = engine.running(), engine.trouble or "it does not answer"
        self._failing.failed(engine.id)
        logger.error("engine %s is lost (%s): its %d requests are launched again elsewhere", engine.id, why, len(ids))
        if not self.up:
            self._some_up.clear()
            logger.error("no engine is up: requests wait until one answers")
        rollout.engine_lost(engine.id, () if divided else ids)

    def _place(self, engine_id: str | None, prompt_id: str | None, request_id: str) -> Engine:
        if engine_id is not None:
            return self.engines[engine_id]
        if self._affinity == "prompt" and prompt_id in self._places:
            near = self._places[prompt_id][0]
            if near in self.up and near not in self._failing:
                return self.engines[near]
        up = (self.engines[id] for id in self.up)
        chosen = min(up, key=lambda one: (self._failing.rank(one.id), one.load, one.id))
        self._failing.begin(chosen.id, request_id)
        return chosen


class EngineHost(Host[P, Generated], Generic[P]):
    """
    A host whose requests run on a pool. Subclasses only implement ``supply``, ``give_back``, and rewards. With
    ``divided`` (``dividedRollout`` of ``lossless-tail``) responses are generated in chunks; then rounds run inside of
    :meth:`watching`, and sampling has a limit of new tokens.
    """

    def __init__(self, pool: EnginePool, sampling: Mapping[str, Any], *, divided: bool = False) -> None:
        self.pool = pool
        self.sampling = dict(sampling)
        """Sampling parameters in the server's terms; the limit of new tokens is cumulative if responses are resumed."""
        self.rollout: Rollout[P, Generated] | None = None
        self._watched: Rollout[P, Generated] | None = None
        self._weights = Weights()
        self._divided = divided
        self._chunks: Chunks | None = None

    def prompt_of(self, body: P) -> Prompt:
        """Returns the prompt in the engine's form: by default the body itself."""
        assert isinstance(body, str | list | tuple)
        return body

    def sampling_of(self, launch: Launch[P, Generated]) -> dict[str, Any]:
        """Returns the sampling parameters of a response: by default ``sampling``."""
        return dict(self.sampling)

    async def generate(self, launch: Launch[P, Generated]) -> Response[Generated]:
        if not self._divided:
            return await self._generate(launch)
        if self._chunks is None:
            raise GenerationFailed("responses in chunks run inside of `async with host.watching(rollout)`", "setup")
        prompt = self.prompt_of(launch.prompt)
        # A text has a token for about 4 characters.
        tokens = len(prompt) // 4 + 1 if isinstance(prompt, str) else len(prompt)
        return await self._chunks.generate(launch, tokens, self.sampling_of(launch), self._generate)

    def decided(self, decision: Mapping[str, Any]) -> None:
        if self._chunks is not None:
            self._chunks.decided(decision)

    async def _generate(self, launch: Launch[P, Generated], most: int | None = None) -> Response[Generated]:
        """Generates a response, or at most so many tokens."""
        prompt, sampling, before = self.prompt_of(launch.prompt), self.sampling_of(launch), launch.resume_from
        if before is not None:
            prompt = prompt + before.text if isinstance(prompt, str) else [*prompt, *before.token_ids]
            for name in limits:
                if name in sampling:
                    sampling[name] = max(1, sampling[name] - before.tokens)
        for name in limits:
            if name in sampling and most is not None:
                sampling[name] = min(sampling[name], most)
        found = await self.pool.generate(
            launch.request_id,
            prompt,
            sampling,
            engine_id=launch.engine_id,
            prompt_id=launch.prompt_id,
            placed=lambda engine_id: self._placed(launch.request_id, engine_id),
        )
        self._weights.look(found, launch.weight_version)
        if before is not None:
            found.continues(before)
        return Response(found, found.tokens, found.finish != "abort", found.weight_versions)

    def _placed(self, request_id: str, engine_id: str) -> None:
        """The policy knows the engines while they are watched, so it is told which engine a failure belongs to."""
        if self._watched is not None and not self._divided:
            self._watched.request_started(request_id, engine_id)

    async def abort(self, launch: Launch[P, Generated]) -> bool:
        return await self.pool.abort(launch.request_id)

    @contextlib.asynccontextmanager
    async def watching(self, rollout: Rollout[P, Generated], **options: Any) -> Any:
        """``async with host.watching(rollout): …``: the policy knows which engines are up meanwhile."""
        self._chunks = Chunks(lambda event: rollout.tell(event, urgent=True)) if self._divided else None
        watch = self.pool.watch(rollout, divided=self._divided, **options)
        task = asyncio.get_running_loop().create_task(watch)
        # Engines are known before the first round is asked for.
        await asyncio.sleep(0)
        self._watched = rollout
        try:
            yield
        finally:
            self._watched = None
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
