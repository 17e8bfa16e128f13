/** Events that do not fit: refused by code and path, and nothing changed. */
import { describe, expect, test } from 'vitest';
import { bothWays, brief, rounds } from '../../support/sessions/rounds.ts';
import { prompts } from '../../support/sessions/session.ts';

const opening = (roundId: string, more: object = {}) => ({
  type: 'round.opened',
  at: 0,
  roundId,
  kind: 'short',
  weightVersion: 0,
  prompts: [],
  ...more,
});

describe.each(bothWays)('refused, %s', (_how, start) => {
  test('a round that opens while another is open, or drains, or has the id of an earlier one', () => {
    const session = start({ responseSpeculation: 1.5 });
    session.open(prompts('a', 'b'), 'short', 3);
    session.refuses(opening('r1', { weightVersion: 3 }), 'out_of_order', 'roundId');
    const all = session.complete('a/0#0', 'a/1#0', 'b/0#0', 'b/1#0');
    session.refuses(opening('r1', { weightVersion: 3 }), 'out_of_order', 'roundId');
    session.confirm(all);
    session.refuses(opening('r0', { weightVersion: 3 }), 'duplicate_id', 'roundId');
    session.refuses(opening('r1', { weightVersion: 2 }), 'out_of_order', 'weightVersion');
    expect(brief(session.open(prompts('c'), 'short', 3))).toContain('request.launch c/0#1 planned');
  });

  test('giving up a round that is not the open one', () => {
    const session = start();
    session.refuses({ type: 'round.failed', at: 0, roundId: 'r0' }, 'out_of_order', 'roundId');
    session.open(prompts('a', 'b'));
    session.refuses({ type: 'round.failed', at: 0, roundId: 'r1' }, 'out_of_order', 'roundId');
    session.complete('a/0#0', 'a/1#0', 'b/0#0', 'b/1#0');
    session.refuses({ type: 'round.failed', at: 0, roundId: 'r0' }, 'out_of_order', 'roundId');
  });

  test('prompts for a round that was never opened', () => {
    const session = start();
    const supply = { type: 'prompts.supplied', at: 0, roundId: 'r9', prompts: [{ promptId: 'a' }] };
    session.refuses(supply, 'out_of_order', 'roundId');
    session.open([]);
    session.refuses(supply, 'unknown_id', 'roundId');
  });

  test('prompts without a domain, or of one without a quota, by their place', () => {
    const session = start({ quotas: { math: 1, code: 1 } });
    const math = { promptId: 'a', domain: 'math' };
    session.refuses(opening('r0', { prompts: [math, { promptId: 'b' }] }), 'invalid_event', 'prompts[1].domain');
    session.refuses(
      opening('r0', { prompts: [{ promptId: 'b', domain: 'law' }] }),
      'invalid_event',
      'prompts[0].domain',
    );
    session.open([math]);
    const supply = {
      type: 'prompts.supplied',
      at: 0,
      roundId: 'r0',
      prompts: [math, { promptId: 'b', domain: 'toString' }],
    };
    session.refuses(supply, 'invalid_event', 'prompts[1].domain');
    session.refuses({ type: 'source.exhausted', at: 0, domain: 'law' }, 'invalid_event', 'domain');
    expect(() => session.tell('source.exhausted', { domain: 'law' })).toThrow(/code, math.*law/);
    expect(() => session.supply('r0', { promptId: 'b' })).toThrow(/code, math, got ""/);
  });

  test('without quotas any domain goes, and prompts that come too late are not looked at', () => {
    const free = start();
    expect(brief(free.open([{ promptId: 'a', domain: 'law' }]))).toContain('request.launch a/0#0 planned');
    expect(free.tell('source.exhausted', { domain: 'tax' })).toStrictEqual([]);
    const session = start({ quotas: { math: 1, code: 1 } });
    session.open([]);
    session.tell('round.failed', { roundId: 'r0' });
    expect(brief(session.supply('r0', { promptId: 'a', domain: 'law' }))).toStrictEqual([
      'prompt.returned a round_closed',
    ]);
  });

  test('judgements where the host does not judge, before the prompt is collected, or of no round', () => {
    const judgement = (promptId: string, roundId = 'r0') => ({
      type: 'prompt.judged',
      at: 0,
      roundId,
      promptId,
      keep: true,
    });
    for (const filter of ['none', 'zero-variance'] as const) {
      const other = start({ filter });
      other.open(prompts('a', 'b'));
      other.refuses(judgement('a'), 'invalid_event', 'keep');
    }
    const session = start({ filter: 'host' });
    session.refuses(judgement('a'), 'out_of_order', 'roundId');
    session.open(prompts('a', 'b', 'spare'));
    session.refuses(judgement('a', 'r9'), 'unknown_id', 'roundId');
    session.refuses(judgement('a'), 'out_of_order', 'promptId');
    session.refuses(judgement('spare'), 'out_of_order', 'promptId');
    expect(brief(session.send(judgement('nobody') as never))).toStrictEqual(['judgement.late nobody not_waiting']);
  });

  test('timers that are not of this policy, and prefixes that were used before', () => {
    const session = start({ idPrefix: 'h0-' });
    session.refuses({ type: 'timer.fired', at: 0, timerId: 'reward-dispatch/budget' }, 'unknown_id', 'timerId');
    expect(session.tell('timer.fired', { timerId: 'speculative-admission/abort-grace' })).toStrictEqual([]);
    expect(session.tell('timer.fired', { timerId: 'speculative-admission/response-timeout' })).toStrictEqual([]);
    session.refuses({ type: 'host.restarted', at: 0, idPrefix: 'h0-' }, 'duplicate_id', 'idPrefix');
    session.tell('host.restarted', { idPrefix: 'h1-' });
    for (const idPrefix of ['h0-', 'h1-']) {
      session.refuses({ type: 'host.restarted', at: 0, idPrefix }, 'duplicate_id', 'idPrefix');
    }
  });
});

describe('messages', () => {
  test('say which round is in the way', () => {
    const session = rounds({ responseSpeculation: 1.5 });
    const refusal = (event: object) => {
      try {
        session.send(event as never);
      } catch (error) {
        return (error as Error).message;
      }
      return undefined;
    };
    expect(refusal({ type: 'round.failed', roundId: 'r7' })).toMatch(/an open round.*r7/);
    expect(refusal({ type: 'prompts.supplied', roundId: 'r7', prompts: [] })).toMatch(/a round to be opened first/);
    session.open(prompts('a', 'b'));
    expect(refusal({ type: 'round.failed', roundId: 'r7' })).toMatch(/the open round r0.*r7/);
    expect(refusal({ type: 'prompts.supplied', roundId: 'r7', prompts: [] })).toMatch(/a round that was opened/);
    expect(refusal(opening('r1'))).toMatch(/round r0 to be completed first/);
    session.complete('a/0#0', 'a/1#0', 'b/0#0', 'b/1#0');
    expect(refusal(opening('r1'))).toMatch(/round r0 to be drained first \(or allowOverlap\)/);
  });
});
