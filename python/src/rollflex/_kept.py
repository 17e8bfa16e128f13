"""An engine whose sessions outlive it, and that writes down what they decide."""

from __future__ import annotations

import contextlib
import json
from typing import TYPE_CHECKING, Any

from ._engine import QuickJs
from ._opening import Embedding
from ._planning import is_exhausted
from .errors import EngineUnavailable, PolicyError, RollflexError

if TYPE_CHECKING:
    from ._decision_log import DecisionLogFiles
    from ._state_dir import StateDirectory


class KeptEngine:
    """An :class:`Engine` that gives answers and streamed decisions only after its state directory has stored them."""

    def __init__(self, made: Embedding) -> None:
        """Raises the errors of the engine, the state directory and the log."""
        self._directory: StateDirectory | None = None
        self._log: DecisionLogFiles | None = None
        self._keeping = False
        """Changes were taken from the engine, and are not written yet."""
        outlives: dict[str, Any] = {}
        try:
            # Locks are imported only when they are needed, because a system may lack them.
            if made.state_dir is not None:
                from ._state_dir import StateDirectory

                self._directory = StateDirectory(made.state_dir, made.fsync)
                outlives["snapshotEvents"] = made.snapshot_events
            if made.log_dir is not None:
                from ._decision_log import DecisionLogFiles

                log = self._log = DecisionLogFiles(made.log_dir)
                outlives["log"] = {"logDir": log.path, "run": log.run, "last": log.last}
            self._engine = QuickJs(made.limits, made.memory_limit, made.time_limit, outlives, self._restore)
        except BaseException:
            self._let_go()
            raise
        self._kept = self._engine.function("kept")
        self._logged = self._engine.function("logged")

    def call(self, message: str) -> str:
        return self._done(self._engine.call(message))

    def wind(self) -> str:
        return self._done(self._engine.wind())

    def leak(self) -> None:
        self._engine.leak()

    def close(self, *, orderly: bool) -> None:
        if orderly and not self._keeping:
            # If the orderly end fails, the directory is in the same state as after a crash.
            with contextlib.suppress(RollflexError):
                self._engine.function("leave")()
                self._done("")
        self._let_go()

    def _restore(self, engine: QuickJs) -> None:
        if self._directory is None:
            return
        restore = engine.function("restore")
        for key, record in self._directory.records():
            _raise_refusal(restore(key, record))
        _raise_refusal(engine.function("restored")())

    def _done(self, lines: str) -> str:
        if self._directory is not None:
            self._keep(self._directory, lines)
        if self._log is not None:
            text = self._logged(self._log.written())
            if text:
                self._log.take(text)
        return lines

    def _keep(self, directory: StateDirectory, lines: str) -> None:
        # An engine without memory may have answered, and have done only half of its work.
        if '"code":"internal"' in lines and is_exhausted(json.loads(lines.partition("\n")[0])):
            return
        if self._keeping:
            raise EngineUnavailable(f"a write to {directory.path} was interrupted; what was acknowledged is kept there")
        # From here on, the next call notices any interruption.
        self._keeping = True
        changes = self._kept()
        if changes:
            directory.write(changes)
        self._keeping = False

    def _let_go(self) -> None:
        if self._log is not None:
            self._log.close()
        if self._directory is not None:
            self._directory.close()


def _raise_refusal(refusal: str) -> None:
    if refusal:
        details = json.loads(refusal)
        if details["path"] == "stateDir":
            details["path"] = "state_dir"
        raise PolicyError(**details)
