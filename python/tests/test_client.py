"""What the client for threads does with a real server."""

from __future__ import annotations

import math
import random
import re
import threading
import time
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest

import rollflex
from rollflex import Client, PolicyError
from rollflex.models import WatchdogEvent
from support import Day, MakeProxy, Served, Start, opening, tail, tail_batching


def launched(decisions: list[Any]) -> list[str]:
    return [one["requestId"] for one in decisions if one["type"] == "request.launch"]


def completed(requests: list[str], at: float = 1) -> list[Any]:
    return [{"type": "response.completed", "at": at, "requestId": one, "tokens": 5} for one in requests]


def test_one_event_several_events_and_none(client: Client) -> None:
    session = client.open(tail_batching, config=tail)
    assert (session.policy, session.version, session.seq) == ("tail-batching", 2, 0)
    first, second = opening()
    assert [one["type"] for one in session.send(first)] == ["round.planned", "prompts.request"]
    requests = launched(session.send([second]))
    assert session.send([]) == []
    assert [one["type"] for one in session.send(tuple(completed(requests[:1])))] == ["response.accepted"]
    assert (session.seq, session.next_seq, session.unanswered) == (3, 3, 0)


def test_time_is_stamped_where_an_event_has_none(client: Client) -> None:
    session = client.open(tail_batching, config=tail)
    before = time.time()
    decision = session.send({"type": "round.requested", "roundId": "r1", "weightVersion": 1})[0]
    assert before - 1 <= decision["at"] <= time.time() + 1


def test_a_snapshot_goes_on_in_another_session(client: Client) -> None:
    session = client.open(tail_batching, config=tail)
    requests = launched(session.send(opening()))
    snapshot = session.snapshot()
    assert (snapshot["policy"], snapshot["seq"]) == ("tail-batching", 2)
    with client.open(snapshot=snapshot) as other:
        assert other.id != session.id
        assert other.send(completed(requests)) == session.send(completed(requests))
        assert other.snapshot()["state"] == session.snapshot()["state"]
    assert [one["session"] for one in client.sessions()] == [session.id]


def test_a_watchdog_names_who_owes_an_answer(client: Client) -> None:
    heard = {get_args(get_type_hints(one)["type"])[0] for one in get_args(WatchdogEvent)}
    job = client.open(tail_batching, config=tail)
    dog = client.open("watchdog", config={"startSeconds": 100})

    def told(event: Any) -> None:
        dog.send([one for one in (event, *job.send(event)) if one["type"] in heard])

    for event in opening():
        told(event)
    requests = [one["event"]["requestId"] for one in job.why()["owed"]]
    for one in completed(requests[:1], at=50):
        told(one)
    said = dog.send({"type": "timer.fired", "at": 1000, "timerId": "watchdog/check"})
    [owes] = [one for one in said if one["type"] == "host.owes"]
    assert (owes["sender"], owes["event"], owes["count"]) == ("engine", "response.completed", 8)
    assert owes["ids"] == {"requestId": requests[1]}


def test_why_names_who_has_to_act(client: Client) -> None:
    session = client.open(tail_batching, config=tail)
    session.send(opening())
    why = session.why("r1-p0")
    assert why["owed"][0]["who"] == "engine"
    assert why["owed"][0]["event"]["requestId"] == why["through"][0]["id"] == "r1-p0/0#0"
    assert session.why("r1-p0", "prompts")["stands"] == why["stands"]
    assert len(session.why()["owed"]) == 9
    assert session.seq == 2
    with pytest.raises(PolicyError, match=r"did you mean \"r1-p0\"") as refusal:
        session.why("r1-p00")
    assert refusal.value.code == "unknown_id"


def test_a_server_that_watches_says_which_decision_asked_and_what_is_usual() -> None:
    with Client.spawn(args=["--watch"], timeout=120) as client:
        session = client.open(tail_batching, config=tail)
        requests = launched(session.send(opening()))
        session.send(completed(requests[:1], at=4))
        [owed] = session.why(requests[1])["owed"]
        assert owed["asked"]["type"] == "request.launch"
        assert owed["usual"]["answers"] == 1
        assert owed["usual"]["medianSeconds"] == pytest.approx(4, rel=0.2)


def test_shadow_mode_takes_what_the_host_has_decided(client: Client) -> None:
    session = client.open(rollflex.Untyped("sandbox-timeout"), config={}, shadow=True)
    decided = {"type": "sandbox.run", "runId": "r1", "timeoutSeconds": 30}
    events = [
        {"type": "sandbox.requested", "at": 0, "runId": "r1", "testCaseId": "case"},
        {"type": "host.decided", "at": 0, "decision": decided},
    ]
    assert [one["type"] for one in session.send(events)] == ["sandbox.run"]
    assert (session.seq, session.next_seq) == (1, 2)
    assert session.send({"type": "host.decided", "at": 1, "decision": decided}) == []
    with pytest.raises(PolicyError) as refused:
        session.send({"type": "host.decided", "at": 1, "decision": {"type": "round-tp.set"}})
    assert (refused.value.code, refused.value.path) == ("invalid_event", "decision.type")


