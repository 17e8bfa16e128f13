"""A JavaScript engine in this process. Nothing else knows which one it is."""

from __future__ import annotations

import ctypes
import json
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Protocol

from ._carried import embedded_script
from ._messages import encode
from ._version import __version__
from .errors import EngineLimit, EngineUnavailable, PolicyError, ProtocolError

# Nesting depth that suffices for the longest paths of the policies, and is small compared with a thread's stack.
_stack_bytes = 1 << 20


class Engine(Protocol):
    """A server inside a JavaScript engine. Any thread may use it, one at a time."""

    def call(self, message: str) -> str:
        """
        Gives a message, and gets lines: the answer, and what else has happened, see `src/embedded/index.ts`.

        Raises :class:`EngineLimit` where the memory or the time was not enough.
        """

    def wind(self) -> str:
        """Fires due timers; returns lines as `call` does, the first of them empty."""

    def leak(self) -> None:
        """Keeps the engine from being freed: in a forked process it may be in the middle of a call."""

    def close(self, *, orderly: bool) -> None:
        """
        Releases what outlives the engine; with `orderly`, any later version can continue. Nothing is called afterwards.
        """


class QuickJs:
    """The engine of the package `quickjs-ng`."""

    def __init__(
        self,
        limits: Mapping[str, float],
        memory_limit: int | None,
        time_limit: float | None,
        outlives: Mapping[str, Any] | None = None,
        restore: Callable[[QuickJs], None] = lambda engine: None,
    ) -> None:
        """
        `outlives` names the state that outlives the engine, see `src/embedded/outliving.ts`, and `restore` brings this
        state back.

        Raises :class:`EngineUnavailable`, :class:`EngineLimit`, `invalid_config` for invalid limits.
        """
        try:
            import quickjs
        except ImportError as error:
            raise EngineUnavailable(
                f"the policies run in this process by the package quickjs-ng, which does not load ({error}): "
                "pip install quickjs-ng, or use Client.spawn() with Node.js"
            ) from error
        self._error: type[Exception] = quickjs.JSException
        self._context: Any = quickjs.Context()
        self._context.set_max_stack_size(_stack_bytes)
        if memory_limit is not None:
            self._context.set_memory_limit(memory_limit)
        try:
            self._do(self._context.eval, embedded_script())
        except ProtocolError as error:
            if memory_limit is None:
                raise
            # The script is complete, so any error here, whatever its text, means that memory is full.
            raise EngineLimit(f"{_needs_memory} ({error})") from error
        given = [__version__, encode(dict(limits)), encode(outlives or {})]
        refusal = self._do(self._context.eval, _opening % encode(given))
        if refusal is not None:
            raise PolicyError(**json.loads(refusal))
        self._call = self._context.get("call")
        self._wind = self._context.get("wind")
        restore(self)
        # The time limit does not apply to loading.
        if time_limit is not None:
            self._context.set_time_limit(time_limit)

    def call(self, message: str) -> str:
        return self._do(self._call, message)  # type: ignore[no-any-return]

    def wind(self) -> str:
        return self._do(self._wind)  # type: ignore[no-any-return]

    def function(self, name: str) -> Callable[..., str]:
        """Returns a function of `src/embedded/outliving.ts`."""
        return partial(self._do, self._context.get(name))

    def run(self, function: str, *args: str) -> str:
        """Calls a function of the script, by its full name."""
        return self._do(self._context.eval(function), *args)  # type: ignore[no-any-return]

    def close(self, *, orderly: bool) -> None:
        pass

    def leak(self) -> None:
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(self._context))

    def _do(self, function: Any, *args: str) -> Any:
        try:
            return function(*args)
        except self._error as error:
            said = str(error)
        if "InternalError: interrupted" in said:
            raise EngineLimit(f"the call took more processor time than time_limit allows{_engine_words(said)}")
        # An engine without memory for the error itself gives none, or an error without text.
        if "out of memory" in said or "obtaining" in said or said.startswith("null"):
            raise EngineLimit(f"{_needs_memory}{_engine_words(said)}")
        raise ProtocolError(f"the embedded server failed: {said:.1000}")


def _engine_words(said: str) -> str:
    first = said.strip().partition("\n")[0]
    return f" ({first})" if "Error: " in first else ""


_needs_memory = "the policies need more memory than memory_limit allows"

_opening = """(() => {
  const [version, limits, outlives] = %s;
  try {
    Object.assign(globalThis, rollflexEmbedded.embed(version, limits, outlives));
  } catch (error) {
    if (error.code === undefined) throw error;
    const { code, expected, got, path } = error;
    return JSON.stringify({ code, expected, got, path });
  }
})()"""


def ask_logs(what: str, *given: Any) -> Any:
    """
    Asks `src/embedded/logs.ts` in a separate engine. Raises :class:`EngineUnavailable`, :class:`EngineLimit`,
    :class:`PolicyError`.
    """
    engine = QuickJs({}, None, None)
    answer = json.loads(engine.run("rollflexEmbedded.ask", what, encode(given)))
    if "error" in answer:
        raise PolicyError(**answer["error"])
    return answer["result"]
