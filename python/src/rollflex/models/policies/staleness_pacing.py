# Generated from the schemas by `npm run docs:generate`: do not edit.
"""Paces the rollout beside an asynchronous trainer: no group is ever too old to be trained, and none is discarded."""

from typing import Literal, TypeAlias, Union

from .._bases import AnySnapshot
from .._typing import NotRequired, TypedDict
from ..decisions.groups import GroupWithdrawn
from ..decisions.pacing import GroupDrop, GroupLaunch, TrainBatch
from ..decisions.prompts import PromptMerged, PromptReturned
from ..decisions.rounds import PromptsRequest, RoundDrained, RoundResumed, SourceDrained
from ..decisions.training import GroupLate, TrainingLate
from ..events.pipelining import WeightsPublished
from ..events.rounds import PromptsSupplied, RoundRequested, SourceExhausted, SourceReopened
from ..events.session import HostRestarted
from ..events.training import GroupCompleted, GroupRejected


class StalenessPacingConfig(TypedDict):
    """Configuration of `staleness-pacing`."""

    groupsPerBatch: int
    """P: groups of a batch. The trainer makes one version of the weights from each batch. Whole number 1 to 100000."""
    maxStaleness: NotRequired[int]
    """η: most versions that the weights may have advanced from the first token of a group to its batch. Whole number 0
    to 1000. Default: 1."""
    windowGroups: NotRequired[int]
    """W: a batch takes groups from the W oldest alone, in the order of their launches; at least P. Absent: as many as
    may be in flight. Whole number ≥ 1."""
    maxGroups: NotRequired[int]
    """Most groups that are launched and in no batch, where fewer than staleness allows are enough: they are fresher. At
    least P. Whole number ≥ 1."""
    maxBatches: NotRequired[int]
    """Batches that the trainer may have at once: the one that it trains, and those that it has fetched ahead. More than
    η + 1 are never used. Whole number 1 to 64. Default: 1."""
    idPrefix: NotRequired[str]
    """Prefix of every id of a launch and of a batch; new after each restart of the host. String ≤ 128. Default: ""."""


StalenessPacingEvent: TypeAlias = Union[
    RoundRequested, PromptsSupplied, SourceExhausted, SourceReopened, GroupCompleted, GroupRejected, WeightsPublished,
    HostRestarted,
]
"""What `staleness-pacing` is told."""


StalenessPacingCommand: TypeAlias = Union[
    PromptsRequest, GroupLaunch, TrainBatch, GroupDrop,
]
"""Decisions of `staleness-pacing` that a host must carry out."""


StalenessPacingNotice: TypeAlias = Union[
    GroupWithdrawn, PromptMerged, PromptReturned, RoundResumed, RoundDrained, SourceDrained, GroupLate, TrainingLate,
]
"""Decisions of `staleness-pacing` that a host may read."""


StalenessPacingDecision: TypeAlias = Union[
    PromptsRequest, GroupLaunch, TrainBatch, GroupDrop, GroupWithdrawn, PromptMerged, PromptReturned, RoundResumed,
    RoundDrained, SourceDrained, GroupLate, TrainingLate,
]
"""What `staleness-pacing` answers."""


class StalenessPacingSnapshot(AnySnapshot):
    """State of `staleness-pacing`: what `open(snapshot=…)` takes."""

    policy: Literal["staleness-pacing"]
    config: StalenessPacingConfig
