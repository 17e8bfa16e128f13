import { describe, expect, test } from 'vitest';
import { create, registry, shadowLoader } from '../../../src/index.ts';
import { checkCost } from '../../../src/testing/index.ts';
import { refusal } from '../../support/basics/refusal.ts';
import { node, LoaderSession as Session, two, types, video } from '../../support/sessions/loader.ts';
import { only } from '../../support/sessions/session.ts';

describe('shadow-loader: preprocessing', () => {
  test('a sample goes as metadata to the least loaded node, by bytes in relation to its weight, and is registered', () => {
    const session = new Session({ nodes: [node('a', 100), { ...node('b', 100), weight: 3 }], channels: 1 });
    const given = session.draw('s', video('x', 20, { ref: 'row 7' }), video('y', 20), video('z', 20), video('w', 20));
    expect(given[0]).toEqual({
      type: 'sample.placeholder',
      at: 0,
      sampleId: 'x',
      shapes: [{ name: 'pixel_values_videos', shape: [8, 1, 56, 28], bytesPerFrame: 3 }],
      ref: 'row 7',
      reason: { code: 'drawn' },
    });
    const begun = only(given, 'sample.preprocess');
    // Loads a/b: 0/0, 20/0, 20/6.7, 20/13.3.
    expect(begun.map((one) => one.nodeId)).toEqual(['a', 'b', 'b', 'b']);
    expect(begun[0]).toMatchObject({ path: '/data/x.mp4', ref: 'row 7', reason: { code: 'drawn', queued: 0 } });
    const reason = { code: 'preprocessed', reservedBytes: 20 };
    expect(session.done(0, 'a', 15)).toEqual([
      { type: 'sample.registered', at: 0, sampleId: 'x', nodeId: 'a', bytes: 15, reason },
    ]);
  });

  test('text needs no preprocessing: no shapes, no node, and it leaves without an eviction', () => {
    const session = new Session({});
    expect(session.draw('s', { sampleId: 't', kind: 'text' })).toMatchObject([
      { type: 'sample.placeholder', shapes: [] },
    ]);
    expect(types(session.plan('b', [{ sampleId: 't', ranks: [0] }]))).toEqual(['batch.materialized']);
    expect(session.send({ type: 'step.completed', stepId: 's' } as never)).toMatchObject([
      { type: 'sample.released', sampleId: 't', reason: { code: 'step_completed' } },
    ]);
  });

  test('what does not fit waits in the order of its step and of its draw; a large one is not passed by', () => {
    const session = new Session({ nodes: [node('a', 30)], prefetchSteps: 1, prefetchFraction: 1 });
    expect(types(session.draw('s', video('x'), video('large', 25), video('small', 5)))).toEqual([
      'sample.placeholder',
      'sample.placeholder',
      'sample.placeholder',
      'sample.preprocess',
    ]);
    session.done(0, 'a');
    session.plan('b', [{ sampleId: 'x', ranks: [0] }]);
    session.has(0, 0);
    expect(session.send({ type: 'batch.withdrawn', batchId: 'b' } as never)).toEqual([]);
    expect(only(session.plan('c', [{ sampleId: 'small', ranks: [0] }]), 'sample.preprocess')).toMatchObject([
      { sampleId: 'small', reason: { code: 'drawn' } },
    ]);
  });

  test('a sample larger than every node is dropped by name, and its batch goes on', () => {
    const session = new Session();
    expect(only(session.draw('s', video('huge', 101), video('x')), 'sample.dropped')).toMatchObject([
      { sampleId: 'huge', stepId: 's', reason: { code: 'too_large', bytes: 101, largestBudgetBytes: 100 } },
    ]);
    // Without a node nothing is too large: one may come.
    const alone = new Session({});
    expect(types(alone.draw('s', video('huge', 101)))).toEqual(['sample.placeholder']);
    expect(types(alone.send({ type: 'node.added', ...node('a', 101) } as never))).toEqual(['sample.preprocess']);
  });

  test('the next step is prefetched within its share of the memory, later ones wait', () => {
    const session = new Session({ nodes: [node('a', 100)], prefetchFraction: 0.25 });
    session.draw('s', video('x'));
    expect(types(session.draw('t', video('y'), video('z'), video('w')))).toEqual([
      ...Array(3).fill('sample.placeholder'),
      'sample.prefetch',
      'sample.prefetch',
    ]);
    session.draw('u', video('v'));
    expect(types(session.done(1, 'a', 5))).toEqual(['sample.registered', 'sample.prefetch']);
    // The step is over: what was ahead is current, and the step behind it is next.
    const given = session.send({ type: 'step.completed', stepId: 's' } as never);
    expect(given).toMatchObject([
      { type: 'sample.evict', sampleId: 'x', reason: { code: 'step_completed' } },
      { type: 'sample.prefetch', sampleId: 'v' },
    ]);
  });

  test('what is needed now, or has left, no longer takes the room of what is prefetched', () => {
    const drawn = () => {
      const session = new Session({ nodes: [node('a', 100, 0)], prefetchFraction: 0.25 });
      session.draw('s', video('x'));
      session.draw('t', video('y'), video('z'), video('w'));
      return session;
    };
    const prefetched = [{ type: 'sample.prefetch', sampleId: 'w' }];
    expect(only(drawn().plan('b', [{ sampleId: 'y', ranks: [0] }], 't'), 'sample.prefetch')).toMatchObject(prefetched);
    expect(only(drawn().failed(1, 'a', 'data'), 'sample.prefetch')).toMatchObject(prefetched);
  });

  test('what a batch waits for displaces what no batch needs, the least urgent first', () => {
    const session = new Session({ nodes: [node('a', 30)], prefetchFraction: 1 });
    session.draw('s', video('x'), video('y'), video('z'), video('w'));
    for (const id of [0, 1, 2]) session.done(id, 'a');
    const given = session.plan('b', [{ sampleId: 'w', ranks: [0] }]);
    expect(given).toMatchObject([
      { type: 'sample.evict', sampleId: 'z', reason: { code: 'displaced', neededBytes: 10 } },
      { type: 'sample.preprocess', sampleId: 'w' },
    ]);
    session.done(3, 'a');
    session.has(0, 0);
    session.send({ type: 'batch.withdrawn', batchId: 'b' } as never);
    expect(session.plan('c', [{ sampleId: 'z', ranks: [0] }])).toMatchObject([
      { type: 'sample.evict', sampleId: 'w' },
      { type: 'sample.preprocess', sampleId: 'z', reason: { code: 'displaced' } },
    ]);
  });

  test('faults of nodes are tried again elsewhere, faults of the sample within their own budget', () => {
    const session = new Session({ nodes: two, retry: { infrastructure: 1, data: 1 } });
    session.draw('s', video('x'));
    const reason = { code: 'retry', failures: 1, budget: 1 };
    expect(session.failed(0, 'a', 'infrastructure')).toMatchObject([
      { preprocessId: 'preprocess/1', nodeId: 'b', reason },
    ]);
    expect(session.failed(1, 'b', 'data')).toMatchObject([{ type: 'sample.preprocess', nodeId: 'b' }]);
    expect(session.failed(2, 'b', 'data')).toMatchObject([
      { type: 'sample.dropped', reason: { code: 'data', failures: 2, budget: 1 } },
    ]);
  });

  test('tensors that are larger than expected: reported before, and after the fact', () => {
    const session = new Session({ nodes: [node('a', 30)] });
    session.draw('s', video('x'), video('y'));
    expect(session.failed(0, 'a', 'memory', { bytes: 18 })).toMatchObject([
      { type: 'sample.preprocess', bytes: 18, reason: { code: 'memory' } },
    ]);
    // 18 + 12 have room, 18 + 13 have not.
    expect(session.done(1, 'a', 13)).toMatchObject([
      { type: 'sample.evict', sampleId: 'y', reason: { code: 'memory', reservedBytes: 10, usedBytes: 13 } },
    ]);
    expect(session.done(2, 'a', 17)).toMatchObject([
      { type: 'sample.registered', sampleId: 'x' },
      { type: 'sample.preprocess', sampleId: 'y', bytes: 13 },
    ]);
  });

  test('a report that comes late, or twice, is a notice', () => {
    const session = new Session();
    session.draw('s', video('x'));
    session.done(0, 'a');
    expect(session.done(0, 'a')).toMatchObject([{ type: 'preprocess.late', reason: { code: 'over' } }]);
    expect(session.failed(0, 'b', 'data')).toMatchObject([{ type: 'preprocess.late' }]);
  });
});

