"""
A real vLLM with a tiny model and an API key: rounds of tail batching, and what an operator reads when the server is
misconfigured, hangs, is killed, and comes back. The tests share one server, and run in this order.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import json
import os
import re
import signal
import socket
import statistics
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

import rollflex
from having import Ran, installed
from rollflex.rollout import EngineHost, EnginePool, GenerationFailed, Rollout, Supplied, VllmEngine
from rollflex.rollout.engines import Generated
from support import eventually_async
from tiny_model import make_tiny_model

key = "a-key-of-the-test"
environment = {
    "HF_HUB_OFFLINE": "1",
    "OMP_NUM_THREADS": "1",
    "VLLM_CPU_KVCACHE_SPACE": "1",
    "VLLM_CPU_OMP_THREADS_BIND": "nobind",
    "VLLM_NO_USAGE_STATS": "1",
    # For its routes of weights.
    "VLLM_SERVER_DEV_MODE": "1",
}
# Blocks for 768 tokens, with requests of up to 600 in flight: some are preempted.
options = "--dtype float32 --enforce-eager --max-model-len 608 --block-size 32 --num-gpu-blocks-override 24"


class Vllm:
    """`vllm serve`, with all its processes."""

    def __init__(self, folder: Path) -> None:
        self.version = installed("vllm", "0.32.0", "0.32.0+cpu")
        self._model = make_tiny_model(folder / "model")
        self._log = folder / "log"
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self._port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self._port}"
        self.start()

    def start(self) -> None:
        program = [str(Path(sys.executable).with_name("vllm")), "serve", str(self._model), *options.split()]
        named = ["--served-model-name", "tiny", "--port", str(self._port), "--api-key", key, "--enable-scale-out"]
        with self._log.open("a") as log:
            self._process = subprocess.Popen(
                [*program, *named],
                env={**os.environ, **environment},
                stdout=log,
                stderr=log,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )
        give_up_at = time.monotonic() + 600
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > give_up_at:
                pytest.fail(f"vllm does not start: {self._log.read_text()[-3000:]}")
            time.sleep(1)
        # The first request of a server takes long.
        self.ask("/v1/completions", {"model": "tiny", "prompt": "a", "max_tokens": 2}, timeout=300)

    def signal(self, number: int) -> None:
        os.killpg(self._process.pid, number)

    def kill(self) -> None:
        self.signal(signal.SIGKILL)
        self._process.wait(30)

    def core(self) -> int:
        """The process that generates, behind the one that takes requests."""
        for entry in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                # pid (name) state parent group
                group = int(entry.joinpath("stat").read_text().rpartition(")")[2].split()[2])
                if group == self._process.pid and b"EngineCore" in entry.joinpath("cmdline").read_bytes():
                    return int(entry.name)
        raise AssertionError("no process is called EngineCore")

    def ask(self, path: str, body: Any = None, timeout: float = 30) -> Any:
        headers = {"authorization": f"Bearer {key}", "content-type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        with urllib.request.urlopen(urllib.request.Request(self.url + path, data, headers), timeout=timeout) as answer:
            text = answer.read().decode()
        return json.loads(text) if text.startswith("{") else text

    def preemptions(self) -> int:
        found = re.search(r"^vllm:num_preemptions_total\{.*\} (\S+)$", self.ask("/metrics"), re.MULTILINE)
        assert found is not None
        return int(float(found[1]))

    def engine(self, **more: Any) -> VllmEngine:
        return VllmEngine(self.url, **{"model": "tiny", "api_key": key, "engine_id": "engine-0", **more})

    def _answers(self) -> bool:
        try:
            self.ask("/health", timeout=5)
        except (OSError, urllib.error.URLError):
            return False
        return True


@pytest.fixture(scope="module")
def vllm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Vllm]:
    one = Vllm(tmp_path_factory.mktemp("vllm"))
    yield one
    one.kill()


class Trainer(EngineHost[list[int]]):
    """Draws prompts of a few tokens, and numbers the weights of its engine."""

    prompts = 200

    def __init__(self, engine: VllmEngine, **sampling: Any) -> None:
        super().__init__(EnginePool([engine]), {"max_tokens": 500, **sampling})
        self.source = [Supplied(f"prompt {index}", self._tokens(index)) for index in range(self.prompts)]
        self.counts = {"request.launch": 0, "request.abort": 0, "prompt.failed": 0}

    async def supply(self, count: int, domains: Mapping[str, int] | None) -> Sequence[Supplied[list[int]]]:
        taken, self.source = self.source[:count], self.source[count:]
        return taken

    async def give_back(self, prompts: Sequence[Supplied[list[int]]]) -> None:
        self.source = [*prompts, *self.source]

    def decided(self, decision: Mapping[str, Any]) -> None:
        if decision["type"] in self.counts:
            self.counts[decision["type"]] += 1

    def _tokens(self, index: int) -> list[int]:
        return [65 + index % 26, 65 + index // 26, 10]


synchronous = {"promptSpeculation": 1, "responseSpeculation": 1}
few = {"promptsPerRound": 2, "responsesPerPrompt": 2}


@contextlib.asynccontextmanager
async def rolling(host: Trainer, **config: Any) -> AsyncIterator[Rollout[list[int], Generated]]:
    async with rollflex.AsyncClient() as client:
        rollout = await Rollout.open(client, host, {"promptsPerRound": 4, "responsesPerPrompt": 4, **config})
        try:
            yield rollout
        finally:
            await rollout.close()


def run(test: Awaitable[None], seconds: float = 300) -> None:
    async def bounded() -> None:
        await asyncio.wait_for(test, seconds)

    asyncio.run(bounded())


async def until(holds: Callable[[], bool]) -> None:
    await eventually_async(holds, 60)


async def streaming(engine: VllmEngine) -> None:
    """Until the engine streams tokens: a request has reached the process that generates."""
    await until(lambda: engine.load > 0)
    begun = engine._last_progress
    await until(lambda: engine._last_progress != begun)


rounds = 6


def test_rounds_over_a_real_vllm(vllm: Vllm, ran: Ran) -> None:
    async def measured(**config: Any) -> tuple[Trainer, float, int, set[str], int]:
        host = Trainer(vllm.engine(log_probs=True))
        trained: set[str] = set()
        resumed = 0
        began = time.monotonic()
        async with rolling(host, **config) as rollout, host.watching(rollout):
            for step in range(1, rounds + 1):
                await asyncio.to_thread(vllm.ask, "/update_weight_version", {"new_version": str(step)})
                done = await rollout.round(step)
                assert len(done.groups) == 4
                for group in done.groups:
                    trained.add(group.prompt_id)
                    for sample in group.samples:
                        body = sample.body
                        assert body.tokens == len(body.token_ids) == len(body.log_probs or ()) <= 500
                        assert body.weight_versions is not None, "the server tells of every token"
                        assert sample.weight_versions == tuple(body.weight_versions)
                        assert max(sample.weight_versions) <= step
                        resumed += len(sample.weight_versions) > 1
            seconds = time.monotonic() - began
            left = [one.prompt_id for one in [*rollout.waiting(), *host.source]]
        assert sorted([*trained, *left]) == sorted(f"prompt {index}" for index in range(host.prompts))
        assert sorted(one.prompt_id for one in host.source) == sorted(left), "what was not trained was given back"
        assert host.counts["prompt.failed"] == 0
        return host, seconds, resumed, trained, len(left)

    async def abort_seconds() -> float | None:
        """None if the response was complete first: a tiny model is quick."""
        engine = vllm.engine()
        task = asyncio.ensure_future(engine.generate("one", [65], {"max_tokens": 500, "ignore_eos": True}))
        await streaming(engine)
        began = time.monotonic()
        await engine.abort("one")
        seconds = time.monotonic() - began
        found = await task
        assert 0 < found.tokens == len(found.token_ids)
        assert (found.finish, found.tokens < 500) in (("abort", True), ("length", False))
        return seconds if found.finish == "abort" else None

    async def test() -> None:
        before = vllm.preemptions()
        _, own_seconds, _, _, _ = await measured(**synchronous)
        host, seconds, resumed, trained, left = await measured(partialRollout=True, maxStaleness=2)
        preempted = vllm.preemptions() - before
        aborts = [one for _ in range(20) if (one := await abort_seconds()) is not None]
        assert len(aborts) >= 3
        assert host.counts["request.abort"] > 0 and resumed > 0 and preempted > 0
        ran(
            "vLLM",
            vllm.version,
            real="`vllm serve` on a CPU with an API key: generation, aborts, preemptions, versions of weights",
            stands_in="a two-layer Qwen2 with random weights; only the number of its weights changes",
            steps=rounds,
            prompts=host.prompts,
            accounted=len(trained) + left,
            seconds=round(seconds, 1),
            own_seconds=round(own_seconds, 1),
            note=f"{host.counts['request.launch']} launched, {host.counts['request.abort']} aborted (each in "
            f"{statistics.median(aborts) * 1000:.0f} ms), {resumed} trained responses were resumed with newer weights, "
            f"{preempted} preemptions",
        )

    run(test(), 900)


@pytest.mark.parametrize(
    "more, said",
    [
        ({"api_key": None}, "answers 401.*no key was given: set api_key or headers of VllmEngine or EnginePool"),
        ({"api_key": "another"}, "answers 401.*does not accept the key that it was given"),
        ({"model": "large"}, "answers 404.*model='large' of VllmEngine is not served there, but tiny"),
    ],
)
def test_a_wrong_key_or_model_ends_the_rollout(
    vllm: Vllm, more: dict[str, Any], said: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def test() -> None:
        host = Trainer(vllm.engine(**more))
        async with rolling(host) as rollout, host.watching(rollout):
            began = time.monotonic()
            with pytest.raises(GenerationFailed, match=said):
                await rollout.round(1)
            assert time.monotonic() - began < 10
        assert len(host.source) == host.prompts and host.counts["prompt.failed"] == 0
        with pytest.raises(GenerationFailed, match=said):
            await host.pool.generate("an evaluation", "a question", {})

    run(test())
    assert "another" not in caplog.text


@pytest.mark.parametrize("whole", [True, False])
def test_a_server_that_hangs(vllm: Vllm, whole: bool, caplog: pytest.LogCaptureFixture) -> None:
    """All of it, or only what generates, while ``/health`` goes on to answer."""

    async def test() -> None:
        engine, core = vllm.engine(call_seconds=2, stall_seconds=3), vllm.core()
        host = Trainer(engine, ignore_eos=True)
        async with rolling(host, **few) as rollout, host.watching(rollout, every_seconds=0.5):
            round = asyncio.ensure_future(rollout.round(1))
            await streaming(engine)
            stop: Callable[[int], None] = vllm.signal if whole else functools.partial(os.kill, core)
            stop(signal.SIGSTOP)
            try:
                await until(lambda: "is lost" in caplog.text)
                if whole:
                    assert "no engine is up: requests wait" in caplog.text
            finally:
                stop(signal.SIGCONT)
            assert len((await round).groups) == 2
        assert host.counts["prompt.failed"] == 0

    run(test())
    why = r"/health has no answer in 2 s" if whole else r"/health answers, but it has streamed nothing to its \d+ req"
    assert re.search(rf"engine engine-0 is lost \({why}", caplog.text)


def test_a_server_that_is_killed_and_comes_back_with_other_weights(
    vllm: Vllm, caplog: pytest.LogCaptureFixture
) -> None:
    async def test() -> None:
        engine, core = vllm.engine(call_seconds=2), vllm.core()
        host = Trainer(engine, ignore_eos=True)
        async with rolling(host, **few) as rollout, host.watching(rollout, every_seconds=0.5):
            await asyncio.to_thread(vllm.ask, "/update_weight_version", {"new_version": "7"})
            assert len((await rollout.round(7)).groups) == 2
            assert "generates with weights" not in caplog.text
            round = asyncio.ensure_future(rollout.round(7))
            await streaming(engine)
            # Nothing ends before the kill.
            os.kill(core, signal.SIGSTOP)
            await asyncio.to_thread(vllm.kill)
            await until(lambda: "no engine is up: requests wait" in caplog.text)
            await asyncio.to_thread(vllm.start)
            assert len((await round).groups) == 2
        assert host.counts["prompt.failed"] == 0

    run(test(), 900)
    assert "failed (infrastructure): GenerationFailed: engine-0: the connection was closed" in caplog.text
    assert "engine engine-0 answers again" in caplog.text
    assert "engine engine-0 generates with weights 'default', and the round is of 7: it has missed" in caplog.text
