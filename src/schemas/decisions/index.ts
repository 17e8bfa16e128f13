/** Decisions: commands for the host, in the imperative, and notices, in the past tense. Each file contains one family. */
import { byName, type Of } from '../vocabulary.ts';
import * as chunks from './chunks.ts';
import * as frontier from './frontier.ts';
import * as gpus from './gpus.ts';
import * as groups from './groups.ts';
import * as judge from './judge.ts';
import * as loading from './loading.ts';
import * as pacing from './pacing.ts';
import * as parallelism from './parallelism.ts';
import * as pipelining from './pipelining.ts';
import * as programs from './programs.ts';
import * as prompts from './prompts.ts';
import * as requests from './requests.ts';
import * as rewardWorkers from './reward-workers.ts';
import * as rewards from './rewards.ts';
import * as rounds from './rounds.ts';
import * as sandbox from './sandbox.ts';
import * as selection from './selection.ts';
import * as session from './session.ts';
import * as slots from './slots.ts';
import * as training from './training.ts';
import * as tries from './tries.ts';

export * from './chunks.ts';
export * from './frontier.ts';
export * from './gpus.ts';
export * from './groups.ts';
export * from './judge.ts';
export * from './loading.ts';
export * from './pacing.ts';
export * from './parallelism.ts';
export * from './pipelining.ts';
export * from './programs.ts';
export * from './prompts.ts';
export * from './requests.ts';
export * from './reward-workers.ts';
export * from './rewards.ts';
export * from './rounds.ts';
export * from './sandbox.ts';
export * from './selection.ts';
export * from './session.ts';
export * from './slots.ts';
export * from './training.ts';
export * from './tries.ts';

/** Every decision of the vocabulary. */
export const decisions = byName([
  ...Object.values(chunks),
  ...Object.values(groups),
  ...Object.values(pacing),
  ...Object.values(parallelism),
  ...Object.values(pipelining),
  ...Object.values(frontier),
  ...Object.values(gpus),
  ...Object.values(judge),
  ...Object.values(loading),
  ...Object.values(programs),
  ...Object.values(prompts),
  ...Object.values(requests),
  ...Object.values(rewardWorkers),
  ...Object.values(rewards),
  ...Object.values(rounds),
  ...Object.values(sandbox),
  ...Object.values(selection),
  ...Object.values(session),
  ...Object.values(slots),
  ...Object.values(training),
  ...Object.values(tries),
]);

/** Any decision of the vocabulary. */
export type VocabularyDecision = Of<(typeof decisions)[number]>;
