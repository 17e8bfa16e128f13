"""The engine in this process, against ``model.generate`` of transformers."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Mapping, Sequence
from typing import Any

import pytest

pytest.importorskip("torch", reason="pip install torch transformers")
transformers = pytest.importorskip("transformers", reason="pip install torch transformers")

import torch

from having import Ran
from rollflex import AsyncClient
from rollflex.rollout import EngineHost, EnginePool, Generated, GenerationFailed, HfEngine, Launch, Response, Rollout
from rollflex.rollout import Supplied as Prompt
from support import eventually_async

vocabulary, eos = 40, 1
small = {
    "vocab_size": vocabulary,
    "num_hidden_layers": 2,
    "max_position_embeddings": 256,
    "bos_token_id": None,
    "eos_token_id": eos,
}
sizes = {"hidden_size": 32, "intermediate_size": 64, "num_attention_heads": 4}
configs: dict[str, Any] = {
    "qwen2": lambda: transformers.Qwen2Config(**small, **sizes, num_key_value_heads=2),
    "a sliding window": lambda: transformers.Qwen2Config(
        **small, **sizes, num_key_value_heads=2, use_sliding_window=True, sliding_window=8, max_window_layers=1
    ),
    "llama": lambda: transformers.LlamaConfig(**small, **sizes),
    "gpt2": lambda: transformers.GPT2Config(
        vocab_size=vocabulary, n_layer=2, n_embd=32, n_head=4, n_positions=256, bos_token_id=eos, eos_token_id=eos
    ),
}


def model_of(name: str = "qwen2") -> Any:
    """In float64: two sums in another order choose the same token."""
    torch.manual_seed(3)
    return transformers.AutoModelForCausalLM.from_config(configs[name]()).double().eval()


def run(test: Awaitable[Any]) -> Any:
    return asyncio.run(asyncio.wait_for(test, 60))


def prompts(count: int) -> list[list[int]]:
    source = random.Random(5)
    return [[source.randrange(2, vocabulary) for _ in range(source.randint(1, 30))] for _ in range(count)]


@pytest.mark.parametrize("name", configs)
def test_requests_that_join_and_leave_get_the_tokens_of_generate(name: str) -> None:
    model = model_of(name)
    given, limits = prompts(12), [random.Random(n).randint(1, 60) for n in range(12)]

    async def test() -> list[Generated]:
        engine = HfEngine(model, max_batch=5)

        async def one(index: int) -> Generated:
            await eventually_async(lambda: engine.steps >= 3 * index or engine.load < 3)
            sampling = {"max_new_tokens": limits[index], "temperature": 0}
            return await engine.generate(f"r{index}", given[index], sampling)

        found = await asyncio.gather(*map(one, range(12)))
        assert engine.load == 0 and engine.steps < sum(limits), "they share steps"
        return found

    lengths = set()
    for prompt, limit, found in zip(given, limits, run(test()), strict=True):
        expected = model.generate(torch.tensor([prompt]), max_new_tokens=limit, do_sample=False)[0, len(prompt) :]
        assert found.token_ids == expected.tolist()
        assert found.tokens == len(found.token_ids)
        assert found.finish == ("stop" if found.token_ids[-1] == eos else "length")
        lengths.add(found.tokens)
    assert len(lengths) > 4


def test_log_probs_are_those_that_a_trainer_computes_again() -> None:
    model = model_of()
    sampling = {"max_new_tokens": 20, "temperature": 0.7, "top_k": 10, "top_p": 0.9, "ignore_eos": True}

    async def test() -> list[Generated]:
        engine = HfEngine(model, seed=1)
        return await asyncio.gather(*(engine.generate(f"r{n}", one, sampling) for n, one in enumerate(prompts(6))))

    for prompt, found in zip(prompts(6), run(test()), strict=True):
        ids = torch.tensor([[*prompt, *found.token_ids]])
        log_probs = torch.log_softmax(model(ids).logits[0, len(prompt) - 1 : -1] / 0.7, -1)
        chosen = log_probs.gather(-1, ids[0, len(prompt) :, None])[:, 0].tolist()
        assert found.log_probs == pytest.approx(chosen, abs=1e-5)
        for row, token in zip(log_probs, found.token_ids, strict=True):
            likelier = row[row > row[token]]
            assert len(likelier) < 10 and likelier.exp().sum() < 0.9 + 1e-6


def test_tokens_come_as_often_as_the_model_says() -> None:
    from rollflex.rollout._hf_batch import sample
    from rollflex.rollout._hf_row import Row

    def row(n: int, **sampling: Any) -> Row:
        given = {"temperature": 1.0, "top_k": 0, "top_p": 1.0, **sampling}
        return Row(f"r{n}", [2], 1, stop=frozenset(), random=random.Random(n), **given)

    logits = torch.tensor([0.0, 1.0, 2.0, 0.5, -torch.inf])
    for sampling, expected in (
        ({}, torch.softmax(logits, 0)),
        ({"temperature": 0.5}, torch.softmax(logits / 0.5, 0)),
        ({"top_k": 2}, torch.softmax(torch.tensor([-torch.inf, 1.0, 2.0, -torch.inf, -torch.inf]), 0)),
        # The likeliest has 0.57, and the two likeliest have 0.78.
        ({"top_p": 0.6}, torch.softmax(torch.tensor([-torch.inf, 1.0, 2.0, -torch.inf, -torch.inf]), 0)),
        ({"top_p": 0.5}, torch.tensor([0.0, 0, 1, 0, 0])),
    ):
        rows = [row(n, **sampling) for n in range(20_000)]
        tokens, _ = sample(logits.expand(len(rows), -1), rows)
        shares = torch.bincount(torch.tensor(tokens), minlength=5) / len(rows)
        assert torch.allclose(shares, expected, atol=0.015), (sampling, shares)
        assert (shares > 0).equal(expected > 0)


def test_an_abort_ends_one_request_within_a_step_and_keeps_what_there_is() -> None:
    model = model_of()

    async def test() -> None:
        engine = HfEngine(model, max_batch=2)
        sampling = {"max_new_tokens": 200, "temperature": 0, "ignore_eos": True}
        first, other, waiting = (
            asyncio.ensure_future(engine.generate(name, [2, 3, 4], sampling)) for name in ("first", "other", "waiting")
        )
        await eventually_async(lambda: engine.steps >= 5)
        with pytest.raises(RuntimeError, match="3 requests run"):
            engine.weight_version = 2
        await engine.abort("waiting")
        assert (await waiting).finish == "abort" and (await waiting).tokens == 0
        at = engine.steps
        await engine.abort("first")
        cut = await first
        assert cut.finish == "abort" and engine.steps <= at + 1 and at <= cut.tokens <= engine.steps
        await eventually_async(lambda: engine.steps >= at + 5)
        assert engine.running() == ["other"]
        # What is cancelled leaves, too; and what was cut goes on where it was.
        other.cancel()
        await asyncio.gather(other, return_exceptions=True)
        await eventually_async(lambda: engine._task is None)
        left = {**sampling, "max_new_tokens": 200 - cut.tokens}
        rest = await engine.generate("again", [2, 3, 4, *cut.token_ids], left)
        whole = await engine.generate("whole", [2, 3, 4], sampling)
        assert [*cut.token_ids, *rest.token_ids] == whole.token_ids
        engine.weight_version = 2
        assert (await engine.generate("new", [2], {"max_new_tokens": 1})).weight_versions == [2]

    run(test())


def test_a_prompt_that_the_model_cannot_take_is_at_fault_and_sampling_that_nothing_can_take_ends_the_rollout() -> None:
    async def test() -> None:
        engine = HfEngine(model_of())
        for kind, prompt, sampling, message in (
            ("setup", [2], {}, "max_new_tokens: expected a whole number above 0, got None"),
            ("setup", [2], {"max_tokens": 4}, "expected some of max_new_tokens, .*, got max_tokens"),
            ("setup", [2], {"max_new_tokens": 4, "top_p": 0}, "top_p: expected a number above 0, up to 1, got 0"),
            ("setup", [2], {"max_new_tokens": 4, "temperature": -1}, "temperature: expected a number, .* got -1"),
            ("setup", "text", {"max_new_tokens": 4}, "there is no tokenizer"),
            ("data", [2] * 200, {"max_new_tokens": 57}, "at most 256 positions, got 200 tokens of the prompt and 57"),
            ("data", [40], {"max_new_tokens": 4}, "from 0 to 39, got .40."),
            ("data", [], {"max_new_tokens": 4}, "expected one id of a token or more"),
        ):
            with pytest.raises(GenerationFailed, match=message) as caught:
                await engine.generate("r", prompt, sampling)
            assert caught.value.kind == kind
        assert engine.steps == 0

    run(test())


def test_a_step_that_fails_is_a_fault_of_the_infrastructure_and_the_next_request_runs() -> None:
    model = model_of()

    async def test() -> None:
        engine = HfEngine(model)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(model.model, "forward", lambda **_: 1 / 0)
            calls = [engine.generate(f"r{n}", [2], {"max_new_tokens": 4}) for n in range(3)]
            for error in await asyncio.gather(*calls, return_exceptions=True):
                assert isinstance(error, GenerationFailed) and error.kind == "infrastructure"
                assert "ZeroDivisionError: division by zero" in str(error)
        assert (await engine.generate("r0", [2], {"max_new_tokens": 4, "ignore_eos": True})).tokens == 4

    run(test())


def test_text_goes_through_a_tokenizer_and_evaluation_mode_is_the_engines() -> None:
    class Letters:
        def encode(self, text: str) -> list[int]:
            return [ord(one) - ord("a") + 2 for one in text]

        def decode(self, ids: Sequence[int], *, skip_special_tokens: bool) -> str:
            return "".join(chr(one + ord("a") - 2) for one in ids)

    async def test() -> None:
        model = model_of().train()
        engine = HfEngine(model, tokenizer=Letters())
        sampling = {"max_new_tokens": 5, "temperature": 0, "ignore_eos": True}
        found = await engine.generate("r", "abc", sampling)
        assert found.token_ids == (await engine.generate("s", [2, 3, 4], sampling)).token_ids
        assert found.text == Letters().decode(found.token_ids, skip_special_tokens=True)
        assert not model.training

    run(test())


class Host(EngineHost[list[int]]):
    """Prompts of one token, and responses of at most 40."""

    def __init__(self, engine: HfEngine) -> None:
        super().__init__(EnginePool([engine]), {"max_new_tokens": 40})
        self.source = [[2 + n % (vocabulary - 2)] for n in range(400)]
        self.supplied = 0
        self.resumed = 0
        self.aborts: list[str] = []

    async def supply(self, count: int, domains: Mapping[str, int] | None) -> list[Prompt[list[int]]]:
        taken = [Prompt(f"p{self.supplied + n}", one) for n, one in enumerate(self.source[:count])]
        self.source, self.supplied = self.source[count:], self.supplied + len(taken)
        return taken

    async def give_back(self, prompts: Sequence[Prompt[list[int]]]) -> None:
        self.source = [one.body for one in prompts] + self.source

    async def generate(self, launch: Launch[list[int], Generated]) -> Response[Generated]:
        found = await super().generate(launch)
        if launch.resume_from is not None:
            self.resumed += 1
            assert found.body.token_ids[: launch.resume_tokens] == launch.resume_from.token_ids
            assert found.body.log_probs is not None and len(found.body.log_probs) == found.tokens <= 40
        return found


Trained = list[tuple[str, list[list[int]]]]


async def rounds(count: int, **config: Any) -> tuple[Trained, Host, Rollout[Any, Any]]:
    """Some rounds of tail batching, which wait for the policy after each step in which a request has ended."""

    async def answered(ended: Sequence[str]) -> None:
        if ended:
            for _ in range(20):
                await asyncio.sleep(0)
            await rollout.outbox.flush()
            for _ in range(20):
                await asyncio.sleep(0)

    engine = HfEngine(model_of(), seed=7, after_step=answered)
    host = Host(engine)
    trained: Trained = []
    async with AsyncClient() as client:
        settings = {"promptsPerRound": 4, "responsesPerPrompt": 3, "idPrefix": "", **config}
        rollout = await Rollout.open(client, host, settings, send_interval_seconds=0.0)
        for version in range(1, count + 1):
            engine.weight_version = version
            done = await rollout.round(version)
            assert len(done.groups) == 4 and rollout.in_flight == 0 == engine.load
            trained += [(one.prompt_id, [sample.body.token_ids for sample in one.samples]) for one in done.groups]
        left = len(rollout.waiting())
        await rollout.close()
    assert len({id for id, _ in trained}) == len(trained) == host.supplied - left, "each prompt, once"
    return trained, host, rollout


def test_tail_batching_over_a_model_is_the_same_each_time(ran: Ran) -> None:
    first, host, _ = run(rounds(6))
    assert run(rounds(6))[0] == first
    ran(
        "transformers, in process",
        transformers.__version__,
        real="HfEngine with a small Qwen2 (CPU, float64), EnginePool, Rollout, tail-batching in the process",
        stands_in="random weights",
        steps=6,
        prompts=host.supplied,
        accounted=len(first) + host.supplied - len(first),
        note="two runs with one seed gave the same tokens",
    )


def test_deferred_responses_go_on_where_they_were_cut() -> None:
    _, host, _ = run(rounds(6, partialRollout=True, maxStaleness=4, promptSpeculation=2))
    assert host.resumed > 0
