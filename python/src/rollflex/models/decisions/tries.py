# Generated from the schemas by `npm run docs:generate`: do not edit.
"""Decisions: tries."""

from typing import Literal

from .._bases import AnyDecision
from .._typing import NotRequired, TypedDict


class TriesRecoveredReason(TypedDict):
    """Reason of :class:`TriesRecovered`. Why, with the numbers."""

    code: Literal["succeeded", "told"]
    suspendedSeconds: float
    """How long there were only single tries, in seconds. Number ≥ 0."""


class TriesRecovered(AnyDecision):
    """A notice. Tries in a domain that was suspended are made as usual again."""

    type: Literal["tries.recovered"]
    scope: Literal["engine", "environment", "reward", "loader", "prompt"]
    """What fails: an engine, an environment, a reward worker, a loader of samples, or the data of prompts."""
    id: NotRequired[str]
    """Which one: id of the engine or worker, kind of the rewards, or `transfers` of samples, also from one node;
    absent: all of them. String ≤ 512."""
    reason: TriesRecoveredReason


class TriesSuspendedReason(TypedDict):
    """Reason of :class:`TriesSuspended`. Why, with the numbers."""

    code: Literal["failing"]
    items: int
    """Different prompts, responses or samples whose tries have failed, none having succeeded since. Whole number ≥
    1."""
    failures: int
    """Tries that have failed, none having succeeded since. Whole number ≥ 1."""
    retrySeconds: NotRequired[float]
    """Time until the next single try, in seconds; absent: there is none. Number ≥ 0."""


class TriesSuspended(AnyDecision):
    """A notice. Tries of different items fail one after the other in this domain: from now on there are only single
    tries, until one succeeds. No item is charged with what fails meanwhile. With the scope `prompt`, no more prompts
    are asked for."""

    type: Literal["tries.suspended"]
    scope: Literal["engine", "environment", "reward", "loader", "prompt"]
    """What fails: an engine, an environment, a reward worker, a loader of samples, or the data of prompts."""
    id: NotRequired[str]
    """Which one: id of the engine or worker, kind of the rewards, or `transfers` of samples, also from one node;
    absent: all of them. String ≤ 512."""
    reason: TriesSuspendedReason
