/**
 * A small closed loop of engine and trainer around frontier-group-dispatch: a round of R groups of K requests arrives at
 * once, the engine is that of the simulator, and the trainer takes U complete groups at a time, first come, first served.
 */
import type { FrontierDecision, FrontierEvent, FrontierInput } from '../src/index.ts';
import { createFrontierGroupDispatch } from '../src/index.ts';
import { type CostModel, costModelSchema } from '../src/sim/cost-model.ts';
import { DecodeEngine } from '../src/sim/engine/decode-engine.ts';
import { normal, uniform } from '../src/sim/random.ts';

/** Responses of a group, groups of an update, and the length limit, as in RolloutPipe §5.1. */
export const responsesPerPrompt = 8;
export const groupsPerUpdate = 2;
const capTokens = 16_000;

const base = { prefillSecondsPerToken: 2e-5, maxRunningSequences: 1024 };
/** Engines that differ in what more requests cost: little, KV cache, slots, attention (as in RolloutPipe §5.1), compute. */
export const engines: Readonly<Record<string, CostModel>> = {
  flat: costModelSchema.parse({
    ...base,
    memoryBoundSeconds: 0.004,
    computeSecondsPerSequence: 8e-6,
    overheadSeconds: 0.004,
    secondsPerSequence: 5e-6,
    secondsPerContextToken: 3e-9,
    kvCapacityTokens: 4_000_000,
  }),
  smallCache: costModelSchema.parse({
    ...base,
    memoryBoundSeconds: 0.005,
    computeSecondsPerSequence: 2e-5,
    overheadSeconds: 0.005,
    secondsPerSequence: 2e-5,
    secondsPerContextToken: 3e-8,
    kvCapacityTokens: 250_000,
    maxRunningSequences: 256,
  }),
  fewSlots: costModelSchema.parse({
    ...base,
    memoryBoundSeconds: 0.006,
    computeSecondsPerSequence: 2e-5,
    overheadSeconds: 0.006,
    secondsPerSequence: 1e-5,
    secondsPerContextToken: 2e-8,
    kvCapacityTokens: 2_000_000,
    maxRunningSequences: 64,
  }),
  attention: costModelSchema.parse({
    ...base,
    memoryBoundSeconds: 0.0014,
    computeSecondsPerSequence: 1.1e-5,
    overheadSeconds: 0.012,
    secondsPerSequence: 3e-5,
    secondsPerContextToken: 4.2e-8,
    kvCapacityTokens: 560_000,
    maxRunningSequences: 256,
  }),
  compute: costModelSchema.parse({
    ...base,
    memoryBoundSeconds: 0.002,
    computeSecondsPerSequence: 1.2e-4,
    overheadSeconds: 0.002,
    secondsPerSequence: 5e-5,
    secondsPerContextToken: 2e-8,
    kvCapacityTokens: 8_000_000,
  }),
};

/** Lengths of response k of group g, by seed. */
export type LengthLaw = (seed: number, group: number, k: number) => number;
const lognormal =
  (median: number, between: number, within: number): LengthLaw =>
  (seed, group, k) =>
    median * Math.exp(between * normal(seed, 1, group) + within * normal(seed, 2, group, k));
/** Narrow, broad, long-tailed and two-humped laws, and one in which the prompt decides. */
export const lengthLaws: Readonly<Record<string, LengthLaw>> = {
  narrow: lognormal(3400, 0.2, 0.2),
  broad: lognormal(2600, 0.5, 0.6),
  longTailed: lognormal(900, 0.7, 1),
  twoHumps: (seed, group, k) => (uniform(seed, 3, group, k) < 0.08 ? 15_000 : lognormal(1500, 0, 0.4)(seed, group, k)),
  byPrompt: lognormal(2000, 0.9, 0.25),
};

/** What a job is made of. */
export interface Job {
  readonly engine: CostModel;
  readonly law: LengthLaw;
  readonly groups: number;
  /** Seconds of training for each token. */
  readonly trainSecondsPerToken: number;
}

const tokensOf = ({ law }: Job, seed: number, group: number, k: number): number =>
  Math.max(1, Math.min(capTokens, Math.round(law(seed, group, k))));

/** Runs rounds, one after another, through one policy, and gives when the trainer was done with each, in seconds. */
export function runRounds(job: Job, width: FrontierInput['width'], seeds: readonly number[]): RoundResult[] {
  const policy = createFrontierGroupDispatch({ responsesPerPrompt, groupsPerUpdate, width }, { validate: false });
  let now = 0;
  return seeds.map((seed) => {
    const result = runRound(job, seed, now, (event) => policy.send(event));
    now += result.seconds + 1;
    return result;
  });
}

/** What a round took. */
export interface RoundResult {
  readonly seconds: number;
  /** The width at its end. */
  readonly width: number;
  readonly starved: number;
}

function runRound(
  job: Job,
  seed: number,
  start: number,
  send: (event: FrontierEvent) => FrontierDecision[],
): RoundResult {
  const engine = new DecodeEngine('engine', job.engine);
  engine.advanceTo(start);
  const tokens: number[] = Array(job.groups).fill(0);
  const ready: number[] = [];
  let [consumed, trainedAt, training, trainSeconds] = [0, Number.POSITIVE_INFINITY, [] as number[], 0];
  let [now, width, starved] = [start, 0, 0];
  const carryOut = (event: FrontierEvent): void => {
    for (const decision of send(event)) {
      if (decision.type === 'request.admit') {
        const { requestId, promptId, index } = decision;
        const responseTokens = tokensOf(job, seed, Number(promptId.split('-')[1]), index);
        engine.add({ requestId, promptTokens: 300, responseTokens }, now);
        width = decision.reason.width;
      } else if (decision.type === 'group.left') ready.push(Number(decision.promptId.split('-')[1]));
      else if (decision.type === 'frontier.starved') starved += 1;
    }
  };
  const train = (): void => {
    const isEnough = ready.length >= groupsPerUpdate || ready.length + consumed === job.groups;
    if (trainedAt !== Number.POSITIVE_INFINITY || ready.length === 0 || !isEnough) return;
    training = ready.splice(0, groupsPerUpdate);
    trainSeconds = training.reduce((sum, group) => sum + tokens[group]! * job.trainSecondsPerToken, 0);
    trainedAt = now + trainSeconds;
  };
  const roundId = `${start}-${seed}`;
  for (let group = 0; group < job.groups; group += 1) {
    for (let index = 0; index < responsesPerPrompt; index += 1) {
      const promptId = `${roundId}-${group}`.replaceAll('-', ':').replace(/:(\d+)$/, '-$1');
      carryOut({ type: 'request.arrived', at: now, requestId: `${promptId}/${index}#0`, promptId, roundId, index });
    }
  }
  while (consumed < job.groups) {
    now = Math.min(engine.nextEventAt(), trainedAt);
    if (now === trainedAt) {
      consumed += training.length;
      trainedAt = Number.POSITIVE_INFINITY;
      const groups = training.map(String);
      const report = { fetchId: 'f', replica: 'a', groups, samples: 0, tokens: 0, seconds: trainSeconds };
      carryOut({ type: 'train.consumed', at: now, ...report });
    } else {
      for (const { requestId, tokens: length, at } of engine.advanceTo(now)) {
        const group = Number(/-(\d+)\/\d+#0$/.exec(requestId)![1]);
        tokens[group]! += length;
        carryOut({ type: 'response.completed', at, requestId, tokens: length });
      }
    }
    train();
  }
  return { seconds: now - start, width, starved };
}
