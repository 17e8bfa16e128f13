"""The cases of `test/wire`: how expected values are compared, and how a case is played over raw lines."""

from __future__ import annotations

import json
import queue
import threading
import time
from collections.abc import Callable
from typing import Any

from rollflex._link import Link
from rollflex._pump import Pump

Kept = dict[str, Any]
_patience = 120
_kinds: dict[str, Callable[[Any], bool]] = {
    "string": lambda value: isinstance(value, str),
    "number": lambda value: _is_number(value),
    "integer": lambda value: _is_number(value) and float(value).is_integer(),
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "any": lambda value: True,
}


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def assert_matches(expected: Any, value: Any, kept: Kept, path: str = "") -> None:
    """An expected value, with its placeholders."""
    where = f"{path}: expected {expected!r:.300}, got {value!r:.300}"
    if isinstance(expected, dict):
        if "$any" in expected:
            assert _kinds[expected["$any"]](value), where
        elif "$begins" in expected:
            assert isinstance(value, str) and value.startswith(expected["$begins"]), where
        elif "$has" in expected:
            assert isinstance(value, dict), where
            for key, one in expected["$has"].items():
                assert key in value, where
                assert_matches(one, value[key], kept, f"{path}.{key}")
        elif "$keep" in expected:
            if "$is" in expected:
                assert_matches(expected["$is"], value, kept, path)
            kept[expected["$keep"]] = value
        elif "$kept" in expected:
            assert_matches(kept[expected["$kept"]], value, {}, path)
        else:
            assert isinstance(value, dict), where
            assert expected.keys() == value.keys(), where
            for key, one in expected.items():
                assert_matches(one, value[key], kept, f"{path}.{key}")
    elif isinstance(expected, list):
        assert isinstance(value, list) and len(value) == len(expected), where
        for index, one in enumerate(expected):
            assert_matches(one, value[index], kept, f"{path}[{index}]")
    elif _is_number(expected):
        assert _is_number(value) and float(value) == float(expected), where
    else:
        assert type(value) is type(expected) and value == expected, where


def filled(value: Any, kept: Kept) -> Any:
    """What is sent, with what was kept in its places."""
    if isinstance(value, dict):
        return kept[value["$kept"]] if "$kept" in value else {key: filled(one, kept) for key, one in value.items()}
    return [filled(one, kept) for one in value] if isinstance(value, list) else value


def error_of(code: int, data: Any) -> Any:
    """An error as an answer has it: what is not said of `data` is a string."""
    text = {"$any": "string"}
    known = {"expected": text, "got": text, "path": text, **data} if isinstance(data, dict) else data
    return {"code": code, "message": text, "data": known}


class RawConnection:
    """Raw lines over the transport of the client."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._pump = Pump(link)
        self._answers: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._notified: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._ended = threading.Event()
        self._calls = 0
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def call(self, method: str, params: Any) -> Any:
        self._calls += 1
        id = f"runner-{self._calls}"
        message = {"jsonrpc": "2.0", "id": id, "method": method}
        self.send_value(message if params is None else {**message, "params": params})
        answer = self.answer()
        assert answer.pop("jsonrpc") == "2.0"
        assert answer.pop("id") == id
        return answer

    def send_value(self, value: Any) -> None:
        self._pump.write(json.dumps(value).encode() + b"\n")

    def send_bytes(self, data: bytes) -> None:
        self._pump.write(data)

    def answer(self) -> Any:
        return self._answers.get(timeout=_patience)

    def notification(self) -> Any:
        return self._notified.get(timeout=_patience)

    def end(self) -> None:
        self._link.end()

    def assert_ended(self) -> None:
        assert self._ended.wait(_patience), "the connection is still there"
        self.assert_silent()

    def assert_open_and_silent(self) -> None:
        """Whatever was to come has come before the answer to this."""
        answer = self.call("session.list", {})
        assert "result" in answer
        self.assert_silent()

    def assert_silent(self) -> None:
        for left in (self._answers, self._notified):
            assert left.empty(), f"too many messages: {left.get()!r:.300}"

    def close(self) -> None:
        self._pump.reading_until = time.monotonic()
        self._pump.end()
        self._reader.join(_patience)
        self._pump.close(5.0)

    def _read(self) -> None:
        for line in self._pump.lines():
            message = json.loads(line)
            notified = isinstance(message, dict) and "method" in message
            (self._notified if notified else self._answers).put(message)
        self._ended.set()


def bytes_of(piece: Any) -> bytes:
    if isinstance(piece, str):
        return piece.encode("utf-8", "surrogatepass")
    if "bytes" in piece:
        return bytes.fromhex(piece["bytes"])
    repeated: str = piece["repeat"] * piece["times"]
    return repeated.encode()


def play(case: Any, connect: Callable[[], RawConnection]) -> None:
    """Plays a case, step by step."""
    connections: dict[str, RawConnection] = {}
    gone: set[str] = set()
    kept: Kept = {}
    try:
        for number, step in enumerate(case["steps"]):
            name = step.get("on", "main")
            if name not in connections:
                connections[name] = connect()
            if _step(step, connections[name], kept, f"{case['name']}, step {number}"):
                gone.add(name)
        # Timers of the server go on in real time: where some passes, more may come by then.
        for name, connection in connections.items():
            if name not in gone and not any("pass" in step for step in case["steps"]):
                connection.assert_open_and_silent()
    finally:
        for connection in connections.values():
            connection.close()


def _step(step: Any, connection: RawConnection, kept: Kept, path: str) -> bool:
    """Says whether the connection has ended."""
    if "pass" in step:
        time.sleep(step["pass"] + 0.1)
    if "call" in step:
        answer = connection.call(step["call"], filled(step["params"], kept) if "params" in step else None)
        if "result" in step:
            assert_matches({"result": step["result"]}, answer, kept, path)
        else:
            assert_matches({"error": error_of(step["error"]["code"], step["error"]["data"])}, answer, kept, path)
    if "send" in step:
        connection.send_value(filled(step["send"], kept))
    for piece in step.get("raw", []):
        connection.send_bytes(bytes_of(piece))
    if step.get("end"):
        connection.end()
    assert_matches(step.get("answers", []), [connection.answer() for _ in step.get("answers", [])], kept, path)
    assert_matches(step.get("notified", []), [connection.notification() for _ in step.get("notified", [])], kept, path)
    if step.get("end") or step.get("closed"):
        connection.assert_ended()
        return True
    return False
