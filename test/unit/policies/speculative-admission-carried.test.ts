/** Prompts that run on into the next round (`maxStaleness`), and what happens to them between rounds. */
import { describe, expect, test } from 'vitest';
import { bothWays, brief } from '../../support/sessions/rounds.ts';
import { only, prompts } from '../../support/sessions/session.ts';

describe.each(bothWays)('prompts that run on between rounds, %s', (_how, start) => {
  const onward = { maxStaleness: 2, promptsPerRound: 1, promptSpeculation: 3, retry: { data: 0 } };

  test('are told by name; what is in flight of them does not hold the drain', () => {
    const session = start(onward);
    session.open(prompts('a', 'b', 'c'), 'short', 5);
    session.complete('b/0#0');
    const all = session.complete('a/0#0', 'a/1#0');
    expect(only(all, 'prompt.carried')[0]).toStrictEqual({
      type: 'prompt.carried',
      at: 0,
      promptId: 'b',
      roundId: 'r0',
      reason: { code: 'within_staleness', startVersion: 5, maxStaleness: 2 },
    });
    expect(brief(all).slice(-3)).toStrictEqual([
      'prompt.carried b within_staleness',
      'prompt.carried c within_staleness',
      'round.drained r0 all_ended',
    ]);
    expect(only(all, 'request.abort')).toStrictEqual([]);
  });

  test('are collected, filtered and failed in the name of the last round', () => {
    const session = start({ ...onward, filter: 'host' });
    session.open([{ promptId: 'a' }, { promptId: 'b', ref: 'row 2' }, { promptId: 'c' }]);
    session.complete('a/0#0', 'a/1#0');
    session.tell('prompt.judged', { roundId: 'r0', promptId: 'a', keep: true });
    session.complete('b/0#0');
    expect(session.complete('b/1#0')[1]).toMatchObject({ type: 'prompt.collected', promptId: 'b', roundId: 'r0' });
    expect(session.tell('prompt.judged', { roundId: 'r0', promptId: 'b', keep: false })).toMatchObject([
      { type: 'prompt.filtered', promptId: 'b', roundId: 'r0', ref: 'row 2', dropped: [{}, {}] },
    ]);
    expect(brief(session.tell('response.failed', { requestId: 'c/1#0', kind: 'data' }))).toStrictEqual([
      'request.abort c/0#0 prompt_failed',
      'timer.set speculative-admission/abort-grace abort_grace',
      'prompt.failed c data',
    ]);
    expect(session.state).toMatchObject({ round: null, prompts: [] });
  });

  test('count in the next round, under its version and the ones before', () => {
    const session = start(onward);
    session.open(prompts('a', 'b', 'c'), 'short', 5);
    session.complete('b/0#0', 'a/0#0', 'a/1#0', 'b/1#0');
    const next = session.open([], 'short', 6);
    expect(brief(next)).toStrictEqual([
      'prompt.counted b no_filter',
      'round.completed r1 quota_reached',
      'prompt.carried c within_staleness',
      'round.drained r1 all_ended',
    ]);
    expect(only(next, 'prompt.counted')[0]!.responses).toStrictEqual([
      { requestId: 'b/0#0', tokens: 10, weightVersions: [5] },
      { requestId: 'b/1#0', tokens: 10, weightVersions: [5] },
    ]);
    // The version does not change: it is not named twice.
    expect(brief(session.open([], 'short', 6))).toStrictEqual(['prompts.request r2 round_opened']);
    const last = session.complete('c/0#0', 'c/1#0');
    expect(only(last, 'round.completed')[0]!.prompts[0]!.responses[0]).toMatchObject({ weightVersions: [5, 6] });
  });

  test('too old by then, they are deferred, and room is made for others', () => {
    const session = start(onward);
    session.open(prompts('a', 'b', 'c'), 'short', 5);
    session.complete('a/0#0', 'a/1#0');
    expect(brief(session.open([], 'short', 7))).toStrictEqual(['prompts.request r1 round_opened']);
    session.complete('b/0#0', 'b/1#0');
    const stale = session.open([], 'short', 8);
    expect(brief(stale)).toStrictEqual([
      'request.abort c/0#0 stale_weights',
      'timer.set speculative-admission/abort-grace abort_grace',
      'request.abort c/1#0 stale_weights',
      'prompt.deferred c stale_weights',
      'prompts.request r2 round_opened',
    ]);
    expect(only(stale, 'prompts.request')).toMatchObject([{ count: 3, reason: { target: 3, known: 0 } }]);
  });
});
