"""Clients of inference engines, against engines without a GPU."""

from __future__ import annotations

import asyncio
import inspect
import sys
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Any

import pytest

import rollflex
from mock_engines import MockEngines
from rollflex.rollout import (
    Engine,
    EngineHost,
    EnginePool,
    GenerationFailed,
    HfEngine,
    Launch,
    Response,
    Rollout,
    SglangEngine,
    Supplied,
    VllmEngine,
    _chunks,
)
from rollflex.rollout._chunks import Chunks
from rollflex.rollout.engines import Generated, Prompt
from support import eventually_async

Make = Callable[..., MockEngines]


@pytest.fixture
def mocks() -> Iterator[Make]:
    made: list[MockEngines] = []

    def make(*args: str) -> MockEngines:
        made.append(MockEngines(*args))
        return made[-1]

    yield make
    for one in made:
        one.stop()


def run(test: Awaitable[Any]) -> None:
    async def bounded() -> None:
        await asyncio.wait_for(test, 60)

    asyncio.run(bounded())


def words(tokens: int) -> dict[str, Any]:
    """What makes SGLang's mock stop after so many tokens."""
    return {"max_new_tokens": 10_000, "custom_params": {"response_tokens": tokens}}


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("incremental", [False, True])
def test_sglang_streamed_or_not_gives_the_same(mocks: Make, stream: bool, incremental: bool) -> None:
    engines = mocks("--speed", "2000", *(["--incremental-streaming"] if incremental else []))

    async def test() -> None:
        engine = SglangEngine(engines.engine_urls[0], stream=stream, log_probs=True)
        found = await engine.generate("p/0#0", "a prompt", words(70))
        assert (found.tokens, len(found.token_ids), found.finish) == (70, 70, "stop")
        assert found.log_probs is not None and len(found.log_probs) == 70
        assert len(found.text.split()) == 70
        again = await SglangEngine(engines.engine_urls[0]).generate("q/0#0", "a prompt", words(70))
        assert (again.text, again.token_ids) == (found.text, found.token_ids)
        cut = await engine.generate("p/1#0", [1, 2, 3], {"max_new_tokens": 9, "ignore_eos": True})
        assert (cut.tokens, cut.finish) == (9, "length")
        assert engine.load == 0

    run(test())


@pytest.mark.parametrize("stream", [False, True])
def test_sglang_aborts_one_request_and_asks_again(mocks: Make, stream: bool) -> None:
    engines = mocks("--speed", "20")

    async def test() -> None:
        engine = SglangEngine(engines.engine_urls[0], stream=stream, poll_seconds=0.2)
        ids = ["p/0#1", "p/0#10", "p/0#1x"]
        tasks = [asyncio.ensure_future(engine.generate(id, "a prompt", words(20000))) for id in ids]
        await eventually_async(lambda: engines.stats()[0]["running"] == 3)
        await asyncio.sleep(0.2)
        # The first abort is answered, and forgotten.
        await engines.told("/fault", {"fault": "ignore-aborts", "count": 1})
        await engine.abort("p/0#1")
        found = await tasks[0]
        assert found.finish == "abort" and 0 < found.tokens < 20000
        assert not tasks[1].done() and not tasks[2].done()
        assert engines.stats()[0]["running"] == 2
        await engine.abort("unheard of")
        await asyncio.gather(*(engine.abort(id) for id in ids))
        assert [(await task).finish for task in tasks] == ["abort"] * 3

    run(test())


@pytest.mark.parametrize("prompt", ["a prompt", [1, 2, 3]])
@pytest.mark.parametrize("has_route", [False, True])
def test_vllm_aborts_by_route_or_by_closing_the_connection(mocks: Make, has_route: bool, prompt: Prompt) -> None:
    engines = mocks("--api", "vllm", "--speed", "20", "--stream-interval", "4")

    async def test() -> None:
        engine = VllmEngine(engines.engine_urls[0], model="mock-model", poll_seconds=0.2)
        if not has_route:
            engine._abort_routes.clear()
        sampling = {"max_tokens": 5000, "min_tokens": 4000}
        first = asyncio.ensure_future(engine.generate("p/0#0", prompt, sampling))
        other = asyncio.ensure_future(engine.generate("p/1#0", prompt, sampling))
        await eventually_async(lambda: engines.stats()[0]["running"] == 2)
        await asyncio.sleep(0.3)
        await engine.abort("p/0#0")
        found = await first
        assert found.finish == "abort" and 0 < found.tokens < 4000
        assert len(found.token_ids) == found.tokens
        told = [] if isinstance(prompt, str) or not has_route else [("default", 0, found.tokens)]
        assert found.weight_spans == told
        await eventually_async(lambda: engines.stats()[0]["running"] == 1)
        assert not other.done()
        other.cancel()
        await asyncio.gather(other, return_exceptions=True)
        await eventually_async(lambda: engines.stats()[0]["running"] == 0)

    run(test())