def test_sessions_by_name(client: Client) -> None:
    session = client.open(tail_batching, config=tail, session="mine")
    session.send(opening())
    with pytest.raises(PolicyError) as refusal:
        client.open(tail_batching, config=tail, session="mine")
    assert (refusal.value.code, refusal.value.path) == ("duplicate_id", "session")
    assert client.open(tail_batching, session="mine", on_existing="attach").seq == 2
    assert client.open(tail_batching, config=tail, session="mine", on_existing="replace").seq == 0
    session.close()
    session.close()
    assert client.sessions() == []
    with pytest.raises(rollflex.ClientClosed, match="mine was closed"):
        session.send([])


def test_every_page_of_the_sessions(start: Start) -> None:
    with start(limits={"pageSessions": 3}) as client:
        names = sorted(f"s-{index}" for index in range(10))
        for name in names:
            client.open(tail_batching, config=tail, session=name)
        assert [one["session"] for one in client.sessions()] == names


@pytest.mark.parametrize(
    ("options", "code", "path"),
    [
        ({"policy": "no-such"}, "unknown_id", "policy"),
        ({"policy": "tail-batching", "config": {"promptsPerRound": 0}}, "invalid_config", "promptsPerRound"),
        ({"policy": "tail-batching", "config": tail, "timers": "server"}, "invalid_input", "deliver"),
        ({"snapshot": {"policy": "tail-batching"}}, "snapshot_mismatch", "snapshot.version"),
        ({"policy": "tail-batching", "config": tail, "on_existing": "perhaps"}, "invalid_input", "onExisting"),
    ],
)
def test_what_cannot_be_opened(client: Client, options: dict[str, Any], code: str, path: str) -> None:
    with pytest.raises(PolicyError) as refusal:
        client.open(**options)
    assert (refusal.value.code, refusal.value.path) == (code, path)
    assert refusal.value.expected
    assert refusal.value.got
    assert client.sessions() == []


def test_an_option_that_is_not_one(client: Client) -> None:
    with pytest.raises(TypeError, match="onExisting.*did you mean 'on_existing'"):
        client.open(tail_batching, onExisting="attach")  # type: ignore[call-overload]


@pytest.mark.parametrize(
    ("options", "meant"),
    [
        ({"policy": "tail_batching"}, "tail-batching"),
        ({"policy": "tail-batching", "config": {"prompts_per_round": 2, "responsesPerPrompt": 2}}, "promptsPerRound"),
        ({"policy": "tail-batching", "config": {**tail, "order": "fiof"}}, "fifo"),
        ({"policy": "tail-batching", "config": tail, "on_existing": "atach"}, "attach"),
    ],
)
def test_what_was_meant(client: Client, options: dict[str, Any], meant: str) -> None:
    with pytest.raises(PolicyError, match=f'did you mean "{meant}"'):
        client.open(**options)


def test_the_event_that_was_meant(client: Client) -> None:
    session = client.open(tail_batching, config=tail)
    with pytest.raises(PolicyError, match='did you mean "round.requested"'):
        session.send([{"type": "round_requested", "at": 0, "roundId": "r", "weightVersion": 0}])


def test_a_refused_event_loses_nothing(client: Client) -> None:
    session = client.open(tail_batching, config=tail)
    twin = client.open(tail_batching, config=tail)
    with pytest.raises(PolicyError) as refusal:
        session.send([*opening(), {"type": "response.completed", "at": 1, "requestId": "never", "tokens": 1}])
    error = refusal.value
    assert (error.code, error.path, error.index, error.seq) == ("unknown_id", "requestId", 2, 2)
    assert error.decisions == twin.send(opening())
    assert "never" in error.got
    assert "never" in str(error)
    assert session.send(completed(launched(error.decisions))) == twin.send(completed(launched(error.decisions)))


def test_long_lists_are_split_and_long_answers_come_whole(start: Start) -> None:
    chance = random.Random(4)
    config = {"promptsPerRound": 200, "responsesPerPrompt": 4}
    with start() as whole:
        prompts = opening(prompts=250)
        first = whole.open(tail_batching, config=config)
        decisions = first.send(prompts)
        reports = completed(launched(decisions))[:800]
        chance.shuffle(reports)
        expected = decisions + first.send(reports)
    for most, page in [(3, 1), (7, 30), (100, 1000), (801, 20)]:
        limits = {"maxEventsPerCall": most, "pageDecisions": page, "keptAnswers": 2}
        with start(limits=limits) as client:
            session = client.open(tail_batching, config=config)
            assert session.send([*prompts, *reports]) == expected
            assert session.next_seq == session.seq == 802


