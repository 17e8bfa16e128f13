"""What sessions have done: enough to make them again on another server, retries and streams included."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Literal

Kind = Literal["opened", "sent", "acknowledged", "checkpoint", "closed", "lost"]


@dataclass(frozen=True)
class Record:
    """A finished action. Texts are JSON, as sent over the wire."""

    kind: Kind
    session: str
    text: str = ""
    """Parameters of the call, the state of a checkpoint, or why something was lost."""
    seq: int = 0
    """
    Number of events that the session had applied afterwards; for an acknowledgement, the acknowledged decision number.
    """
    token: str = ""
    """For an opening: its requester, so that a retry opens nothing again."""
    answer: str = ""
    """For an opening: the answer."""


@dataclass
class Kept:
    """A session: its opening, its last checkpoint, and later actions."""

    opened: Record
    seq: int
    checkpoint: str | None = None
    checkpoint_seq: int = 0
    since: list[Record] = field(default_factory=list)
    bytes_since: int = 0

    @property
    def start_seq(self) -> int:
        """Number of events applied before the stored steps."""
        return self.opened.seq if self.checkpoint is None else self.checkpoint_seq


@dataclass
class Log:
    """The sessions of a server. The same records in the same order give the same log."""

    version: str
    """Of the server: only the same version does the same steps again."""
    number: int = 0
    """Number of records so far."""
    sessions: dict[str, Kept] = field(default_factory=dict)
    lost: str = ""
    """Why earlier sessions are missing, if they are."""
    lost_sessions: dict[str, str] = field(default_factory=dict)

    def extend(self, records: Iterable[Record]) -> None:
        for record in records:
            self.number += 1
            self._add(record)

    def why_lost(self, session: str) -> str:
        """Why a missing session may have existed before; empty if nothing was ever lost."""
        if session in self.sessions:
            return ""
        return self.lost_sessions.get(session, self.lost)

    def _add(self, record: Record) -> None:
        session = record.session
        if record.kind == "lost":
            if session:
                self.sessions.pop(session, None)
                self.lost_sessions[session] = record.text
            else:
                self.lost = record.text
            return
        if record.kind == "opened":
            self.lost_sessions.pop(session, None)
            self.sessions[session] = Kept(record, record.seq)
            return
        if record.kind == "closed":
            self.sessions.pop(session, None)
            return
        kept = self.sessions[session]
        if record.kind == "checkpoint":
            if kept.checkpoint is None:
                opened = json.loads(kept.opened.text)
                # The snapshot from the opening is not stored any longer.
                slim = {key: opened[key] for key in ("session", "policy", "deliver") if key in opened}
                kept.opened = replace(kept.opened, text=json.dumps(slim))
            kept.checkpoint, kept.checkpoint_seq = record.text, record.seq
            kept.since, kept.bytes_since = [], 0
            return
        kept.since.append(record)
        kept.bytes_since += len(record.text) + 100
        if record.kind == "sent":
            kept.seq = record.seq