describe('shadow-loader: materialization', () => {
  test('each rank fetches only its frames, from its own node first', () => {
    const session = new Session();
    session.draw('s', video('x'));
    session.done(0, 'a');
    const given = session.plan('b', [{ sampleId: 'x', ranks: [1, 2, 3] }]);
    expect(given).toMatchObject([
      { type: 'sample.materialize', rank: 1, fromFrame: 0, toFrame: 2, from: 'a', reason: { code: 'same_node' } },
      { type: 'sample.materialize', rank: 2, fromFrame: 2, toFrame: 5, from: 'a', reason: { code: 'other_node' } },
      { type: 'sample.materialize', rank: 3, fromFrame: 5, toFrame: 8, from: 'a' },
    ]);
    expect(given[1]).toMatchObject({ sliceId: 'slice/1', attempt: 0, batchId: 'b', bytes: 4 });
    expect([...session.has(0, 1), ...session.has(2, 3)]).toEqual([]);
    expect(session.send({ type: 'slice.materialized', at: 4, sliceId: 'slice/1', rank: 2 } as never)).toMatchObject([
      { type: 'batch.materialized', slices: 3, missing: [], reason: { code: 'delivered', waitedSeconds: 4 } },
    ]);
    expect(session.has(1, 2)).toMatchObject([{ type: 'slice.late', reason: { code: 'over' } }]);
  });

  test('several sequences of one sample: it is decoded once, and a rank gets each frame once', () => {
    const session = new Session();
    session.draw('s', video('x'));
    const slices = [{ rank: 0, fromFrame: 3, toFrame: 6 }];
    session.plan('b', [
      { sampleId: 'x', ranks: [0, 1] },
      { sampleId: 'x', ranks: [0, 1] },
      { sampleId: 'x', ranks: [2], slices },
      { sampleId: 'x', ranks: [3] },
    ]);
    const given = session.done(0, 'a');
    expect(only(given, 'sample.materialize').map((one) => [one.rank, one.fromFrame, one.toFrame])).toEqual([
      [0, 0, 6],
      [1, 4, 8],
      [3, 0, 8],
    ]);
  });

  test('a sample is evicted after its last use, and not before its slices have arrived', () => {
    const session = new Session();
    session.draw('s', video('x', 10, { uses: 2 }), video('y', 10, { uses: 1 }));
    session.done(0, 'a');
    session.done(1, 'b');
    session.plan('rollout', [{ sampleId: 'x', ranks: [0] }]);
    expect(types(session.has(0, 0))).toEqual(['batch.materialized']);
    session.plan('update', [
      { sampleId: 'x', ranks: [0] },
      { sampleId: 'y', ranks: [1] },
    ]);
    expect(session.send({ type: 'step.completed', stepId: 's' } as never)).toEqual([]);
    expect(session.has(1, 0)).toMatchObject([
      { type: 'sample.evict', sampleId: 'x', nodeId: 'a', bytes: 10, reason: { code: 'last_use', uses: 2 } },
    ]);
    expect(types(session.has(2, 1))).toEqual(['sample.evict', 'batch.materialized']);
    expect(session.loader.snapshot().state).toMatchObject({ samples: [], batches: [], steps: [] });
  });

  test('a lost node costs its own samples only; slices that have arrived are not fetched again', () => {
    const session = new Session();
    session.draw('s', video('x'), video('y'));
    session.done(0, 'a');
    session.done(1, 'b');
    session.plan('c', [
      { sampleId: 'x', ranks: [0, 1] },
      { sampleId: 'y', ranks: [2] },
    ]);
    session.has(0, 0);
    const lost = session.send({ type: 'node.lost', nodeId: 'a' } as never);
    expect(lost).toMatchObject([
      { type: 'sample.preprocess', sampleId: 'x', nodeId: 'b', reason: { code: 'node_lost' } },
    ]);
    expect(session.send({ type: 'node.lost', nodeId: 'a' } as never)).toEqual([]);
    // The other sample is not held up.
    expect(session.has(2, 2)).toEqual([]);
    expect(only(session.done(2, 'b'), 'sample.materialize')).toMatchObject([
      { sliceId: 'slice/1', attempt: 1, rank: 1, from: 'b' },
    ]);
    expect(types(session.has(1, 1))).toEqual(['batch.materialized']);
  });

  test('a slice that arrives after its node was lost is not fetched again', () => {
    const session = new Session();
    session.draw('s', video('x', 10, { uses: 1 }));
    session.done(0, 'a');
    session.plan('c', [{ sampleId: 'x', ranks: [0] }]);
    session.send({ type: 'node.lost', nodeId: 'a' } as never);
    expect(session.has(0, 0)).toMatchObject([
      { type: 'sample.evict', sampleId: 'x', nodeId: 'b', reason: { code: 'last_use' } },
      { type: 'batch.materialized' },
    ]);
    expect(session.done(1, 'b')).toMatchObject([{ type: 'preprocess.late' }]);
  });

  test('a fetch that fails is tried again, from a new copy where the node has none; then the sample is dropped', () => {
    const session = new Session({ nodes: two, retry: { transfer: 1 } });
    session.draw('s', video('x'));
    session.done(0, 'a');
    session.plan('c', [{ sampleId: 'x', ranks: [0] }]);
    const failed = (attempt: number, kind: string) =>
      session.send({ type: 'slice.failed', sliceId: 'slice/0', rank: 0, attempt, kind } as never);
    expect(failed(0, 'transfer')).toMatchObject([{ type: 'sample.materialize', sliceId: 'slice/0', attempt: 1 }]);
    expect(failed(0, 'transfer')).toMatchObject([
      { type: 'slice.late', reason: { code: 'earlier_attempt', attempt: 0 } },
    ]);
    expect(failed(1, 'missing')).toMatchObject([
      { type: 'sample.evict', reason: { code: 'copy_missing' } },
      { type: 'sample.preprocess', reason: { code: 'copy_missing' } },
    ]);
    session.done(1, 'a');
    // It is set aside, until another slice is fetched from there: then it is tried at once.
    expect(failed(2, 'transfer')).toMatchObject([
      { type: 'timer.set', fireAtSeconds: 60, reason: { code: 'retry_pause' } },
    ]);
    expect(failed(2, 'transfer')).toMatchObject([{ type: 'slice.late' }]);
    session.plan('d', [{ sampleId: 'x', ranks: [2] }]);
    expect(session.has(1, 2)).toMatchObject([
      { type: 'batch.materialized', batchId: 'd', reason: { code: 'delivered' } },
      { type: 'sample.materialize', sliceId: 'slice/0', attempt: 3 },
    ]);
    // What fails now is its own, once four others were fetched since.
    expect(failed(3, 'transfer')).toMatchObject([{ type: 'sample.materialize', sliceId: 'slice/0', attempt: 4 }]);
    // The timer at 60 s is set still.
    expect(failed(4, 'transfer')).toEqual([]);
    const fetched = [2, 3, 4, 5].map((slice) => {
      session.plan(`e${slice}`, [{ sampleId: 'x', ranks: [2] }]);
      return session.has(slice, 2);
    });
    expect(fetched.map((all) => all.map(({ type }) => type)).slice(0, 3)).toEqual([
      ['batch.materialized'],
      ['batch.materialized'],
      ['batch.materialized'],
    ]);
    expect(fetched[3]!.slice(1)).toMatchObject([
      { type: 'sample.dropped', reason: { code: 'transfer', failures: 2, budget: 1 } },
      { type: 'sample.evict', reason: { code: 'dropped' } },
      { type: 'batch.materialized', slices: 0, missing: ['x'], reason: { code: 'samples_dropped', dropped: 1 } },
    ]);
  });

  test('a sample whose ranks are known goes to their node, among nodes that are equally loaded', () => {
    const session = new Session({ nodes: two, prefetchSteps: 0 });
    session.draw('s', { sampleId: 't', kind: 'text' });
    expect(types(session.draw('later', video('x')))).toEqual(['sample.placeholder']);
    expect(session.plan('b', [{ sampleId: 'x', ranks: [1, 2, 3] }])).toMatchObject([
      { type: 'sample.preprocess', sampleId: 'x', nodeId: 'b' },
    ]);
  });

  test('after a restart of the host everything is preprocessed anew, and batches are planned anew', () => {
    const session = new Session();
    session.draw('s', video('x'), video('y'));
    session.done(0, 'a');
    session.plan('b', [{ sampleId: 'x', ranks: [0] }]);
    const given = session.send({ type: 'host.restarted', idPrefix: 'h-' } as never);
    expect(given).toMatchObject([
      { type: 'batch.abandoned', batchId: 'b', open: 1, reason: { code: 'host_restarted' } },
      { type: 'step.resumed', stepId: 's', samples: ['x', 'y'] },
      { type: 'sample.placeholder', sampleId: 'x' },
      { type: 'sample.placeholder', sampleId: 'y' },
      { type: 'sample.preprocess', preprocessId: 'h-preprocess/2', sampleId: 'x', reason: { code: 'host_restarted' } },
      { type: 'sample.preprocess', sampleId: 'y' },
    ]);
    expect(session.done(1, 'b')).toMatchObject([{ type: 'preprocess.late' }]);
    expect(session.has(0, 0)).toMatchObject([{ type: 'slice.late' }]);
  });
});

