/** The simulator without the modules that write files: it also runs in a browser, where `rollflex/sim` resolves to this module. */

export { type AdviceOptions, advise } from './advise/advise.ts';
export {
  type AdviseQuestion,
  type AdviseRun,
  type AdviseTask,
  type AdviseWork,
  adviseEvaluator,
  advising,
} from './advise/advising.ts';
export type { Answer, Paid, WaitingShares } from './advise/answer.ts';
export type { Returning, ReturningVerdict } from './advise/returning.ts';
export type { Selecting } from './advise/selecting.ts';
export {
  type Chosen,
  type ChosenWindow,
  type TrainerFacts,
  type TrainerId,
  trainerIds,
  trainerOf,
} from './advise/trainers.ts';
export { type AgenticRunOptions, simulateAgentic } from './agentic/driver.ts';
export type { EngineLoss } from './agentic/engines.ts';
export {
  type AgenticPreset,
  type AgenticPresetId,
  agenticPreset,
  agenticPresetIds,
  presetWorkload,
  tauAirlineJob,
  tauAirlineSeconds,
} from './agentic/presets.ts';
export type * from './agentic/result.ts';
export { agenticRules } from './agentic/rules/index.ts';
export { consistentHash, dualThreshold, leastInFlight, margin } from './agentic/rules/static.ts';
export { type ThunderAgentSettings, thunderAgent } from './agentic/rules/thunder-agent.ts';
export {
  type AgenticScheduler,
  programScheduler,
  type RoutedTurn,
  type RuleEngine,
  ruleScheduler,
  type TurnRule,
} from './agentic/scheduler.ts';
export { type AgenticJob, type AgenticJobInput, defineAgenticJob } from './agentic/settings.ts';
export { type AgenticShape, agenticWorkload, type Spread, type ToolShape } from './agentic/shape.ts';
export { type TracedAgenticOptions, tracedAgenticWorkload } from './agentic/traced.ts';
export type { AgenticProgram, AgenticTurn, AgenticWorkload } from './agentic/workload.ts';
export { clairvoyantLowerBound, type FixedPrompt, type LowerBound } from './bounds/lower-bound.ts';
export { type OracleOptions, type OracleSchedule, oracleSchedule } from './bounds/oracle.ts';
export { calibrateJob, type MeasuredRollout } from './calibration/calibrate.ts';
export type { DecodePoint, DecodePointInput } from './calibration/decode-point.ts';
export { calibrate } from './calibration/fit.ts';
export type { MachineFactors } from './calibration/machine.ts';
export { calibrationFileSchema, type MeasuredStep } from './calibration/measured.ts';
export { type CalibratedPoint, calibrateOnSite, type OnSiteCalibration } from './calibration/on-site.ts';
export type { CalibratedStep, Calibration, FittedSeconds } from './calibration/result.ts';
export type { DrivenPolicy } from './cluster/event-loop.ts';
export type { Hardware } from './cluster/hardware.ts';
export type { ChunkCosts } from './cluster/machines/divided.ts';
export {
  ablation,
  type BatchFactors,
  type RollpackerSwitches,
  rollpackerConfigOf,
  rollpackerScheduler,
  usualSchedulers,
  variants,
} from './colocated/ablation.ts';
export { basisLine, basisOf, type JobBasis } from './colocated/basis.ts';
export { type RunOptions, simulate } from './colocated/driver.ts';
export { defineJob, type Job, type JobInput } from './colocated/job.ts';
export { oneStepOffAblation, withOneStepOff } from './colocated/one-step-off.ts';
export { type PolicySchedulerOptions, policyScheduler } from './colocated/policy-scheduler.ts';
export {
  type BatchShape,
  dividedSettingsOf,
  type LosslessTailSettings,
  losslessTailScheduler,
  type NextRound,
  type OpeningEvent,
  type Scheduler,
  synchronousBaseline,
  type TailSettings,
  tailBatchingScheduler,
} from './colocated/scheduler.ts';
export { compare, comparing } from './comparison/compare.ts';
export { type CompareOptions, type CompareProgress, usualRuns } from './comparison/compare-options.ts';
export type * from './comparison/result.ts';
export { type BootstrapOptions, bootstrap } from './comparison/statistics.ts';
export type { PrefixCache, Scheduling } from './engine/batch-scheduler.ts';
export {
  DecodeEngine,
  type EngineLoad,
  type EngineRequest,
  type LostRequest,
  type Outcome,
} from './engine/decode-engine.ts';
export type { EngineStretch } from './engine/timeline.ts';
export type { TpWorth } from './log-report/adaptive-tp.ts';
export type { ScaleDownWorth } from './log-report/gpu-scale-down.ts';
export type { ShadowCounts, ShadowDifference } from './log-report/pairs.ts';
export { type ShadowReport, type ShadowSession, shadowReport } from './log-report/report.ts';
export type { TimeoutWorth } from './log-report/sandbox-timeout.ts';
export {
  baseSeconds,
  type CostModel,
  costModelSchema,
  deriveCostModel,
  type EngineShape,
} from './models/cost-model.ts';
export { type DraftSettings, draftSettings, eagleDrafts } from './models/draft-settings.ts';
export { withJudge } from './models/judge-preset.ts';
export { type JobPreset, type JobPresetId, jobPreset, jobPresetIds, rollpackerWorkload } from './models/presets.ts';
export { comparePools, type PoolsCompareOptions, poolsSchedulers, poolsTailSchedulers } from './pools/compare.ts';
export { type PoolsRunOptions, simulatePools } from './pools/driver.ts';
export {
  type PoolsTaskId,
  poolsTaskIds,
  reproducingWidth,
  rolloutpipeJob,
  rolloutpipeWorkload,
} from './pools/presets.ts';
export type * from './pools/result.ts';
export {
  cgpScheduler,
  type FrontierWidth,
  fgdScheduler,
  type PoolsScheduler,
  type PoolsTailSettings,
  poolsTailScheduler,
  rolloutpipeScheduler,
  serialBaseline,
} from './pools/scheduler.ts';
export { definePoolsJob, type PoolsJob, type PoolsJobInput } from './pools/settings.ts';
export { renderReport } from './report/html.ts';
export { perfettoTrace } from './report/perfetto.ts';
export type { JudgeSettings } from './rewards/judge-settings.ts';
export type { RewardSettings } from './rewards/settings.ts';
export { type ClusterInput, type ClusterJob, clusterJob, clusterSettings } from './silicon/cluster.ts';
export { type EngineName, engineNames } from './silicon/constants.ts';
export { type Gpu, type GpuGeneration, gpuOf, gpus } from './silicon/gpus.ts';
export { shapeOf } from './silicon/models/model-config.ts';
export { modelNames, type ResolvedModel, resolveModel } from './silicon/models/model-names.ts';
export type { ModelShape, Precision } from './silicon/models/model-shape.ts';
export { type SweepEffort, type SweepEffortId, sweepEfforts } from './sweep/effort.ts';
export type { RoundRates } from './sweep/measure.ts';
export type * from './sweep/result.ts';
export {
  type PoolsProblem,
  type SweepProblem,
  type SweepRun,
  type SweepTask,
  type SynchronousProblem,
  sweepEvaluator,
} from './sweep/run.ts';
export type { FoundSettings, SweepBatch, SweepPhase } from './sweep/search/batch.ts';
export type { Levers } from './sweep/settings/levers.ts';
export { type PolicyChoice, poolsChoice, synchronousChoice } from './sweep/settings/schedulers.ts';
export type { PoolsSettings, SweepSettings, SynchronousSettings } from './sweep/settings/settings.ts';
export type { PromptSplit, SweepPart } from './sweep/split.ts';
export { sweep, sweeping } from './sweep/sweep.ts';
export { formatTrace, type PassedOverKey, readTraceLine, type TracePrompt, type TraceTurn } from './trace/format.ts';
export type {
  DumpContext,
  DumpedResponse,
  DumpReader,
  SkipReason,
  TextTokens,
} from './trace/import/dump.ts';
export { DumpImport, type DumpImportOptions, type DumpSummary, type OtherKey } from './trace/import/import.ts';
export type { PileUp } from './trace/import/pile-up.ts';
export { dumpReaders } from './trace/import/readers.ts';
export type { Repeated } from './trace/import/repeats.ts';
export type { Role } from './trace/import/rows/fields.ts';
export type { QuantileRow } from './trace/quantiles.ts';
export { readTrace, type Trace } from './trace/read.ts';
export type { TraceReader } from './trace/readers.ts';
export { compareVlm, type VlmCompareOptions } from './vlm-formulas/compare.ts';
export { type LoaderId, type Loading, loaderIds } from './vlm-formulas/loading.ts';
export type { Exceeded } from './vlm-formulas/memory.ts';
export {
  type VlmGpuId,
  type VlmModel,
  type VlmModelId,
  vlmGpuIds,
  vlmModelIds,
  vlmModels,
} from './vlm-formulas/models.ts';
export type * from './vlm-formulas/result.ts';
export {
  fixedUlysses,
  flexrlScheduler,
  type VlmPlacement,
  type VlmScheduler,
  verlBucketing,
  vlmSchedulers,
} from './vlm-formulas/scheduler.ts';
export { defineVlmJob, type VlmJob, type VlmJobInput } from './vlm-formulas/settings.ts';
export type { DeviceLoad } from './vlm-formulas/stage.ts';
export type { PlannedStep, VlmStep } from './vlm-formulas/step.ts';
export {
  type MixtureId,
  mixtureIds,
  mixtureWorkload,
  recordedVlmWorkload,
  textVlmWorkload,
} from './vlm-formulas/workload/mixtures.ts';
export { lengthOf, type VlmSample, type VlmWorkload } from './vlm-formulas/workload/sample.ts';
export {
  type RecordedVideo,
  readVisionSources,
  type SampleOptions,
  type VisionSources,
} from './vlm-formulas/workload/sources.ts';
export { readVlmTrace, type VlmTraceOptions } from './vlm-formulas/workload/trace.ts';
export { type Change, type OtherPolicy, whatIf } from './what-if/ask.ts';
export type { Miss } from './what-if/interval.ts';
export type { PaceFit } from './what-if/pace.ts';
export type { RestOfJob, WhatIf } from './what-if/what-if.ts';
export { inEpochs } from './workload/epochs.ts';
export { type LogTraceOptions, workloadFromLog } from './workload/from-log.ts';
export {
  type LoggedLengths,
  type LoggedPrompt,
  type LoggedResponse,
  lengthsFromDecisionLog,
  lengthsFromLog,
} from './workload/log-lengths.ts';
export {
  interpolated,
  type LongTail,
  longTailQuantile,
  type MarginalOptions,
  marginalWorkload,
  pooledQuantile,
  type Quantile,
} from './workload/marginal.ts';
export { type NamedTrace, type TraceWorkloadOptions, traceWorkload } from './workload/of-trace.ts';
export { type Predict, type PredictionOptions, predicts, withPredictions } from './workload/predicted.ts';
export { estimateCorrelation } from './workload/scores.ts';
export {
  type Resampling,
  resamplingMethods,
  type TracedOptions,
  tracedWorkload,
} from './workload/traced.ts';
export { capped, type Sample, type Workload, type WorkloadPrompt } from './workload/workload.ts';
