# Generated from the schemas by `npm run docs:generate`: do not edit.
"""Generates responses in chunks, each where its engine has room for it: full KV caches without preemptions."""

from typing import Literal, TypeAlias, Union

from .._bases import AnySnapshot
from .._typing import NotRequired, TypedDict
from ..decisions.chunks import ChunkAwaited, ChunkContinue, ChunkLate, RequestEnded
from ..events.chunks import ChunkFinished, ChunksRequested, RequestOpened
from ..events.engines import EngineAdded, EngineDrained, EngineLost, EngineReported, EnginesChanged
from ..events.requests import RequestAborted, ResponseCompleted, ResponseFailed
from ..events.session import HostRestarted


class DividedRolloutConfigDecode(TypedDict):
    """How long an engine takes to generate a token for each of its responses. The order of magnitude is enough."""

    stepSeconds: NotRequired[float]
    """Seconds of a step, whatever runs. Number ≥ 0. Default: 0.01."""
    sequenceSeconds: NotRequired[float]
    """Seconds that each running response adds to a step. Number ≥ 0. Default: 0.0002."""
    contextTokenSeconds: NotRequired[float]
    """Seconds that each token in the contexts of running responses adds to a step. Number ≥ 0. Default: 3e-8."""


class DividedRolloutConfig(TypedDict):
    """Configuration of `divided-rollout`."""

    kvCapacityTokens: NotRequired[int]
    """Tokens that fit the KV cache of an engine, until it reports its own number. Whole number ≥ 1. Default: 400000."""
    budgetShare: NotRequired[float]
    """Part of its KV cache that the chunks of an engine may fill. Number 0.05 to 1. Default: 0.97."""
    maxWaitSeconds: NotRequired[float]
    """A request that has waited so long for room, in seconds, is next. Number > 0. Default: 14400."""
    prefillTokensPerSecond: NotRequired[float]
    """Tokens of a context that an engine reads in a second. The order of magnitude is enough. Number ≥ 1. Default:
    10000."""
    poolTokensPerSecond: NotRequired[float]
    """Tokens of a context that an engine loads in a second from a KV cache that engines share; absent: there is none,
    and an engine reads the context again. Number ≥ 1."""
    chunkSeconds: NotRequired[float]
    """What a chunk costs its response, in seconds, beside its tokens: the way to the host and back. Number ≥ 0.
    Default: 0.03."""
    decode: NotRequired[DividedRolloutConfigDecode]
    """How long an engine takes to generate a token for each of its responses. The order of magnitude is enough.
    Default: {}."""
    rememberedPrompts: NotRequired[int]
    """Prompts whose lengths are remembered, for when they return. Whole number 1 to 10000000. Default: 1000000."""


DividedRolloutEvent: TypeAlias = Union[
    RequestOpened, ChunksRequested, ChunkFinished, ResponseCompleted, ResponseFailed, RequestAborted, EngineAdded,
    EngineDrained, EngineLost, EnginesChanged, EngineReported, HostRestarted,
]
"""What `divided-rollout` is told."""


DividedRolloutCommand: TypeAlias = ChunkContinue
"""Decisions of `divided-rollout` that a host must carry out."""


DividedRolloutNotice: TypeAlias = Union[
    ChunkAwaited, RequestEnded, ChunkLate,
]
"""Decisions of `divided-rollout` that a host may read."""


DividedRolloutDecision: TypeAlias = Union[
    ChunkContinue, ChunkAwaited, RequestEnded, ChunkLate,
]
"""What `divided-rollout` answers."""


class DividedRolloutSnapshot(AnySnapshot):
    """State of `divided-rollout`: what `open(snapshot=…)` takes."""

    policy: Literal["divided-rollout"]
    config: DividedRolloutConfig
