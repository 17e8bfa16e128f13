/** Domains with quotas, and sources that are exhausted: what is asked for, what is sent away, how the round ends. */
import { describe, expect, test } from 'vitest';
import { bothWays, brief } from '../../support/sessions/rounds.ts';
import { only, prompts } from '../../support/sessions/session.ts';

const of = (domain: string, ...list: string[]) => list.map((promptId) => ({ promptId, domain }));

describe.each(bothWays)('quotas and exhausted sources, %s', (_how, start) => {
  const quotas = { code: 1, math: 2 };

  test('each domain is asked for by itself, by name', () => {
    const session = start({ promptsPerRound: 3, quotas });
    expect(only(session.open(of('math', 'm')), 'prompts.request')).toStrictEqual([
      {
        type: 'prompts.request',
        at: 0,
        roundId: 'r0',
        count: 2,
        domains: { code: 1, math: 1 },
        reason: { code: 'round_opened', target: 3, known: 1 },
      },
    ]);
    expect(session.supply('r0', ...of('code', 'c'))).toHaveLength(2);
    expect(only(session.supply('r0', ...of('math', 'm')), 'prompts.request')).toMatchObject([
      { count: 1, domains: { math: 1 }, reason: { code: 'merged', target: 3, admitted: 2 } },
    ]);
  });

  test('what stands by of one domain is known, and does not stand for another', () => {
    const session = start({ promptsPerRound: 3, quotas });
    expect(only(session.open([...of('code', 'a', 'b', 'c'), ...of('math', 'm')]), 'prompts.request')).toMatchObject([
      { count: 1, domains: { math: 1 }, reason: { target: 3, known: 4 } },
    ]);
  });

  test('one exhausted domain is not asked for any more, and ends its part of the round', () => {
    const session = start({ promptsPerRound: 3, quotas });
    session.open([...of('code', 'c'), ...of('math', 'm')]);
    expect(session.tell('source.exhausted', { domain: 'math' })).toStrictEqual([]);
    session.complete('m/0#0', 'm/1#0', 'c/0#0');
    expect(only(session.complete('c/1#0'), 'round.completed')).toMatchObject([
      { reason: { code: 'source_exhausted', counted: 2, needed: 3 } },
    ]);
    expect(only(session.open([]), 'prompts.request')).toMatchObject([{ count: 1, domains: { code: 1 } }]);
    session.tell('round.failed', { roundId: 'r1' });
    session.tell('source.reopened');
    expect(only(session.open([]), 'prompts.request')).toMatchObject([{ count: 3, domains: { code: 1, math: 2 } }]);
  });

  test('a long round, which takes any mix, is at its end only when all domains are', () => {
    const session = start({ promptsPerRound: 3, quotas });
    session.open(of('math', 'm'), 'long');
    session.complete('m/0#0', 'm/1#0');
    expect(session.tell('source.exhausted', { domain: 'math' })).toStrictEqual([]);
    expect(brief(session.tell('source.exhausted', { domain: 'code' }))).toStrictEqual([
      'round.completed r0 source_exhausted',
      'round.drained r0 all_ended',
    ]);
    expect(brief(session.open(of('math', 'n'), 'long'))).toStrictEqual([
      'request.launch n/0#1 planned',
      'request.launch n/1#1 planned',
    ]);
  });

  test('a domain nobody has a quota for exhausts nothing; a whole source exhausts every domain, also of later rounds', () => {
    const free = start();
    free.open(prompts('a'));
    free.complete('a/0#0', 'a/1#0');
    expect(free.tell('source.exhausted', { domain: 'law' })).toStrictEqual([]);
    const session = start({ promptsPerRound: 3, quotas });
    session.tell('source.exhausted');
    expect(brief(session.open(of('math', 'm')))).toStrictEqual([
      'request.launch m/0#0 planned',
      'request.launch m/1#0 planned',
    ]);
    expect(only(session.complete('m/0#0', 'm/1#0'), 'round.completed')).toMatchObject([
      { reason: { code: 'source_exhausted', counted: 1, needed: 3 } },
    ]);
    expect(brief(session.open([]))).toStrictEqual([
      'round.completed r1 source_exhausted',
      'round.drained r1 all_ended',
    ]);
  });

  test('a source that reopens does so from the next round on', () => {
    const session = start();
    session.open(prompts('a'));
    session.tell('source.exhausted');
    session.tell('source.reopened');
    expect(only(session.complete('a/0#0', 'a/1#0'), 'round.completed')).toMatchObject([
      { reason: { code: 'source_exhausted' } },
    ]);
    expect(only(session.open([]), 'prompts.request')).toMatchObject([{ count: 2 }]);
  });

  test('prompts that come although the source was said to be exhausted are taken, and stand by', () => {
    const session = start({ retry: { data: 0 } });
    session.open(prompts('a', 'b'));
    session.supply('r0', { promptId: 'c' });
    session.tell('source.exhausted');
    session.complete('a/0#0', 'a/1#0');
    const failed = session.tell('response.failed', { requestId: 'b/0#0', kind: 'data' });
    expect(brief(only(failed, 'request.launch'))).toStrictEqual([
      'request.launch c/0#1 planned',
      'request.launch c/1#1 planned',
    ]);
    expect(only(session.complete('c/0#1', 'c/1#1'), 'round.completed')).toMatchObject([
      { reason: { code: 'quota_reached' } },
    ]);
  });
});

