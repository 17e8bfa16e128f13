/** Families of rounds for `promise.ts` and `worth.ts`: laws of lengths, how requests come, and how rounds differ from those before. */

export type Random = () => number;
/** A length, as a share of the cap. */
type Law = (random: Random) => number;

/** A request of the round that is projected. */
export interface Response {
  /** Tokens in all. */
  readonly length: number;
  /** When it starts, in tokens from the beginning of the round. */
  readonly start: number;
  readonly promptTokens: number;
  /** Number of the engine that it starts on. */
  readonly engine: number;
}

/** Rounds of a kind: the lengths of those before, and the one that is projected. */
export interface World {
  readonly cap: number;
  readonly engines: number;
  readonly before: readonly (readonly number[])[];
  readonly now: readonly Response[];
  /** Tokens in the KV cache for each generated one: above 1 where tools add theirs. */
  readonly growth: number;
  /** Room of each engine, in tokens. */
  readonly capacities: readonly number[];
}

const normal = (random: Random): number =>
  Math.sqrt(-2 * Math.log(1 - 0.999999 * random())) * Math.cos(2 * Math.PI * random());
const lognormal =
  (median: number, sigma: number): Law =>
  (random) =>
    median * Math.exp(sigma * normal(random));
const bell =
  (mean: number, spread: number): Law =>
  (random) =>
    mean * (1 + spread * normal(random));
const exponential: Law = (random) => -Math.log(1 - 0.999999 * random()) / 6;
const pareto: Law = (random) => 1 / 30 / (1 - 0.999999 * random()) ** (1 / 1.3);
const twoKinds: Law = (random) => (random() < 0.8 ? bell(1 / 12, 0.4)(random) : bell(2 / 3, 0.3)(random));
const usual = lognormal(0.1, 0.9);

interface Kind {
  readonly law: Law;
  readonly engines?: number;
  readonly perEngine?: number;
  readonly rounds?: number;
  /** Responses of each earlier round, as a share of a round. */
  readonly seen?: number;
  /** Factor on all lengths of a round; 0 is the one that is projected, 1 the one before it. */
  readonly scale?: (back: number, random: Random) => number;
  /** Share of the variance of the logarithm that the responses of a prompt have in common (with `usual` only). */
  readonly alike?: number;
  /** Whether all responses of a prompt are on one engine. */
  readonly together?: boolean;
  /** When a response starts, as a share of the cap. */
  readonly start?: (random: Random) => number;
  readonly prompt?: (random: Random, cap: number) => number;
  readonly growth?: number;
  /** How many times as large every second engine is. */
  readonly larger?: number;
}

/** Responses of a prompt. */
export const perPrompt = 8;

function lengthsOf({ law, alike = 0 }: Kind, cap: number, count: number, factor: number, random: Random): number[] {
  let common = 0;
  return Array.from({ length: count }, (_, index) => {
    if (index % perPrompt === 0) common = normal(random);
    const of = alike > 0 ? Math.sqrt(alike) * common + Math.sqrt(1 - alike) * normal(random) : undefined;
    const share = of === undefined ? law(random) : 0.1 * Math.exp(0.9 * of);
    return Math.min(cap, Math.max(1, Math.round(cap * factor * share)));
  });
}

function worldOf(kind: Kind, seed: number, random: Random): World {
  const {
    engines = 16,
    perEngine = 64,
    rounds = 4,
    seen = 1,
    scale = () => 1,
    together = false,
    growth = 1,
    larger = 1,
  } = kind;
  const { start = () => 0.02 * random(), prompt = () => 50 + 400 * random() } = kind;
  const cap = [2000, 8000, 32_000][seed % 3]!;
  const size = engines * perEngine;
  const before = Array.from({ length: rounds }, (_, at) =>
    lengthsOf(kind, cap, Math.ceil(size * seen), scale(rounds - at, random), random),
  );
  const now = lengthsOf(kind, cap, size, scale(0, random), random).map((length, index) => ({
    length,
    start: Math.floor(cap * start(random)),
    promptTokens: Math.floor(prompt(random, cap)),
    engine: (together ? Math.floor(index / perPrompt) : index) % engines,
  }));
  const room = (3 * now.reduce((sum, one) => sum + one.length, 0)) / engines;
  const capacities = Array.from({ length: engines }, (_, engine) => Math.ceil(room * (engine % 2 === 0 ? 1 : larger)));
  return { cap, engines, before, now, growth, capacities };
}