def test_a_refusal_in_a_long_list_says_which_event_it_was(start: Start) -> None:
    with start(limits={"maxEventsPerCall": 3, "pageDecisions": 2}) as client:
        session = client.open(tail_batching, config=tail)
        twin = client.open(tail_batching, config=tail)
        requests = launched(twin.send(opening()))
        engines = [{"type": "engine.added", "at": 0, "engineId": f"e{index}"} for index in range(5)]
        good = [*opening(), *engines, *completed(requests[:4])]
        for index in range(len(good) + 1):
            session = client.open(tail_batching, config=tail)
            twin = client.open(tail_batching, config=tail)
            with pytest.raises(PolicyError) as refusal:
                session.send([*good[:index], {"type": "no.such"}, *good[index:]])
            assert (refusal.value.index, refusal.value.seq) == (index, index)
            assert session.next_seq == session.seq == index
            assert refusal.value.decisions == twin.send(good[:index])
            assert session.send(good[index:]) == twin.send(good[index:])


def test_what_does_not_fit_into_one_message_goes_in_several(start: Start) -> None:
    reports = [{"type": "engine.added", "at": 0, "engineId": "e" * 100 + str(index)} for index in range(200)]
    with start() as whole, start(limits={"maxMessageBytes": 4096}) as client:
        session = client.open(tail_batching, config=tail)
        twin = whole.open(tail_batching, config=tail)
        long: Any = [*opening(), *reports]
        assert session.send(long) == twin.send(long)
        assert session.snapshot() == twin.snapshot()
        too_long: Any = [*opening("r2"), {"type": "y" * 5000}]
        with pytest.raises(PolicyError) as refusal:
            session.send(too_long)
        assert (refusal.value.code, refusal.value.path, refusal.value.index) == ("limit_exceeded", "events[2]", 2)
        assert (session.unanswered, session.seq) == (0, 202)
        with pytest.raises(PolicyError) as refusal:
            client.plan("flex-ulysses", {"lengths": [1] * 5000, "devices": 1})
        assert refusal.value.code == "limit_exceeded"


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"type": object()}, "event[2].type: a value of type object"),
        ({"type": math.nan}, "event[2].type: NaN"),
        ({"at": math.inf}, "event[2].at: Infinity"),
        ({"rewards": {"p0": 1.0, "p1": math.nan}}, "event[2].rewards.p1: NaN"),
        ({"parts": [{"score": 0}, {"score": -math.inf}]}, "event[2].parts[1].score: -Infinity"),
        ({"ids": {"a"}}, "event[2].ids: a value of type set"),
        ({"at": 0, (1, 2): 3}, "event[2]: a key of type tuple"),
    ],
)
def test_what_is_no_json_is_refused_with_its_place_before_anything_is_sent(
    client: Client, wrong: dict[Any, Any], named: str
) -> None:
    session = client.open(tail_batching, config=tail)
    with pytest.raises((TypeError, ValueError)) as refusal:
        session.send([*opening(), wrong])
    assert str(refusal.value) == f"{named}, which is not in JSON"
    with pytest.raises((TypeError, ValueError), match=re.escape(named.replace("[2]", "", 1))):
        session.send(wrong)
    assert (session.snapshot()["seq"], session.unanswered) == (0, 0)
    assert len(session.send(opening())) == 11


def test_configurations_and_plans_with_what_is_no_json_are_refused_with_its_place(client: Client) -> None:
    with pytest.raises(ValueError, match=r"^config\.promptSpeculation: NaN, which is not in JSON$"):
        client.open(tail_batching, {**tail, "promptSpeculation": math.nan})
    with pytest.raises(ValueError, match=r"^input\.replicas\[1\]\.samples: NaN, which is not in JSON$"):
        client.plan(rollflex.Untyped("gradient-renormalization"), {"replicas": [{"samples": 3}, {"samples": math.nan}]})
    itself: list[Any] = []
    itself.append({"again": itself})
    with pytest.raises(ValueError, match=r"^config\.x\[0\]\.again: an object that holds itself"):
        client.open(tail_batching, {"x": itself})
    assert client.sessions() == []


def test_a_configuration_by_its_position(client: Client) -> None:
    session = client.open("tail-batching", {"promptsPerRound": 2, "responsesPerPrompt": 2})
    assert session.snapshot()["config"]["promptsPerRound"] == 2


