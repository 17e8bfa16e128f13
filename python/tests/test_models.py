"""The generated types: they are what goes over the wire, and type checkers see through them."""

from __future__ import annotations

import functools
import json
import subprocess
import sys
import types
import typing
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Union, get_args, get_origin

import pytest

import rollflex
from rollflex import models
from rollflex.models import (
    FlexUlyssesPlan,
    Prompt,
    RequestLaunch,
    RoundRequested,
    TailBatchingConfig,
    TailBatchingDecision,
    TailBatchingEvent,
)
from rollflex.models.methods import SessionListResultSession
from support import environment, opening, root, spawn, tail

if TYPE_CHECKING:
    from typing_extensions import assert_type
else:

    def assert_type(value: Any, kind: Any) -> Any:
        return value


golden = sorted((root / "test" / "golden").glob("*.jsonl"))
# Before 3.11 a class does not know at run time which of its keys may be missing.
knows_optional = pytest.mark.skipif(sys.version_info < (3, 11), reason="typing.NotRequired is of 3.11")


@functools.cache
def hints(kind: Any) -> dict[str, Any]:
    return typing.get_type_hints(kind)


def candidates(value: Any, kinds: tuple[Any, ...]) -> list[Any]:
    """An event or a decision is told from the others by its type."""
    if isinstance(value, dict) and "type" in value and all(typing.is_typeddict(one) for one in kinds):
        return [one for one in kinds if hints(one).get("type") == Literal[value["type"]]] or list(kinds)
    return list(kinds)


def misfits(value: Any, kind: Any, path: str = "") -> Iterator[str]:
    """Where a value is not of a type."""
    origin = get_origin(kind)
    if kind is Any:
        return
    if origin in (Union, types.UnionType):
        found = [list(misfits(value, one, path)) for one in candidates(value, get_args(kind))]
        if all(found):
            yield min(found, key=len)[0]
    elif origin is Literal:
        if not any(value == one and type(value) is type(one) for one in get_args(kind)):
            yield f"{path}: {value!r} is not in {get_args(kind)}"
    elif origin in (list, Sequence):
        if not isinstance(value, list):
            yield f"{path}: {value!r} is no list"
            return
        for index, one in enumerate(value):
            yield from misfits(one, get_args(kind)[0], f"{path}[{index}]")
    elif origin in (dict, Mapping):
        for key, one in value.items():
            yield from misfits(one, get_args(kind)[1], f"{path}.{key}")
    elif typing.is_typeddict(kind):
        if not isinstance(value, dict):
            yield f"{path}: {value!r} is no object"
            return
        fields = hints(kind)
        yield from (f"{path}.{key}: not in {kind.__name__}" for key in value.keys() - fields.keys())
        yield from (f"{path}.{key}: missing in {kind.__name__}" for key in kind.__required_keys__ - value.keys())
        for key in value.keys() & fields.keys():
            yield from misfits(value[key], fields[key], f"{path}.{key}")
    elif kind is float:
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            yield f"{path}: {value!r} is no number"
    elif not (isinstance(value, kind) and (kind is bool or not isinstance(value, bool))):
        yield f"{path}: {value!r} is no {kind}"


def model_name(policy: str, part: str) -> str:
    return "".join(word[:1].upper() + word[1:] for word in policy.split("-")) + part


def model(policy: str, part: str) -> Any:
    return getattr(models, model_name(policy, part))


@knows_optional
@pytest.mark.parametrize("log", golden, ids=lambda log: log.stem)
def test_what_a_policy_is_told_and_what_it_answers_is_of_its_types(log: Path) -> None:
    first, *lines = (json.loads(line) for line in log.read_text(encoding="utf-8").splitlines())
    event, decision = model(log.stem, "Event"), model(log.stem, "Decision")
    wrong = [*misfits(first["snapshot"], model(log.stem, "Snapshot"))]
    for line in lines:
        wrong += misfits(line["event"], event)
        for one in line["decisions"]:
            wrong += misfits(one, decision)
    assert wrong[:5] == []
    assert len(lines) > 20


