// Generated from the schemas by `npm run docs:generate`: do not edit.
/** Types of the vocabulary. */
import type {
  ChunkAwaited, ChunkContinue, ChunkFinished, ChunkLate, ChunksRequested, RequestEnded, RequestOpened,
} from './chunks.ts';
import type {
  EngineAdded, EngineDrained, EngineLost, EngineReported, EnginesChanged, EnginesPlaced,
} from './engines.ts';
import type {
  FrontierResized, FrontierStarved, GroupLeft, RequestAdmit, RequestArrived, RequestAwaited, RequestDeferred,
  RequestDropped,
} from './frontier.ts';
import type {
  GpusReclaim, GpusRelease, GpusReleased, GpusReleaseFailed, GpusReturned, MigrationAbandoned, MigrationCancel,
  MigrationFailed, ProgressQuery, ProgressReported, RequestMigrate, RequestMigrated, ScaleDownLate, ScaleDownRejected,
} from './gpus.ts';
import type { GroupRewarded, GroupUnrewarded, GroupWithdrawn, RewardUnused, RoundRewarded } from './groups.ts';
import type { JudgePlace } from './judge.ts';
import type {
  BatchAbandoned, BatchMaterialized, BatchReady, BatchRun, BatchWithdrawn, NodeAdded, NodeLost, PreprocessFailed,
  PreprocessLate, SampleDropped, SampleEvict, SampleMaterialize, SamplePlaceholder, SamplePrefetch, SamplePreprocess,
  SamplePreprocessed, SampleRegistered, SampleReleased, SamplesDrawn, SampleUnplaced, SliceFailed, SliceLate,
  SliceMaterialized, StepCompleted, StepResumed,
} from './loading.ts';
import type { GroupDrop, GroupLaunch, TrainBatch } from './pacing.ts';
import type {
  KindTpFailed, KindTpKept, KindTpSet, ProfileMeasure, ProfileMeasured, ProfileObserved, RoundTpSet, StepFinished,
} from './parallelism.ts';
import type {
  GroupTrainable, PipelineMeasured, TrainDispatch, TrainerRestarted, UpdateCancel, UpdateConsumed, UpdateLost,
  WeightsPublish, WeightsPublished,
} from './pipelining.ts';
import type {
  EngineFreed, KvRetain, ProgramAwaited, ProgramClosed, ProgramEnded, ProgramLate, ProgramOpened, ProgramPause,
  ProgramResume, ToolFinished, ToolStarted, TurnFinished, TurnRequested, TurnRoute,
} from './programs.ts';
import type {
  PromptCarried, PromptCollected, PromptCounted, PromptDeferred, PromptFailed, PromptFiltered, PromptMerged,
  PromptReturned,
} from './prompts.ts';
import type {
  RequestAbort, RequestAborted, RequestExpired, RequestLaunch, RequestProgressed, RequestResume, RequestStarted,
  ResponseAbandoned, ResponseAccepted, ResponseCompleted, ResponseDropped, ResponseFailed, ResponseLate,
  ResponseSurplus,
} from './requests.ts';
import type {
  RewardCancel, RewardCancelled, RewardDispatch, RewardExpired, RewardFailed, RewardFinished, RewardLate, RewardMerged,
  RewardRequested, RewardScored, RewardStarted, RewardsResumed, RewardsSaturated, RewardWithdrawn, RewardWorkerAdded,
  RewardWorkerDrained, RewardWorkerLost,
} from './reward-workers.ts';
import type { JudgementLate, JudgementRequest, PromptJudged, RewardReady, RewardRequest } from './rewards.ts';
import type {
  PromptsReleased, PromptsRequest, PromptsSupplied, RoundCompleted, RoundDrained, RoundFailed, RoundOpened,
  RoundPlanned, RoundRequested, RoundResumed, SourceDrained, SourceExhausted, SourceReopened, SpeculationChosen,
} from './rounds.ts';
import type {
  SandboxCancelled, SandboxFinished, SandboxLate, SandboxReport, SandboxReportRequested, SandboxRequested, SandboxRun,
  SandboxScored, SandboxUnscored,
} from './sandbox.ts';
import type { EpochEnded, PromptsPassed, PromptsSelected } from './selection.ts';
import type { HostDecided, HostOwes, HostRestarted, RoundStalled, TimerFired, TimerSet } from './session.ts';
import type {
  SlotAssign, SlotDenied, SlotExpired, SlotFailed, SlotLate, SlotPrewarm, SlotReady, SlotReclaim, SlotReleased,
  SlotRequested, SlotsChanged, SlotsRecovered, SlotsSuspended,
} from './slots.ts';
import type {
  GradientScale, GradientsDiscard, GradientsOffload, GradientsReload, GroupCompleted, GroupLate, GroupRejected,
  GroupsDropped, OptimizerStep, OptimizerStepped, ReferenceCompute, ReplicaAdded, ReplicaLost, RoundTrained,
  TrainConsumed, TrainFetch, TrainFinish, TrainFinished, TrainingLate, TrainRequeued, WeightsSwap,
} from './training.ts';
import type { TriesRecovered, TriesSuspended } from './tries.ts';

