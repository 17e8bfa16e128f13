# Generated from the schemas by `npm run docs:generate`: do not edit.
"""Decisions: gpus."""

from typing import Literal

from .._bases import AnyDecision
from .._typing import NotRequired, TypedDict
from ..objects import EnginePlace


class GpusReclaimReason(TypedDict):
    """Reason of :class:`GpusReclaim`. Why, with the numbers."""

    code: Literal[
        "round_completed", "round_replaced", "engines_lost", "host_restarted", "release_failed", "migration_failed",
        "engine_lost", "ended_before_release", "restarted_before_release", "asked_again",
    ]
    engineId: NotRequired[str]
    """With `engines_lost`: The last engine that was rolling out. String ≤ 512. With `engine_lost`: Id of the inference
    engine, given by the host. String ≤ 512."""
    requestId: NotRequired[str]
    """Id of the request, minted by the policy. String ≤ 1200. Only with `migration_failed`."""
    attempts: NotRequired[int]
    """Tries to move the request. Whole number ≥ 0. Only with `migration_failed`."""


class GpusReclaim(AnyDecision):
    """A command. Give the GPUs back to rollout as soon as no training of the round needs them; answer with
    `gpus.returned`."""

    type: Literal["gpus.reclaim"]
    releaseId: str
    """Id of the release of GPUs, minted by the policy. String ≤ 512."""
    engineIds: list[str]
    """The engines of these GPUs."""
    gpuIds: list[str]
    """The GPUs themselves."""
    reason: GpusReclaimReason


_GpusReleaseMigration = TypedDict("_GpusReleaseMigration", {
    # The engine that they leave. String ≤ 512.
    "from": str,
})


class GpusReleaseMigration(_GpusReleaseMigration):
    """Requests that move from one engine to another."""

    to: str
    """The engine that they go to. String ≤ 512."""
    requestIds: list[str]
    """The requests, in the order of the report."""
    tokens: list[int]
    """Tokens that each had generated when this was decided, in the same order; they are kept."""


class GpusReleaseReason(TypedDict):
    """Reason of :class:`GpusRelease`. Why, with the numbers."""

    code: Literal["fits", "fixed_fraction"]
    finished: int
    """Responses, or prompts, finished in the round. Whole number ≥ 0."""
    target: int
    """How many the round needs. Whole number ≥ 1."""
    engineId: str
    """The engine that is filled most, of those that would remain. String ≤ 512."""
    projectedTokens: int
    """Projected peak of its KV cache, in tokens. Whole number 0 to 1000000000000."""
    capacityTokens: int
    """What its KV cache holds, in tokens. Whole number 0 to 1000000000000."""


class GpusRelease(AnyDecision):
    """A command. Stop rollout on these engines, move their requests as listed (tokens kept, KV recomputed), report each
    with `request.migrated` or `migration.failed`, then answer with `gpus.released` or `gpus.release.failed`."""

    type: Literal["gpus.release"]
    releaseId: str
    """Id of the release of GPUs, minted by the policy. String ≤ 512."""
    roundId: str
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""
    release: list[EnginePlace]
    """Engines whose GPUs go to training."""
    keep: list[str]
    """Engines that go on with rollout."""
    migrations: list[GpusReleaseMigration]
    """Every request of the released engines once, by the engine that it leaves and the one that it goes to."""
    reason: GpusReleaseReason


class MigrationAbandonedReason(TypedDict):
    """Reason of :class:`MigrationAbandoned`. Why, with the numbers."""

    code: Literal["tries_used_up", "no_engine"]
    attempts: int
    """Tries to move the request. Whole number ≥ 0."""
    budget: NotRequired[int]
    """Most tries to move a request. Whole number ≥ 0. Only with `tries_used_up`."""


class MigrationAbandoned(AnyDecision):
    """A notice. A request could not be moved from GPUs that have been released: it runs nowhere and has failed
    (infrastructure)."""

    type: Literal["migration.abandoned"]
    releaseId: str
    """Id of the release of GPUs, minted by the policy. String ≤ 512."""
    requestId: str
    """Id of the request, minted by the policy. String ≤ 1200."""
    reason: MigrationAbandonedReason


class MigrationCancelReason(TypedDict):
    """Reason of :class:`MigrationCancel`. Why, with the numbers."""

    code: Literal["aborted", "completed", "migrated_after_end"]


class MigrationCancel(AnyDecision):
    """A command. Do not let this request go on at the engine that it moves to, and stop it there if it does: it has
    ended."""

    type: Literal["migration.cancel"]
    releaseId: str
    """Id of the release of GPUs, minted by the policy. String ≤ 512."""
    requestId: str
    """Id of the request, minted by the policy. String ≤ 1200."""
    to: str
    """The engine that it goes to. String ≤ 512."""
    reason: MigrationCancelReason


