/** The plans of flex-ulysses on small batches against the optimum that mixed-integer programs find. */
import { describe, expect, test } from 'vitest';
import { flexUlysses, runPlanner } from '../../src/index.ts';
import type { FlexUlyssesInput } from '../../src/planners/flex-ulysses/index.ts';
import { instanceOf } from '../../src/planners/flex-ulysses/instance.ts';
import { flexUlyssesInput } from '../../src/planners/flex-ulysses/schema.ts';
import { some, times } from '../support/basics/runs.ts';
import { placementProblems } from '../support/placement/check.ts';
import { solver } from '../support/placement/milp.ts';
import { leastCommunication, leastCompute, leastMemory } from '../support/placement/oracle.ts';
import { optima, otherCosts, smallBatch, smallBatches, tightMemory } from '../support/placement/small.ts';

const highs = await solver;

/** The least memory that a plan needs, or what was asked for; the least compute with it; and the least communication. */
function optimumOf(input: FlexUlyssesInput) {
  const instance = instanceOf(flexUlyssesInput.parse(input));
  const asked = leastCompute(highs, instance, instance.memoryCap);
  const memory = asked === undefined ? leastMemory(highs, instance) : instance.memoryCap;
  const compute = asked ?? leastCompute(highs, instance, memory)!;
  const { communication } = leastCommunication(highs, instance, compute, memory)!;
  return { isRelaxed: asked === undefined, memory, compute, communication };
}

/** What is wrong with the plan of an input, as phrases. */
function problemsOf(input: FlexUlyssesInput): string[] {
  const plan = runPlanner(flexUlysses, input);
  const problems = placementProblems(input, plan);
  const { maxCompute, maxMemoryTokens, communication } = plan.metrics;
  const atMost = (name: string, got: number, most: number, tolerance: number) => {
    if (got > most * (1 + tolerance)) problems.push(`${name} is ${got}, ${got / most} of the least, ${most}`);
  };
  const best = optimumOf(input);
  if (plan.memoryRelaxed !== best.isRelaxed) problems.push(`memoryRelaxed is ${plan.memoryRelaxed}`);
  atMost('memory', maxMemoryTokens, best.memory, 1e-6);
  atMost('compute', maxCompute, best.compute, 1e-6);
  atMost('communication', communication, best.communication, 0.05);
  return problems;
}

const blocks = (count: number) => Array.from({ length: count }, (_, block) => block);
/** More take minutes. */
const seedsPerBlock = times(20);

/** Those of a block of inputs that have problems. */
const wrong = (block: number, inputAt: (seed: number) => FlexUlyssesInput) =>
  Array.from({ length: seedsPerBlock }, (_, at) => inputAt(block * seedsPerBlock + at))
    .map((input) => ({ input, problems: problemsOf(input) }))
    .filter(({ problems }) => problems.length > 0);

describe('the search at tolerance 0', () => {
  test.each(some(blocks(12)))(
    'reaches the least compute, and communicates at most 1.05 × the least: block %d',
    (block) => {
      expect(wrong(block, smallBatch)).toEqual([]);
    },
  );

  test.each(blocks(2))('needs the least memory where too little is given: block %d', (block) => {
    expect(wrong(block, tightMemory)).toEqual([]);
  });

  test.each(blocks(2))('does so with other costs: block %d', (block) => {
    expect(wrong(block, otherCosts)).toEqual([]);
  });
});

test('the recorded optima are what the solver finds', () => {
  for (const [kind, seed, ...recorded] of optima) {
    const { memory, compute, communication } = optimumOf(smallBatches[kind](seed));
    for (const [at, value] of [memory, compute, communication].entries()) {
      expect(Math.abs(value - recorded[at]!), `${kind} ${seed}`).toBeLessThanOrEqual(1e-6 * value);
    }
  }
});
