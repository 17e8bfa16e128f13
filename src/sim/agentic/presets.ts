/**
 * Named workloads of agentic rollouts, each with its job. They were fixed before any scheduler ran on them.
 *
 * Measured numbers are: for coding agents, turns per session (quantiles of 610 recorded sessions, NeMo-RL pull request 3663; the
 * longest of 80,036 trajectories, nebius/SWE-agent-trajectories), tokens per request (SGLang pull request 35637: median input
 * 11,800, output about 90), and for customer service all lengths (tau-bench, fitted). All other numbers are assumptions, above
 * all the times of tools: in ThunderAgent's measurements (arXiv 2602.13692, appendix C) local tools take tenths of a second, and
 * remote ones have tails of tens to hundreds of seconds.
 */
import { oneOf } from '../../core/ids/nearest.ts';
import { refuse } from '../../errors.ts';
import type { CostModel } from '../models/cost-model.ts';
import { jobPreset } from '../models/presets.ts';
import { type AgenticJob, defineAgenticJob } from './settings.ts';
import { type AgenticShape, agenticWorkload, type Spread } from './shape.ts';
import type { AgenticWorkload } from './workload.ts';

/** A named workload and its job. */
export interface AgenticPreset {
  /** Name of the preset. */
  readonly id: AgenticPresetId;
  /** Description for tables. */
  readonly label: string;
  /** Which numbers were measured, and where; other numbers are assumptions. */
  readonly source: string;
  /** The programs, as distributions. */
  readonly shapes: readonly AgenticShape[];
  /** Engines and their costs. */
  readonly job: AgenticJob;
}

const lognormal = (median: number, sigma: number, limits: Omit<Spread, 'median' | 'sigma'> = {}): Spread => ({
  median,
  sigma,
  ...limits,
});

/** Engines of RollPacker's jobs: Qwen2.5-7B on one H800, with 0.9 million tokens of KV cache, and 32B on two, with 0.27 million. */
const costs = { '7b': jobPreset('qwen2.5-7b-8k').job.cost, '32b': jobPreset('qwen2.5-32b-32k').job.cost };

function jobOf(name: string, model: keyof typeof costs, engines: number, kvCapacityTokens?: number): AgenticJob {
  const cost: CostModel = costs[model];
  return defineAgenticJob({
    name,
    engines,
    cost: kvCapacityTokens === undefined ? cost : { ...cost, kvCapacityTokens },
  });
}

/**
 * Assumptions for the trace `tau-airline`, for {@link tracedAgenticWorkload}: seconds of a simulated user, which is a model
 * itself, and of a database call. The trace has no times. Its trials share the system prompt, `sharedTokens`: tau-bench has one
 * system prompt per domain.
 */
export const tauAirlineSeconds = { user: lognormal(3, 0.5), database: lognormal(0.1, 0.5) } as const;

/** Engines for the 112 programs of that trace, with room for about half of their contexts. */
export const tauAirlineJob: AgenticJob = jobOf('tau-airline', '7b', 2, 100_000);

const swe: AgenticShape = {
  environment: 'swe',
  prompts: 76,
  samples: 8,
  sharedTokens: 1500,
  promptTokens: lognormal(1000, 0.5),
  turns: lognormal(29, 0.52, { least: 5, most: 99 }),
  correlation: 0.3,
  generatedTokens: lognormal(110, 0.8),
  tools: [{ tool: 'bash', share: 1, seconds: lognormal(2, 1), tokens: lognormal(220, 1) }],
  longestContext: 131_072,
};

const search: AgenticShape = {
  environment: 'search',
  prompts: 128,
  samples: 8,
  sharedTokens: 400,
  promptTokens: lognormal(60, 0.5),
  turns: lognormal(4, 0.5, { most: 16 }),
  correlation: 0.3,
  generatedTokens: lognormal(150, 0.7),
  tools: [{ tool: 'search', share: 1, seconds: lognormal(1, 0.8), tokens: lognormal(900, 0.5) }],
  longestContext: 32_768,
};