class ProgressQueryReason(TypedDict):
    """Reason of :class:`ProgressQuery`. Why, with the numbers."""

    code: Literal["milestone"]
    finished: int
    """Responses, or prompts, finished in the round. Whole number ≥ 0."""
    target: int
    """How many the round needs. Whole number ≥ 1."""
    sinceLast: int
    """Finished since the evaluation before. Whole number ≥ 0."""


class ProgressQuery(AnyDecision):
    """A command. Report all requests in flight with `progress.reported`."""

    type: Literal["progress.query"]
    queryId: str
    """Id of the query, minted by the policy. String ≤ 512."""
    roundId: str
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""
    reason: ProgressQueryReason


class RequestMigrateReason(TypedDict):
    """Reason of :class:`RequestMigrate`. Why, with the numbers."""

    code: Literal["migration_failed"]
    attempts: int
    """Tries before this one. Whole number ≥ 0."""
    budget: int
    """Most tries to move a request. Whole number ≥ 0."""


_RequestMigrate = TypedDict("_RequestMigrate", {
    # The engine that it leaves. String ≤ 512.
    "from": str,
})


class RequestMigrate(AnyDecision, _RequestMigrate):
    """A command. Move this request to another engine than was tried before; report as for `gpus.release`."""

    type: Literal["request.migrate"]
    releaseId: str
    """Id of the release of GPUs, minted by the policy. String ≤ 512."""
    requestId: str
    """Id of the request, minted by the policy. String ≤ 1200."""
    to: str
    """The engine that it goes to. String ≤ 512."""
    tokens: int
    """Tokens generated when this was decided; they are kept, the budget is cumulative. Whole number 0 to 1000000000."""
    attempt: int
    """Which try this is, from 2; it goes into the answer. Whole number ≥ 1."""
    reason: RequestMigrateReason


class ScaleDownLateReason(TypedDict):
    """Reason of :class:`ScaleDownLate`. Why, with the numbers."""

    code: Literal[
        "query_closed", "migration_closed", "release_closed", "released_late", "round_closed", "engine_replaced",
    ]


class ScaleDownLate(AnyDecision):
    """A notice. A report about something that is over: nothing changes."""

    type: Literal["scale-down.late"]
    id: str
    """Id of the query, the release, the request, the round or the engine."""
    reason: ScaleDownLateReason


class ScaleDownRejectedReason(TypedDict):
    """Reason of :class:`ScaleDownRejected`. Why, with the numbers."""

    code: Literal["no_partition", "kv_cache", "kv_cache_together", "no_target", "not_returned"]
    gpus: NotRequired[int]
    """GPUs that roll out. Whole number ≥ 0. Only with `no_partition`."""
    wanted: NotRequired[int]
    """How many were to go, without splitting a group. Whole number ≥ 0. Only with `no_partition`."""
    finished: NotRequired[int]
    """Responses, or prompts, finished in the round. Whole number ≥ 0. Only with `kv_cache`, `kv_cache_together`."""
    target: NotRequired[int]
    """How many the round needs. Whole number ≥ 1. Only with `kv_cache`, `kv_cache_together`."""
    engineId: NotRequired[str]
    """The engine that is filled most, of those that would remain. String ≤ 512. Only with `kv_cache`."""
    projectedTokens: NotRequired[int]
    """Projected peak of its KV cache, in tokens. Whole number 0 to 1000000000000. Only with `kv_cache`."""
    capacityTokens: NotRequired[int]
    """With `kv_cache`: What its KV cache holds, in tokens. Whole number 0 to 1000000000000. With `kv_cache_together`:
    What those that would remain hold together, in tokens. Whole number 0 to 1000000000000."""
    expectedTokens: NotRequired[int]
    """Expected peak of the KV caches of all engines together, in tokens. Whole number 0 to 1000000000000. Only with
    `kv_cache_together`."""
    engines: NotRequired[int]
    """Engines that would remain, none of which takes new requests. Whole number ≥ 0. Only with `no_target`."""
    releaseId: NotRequired[str]
    """Id of the release of GPUs, minted by the policy. String ≤ 512. Only with `not_returned`."""


class ScaleDownRejected(AnyDecision):
    """A notice. No GPUs are released at this milestone; the next one tries again."""

    type: Literal["scale-down.rejected"]
    roundId: str
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""
    reason: ScaleDownRejectedReason