const mixed =
  (share: number): Law =>
  (random) =>
    random() < share ? bell(1 / 12, 0.4)(random) : bell(2 / 3, 0.3)(random);

const kinds: Readonly<Record<string, Kind>> = {
  // Lengths from one law, as in the rounds before.
  lognormal: { law: usual },
  exponential: { law: exponential },
  uniform: { law: (random) => random() },
  pareto: { law: pareto },
  normal: { law: bell(1 / 3, 0.25) },
  'two kinds': { law: twoKinds },
  'two kinds, even': { law: (random) => (random() < 0.5 ? bell(0.2, 0.1)(random) : bell(0.8, 0.05)(random)) },
  'three kinds': { law: (random) => bell([0.05, 0.25, 0.9][Math.floor(3 * random())]!, 0.1)(random) },
  'nearly equal': { law: bell(0.5, 0.02) },
  'many short ones': { law: (random) => 0.15 * (-Math.log(1 - 0.999999 * random())) ** 2 },
  'a third at the cap': { law: lognormal(0.65, 1) },
  'two thirds at the cap': { law: (random) => (random() < 0.67 ? 1 : random()) },
  // Sizes.
  'little history': { law: usual, rounds: 1, seen: 1 / 16 },
  'one round before': { law: usual, rounds: 1 },
  '12 an engine': { law: usual, perEngine: 12 },
  '12 an engine, two kinds': { law: twoKinds, perEngine: 12 },
  '256 an engine': { law: usual, perEngine: 256 },
  '4 engines': { law: usual, engines: 4 },
  '64 engines': { law: usual, engines: 64 },
  'engines of two sizes': { law: usual, larger: 2 },
  'long prompts': { law: usual, prompt: (random, cap) => cap * random() },
  // How requests come.
  'late joiners': { law: usual, start: (random) => (random() < 0.7 ? 0 : 0.1 * random()) },
  'two bursts': { law: usual, start: (random) => (random() < 0.5 ? 0 : 0.04) },
  'turns of equal size': { law: (random) => 0.06 * (1 + Math.floor(-3 * Math.log(1 - 0.999999 * random()))) },
  // Responses of a prompt that are alike.
  'alike, by a third': { law: usual, alike: 0.33 },
  'alike, by two thirds': { law: usual, alike: 0.67 },
  'alike and on one engine': { law: usual, alike: 0.67, together: true },
  // Rounds that differ.
  'rounds differ by 5 %': { law: usual, scale: (_, random) => Math.exp(0.05 * normal(random)) },
  'rounds differ by 20 %': { law: usual, scale: (_, random) => Math.exp(0.2 * normal(random)) },
  'longer by 2 % a round': { law: usual, scale: (back) => 1.02 ** -back },
  'longer by 10 % a round': { law: usual, scale: (back) => 1.1 ** -back },
  'longer by half': { law: usual, scale: (back) => (back === 0 ? 1 : 2 / 3) },
  'shorter by 10 % a round': { law: usual, scale: (back) => 0.9 ** -back },
  'tools add half': { law: usual, growth: 1.5 },
};
// A mix of kinds that changes with the round.
const mixes = { law: usual } satisfies Kind;

/** A family: a round by a seed. */
export interface Family {
  readonly name: string;
  world(seed: number): World;
}

/** A random number generator from a seed: 0 (included) to 1. */
export function randomFrom(seed: number): Random {
  let state = (Math.imul(seed, 2_654_435_761) >>> 0) + 1;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixedBits = Math.imul(state ^ (state >>> 15), state | 1);
    mixedBits ^= mixedBits + Math.imul(mixedBits ^ (mixedBits >>> 7), mixedBits | 61);
    return ((mixedBits ^ (mixedBits >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A mix of two kinds of lengths whose shares change with the round by about 5 points. */
function changingMix(seed: number, random: Random): World {
  const of = () => worldOf({ ...mixes, law: mixed(0.8 + 0.05 * normal(random)), rounds: 1 }, seed, random);
  return { ...of(), before: Array.from({ length: 4 }, () => of().before[0]!) };
}

export const families: readonly Family[] = [
  ...Object.entries(kinds).map(([name, kind]) => ({
    name,
    world: (seed: number) => worldOf(kind, seed, randomFrom(seed)),
  })),
  { name: 'the mix of kinds changes', world: (seed) => changingMix(seed, randomFrom(seed)) },
];
