/** `keepPartial`: what a deferred prompt takes with it into a later round. */
import { describe, expect, test } from 'vitest';
import { bothWays, brief, keep, kept } from '../../support/rounds.ts';
import { only, prompts } from '../../support/session.ts';

describe.each(bothWays)('what a deferred prompt keeps, %s', (_how, start) => {
  test('waits for every abort of it, and keeps what has tokens, each with its versions and its reward', () => {
    const session = start({ ...keep, promptSpeculation: 1.5, responsesPerPrompt: 3 });
    session.open(prompts('a', 'b', 'c'), 'short', 4);
    session.complete('c/1#0');
    session.tell('reward.ready', { requestId: 'c/1#0', reward: 0.5 });
    session.tell('turn.finished', { requestId: 'c/2#0', tokens: 9 });
    session.at = 6;
    const all = session.complete('a/0#0', 'a/1#0', 'a/2#0', 'b/0#0', 'b/1#0', 'b/2#0');
    expect(brief(all).slice(-5)).toStrictEqual([
      'prompt.counted b no_filter',
      'round.completed r0 quota_reached',
      'request.abort c/0#0 round_completed',
      'timer.set speculative-admission/abort-grace abort_grace',
      'request.abort c/2#0 round_completed',
    ]);
    expect(only(all, 'request.abort')[0]).toStrictEqual({
      type: 'request.abort',
      at: 6,
      requestId: 'c/0#0',
      promptId: 'c',
      reason: { code: 'round_completed', counted: 2 },
    });
    session.at = 7;
    // Confirmed without a number: what was reported last counts.
    expect(session.tell('request.aborted', { requestId: 'c/2#0' })).toStrictEqual([]);
    session.at = 8;
    expect(session.tell('request.aborted', { requestId: 'c/0#0', tokens: 0 })).toStrictEqual([
      {
        type: 'prompt.deferred',
        at: 8,
        prompt: {
          promptId: 'c',
          expectedTokens: 10,
          deferral: { count: 1, sinceRound: 0, sinceSeconds: 8 },
          kept: [
            { requestId: 'c/1#0', index: 1, tokens: 10, weightVersions: [4], finished: true, reward: 0.5 },
            { requestId: 'c/2#0', index: 2, tokens: 9, weightVersions: [4], finished: false },
          ],
        },
        roundId: 'r0',
        dropped: [],
        reason: { code: 'round_completed', held: 1, needed: 3 },
      },
      { type: 'round.drained', at: 8, roundId: 'r0', reason: { code: 'all_ended', afterSeconds: 2 } },
    ]);
  });

  test('a response that is complete while its abort is on its way is kept, complete', () => {
    const session = start({ ...keep, promptsPerRound: 1, promptSpeculation: 2 });
    session.open(prompts('a', 'b'));
    session.complete('a/0#0', 'a/1#0');
    expect(session.tell('response.completed', { requestId: 'b/1#0', tokens: 70 })).toStrictEqual([
      {
        type: 'response.accepted',
        at: 0,
        requestId: 'b/1#0',
        promptId: 'b',
        reason: { code: 'held', held: 1, needed: 2 },
      },
    ]);
    const last = session.tell('response.completed', { requestId: 'b/0#0', tokens: 50 });
    expect(brief(last)).toStrictEqual([
      'response.accepted b/0#0 held',
      'prompt.deferred b round_completed',
      'round.drained r0 all_ended',
    ]);
    expect(last[1]).toMatchObject({
      prompt: {
        expectedTokens: 70,
        kept: [
          { requestId: 'b/0#0', tokens: 50, finished: true },
          { requestId: 'b/1#0', tokens: 70, finished: true },
        ],
      },
    });
    expect(brief(session.complete('b/0#0'))).toStrictEqual(['response.late b/0#0 completion']);
  });

  test('an abort that fails or is never confirmed keeps the tokens that were reported', () => {
    const session = start({ ...keep, promptsPerRound: 1, promptSpeculation: 2 });
    session.open(prompts('a', 'b'));
    session.tell('turn.finished', { requestId: 'b/0#0', tokens: 3 });
    session.tell('turn.finished', { requestId: 'b/1#0', tokens: 5 });
    session.complete('a/0#0', 'a/1#0');
    expect(session.tell('response.failed', { requestId: 'b/0#0', kind: 'data' })).toStrictEqual([]);
    session.at = 30;
    const expired = session.tell('timer.fired', { timerId: 'speculative-admission/abort-grace' });
    expect(brief(expired)).toStrictEqual([
      'request.expired b/1#0 abort_unconfirmed',
      'prompt.deferred b round_completed',
      'round.drained r0 all_ended',
    ]);
    expect(only(expired, 'prompt.deferred')[0]!.prompt.kept).toMatchObject([{ tokens: 3 }, { tokens: 5 }]);
  });

  test('what was given up or waits to be tried again from nothing is not kept; nothing kept is not a list', () => {
    const session = start({
      ...keep,
      promptsPerRound: 1,
      promptSpeculation: 2,
      responseSpeculation: 2,
      maxInFlight: 8,
      retry: { environment: 0 },
    });
    session.open(prompts('a', 'b'));
    session.tell('turn.finished', { requestId: 'b/0#0', tokens: 40 });
    session.tell('environment.failed', { requestId: 'b/0#0' });
    const all = session.complete('a/0#0', 'a/1#0');
    session.each('request.aborted', ['b/1#0', 'b/2#0']);
    const [deferred] = only(session.tell('request.aborted', { requestId: 'b/3#0' }), 'prompt.deferred');
    expect(deferred!.prompt).toStrictEqual({ promptId: 'b', deferral: { count: 1, sinceRound: 0, sinceSeconds: 0 } });
    expect(only(all, 'prompt.deferred')).toStrictEqual([]);
  });

  test('what was kept before and never launched again is kept as it was; the deferral counts on', () => {
    const session = start({ ...keep, promptsPerRound: 1, promptSpeculation: 2, maxInFlight: 3 });
    const deferral = { count: 2, sinceRound: 0, sinceSeconds: 1.5 };
    const before = [kept(0, 30, false, { reward: 0.5 }), kept(1, 20, false)];
    session.at = 9;
    const opened = session.open(
      [{ promptId: 'b' }, { promptId: 'a', expectedTokens: 90, deferral, kept: before }],
      'short',
      1,
    );
    expect(only(opened, 'request.launch').map((one) => one.requestId)).toStrictEqual(['b/0#0', 'b/1#0', 'a/0#0']);
    const all = session.complete('b/0#0');
    expect(only(all, 'request.launch')).toMatchObject([{ requestId: 'a/1#0', resumeFrom: before[1] }]);
    session.tell('response.failed', { requestId: 'a/1#0', kind: 'infrastructure' });
    session.complete('b/1#0');
    session.tell('request.aborted', { requestId: 'a/0#0', tokens: 35 });
    const [deferred] = only(session.tell('request.aborted', { requestId: 'a/1#1', tokens: 20 }), 'prompt.deferred');
    expect(deferred!.prompt).toStrictEqual({
      promptId: 'a',
      expectedTokens: 90,
      deferral: { count: 3, sinceRound: 0, sinceSeconds: 1.5 },
      kept: [
        { requestId: 'a/0#0', index: 0, tokens: 35, weightVersions: [0, 1], finished: false },
        { requestId: 'a/1#1', index: 1, tokens: 20, weightVersions: [0, 1], finished: false },
      ],
    });
  });

  test('weights that are too old: nothing is kept any more, and what was held is named', () => {
    // One round in between in which the prompt waits for its slot.
    const session = start({ maxStaleness: 1, promptsPerRound: 1, promptSpeculation: 2 });
    session.open([{ promptId: 'a' }, { promptId: 'b', ref: 'row 2' }], 'short', 1);
    session.complete('b/0#0', 'a/0#0', 'a/1#0');
    const stale = session.open([], 'short', 3);
    expect(stale.slice(0, 3)).toStrictEqual([
      {
        type: 'request.abort',
        at: 0,
        requestId: 'b/1#0',
        promptId: 'b',
        reason: { code: 'stale_weights', startVersion: 1, weightVersion: 3 },
      },
      expect.objectContaining({ type: 'timer.set' }),
      {
        type: 'prompt.deferred',
        at: 0,
        prompt: {
          promptId: 'b',
          ref: 'row 2',
          expectedTokens: 10,
          deferral: { count: 1, sinceRound: 1, sinceSeconds: 0 },
        },
        roundId: 'r1',
        dropped: [{ requestId: 'b/0#0', tokens: 10, cause: 'stale_weights' }],
        reason: { code: 'stale_weights', startVersion: 1, weightVersion: 3, maxStaleness: 1 },
      },
    ]);
  });

  test('waits for its aborts while the next round runs, and may come into that one meanwhile', () => {
    const session = start({ ...keep, promptsPerRound: 1, promptSpeculation: 2, allowOverlap: true });
    session.open(prompts('a', 'b'));
    session.complete('a/0#0', 'a/1#0');
    expect(brief(session.open(prompts('b'), 'long', 1))).toStrictEqual([
      'request.launch b/0#1 planned',
      'request.launch b/1#1 planned',
    ]);
    session.tell('request.aborted', { requestId: 'b/1#0', tokens: 3 });
    const settled = session.tell('request.aborted', { requestId: 'b/0#0', tokens: 2 });
    expect(brief(settled)).toStrictEqual(['prompt.deferred b round_completed', 'round.drained r0 all_ended']);
    // Rounds are counted: this one was deferred since the second had begun.
    expect(settled[0]).toMatchObject({ prompt: { deferral: { sinceRound: 1 }, kept: [{ tokens: 2 }, { tokens: 3 }] } });
    expect(brief(session.complete('b/0#1', 'b/1#1')).at(-1)).toBe('round.drained r1 all_ended');
  });

  test('what was kept before and still stands in line at the end is kept as it was', () => {
    const session = start({ ...keep, promptsPerRound: 1, promptSpeculation: 2, maxInFlight: 2 });
    const before = [kept(0, 30, false), kept(1, 20, false, { reward: 0.5 })];
    const first = { promptId: 'b', kept: [kept(0, 9, true, { requestId: 'b/0#0' })] };
    const opened = session.open([first, { promptId: 'a', kept: before }], 'short', 1);
    expect(brief(opened)).toStrictEqual(['request.launch b/1#0 planned', 'request.launch a/0#0 planned']);
    session.complete('b/1#0');
    const [deferred] = only(session.tell('request.aborted', { requestId: 'a/0#0', tokens: 33 }), 'prompt.deferred');
    expect(deferred!.prompt.kept).toStrictEqual([
      { requestId: 'a/0#0', index: 0, tokens: 33, weightVersions: [0, 1], finished: false },
      before[1],
    ]);
  });
});
