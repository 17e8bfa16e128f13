/** Prompts coming in: asked for, supplied in portions, supplied twice, too late, or not at all any more. */
import { describe, expect, test } from 'vitest';
import { bothWays, brief } from '../../support/rounds.ts';
import { only, prompts } from '../../support/session.ts';

const quotas = { code: 1, math: 2 };
const of = (domain: string, ...list: string[]) => list.map((promptId) => ({ promptId, domain }));

describe.each(bothWays)('intake, %s', (_how, start) => {
  test('asks for what is missing, and says how many are wanted and known', () => {
    expect(only(start({ promptSpeculation: 1.5 }).open(prompts('a')), 'prompts.request')).toEqual([
      { type: 'prompts.request', at: 0, roundId: 'r0', count: 2, reason: { code: 'round_opened', target: 3, known: 1 } },
    ]);
    expect(only(start().open(prompts('a', 'b', 'c')), 'prompts.request')).toEqual([]);
    expect(only(start({ promptSpeculation: 1.5 }).open([], 'long'), 'prompts.request')).toMatchObject([{ count: 2 }]);
  });

  test('does not ask again for what is on its way', () => {
    const session = start({ promptSpeculation: 2, retry: { data: 0 } });
    session.open([]);
    expect(only(session.supply('r0', { promptId: 'a' }), 'prompts.request')).toEqual([]);
    expect(session.supply('r0')).toEqual([]);
    // Of four, one is here and three are on their way; the one that leaves is the only one to be asked for.
    const failed = session.tell('response.failed', { requestId: 'a/0#0', kind: 'data' });
    expect(only(failed, 'prompts.request')).toMatchObject([
      { count: 1, reason: { code: 'quarantined', target: 4, admitted: 0 } },
    ]);
    expect(only(session.supply('r0', ...prompts('b', 'c', 'd', 'e')), 'prompts.request')).toEqual([]);
    expect(only(session.tell('response.failed', { requestId: 'b/0#1', kind: 'data' }), 'prompts.request')).toMatchObject(
      [{ count: 1, reason: { target: 4, admitted: 3 } }],
    );
  });

  test('more prompts than were asked for stand by, and replace those that leave', () => {
    const session = start({ retry: { data: 0 } });
    session.open(prompts('a', 'b', 'c'));
    session.supply('r0', { promptId: 'd' });
    const failed = session.tell('response.failed', { requestId: 'a/0#0', kind: 'data' });
    expect(only(failed, 'prompts.request')).toEqual([]);
    expect(brief(only(failed, 'request.launch'))).toEqual(['request.launch c/0#1 planned', 'request.launch c/1#1 planned']);
    const all = session.complete('b/0#0', 'b/1#0', 'c/0#1', 'c/1#1');
    expect(only(all, 'round.completed')).toMatchObject([{ deferred: 0 }]);
    expect(only(all, 'prompt.returned')).toEqual([
      { type: 'prompt.returned', at: 0, prompt: { promptId: 'd' }, roundId: 'r0', dropped: [], reason: { code: 'not_started' } },
    ]);
  });

  test('prompts for another round than the open one are handed back as they came, those of the open one are taken', () => {
    const session = start();
    session.open(prompts('a', 'b'));
    session.complete('a/0#0', 'a/1#0', 'b/0#0', 'b/1#0');
    session.open([]);
    const late = { promptId: 'z', ref: 'row 9', promptTokens: 5, expectedTokens: 6 };
    expect(session.supply('r0', late, { promptId: 'y' })).toEqual([
      { type: 'prompt.returned', at: 0, prompt: late, roundId: 'r0', dropped: [], reason: { code: 'round_closed' } },
      { type: 'prompt.returned', at: 0, prompt: { promptId: 'y' }, roundId: 'r0', dropped: [], reason: { code: 'round_closed' } },
    ]);
    expect(brief(session.supply('r1', late))).toEqual(['request.launch z/0#1 planned', 'request.launch z/1#1 planned']);
  });

  test('a prompt that is here already is merged: named, with the finished responses that it brought, and replaced', () => {
    const session = start();
    session.open(prompts('a'));
    const kept = (requestId: string, finished: boolean) => ({ requestId, index: 0, tokens: 6, weightVersions: [0], finished });
    expect(
      session.supply('r0', { promptId: 'a', ref: 'row 1', kept: [kept('a/0#7', true), kept('a/1#7', false)] }),
    ).toEqual([
      {
        type: 'prompt.merged',
        at: 0,
        promptId: 'a',
        roundId: 'r0',
        ref: 'row 1',
        dropped: [{ requestId: 'a/0#7', tokens: 6, cause: 'merged' }],
        reason: { code: 'already_in_round' },
      },
      { type: 'prompts.request', at: 0, roundId: 'r0', count: 1, reason: { code: 'merged', target: 2, admitted: 1 } },
    ]);
    expect(session.supply('r0', { promptId: 'a' })[0]).toEqual({
      type: 'prompt.merged',
      at: 0,
      promptId: 'a',
      roundId: 'r0',
      dropped: [],
      reason: { code: 'already_in_round' },
    });
  });

  test('a source that deals only duplicates, twice as many in a row as there are prompts, is at its end', () => {
    const session = start({ promptsPerRound: 3 });
    session.open(prompts('a', 'b'));
    const wants = (...ids: string[]) => only(session.supply('r0', ...prompts(...ids)), 'prompts.request').length;
    expect(wants('a', 'b', 'a')).toBe(1);
    expect(wants('c')).toBe(0);
    session.complete('a/0#0', 'a/1#0', 'b/0#0', 'b/1#0');
    const other = start({ promptsPerRound: 3 });
    other.open(prompts('a', 'b'));
    other.complete('a/0#0', 'a/1#0');
    expect(only(other.supply('r0', ...prompts('b', 'a', 'b')), 'prompts.request')).toHaveLength(1);
    // A new one in between: the count starts again, although the new one leaves at once.
    other.supply('r0', { promptId: 'c' });
    other.tell('response.failed', { requestId: 'c/0#1', kind: 'data' });
    other.tell('response.failed', { requestId: 'c/0#2', kind: 'data' });
    expect(only(other.supply('r0', ...prompts('a', 'b', 'a')), 'prompts.request')).toHaveLength(1);
    expect(only(other.supply('r0', { promptId: 'b' }), 'prompts.request')).toEqual([]);
    const all = other.complete('b/0#0', 'b/1#0');
    expect(only(all, 'round.completed')).toMatchObject([
      { prompts: [{ promptId: 'a' }, { promptId: 'b' }], reason: { code: 'only_duplicates', counted: 2, needed: 3 } },
    ]);
  });
});

