/** Prompts coming in: asked for, supplied in portions, supplied twice, too late, or not at all any more. */
import { describe, expect, test } from 'vitest';
import { bothWays, brief } from '../../support/sessions/rounds.ts';
import { only, prompts } from '../../support/sessions/session.ts';

describe.each(bothWays)('intake, %s', (_how, start) => {
  test('asks for what is missing, and says how many are wanted and known', () => {
    expect(only(start({ promptSpeculation: 1.5 }).open(prompts('a')), 'prompts.request')).toStrictEqual([
      {
        type: 'prompts.request',
        at: 0,
        roundId: 'r0',
        count: 2,
        reason: { code: 'round_opened', target: 3, known: 1 },
      },
    ]);
    expect(only(start().open(prompts('a', 'b', 'c')), 'prompts.request')).toStrictEqual([]);
    expect(only(start({ promptSpeculation: 1.5 }).open([], 'long'), 'prompts.request')).toMatchObject([{ count: 2 }]);
  });

  test('does not ask again for what is on its way', () => {
    const session = start({ promptSpeculation: 2, retry: { data: 0 } });
    session.open([]);
    expect(only(session.supply('r0', { promptId: 'a' }), 'prompts.request')).toStrictEqual([]);
    expect(session.supply('r0')).toStrictEqual([]);
    // Of four, one is here and three are on their way; the one that leaves is the only one to be asked for.
    const failed = session.tell('response.failed', { requestId: 'a/0#0', kind: 'data' });
    expect(only(failed, 'prompts.request')).toMatchObject([
      { count: 1, reason: { code: 'failed', target: 4, admitted: 0 } },
    ]);
    expect(only(session.supply('r0', ...prompts('b', 'c', 'd', 'e')), 'prompts.request')).toStrictEqual([]);
    expect(
      only(session.tell('response.failed', { requestId: 'b/0#1', kind: 'data' }), 'prompts.request'),
    ).toMatchObject([{ count: 1, reason: { target: 4, admitted: 3 } }]);
  });

  test('more prompts than were asked for stand by, and replace those that leave', () => {
    const session = start({ retry: { data: 0 } });
    session.open(prompts('a', 'b', 'c'));
    session.supply('r0', { promptId: 'd' });
    const failed = session.tell('response.failed', { requestId: 'a/0#0', kind: 'data' });
    expect(only(failed, 'prompts.request')).toStrictEqual([]);
    expect(brief(only(failed, 'request.launch'))).toStrictEqual([
      'request.launch c/0#1 planned',
      'request.launch c/1#1 planned',
    ]);
    const all = session.complete('b/0#0', 'b/1#0', 'c/0#1', 'c/1#1');
    expect(only(all, 'round.completed')).toMatchObject([{ deferred: 0 }]);
    expect(only(all, 'prompt.returned')).toStrictEqual([
      {
        type: 'prompt.returned',
        at: 0,
        prompt: { promptId: 'd' },
        roundId: 'r0',
        dropped: [],
        reason: { code: 'not_started' },
      },
    ]);
  });

  test('prompts for another round than the open one are handed back as they came, those of the open one are taken', () => {
    const session = start();
    session.open(prompts('a', 'b'));
    session.complete('a/0#0', 'a/1#0', 'b/0#0', 'b/1#0');
    session.open([]);
    const late = { promptId: 'z', ref: 'row 9', promptTokens: 5, expectedTokens: 6 };
    expect(session.supply('r0', late, { promptId: 'y' })).toStrictEqual([
      { type: 'prompt.returned', at: 0, prompt: late, roundId: 'r0', dropped: [], reason: { code: 'round_closed' } },
      {
        type: 'prompt.returned',
        at: 0,
        prompt: { promptId: 'y' },
        roundId: 'r0',
        dropped: [],
        reason: { code: 'round_closed' },
      },
    ]);
    expect(brief(session.supply('r1', late))).toStrictEqual([
      'request.launch z/0#1 planned',
      'request.launch z/1#1 planned',
    ]);
  });

  test('a prompt that is here already is merged: named, with the finished responses that it brought, and replaced', () => {
    const session = start();
    session.open(prompts('a'));
    const kept = (requestId: string, finished: boolean) => ({
      requestId,
      index: 0,
      tokens: 6,
      weightVersions: [0],
      finished,
    });
    expect(
      session.supply('r0', { promptId: 'a', ref: 'row 1', kept: [kept('a/0#7', true), kept('a/1#7', false)] }),
    ).toStrictEqual([
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
    expect(session.supply('r0', { promptId: 'a' })[0]).toStrictEqual({
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
    expect(only(other.supply('r0', { promptId: 'b' }), 'prompts.request')).toStrictEqual([]);
    const all = other.complete('b/0#0', 'b/1#0');
    expect(only(all, 'round.completed')).toMatchObject([
      { prompts: [{ promptId: 'a' }, { promptId: 'b' }], reason: { code: 'only_duplicates', counted: 2, needed: 3 } },
    ]);
  });
});
