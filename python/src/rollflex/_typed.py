# Generated from the schemas by `npm run docs:generate`: do not edit.
"""`open` and `plan`, typed by the policy or planner that is named."""

from __future__ import annotations

from typing import Any, TYPE_CHECKING, overload

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Literal

    from typing_extensions import Unpack

    from ._options import OpenOptions, Untyped
    from ._tasks import AsyncSession
    from ._threads import Session
    from .models import (
        AdaptiveTpConfig, AdaptiveTpDecision, AdaptiveTpEvent, AgenticRolloutConfig, AgenticRolloutDecision,
        AgenticRolloutEvent, CompleteGroupPipeliningConfig, CompleteGroupPipeliningDecision,
        CompleteGroupPipeliningEvent, DividedRolloutConfig, DividedRolloutDecision, DividedRolloutEvent,
        DraftBudgetInput, DraftBudgetPlan, EnvironmentSlotsConfig, EnvironmentSlotsDecision, EnvironmentSlotsEvent,
        FlexUlyssesInput, FlexUlyssesPlan, FlexrlConfig, FlexrlDecision, FlexrlEvent, FrontierGroupDispatchConfig,
        FrontierGroupDispatchDecision, FrontierGroupDispatchEvent, GpuScaleDownConfig, GpuScaleDownDecision,
        GpuScaleDownEvent, GradientRenormalizationInput, GradientRenormalizationPlan, GroupAssemblyConfig,
        GroupAssemblyDecision, GroupAssemblyEvent, GrpoAdvantagesInput, GrpoAdvantagesPlan, JudgeOffloadInput,
        JudgeOffloadPlan, LongPromptQueueConfig, LongPromptQueueDecision, LongPromptQueueEvent, LosslessTailConfig,
        LosslessTailDecision, LosslessTailEvent, MicroBatchesInput, MicroBatchesPlan, ProgramSchedulingConfig,
        ProgramSchedulingDecision, ProgramSchedulingEvent, PromptSelectionConfig, PromptSelectionDecision,
        PromptSelectionEvent, RewardDispatchConfig, RewardDispatchDecision, RewardDispatchEvent, RolloutpipeConfig,
        RolloutpipeDecision, RolloutpipeEvent, RollpackerConfig, RollpackerDecision, RollpackerEvent,
        RoundCompositionConfig, RoundCompositionDecision, RoundCompositionEvent, SandboxTimeoutConfig,
        SandboxTimeoutDecision, SandboxTimeoutEvent, ShadowLoaderConfig, ShadowLoaderDecision, ShadowLoaderEvent,
        SpeculativeAdmissionConfig, SpeculativeAdmissionDecision, SpeculativeAdmissionEvent, StalenessPacingConfig,
        StalenessPacingDecision, StalenessPacingEvent, StreamTrainingConfig, StreamTrainingDecision,
        StreamTrainingEvent, TailBatchingConfig, TailBatchingDecision, TailBatchingEvent, TailPipeliningConfig,
        TailPipeliningDecision, TailPipeliningEvent, WatchdogConfig, WatchdogDecision, WatchdogEvent,
    )