describe.each(bothWays)('quotas and exhausted sources, %s', (_how, start) => {
  test('each domain is asked for by itself, by name', () => {
    const session = start({ promptsPerRound: 3, quotas });
    expect(only(session.open(of('math', 'm')), 'prompts.request')).toEqual([
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

  test('one exhausted domain is not asked for any more, and ends its part of the round', () => {
    const session = start({ promptsPerRound: 3, quotas });
    session.open([...of('code', 'c'), ...of('math', 'm')]);
    expect(session.tell('source.exhausted', { domain: 'math' })).toEqual([]);
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
    expect(session.tell('source.exhausted', { domain: 'math' })).toEqual([]);
    expect(brief(session.tell('source.exhausted', { domain: 'code' }))).toEqual([
      'round.completed r0 source_exhausted',
      'round.drained r0 all_ended',
    ]);
    expect(brief(session.open(of('math', 'n'), 'long'))).toEqual(['request.launch n/0#1 planned', 'request.launch n/1#1 planned']);
  });

  test('a domain nobody has a quota for exhausts nothing; a whole source exhausts every domain, also of later rounds', () => {
    const free = start();
    free.open(prompts('a'));
    free.complete('a/0#0', 'a/1#0');
    expect(free.tell('source.exhausted', { domain: 'law' })).toEqual([]);
    const session = start({ promptsPerRound: 3, quotas });
    session.tell('source.exhausted');
    expect(brief(session.open(of('math', 'm')))).toEqual(['request.launch m/0#0 planned', 'request.launch m/1#0 planned']);
    expect(only(session.complete('m/0#0', 'm/1#0'), 'round.completed')).toMatchObject([
      { reason: { code: 'source_exhausted', counted: 1, needed: 3 } },
    ]);
    expect(brief(session.open([]))).toEqual(['round.completed r1 source_exhausted', 'round.drained r1 all_ended']);
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
    expect(brief(only(failed, 'request.launch'))).toEqual(['request.launch c/0#1 planned', 'request.launch c/1#1 planned']);
    expect(only(session.complete('c/0#1', 'c/1#1'), 'round.completed')).toMatchObject([{ reason: { code: 'quota_reached' } }]);
  });
});
