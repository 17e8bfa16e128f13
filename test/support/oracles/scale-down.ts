/** What tests of gpu-scale-down share: random clusters, exhaustive choice, rounds with known lengths. */
import { create, gpuScaleDown, type PolicyOf } from '../../../src/index.ts';
import type { GpuScaleDownDecision, GpuScaleDownInput } from '../../../src/policies/gpu-scale-down/index.ts';
import type { RunningRequest } from '../../../src/schemas/index.ts';

export type Release = Extract<GpuScaleDownDecision, { type: 'gpus.release' }>;
export type ScaleDown = PolicyOf<typeof gpuScaleDown>;

/** A random number generator from a seed: 0 (included) to 1. */
export function randomFrom(seed: number): () => number {
  let state = (seed % 2_147_483_646) + 1;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return (state - 1) / 2_147_483_646;
  };
}

export function open(policy: ScaleDown, roundId: string, kind: 'short' | 'long' = 'long'): GpuScaleDownDecision[] {
  return policy.send({ type: 'round.opened', at: 0, roundId, kind, weightVersion: 0, prompts: [] });
}

export function accept(policy: ScaleDown): GpuScaleDownDecision[] {
  const reason = { code: 'held', held: 1, needed: 1 } as const;
  return policy.send({ type: 'response.accepted', at: 0, requestId: 'any', promptId: 'any', reason });
}

/** Accepts responses until the policy asks how far the others are; gives the query's id. */
export function untilQuery(policy: ScaleDown, most = 1e5): string {
  for (let index = 0; index < most; index += 1) {
    for (const decision of accept(policy)) if (decision.type === 'progress.query') return decision.queryId;
  }
  throw new Error('no query');
}

export function report(policy: ScaleDown, queryId: string, requests: RunningRequest[]): GpuScaleDownDecision[] {
  return policy.send({ type: 'progress.reported', at: 0, queryId, requests });
}

export type Engines = NonNullable<GpuScaleDownInput['engines']>;

/** Whether a set of engines may be released: exactly half of the GPUs, no group split. */
function allowed(engines: Engines, groups: readonly (readonly string[])[], taken: ReadonlySet<string>): boolean {
  const gpus = engines.flatMap((one) => one.gpuIds);
  const out = new Set(engines.flatMap((one) => (taken.has(one.engineId) ? one.gpuIds : [])));
  if (out.size !== Math.floor(gpus.length / 2) || out.size === 0) return false;
  return groups.every((group) => group.every((gpu) => out.has(gpu)) || group.every((gpu) => !out.has(gpu)));
}

/** The best choice by trying all: fewest servers split, then fewest tokens, then the first engines. */
export function bruteForce(
  engines: Engines,
  groups: readonly (readonly string[])[],
  tokensOf: (engineId: string) => number,
): string[] | undefined {
  const key = ({ serverId, engineId }: Engines[number]) => `${serverId} ${engineId}`;
  const order = [...engines].sort((a, b) => (key(a) < key(b) ? -1 : 1));
  let best: { cost: [number, number, string]; ids: string[] } | undefined;
  for (let mask = 1; mask < 2 ** order.length; mask += 1) {
    const ids = order.filter((_, index) => (mask >> index) & 1).map((one) => one.engineId);
    const taken = new Set(ids);
    if (!allowed(engines, groups, taken)) continue;
    const servers = new Map<string, Set<boolean>>();
    for (const { serverId, engineId } of order) {
      servers.set(serverId, (servers.get(serverId) ?? new Set()).add(taken.has(engineId)));
    }
    const split = [...servers.values()].filter((sides) => sides.size === 2).length;
    const tokens = ids.reduce((sum, id) => sum + tokensOf(id), 0);
    const text = order.map((one) => (taken.has(one.engineId) ? '0' : '1')).join('');
    const cost: [number, number, string] = [split, tokens, text];
    if (best === undefined || less(cost, best.cost)) best = { cost, ids };
  }
  return best?.ids;
}

function less(a: [number, number, string], b: [number, number, string]): boolean {
  return a[0] !== b[0] ? a[0] < b[0] : a[1] !== b[1] ? a[1] < b[1] : a[2] < b[2];
}

/** Engines of one GPU, four to a server. */
export function cluster(n: number, kvCapacityTokens: number): Engines {
  return Array.from({ length: n }, (_, index) => ({
    engineId: `e${index}`,
    serverId: `s${index >> 2}`,
    gpuIds: [`g${index}`],
    kvCapacityTokens,
  }));
}

