/** A policy of somebody else in the simulator. */
import { expect, test } from 'vitest';
import { create, speculativeAdmission } from '../../../../src/index.ts';
import type { DrivenPolicy } from '../../../../src/sim/cluster/event-loop.ts';
import { simulate } from '../../../../src/sim/colocated/driver.ts';
import type { Scheduler } from '../../../../src/sim/colocated/scheduler.ts';
import { overheard, plainJob, plainWorkload } from '../../../support/simulator/host.ts';

const shape = { promptsPerRound: 2, responsesPerPrompt: 2 };

/** Speculative admission, whose host places requests; with `blind` it takes no events about engines. */
const placedByHost = (blind: boolean): Scheduler => ({
  id: 'placed-by-host',
  label: 'placed by the host',
  holdsDeferred: false,
  create: () => {
    const policy = create(speculativeAdmission, shape);
    const takes = (type: string) => policy.takes(type) && !(blind && type.startsWith('engine.'));
    const send: DrivenPolicy['send'] = (event) => {
      if (!takes(event.type)) throw new Error(`told of ${event.type}`);
      return policy.send(event as never);
    };
    return { id: policy.id, takes, send };
  },
  openRound: (round) => ({ type: 'round.opened', ...round, kind: 'long', prompts: [] }) as never,
});

test('a policy that takes no events about engines is not told of them, and runs as one that places nothing', () => {
  const job = plainJob({ ...shape, engines: 2 });
  const workload = plainWorkload((prompt, k) => 3 + prompt + k);
  const runs = [true, false].map((blind) =>
    simulate(job, placedByHost(blind), workload, { prompts: 6, seed: 1, validate: true }),
  );
  expect(runs[0]!.steps).toHaveLength(3);
  expect(runs[0]).toEqual(runs[1]);
});

test('a policy says which events it takes; one that does not say is told of everything', () => {
  const policy = create(speculativeAdmission, shape);
  expect(['engine.added', 'engine.invented'].map((type) => policy.takes(type))).toEqual([true, false]);
  const { scheduler, heard } = overheard(placedByHost(false));
  simulate(
    plainJob(shape),
    scheduler,
    plainWorkload(() => 3),
    { prompts: 2, seed: 1 },
  );
  expect(heard.events.map((event) => event.type)).toContain('engine.added');
});