class TypedClient:
    """What the client for threads opens and plans."""

    @overload
    def open(
        self, policy: Literal["speculative-admission"], config: SpeculativeAdmissionConfig | None = None,
        **options: Unpack[OpenOptions],
    ) -> Session[SpeculativeAdmissionEvent, SpeculativeAdmissionDecision]: ...
    @overload
    def open(
        self, policy: Literal["long-prompt-queue"], config: LongPromptQueueConfig | None = None,
        **options: Unpack[OpenOptions],
    ) -> Session[LongPromptQueueEvent, LongPromptQueueDecision]: ...
    @overload
    def open(
        self, policy: Literal["round-composition"], config: RoundCompositionConfig | None = None,
        **options: Unpack[OpenOptions],
    ) -> Session[RoundCompositionEvent, RoundCompositionDecision]: ...
    @overload
    def open(
        self, policy: Literal["prompt-selection"], config: PromptSelectionConfig | None = None,
        **options: Unpack[OpenOptions],
    ) -> Session[PromptSelectionEvent, PromptSelectionDecision]: ...
    @overload
    def open(
        self, policy: Literal["sandbox-timeout"], config: SandboxTimeoutConfig | None = None,
        **options: Unpack[OpenOptions],
    ) -> Session[SandboxTimeoutEvent, SandboxTimeoutDecision]: ...
    @overload
    def open(
        self, policy: Literal["reward-dispatch"], config: RewardDispatchConfig | None = None,
        **options: Unpack[OpenOptions],
    ) -> Session[RewardDispatchEvent, RewardDispatchDecision]: ...
    @overload
    def open(
        self, policy: Literal["group-assembly"], config: GroupAssemblyConfig | None = None,
        **options: Unpack[OpenOptions],
    ) -> Session[GroupAssemblyEvent, GroupAssemblyDecision]: ...
    @overload
    def open(
        self, policy: Literal["stream-training"], config: StreamTrainingConfig | None = None,
        **options: Unpack[OpenOptions],
    ) -> Session[StreamTrainingEvent, StreamTrainingDecision]: ...
    @overload
    def open(
        self, policy: Literal["adaptive-tp"], config: AdaptiveTpConfig | None = None,
        **options: Unpack[OpenOptions],
    ) -> Session[AdaptiveTpEvent, AdaptiveTpDecision]: ...
    @overload
    def open(
        self, policy: Literal["gpu-scale-down"], config: GpuScaleDownConfig | None = None,
        **options: Unpack[OpenOptions],
    ) -> Session[GpuScaleDownEvent, GpuScaleDownDecision]: ...
    @overload
    def open(
        self, policy: Literal["complete-group-pipelining"], config: CompleteGroupPipeliningConfig | None = None,
        **options: Unpack[OpenOptions],
    ) -> Session[CompleteGroupPipeliningEvent, CompleteGroupPipeliningDecision]: ...
    @overload
    def open(
        self, policy: Literal["frontier-group-dispatch"], config: FrontierGroupDispatchConfig | None = None,
        **options: Unpack[OpenOptions],
    ) -> Session[FrontierGroupDispatchEvent, FrontierGroupDispatchDecision]: ...
    @overload
    def open(
        self, policy: Literal["shadow-loader"], config: ShadowLoaderConfig | None = None,
        **options: Unpack[OpenOptions],
    ) -> Session[ShadowLoaderEvent, ShadowLoaderDecision]: ...
    @overload
    def open(
        self, policy: Literal["environment-slots"], config: EnvironmentSlotsConfig | None = None,
        **options: Unpack[OpenOptions],
    ) -> Session[EnvironmentSlotsEvent, EnvironmentSlotsDecision]: ...
    @overload
    def open(
        self, policy: Literal["program-scheduling"], config: ProgramSchedulingConfig | None = None,
        **options: Unpack[OpenOptions],
    ) -> Session[ProgramSchedulingEvent, ProgramSchedulingDecision]: ...
    @overload
    def open(
        self, policy: Literal["staleness-pacing"], config: StalenessPacingConfig | None = None,
        **options: Unpack[OpenOptions],
    ) -> Session[StalenessPacingEvent, StalenessPacingDecision]: ...
    @overload
    def open(
        self, policy: Literal["divided-rollout"], config: DividedRolloutConfig | None = None,
        **options: Unpack[OpenOptions],
    ) -> Session[DividedRolloutEvent, DividedRolloutDecision]: ...
    @overload
    def open(
        self, policy: Literal["watchdog"], config: WatchdogConfig | None = None,
        **options: Unpack[OpenOptions],
    ) -> Session[WatchdogEvent, WatchdogDecision]: ...
    @overload
    def open(
        self, policy: Literal["tail-batching"], config: TailBatchingConfig | None = None,
        **options: Unpack[OpenOptions],
    ) -> Session[TailBatchingEvent, TailBatchingDecision]: ...
    @overload
    def open(
        self, policy: Literal["lossless-tail"], config: LosslessTailConfig | None = None,
        **options: Unpack[OpenOptions],
    ) -> Session[LosslessTailEvent, LosslessTailDecision]: ...
    @overload
    def open(
        self, policy: Literal["agentic-rollout"], config: AgenticRolloutConfig | None = None,
        **options: Unpack[OpenOptions],
    ) -> Session[AgenticRolloutEvent, AgenticRolloutDecision]: ...
    @overload
    def open(
        self, policy: Literal["rollpacker"], config: RollpackerConfig | None = None,
        **options: Unpack[OpenOptions],
    ) -> Session[RollpackerEvent, RollpackerDecision]: ...
    @overload
    def open(
        self, policy: Literal["rolloutpipe"], config: RolloutpipeConfig | None = None,
        **options: Unpack[OpenOptions],
    ) -> Session[RolloutpipeEvent, RolloutpipeDecision]: ...
    @overload
    def open(
        self, policy: Literal["tail-pipelining"], config: TailPipeliningConfig | None = None,
        **options: Unpack[OpenOptions],
    ) -> Session[TailPipeliningEvent, TailPipeliningDecision]: ...
    @overload
    def open(
        self, policy: Literal["flexrl"], config: FlexrlConfig | None = None,
        **options: Unpack[OpenOptions],
    ) -> Session[FlexrlEvent, FlexrlDecision]: ...
    @overload
    def open(
        self, policy: Untyped | None = None, config: Mapping[str, Any] | None = None,
        **options: Unpack[OpenOptions],
    ) -> Session[Any, Any]: ...
    def open(self, policy: str | None = None, config: Any = None, **options: Any) -> Any:
        """
        Opens a session: a policy with its state.

        :param policy: id of the policy, ``Untyped(id)`` for one of your own; may be left out beside a snapshot
        :param config: its configuration; not beside a snapshot, which has its own
        :param options: see :class:`OpenOptions`
        """
        return self._open(policy, {"config": config, **options})

    @overload
    def plan(
        self, planner: Literal["judge-offload"], input: JudgeOffloadInput, *,
        deadline_seconds: float | None = None, timeout: float | None = None,
    ) -> JudgeOffloadPlan: ...
    @overload
    def plan(
        self, planner: Literal["gradient-renormalization"], input: GradientRenormalizationInput, *,
        deadline_seconds: float | None = None, timeout: float | None = None,
    ) -> GradientRenormalizationPlan: ...
    @overload
    def plan(
        self, planner: Literal["grpo-advantages"], input: GrpoAdvantagesInput, *,
        deadline_seconds: float | None = None, timeout: float | None = None,
    ) -> GrpoAdvantagesPlan: ...
    @overload
    def plan(
        self, planner: Literal["flex-ulysses"], input: FlexUlyssesInput, *,
        deadline_seconds: float | None = None, timeout: float | None = None,
    ) -> FlexUlyssesPlan: ...
    @overload
    def plan(
        self, planner: Literal["draft-budget"], input: DraftBudgetInput, *,
        deadline_seconds: float | None = None, timeout: float | None = None,
    ) -> DraftBudgetPlan: ...
    @overload
    def plan(
        self, planner: Literal["micro-batches"], input: MicroBatchesInput, *,
        deadline_seconds: float | None = None, timeout: float | None = None,
    ) -> MicroBatchesPlan: ...
    @overload
    def plan(
        self, planner: Untyped, input: Mapping[str, Any], *,
        deadline_seconds: float | None = None, timeout: float | None = None,
    ) -> Any: ...
    def plan(
        self, planner: str, input: Any, *, deadline_seconds: float | None = None, timeout: float | None = None,
    ) -> Any:
        """
        The plan of a planner for an input.

        :param deadline_seconds: after these seconds a search ends with the best plan so far, and its ``cut`` says so
        :param timeout: seconds after which the caller waits no more, and gets no plan
        """
        return self._plan(planner, input, deadline_seconds, timeout)

    def _open(self, policy: str | None, options: dict[str, Any]) -> Any:
        raise NotImplementedError

    def _plan(self, planner: str, input: Any, deadline: float | None, timeout: float | None) -> Any:
        raise NotImplementedError


