/** `keepPartial`: what a deferred prompt takes with it, and what of it a later round takes up. */
import { describe, expect, test } from 'vitest';
import type { KeptResponse } from '../../../src/schemas/prompts.ts';
import { bothWays, brief } from '../../support/rounds.ts';
import { only, prompts } from '../../support/session.ts';

const keep = { keepPartial: true, maxStaleness: 1 };
const kept = (index: number, tokens: number, finished: boolean, more: Partial<KeptResponse> = {}): KeptResponse => ({
  requestId: `a/${index}#0`,
  index,
  tokens,
  weightVersions: [0],
  finished,
  ...more,
});

describe.each(bothWays)('what a deferred prompt keeps, %s', (_how, start) => {
  test('waits for every abort of it, and keeps what has tokens, each with its versions and its reward', () => {
    const session = start({ ...keep, promptSpeculation: 1.5, responsesPerPrompt: 3 });
    session.open(prompts('a', 'b', 'c'), 'short', 4);
    session.complete('c/1#0');
    session.tell('reward.ready', { requestId: 'c/1#0', reward: 0.5 });
    session.tell('turn.finished', { requestId: 'c/2#0', tokens: 9 });
    session.at = 6;
    const all = session.complete('a/0#0', 'a/1#0', 'a/2#0', 'b/0#0', 'b/1#0', 'b/2#0');
    expect(brief(all).slice(-5)).toEqual([
      'prompt.counted b no_filter',
      'round.completed r0 quota_reached',
      'request.abort c/0#0 round_completed',
      'timer.set speculative-admission/abort-grace abort_grace',
      'request.abort c/2#0 round_completed',
    ]);
    expect(only(all, 'request.abort')[0]).toEqual({
      type: 'request.abort',
      at: 6,
      requestId: 'c/0#0',
      promptId: 'c',
      reason: { code: 'round_completed', counted: 2 },
    });
    session.at = 7;
    // Confirmed without a number: what was reported last counts.
    expect(session.tell('request.aborted', { requestId: 'c/2#0' })).toEqual([]);
    session.at = 8;
    expect(session.tell('request.aborted', { requestId: 'c/0#0', tokens: 0 })).toEqual([
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
    expect(session.tell('response.completed', { requestId: 'b/1#0', tokens: 70 })).toEqual([
      {
        type: 'response.accepted',
        at: 0,
        requestId: 'b/1#0',
        promptId: 'b',
        reason: { code: 'held', held: 1, needed: 2 },
      },
    ]);
    const last = session.tell('response.completed', { requestId: 'b/0#0', tokens: 50 });
    expect(brief(last)).toEqual([
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
    expect(brief(session.complete('b/0#0'))).toEqual(['response.late b/0#0 completion']);
  });

  test('an abort that fails or is never confirmed keeps the tokens that were reported', () => {
    const session = start({ ...keep, promptsPerRound: 1, promptSpeculation: 2 });
    session.open(prompts('a', 'b'));
    session.tell('turn.finished', { requestId: 'b/0#0', tokens: 3 });
    session.tell('turn.finished', { requestId: 'b/1#0', tokens: 5 });
    session.complete('a/0#0', 'a/1#0');
    expect(session.tell('response.failed', { requestId: 'b/0#0', kind: 'data' })).toEqual([]);
    session.at = 30;
    const expired = session.tell('timer.fired', { timerId: 'speculative-admission/abort-grace' });
    expect(brief(expired)).toEqual([
      'request.expired b/1#0 abort_unconfirmed',
      'prompt.deferred b round_completed',
      'round.drained r0 all_ended',
    ]);
    expect(only(expired, 'prompt.deferred')[0]!.prompt.kept).toMatchObject([{ tokens: 3 }, { tokens: 5 }]);
  });

  test('what was given up or waits to be tried again from nothing is not kept; nothing kept is not a list', () => {
    const session = start({ ...keep, promptsPerRound: 1, promptSpeculation: 2, responseSpeculation: 2, maxInFlight: 8, retry: { environment: 0 } });
    session.open(prompts('a', 'b'));
    session.tell('turn.finished', { requestId: 'b/0#0', tokens: 40 });
    session.tell('environment.failed', { requestId: 'b/0#0' });
    const all = session.complete('a/0#0', 'a/1#0');
    session.each('request.aborted', ['b/1#0', 'b/2#0']);
    const [deferred] = only(session.tell('request.aborted', { requestId: 'b/3#0' }), 'prompt.deferred');
    expect(deferred!.prompt).toEqual({ promptId: 'b', deferral: { count: 1, sinceRound: 0, sinceSeconds: 0 } });
    expect(only(all, 'prompt.deferred')).toEqual([]);
  });

  test('what was kept before and never launched again is kept as it was; the deferral counts on', () => {
    const session = start({ ...keep, promptsPerRound: 1, promptSpeculation: 2, maxInFlight: 3 });
    const deferral = { count: 2, sinceRound: 0, sinceSeconds: 1.5 };
    const before = [kept(0, 30, false, { reward: 0.5 }), kept(1, 20, false)];
    session.at = 9;
    const opened = session.open([{ promptId: 'b' }, { promptId: 'a', expectedTokens: 90, deferral, kept: before }], 'short', 1);
    expect(only(opened, 'request.launch').map((one) => one.requestId)).toEqual(['b/0#0', 'b/1#0', 'a/0#0']);
    const all = session.complete('b/0#0');
    expect(only(all, 'request.launch')).toMatchObject([{ requestId: 'a/1#0', resumeFrom: before[1] }]);
    session.tell('response.failed', { requestId: 'a/1#0', kind: 'infrastructure' });
    session.complete('b/1#0');
    session.tell('request.aborted', { requestId: 'a/0#0', tokens: 35 });
    const [deferred] = only(session.tell('request.aborted', { requestId: 'a/1#1', tokens: 20 }), 'prompt.deferred');
    expect(deferred!.prompt).toEqual({
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
    expect(stale.slice(0, 3)).toEqual([
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
        prompt: { promptId: 'b', ref: 'row 2', expectedTokens: 10, deferral: { count: 1, sinceRound: 1, sinceSeconds: 0 } },
        roundId: 'r1',
        dropped: [{ requestId: 'b/0#0', tokens: 10, cause: 'stale_weights' }],
        reason: { code: 'stale_weights', startVersion: 1, weightVersion: 3, maxStaleness: 1 },
      },
    ]);
  });
});

describe.each(bothWays)('what a later round takes up, %s', (_how, start) => {
  test('finished ones first, then the longest; beyond what the round runs they are dropped by name', () => {
    const session = start({ ...keep, promptsPerRound: 1, responseSpeculation: 1.5 });
    const list = [kept(0, 5, false), kept(1, 8, true), kept(2, 9, false), kept(3, 2, false), kept(4, 8, false)];
    const opened = session.open([{ promptId: 'a', kept: list }], 'short', 1);
    expect(brief(opened)).toEqual([
      'response.dropped a/0#0 beyond_round',
      'response.dropped a/3#0 beyond_round',
      'request.launch a/2#0 planned',
      'request.launch a/4#0 planned',
    ]);
    expect(opened[0]).toEqual({
      type: 'response.dropped',
      at: 0,
      requestId: 'a/0#0',
      promptId: 'a',
      tokens: 5,
      finished: false,
      reason: { code: 'beyond_round', needed: 3 },
    });
    expect(only(opened, 'request.launch')).toMatchObject([{ index: 2, resumeFrom: list[2] }, { index: 4, resumeFrom: list[4] }]);
    const done = session.complete('a/4#0');
    expect(only(done, 'round.completed')[0]!.prompts[0]!.responses).toEqual([
      { requestId: 'a/1#0', index: 1, tokens: 8, weightVersions: [0] },
      { requestId: 'a/4#0', index: 4, tokens: 10, weightVersions: [0, 1] },
    ]);
  });

  test('of finished ones no more than the prompt needs, of equal ones the lower index; the rest is new', () => {
    const session = start({ ...keep, promptsPerRound: 1, responsesPerPrompt: 3, responseSpeculation: 1 });
    const opened = session.open(
      [{ promptId: 'a', kept: [kept(6, 4, true), kept(5, 4, true), kept(3, 4, true), kept(2, 4, true), kept(2, 3, false)] }],
      'short',
      1,
    );
    expect(brief(opened)).toEqual([
      'response.dropped a/6#0 beyond_round',
      'response.dropped a/2#0 beyond_round',
      'prompt.collected a responses_held',
      'prompt.counted a no_filter',
      'round.completed r0 quota_reached',
      'round.drained r0 all_ended',
    ]);
    expect(opened[0]).toMatchObject({ finished: true, reason: { needed: 3 } });
    expect(only(opened, 'prompt.collected')).toMatchObject([{ requestIds: ['a/2#0', 'a/3#0', 'a/5#0'] }]);
  });

  test('responses are numbered around those that are kept', () => {
    const session = start({ ...keep, promptsPerRound: 1, responsesPerPrompt: 4 });
    const opened = session.open([{ promptId: 'a', kept: [kept(1, 4, true), kept(3, 7, false)] }], 'short', 1);
    expect(only(opened, 'request.launch').map((one) => [one.index, one.resumeFrom?.tokens])).toEqual([
      [0, undefined],
      [2, undefined],
      [3, 7],
    ]);
  });

  test('versions too old are dropped by the oldest of them; as old as allowed they are taken', () => {
    const session = start({ ...keep, promptsPerRound: 1 });
    const opened = session.open(
      [{ promptId: 'a', kept: [kept(0, 4, true, { weightVersions: [2, 4] }), kept(1, 6, false, { weightVersions: [3, 4] })] }],
      'short',
      4,
    );
    expect(opened[0]).toEqual({
      type: 'response.dropped',
      at: 0,
      requestId: 'a/0#0',
      promptId: 'a',
      tokens: 4,
      finished: true,
      reason: { code: 'stale_weights', oldestVersion: 2, weightVersion: 4, maxStaleness: 1 },
    });
    // The same version is not named twice.
    session.complete('a/0#0');
    expect(only(session.complete('a/1#0'), 'round.completed')[0]!.prompts[0]!.responses).toMatchObject([
      { requestId: 'a/0#0', weightVersions: [4] },
      { requestId: 'a/1#0', weightVersions: [3, 4] },
    ]);
  });

  test('rewards that came with kept responses count; those that are missing are asked for', () => {
    const session = start({ ...keep, filter: 'zero-variance', promptsPerRound: 1 });
    const list = [kept(0, 4, true, { reward: 1 }), kept(1, 6, true)];
    const opened = session.open([{ promptId: 'a', domain: 'math', kept: list }], 'short', 1);
    expect(opened).toEqual([
      {
        type: 'reward.request',
        at: 0,
        requestId: 'a/1#0',
        promptId: 'a',
        domain: 'math',
        reason: { code: 'kept_without_reward' },
      },
      expect.objectContaining({ type: 'prompt.collected', requestIds: ['a/0#0', 'a/1#0'] }),
    ]);
    expect(brief(session.tell('reward.ready', { requestId: 'a/1#0', reward: 0 }))).toEqual([
      'prompt.counted a passed',
      'round.completed r0 quota_reached',
      'round.drained r0 all_ended',
    ]);
    const equal = start({ ...keep, filter: 'zero-variance', promptsPerRound: 1 });
    const both = [kept(0, 4, true, { reward: 1 }), kept(1, 6, true, { reward: 1 })];
    expect(brief(equal.open([{ promptId: 'a', kept: both }, { promptId: 'b' }], 'short', 1))).toEqual([
      'prompt.collected a responses_held',
      'prompt.filtered a zero_variance',
      'request.launch b/0#0 planned',
      'request.launch b/1#0 planned',
    ]);
    const none = start({ ...keep, promptsPerRound: 1 });
    expect(brief(none.open([{ promptId: 'a', kept: [kept(1, 6, true)] }], 'short', 1))).toEqual(['request.launch a/0#0 planned']);
  });

  test('a round that fails gives back what it took up inside the prompt, and names what it added', () => {
    const session = start(keep);
    const list = [kept(0, 4, true), kept(1, 6, false)];
    session.open([{ promptId: 'a', kept: list }, { promptId: 'b' }], 'short', 1);
    session.complete('a/1#0', 'b/0#0');
    expect(only(session.tell('round.failed', { roundId: 'r0' }), 'prompt.returned')).toMatchObject([
      { prompt: { promptId: 'a', kept: list }, dropped: [] },
      { prompt: { promptId: 'b' }, dropped: [{ requestId: 'b/0#0', tokens: 10, cause: 'round_failed' }] },
    ]);
    const other = start(keep);
    // What was dropped at the start does not go back.
    other.open([{ promptId: 'a', kept: [kept(0, 4, true), kept(1, 6, false, { weightVersions: [3] })] }], 'short', 4);
    expect(only(other.tell('round.failed', { roundId: 'r0' }), 'prompt.returned')[0]!.prompt).toEqual({
      promptId: 'a',
      kept: [kept(1, 6, false, { weightVersions: [3] })],
    });
  });

  test('a prompt that has only what was kept of it goes back as it came', () => {
    const session = start({ ...keep, promptsPerRound: 1, promptSpeculation: 2, maxInFlight: 2 });
    const given = { promptId: 'a', deferral: { count: 1, sinceRound: 0, sinceSeconds: 0 }, kept: [kept(0, 4, true)] };
    session.open([{ promptId: 'b' }, given], 'short', 1);
    expect(only(session.complete('b/0#0', 'b/1#0'), 'prompt.deferred')).toEqual([]);
    const again = start({ ...keep, promptsPerRound: 1, promptSpeculation: 2, maxInFlight: 1 });
    again.open([{ promptId: 'b' }, given], 'short', 1);
    expect(only(again.complete('b/0#0', 'b/1#0'), 'prompt.returned')).toEqual([
      { type: 'prompt.returned', at: 0, prompt: given, roundId: 'r0', dropped: [], reason: { code: 'not_started' } },
    ]);
  });
});
