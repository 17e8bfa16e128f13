/** What shadow-loader says after a restart, to a host that has forgotten what it drew and planned. */
import { describe, expect, test } from 'vitest';
import { create, flexrl, registry } from '../../../src/index.ts';
import { refusal } from '../../support/basics/refusal.ts';
import { node, LoaderSession as Session, text, two, types, video } from '../../support/sessions/loader.ts';
import { only } from '../../support/sessions/session.ts';

const small = { nodes: [node('a', 100, 0)] };
const pair = (second: object) => [
  { sampleId: 'a', ranks: [0] },
  { sampleId: 'b', ranks: [0], ...second },
];

describe('shadow-loader: open steps after a restart', () => {
  test('a step whose samples have all left is named, so that it can end and the next one begin', () => {
    const session = new Session(small);
    session.draw('s1', video('a', 60, { uses: 1 }));
    session.draw('s2', video('b', 60, { uses: 1 }));
    session.done(0, 'a', 60);
    session.plan('one', [{ sampleId: 'a', ranks: [0] }], 's1');
    expect(types(session.has(0, 0))).toEqual(['sample.evict', 'batch.materialized']);
    session.restore();
    expect(session.restart()).toMatchObject([
      { type: 'step.resumed', stepId: 's1', samples: [], reason: { code: 'host_restarted', samples: 0 } },
      { type: 'step.resumed', stepId: 's2', samples: ['b'] },
      { type: 'sample.placeholder', sampleId: 'b', reason: { code: 'host_restarted' } },
    ]);
    expect(session.complete('s1')).toMatchObject([{ type: 'sample.preprocess', sampleId: 'b' }]);
  });

  test('so are steps of text alone', () => {
    const session = new Session(small);
    session.draw('s1', text('t', { uses: 3, ref: 'row 1' }), text('u'));
    session.plan('one', [{ sampleId: 't', ranks: [0] }], 's1');
    session.restore();
    expect(session.restart()).toEqual([
      {
        type: 'step.resumed',
        at: 0,
        stepId: 's1',
        samples: ['t', 'u'],
        reason: { code: 'host_restarted', samples: 2 },
      },
      {
        type: 'sample.placeholder',
        at: 0,
        sampleId: 't',
        shapes: [],
        ref: 'row 1',
        reason: { code: 'host_restarted' },
      },
      { type: 'sample.placeholder', at: 0, sampleId: 'u', shapes: [], reason: { code: 'host_restarted' } },
    ]);
    expect(types(session.complete('s1'))).toEqual(['sample.released', 'sample.released']);
    expect(session.state).toMatchObject({ steps: [], samples: [] });
  });

  test('every sample is named with its shapes, those that wait for memory too, before any is preprocessed', () => {
    const session = new Session(small);
    session.draw('s1', video('a', 60), video('b', 60));
    expect(types(session.restart())).toEqual([
      'step.resumed',
      'sample.placeholder',
      'sample.placeholder',
      'sample.preprocess',
    ]);
  });

  test('a step that is completed is not named; what its open batches still needed leaves', () => {
    const session = new Session(small);
    session.draw('s1', video('a'));
    session.plan('one', [{ sampleId: 'a', ranks: [0] }], 's1');
    session.complete('s1');
    expect(session.restart()).toMatchObject([
      { type: 'batch.abandoned', batchId: 'one' },
      { type: 'sample.released', sampleId: 'a', reason: { code: 'step_completed' } },
    ]);
    expect(session.state).toMatchObject({ steps: [], samples: [], batches: [] });
  });

  test('flexrl names them too', () => {
    const job = create(flexrl, { devices: 2, ...small });
    job.send({ type: 'samples.drawn', at: 0, stepId: 's1', samples: [text('t')] });
    const again = registry.restore(JSON.parse(JSON.stringify(job.snapshot())));
    expect(again.send({ type: 'host.restarted', at: 1, idPrefix: 'h-' })).toMatchObject([
      { type: 'step.resumed', stepId: 's1', samples: ['t'] },
      { type: 'sample.placeholder', sampleId: 't' },
    ]);
  });
});

