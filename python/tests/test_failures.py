"""Servers that are slow, that talk nonsense, or that go away; programs that end; processes that fork."""

from __future__ import annotations

import copy
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import pytest

import rollflex
from rollflex import Client, PolicyError, Untyped
from support import FakeServer, Served, command, core_of, eventually, is_alive, opening, package, pid_of, spawn, tail

opens = """
greet()
call = read()
answer(call, {"session": call["params"]["session"], "policy": "x", "version": 1, "seq": 0})
"""


def test_a_send_without_an_answer_in_time_can_be_asked_for_again(tmp_path: Path) -> None:
    late = tmp_path / "late"
    server = FakeServer(
        tmp_path,
        opens
        + f"""
first = read()
while not os.path.exists({str(late)!r}): time.sleep(0.01)
answer(first, {{"seq": 1, "decisions": ["late"], "nextSeq": 1}})
again = read()
assert again["id"] > first["id"] and again["params"] == first["params"]
answer(again, {{"seq": 1, "decisions": ["the same"], "nextSeq": 1}})
answer(read(), {{"seq": 2, "decisions": [], "nextSeq": 2}})
read()
""",
    )
    with server.spawn(timeout=120) as client:
        session = client.open(Untyped("x"))
        with pytest.raises(rollflex.CallTimeout, match=r"session\.send"):
            session.send({"type": "y"}, timeout=0.2)
        late.touch()
        assert session.unanswered == 1
        with pytest.raises(rollflex.UnansweredCall, match="1 events of an earlier send"):
            session.send({"type": "z"})
        assert session.retry() == ["the same"]
        assert (session.unanswered, session.next_seq) == (0, 1)
        with pytest.raises(rollflex.UnansweredCall, match="nothing to retry"):
            session.retry()
        assert session.send({"type": "z"}) == []
        assert isinstance(rollflex.CallTimeout("x"), TimeoutError)


def test_a_long_list_that_was_answered_in_part_comes_whole_from_the_retry(tmp_path: Path) -> None:
    server = FakeServer(
        tmp_path,
        """
limits = {"maxEventsPerCall": 2, "maxMessageBytes": 1 << 26, "keptAnswers": 8}
"""
        + opens
        + """
seen, silent = 0, True
while True:
    call = read()
    events, first = call["params"]["events"], call["params"]["firstSeq"]
    if silent and first == 4:
        time.sleep(0.6)
        silent = False
        continue
    if silent is False and first == 6 and not seen:
        seen = 1
        continue
    answer(call, {"seq": first + len(events), "decisions": events, "nextSeq": first + len(events)})
""",
    )
    events = [{"type": str(index)} for index in range(7)]
    with server.spawn(timeout=120) as client:
        session = client.open(Untyped("x"))
        with pytest.raises(rollflex.CallTimeout):
            session.send(events, timeout=2)
        assert session.unanswered == 3
        assert session.retry() == events
        assert (session.next_seq, session.seq) == (7, 7)


def test_a_thread_that_waits_for_another_says_so(tmp_path: Path) -> None:
    server = FakeServer(tmp_path, opens + "read()\nsys.stdin.read()\n")
    with server.spawn(timeout=120) as client:
        session = client.open(Untyped("x"))

        def first() -> None:
            with pytest.raises(rollflex.RollflexError):
                session.send({"type": "y"}, timeout=120)

        sending = threading.Thread(target=first)
        sending.start()
        eventually(lambda: session.unanswered == 1)
        with pytest.raises(rollflex.CallTimeout, match="nothing was sent"):
            session.send({"type": "z"}, timeout=0.1)
        client.close()
        sending.join(120)
        assert not sending.is_alive()


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ('say("hello, I am a log line")', "no JSON.*hello"),
        ('say("[1]")', "no message"),
        ('say("3")', "no message"),
        ('say("{}")', "an answer to no call"),
        ('say(json.dumps({"jsonrpc": "2.0", "id": call["id"]}))', "without result and error"),
        ('say(json.dumps({"jsonrpc": "2.0", "id": call["id"] + 1, "result": {}}))', "an answer to no call"),
        ('say(json.dumps({"jsonrpc": "2.0", "id": "x", "result": {}}))', "an answer to no call"),
        ('sys.stdout.buffer.write(b"\\xff\\xfe\\n"); sys.stdout.flush()', "no JSON"),
        ('say("[" * 100000)', "no JSON"),
    ],
)
def test_a_server_that_writes_nonsense(tmp_path: Path, said: str, message: str) -> None:
    server = FakeServer(tmp_path, f"greet()\ncall = read()\n{said}\nsys.stdin.read()\n")
    begun = time.monotonic()
    with server.spawn(timeout=120) as client:
        with pytest.raises(rollflex.ProtocolError, match=message):
            client.sessions()
        with pytest.raises(rollflex.ProtocolError, match=message):
            client.sessions()
    assert time.monotonic() - begun < 100


