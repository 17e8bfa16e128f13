# Generated from the schemas by `npm run docs:generate`: do not edit.
"""A frontier of groups in service, each trained as soon as it is complete and rewarded; one publication a round."""

from typing import Literal, TypeAlias, Union

from .._bases import AnySnapshot
from .._typing import NotRequired
from ..decisions.frontier import (
    FrontierResized, FrontierStarved, GroupLeft, RequestAdmit, RequestAwaited, RequestDeferred, RequestDropped,
)
from ..decisions.groups import GroupRewarded, GroupUnrewarded, RewardUnused, RoundRewarded
from ..decisions.pipelining import GroupTrainable, PipelineMeasured, TrainDispatch, UpdateCancel, WeightsPublish
from ..decisions.prompts import PromptCounted, PromptReturned
from ..decisions.requests import RequestAbort, ResponseAbandoned, ResponseAccepted, ResponseLate
from ..decisions.reward_workers import RewardFailed, RewardFailedReport
from ..decisions.rewards import RewardRequest
from ..decisions.rounds import RoundCompleted
from ..decisions.training import GroupLate, GroupsDropped, OptimizerStep, RoundTrained, TrainingLate
from ..events.frontier import RequestArrived
from ..events.pipelining import TrainerRestarted, UpdateConsumed, UpdateLost, WeightsPublished
from ..events.requests import RequestAborted, ResponseCompleted, ResponseFailed
from ..events.rewards import RewardReady
from ..events.rounds import RoundFailed, RoundOpened
from ..events.session import HostRestarted
from ..events.training import OptimizerStepped
from .complete_group_pipelining import _CompleteGroupPipeliningConfig1, _CompleteGroupPipeliningConfig2
from .frontier_group_dispatch import _FrontierGroupDispatchConfig1


class RolloutpipeConfig(
    _CompleteGroupPipeliningConfig1, _CompleteGroupPipeliningConfig2, _FrontierGroupDispatchConfig1,
):
    """Configuration of `rolloutpipe`."""

    idPrefix: NotRequired[str]
    """Prefix of every id; new after each restart of the host. String ≤ 128. Default: ""."""
    frontier: NotRequired[bool]
    """Whether requests are admitted by groups, at most `width` at once; `false`: every request at once. Default:
    true."""
    width: NotRequired[int | Literal["auto"]]
    """F_w: most groups in service at once; `auto`: planned anew for every round. Required with `frontier`."""
    awaitRetries: NotRequired[bool]
    """Whether a failed request keeps its place until another comes for it, or `response.abandoned`; if not, it has
    failed for good. Default: false."""


RolloutpipeEvent: TypeAlias = Union[
    RoundOpened, RequestArrived, ResponseCompleted, ResponseFailed, ResponseAbandoned, RequestAborted, RewardReady,
    RewardFailed, RewardFailedReport, UpdateConsumed, OptimizerStepped, WeightsPublished, UpdateLost, TrainerRestarted,
    RoundFailed, HostRestarted,
]
"""What `rolloutpipe` is told."""


RolloutpipeCommand: TypeAlias = Union[
    OptimizerStep, RequestAbort, RequestAdmit, RewardRequest, TrainDispatch, UpdateCancel, WeightsPublish,
]
"""Decisions of `rolloutpipe` that a host must carry out."""


RolloutpipeNotice: TypeAlias = Union[
    FrontierResized, FrontierStarved, GroupLate, GroupLeft, GroupRewarded, GroupTrainable, GroupUnrewarded,
    GroupsDropped, PipelineMeasured, PromptCounted, PromptReturned, RequestAwaited, RequestDeferred, RequestDropped,
    ResponseAccepted, ResponseLate, RewardUnused, RoundCompleted, RoundRewarded, RoundTrained, TrainingLate,
]
"""Decisions of `rolloutpipe` that a host may read."""


RolloutpipeDecision: TypeAlias = Union[
    FrontierResized, FrontierStarved, GroupLate, GroupLeft, GroupRewarded, GroupTrainable, GroupUnrewarded,
    GroupsDropped, OptimizerStep, PipelineMeasured, PromptCounted, PromptReturned, RequestAbort, RequestAdmit,
    RequestAwaited, RequestDeferred, RequestDropped, ResponseAccepted, ResponseLate, RewardRequest, RewardUnused,
    RoundCompleted, RoundRewarded, RoundTrained, TrainDispatch, TrainingLate, UpdateCancel, WeightsPublish,
]
"""What `rolloutpipe` answers."""


class RolloutpipeSnapshot(AnySnapshot):
    """State of `rolloutpipe`: what `open(snapshot=…)` takes."""

    policy: Literal["rolloutpipe"]
    config: RolloutpipeConfig
