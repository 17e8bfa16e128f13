/** The steps of a search: how many there are, what becomes of a plan without enough of them, and which batches are too large. */
import { describe, expect, test } from 'vitest';
import { create, runPlanner } from '../../../src/core/machine/start.ts';
import { flexUlysses } from '../../../src/planners/flex-ulysses/index.ts';
import { Budget } from '../../../src/planners/flex-ulysses/search/budget.ts';
import { flexrl } from '../../../src/recipes/flexrl/index.ts';

const lengths = Array.from({ length: 300 }, (_, at) => (at % 10 === 0 ? 20_000 + 197 * at : 100 + 13 * at));
const batch = { lengths, devices: 32 };

describe('a budget', () => {
  test('says that the steps are spent, and at the deadline that it is late, whatever is left', () => {
    const budget = new Budget(10);
    budget.spend(9);
    expect([budget.isSpent, budget.cut]).toEqual([false, undefined]);
    budget.spend(1);
    expect([budget.isSpent, budget.cut]).toEqual([true, 'steps']);
    const late = new Budget(10, () => true);
    expect([late.isSpent, late.cut, late.left]).toEqual([true, 'deadline', 0]);
  });
});

describe('a search', () => {
  test('without enough steps keeps its limits, says so, and is the same again', () => {
    const plan = runPlanner(flexUlysses, { ...batch, maxSteps: 2_000_000 });
    expect(plan.cut).toMatchObject({ by: 'steps' });
    expect(plan.metrics.maxCompute).toBeLessThanOrEqual(plan.limits.compute * (1 + 1e-8));
    expect(plan.metrics.maxMemoryTokens).toBeLessThanOrEqual(plan.limits.memoryTokens * (1 + 1e-8));
    expect(runPlanner(flexUlysses, { ...batch, maxSteps: 2_000_000 })).toEqual(plan);
    const enough = runPlanner(flexUlysses, { ...batch, effort: 'fast' });
    expect(enough.cut).toBeUndefined();
    expect(enough.metrics.communication).toBeLessThanOrEqual(plan.metrics.communication);
  });

  test('with one step has a plan', () => {
    const plan = runPlanner(flexUlysses, { ...batch, maxSteps: 1 });
    expect(plan.assignments).toHaveLength(300);
    expect(plan.cut!.parts).toContain('communication');
  });

  test('that is late ends with a plan, and says so', () => {
    let asked = 0;
    const plan = runPlanner(flexUlysses, batch, { isLate: () => ++asked > 50 });
    expect(plan.cut!.by).toBe('deadline');
    expect(plan.metrics.maxCompute).toBeLessThanOrEqual(plan.limits.compute * (1 + 1e-8));
  });

  test('of too many sequences × devices is refused; a strategy that does not search takes them', () => {
    const many = { lengths: Array.from({ length: 1025 }, () => 1000), devices: 65_536 };
    const refused = { code: 'limit_exceeded', path: 'lengths' };
    expect(() => runPlanner(flexUlysses, many)).toThrow(expect.objectContaining(refused));
    expect(runPlanner(flexUlysses, { ...many, strategy: 'bucketing' }).assignments).toHaveLength(1025);
  });
});

test('flexrl refuses a batch that takes too long to plan inside an event, and more steps', () => {
  const job = create(flexrl, { devices: 2 });
  job.send({ type: 'samples.drawn', at: 0, stepId: 's', samples: [] });
  const ready = (count: number) => ({
    ...{ type: 'batch.ready' as const, at: 1, batchId: 'b', stepId: 's' },
    sequences: Array.from({ length: count }, () => ({ tokens: 10 })),
  });
  expect(() => job.send(ready(1025))).toThrow(expect.objectContaining({ code: 'limit_exceeded', path: 'sequences' }));
  expect(job.send(ready(1024))[0]!.type).toBe('batch.run');
  expect(() => create(flexrl, { devices: 2, maxSteps: 3_000_001 })).toThrow(
    expect.objectContaining({ path: 'maxSteps' }),
  );
});
