/** `partialRollout`: what a prompt brought along complete, its rewards, and what of it goes back. */
import { describe, expect, test } from 'vitest';
import { bothWays, brief, keep, kept } from '../../support/sessions/rounds.ts';
import { only } from '../../support/sessions/session.ts';

describe.each(bothWays)('what a prompt brought along, %s', (_how, start) => {
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
    const session = start({ ...keep, maxStaleness: 2, promptsPerRound: 1, promptSpeculation: 2, maxInFlight: 2 });
    const given = { promptId: 'a', deferral: { count: 1, sinceRound: 0, sinceSeconds: 0 }, kept: [kept(0, 4, true)] };
    session.open([{ promptId: 'b' }, given], 'short', 1);
    expect(only(session.complete('b/0#0', 'b/1#0'), 'prompt.deferred')).toStrictEqual([]);
    const again = start({ ...keep, maxStaleness: 2, promptsPerRound: 1, promptSpeculation: 2, maxInFlight: 1 });
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
    expect(brief(session.tell('tool.started', { requestId: 'b/1#0', tool: 'bash' }))).toStrictEqual([
      'request.launch a/0#0 planned',
    ]);
    session.tell('tool.finished', { requestId: 'b/1#0', outcome: 'success' });
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

  test('a prompt that counts at once by what it brought leaves the others of the round to be asked for', () => {
    const session = start({ ...keep, responsesPerPrompt: 1, promptsPerRound: 3, retry: { data: 0 } });
    const whole = (promptId: string) => ({ promptId, kept: [kept(0, 4, true, { requestId: `${promptId}/0#0` })] });
    const opened = session.open([whole('a')]);
    expect(brief(opened)).toStrictEqual([
      'prompt.collected a responses_held',
      'prompt.counted a no_filter',
      'prompts.request r0 round_opened',
    ]);
    expect(only(opened, 'prompts.request')).toMatchObject([{ count: 2, reason: { target: 3, known: 1 } }]);
    // One of the two is a duplicate: another one is asked for.
    const supplied = session.supply('r0', whole('b'), whole('b'));
    expect(brief(supplied)).toStrictEqual([
      'prompt.merged b already_in_round',
      'prompt.collected b responses_held',
      'prompt.counted b no_filter',
      'prompts.request r0 merged',
    ]);
    expect(only(supplied, 'prompts.request')).toMatchObject([{ count: 1, reason: { target: 3, admitted: 2 } }]);
    expect(brief(session.supply('r0', whole('c'))).at(-1)).toBe('round.drained r0 all_ended');
  });

  test('so does one that takes the place of another that leaves', () => {
    const session = start({ ...keep, filter: 'zero-variance', promptsPerRound: 2, promptSpeculation: 1.5 });
    const whole = (promptId: string, rewards: readonly number[]) => ({
      promptId,
      kept: rewards.map((reward, index) => kept(index, 4, true, { requestId: `${promptId}/${index}#0`, reward })),
    });
    session.open([{ promptId: 'x' }, { promptId: 'y' }, { promptId: 'z' }, whole('a', [1, 1]), whole('b', [0, 1])]);
    session.complete('x/0#0', 'x/1#0');
    session.tell('reward.ready', { requestId: 'x/0#0', reward: 1 });
    const left = session.tell('reward.ready', { requestId: 'x/1#0', reward: 1 });
    expect(brief(left)).toStrictEqual([
      'prompt.filtered x zero_variance',
      'prompt.collected a responses_held',
      'prompt.filtered a zero_variance',
      'prompt.collected b responses_held',
      'prompt.counted b passed',
    ]);
    session.complete('y/0#0', 'y/1#0');
    session.tell('reward.ready', { requestId: 'y/0#0', reward: 1 });
    expect(only(session.tell('reward.ready', { requestId: 'y/1#0', reward: 1 }), 'prompts.request')).toMatchObject([
      { count: 1, reason: { code: 'filtered', target: 3, admitted: 2 } },
    ]);
  });

  test('a reward is asked for without a domain where there is none; a filtered prompt without a reference has none', () => {
    const session = start({ ...keep, filter: 'zero-variance', promptsPerRound: 1, responsesPerPrompt: 2 });
    const opened = session.open([{ promptId: 'a', kept: [kept(0, 4, true, { reward: 1 }), kept(1, 4, true)] }]);
    expect(opened[0]).toStrictEqual({
      type: 'reward.request',
      at: 0,
      requestId: 'a/1#0',
      promptId: 'a',
      reason: { code: 'kept_without_reward' },
    });
    const [filtered] = session.tell('reward.ready', { requestId: 'a/1#0', reward: 1 });
    expect(filtered).toMatchObject({ type: 'prompt.filtered', promptId: 'a' });
    expect(filtered).not.toHaveProperty('ref');
  });
});
