"""Bodies of prompts and responses, by id. The policy holds ids and numbers; this holds what is behind them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Generic

from .host import Launch, P, R, Response, Supplied

Kept = tuple[Launch[P, R], Response[R]]


class Entry(Generic[P, R]):
    """A prompt that is present, with the responses kept for it."""

    __slots__ = ("is_aside", "responses", "supplied")

    def __init__(self, supplied: Supplied[P]) -> None:
        self.supplied = supplied
        self.responses: dict[str, Kept[P, R]] = {}
        """Kept responses by request id, each with the launch that requested it."""
        self.is_aside = False
        """Whether the prompt has left a round with kept responses, and waits for a later round."""


class Bodies(Generic[P, R]):
    """
    Prompts and responses from the data source that were not handed on. An id may have several copies of a prompt, one
    per epoch; at most one of them is in a round.
    """

    def __init__(self) -> None:
        self._copies: dict[str, list[Entry[P, R]]] = {}

    def __len__(self) -> int:
        return sum(map(len, self._copies.values()))

    def __contains__(self, prompt_id: str) -> bool:
        return prompt_id in self._copies

    def add(self, supplied: Supplied[P]) -> None:
        """Takes a prompt, or another copy of it."""
        self._copies.setdefault(supplied.prompt_id, []).append(Entry(supplied))

    def entry(self, prompt_id: str) -> Entry[P, R] | None:
        """Returns the copy that is in the round, or goes into a round next."""
        copies = self._copies.get(prompt_id)
        if copies is None:
            return None
        return next((one for one in copies if not one.is_aside), copies[0])

    def planned(self, prompt_id: str, request_ids: Iterable[str]) -> None:
        """Moves a prompt into a round, with these responses of an earlier round."""
        wanted, copies = set(request_ids), self._copies.get(prompt_id, [])
        for one in copies:
            if one.is_aside and wanted and wanted <= one.responses.keys():
                one.is_aside = False
                copies.remove(one)
                copies.insert(0, one)
                return

    def kept(self, prompt_id: str, request_id: str) -> Kept[P, R] | None:
        for one in self._copies.get(prompt_id, ()):
            if request_id in one.responses:
                return one.responses[request_id]
        return None

    def keep(self, launch: Launch[P, R], response: Response[R]) -> None:
        """Keeps a response for a prompt that is still here."""
        for one in self._copies.get(launch.prompt_id, ()):
            if one.supplied.body is launch.prompt:
                # The response it was resumed from is part of it.
                alone = launch if launch.resume_from is None else replace(launch, resume_from=None)
                one.responses[launch.request_id] = (alone, response)
                return

    def drop(self, prompt_id: str, request_id: str) -> None:
        for one in self._copies.get(prompt_id, ()):
            one.responses.pop(request_id, None)
            one.is_aside = one.is_aside and len(one.responses) > 0

    def set_aside(self, prompt_id: str, request_ids: Iterable[str]) -> list[str]:
        """
        Takes a prompt out of its round and keeps the bodies of these responses. Returns the bodies that are not needed.
        """
        entry = self.entry(prompt_id)
        if entry is None:
            return []
        wanted = set(request_ids)
        unwanted = [id for id in entry.responses if id not in wanted]
        entry.responses = {id: one for id, one in entry.responses.items() if id in wanted}
        entry.is_aside = len(entry.responses) > 0
        return unwanted

    def take(self, prompt_id: str) -> Entry[P, R] | None:
        """Hands a prompt on: that copy is here no more."""
        entry = self.entry(prompt_id)
        return None if entry is None else self._remove(prompt_id, entry)

    def newest(self, prompt_id: str) -> Entry[P, R] | None:
        """Returns the copy that came last, unless it is the only one."""
        copies = self._copies.get(prompt_id, [])
        return copies[-1] if len(copies) > 1 else None

    def take_newest(self, prompt_id: str) -> None:
        self._remove(prompt_id, self._copies[prompt_id][-1])

    def _remove(self, prompt_id: str, entry: Entry[P, R]) -> Entry[P, R]:
        copies = self._copies[prompt_id]
        copies.remove(entry)
        if not copies:
            del self._copies[prompt_id]
        return entry

    def prompts(self) -> list[Supplied[P]]:
        return [one.supplied for copies in self._copies.values() for one in copies]

    def state(self) -> dict[str, Any]:
        """Returns the content for a checkpoint. Bodies are the host's own objects."""
        return {
            id: [(one.supplied, dict(one.responses), one.is_aside) for one in copies]
            for id, copies in self._copies.items()
        }

    def load(self, state: Mapping[str, Any]) -> None:
        self._copies.clear()
        for id, copies in state.items():
            for supplied, responses, is_aside in copies:
                self.add(supplied)
                entry = self._copies[id][-1]
                entry.responses.update(responses)
                entry.is_aside = is_aside
