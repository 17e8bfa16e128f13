/** Rollouts of a real engine: prompts and responses with drawn lengths, all sent at once, and when each response was complete. */
import { request } from 'node:http';
import { json } from 'node:stream/consumers';
import { normal, pickIndex, uniform } from '../../../src/sim/workload/random.ts';

/** The size of a request, in tokens. */
export interface Size {
  readonly promptTokens: number;
  readonly responseTokens: number;
}

/** A rollout that was run. */
export interface MeasuredRollout {
  readonly sizes: readonly Size[];
  /** Seconds from the start until each response was complete, in the order of the sizes. */
  readonly endSeconds: readonly number[];
}

const responses = { least: 16, most: 64 } as const;
const prompts = { least: 32, most: 512 } as const;
// Of the logarithm: a long tail within the limit of the responses.
const lengths = { median: 90, deviation: 0.9, least: 8, most: 900 } as const;

/** Draws the sizes of a rollout: 16 to 64 responses, each to a prompt of its own. */
export function drawnSizes(seed: number): Size[] {
  const count = responses.least + pickIndex(responses.most - responses.least + 1, seed, 0);
  return Array.from({ length: count }, (_, index) => {
    const drawn = lengths.median * Math.exp(lengths.deviation * normal(seed, 1, index));
    return {
      promptTokens: prompts.least + pickIndex(prompts.most - prompts.least + 1, seed, 2, index),
      responseTokens: Math.round(Math.min(lengths.most, Math.max(lengths.least, drawn))),
    };
  });
}

/** Posts JSON on a connection of its own: the server closes idle ones, at which moment a request may come. */
const posted = (url: string, body: object): Promise<unknown> =>
  new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json' };
    const asked = request(url, { method: 'POST', agent: false, headers }, (answer) => {
      json(answer).then(resolve, reject);
    });
    asked.on('error', reject);
    asked.end(JSON.stringify(body));
  });

/** The model knows 256 bytes as tokens. */
const tokens = 256;

async function complete(url: string, { promptTokens, responseTokens }: Size, seed: number): Promise<void> {
  const prompt = Array.from({ length: promptTokens }, (_, index) => Math.floor(tokens * uniform(seed, 3, index)));
  // With `ignore_eos` a response has the length that was drawn, whatever the random weights say.
  const body = { model: 'tiny', prompt, max_tokens: responseTokens, ignore_eos: true, temperature: 1 };
  const { usage } = (await posted(`${url}/v1/completions`, body)) as { usage?: { completion_tokens: number } };
  if (usage?.completion_tokens !== responseTokens)
    throw new Error(`${responseTokens} tokens were asked for, ${usage?.completion_tokens} came`);
}

/** Runs a rollout. Throws an error if a response has another length than was drawn. */
export async function runRollout(url: string, sizes: readonly Size[], seed: number): Promise<MeasuredRollout> {
  const start = performance.now();
  const endSeconds = await Promise.all(
    sizes.map(async (size, index) => {
      await complete(url, size, 1000 * seed + index);
      return (performance.now() - start) / 1000;
    }),
  );
  return { sizes, endSeconds };
}
