/** What is generated and trained on, and how fast. */
import { readFileSync } from 'node:fs';
import { type CostModel, costModelSchema, readTrace, tracedWorkload } from 'rollflex/sim';
import type { HostOptions } from './host-state.ts';

const rounds = 2;
const groups = 8;
const file = new URL('../traces/castillo-qwen2.5-7b-instruct-1m.jsonl', import.meta.url);
const trace = readTrace(readFileSync(file, 'utf8'));
if (trace.kind !== 'prompts') throw new Error('expected a trace of prompts');
/** The ten responses of a prompt that the trace has, by prompt. */
const lengths = new Map(trace.prompts.map(({ prompt, responses }) => [prompt, responses.map(({ tokens }) => tokens)]));
const longest = (promptId: string): number => Math.max(...lengths.get(promptId)!);
const prompts = [...lengths.keys()].filter((one) => longest(one) >= 400).slice(0, rounds * groups);

/** How long responses are: a text that is the id of a prompt is that prompt, and the seed says which of its responses. */
export const workload = tracedWorkload({ name: 'castillo', prompts: trace.prompts, capTokens: 15_000, seed: 1 });

/** RolloutPipe: a frontier of four groups, and two groups an update as soon as they are complete. */
export const rolloutPipe: HostOptions = {
  rounds,
  groups,
  responses: 8,
  groupsPerUpdate: 2,
  frontier: true,
  width: 4,
  pipelining: true,
  tries: 5,
  prompts,
};
/** The serial order: all requests at once, then all training. */
export const serial: HostOptions = { ...rolloutPipe, frontier: false, pipelining: false };

/** Seconds of the engine and of the trainer that pass in one of the wall clock. */
export const timeScale = 60;
export const maxNewTokens = 2000;
/** Tokens of a response: the seed says which of the ten. */
export const lengthOf = (promptId: string, samplingSeed: number): number => lengths.get(promptId)![samplingSeed]!;
/** A decode step reads the weights once, and the cache of each request. */
export const cost: CostModel = costModelSchema.parse({
  memoryBoundSeconds: 0.01,
  computeSecondsPerSequence: 0,
  overheadSeconds: 0,
  secondsPerSequence: 0.0004,
  secondsPerContextToken: 0,
  prefillSecondsPerToken: 0,
  kvCapacityTokens: 1_000_000,
  maxRunningSequences: 128,
});
/** Seconds that the trainer takes for a token. */
export const secondsPerToken = 0.0009;