export type * from './chunks.ts';
export type * from './engines.ts';
export type * from './frontier.ts';
export type * from './gpus.ts';
export type * from './groups.ts';
export type * from './judge.ts';
export type * from './loading.ts';
export type * from './objects.ts';
export type * from './pacing.ts';
export type * from './parallelism.ts';
export type * from './pipelining.ts';
export type * from './programs.ts';
export type * from './prompts.ts';
export type * from './requests.ts';
export type * from './reward-workers.ts';
export type * from './rewards.ts';
export type * from './rounds.ts';
export type * from './sandbox.ts';
export type * from './selection.ts';
export type * from './session.ts';
export type * from './slots.ts';
export type * from './training.ts';
export type * from './tries.ts';

/** Every event and decision of the vocabulary, by its name. */
export interface Messages {
  /** A batch is given up before all of its slices were fetched. */
  'batch.abandoned': BatchAbandoned;
  /** Every rank has the frames that it needs for a batch, but for those of samples that were dropped. */
  'batch.materialized': BatchMaterialized;
  /** The sequences of a batch are known: it can be planned. */
  'batch.ready': BatchReady;
  /** Run the batch like this: each sequence on its ranks. */
  'batch.run': BatchRun;
  /** A batch will not be run: what its ranks do not have yet is not needed. Of one that is over nothing changes. */
  'batch.withdrawn': BatchWithdrawn;
  /** After a restart of the host: this request was opened and has not asked for a chunk; its `chunks.requested` is awaited. */
  'chunk.awaited': ChunkAwaited;
  /** Generate the next chunk of this response on this engine, up to so many tokens. A host that has lost earlier chunks asks again by `chunks.requested`. */
  'chunk.continue': ChunkContinue;
  /** A chunk has been generated, and the response is not over. If it is over, `response.completed` says so instead. */
  'chunk.finished': ChunkFinished;
  /** A report about a request that is over, or about a chunk that is not running: nothing changes. */
  'chunk.late': ChunkLate;
  /** These requests need engines for their next chunks. All of a round in one event, so that the longest can be first. A request that asks again goes on from what this event says. */
  'chunks.requested': ChunksRequested;
  /** An inference engine takes requests. May be repeated. */
  'engine.added': EngineAdded;
  /** An engine finishes what it has and takes nothing new. */
  'engine.drained': EngineDrained;
  /** The programs that are left need this engine no more, and it runs no turn: a host that sends `engine.drained` may use it for something else. It holds until a `turn.route` names the engine. */
  'engine.freed': EngineFreed;
  /** An engine is gone, with all requests that ran on it: they need no reports of their own. */
  'engine.lost': EngineLost;
  /** How much an engine has to do, as it tells itself, such as in its metrics. */
  'engine.reported': EngineReported;
  /** From now on these engines take requests, and no others: those that are not named finish what they have. */
  'engines.changed': EnginesChanged;
  /** From now on these engines roll out, all of them up, on these GPUs; what was said of engines before is replaced. */
  'engines.placed': EnginesPlaced;
  /** All prompts of the data were offered once: what was taken, and what was passed over. */
  'epoch.ended': EpochEnded;
  /** From now on at most this many groups are in service; those that are stay. */
  'frontier.resized': FrontierResized;
  /** The trainer waits while groups are deferred: the frontier is too narrow for it. */
  'frontier.starved': FrontierStarved;
  /** Give the GPUs back to rollout as soon as no training of the round needs them; answer with `gpus.returned`. */
  'gpus.reclaim': GpusReclaim;
  /** Stop rollout on these engines, move their requests as listed (tokens kept, KV recomputed), report each with `request.migrated` or `migration.failed`, then answer with `gpus.released` or `gpus.release.failed`. */
  'gpus.release': GpusRelease;
  /** The GPUs could not be released; requests that have moved stay where they are now. */
  'gpus.release.failed': GpusReleaseFailed;
  /** These GPUs have left the rollout of the round and may train. May be repeated. */
  'gpus.released': GpusReleased;
  /** These GPUs belong to the rollout again. May be repeated. */
  'gpus.returned': GpusReturned;
  /** Multiply the accumulated gradients of the replica by this factor, before they are synchronised. */
  'gradient.scale': GradientScale;
  /** Stop what the replica computes, and drop the gradients that it has accumulated. */
  'gradients.discard': GradientsDiscard;
  /** Move the accumulated gradients of the replica to host memory. */
  'gradients.offload': GradientsOffload;
  /** Bring the accumulated gradients of the replica back into GPU memory. */
  'gradients.reload': GradientsReload;
  /** A group has all its responses, rewards and advantages and counts for the round. */
  'group.completed': GroupCompleted;
  /** Give this group up: stop what generates it, and discard what it has. Only after the weights have advanced by more than a version. */
  'group.drop': GroupDrop;
  /** A completed group that is here already, or of a round that trains on others: it is not trained. */
  'group.late': GroupLate;
  /** Generate all responses of a group, and answer `group.completed`, or `group.rejected`. */
  'group.launch': GroupLaunch;
  /** Nothing of a group runs or waits any more: its slot is free. */
  'group.left': GroupLeft;
  /** A group that was launched does not train: a filter rejects it, or it has failed for good. Another one takes its place. */
  'group.rejected': GroupRejected;
  /** Every response of a prompt that counts has its reward, or will never have one: the group can train. */
  'group.rewarded': GroupRewarded;
  /** A group is complete, with statistics and advantages: it waits for its update. */
  'group.trainable': GroupTrainable;
  /** No response of a prompt was completed, or gets a reward: the round trains without it. */
  'group.unrewarded': GroupUnrewarded;
  /** A prompt that counted, or was launched, does not train after all. */
  'group.withdrawn': GroupWithdrawn;
  /** Completed groups that are not trained. */
  'groups.dropped': GroupsDropped;
  /** What the host of a session in shadow mode has decided by itself; the session takes it, not its policy. */
  'host.decided': HostDecided;
  /** An answer is overdue. It is said once, until the answer comes or something comes again from where it was silent. */
  'host.owes': HostOwes;
  /** The host has restarted: all that was in flight is gone. No retry budget is charged. */
  'host.restarted': HostRestarted;
  /** Lay the layers of the judge out like this, before it is given anything longer than the plan before was for. */
  'judge.place': JudgePlace;
  /** A judgement of a prompt that is not waiting for one any more: nothing changes. */
  'judgement.late': JudgementLate;
  /** Judge a collected prompt by `prompt.judged`: the judgement is needed, and did not come unasked. */
  'judgement.request': JudgementRequest;
  /** A `kind-tp.set` could not be carried out. */
  'kind-tp.failed': KindTpFailed;
  /** The parallelism of this kind of round stays as it is. */
  'kind-tp.kept': KindTpKept;
  /** Run rounds of this kind with these replicas, from the next one on; what runs now is not touched. */
  'kind-tp.set': KindTpSet;
  /** Keep the cache of this program on this engine for so long after its tool has started. */
  'kv.retain': KvRetain;
  /** A request could not be moved from GPUs that have been released: it runs nowhere and has failed (infrastructure). */
  'migration.abandoned': MigrationAbandoned;
  /** Do not let this request go on at the engine that it moves to, and stop it there if it does: it has ended. */
  'migration.cancel': MigrationCancel;
  /** A request could not be moved; it is where it was, or nowhere. */
  'migration.failed': MigrationFailed;
  /** A node preprocesses samples; one that was lost holds nothing now. May be repeated, to change what it says. */
  'node.added': NodeAdded;
  /** The preprocessor of a node is gone, with all that it held. Ranks keep what they have. May be repeated. */
  'node.lost': NodeLost;
  /** Synchronise the scaled gradients over these replicas, step once, and answer `optimizer.stepped`. */
  'optimizer.step': OptimizerStep;
  /** The optimizer has stepped on the gradients of the round, or of one of its updates. */
  'optimizer.stepped': OptimizerStepped;
  /** How well the trainer was fed in the round: times from the opening of the round, and waiting ratios. */
  'pipeline.measured': PipelineMeasured;
  /** A node could not preprocess a sample, and holds nothing of it. */
  'preprocess.failed': PreprocessFailed;
  /** A report about a try that is over or was given up: nothing changes. */
  'preprocess.late': PreprocessLate;
  /** Measure these points and answer with `profile.measured`; asked for again while observations stay far off. */
  'profile.measure': ProfileMeasure;
  /** Rows of the profile that were measured: new ones, and ones that replace what was known of the same point. */
  'profile.measured': ProfileMeasured;
  /** What a decode step took in a rollout, to be held against the profile. */
  'profile.observed': ProfileObserved;
  /** After a restart of the host: this program goes on where its last finished turn has ended, and its next report is awaited. */
  'program.awaited': ProgramAwaited;
  /** A program is over, however it has ended: it needs no engine any more. */
  'program.closed': ProgramClosed;
  /** A program was closed: nothing of it is kept. */
  'program.ended': ProgramEnded;
  /** A report about a program that is over, or about a turn or a tool that is not running: nothing changes. */
  'program.late': ProgramLate;
  /** A program has begun: the trajectory of one request, in turns. A host without an admission gives it an id of its own. */
  'program.opened': ProgramOpened;
  /** Keep this program from engines until it is resumed; its cache may be freed. */
  'program.pause': ProgramPause;
  /** This program runs again: its next turn is routed when it asks for it, or now if it has asked. */
  'program.resume': ProgramResume;
  /** Report all requests in flight with `progress.reported`. */
  'progress.query': ProgressQuery;
  /** The answer to a `progress.query`: every request that is running or waiting on an engine, once. */
  'progress.reported': ProgressReported;
  /** An unfinished prompt goes on running into the next round (`maxStaleness` above 0). */
  'prompt.carried': PromptCarried;
  /** A prompt has its R0 responses. */
  'prompt.collected': PromptCollected;
  /** A prompt counts for the round. */
  'prompt.counted': PromptCounted;
  /** An unfinished prompt leaves the round. `long-prompt-queue`, and recipes with it such as `tail-batching`, keep it for a later round. */
  'prompt.deferred': PromptDeferred;
  /** A prompt has used up its retries: it leaves the round for good, and another prompt takes its place. */
  'prompt.failed': PromptFailed;
  /** A collected prompt did not pass the filter: it leaves, is not deferred, and is replaced. */
  'prompt.filtered': PromptFiltered;
  /** The host has judged a collected prompt (filter `host`). */
  'prompt.judged': PromptJudged;
  /** A prompt that is here already was supplied again: one of the two is dropped. */
  'prompt.merged': PromptMerged;
  /** A prompt that was not started, or whose round has failed or is over, leaves the round as it came. `long-prompt-queue`, and recipes with it such as `tail-batching`, keep it for a later round: do not supply it again. */
  'prompt.returned': PromptReturned;
  /** These prompts are not rolled out now: offer them again in the next epoch. */
  'prompts.passed': PromptsPassed;
  /** Queued prompts join the open round, because the source has no others for it. Those that it does not start come back. */
  'prompts.released': PromptsReleased;
  /** Supply this many prompts, in portions of any size. */
  'prompts.request': PromptsRequest;
  /** Roll out these prompts, each with so many responses. */
  'prompts.selected': PromptsSelected;
  /** Prompts that `prompts.request` asked for, in portions of any size. */
  'prompts.supplied': PromptsSupplied;
  /** Compute the reference logits of the groups that the replica trains next. */
  'reference.compute': ReferenceCompute;
  /** A training replica is there again, without gradients. May be repeated. */
  'replica.added': ReplicaAdded;
  /** A training replica is gone, with the gradients that it had accumulated. May be repeated. */
  'replica.lost': ReplicaLost;
  /** Stop generating this response and confirm with `request.aborted`. */
  'request.abort': RequestAbort;
  /** The engine confirms that a request has ended early. */
  'request.aborted': RequestAborted;
  /** Let this request into an engine. */
  'request.admit': RequestAdmit;
  /** A request is ready for an engine and waits until it is admitted. */
  'request.arrived': RequestArrived;
  /** A group waits for a request that is not here: bring it by `request.arrived`. */
  'request.awaited': RequestAwaited;
  /** A request waits, since its group is not in the frontier. */
  'request.deferred': RequestDeferred;
  /** A request is given up before it has ended; what comes of it later is late. */
  'request.dropped': RequestDropped;
  /** A request that was generated in chunks is over: nothing of it is kept. */
  'request.ended': RequestEnded;
  /** An abort was never confirmed; its engine slot counts as free. */
  'request.expired': RequestExpired;
  /** Start generating one response. */
  'request.launch': RequestLaunch;
  /** Move this request to another engine than was tried before; report as for `gpus.release`. */
  'request.migrate': RequestMigrate;
  /** A request has left its engine and goes on, with its tokens, on the one that it was sent to. */
  'request.migrated': RequestMigrated;
  /** A response is to be generated in chunks. A host without an admission gives the request an id of its own. */
  'request.opened': RequestOpened;
  /** A request has generated tokens since the last such report, as a host may tell that limits the time of responses: a response that goes on is no hang. */
  'request.progressed': RequestProgressed;
  /** Go on generating a trajectory: its tool has answered, or the host has restarted. Then it goes on where its last finished turn has ended, or from its prompt if the host has not kept it. */
  'request.resume': RequestResume;
  /** A request runs on this engine. Needed where the host places requests, so that `engine.lost` finds them. */
  'request.started': RequestStarted;
  /** A response has used up its retries and is not tried again; its prompt goes on with the others. */
  'response.abandoned': ResponseAbandoned;
  /** A completed response is held for its prompt. */
  'response.accepted': ResponseAccepted;
  /** A request has generated its whole response. */
  'response.completed': ResponseCompleted;
  /** A complete response, or one whose tokens were kept, is given up. */
  'response.dropped': ResponseDropped;
  /** A request has failed and generates no more. */
  'response.failed': ResponseFailed;
  /** A report about a request that is over, or a reward that its round did not wait for: nothing changes. */
  'response.late': ResponseLate;
  /** A completed response is not needed any more. */
  'response.surplus': ResponseSurplus;
  /** A reward worker takes dispatches. May be repeated, to change its slots or after a drain. */
  'reward-worker.added': RewardWorkerAdded;
  /** A reward worker finishes what it has and takes nothing new. */
  'reward-worker.drained': RewardWorkerDrained;
  /** A reward worker is gone, with all that ran on it. */
  'reward-worker.lost': RewardWorkerLost;
  /** Stop this dispatch and confirm with `reward.finished`; nothing waits for it but its slot. */
  'reward.cancel': RewardCancel;
  /** The reward of a response is not needed any more, and is not computed. */
  'reward.cancelled': RewardCancelled;
  /** Compute the reward of this response on this worker, and stop it after this time. */
  'reward.dispatch': RewardDispatch;
  /** A cancellation was never confirmed; its slot counts as free. */
  'reward.expired': RewardExpired;
  /** A response gets no reward: its tries are used up, or the host cannot compute it, and sends this as an event, without a reason. Where a round waits for the reward, the response is given up, and another takes its place. */
  'reward.failed': RewardFailed;
  /** A worker has ended a dispatch. */
  'reward.finished': RewardFinished;
  /** A report about a dispatch that is over or was cancelled: it changes nothing for the response. */
  'reward.late': RewardLate;
  /** A reward that is being computed was asked for again: one is computed for both. */
  'reward.merged': RewardMerged;
  /** The reward of a completed response is known: send it unasked. A round waits for rewards only where its filter reads them; `group-assembly` waits for all. */
  'reward.ready': RewardReady;
  /** Send the reward of a completed response by `reward.ready`: it is needed, and did not come unasked. */
  'reward.request': RewardRequest;
  /** The reward of a completed response is wanted. */
  'reward.requested': RewardRequested;
  /** The reward of a response is known: its number is what `reward.ready` takes. */
  'reward.scored': RewardScored;
  /** A worker has begun to compute: its budget runs from now, not from the dispatch. */
  'reward.started': RewardStarted;
  /** A reward of a response that nobody waits for: it has one, it has left, or it is not known. */
  'reward.unused': RewardUnused;
  /** The reward of a response is not needed any more. Of one that is over, or was never wanted, nothing changes. */
  'reward.withdrawn': RewardWithdrawn;
  /** The queue of this kind is short again. */
  'rewards.resumed': RewardsResumed;
  /** Rewards of this kind are asked for faster than they are computed: hold back what leads to more of them. */
  'rewards.saturated': RewardsSaturated;
  /** Run this round with these replicas: change the engines, where they differ, before its requests are launched. */
  'round-tp.set': RoundTpSet;
  /** The round has all that it trains on: the responses named here, and no others. Its reason says why they may be fewer than planned, or none. */
  'round.completed': RoundCompleted;
  /** Nothing of the round is in flight any more: the weights may be updated. */
  'round.drained': RoundDrained;
  /** The open round is given up by the host: nothing of it was trained. */
  'round.failed': RoundFailed;
  /** A rollout round begins with these prompts; what is missing is asked for. */
  'round.opened': RoundOpened;
  /** What the next round is: its kind, and the queued prompts that it begins with. */
  'round.planned': RoundPlanned;
  /** The host is ready to begin a rollout round: engines are known where the policy places requests, and the last round has drained. */
  'round.requested': RoundRequested;
  /** A round was open when the host restarted, and is open still: it waits to be ended, or to be given up by `round.failed`. */
  'round.resumed': RoundResumed;
  /** The round is complete and every response of it has its reward, or will never have one. */
  'round.rewarded': RoundRewarded;
  /** Work goes on and gains nothing: prompts, or groups, are filtered, and none counts. Nobody owes anything. It is said once, until one counts. */
  'round.stalled': RoundStalled;
  /** Every group of the round is in one optimizer step, each in one, and the weights are new. */
  'round.trained': RoundTrained;
  /** A sample is given up: no batch gets more of it. */
  'sample.dropped': SampleDropped;
  /** Stop preprocessing this sample on this node, and free its host memory. */
  'sample.evict': SampleEvict;
  /** Fetch these frames from the host memory of this node to this rank, beside its computation, and answer with `slice.materialized` or `slice.failed`. A rank that has the slice answers at once. */
  'sample.materialize': SampleMaterialize;
  /** Let shapes without data stand for the tensors of a sample on the controller. */
  'sample.placeholder': SamplePlaceholder;
  /** The same as `sample.preprocess`, for a later step: it may give way to what is needed now. */
  'sample.prefetch': SamplePrefetch;
  /** Preprocess this sample on this node, hold the tensors in host memory, and answer with `sample.preprocessed` or `preprocess.failed`. A node carries out its commands in their order. */
  'sample.preprocess': SamplePreprocess;
  /** A node has preprocessed a sample, and holds its tensors in host memory. */
  'sample.preprocessed': SamplePreprocessed;
  /** The tensors of a sample are in the host memory of this node. */
  'sample.registered': SampleRegistered;
  /** A sample is not needed any more, and nothing of it is in host memory. */
  'sample.released': SampleReleased;
  /** No node that is here could hold this sample, but one that was lost could: it waits for a node of its size, and holds up no other. */
  'sample.unplaced': SampleUnplaced;
  /** Samples were drawn for a step: metadata only. May be repeated for further samples of the step. */
  'samples.drawn': SamplesDrawn;
  /** The host has given up a run: nobody needs it. */
  'sandbox.cancelled': SandboxCancelled;
  /** A run has ended. */
  'sandbox.finished': SandboxFinished;
  /** A report about a run that is over: nothing changes. */
  'sandbox.late': SandboxLate;
  /** What other timeouts would have cost and saved, from the runs that are remembered. */
  'sandbox.report': SandboxReport;
  /** The host asks what other timeouts would have cost and saved. */
  'sandbox.report.requested': SandboxReportRequested;
  /** A test case is to be run in a sandbox. */
  'sandbox.requested': SandboxRequested;
  /** Run the code, and stop it after this time. */
  'sandbox.run': SandboxRun;
  /** A run has ended and scores. */
  'sandbox.scored': SandboxScored;
  /** A run has ended without a score, through no fault of the code: it may be run again, as a new run. */
  'sandbox.unscored': SandboxUnscored;
  /** A report about something that is over: nothing changes. */
  'scale-down.late': ScaleDownLate;
  /** No GPUs are released at this milestone; the next one tries again. */
  'scale-down.rejected': ScaleDownRejected;
  /** A rank could not fetch a slice. */
  'slice.failed': SliceFailed;
  /** A report about a slice that the rank has, that nobody needs any more, or of an earlier try: nothing changes. */
  'slice.late': SliceLate;
  /** A rank has the frames of a slice. */
  'slice.materialized': SliceMaterialized;
  /** Give this environment to this program, which keeps it until `program.closed`. */
  'slot.assign': SlotAssign;
  /** A program that has asked for an environment gets none: it may ask again. */
  'slot.denied': SlotDenied;
  /** The end of an environment was not confirmed in time: its place counts as free. */
  'slot.expired': SlotExpired;
  /** An environment did not start, or has broken, and is gone: through no fault of the code in it. */
  'slot.failed': SlotFailed;
  /** A report about an environment that is gone: nothing changes. */
  'slot.late': SlotLate;
  /** Start an environment of this kind, and report `slot.ready` or `slot.failed`. */
  'slot.prewarm': SlotPrewarm;
  /** An environment has started, or was reset after its program, and can be given to a program. */
  'slot.ready': SlotReady;
  /** End this environment, or reset it for another program: report `slot.released` or `slot.ready`. A program that it still has fails. */
  'slot.reclaim': SlotReclaim;
  /** An environment has ended, and its place is free. */
  'slot.released': SlotReleased;
  /** A program needs an environment before it can go on. */
  'slot.requested': SlotRequested;
  /** From now on so many environments of this kind may exist at once; those above it end with their programs. */
  'slots.changed': SlotsChanged;
  /** Environments of a kind that was suspended are started again as needed. */
  'slots.recovered': SlotsRecovered;
  /** Environments of this kind fail one after the other: none is started until a trial succeeds. */
  'slots.suspended': SlotsSuspended;
  /** Answers `round.requested` where no prompt is left: no round with this id begins, so that no `round.drained` follows. */
  'source.drained': SourceDrained;
  /** The data source has no more prompts, for good or until `source.reopened`. */
  'source.exhausted': SourceExhausted;
  /** The data source has prompts again (a new epoch). */
  'source.reopened': SourceReopened;
  /** The speculation factor that the next rounds use (`speculation: auto`). */
  'speculation.chosen': SpeculationChosen;
  /** A training step is over: no further batch uses its samples. May be repeated. */
  'step.completed': StepCompleted;
  /** The rollout of a round has ended. */
  'step.finished': StepFinished;
  /** A training step was open when the host restarted, and is open still: batches are to be planned anew, then it is to be completed. */
  'step.resumed': StepResumed;
  /** A timer that a `timer.set` asked for has run out. */
  'timer.fired': TimerFired;
  /** Answer with `timer.fired` at this time, not before it; a later `timer.set` with the same id replaces it. */
  'timer.set': TimerSet;
  /** The tool has answered, and the trajectory may go on. */
  'tool.finished': ToolFinished;
  /** A trajectory waits for a tool, or for several at once, and needs no engine meanwhile. */
  'tool.started': ToolStarted;
  /** Train on these groups, bring the weights that come of it to the engines, and answer `weights.published`. The same id again is the same batch: do not train on it twice. */
  'train.batch': TrainBatch;
  /** A replica has accumulated the gradients of a `train.fetch`. */
  'train.consumed': TrainConsumed;
  /** Accumulate the gradients of this update, after the optimizer has stepped on the one before, and answer `update.consumed`. */
  'train.dispatch': TrainDispatch;
  /** Add the gradients of these groups to those of the replica, without synchronising them, and answer `train.consumed`. */
  'train.fetch': TrainFetch;
  /** Train what remains of the round, each replica its share, and answer `train.finished` for each share. */
  'train.finish': TrainFinish;
  /** A replica has accumulated the gradients of its share of a `train.finish`. */
  'train.finished': TrainFinished;
  /** Groups are to be trained again: their gradients are gone, or were never made. */
  'train.requeued': TrainRequeued;
  /** The trainer is there again, without gradients, and with the weights of an earlier moment of the round. */
  'trainer.restarted': TrainerRestarted;
  /** A report that is repeated, or about a fetch, an update, a publication, a release or a round that is over: nothing changes. */
  'training.late': TrainingLate;
  /** Tries in a domain that was suspended are made as usual again. */
  'tries.recovered': TriesRecovered;
  /** Tries of different items fail one after the other in this domain: from now on there are only single tries, until one succeeds. No item is charged with what fails meanwhile. With the scope `prompt`, no more prompts are asked for. */
  'tries.suspended': TriesSuspended;
  /** A turn of a multi-turn trajectory has been generated. */
  'turn.finished': TurnFinished;
  /** A program needs an engine for its next turn. If it asks again before the turn has finished, the turn runs anew. */
  'turn.requested': TurnRequested;
  /** Run the turn of this program on this engine. */
  'turn.route': TurnRoute;
  /** Stop these updates, and drop the gradients that they have accumulated: their round is given up. */
  'update.cancel': UpdateCancel;
  /** The trainer has accumulated the gradients of these groups of a `train.dispatch`; in one report or in several. */
  'update.consumed': UpdateConsumed;
  /** No gradient of a `train.dispatch` is there: it never arrived, failed, or its step failed. */
  'update.lost': UpdateLost;
  /** Export the weights of the trainer to the rollout engines, and answer `weights.published`. */
  'weights.publish': WeightsPublish;
  /** The rollout engines have the weights that a `weights.publish` asked for, or that came of a `train.batch`. */
  'weights.published': WeightsPublished;
  /** Put these weights on the GPUs of the replica, in place of the others. */
  'weights.swap': WeightsSwap;
}
