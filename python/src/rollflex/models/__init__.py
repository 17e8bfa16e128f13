# Generated from the schemas by `npm run docs:generate`: do not edit.
"""Types of everything that goes over the wire: events, decisions, configurations, snapshots, inputs and plans."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .objects import *
    from .events.chunks import *
    from .events.engines import *
    from .events.frontier import *
    from .events.gpus import *
    from .events.loading import *
    from .events.parallelism import *
    from .events.pipelining import *
    from .events.programs import *
    from .events.requests import *
    from .events.reward_workers import *
    from .events.rewards import *
    from .events.rounds import *
    from .events.sandbox import *
    from .events.session import *
    from .events.slots import *
    from .events.training import *
    from .decisions.chunks import *
    from .decisions.frontier import *
    from .decisions.gpus import *
    from .decisions.groups import *
    from .decisions.judge import *
    from .decisions.loading import *
    from .decisions.pacing import *
    from .decisions.parallelism import *
    from .decisions.pipelining import *
    from .decisions.programs import *
    from .decisions.prompts import *
    from .decisions.requests import *
    from .decisions.reward_workers import *
    from .decisions.rewards import *
    from .decisions.rounds import *
    from .decisions.sandbox import *
    from .decisions.selection import *
    from .decisions.session import *
    from .decisions.slots import *
    from .decisions.training import *
    from .decisions.tries import *
    from .policies.speculative_admission import *
    from .policies.long_prompt_queue import *
    from .policies.round_composition import *
    from .policies.prompt_selection import *
    from .policies.sandbox_timeout import *
    from .policies.reward_dispatch import *
    from .policies.group_assembly import *
    from .policies.stream_training import *
    from .policies.adaptive_tp import *
    from .policies.gpu_scale_down import *
    from .policies.complete_group_pipelining import *
    from .policies.frontier_group_dispatch import *
    from .policies.shadow_loader import *
    from .policies.environment_slots import *
    from .policies.program_scheduling import *
    from .policies.staleness_pacing import *
    from .policies.divided_rollout import *
    from .policies.watchdog import *
    from .policies.tail_batching import *
    from .policies.lossless_tail import *
    from .policies.agentic_rollout import *
    from .policies.rollpacker import *
    from .policies.rolloutpipe import *
    from .policies.tail_pipelining import *
    from .policies.flexrl import *
    from .planners.judge_offload import *
    from .planners.gradient_renormalization import *
    from .planners.grpo_advantages import *
    from .planners.flex_ulysses import *
    from .planners.draft_budget import *
    from .planners.micro_batches import *
    from .methods import *
else:
    # All of them at once would cost every program a tenth of a second.
    def __getattr__(name: str) -> Any:
        if name in _where:
            return getattr(import_module(f".{_where[name]}", __name__), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


_names = {
    "objects": """
        CountedResponse RewardedResponse KeptResponse Deferral DroppedResponse FinalResponse TimeoutEstimate
        TrainingShare PacedGroup RolloutWorkload ProfileConfiguration ProfileRow PromptChoice ReplicaGroup
        RunningRequest EnginePlace MicroBatch Migration LoaderNode TextSample GoneSample TensorShape FrameSlice
        ChunkRequest BatchSequence BatchAssignment BatchPack GpuServer Resolution LengthPolynomial LengthPoint Prompt
        FinalPrompt VisualSample
    """,
    "events.chunks": "ChunkFinished ChunksRequested RequestOpened",
    "events.engines": "EngineAdded EngineDrained EngineLost EngineReported EnginesChanged EnginesPlaced",
    "events.frontier": "RequestArrived",
    "events.gpus": "GpusReleaseFailed GpusReleased GpusReturned MigrationFailed ProgressReported RequestMigrated",
    "events.loading": """
        BatchReady BatchWithdrawn NodeAdded NodeLost PreprocessFailed SamplePreprocessed SamplesDrawn SliceFailed
        SliceMaterialized StepCompleted
    """,
    "events.parallelism": "KindTpFailed ProfileMeasured ProfileObserved StepFinished",
    "events.pipelining": "TrainerRestarted UpdateConsumed UpdateLost WeightsPublished",
    "events.programs": "ProgramClosed ProgramOpened ToolFinished ToolStarted TurnFinished TurnRequested",
    "events.requests": "RequestAborted RequestProgressed RequestStarted ResponseCompleted ResponseFailed",
    "events.reward_workers": """
        RewardWorkerAdded RewardWorkerDrained RewardWorkerLost RewardFinished RewardRequested RewardStarted
        RewardWithdrawn
    """,
    "events.rewards": "PromptJudged RewardReady",
    "events.rounds": "PromptsSupplied RoundFailed RoundOpened RoundRequested SourceExhausted SourceReopened",
    "events.sandbox": "SandboxCancelled SandboxFinished SandboxReportRequested SandboxRequested",
    "events.session": "HostDecided HostRestarted TimerFired",
    "events.slots": "SlotFailed SlotReady SlotReleased SlotRequested SlotsChanged",
    "events.training": """
        GroupCompleted GroupRejected OptimizerStepped ReplicaAdded ReplicaLost TrainConsumed TrainFinished
    """,
    "decisions.chunks": "ChunkAwaited ChunkContinue ChunkLate RequestEnded",
    "decisions.frontier": """
        FrontierResized FrontierStarved GroupLeft RequestAdmit RequestAwaited RequestDeferred RequestDropped
    """,
    "decisions.gpus": """
        GpusReclaim GpusRelease MigrationAbandoned MigrationCancel ProgressQuery RequestMigrate ScaleDownLate
        ScaleDownRejected
    """,
    "decisions.groups": "GroupRewarded GroupUnrewarded GroupWithdrawn RewardUnused RoundRewarded",
    "decisions.judge": "JudgePlace",
    "decisions.loading": """
        BatchAbandoned BatchMaterialized BatchRun PreprocessLate SampleDropped SampleEvict SampleMaterialize
        SamplePlaceholder SamplePrefetch SamplePreprocess SampleRegistered SampleReleased SampleUnplaced SliceLate
        StepResumed
    """,
    "decisions.pacing": "GroupDrop GroupLaunch TrainBatch",
    "decisions.parallelism": "KindTpKept KindTpSet ProfileMeasure RoundTpSet",
    "decisions.pipelining": "GroupTrainable PipelineMeasured TrainDispatch UpdateCancel WeightsPublish",
    "decisions.programs": """
        EngineFreed KvRetain ProgramAwaited ProgramEnded ProgramLate ProgramPause ProgramResume TurnRoute
    """,
    "decisions.prompts": """
        PromptCarried PromptCollected PromptCounted PromptDeferred PromptFailed PromptFiltered PromptMerged
        PromptReturned
    """,
    "decisions.requests": """
        RequestAbort RequestExpired RequestLaunch RequestResume ResponseAbandoned ResponseAccepted ResponseDropped
        ResponseLate ResponseSurplus
    """,
    "decisions.reward_workers": """
        RewardCancel RewardCancelled RewardDispatch RewardExpired RewardFailed RewardFailedReport RewardLate
        RewardMerged RewardScored RewardsResumed RewardsSaturated
    """,
    "decisions.rewards": "JudgementLate JudgementRequest RewardRequest",
    "decisions.rounds": """
        PromptsReleased PromptsRequest RoundCompleted RoundDrained RoundPlanned RoundResumed SourceDrained
        SpeculationChosen
    """,
    "decisions.sandbox": "SandboxLate SandboxReport SandboxRun SandboxScored SandboxUnscored",
    "decisions.selection": "EpochEnded PromptsPassed PromptsSelected",
    "decisions.session": "HostOwes RoundStalled TimerSet",
    "decisions.slots": """
        SlotAssign SlotDenied SlotExpired SlotLate SlotPrewarm SlotReclaim SlotsRecovered SlotsSuspended
    """,
    "decisions.training": """
        GradientScale GradientsDiscard GradientsOffload GradientsReload GroupLate GroupsDropped OptimizerStep
        ReferenceCompute RoundTrained TrainFetch TrainFinish TrainRequeued TrainingLate WeightsSwap
    """,
    "decisions.tries": "TriesRecovered TriesSuspended",
    "policies.speculative_admission": """
        SpeculativeAdmissionConfig SpeculativeAdmissionEvent SpeculativeAdmissionCommand SpeculativeAdmissionNotice
        SpeculativeAdmissionDecision SpeculativeAdmissionSnapshot
    """,
    "policies.long_prompt_queue": """
        LongPromptQueueConfig LongPromptQueueEvent LongPromptQueueCommand LongPromptQueueNotice LongPromptQueueDecision
        LongPromptQueueSnapshot
    """,
    "policies.round_composition": """
        RoundCompositionConfig RoundCompositionEvent RoundCompositionCommand RoundCompositionNotice
        RoundCompositionDecision RoundCompositionSnapshot
    """,
    "policies.prompt_selection": """
        PromptSelectionConfig PromptSelectionEvent PromptSelectionCommand PromptSelectionNotice PromptSelectionDecision
        PromptSelectionSnapshot
    """,
    "policies.sandbox_timeout": """
        SandboxTimeoutConfig SandboxTimeoutEvent SandboxTimeoutCommand SandboxTimeoutNotice SandboxTimeoutDecision
        SandboxTimeoutSnapshot
    """,
    "policies.reward_dispatch": """
        RewardDispatchConfig RewardDispatchEvent RewardDispatchCommand RewardDispatchNotice RewardDispatchDecision
        RewardDispatchSnapshot
    """,
    "policies.group_assembly": """
        GroupAssemblyConfig GroupAssemblyEvent GroupAssemblyCommand GroupAssemblyNotice GroupAssemblyDecision
        GroupAssemblySnapshot
    """,
    "policies.stream_training": """
        StreamTrainingConfig StreamTrainingEvent StreamTrainingCommand StreamTrainingNotice StreamTrainingDecision
        StreamTrainingSnapshot
    """,
    "policies.adaptive_tp": """
        AdaptiveTpConfig AdaptiveTpEvent AdaptiveTpCommand AdaptiveTpNotice AdaptiveTpDecision AdaptiveTpSnapshot
    """,
    "policies.gpu_scale_down": """
        GpuScaleDownConfig GpuScaleDownEvent GpuScaleDownCommand GpuScaleDownNotice GpuScaleDownDecision
        GpuScaleDownSnapshot
    """,
    "policies.complete_group_pipelining": """
        CompleteGroupPipeliningConfig CompleteGroupPipeliningEvent CompleteGroupPipeliningCommand
        CompleteGroupPipeliningNotice CompleteGroupPipeliningDecision CompleteGroupPipeliningSnapshot
    """,
    "policies.frontier_group_dispatch": """
        FrontierGroupDispatchConfig FrontierGroupDispatchEvent FrontierGroupDispatchCommand FrontierGroupDispatchNotice
        FrontierGroupDispatchDecision FrontierGroupDispatchSnapshot
    """,
    "policies.shadow_loader": """
        ShadowLoaderConfig ShadowLoaderEvent ShadowLoaderCommand ShadowLoaderNotice ShadowLoaderDecision
        ShadowLoaderSnapshot
    """,
    "policies.environment_slots": """
        EnvironmentSlotsConfig EnvironmentSlotsEvent EnvironmentSlotsCommand EnvironmentSlotsNotice
        EnvironmentSlotsDecision EnvironmentSlotsSnapshot
    """,
    "policies.program_scheduling": """
        ProgramSchedulingConfig ProgramSchedulingEvent ProgramSchedulingCommand ProgramSchedulingNotice
        ProgramSchedulingDecision ProgramSchedulingSnapshot
    """,
    "policies.staleness_pacing": """
        StalenessPacingConfig StalenessPacingEvent StalenessPacingCommand StalenessPacingNotice StalenessPacingDecision
        StalenessPacingSnapshot
    """,
    "policies.divided_rollout": """
        DividedRolloutConfig DividedRolloutEvent DividedRolloutCommand DividedRolloutNotice DividedRolloutDecision
        DividedRolloutSnapshot
    """,
    "policies.watchdog": """
        WatchdogConfig WatchdogEvent WatchdogCommand WatchdogNotice WatchdogDecision WatchdogSnapshot
    """,
    "policies.tail_batching": """
        TailBatchingConfig TailBatchingEvent TailBatchingCommand TailBatchingNotice TailBatchingDecision
        TailBatchingSnapshot
    """,
    "policies.lossless_tail": """
        LosslessTailConfig LosslessTailEvent LosslessTailCommand LosslessTailNotice LosslessTailDecision
        LosslessTailSnapshot
    """,
    "policies.agentic_rollout": """
        AgenticRolloutConfig AgenticRolloutEvent AgenticRolloutCommand AgenticRolloutNotice AgenticRolloutDecision
        AgenticRolloutSnapshot
    """,
    "policies.rollpacker": """
        RollpackerConfig RollpackerEvent RollpackerCommand RollpackerNotice RollpackerDecision RollpackerSnapshot
    """,
    "policies.rolloutpipe": """
        RolloutpipeConfig RolloutpipeEvent RolloutpipeCommand RolloutpipeNotice RolloutpipeDecision RolloutpipeSnapshot
    """,
    "policies.tail_pipelining": """
        TailPipeliningConfig TailPipeliningEvent TailPipeliningCommand TailPipeliningNotice TailPipeliningDecision
        TailPipeliningSnapshot
    """,
    "policies.flexrl": "FlexrlConfig FlexrlEvent FlexrlCommand FlexrlNotice FlexrlDecision FlexrlSnapshot",
    "planners.judge_offload": "JudgeOffloadInput JudgeOffloadPlan",
    "planners.gradient_renormalization": "GradientRenormalizationInput GradientRenormalizationPlan",
    "planners.grpo_advantages": "GrpoAdvantagesInput GrpoAdvantagesPlan",
    "planners.flex_ulysses": "FlexUlyssesInput FlexUlyssesPlan",
    "planners.draft_budget": "DraftBudgetInput DraftBudgetPlan",
    "planners.micro_batches": "MicroBatchesInput MicroBatchesPlan",
    "methods": """
        SessionOpenParams SessionOpenResult SessionSendParams SessionSendResult SessionMoreParams SessionMoreResult
        SessionSnapshotParams SessionSnapshotResult SessionWhyParams SessionCloseParams SessionCloseResult
        SessionListParams SessionListResult SessionSubscribeParams SessionSubscribeResult SessionAckParams
        SessionAckResult SessionUnsubscribeParams SessionUnsubscribeResult PlanParams PlanResult RpcDiscoverParams
        RpcDiscoverResult ServerInfoParams ServerInfoResult ServerAuthenticateParams ServerAuthenticateResult
        SessionDecisionParams SessionClosedParams SessionWhyResult SessionWhyAllResult
    """,
}
_where = {name: module for module, names in _names.items() for name in names.split()}
__all__ = [*_where]
