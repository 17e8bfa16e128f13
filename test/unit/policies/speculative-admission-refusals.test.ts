/** Events that do not fit: refused by code and path, and nothing changed. */
import { describe, expect, test } from 'vitest';
import { bothWays, brief, rounds } from '../../support/rounds.ts';
import { prompts } from '../../support/session.ts';

const opening = (roundId: string, more: object = {}) => ({
  type: 'round.opened',
  at: 0,
  roundId,
  kind: 'short',
  weightVersion: 0,
  prompts: [],
  ...more,
});
const about = (type: string, requestId: string, more: object = {}) => ({ type, at: 0, requestId, ...more });
const reports = [
  ['response.completed', { tokens: 1 }],
  ['response.failed', { kind: 'data' }],
  ['request.aborted', {}],
  ['request.started', { engineId: 'e0' }],
  ['reward.ready', { reward: 1 }],
  ['reward.failed', { kind: 'rule', reason: { code: 'timeout', timeouts: 1, budget: 0 } }],
  ['turn.finished', { tokens: 1 }],
  ['environment.waiting', {}],
  ['environment.resumed', {}],
  ['environment.failed', {}],
] as const;

describe.each(bothWays)('refused, %s', (_how, start) => {
  test.each(reports)('%s of a request that was never launched', (type, fields) => {
    const session = start();
    // Nothing was opened: no attempt number has been used.
    session.refuses(about(type, 'a/0#0', fields), 'unknown_id', 'requestId');
    session.open(prompts('a', 'b'));
    for (const id of ['a/0#1', 'a', 'a/0', 'a/x#0', '#0', '/0#0', 'a/0#0x', 'a/1234567890#0']) {
      session.refuses(about(type, id, fields), 'unknown_id', 'requestId');
    }
  });

  test.each(reports)('%s under a prefix that was never given', (type, fields) => {
    const session = start({ idPrefix: 'job-' });
    session.open(prompts('a', 'b'));
    session.refuses(about(type, 'a/0#0', fields), 'unknown_id', 'requestId');
    session.refuses(about(type, 'bob-a/0#0', fields), 'unknown_id', 'requestId');
  });

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

  test('engines that were never added, also as the place of a request where the policy places', () => {
    const session = start({ placement: 'policy' });
    session.refuses({ type: 'engine.drained', at: 0, engineId: 'e0' }, 'unknown_id', 'engineId');
    session.refuses({ type: 'engine.lost', at: 0, engineId: 'e0' }, 'unknown_id', 'engineId');
    session.tell('engine.added', { engineId: 'e0' });
    session.open(prompts('a', 'b'));
    session.refuses(about('request.started', 'a/0#0', { engineId: 'e1' }), 'unknown_id', 'engineId');
    expect(session.tell('request.started', { requestId: 'a/0#0', engineId: 'e0' })).toStrictEqual([]);
    const host = start();
    host.open(prompts('a', 'b'));
    expect(host.tell('request.started', { requestId: 'a/0#0', engineId: 'e1' })).toStrictEqual([]);
    expect(host.tell('engine.drained', { engineId: 'e1' })).toStrictEqual([]);
  });

  test('rewards of what is still running; of what is being aborted they are late', () => {
    const session = start({ responseSpeculation: 1.5 });
    session.open(prompts('a', 'b'));
    for (const [type, fields] of reports.filter(([type]) => type.startsWith('reward.'))) {
      session.refuses(about(type, 'b/0#0', fields), 'out_of_order', 'requestId');
    }
    session.tell('environment.waiting', { requestId: 'b/1#0' });
    session.refuses(about('reward.ready', 'b/1#0', { reward: 1 }), 'out_of_order', 'requestId');
    session.complete('a/0#0', 'a/1#0');
    expect(brief(session.tell('reward.ready', { requestId: 'a/2#0', reward: 1 }))).toStrictEqual([
      'response.late a/2#0 report',
    ]);
  });

  test('environments that answer without having been asked, or wait twice', () => {
    const session = start({ placement: 'policy' });
    session.tell('engine.added', { engineId: 'e0' });
    session.open(prompts('a', 'b'));
    session.refuses(about('environment.resumed', 'a/0#0'), 'out_of_order', 'requestId');
    session.tell('environment.waiting', { requestId: 'a/0#0' });
    session.refuses(about('environment.waiting', 'a/0#0'), 'out_of_order', 'requestId');
    expect(() => session.tell('environment.waiting', { requestId: 'a/0#0' })).toThrow(
      /a request that is running.*a\/0#0 \(waiting\)/,
    );
    session.tell('engine.drained', { engineId: 'e0' });
    expect(session.tell('environment.resumed', { requestId: 'a/0#0' })).toStrictEqual([]);
    session.refuses(about('environment.resumed', 'a/0#0'), 'out_of_order', 'requestId');
    session.refuses(about('environment.waiting', 'a/0#0'), 'out_of_order', 'requestId');
    expect(() => session.tell('environment.resumed', { requestId: 'a/0#0' })).toThrow(
      /a request whose environment is waiting.*a\/0#0 \(resuming\)/,
    );
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
