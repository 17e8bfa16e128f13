/**
 * Measured points from what an engine says of itself: the metrics of vLLM and SGLang in the text format of Prometheus, and
 * `/v1/loads` of SGLang. Each is read several times, and what has grown between two readings is a point.
 */
import { z } from 'zod';
import { type DecodePoint, decodePoints } from './decode-point.ts';

/** One reading of one engine. Sums are from the start of the engine. */
export interface EngineReading {
  /** Sequences that run at this moment. */
  readonly running: number;
  /** Tokens in the KV cache at this moment. */
  readonly contextTokens: number;
  /** Sum over generated tokens of the seconds since the token before. */
  readonly tokenSeconds: number;
  /** Tokens that this sum is of. */
  readonly tokens: number;
  /** Tokens of prompts that were computed. */
  readonly promptTokens: number;
}

/** Readings of an engine, by an id of its own: a server with data-parallel ranks has several. */
export type Readings = ReadonlyMap<string, EngineReading>;

/** Names of the metrics, without `vllm:` or `sglang:`; the first that is there counts. */
const names = {
  running: ['num_requests_running', 'num_running_reqs'],
  used: ['num_used_tokens'],
  usage: ['kv_cache_usage_perc', 'gpu_cache_usage_perc'],
  seconds: ['inter_token_latency_seconds_sum', 'time_per_output_token_seconds_sum'],
  tokens: ['inter_token_latency_seconds_count', 'time_per_output_token_seconds_count'],
  prompts: ['prompt_tokens_total'],
  cached: ['prompt_tokens_cached_total', 'prefix_cache_hits_total', 'cached_tokens_total'],
} as const;

interface Sample {
  readonly name: string;
  readonly labels: ReadonlyMap<string, string>;
  readonly value: number;
}

const sampleLine = /^(?:vllm|sglang):([a-zA-Z0-9_:]+)(?:\{(.*)\})?\s+(\S+)/;
const label = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)"/g;

function* samplesIn(text: string): Generator<Sample> {
  for (const line of text.split('\n')) {
    const [, name, labels = '', value] = sampleLine.exec(line) ?? [];
    if (name === undefined || !Number.isFinite(Number(value))) continue;
    yield { name, labels: new Map([...labels.matchAll(label)].map((one) => [one[1]!, one[2]!])), value: Number(value) };
  }
}

/** Reads metrics in the text format of Prometheus; an empty map if there are none of vLLM or SGLang. */
export function readingsOfMetrics(text: string): Readings {
  const engines = new Map<string, { sums: Map<string, number>; blocks: number }>();
  for (const { name, labels, value } of samplesIn(text)) {
    const id = ['engine', 'dp_rank'].map((one) => labels.get(one) ?? '').join('/');
    const engine = engines.get(id) ?? { sums: new Map<string, number>(), blocks: 0 };
    engines.set(id, engine);
    // Ranks of tensor parallelism say the same things.
    if ((labels.get('tp_rank') ?? '0') !== '0') continue;
    engine.sums.set(name, (engine.sums.get(name) ?? 0) + value);
    if (name === 'cache_config_info')
      engine.blocks = Number(labels.get('num_gpu_blocks')) * Number(labels.get('block_size'));
  }
  const found = [...engines].flatMap(([id, { sums, blocks }]): [string, EngineReading][] => {
    const of = (key: keyof typeof names) => names[key].map((name) => sums.get(name)).find((one) => one !== undefined);
    const [running, tokenSeconds, tokens] = [of('running'), of('seconds'), of('tokens')];
    if (running === undefined || tokenSeconds === undefined || tokens === undefined) return [];
    const contextTokens = of('used') ?? (of('usage') ?? 0) * (Number.isFinite(blocks) ? blocks : 0);
    const promptTokens = Math.max(0, (of('prompts') ?? 0) - (of('cached') ?? 0));
    return [[id, { running, contextTokens, tokenSeconds, tokens, promptTokens }]];
  });
  return new Map(found);
}

const moments = z.tuple([z.number(), z.number(), z.number(), z.number(), z.number(), z.number()]);
const loadsSchema = z.object({
  loads: z.array(
    z.object({
      dp_rank: z.number().default(0),
      num_running_reqs: z.number(),
      num_used_tokens: z.number().default(0),
      total_prefill_uncached_tokens: z.number().default(0),
      // Steps, Σ b, Σ t, Σ b², Σ b · t, tokens; b sequences take t microseconds.
      decode_moments: moments,
    }),
  ),
});

/** Reads `/v1/loads` of SGLang; an empty map for another answer. */
export function readingsOfLoads(answer: unknown): Readings {
  const { data } = loadsSchema.safeParse(answer);
  return new Map(
    (data?.loads ?? []).map((one) => {
      const [, , , , sequenceMicroseconds, tokens] = one.decode_moments;
      return [
        String(one.dp_rank),
        {
          running: one.num_running_reqs,
          contextTokens: one.num_used_tokens,
          tokenSeconds: sequenceMicroseconds / 1e6,
          tokens,
          promptTokens: one.total_prefill_uncached_tokens,
        },
      ];
    }),
  );
}

/** Of fewer tokens the mean says little. */
const leastTokens = 50;
/** Points with batches within a factor of √2 are one. */
const perDoubling = 2;

interface Bin {
  tokens: number;
  running: number;
  contextTokens: number;
  seconds: number;
  promptTokens: number;
}

/**
 * Returns points from readings one after the other, of any number of engines that are alike: one for each size of batch that was
 * seen, with the means over its tokens. Empty if no engine has generated anything meanwhile.
 */
export function pointsOfReadings(readings: readonly Readings[]): DecodePoint[] {
  const bins = new Map<number, Bin>();
  for (const [index, after] of readings.entries()) {
    for (const [id, b] of after) {
      const a = readings[index - 1]?.get(id);
      const tokens = a === undefined ? 0 : b.tokens - a.tokens;
      const running = a === undefined ? 0 : (a.running + b.running) / 2;
      // Fewer tokens than before: the engine was started again.
      if (a === undefined || tokens <= 0 || running < 1 || b.tokenSeconds <= a.tokenSeconds) continue;
      const key = Math.round(perDoubling * Math.log2(running));
      const bin = bins.get(key) ?? { tokens: 0, running: 0, contextTokens: 0, seconds: 0, promptTokens: 0 };
      bins.set(key, bin);
      bin.tokens += tokens;
      bin.running += tokens * running;
      bin.contextTokens += (tokens * (a.contextTokens + b.contextTokens)) / 2 / running;
      bin.seconds += b.tokenSeconds - a.tokenSeconds;
      bin.promptTokens += Math.max(0, b.promptTokens - a.promptTokens);
    }
  }
  const points = [...bins]
    .sort(([a], [b]) => a - b)
    .filter(([, { tokens }]) => tokens >= leastTokens)
    .map(([, { tokens, running, contextTokens, seconds, promptTokens }]) => ({
      running: running / tokens,
      contextTokens: contextTokens / tokens,
      secondsPerToken: seconds / tokens,
      prefillTokens: promptTokens / tokens,
    }));
  return points.length === 0 ? [] : decodePoints(points);
}