const sweSource = 'turns: NeMo-RL 3663; tokens: SGLang 35637';
const presets = {
  'swe-long': {
    label: 'coding agents, ample KV cache',
    source: sweSource,
    shapes: [swe],
    job: jobOf('swe-long', '32b', 12, 2_000_000),
  },
  'swe-scarce-kv': {
    label: 'the same, KV cache for a quarter of the contexts',
    source: sweSource,
    shapes: [swe],
    job: jobOf('swe-scarce-kv', '32b', 12),
  },
  'swe-slow-tools': {
    label: 'the same, with tools of 15 s',
    source: sweSource,
    shapes: [{ ...swe, tools: [{ ...swe.tools[0]!, seconds: lognormal(15, 1.2) }] }],
    job: jobOf('swe-slow-tools', '32b', 12),
  },
  'search-short': {
    label: 'few searches, short contexts',
    source: 'assumed',
    shapes: [search],
    job: jobOf('search-short', '7b', 4),
  },
  'browser-slow-tools': {
    label: 'pages of a browser: long answers of slow tools',
    source: 'assumed',
    shapes: [
      {
        environment: 'browser',
        prompts: 32,
        samples: 8,
        sharedTokens: 2000,
        promptTokens: lognormal(200, 0.5),
        turns: lognormal(12, 0.6, { most: 60 }),
        correlation: 0.3,
        generatedTokens: lognormal(200, 0.8),
        tools: [
          { tool: 'click', share: 2, seconds: lognormal(5, 0.8), tokens: lognormal(1200, 0.6) },
          { tool: 'open', share: 1, seconds: lognormal(15, 1.2, { most: 600 }), tokens: lognormal(3000, 0.7) },
        ],
        longestContext: 131_072,
      },
    ],
    job: jobOf('browser-slow-tools', '32b', 8),
  },
  'code-interpreter': {
    label: 'mathematics with an interpreter: decoding, short answers',
    source: 'assumed',
    shapes: [
      {
        environment: 'python',
        prompts: 64,
        samples: 8,
        sharedTokens: 250,
        promptTokens: lognormal(120, 0.5),
        turns: lognormal(5, 0.6, { most: 30 }),
        correlation: 0.3,
        generatedTokens: lognormal(900, 0.7),
        tools: [{ tool: 'python', share: 1, seconds: lognormal(0.5, 1, { most: 30 }), tokens: lognormal(120, 1) }],
        longestContext: 32_768,
      },
    ],
    job: jobOf('code-interpreter', '7b', 8),
  },
  'customer-service': {
    label: 'customer service: half of the answers are from a simulated user',
    source: 'all lengths and turns: tau-bench airline; the times of user and tools are assumed',
    shapes: [
      {
        environment: 'airline',
        prompts: 64,
        samples: 16,
        sharedTokens: 1303,
        promptTokens: lognormal(36, 0.35),
        turns: lognormal(12, 0.52, { least: 2, most: 30 }),
        correlation: 0.57,
        generatedTokens: lognormal(43, 0.85),
        tools: [
          { tool: 'user', share: 1, seconds: tauAirlineSeconds.user, tokens: lognormal(25, 0.5) },
          { tool: 'database', share: 1, seconds: tauAirlineSeconds.database, tokens: lognormal(180, 0.86) },
        ],
        longestContext: 32_768,
      },
    ],
    job: jobOf('customer-service', '7b', 4),
  },
  'long-tail': {
    label: 'few programs, up to two hundred turns',
    source: 'longest: 408 turns, nebius/SWE-agent-trajectories; tokens: SGLang 35637; the spread is assumed',
    shapes: [{ ...swe, prompts: 20, turns: lognormal(18, 1, { least: 3, most: 408 }) }],
    job: jobOf('long-tail', '32b', 8),
  },
  'long-outputs': {
    label: 'reasoning of thousands of tokens a turn',
    source: 'assumed',
    shapes: [
      {
        ...swe,
        prompts: 32,
        turns: lognormal(6, 0.5, { most: 40 }),
        generatedTokens: lognormal(2500, 0.8),
      },
    ],
    job: jobOf('long-outputs', '32b', 8),
  },
  'many-small': {
    label: 'thousands of short programs with fast tools',
    source: 'assumed',
    shapes: [
      {
        environment: 'calculator',
        prompts: 256,
        samples: 8,
        sharedTokens: 200,
        promptTokens: lognormal(100, 0.5),
        turns: lognormal(3, 0.4, { most: 10 }),
        correlation: 0.3,
        generatedTokens: lognormal(60, 0.6),
        tools: [{ tool: 'calculator', share: 1, seconds: lognormal(0.05, 0.5), tokens: lognormal(20, 0.5) }],
        longestContext: 8192,
      },
    ],
    job: jobOf('many-small', '7b', 8),
  },
  'group-shared-prefix': {
    label: 'long prompts that 16 programs share',
    source: 'assumed',
    shapes: [
      {
        ...swe,
        environment: 'documents',
        prompts: 24,
        samples: 16,
        promptTokens: lognormal(24_000, 0.4),
        turns: lognormal(8, 0.5, { most: 40 }),
      },
    ],
    job: jobOf('group-shared-prefix', '32b', 8),
  },
  mixed: {
    label: 'coding agents and searches in one job',
    source: `coding: ${sweSource}; searches are assumed`,
    shapes: [{ ...swe, prompts: 38 }, search],
    job: jobOf('mixed', '32b', 8),
  },
} satisfies Record<string, Omit<AgenticPreset, 'id'>>;

/** Id of a named workload. */
export type AgenticPresetId = keyof typeof presets;
/** Ids of the named workloads. */
export const agenticPresetIds: readonly AgenticPresetId[] = Object.freeze(Object.keys(presets) as AgenticPresetId[]);

/** Returns a named workload and its job. Throws `PolicyError` `unknown_id`. */
export function agenticPreset(id: string): AgenticPreset {
  const known = agenticPresetIds.find((one) => one === id);
  if (known === undefined) refuse('unknown_id', 'preset', oneOf(agenticPresetIds, id), id);
  return { id: known, ...presets[known] };
}

/** Returns the programs of a named workload, the same for a seed on every machine. Throws `PolicyError` `invalid_input`. */
export function presetWorkload({ id, source, shapes }: AgenticPreset, seed: number): AgenticWorkload {
  return agenticWorkload(shapes, { name: id, source: `distributions; measured: ${source}`, seed });
}