describe('shadow-loader: a batch that is given up has used nothing', () => {
  const abandon = {
    withdrawn: (session: Session) => session.send({ type: 'batch.withdrawn', batchId: 'b0' } as never),
    'restarted, with a restore before': (session: Session) => {
      session.restore();
      return session.restart();
    },
  };

  test.each(Object.entries(abandon))('%s: uses that were counted for it are given back', (_how, giveUp) => {
    const session = new Session();
    session.draw('s', video('a', 10, { uses: 2 }), video('b', 10, { uses: 2 }), text('t', { uses: 2 }));
    session.done(0, 'a');
    session.plan('b0', [...pair({}), { sampleId: 't', ranks: [0] }]);
    expect(session.has(0, 0)).toEqual([]);
    expect(session.state.samples.map((one) => one.used)).toEqual([1, 0, 1]);
    const [abandoned] = only(giveUp(session), 'batch.abandoned');
    expect(abandoned).toMatchObject({ batchId: 'b0', open: 1, gone: [] });
    expect(session.state.samples.map((one) => one.used)).toEqual([0, 0, 0]);
    for (const batchId of ['again', 'b1']) session.plan(batchId, [...pair({}), { sampleId: 't', ranks: [0] }]);
    expect(session.refuses({ ...planned('b2', 'a') })).toMatchObject({ code: 'limit_exceeded' });
  });

  test.each(Object.entries(abandon))('%s: what has left by its last use for it is named', (_how, giveUp) => {
    const session = new Session();
    session.draw('s', video('a', 10, { uses: 1, ref: 'row 7' }), video('b'), text('t', { uses: 1 }));
    session.done(0, 'a');
    session.plan('b0', [...pair({}), { sampleId: 't', ranks: [0] }]);
    expect(session.has(0, 0)).toMatchObject([{ type: 'sample.evict', sampleId: 'a', reason: { code: 'last_use' } }]);
    const gone = [{ sampleId: 't' }, { sampleId: 'a', ref: 'row 7' }];
    expect(only(giveUp(session), 'batch.abandoned')).toMatchObject([{ batchId: 'b0', gone }]);
  });

  test('an id that is drawn again meanwhile is another sample: its uses are its own', () => {
    const session = new Session();
    session.draw('s', video('a', 10, { uses: 1 }), video('b'));
    session.done(0, 'a');
    session.plan('b0', pair({}));
    session.has(0, 0);
    session.draw('s', video('a', 10, { uses: 2 }));
    session.restore();
    expect(only(session.restart(), 'batch.abandoned')).toMatchObject([{ gone: [{ sampleId: 'a' }] }]);
    expect(session.state.samples.map((one) => [one.id, one.used])).toEqual([
      ['b', 0],
      ['a', 0],
    ]);
  });

  test('a batch that is over has used what it has used', () => {
    const session = new Session();
    session.draw('s', video('a', 10, { uses: 2 }));
    session.done(0, 'a');
    session.plan('b0', [{ sampleId: 'a', ranks: [0] }]);
    session.has(0, 0);
    expect(session.send({ type: 'batch.withdrawn', batchId: 'b0' } as never)).toEqual([]);
    session.restart();
    expect(session.state.samples).toMatchObject([{ id: 'a', used: 1 }]);
  });
});

const planned = (batchId: string, sampleId: string) => ({
  type: 'batch.run',
  batchId,
  stepId: 's',
  assignments: [{ sequence: 0, sampleId, degree: 1, ranks: [0] }],
  reason: { code: 'host' },
});

describe('shadow-loader: snapshots', () => {
  function saved(): { snapshot: { state: object }; session: Session } {
    const session = new Session();
    session.draw('s', video('a', 10, { uses: 2 }), video('b', 10, { uses: 2 }));
    session.plan('b0', pair({}));
    return { snapshot: JSON.parse(JSON.stringify(session.loader.snapshot())), session };
  }

  test('are gone on from', () => {
    const { snapshot, session } = saved();
    const again = registry.restore(snapshot);
    expect(again.snapshot()).toEqual(session.loader.snapshot());
    const event = { type: 'host.restarted', at: 1, idPrefix: 'h-' } as const;
    expect(again.send(event)).toEqual(session.loader.send(event));
  });

  test('earlier versions are refused by name, inside the snapshot of flexrl too', () => {
    const job = JSON.parse(JSON.stringify(create(flexrl, { devices: 4, nodes: two }).snapshot()));
    const { snapshot } = saved();
    for (const version of [1, 2]) {
      expect(refusal(() => registry.restore({ ...snapshot, version }))).toMatchObject({
        code: 'snapshot_mismatch',
        path: 'snapshot.version',
      });
      job.state.parts.loader.version = version;
      expect(refusal(() => registry.restore(job))).toMatchObject({
        code: 'snapshot_mismatch',
        path: 'snapshot.state.parts.loader.version',
      });
    }
  });

  test('what is none is refused by name', () => {
    const { snapshot } = saved();
    const refused = (state: unknown) => expect(() => registry.restore({ ...snapshot, state })).toThrow('snapshot');
    refused(null);
    refused({ ...snapshot.state, batches: 3 });
    refused({ ...snapshot.state, batches: [null] });
  });

  test.each([
    ['steps', 'snapshot.state.samples[0].step'],
    ['nodes', 'snapshot.state.samples[0].node'],
    ['samples', 'snapshot.state.batches[0].demands[0].sample'],
  ])('one whose parts do not belong together is refused: without its %s', (part, path) => {
    const { snapshot } = saved();
    const state = { ...snapshot.state, [part]: [] };
    expect(refusal(() => registry.restore({ ...snapshot, state }))).toMatchObject({ code: 'snapshot_mismatch', path });
  });
});
