# Generated from the schemas by `npm run docs:generate`: do not edit.
"""Makes whole groups, and ready rounds, of rewards that come one by one."""

from typing import Literal, TypeAlias, Union

from .._bases import AnySnapshot
from .._typing import NotRequired, TypedDict
from ..decisions.groups import GroupRewarded, GroupUnrewarded, GroupWithdrawn, RewardUnused, RoundRewarded
from ..decisions.prompts import (
    PromptCounted, PromptDeferred, PromptFailed, PromptFiltered, PromptMerged, PromptReturned,
)
from ..decisions.requests import ResponseAccepted, ResponseDropped
from ..decisions.reward_workers import RewardFailed, RewardFailedReport
from ..decisions.rewards import RewardRequest
from ..decisions.rounds import RoundCompleted, RoundResumed
from ..events.rewards import RewardReady
from ..events.rounds import RoundFailed
from ..events.session import HostRestarted


class GroupAssemblyConfig(TypedDict):
    """Configuration of `group-assembly`."""

    askAgain: NotRequired[bool]
    """Whether the host is asked again, by `reward.request`, for rewards that have not come after its restart. Default:
    true."""


GroupAssemblyEvent: TypeAlias = Union[
    ResponseAccepted, ResponseDropped, PromptCounted, PromptDeferred, PromptReturned, PromptFiltered, PromptFailed,
    PromptMerged, RoundCompleted, RoundFailed, RewardReady, RewardFailed, RewardFailedReport, HostRestarted,
]
"""What `group-assembly` is told."""


GroupAssemblyCommand: TypeAlias = RewardRequest
"""Decisions of `group-assembly` that a host must carry out."""


GroupAssemblyNotice: TypeAlias = Union[
    GroupRewarded, GroupUnrewarded, GroupWithdrawn, RoundRewarded, RoundResumed, RewardUnused,
]
"""Decisions of `group-assembly` that a host may read."""


GroupAssemblyDecision: TypeAlias = Union[
    GroupRewarded, GroupUnrewarded, GroupWithdrawn, RoundRewarded, RoundResumed, RewardRequest, RewardUnused,
]
"""What `group-assembly` answers."""


class GroupAssemblySnapshot(AnySnapshot):
    """State of `group-assembly`: what `open(snapshot=…)` takes."""

    policy: Literal["group-assembly"]
    config: GroupAssemblyConfig