@pytest.mark.parametrize("stream", [False, True])
def test_vllm_streamed_or_not(mocks: Make, stream: bool) -> None:
    engines = mocks("--api", "vllm", "--speed", "2000", "--api-key", "a-key")

    async def test() -> None:
        options: Any = {"stream": stream, "log_probs": True, "api_key": "a-key"}
        engine = VllmEngine(engines.engine_urls[0], model="mock-model", **options)
        prompts: list[Prompt] = ["a prompt", [1, 2, 3]]
        for prompt in prompts:
            found = await engine.generate("p/0#0", prompt, {"max_tokens": 30, "min_tokens": 30})
            assert (found.tokens, len(found.token_ids), found.finish) == (30, 30, "length")
            assert found.log_probs is not None and len(found.log_probs) == 30 and found.text
        assert found.weight_spans == [("default", 0, 30)]

    run(test())


def test_failures_have_their_kind(mocks: Make) -> None:
    engines = mocks("--speed", "2000", "--context", "500")

    async def test() -> None:
        for stream in (False, True):
            engine = SglangEngine(engines.engine_urls[0], stream=stream)
            with pytest.raises(GenerationFailed) as caught:
                await engine.generate("p/0#0", list(range(600)), words(5))
            assert caught.value.kind == "data"
        await engines.told("/fault", {"fault": "refuse", "count": 1})
        with pytest.raises(GenerationFailed, match="503") as caught:
            await engine.generate("p/1#0", "a prompt", words(5))
        assert caught.value.kind == "infrastructure"
        gone = SglangEngine("http://127.0.0.1:9", call_seconds=1)
        assert not await gone.is_healthy()
        with pytest.raises(GenerationFailed, match="127.0.0.1:9: .*Connect call failed") as caught:
            await gone.generate("p/2#0", "a prompt", words(5))
        assert caught.value.kind == "infrastructure"
        await engines.told("/clock", {"speed": 0})
        task = asyncio.ensure_future(engine.generate("p/3#0", "a prompt", {"max_new_tokens": 400}))
        await eventually_async(lambda: engine.load == 1)
        await engines.told("/fault", {"fault": "crash"})
        with pytest.raises(GenerationFailed, match=engine.id):
            await task
        assert not await engine.is_healthy()
        with pytest.raises(ValueError, match="expected a URL"):
            SglangEngine("10.0.0.1:30000")

    run(test())


class Trainer(EngineHost[str]):
    """Draws the prompts `0`, `1`, … of a list."""

    def __init__(self, pool: EnginePool, sampling: Mapping[str, Any], prompts: int) -> None:
        super().__init__(pool, sampling)
        self.source = [f"prompt {index}" for index in range(prompts)]
        self.engines: dict[str, str | None] = {}

    async def supply(self, count: int, domains: Mapping[str, int] | None) -> Sequence[Supplied[str]]:
        taken, self.source = self.source[:count], self.source[count:]
        return [Supplied(one, one) for one in taken]

    async def give_back(self, prompts: Sequence[Supplied[str]]) -> None:
        self.source = [one.body for one in prompts] + self.source

    async def generate(self, launch: Launch[str, Generated]) -> Response[Generated]:
        self.engines[launch.request_id] = launch.engine_id
        return await super().generate(launch)


async def trainer(engines: MockEngines, prompts: int, config: Mapping[str, Any], **options: Any) -> Any:
    kinds: Sequence[Engine] = [
        SglangEngine(url, engine_id=f"engine-{index}", call_seconds=2) for index, url in enumerate(engines.engine_urls)
    ]
    host = Trainer(EnginePool(kinds, **options), {"max_new_tokens": 8000}, prompts)
    client = await rollflex.AsyncClient.spawn(timeout=120)
    settings = {"promptsPerRound": 4, "responsesPerPrompt": 2, **config}
    rollout = await Rollout.open(client, host, settings, send_interval_seconds=0.0)
    return host, client, rollout


