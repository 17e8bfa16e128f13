"""Bodies of prompts and responses, by id. The policy holds ids and numbers; this holds what is behind them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Generic

from .host import Launch, P, R, Response, Supplied

Kept = tuple[Launch[P, R], Response[R]]


class Entry(Generic[P, R]):
    """A prompt that is here, with the responses that are kept for it."""

    __slots__ = ("responses", "supplied")

    def __init__(self, supplied: Supplied[P]) -> None:
        self.supplied = supplied
        self.responses: dict[str, Kept[P, R]] = {}
        """By request id, with what had been asked for."""


class Bodies(Generic[P, R]):
    """What has come from the data source and was not handed on."""

    def __init__(self) -> None:
        self._entries: dict[str, Entry[P, R]] = {}

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, prompt_id: str) -> bool:
        return prompt_id in self._entries

    def add(self, supplied: Supplied[P]) -> None:
        """Takes a prompt; one that is here already stays as it is."""
        self._entries.setdefault(supplied.prompt_id, Entry(supplied))

    def entry(self, prompt_id: str) -> Entry[P, R] | None:
        return self._entries.get(prompt_id)

    def kept(self, prompt_id: str, request_id: str) -> Kept[P, R] | None:
        entry = self._entries.get(prompt_id)
        return None if entry is None else entry.responses.get(request_id)

    def keep(self, launch: Launch[P, R], response: Response[R]) -> None:
        """Keeps a response for a prompt that is still here."""
        entry = self._entries.get(launch.prompt_id)
        if entry is not None:
            # What it was resumed from is a part of it.
            alone = launch if launch.resume_from is None else replace(launch, resume_from=None)
            entry.responses[launch.request_id] = (alone, response)

    def drop(self, prompt_id: str, request_id: str) -> None:
        entry = self._entries.get(prompt_id)
        if entry is not None:
            entry.responses.pop(request_id, None)

    def keep_only(self, prompt_id: str, request_ids: Iterable[str]) -> None:
        """A prompt was deferred: the bodies of these responses are still needed."""
        entry = self._entries.get(prompt_id)
        if entry is not None:
            wanted = set(request_ids)
            entry.responses = {id: one for id, one in entry.responses.items() if id in wanted}

    def take(self, prompt_id: str) -> Entry[P, R] | None:
        """Hands a prompt on: it is here no more."""
        return self._entries.pop(prompt_id, None)

    def prompts(self) -> list[Supplied[P]]:
        return [entry.supplied for entry in self._entries.values()]

    def state(self) -> dict[str, Any]:
        """What a checkpoint needs. Bodies are those of the host, as they are."""
        return {id: (entry.supplied, dict(entry.responses)) for id, entry in self._entries.items()}

    def load(self, state: Mapping[str, Any]) -> None:
        self._entries.clear()
        for id, (supplied, responses) in state.items():
            entry: Entry[P, R] = Entry(supplied)
            entry.responses.update(responses)
            self._entries[id] = entry
