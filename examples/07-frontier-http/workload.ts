/** What is generated, and how fast engine and trainer are. */
import { readFileSync } from 'node:fs';

/** K: responses of a group. */
export const responses = 8;
/** R: groups of a round. */
export const groups = 12;
/** U: groups of an update. */
export const groupsPerUpdate = 3;
/** F_w: groups in service at once. */
export const width = 5;
export const rounds = 2;
export const maxNewTokens = 2000;
/** Seconds of the engine and the trainer that pass in one of the wall clock. */
export const timeScale = 60;
/** A decode step: the weights are read once, the KV cache of each request on top. */
export const stepSeconds = (running: number): number => 0.01 + 0.0004 * running;
export const secondsPerToken = 0.0008;

const trace = new URL('../traces/castillo-qwen2.5-7b-instruct-1m.jsonl', import.meta.url);
const lengths = new Map<string, readonly number[]>();
for (const line of readFileSync(trace, 'utf8').split('\n')) {
  if (line === '') continue;
  const { prompt_id: promptId, response_tokens: tokens } = JSON.parse(line) as {
    prompt_id: string;
    response_tokens: number[];
  };
  lengths.set(promptId, tokens);
}

/** Prompts of the trace, in its order. */
export const prompts = [...lengths.keys()].slice(0, rounds * groups);

/** Tokens of a response as the trace has them: the seed says which of the ten. */
export const lengthOf = (promptId: string, samplingSeed: number): number => lengths.get(promptId)![samplingSeed]!;
