import { describe, expect, it } from 'vitest';
import type { AnyDecision } from '../../../../src/core/machine/definition.ts';
import { isPolicyError } from '../../../../src/errors.ts';
import { Timers } from '../../../../src/sim/cluster/timers.ts';
import { simulate } from '../../../../src/sim/colocated/driver.ts';
import { defineJob } from '../../../../src/sim/colocated/job.ts';
import { type Scheduler, synchronousBaseline, tailBatchingScheduler } from '../../../../src/sim/colocated/scheduler.ts';
import { jobPreset } from '../../../../src/sim/models/presets.ts';
import { plainJob, plainWorkload } from '../../../support/simulator/host.ts';

function errorOf(act: () => unknown): { code: string; path: string } {
  try {
    act();
  } catch (error) {
    if (isPolicyError(error)) return { code: error.code, path: error.path };
    throw error;
  }
  throw new Error('expected an error');
}

const shape = { promptsPerRound: 2, responsesPerPrompt: 2 };
const job = plainJob(shape);
const workload = plainWorkload(() => 5);

describe('what the simulator refuses', () => {
  it.each([0, -1, 1.5, Number.NaN])('%s prompts', (prompts) => {
    const act = () => simulate(job, synchronousBaseline(job), workload, { prompts, seed: 1 });
    expect(errorOf(act)).toEqual({ code: 'invalid_input', path: 'prompts' });
  });

  it('a job with a bad or an unknown field', () => {
    expect(errorOf(() => defineJob({ ...job, engines: 0 }))).toEqual({ code: 'invalid_config', path: 'engines' });
    expect(errorOf(() => defineJob({ ...job, cost: { ...job.cost, memoryBoundSeconds: Number.NaN } }))).toEqual({
      code: 'invalid_config',
      path: 'cost.memoryBoundSeconds',
    });
    const extra = { ...job, gpus: 8 } as never;
    expect(errorOf(() => defineJob(extra))).toEqual({ code: 'invalid_config', path: 'gpus' });
  });

  it('an unknown preset', () => {
    expect(errorOf(() => jobPreset('gpt-9'))).toEqual({ code: 'unknown_id', path: 'preset' });
  });

  it('settings that a synchronous job without rewards cannot have', () => {
    expect(errorOf(() => tailBatchingScheduler(shape, { filter: 'zero-variance' }))).toEqual({
      code: 'infeasible',
      path: 'filter',
    });
    expect(errorOf(() => tailBatchingScheduler(shape, { promptSpeculation: 0.5 }))).toEqual({
      code: 'invalid_config',
      path: 'promptSpeculation',
    });
  });

  it('a request that can never fit an engine', () => {
    const tiny = plainJob(shape, { kvCapacityTokens: 12 });
    const act = () => simulate(tiny, synchronousBaseline(tiny), workload, { prompts: 2, seed: 1 });
    expect(errorOf(act).code).toBe('infeasible');
  });

  it('a policy that stops before the end', () => {
    const lazy = (decisions: readonly Record<string, unknown>[]): Scheduler => ({
      id: 'lazy',
      label: 'lazy',
      holdsDeferred: true,
      create: () => ({
        id: 'acme/lazy',
        send: (event) => (event.type === 'round.requested' ? (decisions as unknown as AnyDecision[]) : []),
      }),
      openRound: (round) => ({ type: 'round.requested', ...round }) as never,
    });
    const run = (decisions: readonly Record<string, unknown>[]) => () =>
      simulate(job, lazy(decisions), workload, { prompts: 2, seed: 1 });
    expect(errorOf(run([])).code).toBe('infeasible');
    expect(errorOf(run([{ type: 'source.drained' }])).code).toBe('infeasible');
    expect(errorOf(run([{ type: 'round.drained' }])).code).toBe('infeasible');
  });
});

describe('timers', () => {
  it('fire in order; a later one with the same id replaces the earlier one', () => {
    const timers = new Timers();
    expect(timers.nextAt()).toBe(Number.POSITIVE_INFINITY);
    timers.set('a', 5);
    timers.set('b', 3);
    timers.set('a', 1);
    expect(timers.nextAt()).toBe(1);
    expect([timers.take(4), timers.take(4), timers.take(4)]).toEqual(['a', 'b', undefined]);
  });
});
