"""What a first program gets wrong, and what it is told."""

from __future__ import annotations

import asyncio
import warnings
from typing import Any

import pytest

import rollflex
from support import tail

round_requested = {"type": "round.requested", "at": 0, "roundId": "r1", "weightVersion": 1}


def test_of_several_events_the_refused_one_is_named(client: rollflex.Client) -> None:
    session: Any = client.open("tail-batching", tail)
    supplied = {"type": "prompts.supplied", "at": 0, "roundId": "r1", "prompts": [{"promptId": "a"}]}
    with pytest.raises(rollflex.PolicyError) as caught:
        session.send([round_requested, supplied, {"type": "response.completed", "at": 1, "requestId": "a/0#0"}])
    assert str(caught.value).startswith("invalid_event: events[2].tokens of response.completed: expected ")
    assert (caught.value.path, caught.value.index) == ("tokens", 2)
    assert [one["type"] for one in caught.value.decisions][:2] == ["round.planned", "prompts.request"]
    with pytest.raises(rollflex.PolicyError, match=r"^invalid_event: events\[0\]\.type: expected "):
        session.send([{"type": "no.such", "at": 1}, round_requested])
    with pytest.raises(rollflex.PolicyError, match="^invalid_event: tokens: expected "):
        session.send({"type": "response.completed", "at": 1, "requestId": "a/0#0"})


@pytest.mark.parametrize("wrong", ["round.requested", b"{}", None, 7])
def test_what_is_no_event_is_refused_before_anything_is_sent(client: rollflex.Client, wrong: Any) -> None:
    session = client.open("tail-batching", tail)
    with pytest.raises(TypeError, match="send takes an event, .* or a list of events, not "):
        session.send(wrong)
    assert (session.seq, session.unanswered) == (0, 0)


@pytest.mark.parametrize("kind", [rollflex.Client, rollflex.AsyncClient])
def test_an_option_of_another_way_to_make_a_client_is_named(kind: Any) -> None:
    wrong: list[tuple[dict[str, Any], str]] = [
        (
            {"state_dir": "x"},
            rf"{kind.__name__}\(\) has no option state_dir: {kind.__name__}\.embedded\(state_dir=…\) has it",
        ),
        ({"args": []}, rf"{kind.__name__}\.spawn\(args=…\)"),
        ({"port": 7}, rf"{kind.__name__}\.connect\(port=…\)"),
        ({"statedir": "x"}, r"has no option statedir$"),
    ]
    for options, where in wrong:
        with pytest.raises(TypeError, match=where):
            kind(**options)


def test_the_warning_of_milliseconds_points_at_the_line_that_sent_them() -> None:
    event: Any = {**round_requested, "at": 1.8e12}

    async def later() -> None:
        async with rollflex.AsyncClient() as client:
            await (await client.open("tail-batching", tail)).send(event)

    with rollflex.Client() as client, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        client.open("tail-batching", tail).send(event)
        asyncio.run(later())
    assert [one.filename for one in caught] == [__file__, __file__]
    assert "host.restarted" in str(caught[0].message)


def test_milliseconds_are_mended_as_the_warning_says(client: rollflex.Client) -> None:
    session = client.open("tail-batching", {"promptsPerRound": 1, "responsesPerPrompt": 1, "abortGraceSeconds": 5})
    with pytest.warns(UserWarning, match="looks like milliseconds"):
        session.send({"type": "round.requested", "at": 1.8e12, "roundId": "r1", "weightVersion": 1})
    session.send({"type": "host.restarted", "at": 1.8e9, "idPrefix": "again:"})
    session.send({"type": "prompts.supplied", "at": 1.8e9, "roundId": "r1", "prompts": [{"promptId": "a"}]})
    decisions = session.send({"type": "response.completed", "at": 1.8e9 + 1, "requestId": "again:a/0#0", "tokens": 3})
    assert [one["fireAtSeconds"] for one in decisions if one["type"] == "timer.set"] == [1.8e9 + 6]