@knows_optional
@pytest.mark.parametrize(
    ("value", "kind", "problem"),
    [
        ({"type": "round.requested", "roundId": "r", "weightVersion": 1}, TailBatchingEvent, None),
        ({"type": "round.requested", "roundId": "r"}, TailBatchingEvent, "weightVersion: missing"),
        ({"type": "round.requested", "roundId": "r", "weightVersion": "1"}, TailBatchingEvent, "is no <class 'int'>"),
        ({"type": "round.requested", "roundId": "r", "weightVersion": 1, "x": 1}, RoundRequested, "x: not in"),
        ({"type": "round.asked"}, RoundRequested, "not in"),
        ({"promptsPerRound": 2, "responsesPerPrompt": True}, TailBatchingConfig, "is no"),
        ({"promptsPerRound": 2, "responsesPerPrompt": 2, "order": "x"}, TailBatchingConfig, "is not in"),
    ],
)
def test_what_does_not_fit_is_found(value: Any, kind: Any, problem: str | None) -> None:
    found = list(misfits(value, kind))
    assert (problem is None) == (found == [])
    assert problem is None or problem in "\n".join(found)


@knows_optional
def test_methods_and_plans_are_of_their_types() -> None:
    with spawn() as client:
        session = client.open("tail-batching", config=tail)
        session.send(opening())
        answers = [
            (client.server_info(), models.ServerInfoResult),
            (client.discover(), models.RpcDiscoverResult),
            (client.call("session.list"), models.SessionListResult),
            (client.call("session.snapshot", {"session": session.id}), models.SessionSnapshotResult),
            (session.snapshot(), models.TailBatchingSnapshot),
            (client.plan("flex-ulysses", {"lengths": [900, 800, 20], "devices": 4}), FlexUlyssesPlan),
            (
                client.plan("gradient-renormalization", {"replicas": [{"samples": 1}]}),
                models.GradientRenormalizationPlan,
            ),
        ]
    assert [problem for value, kind in answers for problem in misfits(value, kind)] == []


@knows_optional
def test_what_why_always_has_is_required(client: rollflex.Client) -> None:
    session = client.open("tail-batching", tail)
    session.send(opening())
    everything = session.why()
    one = session.why(everything["rounds"][0]["id"], "rounds")
    assert [*misfits(everything, models.SessionWhyAllResult), *misfits(one, models.SessionWhyResult)] == []
    assert models.SessionWhyAllResult.__required_keys__ == {"rounds", "owed", "more", "at", "seq"}
    assert models.SessionWhyResult.__required_keys__ >= {"what", "id", "stands", "through", "owed"}


@pytest.mark.parametrize("policy", [log.stem for log in golden])
def test_commands_and_notices_are_all_decisions(policy: str) -> None:
    """A policy may have only the one or the other."""
    parts = [getattr(models, model_name(policy, part), None) for part in ("Command", "Notice")]
    found = [one for part in parts if part is not None for one in get_args(part) or (part,)]
    assert len(found) == len(set(found)) and set(found) == set(get_args(model(policy, "Decision")))


def test_every_name_is_there_and_every_event_of_the_server_has_a_class() -> None:
    for name in models.__all__:
        assert getattr(models, name) is not None
    with pytest.raises(AttributeError, match="NoSuchModel"):
        models.NoSuchModel  # type: ignore[attr-defined]  # noqa: B018
    with spawn() as client:
        schemas = client.discover()["components"]["schemas"]
    words = {
        name.split(".", 1)[1] for name in schemas if name.startswith(("event.", "decision.", "command.", "notice."))
    }
    assert len(words) > 150
    for word in words:
        kind = getattr(models, "".join(part[:1].upper() + part[1:] for part in word.replace("-", ".").split(".")))
        assert get_args(typing.get_type_hints(kind)["type"]) == (word,)


def test_importing_the_package_does_not_load_the_models() -> None:
    code = "import sys, rollflex; print([one for one in sys.modules if one.startswith('rollflex.models')])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment())
    assert run.stdout == "[]\n", run.stderr