describe.each(bothWays)('the end of a domain, %s', (_how, start) => {
  const quotas = { code: 1, math: 1 };

  test('a full one sends away what runs for it and what stands by for it, and asks for nothing more', () => {
    const session = start({ quotas, promptSpeculation: 2 });
    session.open([...of('code', 'a', 'b', 'c'), ...of('math', 'm')]);
    session.complete('b/0#0', 'a/0#0');
    expect(session.complete('a/1#0')).toStrictEqual([
      expect.objectContaining({ type: 'response.accepted', domain: 'code' }),
      expect.objectContaining({ type: 'prompt.collected' }),
      expect.objectContaining({ type: 'prompt.counted', promptId: 'a', domain: 'code' }),
      { type: 'request.abort', at: 0, requestId: 'b/1#0', promptId: 'b', reason: { code: 'quota_filled', counted: 1 } },
      expect.objectContaining({ type: 'timer.set' }),
      {
        type: 'prompt.deferred',
        at: 0,
        prompt: {
          promptId: 'b',
          domain: 'code',
          expectedTokens: 10,
          deferral: { count: 1, sinceRound: 0, sinceSeconds: 0 },
        },
        roundId: 'r0',
        dropped: [{ requestId: 'b/0#0', tokens: 10, cause: 'stale_weights' }],
        reason: { code: 'quota_filled', held: 1, needed: 2 },
      },
      {
        type: 'prompt.returned',
        at: 0,
        prompt: { promptId: 'c', domain: 'code' },
        roundId: 'r0',
        dropped: [],
        reason: { code: 'not_started' },
      },
    ]);
    // Math wants two and has asked for one; code wants none, and what comes for it goes back.
    expect(brief(session.supply('r0', ...of('code', 'd')))).toStrictEqual(['prompt.returned d not_started']);
    expect(brief(session.tell('host.restarted', { idPrefix: 'h1-' }))).toStrictEqual([
      'prompts.request r0 host_restarted',
      'request.launch h1-m/0#0 host_restarted',
      'request.launch h1-m/1#0 host_restarted',
    ]);
  });

  test('what could not count since its domain was full counts in the next round, where prompts run on', () => {
    const session = start({ quotas, promptSpeculation: 2, maxStaleness: 1 });
    session.open([...of('code', 'a', 'b', 'c'), ...of('math', 'm', 'n')]);
    expect(brief(session.complete('a/0#0', 'a/1#0')).at(-1)).toBe('prompt.counted a no_filter');
    expect(brief(session.complete('b/0#0', 'b/1#0'))).toStrictEqual([
      'response.accepted b/0#0 held',
      'response.accepted b/1#0 held',
      'prompt.collected b responses_held',
    ]);
    const all = session.complete('m/0#0', 'm/1#0');
    expect(brief(all).slice(-5)).toStrictEqual([
      'round.completed r0 quota_reached',
      'prompt.carried b within_staleness',
      'prompt.returned c not_started',
      'prompt.carried n within_staleness',
      'round.drained r0 all_ended',
    ]);
    expect(only(all, 'round.completed')).toMatchObject([{ deferred: 2 }]);
    const next = session.open([]);
    expect(brief(next)).toStrictEqual(['prompt.counted b no_filter', 'prompts.request r1 round_opened']);
    // Of two code prompts wanted one counts already; of two math prompts one runs.
    expect(only(next, 'prompts.request')).toMatchObject([
      { count: 1, domains: { math: 1 }, reason: { target: 4, known: 2 } },
    ]);
  });

  test('a long round asks for more as long as one domain has some', () => {
    const session = start({ quotas });
    session.tell('source.exhausted', { domain: 'math' });
    expect(only(session.open([], 'long'), 'prompts.request')).toMatchObject([{ count: 2 }]);
    session.tell('source.exhausted', { domain: 'code' });
    expect(session.state).toMatchObject({ round: null, exhausted: { all: false, domains: ['math', 'code'] } });
  });
});
