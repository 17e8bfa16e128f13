# Generated from the schemas by `npm run docs:generate`: do not edit.
"""Decisions: gpus."""

from typing import Literal

from .._typing import TypedDict
from ..objects import EnginePlace


class GpusReclaimReasonRoundCompleted(TypedDict):
    """Reason `round_completed` of :class:`GpusReclaim`."""

    code: Literal["round_completed"]


class GpusReclaimReasonRoundReplaced(TypedDict):
    """Reason `round_replaced` of :class:`GpusReclaim`."""

    code: Literal["round_replaced"]


class GpusReclaimReasonEnginesLost(TypedDict):
    """Reason `engines_lost` of :class:`GpusReclaim`."""

    code: Literal["engines_lost"]

    engineId: str
    """The last engine that was rolling out. String ≤ 512."""


class GpusReclaimReasonHostRestarted(TypedDict):
    """Reason `host_restarted` of :class:`GpusReclaim`."""

    code: Literal["host_restarted"]


class GpusReclaimReasonReleaseFailed(TypedDict):
    """Reason `release_failed` of :class:`GpusReclaim`."""

    code: Literal["release_failed"]


class GpusReclaimReasonMigrationFailed(TypedDict):
    """Reason `migration_failed` of :class:`GpusReclaim`."""

    code: Literal["migration_failed"]

    requestId: str
    """Id of the request, minted by the policy. String ≤ 1200."""

    attempts: int
    """Tries to move the request. Whole number ≥ 0."""


class GpusReclaimReasonEngineLost(TypedDict):
    """Reason `engine_lost` of :class:`GpusReclaim`."""

    code: Literal["engine_lost"]

    engineId: str
    """Id of the inference engine, given by the host. String ≤ 512."""


class GpusReclaimReasonEndedBeforeRelease(TypedDict):
    """Reason `ended_before_release` of :class:`GpusReclaim`."""

    code: Literal["ended_before_release"]


class GpusReclaimReasonRestartedBeforeRelease(TypedDict):
    """Reason `restarted_before_release` of :class:`GpusReclaim`."""

    code: Literal["restarted_before_release"]


class GpusReclaimReasonAskedAgain(TypedDict):
    """Reason `asked_again` of :class:`GpusReclaim`."""

    code: Literal["asked_again"]


class GpusReclaim(TypedDict):
    """
    A command. Give the GPUs back to rollout as soon as no training of the round needs them; answer with
    `gpus.returned`.
    """

    type: Literal["gpus.reclaim"]

    at: float
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Number ≥ 0.
    """

    releaseId: str
    """Id of the release of GPUs, minted by the policy. String ≤ 512."""

    engineIds: list[str]
    """The engines of these GPUs."""

    gpuIds: list[str]
    """The GPUs themselves."""

    reason: (
        GpusReclaimReasonRoundCompleted
        | GpusReclaimReasonRoundReplaced
        | GpusReclaimReasonEnginesLost
        | GpusReclaimReasonHostRestarted
        | GpusReclaimReasonReleaseFailed
        | GpusReclaimReasonMigrationFailed
        | GpusReclaimReasonEngineLost
        | GpusReclaimReasonEndedBeforeRelease
        | GpusReclaimReasonRestartedBeforeRelease
        | GpusReclaimReasonAskedAgain
    )
    """Why, with the numbers."""


GpusReleaseMigration = TypedDict(
    "GpusReleaseMigration",
    {
        # The engine that they leave. String ≤ 512.
        "from": 'str',
        # The engine that they go to. String ≤ 512.
        "to": 'str',
        # The requests, in the order of the report.
        "requestIds": 'list[str]',
        # Tokens that each had generated when this was decided, in the same order; they are kept.
        "tokens": 'list[int]',
    },
)
"""Requests that move from one engine to another."""


class GpusReleaseReasonFits(TypedDict):
    """Reason `fits` of :class:`GpusRelease`."""

    code: Literal["fits"]

    finished: int
    """Responses, or prompts, finished in the round. Whole number ≥ 0."""

    target: int
    """How many the round needs. Whole number ≥ 1."""

    engineId: str
    """The engine that is filled most, of those that would remain. String ≤ 512."""

    projectedTokens: int
    """Projected peak of its KV cache, in tokens. Whole number ≥ 0."""

    capacityTokens: int
    """What its KV cache holds, in tokens. Whole number ≥ 0."""


class GpusReleaseReasonFixedFraction(TypedDict):
    """Reason `fixed_fraction` of :class:`GpusRelease`."""

    code: Literal["fixed_fraction"]

    finished: int
    """Responses, or prompts, finished in the round. Whole number ≥ 0."""

    target: int
    """How many the round needs. Whole number ≥ 1."""

    engineId: str
    """The engine that is filled most, of those that would remain. String ≤ 512."""

    projectedTokens: int
    """Projected peak of its KV cache, in tokens. Whole number ≥ 0."""

    capacityTokens: int
    """What its KV cache holds, in tokens. Whole number ≥ 0."""


class GpusRelease(TypedDict):
    """
    A command. Stop rollout on these engines, move their requests as listed (tokens kept, KV recomputed),
    report each with `request.migrated` or `migration.failed`, then answer with `gpus.released` or
    `gpus.release.failed`.
    """

    type: Literal["gpus.release"]

    at: float
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Number ≥ 0.
    """

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

    reason: GpusReleaseReasonFits | GpusReleaseReasonFixedFraction
    """Why, with the numbers."""


