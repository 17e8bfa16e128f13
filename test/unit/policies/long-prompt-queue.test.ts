import { describe, expect, test } from 'vitest';
import { create, longPromptQueue } from '../../../src/index.ts';
import type { LongPromptQueueInput } from '../../../src/policies/long-prompt-queue/index.ts';
import { only, Session } from '../../support/sessions/session.ts';

const queue = (config: Partial<LongPromptQueueInput> = {}) =>
  new Session(create(longPromptQueue, { promptsPerRound: 2, promptSpeculation: 1.5, ...config }) as never);

function defer(session: Session, promptId: string, more: object = {}, sinceRound = 0) {
  const prompt = { promptId, deferral: { count: 1, sinceRound, sinceSeconds: 0 }, ...more };
  return session.send({
    type: 'prompt.deferred',
    prompt,
    roundId: 'x',
    dropped: [],
    reason: { code: 'round_completed', held: 0, needed: 2 },
  } as never);
}

function plan(session: Session) {
  const decisions = session.send({
    type: 'round.requested',
    roundId: `r${session.rounds++}`,
    weightVersion: 0,
  } as never);
  const [planned] = only(decisions, 'round.planned');
  return {
    kind: planned?.kind,
    ids: planned?.queued.map((one) => one.promptId),
    reason: planned?.reason,
    decisions,
    wants: only(decisions, 'prompts.request')[0]?.count ?? 0,
  };
}

describe('long-prompt-queue', () => {
  test('plans a short round of ceil(eta · P0) while the queue is small, a long one of P0 once it holds that many', () => {
    const session = queue();
    expect(plan(session)).toMatchObject({ kind: 'short', ids: [], wants: 3 });
    defer(session, 'a');
    expect(plan(session)).toMatchObject({ kind: 'short', ids: [], wants: 3 });
    defer(session, 'b');
    defer(session, 'c');
    expect(plan(session)).toMatchObject({
      kind: 'long',
      ids: ['a', 'b'],
      wants: 0,
      reason: { code: 'queue_full', queued: 3 },
    });
    expect(plan(session)).toMatchObject({ kind: 'short' });
  });

  test('a prompt that is queued already is the same prompt (RollPacker artifact): joined, not queued twice', () => {
    const session = queue();
    defer(session, 'a', { expectedTokens: 10 });
    expect(defer(session, 'a', { expectedTokens: 30 })).toMatchObject([
      { type: 'prompt.merged', reason: { code: 'already_queued', deferrals: 2 } },
    ]);
    defer(session, 'b');
    const planned = plan(session);
    expect(planned.ids).toEqual(['a', 'b']);
    expect(only(planned.decisions, 'round.planned')[0]!.queued[0]).toMatchObject({
      expectedTokens: 30,
      deferral: { count: 2 },
    });
  });

  test('no prompt starves: maxDeferrals and maxWaitRounds force a long round, topped up with fresh prompts', () => {
    const often = queue({ maxDeferrals: 2 });
    defer(often, 'a');
    defer(often, 'a');
    expect(plan(often)).toMatchObject({
      kind: 'long',
      ids: ['a'],
      wants: 1,
      reason: { code: 'prompt_overdue', deferrals: 2 },
    });
    const long = queue({ maxWaitRounds: 2 });
    plan(long);
    defer(long, 'a', {}, 0);
    expect(plan(long).kind).toBe('short');
    expect(plan(long)).toMatchObject({ kind: 'long', ids: ['a'], reason: { code: 'prompt_overdue', waitedRounds: 2 } });
  });

  test('longest-expected-first takes the longest, but overdue prompts before them', () => {
    const session = queue({ order: 'longest-expected-first', maxWaitRounds: 1 });
    defer(session, 'old', { expectedTokens: 1 }, 0);
    plan(session);
    const other = queue({ order: 'longest-expected-first' });
    for (const [id, expectedTokens] of [
      ['a', 5],
      ['b', 50],
      ['c', 20],
    ] as const)
      defer(other, id, { expectedTokens });
    expect(plan(other).ids).toEqual(['b', 'c']);
    const mixed = queue({ order: 'longest-expected-first', maxWaitRounds: 1 });
    plan(mixed);
    for (const [id, expectedTokens, since] of [
      ['a', 5, 0],
      ['b', 50, 1],
      ['c', 20, 1],
    ] as const)
      defer(mixed, id, { expectedTokens }, since);
    expect(plan(mixed).ids).toEqual(['a', 'b']);
  });

  test('only an exhausted source gives a smaller long round, and then there is nothing left', () => {
    const session = queue();
    defer(session, 'a');
    session.send({ type: 'source.exhausted' } as never);
    expect(plan(session)).toMatchObject({ kind: 'long', ids: ['a'], wants: 0, reason: { code: 'source_exhausted' } });
    expect(plan(session).decisions).toMatchObject([{ type: 'source.drained' }]);
    session.send({ type: 'source.reopened' } as never);
    expect(plan(session)).toMatchObject({ kind: 'short', wants: 3 });
  });

  test('prompts that come back unused go into the next round; queued ones go back to their place', () => {
    const session = queue();
    for (const id of ['a', 'b', 'c']) defer(session, id);
    const [planned] = only(plan(session).decisions, 'round.planned');
    const giveBack = (prompt: object) =>
      session.send({
        type: 'prompt.returned',
        prompt,
        roundId: 'r0',
        dropped: [],
        reason: { code: 'round_failed' },
      } as never);
    giveBack({ promptId: 'fresh' });
    session.restore();
    for (const prompt of planned!.queued) giveBack(prompt);
    expect(plan(session)).toMatchObject({ kind: 'long' });
    expect(plan(session)).toMatchObject({ kind: 'short', ids: ['fresh'], wants: 2 });
  });

  test('the queue is in the snapshot, in order (vime #324, NeMo-RL #3594, #3599)', () => {
    const session = queue({ order: 'longest-expected-first' });
    for (const [id, expectedTokens] of [
      ['a', 5],
      ['b', 50],
      ['c', 20],
    ] as const)
      defer(session, id, { expectedTokens });
    session.restore();
    expect(plan(session).ids).toEqual(['b', 'c']);
  });

  test('bad input', () => {
    expect(() => queue({ promptSpeculation: 0.5 })).toThrow(
      expect.objectContaining({ code: 'invalid_config', path: 'promptSpeculation' }),
    );
    const session = queue();
    plan(session);
    session.refuses({ type: 'round.requested', at: 0, roundId: 'r0', weightVersion: 0 }, 'duplicate_id', 'roundId');
    session.refuses({ type: 'prompt.deferred', at: 0 }, 'invalid_event', 'prompt');
  });
});