def test_text_of_any_kind(client: Client) -> None:
    session = client.open(tail_batching, config=tail)
    first, second = opening('Größe\n\u2028 "r1" 🙂 \\')
    assert session.send(first)[0]["roundId"] == first["roundId"]
    assert session.send(second)[0]["promptId"] == second["prompts"][0]["promptId"]


def test_a_host_that_comes_back_under_its_own_name(short: Path, served: Served) -> None:
    with Client.connect(short / "s") as client:
        before = client.open(tail_batching, config=tail, session="job", producer="trainer")
        decisions = before.send(opening())
    with Client.connect(short / "s") as client:
        after = client.open(tail_batching, session="job", on_existing="attach", producer="trainer")
        assert (after.next_seq, after.seq) == (2, 2)
        # It does not know whether its last call was applied: it sends it again with its number.
        assert after.send(opening(), first_seq=0) == decisions
        with pytest.raises(PolicyError) as refusal:
            after.send(opening(), first_seq=7)
        assert (refusal.value.code, refusal.value.path) == ("out_of_order", "firstSeq")
        assert len(after.send(completed(launched(decisions)[:1]))) == 1


def test_threads_that_share_one_session(start: Start) -> None:
    config = {"promptsPerRound": 40, "responsesPerPrompt": 4}
    with start() as client:
        session = client.open(tail_batching, config=config)
        requests = launched(session.send(opening(prompts=50)))
        found: list[list[Any]] = []

        def work(mine: list[str]) -> None:
            found.extend(session.send(event) for event in completed(mine))

        threads = [threading.Thread(target=work, args=(requests[index::8],)) for index in range(8)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
        assert session.seq == 2 + len(requests) == session.next_seq
        accepted = [one["requestId"] for decisions in found for one in decisions if one["type"] == "response.accepted"]
        assert sorted(set(accepted)) == sorted(accepted)
        assert sum(one["type"] == "round.completed" for decisions in found for one in decisions) == 1


def test_threads_with_sessions_of_their_own_get_their_own_answers(client: Client) -> None:
    wrong: list[str] = []

    def work(seed: int) -> None:
        day = Day(seed)
        twin_day = Day(seed)
        session = client.open(tail_batching, config=tail)
        twin = client.open(tail_batching, config=tail)
        for _ in range(40):
            decisions = session.send(day.events(5))
            day.see(decisions)
            expected = twin.send(twin_day.events(5))
            twin_day.see(expected)
            if decisions != expected:
                wrong.append(f"seed {seed}")

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert wrong == []


def test_tcp_with_a_token(short: Path) -> None:
    token = short / "token"
    token.write_text("a secret of some length\n")
    token.chmod(0o600)
    served = Served("--port", "0", "--token-file", str(token))
    try:
        host, port = served.address.rsplit(":", 1)
        with Client.connect(host=host, port=int(port), token_file=token) as client:
            assert len(client.open(tail_batching, config=tail).send(opening())) == 11
        with Client.connect(port=int(port), token="a secret of some length") as client:
            assert len(client.sessions()) == 1
        with pytest.raises(rollflex.ServerUnavailable, match="is the token right"):
            Client.connect(port=int(port), token="another one of some length")
        with pytest.raises(rollflex.ServerUnavailable):
            Client.connect(port=int(port), timeout=120)
    finally:
        served.stop()


def test_a_server_that_is_not_there(short: Path) -> None:
    with pytest.raises(rollflex.ServerUnavailable, match="cannot connect to .*nowhere"):
        Client.connect(short / "nowhere")
    with pytest.raises(ValueError, match="either the path"):
        Client.connect()
    with pytest.raises(ValueError, match="either the path"):
        Client.connect("x", port=1)


def test_a_server_that_is_only_coming_up(short: Path) -> None:
    served: list[Served] = []
    starting = threading.Timer(0.3, lambda: served.append(Served("--socket", str(short / "s"))))
    starting.start()
    try:
        with Client.connect(short / "s", wait=20) as client:
            assert client.sessions() == []
    finally:
        starting.join()
        served[0].stop()


def test_connections_share_the_sessions(short: Path, proxy: MakeProxy) -> None:
    proxy(lambda: (math.inf, math.inf))
    with Client.connect(short / "s") as one, Client.connect(short / "p") as other:
        session = one.open(tail_batching, config=tail, session="both")
        joined = other.open(tail_batching, session="both", on_existing="attach")
        requests = launched(session.send(opening()))
        assert len(joined.send(completed(requests[:1]))) == 1
        assert (session.seq, joined.seq, joined.next_seq) == (2, 3, 1)
        assert [item["seq"] for item in one.sessions()] == [3]
