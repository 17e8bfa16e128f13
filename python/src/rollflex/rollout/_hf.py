"""A model of transformers in this process."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ._hf_row import Row, row_of
from .engines import Engine, Finish, Generated, Prompt, WeightSpan
from .host import GenerationFailed

if TYPE_CHECKING:
    from ._hf_batch import Batch


@dataclass(eq=False)
class _Flight:
    row: Row
    over: asyncio.Future[Finish]
    aborting: bool = False


class HfEngine(Engine):
    """
    Generates with a causal language model of ``transformers`` in this process. All requests that run share each decode
    step. They join and leave between steps: an abort takes effect within a step, and what was generated is kept.

    Sampling: ``max_new_tokens`` (required), ``temperature`` (1.0; 0: the likeliest token), ``top_p`` (1.0), ``top_k``
    (0: no limit), ``stop_token_ids`` (by default the model's ``eos_token_id``), ``ignore_eos``. The token that ended a
    response is part of it.

    ``log_probs`` are those of softmax(logits / temperature) over the whole vocabulary, before ``top_p`` and ``top_k``:
    what a trainer with the same weights computes again. With temperature 0 they are those at temperature 1.

    Steps run in one thread of the engine's own, and only while requests run: between rounds, once nothing runs, the
    weights may be changed in place; then set :attr:`weight_version`. The engine puts the model into evaluation mode; a
    trainer that needs dropout calls ``model.train()`` before its step.
    """

    def __init__(
        self,
        model: Any,
        *,
        engine_id: str = "hf",
        tokenizer: Any = None,
        max_batch: int = 256,
        seed: int | None = None,
        after_step: Callable[[Sequence[str]], Awaitable[None]] | None = None,
    ) -> None:
        """
        ``tokenizer`` is needed where prompts are text, and gives responses their text. At most ``max_batch`` requests
        share a step; others wait. With ``seed`` the tokens of a request depend on it, on the id of the request, and on
        the weights, up to rounding. ``after_step`` is awaited between steps, with the ids of the requests that have
        ended: who waits there until the policy has answered makes a run the same each time.
        """
        super().__init__(engine_id)
        try:
            from . import _hf_batch
        except ImportError as error:
            raise ImportError("HfEngine needs torch and transformers: pip install 'rollflex[hf]'") from error
        if model.config.is_encoder_decoder or getattr(model, "_is_stateful", False):
            name = type(model).__name__
            raise ValueError(f"expected a decoder whose cache is keys and values, got {name}: use another engine")
        if max_batch < 1:
            raise ValueError(f"max_batch: expected 1 or more, got {max_batch}")
        self.model = model
        self.steps = 0
        """Decode steps so far."""
        self._torch = _hf_batch
        self._tokenizer = tokenizer
        self._max_batch = max_batch
        self._seed = seed
        self._after_step = after_step
        self._weight_version: int | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="rollflex-hf")
        self._waiting: deque[_Flight] = deque()
        self._flights: dict[str, _Flight] = {}
        self._task: asyncio.Task[None] | None = None
        self._is_stepping = False

    @property
    def weight_version(self) -> int | None:
        """Version of the weights, which responses carry. Setting it raises RuntimeError while requests run."""
        return self._weight_version

    @weight_version.setter
    def weight_version(self, version: int) -> None:
        if self._flights or self._is_stepping:
            running = len(self._flights)
            raise RuntimeError(
                f"{running} requests run with the present weights: change them when the round is drained"
            )
        self._weight_version = version

    async def is_healthy(self) -> bool:
        return True

    async def _generate(self, found: Generated, request_id: str, prompt: Prompt, sampling: Mapping[str, Any]) -> None:
        row = row_of(self.model, self._tokenizer, request_id, prompt, sampling, self._seed)
        loop = asyncio.get_running_loop()
        flight = self._flights[request_id] = _Flight(row, loop.create_future())
        self._waiting.append(flight)
        version = self._weight_version
        if self._task is None:
            self._task = loop.create_task(self._run(), name="rollflex-hf")
        try:
            found.finish = await flight.over
        finally:
            del self._flights[request_id]
            # A cancelled request leaves before the next step.
            flight.over.cancel()
        found.token_ids, found.log_probs, found.tokens = row.tokens, row.log_probs, len(row.tokens)
        if version is not None:
            found.weight_spans = [WeightSpan(str(version), 0, found.tokens)]
        if self._tokenizer is not None:
            found.text = self._tokenizer.decode(row.tokens, skip_special_tokens=True)

    async def _abort(self, request_id: str) -> None:
        flight = self._flights[request_id]
        flight.aborting = True
        if flight in self._waiting and not flight.over.done():
            flight.over.set_result("abort")

    async def _run(self) -> None:
        """Runs decode steps until no request is left."""
        batch, flights = self._torch.Batch(self.model), list[_Flight]()
        try:
            while True:
                flights = [one for one in flights if not one.over.done()]
                while self._waiting and len(flights) < self._max_batch:
                    flight = self._waiting.popleft()
                    flights += [] if flight.over.done() else [flight]
                if not flights:
                    return
                try:
                    await self._step(batch, flights)
                except Exception as error:
                    message = f"{self.id}: {type(error).__name__}: {error}"
                    for flight in flights:
                        if not flight.over.done():
                            flight.over.set_exception(GenerationFailed(message))
                    batch = self._torch.Batch(self.model)
        finally:
            self._task = None
            for flight in self._flights.values():
                flight.over.cancel()

    async def _step(self, batch: Batch, flights: Sequence[_Flight]) -> None:
        rows = [one.row for one in flights]
        self._is_stepping = True
        work = asyncio.get_running_loop().run_in_executor(self._thread, batch.step, rows)
        work.add_done_callback(self._stepped)
        await work
        ended = []
        for flight in flights:
            finish = _finish_of(flight)
            if finish is not None and not flight.over.done():
                flight.over.set_result(finish)
                ended.append(flight.row.request_id)
        if self._after_step is not None:
            await self._after_step(ended)

    def _stepped(self, _: object) -> None:
        self._is_stepping = False
        self.steps += 1


def _finish_of(flight: _Flight) -> Finish | None:
    row = flight.row
    if row.tokens[-1] in row.stop:
        return "stop"
    if len(row.tokens) >= row.max_new_tokens:
        return "length"
    return "abort" if flight.aborting else None