class MigrationAbandonedReasonTriesUsedUp(TypedDict):
    """Reason `tries_used_up` of :class:`MigrationAbandoned`."""

    code: Literal["tries_used_up"]

    attempts: int
    """Tries to move the request. Whole number ≥ 0."""

    budget: int
    """Most tries to move a request. Whole number ≥ 0."""


class MigrationAbandonedReasonNoEngine(TypedDict):
    """Reason `no_engine` of :class:`MigrationAbandoned`."""

    code: Literal["no_engine"]

    attempts: int
    """Tries to move the request. Whole number ≥ 0."""


class MigrationAbandoned(TypedDict):
    """
    A notice. A request could not be moved from GPUs that have been released: it runs nowhere and has failed
    (infrastructure).
    """

    type: Literal["migration.abandoned"]

    at: float
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Number ≥ 0.
    """

    releaseId: str
    """Id of the release of GPUs, minted by the policy. String ≤ 512."""

    requestId: str
    """Id of the request, minted by the policy. String ≤ 1200."""

    reason: MigrationAbandonedReasonTriesUsedUp | MigrationAbandonedReasonNoEngine
    """Why, with the numbers."""


class MigrationCancelReasonAborted(TypedDict):
    """Reason `aborted` of :class:`MigrationCancel`."""

    code: Literal["aborted"]


class MigrationCancelReasonCompleted(TypedDict):
    """Reason `completed` of :class:`MigrationCancel`."""

    code: Literal["completed"]


class MigrationCancelReasonMigratedAfterEnd(TypedDict):
    """Reason `migrated_after_end` of :class:`MigrationCancel`."""

    code: Literal["migrated_after_end"]


class MigrationCancel(TypedDict):
    """
    A command. Do not let this request go on at the engine that it moves to, and stop it there if it does: it
    has ended.
    """

    type: Literal["migration.cancel"]

    at: float
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Number ≥ 0.
    """

    releaseId: str
    """Id of the release of GPUs, minted by the policy. String ≤ 512."""

    requestId: str
    """Id of the request, minted by the policy. String ≤ 1200."""

    to: str
    """The engine that it goes to. String ≤ 512."""

    reason: (
        MigrationCancelReasonAborted
        | MigrationCancelReasonCompleted
        | MigrationCancelReasonMigratedAfterEnd
    )
    """Why, with the numbers."""


class ProgressQueryReason(TypedDict):
    """Why, with the numbers."""

    code: Literal["milestone"]

    finished: int
    """Responses, or prompts, finished in the round. Whole number ≥ 0."""

    target: int
    """How many the round needs. Whole number ≥ 1."""

    sinceLast: int
    """Finished since the evaluation before. Whole number ≥ 0."""


