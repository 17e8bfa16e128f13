/** `keepPartial`: what a later round takes up of what was kept of a prompt. */
import { describe, expect, test } from 'vitest';
import type { KeptResponse } from '../../../src/schemas/prompts.ts';
import { bothWays, brief } from '../../support/rounds.ts';
import { only } from '../../support/session.ts';

const keep = { keepPartial: true, maxStaleness: 1 };
const kept = (index: number, tokens: number, finished: boolean, more: Partial<KeptResponse> = {}): KeptResponse => ({
  requestId: `a/${index}#0`,
  index,
  tokens,
  weightVersions: [0],
  finished,
  ...more,
});

describe.each(bothWays)('what a later round takes up, %s', (_how, start) => {
  test('finished ones first, then the longest; beyond what the round runs they are dropped by name', () => {
    const session = start({ ...keep, promptsPerRound: 1, responseSpeculation: 1.5 });
    const list = [kept(0, 5, false), kept(1, 8, true), kept(2, 9, false), kept(3, 2, false), kept(4, 8, false)];
    const opened = session.open([{ promptId: 'a', kept: list }], 'short', 1);
    expect(brief(opened)).toStrictEqual([
      'response.dropped a/0#0 beyond_round',
      'response.dropped a/3#0 beyond_round',
      'request.launch a/2#0 planned',
      'request.launch a/4#0 planned',
    ]);
    expect(opened[0]).toStrictEqual({
      type: 'response.dropped',
      at: 0,
      requestId: 'a/0#0',
      promptId: 'a',
      tokens: 5,
      finished: false,
      reason: { code: 'beyond_round', needed: 3 },
    });
    expect(only(opened, 'request.launch')).toMatchObject([
      { index: 2, resumeFrom: list[2] },
      { index: 4, resumeFrom: list[4] },
    ]);
    const done = session.complete('a/4#0');
    expect(only(done, 'round.completed')[0]!.prompts[0]!.responses).toStrictEqual([
      { requestId: 'a/1#0', index: 1, tokens: 8, weightVersions: [0] },
      { requestId: 'a/4#0', index: 4, tokens: 10, weightVersions: [0, 1] },
    ]);
  });

  test('of finished ones no more than the prompt needs, of equal ones the lower index; the rest is new', () => {
    const session = start({ ...keep, promptsPerRound: 1, responsesPerPrompt: 3, responseSpeculation: 1 });
    const opened = session.open(
      [
        {
          promptId: 'a',
          kept: [kept(6, 4, true), kept(5, 4, true), kept(3, 4, true), kept(2, 4, true), kept(2, 3, false)],
        },
      ],
      'short',
      1,
    );
    expect(brief(opened)).toStrictEqual([
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
    expect(only(opened, 'request.launch').map((one) => [one.index, one.resumeFrom?.tokens])).toStrictEqual([
      [0, undefined],
      [2, undefined],
      [3, 7],
    ]);
  });

  test('versions too old are dropped by the oldest of them; as old as allowed they are taken', () => {
    const session = start({ ...keep, promptsPerRound: 1 });
    const opened = session.open(
      [
        {
          promptId: 'a',
          kept: [kept(0, 4, true, { weightVersions: [2, 4] }), kept(1, 6, false, { weightVersions: [3, 4] })],
        },
      ],
      'short',
      4,
    );
    expect(opened[0]).toStrictEqual({
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
    expect(opened).toStrictEqual([
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
    expect(brief(session.tell('reward.ready', { requestId: 'a/1#0', reward: 0 }))).toStrictEqual([
      'prompt.counted a passed',
      'round.completed r0 quota_reached',
      'round.drained r0 all_ended',
    ]);
    const equal = start({ ...keep, filter: 'zero-variance', promptsPerRound: 1 });
    const both = [kept(0, 4, true, { reward: 1 }), kept(1, 6, true, { reward: 1 })];
    expect(brief(equal.open([{ promptId: 'a', kept: both }, { promptId: 'b' }], 'short', 1))).toStrictEqual([
      'prompt.collected a responses_held',
      'prompt.filtered a zero_variance',
      'request.launch b/0#0 planned',
      'request.launch b/1#0 planned',
    ]);
    const none = start({ ...keep, promptsPerRound: 1 });
    expect(brief(none.open([{ promptId: 'a', kept: [kept(1, 6, true)] }], 'short', 1))).toStrictEqual([
      'request.launch a/0#0 planned',
    ]);
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
    expect(only(other.tell('round.failed', { roundId: 'r0' }), 'prompt.returned')[0]!.prompt).toStrictEqual({
      promptId: 'a',
      kept: [kept(1, 6, false, { weightVersions: [3] })],
    });
  });

  test('a prompt that has only what was kept of it goes back as it came', () => {
    const session = start({ ...keep, promptsPerRound: 1, promptSpeculation: 2, maxInFlight: 2 });
    const given = { promptId: 'a', deferral: { count: 1, sinceRound: 0, sinceSeconds: 0 }, kept: [kept(0, 4, true)] };
    session.open([{ promptId: 'b' }, given], 'short', 1);
    expect(only(session.complete('b/0#0', 'b/1#0'), 'prompt.deferred')).toStrictEqual([]);
    const again = start({ ...keep, promptsPerRound: 1, promptSpeculation: 2, maxInFlight: 1 });
    again.open([{ promptId: 'b' }, given], 'short', 1);
    expect(only(again.complete('b/0#0', 'b/1#0'), 'prompt.returned')).toStrictEqual([
      { type: 'prompt.returned', at: 0, prompt: given, roundId: 'r0', dropped: [], reason: { code: 'not_started' } },
    ]);
  });

  test('a prompt of which nothing kept is of use any more goes on without it', () => {
    const session = start(keep);
    session.open(
      [
        { promptId: 'a', kept: [kept(0, 4, true)] },
        { promptId: 'b', kept: [] },
      ],
      'short',
      9,
    );
    expect(
      only(session.tell('round.failed', { roundId: 'r0' }), 'prompt.returned').map((one) => one.prompt),
    ).toStrictEqual([{ promptId: 'a' }, { promptId: 'b' }]);
  });

  test('rewards of responses of another session, under another prefix, are taken, and their ids are known as long', () => {
    const session = start({ ...keep, filter: 'zero-variance', promptsPerRound: 1, idPrefix: 'h2-' });
    const list = [0, 1].map((index) => kept(index, 4, true, { requestId: `h1-a/${index}#7` }));
    expect(brief(session.open([{ promptId: 'a', kept: list }]))).toStrictEqual([
      'reward.request h1-a/0#7 kept_without_reward',
      'reward.request h1-a/1#7 kept_without_reward',
      'prompt.collected a responses_held',
    ]);
    expect(session.tell('reward.ready', { requestId: 'h1-a/1#7', reward: 0 })).toStrictEqual([]);
    expect(brief(session.tell('reward.ready', { requestId: 'h1-a/1#7', reward: 0 }))).toStrictEqual([
      'response.late h1-a/1#7 report',
    ]);
    expect(only(session.tell('reward.ready', { requestId: 'h1-a/0#7', reward: 1 }), 'round.completed')).toHaveLength(1);
    session.refuses({ type: 'reward.ready', at: 0, requestId: 'h1-a/0#7', reward: 1 }, 'unknown_id', 'requestId');
  });

  test('what was resumed and completed is kept, although nothing else of the prompt was started', () => {
    const session = start({ ...keep, promptsPerRound: 1, promptSpeculation: 2, maxInFlight: 1 });
    const first = { promptId: 'b', kept: [kept(0, 9, true, { requestId: 'b/0#0' })] };
    session.open([first, { promptId: 'a', kept: [kept(0, 5, false)] }], 'short', 1);
    expect(brief(session.tell('environment.waiting', { requestId: 'b/1#0' }))).toStrictEqual([
      'request.launch a/0#0 planned',
    ]);
    session.tell('environment.resumed', { requestId: 'b/1#0' });
    session.complete('a/0#0');
    expect(session.complete('b/1#0').at(-2)).toStrictEqual({
      type: 'prompt.deferred',
      at: 0,
      prompt: {
        promptId: 'a',
        expectedTokens: 10,
        deferral: { count: 1, sinceRound: 0, sinceSeconds: 0 },
        kept: [kept(0, 10, true, { weightVersions: [0, 1] })],
      },
      roundId: 'r0',
      dropped: [],
      reason: { code: 'round_completed', held: 1, needed: 2 },
    });
  });
});
