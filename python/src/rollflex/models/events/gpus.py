# Generated from the schemas by `npm run docs:generate`: do not edit.
"""Events: gpus."""

from collections.abc import Sequence
from typing import Literal

from .._bases import AnyEvent
from .._typing import NotRequired
from ..objects import RunningRequest


class GpusReleaseFailed(AnyEvent):
    """The GPUs could not be released; requests that have moved stay where they are now."""

    type: Literal["gpus.release.failed"]
    releaseId: str
    """Id of the release of GPUs, minted by the policy. String ≤ 512."""
    message: NotRequired[str]
    """What went wrong, for operators: a text of any length, of which 2,000 characters are kept."""


class GpusReleased(AnyEvent):
    """These GPUs have left the rollout of the round and may train. May be repeated."""

    type: Literal["gpus.released"]
    roundId: str
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""
    releaseId: NotRequired[str]
    """The release that `gpus.release` asked for, where there was one. String ≤ 512."""
    gpuIds: Sequence[str]
    """GPUs that were released."""


class GpusReturned(AnyEvent):
    """These GPUs belong to the rollout again. May be repeated."""

    type: Literal["gpus.returned"]
    roundId: NotRequired[str]
    """The round that they were released in; a host that has forgotten it leaves it out. String ≤ 512."""
    releaseId: NotRequired[str]
    """The release that `gpus.release` asked for, where there was one. String ≤ 512."""
    gpuIds: Sequence[str]
    """GPUs that went back."""


class MigrationFailed(AnyEvent):
    """A request could not be moved; it is where it was, or nowhere."""

    type: Literal["migration.failed"]
    releaseId: str
    """Id of the release of GPUs, minted by the policy. String ≤ 512."""
    requestId: str
    """Id of the request, minted by the policy. String ≤ 1200."""
    attempt: NotRequired[int]
    """Which try: that of the `request.migrate`; absent for the first one, that of `gpus.release`. Whole number ≥ 1."""
    message: NotRequired[str]
    """What went wrong, for operators: a text of any length, of which 2,000 characters are kept."""


class ProgressReported(AnyEvent):
    """The answer to a `progress.query`: every request that is running or waiting on an engine, once."""

    type: Literal["progress.reported"]
    queryId: str
    """Id of the query, minted by the policy. String ≤ 512."""
    requests: Sequence[RunningRequest]
    """All requests in flight, in any order, each once."""


class RequestMigrated(AnyEvent):
    """A request has left its engine and goes on, with its tokens, on the one that it was sent to."""

    type: Literal["request.migrated"]
    releaseId: str
    """Id of the release of GPUs, minted by the policy. String ≤ 512."""
    requestId: str
    """Id of the request, minted by the policy. String ≤ 1200."""
    attempt: NotRequired[int]
    """Which try: that of the `request.migrate`; absent for the first one, that of `gpus.release`. Whole number ≥ 1."""
