"""What goes wrong at engines, what their clients make of it, and what an operator reads."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from typing import Any

import pytest

import rollflex
from rollflex.rollout import (
    Engine,
    EngineHost,
    EnginePool,
    GenerationFailed,
    Response,
    Rollout,
    SglangEngine,
    Supplied,
    VllmEngine,
)
from rollflex.rollout._http_engine import HttpEngine
from rollflex.rollout.engines import Generated, WeightSpan

Answer = tuple[int, Any]
Route = Callable[[dict[str, Any]], Awaitable[Answer]]
key = "a-key-of-the-test"


class Server:
    """A server whose routes are functions. A list is answered as a stream, and bytes are the whole answer."""

    def __init__(self, routes: Mapping[str, Route], api_key: str | None = None) -> None:
        self.routes = {"/health": health, **routes}
        self.api_key = api_key
        self.url = ""
        self.asked: list[tuple[str, dict[str, str], Any]] = []
        self._tasks: set[asyncio.Task[Any]] = set()

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[Server]:
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        try:
            yield self
        finally:
            server.close()
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks)

    def paths(self) -> list[str]:
        return [path for path, _, _ in self.asked]

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        # Cancelled, it ends as others do: asyncio would log it.
        with contextlib.suppress(asyncio.CancelledError, ConnectionError), contextlib.closing(writer):
            first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").strip().split("\r\n")
            headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
            sent = await reader.readexactly(int(headers["content-length"]))
            body = json.loads(sent) if sent else {}
            path = first.split()[1]
            self.asked.append((path, headers, body))
            status, answer = await self._answer(path, headers, body)
            if isinstance(answer, bytes):
                writer.write(answer)
                return
            whole = (
                b"".join(f"data: {json.dumps(one)}\n\n".encode() for one in answer) + b"data: [DONE]\n\n"
                if isinstance(answer, list)
                else json.dumps(answer).encode()
            )
            writer.write(f"HTTP/1.1 {status} X\r\ncontent-length: {len(whole)}\r\n\r\n".encode() + whole)
            await writer.drain()

    async def _answer(self, path: str, headers: Mapping[str, str], body: dict[str, Any]) -> Answer:
        sent = headers.get("authorization")
        if self.api_key is not None and sent != f"Bearer {self.api_key}" and path != "/health":
            # Some servers repeat the key.
            return 401, {"error": f"Unauthorized: {sent}"}
        route = self.routes.get(path)
        return (404, {"detail": "Not Found"}) if route is None else await route(body)


async def health(body: Any) -> Answer:
    return 200, {}


async def never(body: Any) -> Answer:
    await asyncio.sleep(1000)
    return 200, {}


async def models(body: Any) -> Answer:
    return 200, {"data": [{"id": "tiny"}]}


async def completions(body: dict[str, Any]) -> Answer:
    if body["model"] != "tiny":
        return 404, {"error": {"message": f"The model `{body['model']}` does not exist.", "code": 404}}
    return 200, {"choices": [{"text": "ab", "token_ids": [1, 2], "finish_reason": "stop"}], "usage": None}


def sglang(*versions: str | None, spans: Sequence[tuple[str, int, int]] | None = None) -> Route:
    """`/generate`, which tells these versions of its weights, one for each answer."""
    left = list(versions)

    async def generate(body: dict[str, Any]) -> Answer:
        meta: dict[str, Any] = {"completion_tokens": 2, "finish_reason": {"type": "stop"}}
        meta["weight_version"] = left.pop(0) if len(left) > 1 else left[0]
        if spans is not None:
            meta["weight_versions"] = [{"version": v, "start": start, "end": end} for v, start, end in spans]
        answer = {"text": "ab", "output_ids": [1, 2], "meta_info": meta}
        return 200, [answer] if body["stream"] else answer

    return generate


class Trainer(EngineHost[str]):
    """Draws ten prompts."""

    def __init__(self, engines: Sequence[Engine], **options: Any) -> None:
        super().__init__(EnginePool(engines, **options), {})
        self.source = [f"prompt {index}" for index in range(10)]
        self.failed: list[str] = []
        """Tries that were charged, and prompts that have none left."""

    async def supply(self, count: int, domains: Mapping[str, int] | None) -> Sequence[Supplied[str]]:
        taken, self.source = self.source[:count], self.source[count:]
        return [Supplied(one, one) for one in taken]

    async def give_back(self, prompts: Sequence[Supplied[str]]) -> None:
        self.source = [one.body for one in prompts] + self.source

    def decided(self, decision: Mapping[str, Any]) -> None:
        code = decision.get("reason", {}).get("code", "")
        if decision["type"] == "prompt.failed" or (decision["type"] == "request.launch" and code.startswith("retry_")):
            self.failed.append(f"{decision['promptId']}/{decision.get('index')}: {code}")


@contextlib.asynccontextmanager
async def rolling(host: Trainer, **config: Any) -> AsyncIterator[Rollout[str, Generated]]:
    async with rollflex.AsyncClient() as client:
        settings = {"promptsPerRound": 2, "responsesPerPrompt": 2, **config}
        rollout = await Rollout.open(client, host, settings, send_interval_seconds=0)
        try:
            yield rollout
        finally:
            await rollout.close()


every = {"promptSpeculation": 1, "responseSpeculation": 1}
"""Each request counts."""


def run(test: Awaitable[None]) -> None:
    async def bounded() -> None:
        await asyncio.wait_for(test, 30)

    asyncio.run(bounded())


vllm: dict[str, Route] = {"/v1/completions": completions, "/v1/models": models}
misconfigured: dict[str, tuple[dict[str, Route], str | None, Callable[[str], HttpEngine], str]] = {
    "no key": (vllm, key, lambda url: VllmEngine(url, model="tiny"), "no key was given: set api_key or headers of"),
    "a wrong key": (
        vllm,
        key,
        lambda url: VllmEngine(url, model="tiny", api_key="another"),
        "/v1/completions answers 401.*does not accept the key.*VllmEngine or EnginePool, or ROLLFLEX_ENGINE_API_KEY",
    ),
    "a wrong model": (
        vllm,
        None,
        lambda url: VllmEngine(url, model="large"),
        "/v1/completions answers 404.*model='large' of VllmEngine is not served there, but tiny",
    ),
    "a wrong route": (
        vllm,
        None,
        lambda url: VllmEngine(f"{url}/v1", model="tiny"),
        "/v1: /v1/completions answers 404.*give the URL of a server of vLLM",
    ),
    "a wrong server": (
        vllm,
        None,
        lambda url: SglangEngine(url),
        "/generate answers 404.*give the URL of a server of SGLang",
    ),
}


@pytest.mark.parametrize("case", misconfigured)
def test_what_no_other_try_can_mend_ends_the_rollout_and_loses_nothing(
    case: str, caplog: pytest.LogCaptureFixture
) -> None:
    routes, api_key, make, said = misconfigured[case]

    async def test() -> None:
        async with Server(routes, api_key).running() as server:
            engine = make(server.url)
            host = Trainer([engine])
            assert "/v1" in engine.url or await engine.is_healthy()
            async with rolling(host) as rollout:
                with pytest.raises(GenerationFailed, match=said) as caught:
                    await rollout.round(1)
                assert caught.value.kind == "setup" and engine.id in str(caught.value)
                assert sorted(host.source) == [f"prompt {index}" for index in range(10)]
                assert (host.failed, rollout.in_flight, rollout.prompts) == ([], 0, 0)
                with pytest.raises(GenerationFailed, match=said):
                    await rollout.round(2)
            with pytest.raises(GenerationFailed, match=said):
                await host.pool.generate("an evaluation", "a question", {})
        assert [one.levelname for one in caplog.records if "the rollout ends" in one.message] == ["ERROR"]
        assert not [one for one in caplog.records if "another" in one.message], "no key is in a log"

    run(test())


def test_an_abort_that_is_not_allowed_ends_the_rollout() -> None:
    async def forbidden(body: Any) -> Answer:
        return 403, {"error": "Forbidden"}

    async def test() -> None:
        generate = sglang("default")

        async def some(body: dict[str, Any]) -> Answer:
            return await (generate if body["text"] in ("prompt 0", "prompt 1") else never)(body)

        async with Server({"/generate": some, "/abort_request": forbidden}).running() as server:
            host = Trainer([SglangEngine(server.url)])
            async with rolling(host, promptSpeculation=1.5) as rollout:
                with pytest.raises(GenerationFailed, match="/abort_request answers 403.*--admin-api-key"):
                    await rollout.round(1)
                assert len(host.source) == 10

    run(test())


def test_the_key_of_an_engine_its_pool_or_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROLLFLEX_ENGINE_API_KEY", "of-the-environment")

    async def test() -> None:
        async with Server({"/generate": sglang("default")}).running() as server:

            async def sent(engine: SglangEngine) -> Any:
                server.asked.clear()
                await engine.generate("one", "a prompt", {})
                assert await engine.is_healthy()
                (_, first, _), (_, second, _) = server.asked
                assert first["authorization"] == second["authorization"]
                return first["authorization"], first.get("x-team")

            def engines() -> list[SglangEngine]:
                return [
                    SglangEngine(server.url, engine_id="a", api_key="own"),
                    SglangEngine(server.url, engine_id="b", headers={"Authorization": "Basic abc", "X-Team": "one"}),
                    SglangEngine(server.url, engine_id="c"),
                ]

            own = [("Bearer own", None), ("Basic abc", "one")]
            assert [await sent(one) for one in engines()] == [*own, ("Bearer of-the-environment", None)]
            pooled = engines()
            EnginePool(pooled, api_key="of-the-pool", headers={"X-Team": "two"})
            assert [await sent(one) for one in pooled] == [*own, ("Bearer of-the-pool", "two")]
            with_headers = engines()
            EnginePool(with_headers, headers={"X-Team": "two"})
            assert [await sent(one) for one in with_headers] == [*own, ("Bearer of-the-environment", "two")]

    run(test())


@pytest.mark.parametrize(
    "options, message",
    [
        ({"api_key": "ab\n"}, "api_key: expected Latin-1 text without line breaks, got a line break at 2 of 3"),
        ({"api_key": "ab€"}, "api_key: .*got a character that no header can have at 2 of 3"),
        ({"api_key": " ab"}, "api_key: expected no space at its ends"),
        ({"api_key": ""}, "api_key is empty"),
        ({"api_key": 5}, "api_key: expected text, got int"),
        ({"headers": {"X-A": "ab\r\nX-B: c"}}, r"headers\['X-A'\]: .*a line break at 2 of 10"),
        ({"headers": {"X A": "ab"}}, "expected the name of a header, got 'X A'"),
        ({"headers": {"Content-Length": "3"}}, "Content-Length is set by the client"),
        ({"headers": {"authorization": "ab"}, "api_key": "ab"}, "api_key or an Authorization header, not both"),
    ],
)
def test_what_cannot_be_a_header(options: dict[str, Any], message: str) -> None:
    for make in (lambda: SglangEngine("http://host:1", **options), lambda: EnginePool([Silent("a")], **options)):
        with pytest.raises(ValueError, match=message) as caught:
            make()
        assert "ab" not in str(caught.value)
    for url in ("http://me:secret@host:1", "http://host:1?key=secret"):
        with pytest.raises(ValueError, match="expected a URL without a") as caught:
            SglangEngine(url)
        assert "secret" not in str(caught.value)


class Silent(Engine):
    """An engine that generates nothing."""

    async def is_healthy(self) -> bool:
        return True

    async def _generate(self, found: Generated, request_id: str, prompt: Any, sampling: Mapping[str, Any]) -> None:
        await asyncio.sleep(1000)

    async def _abort(self, request_id: str) -> None:
        return


def test_no_key_is_shown() -> None:
    async def test() -> None:
        async with Server({}, key).running() as server:
            engine = SglangEngine(server.url, api_key="the-other-secret")
            with pytest.raises(GenerationFailed) as caught:
                await engine.generate("one", "a prompt", {})
            shown = repr(caught.value) + repr(engine) + repr(engine._address) + repr(caught.value.__cause__)
            assert "Unauthorized: …" in shown and "the-other-secret" not in shown

    run(test())


def test_versions_of_weights_reach_the_samples(caplog: pytest.LogCaptureFixture) -> None:
    async def test() -> None:
        routes = {"/generate": sglang("8", spans=[("7", 0, 1), ("8", 1, 2)])}
        async with Server(routes).running() as server:
            for stream in (False, True):
                async with rolling(Trainer([SglangEngine(server.url, stream=stream)])) as rollout:
                    for group in (await rollout.round(7)).groups:
                        assert [one.weight_versions for one in group.samples] == [(7, 8), (7, 8)]
        # An older server tells one; what is no number is none of the trainer's versions.
        for told, expected in (("7", (7,)), ("default", (5,))):
            async with Server({"/generate": sglang(told)}).running() as server:
                async with rolling(Trainer([SglangEngine(server.url)])) as rollout:
                    (group, _) = (await rollout.round(5)).groups
                    assert [one.weight_versions for one in group.samples] == [expected] * 2
        assert not caplog.records

    run(test())


def test_spans_of_a_response_that_was_resumed() -> None:
    first = Generated("ab", [1, 2], 2, "abort", [-1.0, -1.0], [WeightSpan("3", 0, 2)])
    second = Generated("cd", [3, 4], 2, "stop", [-2.0, -2.0], [WeightSpan("3", 0, 1), WeightSpan("4", 1, 2)])
    second.continues(first)
    assert second.weight_spans == [WeightSpan("3", 0, 3), WeightSpan("4", 3, 4)]
    assert (second.text, second.token_ids, second.tokens) == ("abcd", [1, 2, 3, 4], 4)
    assert second.log_probs == [-1.0, -1.0, -2.0, -2.0]
    assert second.weight_versions == [3, 4]
    closed = Generated("ab", [1, 2], 2, "abort")
    third = Generated("cd", [3, 4], 2, "stop", None, [WeightSpan("4", 0, 2)])
    third.continues(closed)
    assert third.weight_versions is None, "nobody has told of the first two tokens"


@pytest.mark.parametrize("after", ["default", "2"])
def test_a_server_that_comes_back_with_other_weights_is_named(after: str, caplog: pytest.LogCaptureFixture) -> None:
    async def test() -> None:
        config = {"promptsPerRound": 1, "responsesPerPrompt": 1, **every}
        async with Server({"/generate": sglang("5", after, "5")}).running() as server:
            async with rolling(Trainer([SglangEngine(server.url)]), **config) as rollout:
                await rollout.round(5)
                assert not caplog.records
                # What is too old is dropped, and tried again until the server has the weights of the round.
                done = await rollout.round(5)
                assert after == "default" or done.groups[0].samples[0].weight_versions == (5,)
                await rollout.round(5)
            (said,) = [one.getMessage() for one in caplog.records]
            assert f"engine {server.url} generates with weights {after!r}, and the round is of 5" in said

    run(test())


def test_a_server_that_streams_nothing_is_lost_though_it_is_healthy(caplog: pytest.LogCaptureFixture) -> None:
    async def test() -> None:
        async with Server({"/generate": never}).running() as hung:
            async with Server({"/generate": sglang("default")}).running() as server:
                engines = [
                    SglangEngine(one.url, stream=True, stall_seconds=limit)
                    for one, limit in ((hung, 0.2), (server, None))
                ]
                host = Trainer(engines)
                async with rolling(host, **every) as rollout, host.watching(rollout, every_seconds=0.05):
                    assert len((await rollout.round(1)).groups) == 2
                assert len(set(host.failed)) == len(host.failed), "the loss of an engine is charged once"
        said = [one.getMessage() for one in caplog.records if "is lost" in one.getMessage()]
        assert f"engine {hung.url} is lost (/health answers, but it has streamed nothing to its" in said[0]

    run(test())


def test_while_no_engine_is_up_requests_wait(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING, "rollflex")

    async def test() -> None:
        async with Server({"/generate": never}).running() as server:
            host = Trainer([SglangEngine(server.url, call_seconds=0.2)])
            async with rolling(host) as rollout, host.watching(rollout, every_seconds=0.05):
                round = asyncio.ensure_future(rollout.round(1))
                while not rollout.in_flight:
                    await asyncio.sleep(0.01)
                server.routes["/health"] = never
                while "no engine is up: requests wait until one answers" not in caplog.text:
                    await asyncio.sleep(0.01)
                await asyncio.sleep(0.2)
                assert not round.done()
                server.routes |= {"/generate": sglang("default"), "/health": health}
                assert len((await round).groups) == 2
            assert len(set(host.failed)) == len(host.failed), "the loss of an engine is charged once"
        assert f"engine {server.url} is lost (/health has no answer in 0.2 s): its" in caplog.text
        assert f"engine {server.url} answers again" in caplog.text

    run(test())


def test_which_errors_of_a_stream_are_of_the_prompt() -> None:
    async def refused(body: Any) -> Answer:
        reason = {"type": "abort", "status_code": 400, "message": "too long"}
        return 200, [{"text": "", "output_ids": [], "meta_info": {"finish_reason": reason, "completion_tokens": 0}}]

    async def test() -> None:
        async with Server({"/generate": refused}).running() as server:
            with pytest.raises(GenerationFailed, match="/generate answers 400: too long") as caught:
                await SglangEngine(server.url, stream=True).generate("one", "a prompt", {})
            assert caught.value.kind == "data"
        for code, kind in ((400, "data"), (500, "infrastructure"), (None, "data")):

            async def fails(body: Any, code: int | None = code) -> Answer:
                return 200, [{"error": {"message": "no", **({} if code is None else {"code": code})}}]

            async with Server({"/generate": fails}).running() as server:
                with pytest.raises(GenerationFailed) as caught:
                    await SglangEngine(server.url, stream=True).generate("one", "a prompt", {})
                assert caught.value.kind == kind

    run(test())


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("chunk", [b"", b"8\r\n", b"8\r\ndata"])
def test_a_server_that_dies_in_the_middle_is_named(stream: bool, chunk: bytes) -> None:
    async def dies(body: Any) -> Answer:
        return 200, b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n" + chunk

    async def test() -> None:
        async with Server({"/generate": dies}).running() as server:
            said = f"{server.url}: the connection was closed in the middle of an answer"
            with pytest.raises(GenerationFailed, match=said) as caught:
                await SglangEngine(server.url, stream=stream).generate("one", "a prompt", {})
            assert caught.value.kind == "infrastructure"

    run(test())


@pytest.mark.parametrize("status", [403, 404])
def test_vllm_without_its_route_for_tokens(status: int) -> None:
    async def without(body: Any) -> Answer:
        return status, {"detail": "disabled"}

    async def test() -> None:
        async with Server({**vllm, "/inference/v1/generate": without}).running() as server:
            engine = VllmEngine(server.url, model="tiny", stream=False)
            for _ in range(2):
                found = await engine.generate("one", [5, 6], {"max_tokens": 9, "top_p": 0.5})
                assert (found.token_ids, found.weight_versions) == ([1, 2], None)
            assert server.paths() == ["/inference/v1/generate", "/v1/completions", "/v1/completions"]
            first, second, _ = [body for _, _, body in server.asked]
            assert first["sampling_params"] == {"max_tokens": 9, "top_p": 0.5}
            named = {name: second[name] for name in ("temperature", "top_p", "top_k", "max_tokens", "prompt")}
            assert named == {"temperature": 1.0, "top_p": 0.5, "top_k": -1, "max_tokens": 9, "prompt": [5, 6]}

    run(test())


def test_what_only_completions_take_goes_there() -> None:
    async def test() -> None:
        async with Server(vllm).running() as server:
            engine = VllmEngine(server.url, model="tiny", stream=False)
            await engine.generate("one", [5, 6], {"vllm_xargs": {"a": 1}})
            await engine.generate("two", "a text", {})
            assert server.paths() == ["/v1/completions"] * 2

    run(test())


def test_a_host_of_ones_own_ends_its_rollout_likewise() -> None:
    class Own(Trainer):
        async def generate(self, launch: Any) -> Response[Generated]:
            raise GenerationFailed("no license", "setup")

    async def test() -> None:
        host = Own([Silent("a")])
        async with rolling(host) as rollout:
            with pytest.raises(GenerationFailed, match="no license"):
                await rollout.round(1)
            assert len(host.source) == 10

    run(test())
