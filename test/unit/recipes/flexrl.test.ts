import { describe, expect, test } from 'vitest';
import { create, flexrl, registry } from '../../../src/index.ts';
import type { FlexrlInput } from '../../../src/recipes/flexrl/index.ts';
import type { VocabularyDecision } from '../../../src/schemas/index.ts';
import { refusal } from '../../support/basics/refusal.ts';
import { only } from '../../support/sessions/session.ts';

const resolution = { width: 28, height: 28 };
const clip = { sampleId: 'clip', kind: 'video' as const, path: '/clip.mp4', frames: 8, resolution, bytes: 80 };
const nodes = [
  { nodeId: 'n0', hostMemoryBytes: 100, ranks: [0, 1] },
  { nodeId: 'n1', hostMemoryBytes: 100, ranks: [2, 3] },
];

function jobWithClip(config: Partial<FlexrlInput> = {}) {
  const job = create(flexrl, { devices: 4, strategy: 'ulysses', nodes, ...config });
  job.send({ type: 'samples.drawn', at: 0, stepId: 's', samples: [clip] });
  job.send({ type: 'sample.preprocessed', at: 0, preprocessId: 'preprocess/0', nodeId: 'n0', bytes: 80 });
  return job;
}
const ready = (batchId: string, ...sequences: { tokens: number; sampleId?: string; frames?: number }[]) =>
  ({ type: 'batch.ready', at: 1, batchId, stepId: 's', sequences }) as const;

describe('flexrl', () => {
  test('a batch that is ready is planned, and what the plan needs is fetched', () => {
    const job = jobWithClip({ ulyssesDegree: 2 });
    const decisions = job.send(ready('b', { tokens: 400, sampleId: 'clip' }, { tokens: 100 }));
    expect(decisions).toMatchObject([
      {
        type: 'batch.run',
        batchId: 'b',
        stepId: 's',
        assignments: [
          { sequence: 0, sampleId: 'clip', degree: 2, ranks: [0, 1] },
          { sequence: 1, degree: 2, ranks: [2, 3] },
        ],
        reason: { code: 'planned', maxCompute: 80_000 },
      },
      { type: 'sample.materialize', rank: 0, fromFrame: 0, toFrame: 4, reason: { code: 'same_node' } },
      { type: 'sample.materialize', rank: 1, fromFrame: 4, toFrame: 8 },
    ]);
    expect(job.send({ type: 'slice.materialized', at: 2, sliceId: 'slice/0', rank: 0 })).toEqual([]);
    expect(job.send({ type: 'slice.materialized', at: 2, sliceId: 'slice/1', rank: 1 })).toMatchObject([
      { type: 'batch.materialized', slices: 2 },
    ]);
  });

  test('a batch without a plan, or with a sample that is not here, is refused, and nothing has changed', () => {
    const costs = {
      compute: [
        { tokens: 0, value: 0 },
        { tokens: 1000, value: 9 },
      ],
    };
    const job = jobWithClip({ costs });
    const before = job.snapshot();
    const refused = (event: Parameters<typeof job.send>[0]) => refusal(() => job.send(event));
    expect(refused(ready('b', { tokens: 400, sampleId: 'clip' }, { tokens: 1001 }))).toMatchObject({
      code: 'infeasible',
    });
    expect(refused(ready('b', { tokens: 400, sampleId: 'other' }))).toMatchObject({ code: 'unknown_id' });
    expect(refused(ready('b', { tokens: 400, sampleId: 'clip', frames: 9 }))).toMatchObject({ code: 'invalid_event' });
    expect(job.snapshot()).toEqual(before);
    expect(job.send(ready('b', { tokens: 400, sampleId: 'clip' }))).toHaveLength(5);
    expect(refused(ready('b', { tokens: 400 }))).toMatchObject({ code: 'duplicate_id', path: 'batchId' });
  });

  test('frames may be spread over more devices than the sequence', () => {
    const job = jobWithClip({ ulyssesDegree: 1 });
    const decisions = job.send(ready('b', { tokens: 400, sampleId: 'clip', frames: 8 }));
    const slices = only(decisions as VocabularyDecision[], 'sample.materialize');
    // Each frame once, wherever the planner has it encoded.
    const frames = slices.flatMap((one) =>
      Array.from({ length: one.toFrame - one.fromFrame }, (_, at) => one.fromFrame + at),
    );
    expect(frames.sort((a, b) => a - b)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  });

  test('events inside the recipe are refused from outside, settings that do not fit at once', () => {
    const job = create(flexrl, { devices: 2 });
    const planned = {
      type: 'batch.run',
      at: 0,
      batchId: 'b',
      stepId: 's',
      assignments: [],
      reason: { code: 'host' },
    };
    expect(refusal(() => job.send(planned as never))).toMatchObject({ code: 'invalid_event', path: 'type' });
    const costs = { communication: [{ degree: 4, cost: { perToken: 1 } }] };
    expect(refusal(() => create(flexrl, { devices: 4, costs }))).toMatchObject({
      code: 'invalid_config',
      path: 'costs.communication',
    });
  });

  test('a batch that is open goes on after a restore', () => {
    const job = jobWithClip();
    job.send(ready('b', { tokens: 400, sampleId: 'clip' }));
    const again = registry.restore(JSON.parse(JSON.stringify(job.snapshot())));
    expect(again.send({ type: 'node.lost', at: 2, nodeId: 'n0' })).toEqual(
      job.send({ type: 'node.lost', at: 2, nodeId: 'n0' }),
    );
  });
});