class TypedAsyncClient:
    """What the client for asyncio opens and plans."""

    @overload
    async def open(
        self, policy: Literal["speculative-admission"], config: SpeculativeAdmissionConfig | None = None,
        **options: Unpack[OpenOptions],
    ) -> AsyncSession[SpeculativeAdmissionEvent, SpeculativeAdmissionDecision]: ...
    @overload
    async def open(
        self, policy: Literal["long-prompt-queue"], config: LongPromptQueueConfig | None = None,
        **options: Unpack[OpenOptions],
    ) -> AsyncSession[LongPromptQueueEvent, LongPromptQueueDecision]: ...
    @overload
    async def open(
        self, policy: Literal["round-composition"], config: RoundCompositionConfig | None = None,
        **options: Unpack[OpenOptions],
    ) -> AsyncSession[RoundCompositionEvent, RoundCompositionDecision]: ...
    @overload
    async def open(
        self, policy: Literal["prompt-selection"], config: PromptSelectionConfig | None = None,
        **options: Unpack[OpenOptions],
    ) -> AsyncSession[PromptSelectionEvent, PromptSelectionDecision]: ...
    @overload
    async def open(
        self, policy: Literal["sandbox-timeout"], config: SandboxTimeoutConfig | None = None,
        **options: Unpack[OpenOptions],
    ) -> AsyncSession[SandboxTimeoutEvent, SandboxTimeoutDecision]: ...
    @overload
    async def open(
        self, policy: Literal["reward-dispatch"], config: RewardDispatchConfig | None = None,
        **options: Unpack[OpenOptions],
    ) -> AsyncSession[RewardDispatchEvent, RewardDispatchDecision]: ...
    @overload
    async def open(
        self, policy: Literal["group-assembly"], config: GroupAssemblyConfig | None = None,
        **options: Unpack[OpenOptions],
    ) -> AsyncSession[GroupAssemblyEvent, GroupAssemblyDecision]: ...
    @overload
    async def open(
        self, policy: Literal["stream-training"], config: StreamTrainingConfig | None = None,
        **options: Unpack[OpenOptions],
    ) -> AsyncSession[StreamTrainingEvent, StreamTrainingDecision]: ...
    @overload
    async def open(
        self, policy: Literal["adaptive-tp"], config: AdaptiveTpConfig | None = None,
        **options: Unpack[OpenOptions],
    ) -> AsyncSession[AdaptiveTpEvent, AdaptiveTpDecision]: ...
    @overload
    async def open(
        self, policy: Literal["gpu-scale-down"], config: GpuScaleDownConfig | None = None,
        **options: Unpack[OpenOptions],
    ) -> AsyncSession[GpuScaleDownEvent, GpuScaleDownDecision]: ...
    @overload
    async def open(
        self, policy: Literal["complete-group-pipelining"], config: CompleteGroupPipeliningConfig | None = None,
        **options: Unpack[OpenOptions],
    ) -> AsyncSession[CompleteGroupPipeliningEvent, CompleteGroupPipeliningDecision]: ...
    @overload
    async def open(
        self, policy: Literal["frontier-group-dispatch"], config: FrontierGroupDispatchConfig | None = None,
        **options: Unpack[OpenOptions],
    ) -> AsyncSession[FrontierGroupDispatchEvent, FrontierGroupDispatchDecision]: ...
    @overload
    async def open(
        self, policy: Literal["shadow-loader"], config: ShadowLoaderConfig | None = None,
        **options: Unpack[OpenOptions],
    ) -> AsyncSession[ShadowLoaderEvent, ShadowLoaderDecision]: ...
    @overload
    async def open(
        self, policy: Literal["environment-slots"], config: EnvironmentSlotsConfig | None = None,
        **options: Unpack[OpenOptions],
    ) -> AsyncSession[EnvironmentSlotsEvent, EnvironmentSlotsDecision]: ...
    @overload
    async def open(
        self, policy: Literal["program-scheduling"], config: ProgramSchedulingConfig | None = None,
        **options: Unpack[OpenOptions],
    ) -> AsyncSession[ProgramSchedulingEvent, ProgramSchedulingDecision]: ...
    @overload
    async def open(
        self, policy: Literal["staleness-pacing"], config: StalenessPacingConfig | None = None,
        **options: Unpack[OpenOptions],
    ) -> AsyncSession[StalenessPacingEvent, StalenessPacingDecision]: ...
    @overload
    async def open(
        self, policy: Literal["divided-rollout"], config: DividedRolloutConfig | None = None,
        **options: Unpack[OpenOptions],
    ) -> AsyncSession[DividedRolloutEvent, DividedRolloutDecision]: ...
    @overload
    async def open(
        self, policy: Literal["watchdog"], config: WatchdogConfig | None = None,
        **options: Unpack[OpenOptions],
    ) -> AsyncSession[WatchdogEvent, WatchdogDecision]: ...
    @overload
    async def open(
        self, policy: Literal["tail-batching"], config: TailBatchingConfig | None = None,
        **options: Unpack[OpenOptions],
    ) -> AsyncSession[TailBatchingEvent, TailBatchingDecision]: ...
    @overload
    async def open(
        self, policy: Literal["lossless-tail"], config: LosslessTailConfig | None = None,
        **options: Unpack[OpenOptions],
    ) -> AsyncSession[LosslessTailEvent, LosslessTailDecision]: ...
    @overload
    async def open(
        self, policy: Literal["agentic-rollout"], config: AgenticRolloutConfig | None = None,
        **options: Unpack[OpenOptions],
    ) -> AsyncSession[AgenticRolloutEvent, AgenticRolloutDecision]: ...
    @overload
    async def open(
        self, policy: Literal["rollpacker"], config: RollpackerConfig | None = None,
        **options: Unpack[OpenOptions],
    ) -> AsyncSession[RollpackerEvent, RollpackerDecision]: ...
    @overload
    async def open(
        self, policy: Literal["rolloutpipe"], config: RolloutpipeConfig | None = None,
        **options: Unpack[OpenOptions],
    ) -> AsyncSession[RolloutpipeEvent, RolloutpipeDecision]: ...
    @overload
    async def open(
        self, policy: Literal["tail-pipelining"], config: TailPipeliningConfig | None = None,
        **options: Unpack[OpenOptions],
    ) -> AsyncSession[TailPipeliningEvent, TailPipeliningDecision]: ...
    @overload
    async def open(
        self, policy: Literal["flexrl"], config: FlexrlConfig | None = None,
        **options: Unpack[OpenOptions],
    ) -> AsyncSession[FlexrlEvent, FlexrlDecision]: ...
    @overload
    async def open(
        self, policy: Untyped | None = None, config: Mapping[str, Any] | None = None,
        **options: Unpack[OpenOptions],
    ) -> AsyncSession[Any, Any]: ...
    async def open(self, policy: str | None = None, config: Any = None, **options: Any) -> Any:
        """
        Opens a session: a policy with its state.

        :param policy: id of the policy, ``Untyped(id)`` for one of your own; may be left out beside a snapshot
        :param config: its configuration; not beside a snapshot, which has its own
        :param options: see :class:`OpenOptions`
        """
        return await self._open(policy, {"config": config, **options})

    @overload
    async def plan(
        self, planner: Literal["judge-offload"], input: JudgeOffloadInput, *,
        deadline_seconds: float | None = None, timeout: float | None = None,
    ) -> JudgeOffloadPlan: ...
    @overload
    async def plan(
        self, planner: Literal["gradient-renormalization"], input: GradientRenormalizationInput, *,
        deadline_seconds: float | None = None, timeout: float | None = None,
    ) -> GradientRenormalizationPlan: ...
    @overload
    async def plan(
        self, planner: Literal["grpo-advantages"], input: GrpoAdvantagesInput, *,
        deadline_seconds: float | None = None, timeout: float | None = None,
    ) -> GrpoAdvantagesPlan: ...
    @overload
    async def plan(
        self, planner: Literal["flex-ulysses"], input: FlexUlyssesInput, *,
        deadline_seconds: float | None = None, timeout: float | None = None,
    ) -> FlexUlyssesPlan: ...
    @overload
    async def plan(
        self, planner: Literal["draft-budget"], input: DraftBudgetInput, *,
        deadline_seconds: float | None = None, timeout: float | None = None,
    ) -> DraftBudgetPlan: ...
    @overload
    async def plan(
        self, planner: Literal["micro-batches"], input: MicroBatchesInput, *,
        deadline_seconds: float | None = None, timeout: float | None = None,
    ) -> MicroBatchesPlan: ...
    @overload
    async def plan(
        self, planner: Untyped, input: Mapping[str, Any], *,
        deadline_seconds: float | None = None, timeout: float | None = None,
    ) -> Any: ...
    async def plan(
        self, planner: str, input: Any, *, deadline_seconds: float | None = None, timeout: float | None = None,
    ) -> Any:
        """
        The plan of a planner for an input.

        :param deadline_seconds: after these seconds a search ends with the best plan so far, and its ``cut`` says so
        :param timeout: seconds after which the caller waits no more, and gets no plan
        """
        return await self._plan(planner, input, deadline_seconds, timeout)

    async def _open(self, policy: str | None, options: dict[str, Any]) -> Any:
        raise NotImplementedError

    async def _plan(self, planner: str, input: Any, deadline: float | None, timeout: float | None) -> Any:
        raise NotImplementedError
