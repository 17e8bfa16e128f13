/** Nodes that are lost: what is remembered of them, and what happens to samples that only they could hold. */
import { describe, expect, test } from 'vitest';
import { node, LoaderSession as Session, types, video } from '../../support/sessions/loader.ts';
import { only } from '../../support/sessions/session.ts';

describe('shadow-loader: nodes that are lost for good', () => {
  function churn(session: Session, from: number, count: number): void {
    for (let number = from; number < from + count; number += 1) {
      const nodeId = `n${String(number).padStart(6, '0')}`;
      session.add(nodeId, 50, [10 + (number % 1000)]);
      session.lose(nodeId);
    }
  }

  test('names that never repeat do not make the snapshot grow', () => {
    const session = new Session({ nodes: [node('a', 100, 2000)] });
    churn(session, 0, 200);
    const before = JSON.stringify(session.loader.snapshot()).length;
    churn(session, 200, 3000);
    const after = JSON.stringify(session.loader.snapshot());
    expect(after.length).toBeLessThan(before + 64);
    expect([session.state.nodes.length, session.state.lost.length]).toEqual([1, 64]);
    session.restore();
    expect(JSON.stringify(session.loader.snapshot())).toBe(after);
  });

  test('the last 64 are remembered with their ranks; what is said of an earlier one is refused', () => {
    const session = new Session({});
    session.add('first', 10, [1]);
    session.add('back', 10, [2]);
    session.lose('first');
    session.lose('back');
    churn(session, 0, 60);
    session.restore();
    expect(session.lose('first')).toEqual([]);
    session.add('back', 10);
    expect(session.state.nodes).toMatchObject([{ id: 'back', ranks: [2] }]);
    churn(session, 100, 3);
    expect(session.state.lost).toContainEqual(expect.objectContaining({ id: 'first', ranks: [1] }));
    churn(session, 200, 1);
    expect([...session.state.nodes, ...session.state.lost].map((one) => one.id)).not.toContain('first');
    expect(session.refuses({ type: 'node.lost', nodeId: 'first' })).toMatchObject({ code: 'unknown_id' });
  });

  test('a snapshot with more of them is cut to the last', () => {
    const session = new Session({ nodes: [node('a', 100)] });
    const snapshot = JSON.parse(JSON.stringify(session.loader.snapshot()));
    for (let number = 0; number < 100; number += 1) {
      snapshot.state.lost.push({ ...snapshot.state.nodes[0], id: `n${number}`, ranks: [number] });
    }
    session.resume(snapshot);
    expect(session.state.nodes.map((one) => one.id)).toEqual(['a']);
    expect(session.state.lost.map((one) => one.id)).toEqual(Array.from({ length: 64 }, (_, at) => `n${at + 36}`));
    expect(session.state.lost.flatMap((one) => one.ranks).length).toBe(64);
  });

  test('a node that failed on a sample is tried last when it comes back, as long as it is remembered', () => {
    for (const [others, next] of [
      [0, 'c'],
      [64, 'a'],
    ] as const) {
      const session = new Session({ nodes: ['a', 'b', 'c'].map((id) => node(id, 100)) });
      session.draw('s', video('x'));
      expect(session.failed(0, 'a', 'infrastructure')).toMatchObject([{ nodeId: 'b' }]);
      session.lose('a');
      churn(session, 0, others);
      session.restore();
      session.add('a', 100);
      expect(session.lose('b')).toMatchObject([{ type: 'sample.preprocess', nodeId: next }]);
    }
  });
});

describe('shadow-loader: a sample that only a lost node could hold', () => {
  const nodes = [node('big', 100, 0), node('small', 50, 1)];

  test('waits for it, holds up no other, and is told', () => {
    const session = new Session({ nodes });
    session.lose('big');
    expect(session.draw('s', video('x', 80), video('y', 20))).toMatchObject([
      { type: 'sample.placeholder' },
      { type: 'sample.placeholder' },
      {
        type: 'sample.unplaced',
        sampleId: 'x',
        stepId: 's',
        reason: { code: 'node_away', bytes: 80, largestBudgetBytes: 50, lostBudgetBytes: 100 },
      },
      { type: 'sample.preprocess', sampleId: 'y', nodeId: 'small' },
    ]);
    session.restore();
    // It is told once.
    expect(types(session.done(0, 'small', 20))).toEqual(['sample.registered']);
    expect(session.add('big', 100)).toMatchObject([{ type: 'sample.preprocess', sampleId: 'x', nodeId: 'big' }]);
  });

  test('what is on the node when it is lost waits as well, and its batch with it', () => {
    const session = new Session({ nodes });
    session.draw('s', video('x', 80));
    session.plan('b', [{ sampleId: 'x', ranks: [0] }]);
    expect(types(session.lose('big'))).toEqual(['sample.unplaced']);
    // Another node of that size will do.
    expect(session.add('other', 80)).toMatchObject([{ type: 'sample.preprocess', sampleId: 'x', nodeId: 'other' }]);
    session.done(1, 'other', 80);
    expect(types(session.has(0, 0))).toEqual(['batch.materialized']);
  });

  test('the host can give it up: with its batch and its step', () => {
    const session = new Session({ nodes });
    session.lose('big');
    session.draw('s', video('x', 80), video('y', 80, { uses: 1 }));
    expect(session.plan('b', [{ sampleId: 'x', ranks: [0] }])).toEqual([]);
    expect(types(session.send({ type: 'batch.withdrawn', batchId: 'b' } as never))).toEqual(['batch.abandoned']);
    expect(types(session.complete('s'))).toEqual(['sample.released', 'sample.released']);
    expect(session.state).toMatchObject({ steps: [], samples: [] });
    expect(session.add('big', 100)).toEqual([]);
  });

  test('what neither a node nor one of those could hold is dropped', () => {
    const session = new Session({ nodes });
    session.lose('big');
    expect(only(session.draw('s', video('x', 101)), 'sample.dropped')).toMatchObject([
      { reason: { code: 'too_large', bytes: 101, largestBudgetBytes: 100 } },
    ]);
    session.add('big', 60);
    // It has come back smaller.
    expect(only(session.draw('s', video('y', 80)), 'sample.dropped')).toMatchObject([
      { reason: { code: 'too_large', bytes: 80, largestBudgetBytes: 60 } },
    ]);
  });

  test('it is told again after a restart', () => {
    const session = new Session({ nodes });
    session.lose('big');
    session.draw('s', video('x', 80));
    session.restore();
    expect(types(session.restart())).toEqual(['step.resumed', 'sample.placeholder', 'sample.unplaced']);
  });
});