describe('shadow-loader: refusals', () => {
  test('what does not fit the state is refused by code and path, and changes nothing', () => {
    const session = new Session();
    session.draw('s', video('x', 10, { uses: 1 }), { sampleId: 't', kind: 'text' });
    session.plan('b', [{ sampleId: 'x', ranks: [0] }]);
    const drawn = { type: 'samples.drawn', stepId: 's' };
    const planned = { type: 'batch.run', batchId: 'c', stepId: 's', reason: { code: 'host' } };
    const sequence = { sequence: 0, degree: 1, ranks: [0] };
    const cases: [object, string, string][] = [
      [{ ...drawn, samples: [video('y'), video('y')] }, 'duplicate_id', 'samples[1].sampleId'],
      [{ ...drawn, samples: [video('x')] }, 'duplicate_id', 'samples[0].sampleId'],
      [{ ...drawn, samples: [{ sampleId: 'y', kind: 'video' }] }, 'invalid_event', 'samples[0].path'],
      [{ ...drawn, samples: [{ ...video('y'), pixels: [1, 2] }] }, 'invalid_event', 'samples[0].pixels'],
      [{ type: 'node.lost', nodeId: 'q' }, 'unknown_id', 'nodeId'],
      [{ type: 'node.added', nodeId: 'a', hostMemoryBytes: 9 }, 'limit_exceeded', 'hostMemoryBytes'],
      [{ type: 'sample.preprocessed', preprocessId: 'preprocess/0', nodeId: 'b', bytes: 9 }, 'invalid_event', 'nodeId'],
      [
        { type: 'sample.preprocessed', preprocessId: 'preprocess/9', nodeId: 'a', bytes: 9 },
        'unknown_id',
        'preprocessId',
      ],
      [
        { type: 'preprocess.failed', preprocessId: 'preprocess/0', nodeId: 'a', kind: 'memory' },
        'invalid_event',
        'bytes',
      ],
      [{ type: 'slice.materialized', sliceId: 'slice/0', rank: 0 }, 'out_of_order', 'sliceId'],
      [{ type: 'slice.materialized', sliceId: 'slice/0', rank: 1 }, 'invalid_event', 'rank'],
      [{ type: 'slice.materialized', sliceId: 'slice/7', rank: 1 }, 'unknown_id', 'sliceId'],
      [{ type: 'step.completed', stepId: 'z' }, 'unknown_id', 'stepId'],
      [{ type: 'batch.withdrawn', batchId: 'z' }, 'unknown_id', 'batchId'],
      [{ ...planned, batchId: 'b', assignments: [] }, 'duplicate_id', 'batchId'],
      [{ ...planned, stepId: 'z', assignments: [sequence] }, 'unknown_id', 'stepId'],
      [{ ...planned, assignments: [sequence, { ...sequence, degree: 2 }] }, 'invalid_event', 'assignments[1].degree'],
      [{ ...planned, assignments: [{ ...sequence, ranks: [0, 1] }] }, 'invalid_event', 'assignments[0].degree'],
      [
        { ...planned, assignments: [{ ...sequence, degree: 2, ranks: [3, 3] }] },
        'invalid_event',
        'assignments[0].ranks',
      ],
      [
        { ...planned, assignments: [{ ...sequence, degree: 2, ranks: [1, 0] }] },
        'invalid_event',
        'assignments[0].ranks',
      ],
      [{ ...planned, assignments: [{ ...sequence, sampleId: 'z' }] }, 'unknown_id', 'assignments[0].sampleId'],
      [{ ...planned, assignments: [{ ...sequence, sampleId: 'x' }] }, 'limit_exceeded', 'assignments[0].sampleId'],
      [
        { ...planned, assignments: [{ ...sequence, sampleId: 't', slices: [{ rank: 0, fromFrame: 0, toFrame: 1 }] }] },
        'invalid_event',
        'assignments[0].slices[0]',
      ],
      [{ type: 'host.restarted', idPrefix: '' }, 'duplicate_id', 'idPrefix'],
    ];
    for (const [event, code, path] of cases)
      expect(session.refuses(event), JSON.stringify(event)).toMatchObject({ code, path });
    session.send({ type: 'step.completed', stepId: 's' } as never);
    expect(session.refuses({ ...drawn, samples: [] })).toMatchObject({ code: 'out_of_order', path: 'stepId' });
    for (const sample of [{ sampleId: 'x' }, {}]) {
      const late = { ...planned, assignments: [{ ...sequence, ...sample }] };
      expect(session.refuses(late)).toMatchObject({ code: 'out_of_order', path: 'stepId' });
    }
    session.draw('another', video('w'));
    const late = { ...planned, stepId: 'another', assignments: [{ ...sequence, sampleId: 'x' }] };
    expect(session.refuses(late)).toMatchObject({ code: 'out_of_order', path: 'assignments[0].sampleId' });
  });

  test('a configuration with a node twice, and a snapshot with a sample of no step, are refused', () => {
    expect(refusal(() => create(shadowLoader, { nodes: [two[0]!, two[0]!] }))).toMatchObject({
      code: 'invalid_config',
    });
    const session = new Session();
    session.draw('s', video('x'));
    const snapshot = JSON.parse(JSON.stringify(session.loader.snapshot()));
    snapshot.state.steps = [];
    expect(refusal(() => registry.restore(snapshot))).toMatchObject({ code: 'snapshot_mismatch' });
  });
});

