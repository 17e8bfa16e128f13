"""The cases of the wire that server and clients share: raw lines over the client's transport, and the client itself."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import rollflex
from rollflex import Client, PolicyError, Untyped
from rollflex._link import ChildLink, SocketLink
from support import Served, Start, command, root
from wire import Kept, RawConnection, assert_matches, error_of, filled, play

folder = root / "test" / "wire"
if not folder.exists():
    pytest.skip("there is no test/wire beside this package", allow_module_level=True)

cases: list[tuple[str, Any, Any]] = [
    (f"{path.stem}: {case['name']}", file.get("server", {}), case)
    for path in sorted((folder / "cases").glob("*.json"))
    for file in [json.loads(path.read_text(encoding="utf-8"))]
    for case in file["cases"]
]


def client_does_more(server: Any, case: Any) -> bool:
    """The client numbers its calls itself, and splits lists that are too long for one."""
    most = server.get("limits", {}).get("maxEventsPerCall", 10_000)
    all_params = [step.get("params", {}) for step in case["steps"]]
    numbers = any(key in params for params in all_params for key in ("producer", "firstSeq"))
    return numbers or any(len(params.get("events", [])) > most for params in all_params)


def each(chosen: list[tuple[str, Any, Any]]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize(("server", "case"), [one[1:] for one in chosen], ids=[one[0] for one in chosen])


for_clients = [one for one in cases if one[2].get("api") and not client_does_more(one[1], one[2])]
# Each of these has a process of its own: some of every file.
for_stdio = [one for one in cases if "token" not in one[1] and len({step.get("on") for step in one[2]["steps"]}) == 1][
    ::6
]


def options_of(server: Any, where: Path) -> list[str]:
    options = []
    for name, bound in server.get("limits", {}).items():
        options += ["--" + re.sub("[A-Z]", lambda letter: "-" + letter[0].lower(), name), str(bound)]
    if "token" in server:
        (where / "token").write_text(server["token"] + "\n")
        (where / "token").chmod(0o600)
        options += ["--token-file", str(where / "token")]
    if server.get("wrongPolicies"):
        options += ["--policies", str(folder / "wrong-policies.mjs")]
    return options


@pytest.fixture(scope="module")
def servers() -> Iterator[Callable[[Any, bool], Path]]:
    """The socket of a server with these settings: one for all, or a fresh one."""
    running: dict[str, tuple[Served, Path]] = {}
    with tempfile.TemporaryDirectory(prefix="rf") as name:

        def socket_of(server: Any, fresh: bool) -> Path:
            key = json.dumps(server) + (str(len(running)) if fresh else "")
            if key not in running:
                path = Path(name) / str(len(running))
                running[key] = (Served("--socket", str(path), *options_of(server, Path(name))), path)
            return running[key][1]

        yield socket_of
        for one, _ in running.values():
            one.stop()


@each(cases)
def test_raw_lines_over_a_socket(servers: Callable[[Any, bool], Path], server: Any, case: Any) -> None:
    path = servers(server, case.get("fresh", False))
    play(case, lambda: RawConnection(SocketLink(str(path), 120)))


@each(for_stdio)
def test_raw_lines_over_standard_input_and_output(tmp_path: Path, server: Any, case: Any) -> None:
    words = [*command(), "serve", "--stdio", *options_of(server, tmp_path)]
    play(case, lambda: RawConnection(ChildLink(words, None)))


@pytest.fixture(scope="module")
def clients(start: Start) -> Iterator[Callable[[Any, bool], Client]]:
    running: dict[str, Client] = {}

    def client_of(server: Any, fresh: bool) -> Client:
        key = json.dumps(server) + (str(len(running)) if fresh else "")
        if key not in running:
            running[key] = start(limits=server.get("limits"), timeout=120)
        return running[key]

    yield client_of
    for one in running.values():
        one.close()


class ThroughTheClient:
    """Makes each call by what the client offers for its method, and gives what the wire would have given."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._sessions: dict[str, rollflex.Session[Any, Any]] = {}

    def call(self, method: str, params: Any) -> Any:
        try:
            return {"result": self._result(method, **params)}
        except PolicyError as error:
            data: dict[str, Any] = {key: getattr(error, key) for key in ("code", "path", "expected", "got")}
            if error.seq is not None:
                data |= {"index": error.index, "seq": error.seq, "decisions": error.decisions}
            return {"error": {"code": error.rpc_code, "message": str(error), "data": data}}

    def _result(self, method: str, **params: Any) -> Any:
        if method == "plan":
            return {"plan": self._client.plan(Untyped(params["planner"]), params["input"])}
        if method == "session.open":
            if "onExisting" in params:
                params["on_existing"] = params.pop("onExisting")
            session = self._client.open(params.pop("policy", None), **params)
            self._sessions[session.id] = session
            return {key: getattr(session, key) for key in ("policy", "version", "seq")} | {"session": session.id}
        known = self._sessions.get(params["session"])
        if known is None:
            # Nothing of the client can name a session that it has not opened.
            return self._client.call(method, params)
        if method == "session.close":
            known.close()
            del self._sessions[known.id]
            return {}
        if method == "session.snapshot":
            return {"snapshot": known.snapshot(), "seq": known.seq}
        if method == "session.why":
            return known.why(params.get("id"), params.get("what"))
        assert method == "session.send"
        return {"decisions": known.send(params["events"]), "seq": known.seq}


# One of the cases has greater times than any in seconds.
@pytest.mark.filterwarnings("ignore:the time .* looks like milliseconds")
@each(for_clients)
def test_the_client(clients: Callable[[Any, bool], Client], server: Any, case: Any) -> None:
    through = ThroughTheClient(clients(server, case.get("fresh", False)))
    kept: Kept = {}
    for number, step in enumerate(case["steps"]):
        answer = through.call(step["call"], filled(step.get("params", {}), kept))
        if "result" in step:
            assert_matches({"result": step["result"]}, answer, kept, f"step {number}")
        else:
            error = error_of(step["error"]["code"], step["error"]["data"])
            assert_matches({"error": error}, answer, kept, f"step {number}")


def test_there_are_cases_and_they_can_fail() -> None:
    assert len(cases) > 100
    assert len(for_clients) > 30
    for expected, value in [
        ({"a": 1}, {"a": 2}),
        ({"a": 1}, {"a": 1, "b": 2}),
        ([1], [1, 2]),
        (1, True),
        ({"$any": "integer"}, 1.5),
        ({"$begins": "4, "}, "5, or"),
        ({"$has": {"a": 1}}, {"b": 1}),
        (None, {}),
    ]:
        with pytest.raises(AssertionError):
            assert_matches(expected, value, {})
