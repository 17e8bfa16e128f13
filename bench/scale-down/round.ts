/** A round of a family up to a decision of gpu-scale-down: what it projects, and what its engines really hold. */
import type { create as Create, gpuScaleDown as Definition } from '../../src/index.ts';
import { perPrompt, randomFrom, type World } from './families.ts';

/** The policy that is measured: of this checkout, or of another one. */
export interface Measured {
  readonly create: typeof Create;
  readonly gpuScaleDown: typeof Definition;
}

export interface Outcome {
  /** The share of its capacity that the fullest engine is projected to fill. */
  readonly projected: number;
  /** The largest share that an engine fills. */
  readonly real: number;
}

interface Running {
  readonly requestId: string;
  readonly engineId: string;
  readonly tokens: number;
  readonly promptTokens: number;
  /** Tokens that it still generates. */
  readonly left: number;
}

/** The largest sum of KV tokens of requests that decode in step, each of which takes `growth` tokens for a generated one. */
function realPeak(requests: readonly Running[], growth: number): number {
  let [there, kv, peak] = [0, 0, 0];
  for (const { left, tokens, promptTokens } of [...requests].sort((a, b) => b.left - a.left)) {
    there += 1;
    kv += tokens + promptTokens;
    peak = Math.max(peak, kv + growth * there * left);
  }
  return peak;
}

/** Plays a round until GPUs are released, whether or not there is room. */
export function outcomeOf({ create, gpuScaleDown }: Measured, world: World, seed: number): Outcome {
  const random = randomFrom(seed + 500_000);
  const { cap, engines, before, now: all, growth, capacities } = world;
  const size = all.length;
  const policy = create(
    gpuScaleDown,
    {
      promptsPerRound: size / perPrompt,
      responsesPerPrompt: perPrompt,
      maxResponseTokens: cap,
      trigger: 0.2 + 0.3 * random(),
      engines: Array.from({ length: engines }, (_, index) => {
        const kvCapacityTokens = capacities[index]!;
        return { engineId: `e${index}`, serverId: `s${index >> 2}`, gpuIds: [`g${index}`], kvCapacityTokens };
      }),
    },
    { validate: false },
  );
  const open = (roundId: string) =>
    policy.send({ type: 'round.opened', at: 0, roundId, kind: 'long', weightVersion: 0, prompts: [] });
  const ended = (tokens: number) => policy.send({ type: 'response.completed', at: 0, requestId: 'q', tokens });
  for (const [round, lengths] of before.entries()) {
    open(`before-${round}`);
    for (const tokens of lengths) ended(tokens);
  }
  open('now');
  const ends = all.map(({ start, length }) => ({ end: start + length, length })).sort((a, b) => a.end - b.end);
  for (const { end: now, length } of ends) {
    ended(length);
    const reason = { code: 'held', held: 1, needed: 1 } as const;
    const [query] = policy.send({ type: 'response.accepted', at: 0, requestId: 'any', promptId: 'any', reason });
    if (query?.type !== 'progress.query') continue;
    const running = all.flatMap(({ start, length: whole, promptTokens, engine }, index): Running[] => {
      if (start > now || start + whole <= now) return [];
      const tokens = now - start;
      const held = promptTokens + Math.floor((growth - 1) * tokens);
      return [{ requestId: `q${index}`, engineId: `e${engine}`, tokens, promptTokens: held, left: whole - tokens }];
    });
    const requests = running.map(({ left: _, ...one }) => one);
    const [release] = policy.send({ type: 'progress.reported', at: 0, queryId: query.queryId, requests });
    if (release?.type !== 'gpus.release') throw new Error(`expected a release, got ${release?.type}`);
    const to = new Map(release.migrations.flatMap((one) => one.requestIds.map((id) => [id, one.to] as const)));
    const real = release.keep.map((engineId) => {
      const mine = running.filter((one) => (to.get(one.requestId) ?? one.engineId) === engineId);
      return realPeak(mine, growth) / capacities[Number(engineId.slice(1))]!;
    });
    const { projectedTokens, capacityTokens } = release.reason;
    return { projected: projectedTokens / capacityTokens, real: Math.max(...real) };
  }
  throw new Error('expected a milestone');
}
