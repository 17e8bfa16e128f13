"""Every policy, recipe and planner, over the client: what they say is what they say in process."""

from __future__ import annotations

import json
import typing
from pathlib import Path

import pytest

import rollflex
import rollflex.models
from plans import plans
from rollflex import Client, Untyped
from support import Start, root

golden = sorted((root / "test" / "golden").glob("*.jsonl"))


@pytest.fixture(scope="module")
def everything(start: Start) -> typing.Iterator[Client]:
    with start() as client:
        yield client


@pytest.mark.parametrize("log", golden, ids=lambda log: log.stem)
def test_a_recorded_log_gives_the_same_decisions(everything: Client, log: Path) -> None:
    first, *lines = (json.loads(line) for line in log.read_text(encoding="utf-8").splitlines())
    with everything.open(snapshot=first["snapshot"]) as session:
        assert session.policy == log.stem
        events = [line["event"] for line in lines]
        expected = [decision for line in lines for decision in line["decisions"]]
        middle = len(events) // 2
        decisions = [decision for event in events[:middle] for decision in session.send(event)]
        # And the rest at once, in another session.
        with everything.open(snapshot=session.snapshot()) as other:
            assert decisions + other.send(events[middle:]) == expected


def test_every_policy_has_a_log(everything: Client) -> None:
    assert {one["id"] for one in everything.server_info()["policies"]} == {log.stem for log in golden}


@pytest.mark.parametrize("planner", plans)
def test_every_planner(everything: Client, planner: str) -> None:
    input, expected = plans[planner]
    plan = everything.plan(Untyped(planner), input)
    assert plan == expected or not expected
    name = "".join(part.capitalize() for part in planner.split("-"))
    model = getattr(rollflex.models, f"{name}Plan")
    assert model.__required_keys__ <= set(plan) <= model.__required_keys__ | model.__optional_keys__


def test_there_are_no_other_planners(everything: Client) -> None:
    assert {one["id"] for one in everything.server_info()["planners"]} == set(plans)


def test_what_a_planner_refuses(everything: Client) -> None:
    with pytest.raises(rollflex.PolicyError) as refusal:
        everything.plan("gradient-renormalization", {"replicas": [{"samples": -1}]})
    assert (refusal.value.code, refusal.value.path) == ("invalid_input", "replicas[0].samples")
    with pytest.raises(rollflex.PolicyError) as refusal:
        everything.plan("gradient-renormalization", {"replicas": [{"samples": 0}]})
    assert refusal.value.code == "infeasible"
    with pytest.raises(rollflex.PolicyError) as refusal:
        everything.plan(Untyped("tail-batching"), {})
    assert (refusal.value.code, refusal.value.path) == ("unknown_id", "planner")