def test_rounds_over_two_engines_while_evaluation_runs(mocks: Make) -> None:
    engines = mocks("--engines", "2", "--speed", "max")

    async def test() -> None:
        host, client, rollout = await trainer(engines, 40, {"placement": "policy"})
        async with host.watching(rollout):
            seen: list[str] = []
            for step in range(4):
                evaluation = asyncio.ensure_future(
                    host.pool.generate(f"evaluation-{step}", "a question", {"max_new_tokens": 4000, "ignore_eos": True})
                )
                done = await rollout.round(step)
                assert len(done.groups) == 4
                seen += [one.prompt_id for one in done.groups]
                result = await evaluation
                assert (result.finish, result.tokens) == ("length", 4000)
            assert len(set(seen)) == 16
            assert sorted(seen + [one.prompt_id for one in rollout.waiting()] + host.source) == sorted(
                f"prompt {index}" for index in range(40)
            ), "no prompt is lost"
        assert set(host.engines.values()) == {"engine-0", "engine-1"}
        assert [one["inFlight"] for one in engines.stats()] == [0, 0]
        await rollout.close()
        await client.close()

    run(test())


def test_an_engine_that_dies_and_comes_back(mocks: Make) -> None:
    engines = mocks("--engines", "2", "--speed", "100")

    async def test() -> None:
        config = {"placement": "policy", "promptSpeculation": 1, "responseSpeculation": 1}
        host, client, rollout = await trainer(engines, 8, config)
        async with host.watching(rollout, every_seconds=0.1):
            round = asyncio.ensure_future(rollout.round(1))
            await eventually_async(lambda: rollout.in_flight == 8)
            await engines.told("/fault", {"fault": "crash", "engine": 0})
            assert len((await round).groups) == 4
            await eventually_async(lambda: host.pool.up == {"engine-1"})
            await engines.told("/fault", {"fault": "restart", "engine": 0})
            await eventually_async(lambda: host.pool.up == {"engine-0", "engine-1"})
            host.engines.clear()
            assert len((await rollout.round(2)).groups) == 4
            assert set(host.engines.values()) == {"engine-0", "engine-1"}
        await rollout.close()
        await client.close()

    run(test())


def test_an_engine_that_hangs_is_given_up_by_its_health(mocks: Make) -> None:
    engines = mocks("--engines", "2", "--speed", "100")

    async def test() -> None:
        config = {"placement": "policy", "promptSpeculation": 1, "responseSpeculation": 1}
        host, client, rollout = await trainer(engines, 8, config)
        for engine in host.pool.engines.values():
            engine._call_seconds = 0.3
        async with host.watching(rollout, every_seconds=0.1):
            round = asyncio.ensure_future(rollout.round(1))
            await eventually_async(lambda: rollout.in_flight == 8)
            await engines.told("/fault", {"fault": "hang", "engine": 0})
            assert len((await round).groups) == 4
            assert host.pool.up == {"engine-1"}
        await rollout.close()
        await client.close()

    run(test())


def test_responses_of_a_prompt_stay_together_where_wanted(mocks: Make) -> None:
    engines = mocks("--engines", "3", "--speed", "max")

    async def test() -> None:
        config = {"promptSpeculation": 1, "responseSpeculation": 1, "responsesPerPrompt": 4}
        _, client, rollout = await trainer(engines, 8, config, affinity="prompt")
        for group in (await rollout.round(1)).groups:
            assert len({sample.body.engine_id for sample in group.samples}) == 1
        used = [one["accepted"] for one in engines.stats()]
        assert max(used) - min(used) <= 4
        await rollout.close()
        await client.close()

    run(test())


def test_what_is_resumed_keeps_its_tokens_and_its_budget(mocks: Make) -> None:
    engines = mocks("--speed", "50")

    async def test() -> None:
        config = {"partialRollout": True, "maxStaleness": 2, "promptsPerRound": 2, "promptSpeculation": 2}
        _, client, rollout = await trainer(engines, 80, config)
        resumed = 0
        # Which responses are cut short, and come back, is a matter of real time.
        for step in range(20):
            for group in (await rollout.round(step)).groups:
                for sample in group.samples:
                    assert len(sample.body.token_ids) == sample.body.tokens == sample.tokens <= 8000
                    resumed += len(sample.weight_versions) > 1
            if resumed > 0 and step >= 2:
                break
        assert resumed > 0
        await rollout.close()
        await client.close()

    run(test())


def test_an_engine_that_needs_torch_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.delitem(sys.modules, "rollflex.rollout._hf_batch", raising=False)
    with pytest.raises(ImportError, match=r"pip install 'rollflex\[hf\]'"):
        HfEngine(object())


