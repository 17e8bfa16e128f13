/** What is generated and trained on, and how fast. */
import { readFileSync } from 'node:fs';
import type { HostOptions } from './host.ts';

const rounds = 2;
const groups = 8;
/** The ten responses of a prompt that the trace has, by prompt. */
const lengths = new Map<string, readonly number[]>();
const trace = new URL('../traces/castillo-qwen2.5-7b-instruct-1m.jsonl', import.meta.url);
for (const line of readFileSync(trace, 'utf8').split('\n')) {
  if (line === '') continue;
  const row = JSON.parse(line) as { prompt_id: string; response_tokens: number[] };
  lengths.set(row.prompt_id, row.response_tokens);
}
const longest = (promptId: string): number => Math.max(...lengths.get(promptId)!);
const prompts = [...lengths.keys()].filter((one) => longest(one) >= 400).slice(0, rounds * groups);

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
/** Seconds of a decode step: the weights are read once, and the cache of each request. */
export const stepSeconds = (running: number): number => 0.01 + 0.0004 * running;
/** Seconds that the trainer takes for a token. */
export const secondsPerToken = 0.0009;
