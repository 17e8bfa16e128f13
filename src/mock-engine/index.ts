/**
 * `rollflex/mock-engine`: inference engines without a GPU, behind the HTTP routes of SGLang and vLLM, in simulated time.
 *
 * @packageDocumentation
 */

export type { DecodeMoments } from '../sim/engine/counters.ts';
export type { SeenPosition } from '../sim/engine/drafting.ts';
export type { Agenda } from './engine/agenda.ts';
export type { ConnectionFault, FaultListener } from './engine/apply-fault.ts';
export { type ClusterParts, MockCluster } from './engine/cluster.ts';
export type { EngineContext } from './engine/engine-context.ts';
export type { MockEngine, MockLoad } from './engine/mock-engine.ts';
export { type PauseMode, pause, resume, updateWeights } from './engine/pausing.ts';
export type { Prompt } from './engine/prompts/prompt.ts';
export type { Output, PlannedResponse, ResponseBook } from './engine/prompts/response-book.ts';
export type { Counts } from './engine/requests/counts.ts';
export { type Ending, Generation, type Limits, type Listener, type WeightSpan } from './engine/requests/generation.ts';
export type { Histogram } from './engine/requests/histogram.ts';
export type { Matches } from './engine/requests/scheduler.ts';
export { type Fault, faultSchema } from './faults.ts';
export {
  type MockEngineInput,
  type MockEngineOptions,
  mockEngineOptionsSchema,
  type Speed,
  speedSchema,
} from './options.ts';
export { type MockEngineStart, type Ports, type RunningMockEngine, startMockEngine } from './start.ts';