def test_type_checkers_know_what_a_session_takes_and_gives() -> None:
    """`mypy --strict` reads this too: each `type: ignore` stands where it must find something."""
    with spawn() as client:
        session = client.open("tail-batching", config={"promptsPerRound": 2, "responsesPerPrompt": 2})
        assert_type(session, rollflex.Session[TailBatchingEvent, TailBatchingDecision])
        event: TailBatchingEvent = {"type": "round.requested", "at": 0, "roundId": "r1", "weightVersion": 7}
        for decision in session.send(event):
            if decision["type"] == "prompts.request":
                assert_type(decision["count"], int)
                assert decision["count"] == 3
            elif decision["type"] == "request.launch":
                assert_type(decision, RequestLaunch)
        session.send([{"type": "prompts.supplied", "at": 0, "roundId": "r1", "prompts": [{"promptId": "a"}]}])
        _plain_dictionaries(client)
        refused = 0
        for wrong in (
            lambda: session.send({"type": "round.requested", "roundId": "r2"}),  # type: ignore[arg-type]
            lambda: session.send({"type": "no.such"}),  # type: ignore[arg-type]
            lambda: client.plan("flex-ulysses", {"lengths": [900]}),  # type: ignore[call-overload]
            lambda: client.open("tail-batching", config={"promptsPerRound": "2"}),  # type: ignore[call-overload]
            lambda: client.open("tail-batching", {"promptsPerRund": 2}),  # type: ignore[call-overload]
        ):
            try:
                wrong()
            except rollflex.PolicyError:
                refused += 1
        assert refused == 5
        plan = client.plan("flex-ulysses", {"lengths": [900, 800], "devices": 4})
        assert_type(plan, FlexUlyssesPlan)
        assert_type(client.plan(rollflex.Untyped("flex-ulysses"), {"lengths": [900], "devices": 1}), Any)
        assert_type(client.server_info(), models.ServerInfoResult)
        assert_type(client.sessions(), list[SessionListResultSession])
        assert_type(session.why(), models.SessionWhyAllResult)
        assert_type(session.why("r1", "rounds"), models.SessionWhyResult)


def _plain_dictionaries(client: rollflex.Client) -> None:
    """Common calls, without a cast and without a class: a dictionary is checked where it is given."""
    session = client.open("tail-batching", {"promptsPerRound": 2, "responsesPerPrompt": 2})
    ids = ["a", "b", "c"]
    decisions = session.send(
        [
            {"type": "round.requested", "at": 0, "roundId": "r1", "weightVersion": 7},
            {"type": "prompts.supplied", "at": 0, "roundId": "r1", "prompts": [{"promptId": one} for one in ids]},
        ]
    )
    launched = [one["requestId"] for one in decisions if one["type"] == "request.launch"]
    assert_type(launched, list[str])
    session.send([{"type": "request.started", "at": 1, "requestId": one, "engineId": "e"} for one in launched[:2]])
    session.send([{"type": "response.completed", "at": 2, "requestId": one, "tokens": 9} for one in launched[:2]])
    session.send({"type": "response.failed", "at": 3, "requestId": launched[2], "kind": "infrastructure"})
    prompts: list[Prompt] = []
    for one in ids:
        prompts.append({"promptId": one, "ref": f"line {one}"})
    events: list[TailBatchingEvent] = [{"type": "source.exhausted", "at": 4}]
    events.append({"type": "source.reopened", "at": 4})
    session.send(events)


async def _asyncio_too(client: rollflex.AsyncClient) -> None:
    session = await client.open("tail-batching", {"promptsPerRound": 2, "responsesPerPrompt": 2})
    assert_type((await session.why())["rounds"][0]["owed"], dict[str, int])
    assert_type(session, rollflex.AsyncSession[TailBatchingEvent, TailBatchingDecision])
    async for number, decision in await session.subscribe():
        assert_type(number, int)
        assert_type(decision, TailBatchingDecision)
    assert_type(await client.plan("flex-ulysses", {"lengths": [900], "devices": 1}), FlexUlyssesPlan)