@pytest.mark.parametrize(
    ("answered", "message"),
    [
        ('"error": 3', "error is no object"),
        ('"error": {"code": -32000, "message": "no"}', "answered with error -32000: 'no'"),
        ('"error": {"code": 1, "message": "no", "data": {"code": "made_up"}}', "answered with error 1"),
        ('"result": []', "no object"),
    ],
)
def test_answers_that_are_no_answers(tmp_path: Path, answered: str, message: str) -> None:
    body = f"""
greet()
while True:
    call = read()
    say('{{"jsonrpc": "2.0", "id": ' + str(call["id"]) + ', {answered}}}'.replace("'", '"'))
"""
    with FakeServer(tmp_path, body).spawn(timeout=120) as client:
        for _ in range(2):
            with pytest.raises(rollflex.ProtocolError, match=message):
                client.sessions()


def test_a_refusal_without_an_id_is_that_of_the_oldest_call(spawned: Client) -> None:
    deep: object = []
    for _ in range(80):
        deep = [deep]
    with pytest.raises(PolicyError) as refusal:
        spawned.plan(Untyped("flex-ulysses"), {"lengths": deep, "devices": 1})
    assert (refusal.value.code, refusal.value.rpc_code) == ("limit_exceeded", -32000)
    assert spawned.sessions() == []


def test_a_closed_client_and_a_closed_session(client: Client) -> None:
    session = client.open("tail-batching", config=tail)
    client.close()
    client.close()
    for attempt in (client.sessions, session.snapshot, lambda: session.send([])):
        with pytest.raises(rollflex.ClientClosed):
            attempt()


def test_closing_ends_the_calls_of_other_threads(tmp_path: Path) -> None:
    server = FakeServer(tmp_path, "greet()\nread()\nsys.stdin.read()\n")
    with server.spawn(timeout=120) as client:
        failures: list[BaseException] = []

        def call() -> None:
            try:
                client.sessions()
            except rollflex.RollflexError as error:
                failures.append(error)

        calling = threading.Thread(target=call)
        calling.start()
        eventually(lambda: len(core_of(client)._in_flight) == 1)
        client.close()
        calling.join(120)
        assert [type(one) for one in failures] == [rollflex.ClientClosed]


def test_a_server_that_is_killed_ends_every_call_at_once(spawned: Client) -> None:
    session = spawned.open("tail-batching", config=tail)
    pid = pid_of(spawned)
    os.kill(pid, signal.SIGKILL)
    begun = time.monotonic()
    with pytest.raises(rollflex.ConnectionLost, match="SIGKILL"):
        session.send(opening())
    with pytest.raises(rollflex.ConnectionLost):
        spawned.server_info()
    assert time.monotonic() - begun < 100
    assert isinstance(rollflex.ConnectionLost("x"), ConnectionError)


def test_a_server_that_stops_answering_does_not_hold_anybody_up(spawned: Client) -> None:
    session = spawned.open("tail-batching", config={"promptsPerRound": 1000, "responsesPerPrompt": 1})
    pid = pid_of(spawned)
    os.kill(pid, signal.SIGSTOP)
    try:
        # Much more than a pipe holds.
        prompts = [{"promptId": "x" * 400 + str(index)} for index in range(2000)]
        events = [opening()[0], {"type": "prompts.supplied", "at": 0, "roundId": "r1", "prompts": prompts}]
        begun = time.monotonic()
        with pytest.raises(rollflex.CallTimeout):
            session.send(events, timeout=0.5)
        with pytest.raises(rollflex.CallTimeout):
            spawned.sessions(timeout=0.1)
        assert time.monotonic() - begun < 60
    finally:
        os.kill(pid, signal.SIGCONT)
    assert len(session.retry()) >= 2
    assert session.seq == 2