test('shadow-loader keeps law 10: no event walks over what is in flight', () => {
  const reason = { code: 'host' };
  const batch = (batchId: string, from: number, count: number) => ({
    ...{ type: 'batch.run', at: 0, batchId, stepId: 's', reason },
    assignments: Array.from({ length: count }, (_, sequence) => {
      return { sequence, sampleId: `x${from + sequence}`, degree: 2, ranks: [0, 1] };
    }),
  });
  const nodes = ['a', 'b', 'c'].map((nodeId) => ({ nodeId, hostMemoryBytes: 1000, slots: 50 }));
  checkCost(shadowLoader, { nodes }, (n) => ({
    // Some are being preprocessed, some are registered, most wait; some batches are open.
    build: [
      { type: 'samples.drawn', at: 0, stepId: 's', samples: Array.from({ length: n }, (_, at) => video(`x${at}`, 5)) },
      ...Array.from({ length: 40 }, (_, id) => {
        return {
          type: 'sample.preprocessed',
          at: 0,
          preprocessId: `preprocess/${id}`,
          nodeId: 'abc'[id % 3],
          bytes: 5,
        };
      }),
      batch('open', 60, n - 100),
    ] as never,
    probes: [
      batch('new', 3, 2),
      { type: 'slice.materialized', at: 1, sliceId: `slice/${2 * (n - 100)}`, rank: 0 },
      { type: 'slice.failed', at: 1, sliceId: `slice/${2 * (n - 100) + 1}`, rank: 1, attempt: 0, kind: 'transfer' },
      { type: 'preprocess.failed', at: 1, preprocessId: 'preprocess/45', nodeId: 'a', kind: 'infrastructure' },
      { type: 'preprocess.failed', at: 1, preprocessId: 'preprocess/46', nodeId: 'b', kind: 'data' },
      { type: 'sample.preprocessed', at: 1, preprocessId: 'preprocess/47', nodeId: 'c', bytes: 4 },
      { type: 'samples.drawn', at: 1, stepId: 't', samples: [video('new')] },
      { type: 'batch.withdrawn', at: 1, batchId: 'new' },
      { type: 'step.completed', at: 1, stepId: 't' },
      { type: 'node.added', at: 1, nodeId: 'd', hostMemoryBytes: 10 },
      { type: 'node.lost', at: 1, nodeId: 'd' },
    ] as never,
  }));
});