/** A request whose length the test knows. */
export interface Known extends RunningRequest {
  /** Tokens that it still generates. */
  readonly left: number;
}

/** Requests that a release moves, one by one. */
export function movesOf({
  migrations,
}: Pick<Release, 'migrations'>): { requestId: string; from: string; to: string; tokens: number }[] {
  return migrations.flatMap(({ from, to, requestIds, tokens }) =>
    requestIds.map((requestId, at) => ({ requestId, from, to, tokens: tokens[at]! })),
  );
}

/** The largest sum of KV tokens, over time, of requests that decode in step. */
export function realPeak(requests: readonly Known[]): number {
  const byEnd = [...requests].sort((a, b) => b.left - a.left);
  let there = 0;
  let kv = 0;
  let peak = 0;
  for (const { left, tokens, promptTokens } of byEnd) {
    there += 1;
    kv += tokens + promptTokens;
    peak = Math.max(peak, kv + there * left);
  }
  return peak;
}

const normal = (random: () => number): number =>
  Math.sqrt(-2 * Math.log(1 - 0.999999 * random())) * Math.cos(2 * Math.PI * random());

/** Distributions of lengths, as shares of the cap. */
export const lengthLaws: Readonly<Record<string, (random: () => number) => number>> = {
  lognormal: (random) => 0.1 * Math.exp(0.9 * normal(random)),
  exponential: (random) => -Math.log(1 - 0.999999 * random()) / 6,
  uniform: (random) => random(),
  pareto: (random) => 1 / 30 / (1 - 0.999999 * random()) ** (1 / 1.3),
  normal: (random) => (1 + 0.25 * normal(random)) / 3,
  bimodal: (random) => (random() < 0.8 ? (1 + 0.4 * normal(random)) / 12 : (1 + 0.3 * normal(random)) / 1.5),
};

/**
 * A round in which lengths come from the law that the history was drawn from, up to its first milestone or later: the
 * peak that is projected for the fullest engine after the migration, and the real one.
 */
export function simulatedRound(seed: number, law: (random: () => number) => number, engines = 16, perEngine = 64) {
  const random = randomFrom(seed);
  const cap = [2000, 8000, 32_000][seed % 3]!;
  const draw = () => Math.min(cap, Math.max(1, Math.round(cap * law(random))));
  const size = engines * perEngine;
  const unlimited = 1e12;
  const policy = create(
    gpuScaleDown,
    {
      promptsPerRound: size / 8,
      responsesPerPrompt: 8,
      maxResponseTokens: cap,
      engines: cluster(engines, unlimited),
      firstFraction: 0.2 + 0.3 * random(),
    },
    { validate: false },
  );
  for (let round = 0; round < 4; round += 1) {
    open(policy, `h${round}`);
    for (let index = 0; index < size; index += 1) {
      policy.send({ type: 'response.completed', at: 0, requestId: `q${index}`, tokens: draw() });
    }
  }
  open(policy, 'now');
  let accepted = 1;
  let queryId: string | undefined;
  for (; queryId === undefined; accepted += 1) {
    for (const decision of accept(policy)) if (decision.type === 'progress.query') queryId = decision.queryId;
  }
  const all = Array.from({ length: size }, (_, index) => ({
    requestId: `q${index}`,
    engineId: `e${index % engines}`,
    start: Math.floor(random() * cap * 0.02),
    length: draw(),
    promptTokens: 50 + Math.floor(random() * 400),
  }));
  const now = all.map((one) => one.start + one.length).sort((a, b) => a - b)[accepted - 2]!;
  const running: Known[] = all
    .filter(({ start, length }) => start <= now && start + length > now)
    .map(({ requestId, engineId, promptTokens, start, length }) => {
      return { requestId, engineId, promptTokens, tokens: now - start, left: start + length - now };
    });
  const [release] = report(
    policy,
    queryId,
    running.map(({ left: _, ...one }) => one),
  ) as [Release];
  const to = new Map(movesOf(release).map((one) => [one.requestId, one.to]));
  const real = release.keep.map((engineId) =>
    realPeak(running.filter((one) => (to.get(one.requestId) ?? one.engineId) === engineId)),
  );
  return { projected: release.reason.projectedTokens, real: Math.max(...real) };
}