def test_a_listening_server_that_does_not_answer(short: Path) -> None:
    import socket

    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(short / "s"))
        listener.listen(1)
        with pytest.raises(rollflex.ServerUnavailable, match=r"no answer to server\.info"):
            Client.connect(short / "s", timeout=0.3)


program = f"""
import sys
sys.path[:0] = [{str(package.parent)!r}]
import rollflex
client = rollflex.Client.spawn({command()!r})
session = client.open("tail-batching", config={tail!r})
print(client._core._pump.link.pid, flush=True)
"""


@pytest.mark.parametrize(
    "ending",
    [
        "",
        "sys.exit(3)",
        "raise ValueError('as it happens')",
        "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
        "import os; os._exit(0)",
        "import threading, time; threading.Thread(target=time.sleep, args=(0.2,)).start()",
        "import gc; del session, client; gc.collect()",
    ],
)
def test_a_program_that_ends_leaves_no_server_behind(ending: str) -> None:
    run = subprocess.run([sys.executable, "-c", program + ending], capture_output=True, text=True, timeout=120)
    pid = int(run.stdout.split()[0])
    eventually(lambda: not is_alive(pid))
    if "SIGKILL" not in ending and "ValueError" not in ending:
        assert run.stderr == ""


def test_ctrl_c_is_for_the_program_and_not_for_its_server() -> None:
    body = program + textwrap.dedent(
        f"""
        import os, time
        try:
            print("ready", flush=True)
            time.sleep(30)
        except KeyboardInterrupt:
            print(len(session.send({opening()!r})), flush=True)
        """
    )
    run = subprocess.Popen([sys.executable, "-c", body], stdout=subprocess.PIPE, text=True, start_new_session=True)
    assert run.stdout
    pid = int(run.stdout.readline())
    assert run.stdout.readline() == "ready\n"
    os.killpg(run.pid, signal.SIGINT)
    assert run.stdout.read().strip() == "11"
    assert run.wait(120) == 0
    run.stdout.close()
    eventually(lambda: not is_alive(pid))


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_forked_process_does_not_touch_the_connection_of_its_parent(client: Client) -> None:
    session = client.open("tail-batching", config=tail)
    child = os.fork()
    if child == 0:
        status = 1
        try:
            session.send(opening())
        except rollflex.ClientClosed as error:
            status = 0 if "another process" in str(error) or "forked" in str(error) else 2
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert len(session.send(opening())) == 11


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_forked_process_does_not_keep_the_server_alive() -> None:
    client = spawn()
    pid = pid_of(client)
    child = os.fork()
    if child == 0:
        time.sleep(30)
        os._exit(0)
    try:
        client.close()
        eventually(lambda: not is_alive(pid), 4)
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def test_errors_go_through_pickle() -> None:
    error = PolicyError(
        "unknown_id", expected="a", got="b", path="c", index=3, seq=4, decisions=[{"type": "x"}], rpc_code=-32000
    )
    for same in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert type(same) is PolicyError
        assert (str(same), same.__dict__) == (str(error), error.__dict__)
    assert str(error) == "unknown_id: c: expected a, got b"
    lost = pickle.loads(pickle.dumps(rollflex.SessionLost("gone")))
    assert (type(lost), str(lost)) == (rollflex.SessionLost, "gone")


def test_what_a_policy_prints_does_not_get_between_the_messages(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "rollflex.server")
    server = FakeServer(tmp_path, 'greet()\nsys.stderr.write("ahem\\n")\nsys.stderr.flush()\nread()\n')
    with server.spawn(timeout=120):
        eventually(lambda: "ahem" in caplog.text)


def test_a_killed_listening_server(short: Path, served: Served) -> None:
    reconnect = rollflex.Reconnect(limit_seconds=0.2)
    with Client.connect(short / "s", reconnect=reconnect, timeout=120) as client:
        subscription = client.open("tail-batching", config=tail, deliver="stream").subscribe()
        served.kill()
        with pytest.raises(rollflex.ConnectionLost):
            subscription.get(timeout=120)
        # It tries again when it is asked again, and says so again.
        with pytest.raises(rollflex.ConnectionLost):
            subscription.get(timeout=120)
    with pytest.raises(EOFError):
        subscription.get()
    served.start()