class Divided(Trainer):
    """Responses of 200 tokens, whatever their chunks."""

    def __init__(self, pool: EnginePool, sampling: Mapping[str, Any], prompts: int) -> None:
        EngineHost.__init__(self, pool, sampling, divided=True)
        self.source = [f"prompt {index}" for index in range(prompts)]
        self.chunks: list[dict[str, Any]] = []

    async def generate(self, launch: Launch[str, Generated]) -> Response[Generated]:
        return await EngineHost.generate(self, launch)

    def sampling_of(self, launch: Launch[str, Generated]) -> dict[str, Any]:
        return {**words(200 - launch.resume_tokens), "max_new_tokens": 1000}

    def decided(self, decision: Mapping[str, Any]) -> None:
        super().decided(decision)
        if decision["type"] == "chunk.continue":
            self.chunks.append(dict(decision))


def test_responses_in_chunks_go_on_elsewhere_when_an_engine_is_lost(mocks: Make) -> None:
    engines = mocks("--engines", "2", "--speed", "50")

    async def test() -> None:
        kinds = [
            SglangEngine(url, engine_id=f"engine-{index}", call_seconds=1)
            for index, url in enumerate(engines.engine_urls)
        ]
        host = Divided(EnginePool(kinds), {}, 4)
        client = await rollflex.AsyncClient.spawn(timeout=120)
        config = {"promptsPerRound": 4, "responsesPerPrompt": 2, "windowRounds": 1, "dividedRollout": {}}
        rollout = await Rollout.open(client, host, config, policy="lossless-tail", send_interval_seconds=0.0)
        async with host.watching(rollout, every_seconds=0.05):
            running = asyncio.ensure_future(rollout.round(1))
            await eventually_async(lambda: any(one["fromTokens"] > 0 for one in host.chunks))
            await engines.told("/fault", {"fault": "crash", "engine": 1})
            round = await running
        assert {one.tokens for group in round.groups for one in group.samples} == {200}
        assert (len(round.groups), round.failures, round.aborted) == (4, 0, 0)
        assert {"probe", "first", "stays"} <= {one["reason"]["code"] for one in host.chunks}
        assert any(one["reason"]["code"] == "engine_lost" for one in host.chunks)
        for one in host.chunks:
            assert one["engineId"] in ("engine-0", "engine-1") and one["tokens"] >= 1
        await rollout.close()
        await client.close()

    run(test())


def test_responses_in_chunks_are_over_at_the_limit_of_the_engine() -> None:
    """Its longest context is shorter than what sampling allows: there is no room for another token, and no failure."""

    async def test() -> None:
        told: list[Mapping[str, Any]] = []
        chunks = Chunks(told.append)
        launch: Launch[Any, Generated] = Launch("a/0#0", "a", 0, "r0", 1, [1, 2])

        async def once(launch: Launch[Any, Generated], most: int) -> Response[Generated]:
            tokens = min(launch.resume_tokens + most, 100)
            return Response(Generated(tokens=tokens, finish="length"), tokens)

        running = asyncio.ensure_future(chunks.generate(launch, 2, {"max_tokens": 1000}, once))
        await eventually_async(lambda: len(told) == 1)
        for _ in range(2):
            chunks.decided({"type": "chunk.continue", "requestId": "a/0#0", "engineId": "e", "tokens": 64})
            await eventually_async(lambda: len(told) == 2 or running.done())
        assert (await running).tokens == 100
        assert [one["type"] for one in told] == ["chunks.requested", "chunk.finished"]

    run(test())


def test_a_chunk_is_tried_for_longer_than_it_takes_to_find_its_engine_lost() -> None:
    """Otherwise a crash costs the tokens of all responses there: they would have failed before."""
    watch = inspect.signature(EnginePool.watch).parameters
    found = watch["every_seconds"].default * (watch["misses"].default + 1)
    assert sum(0.1 * 2**count for count in range(1, _chunks._most_failures + 1)) > found


def test_responses_in_chunks_need_a_limit_of_new_tokens() -> None:
    async def test() -> None:
        chunks = Chunks(lambda _: None)
        launch: Launch[Any, Generated] = Launch("a/0#0", "a", 0, "r0", 1, [1, 2])
        with pytest.raises(GenerationFailed, match="max_new_tokens or max_tokens"):
            await chunks.generate(launch, 2, {"temperature": 1}, lambda *_: asyncio.sleep(0))  # type: ignore[arg-type]

    run(test())