class ProgressQuery(TypedDict):
    """A command. Report all requests in flight with `progress.reported`."""

    type: Literal["progress.query"]

    at: float
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Number ≥ 0.
    """

    queryId: str
    """Id of the query, minted by the policy. String ≤ 512."""

    roundId: str
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""

    reason: ProgressQueryReason
    """Why, with the numbers."""


class RequestMigrateReason(TypedDict):
    """Why, with the numbers."""

    code: Literal["migration_failed"]

    attempts: int
    """Tries before this one. Whole number ≥ 0."""

    budget: int
    """Most tries to move a request. Whole number ≥ 0."""


RequestMigrate = TypedDict(
    "RequestMigrate",
    {
        "type": 'Literal["request.migrate"]',
        # Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time
        # than the latest counts as the latest. Number ≥ 0.
        "at": 'float',
        # Id of the release of GPUs, minted by the policy. String ≤ 512.
        "releaseId": 'str',
        # Id of the request, minted by the policy. String ≤ 1200.
        "requestId": 'str',
        # The engine that it leaves. String ≤ 512.
        "from": 'str',
        # The engine that it goes to. String ≤ 512.
        "to": 'str',
        # Tokens generated when this was decided; they are kept, the budget is cumulative. Whole number ≥ 0.
        "tokens": 'int',
        # Which try this is, from 2; it goes into the answer. Whole number ≥ 1.
        "attempt": 'int',
        # Why, with the numbers.
        "reason": 'RequestMigrateReason',
    },
)
"""A command. Move this request to another engine than was tried before; report as for `gpus.release`."""


class ScaleDownLateReasonQueryClosed(TypedDict):
    """Reason `query_closed` of :class:`ScaleDownLate`."""

    code: Literal["query_closed"]


class ScaleDownLateReasonMigrationClosed(TypedDict):
    """Reason `migration_closed` of :class:`ScaleDownLate`."""

    code: Literal["migration_closed"]


class ScaleDownLateReasonReleaseClosed(TypedDict):
    """Reason `release_closed` of :class:`ScaleDownLate`."""

    code: Literal["release_closed"]


class ScaleDownLateReasonReleasedLate(TypedDict):
    """Reason `released_late` of :class:`ScaleDownLate`."""

    code: Literal["released_late"]


class ScaleDownLateReasonRoundClosed(TypedDict):
    """Reason `round_closed` of :class:`ScaleDownLate`."""

    code: Literal["round_closed"]


class ScaleDownLateReasonEngineReplaced(TypedDict):
    """Reason `engine_replaced` of :class:`ScaleDownLate`."""

    code: Literal["engine_replaced"]


class ScaleDownLate(TypedDict):
    """A notice. A report about something that is over: nothing changes."""

    type: Literal["scale-down.late"]

    at: float
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Number ≥ 0.
    """

    id: str
    """Id of the query, the release, the request, the round or the engine."""

    reason: (
        ScaleDownLateReasonQueryClosed
        | ScaleDownLateReasonMigrationClosed
        | ScaleDownLateReasonReleaseClosed
        | ScaleDownLateReasonReleasedLate
        | ScaleDownLateReasonRoundClosed
        | ScaleDownLateReasonEngineReplaced
    )
    """Why, with the numbers."""


class ScaleDownRejectedReasonNoPartition(TypedDict):
    """Reason `no_partition` of :class:`ScaleDownRejected`."""

    code: Literal["no_partition"]

    gpus: int
    """GPUs that roll out. Whole number ≥ 0."""

    wanted: int
    """How many were to go, without splitting a group. Whole number ≥ 0."""


class ScaleDownRejectedReasonKvCache(TypedDict):
    """Reason `kv_cache` of :class:`ScaleDownRejected`."""

    code: Literal["kv_cache"]

    finished: int
    """Responses, or prompts, finished in the round. Whole number ≥ 0."""

    target: int
    """How many the round needs. Whole number ≥ 1."""

    engineId: str
    """The engine that is filled most, of those that would remain. String ≤ 512."""

    projectedTokens: int
    """Projected peak of its KV cache, in tokens. Whole number ≥ 0."""

    capacityTokens: int
    """What its KV cache holds, in tokens. Whole number ≥ 0."""


class ScaleDownRejectedReasonKvCacheTogether(TypedDict):
    """Reason `kv_cache_together` of :class:`ScaleDownRejected`."""

    code: Literal["kv_cache_together"]

    finished: int
    """Responses, or prompts, finished in the round. Whole number ≥ 0."""

    target: int
    """How many the round needs. Whole number ≥ 1."""

    expectedTokens: int
    """Expected peak of the KV caches of all engines together, in tokens. Whole number ≥ 0."""

    capacityTokens: int
    """What those that would remain hold together, in tokens. Whole number ≥ 0."""


class ScaleDownRejectedReasonNoTarget(TypedDict):
    """Reason `no_target` of :class:`ScaleDownRejected`."""

    code: Literal["no_target"]

    engines: int
    """Engines that would remain, none of which takes new requests. Whole number ≥ 0."""


class ScaleDownRejectedReasonNotReturned(TypedDict):
    """Reason `not_returned` of :class:`ScaleDownRejected`."""

    code: Literal["not_returned"]

    releaseId: str
    """Id of the release of GPUs, minted by the policy. String ≤ 512."""


class ScaleDownRejected(TypedDict):
    """A notice. No GPUs are released at this milestone; the next one tries again."""

    type: Literal["scale-down.rejected"]

    at: float
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Number ≥ 0.
    """

    roundId: str
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""

    reason: (
        ScaleDownRejectedReasonNoPartition
        | ScaleDownRejectedReasonKvCache
        | ScaleDownRejectedReasonKvCacheTogether
        | ScaleDownRejectedReasonNoTarget
        | ScaleDownRejectedReasonNotReturned
    )
    """Why, with the numbers."""
