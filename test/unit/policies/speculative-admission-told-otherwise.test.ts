/** Reports that contradict what the admission believes, or that take back what was reported: each is kept or named. */
import { describe, expect, test } from 'vitest';
import { bothWays, brief } from '../../support/sessions/rounds.ts';
import { only, prompts } from '../../support/sessions/session.ts';

const timerId = 'speculative-admission/pause';
const one = { promptsPerRound: 1, responsesPerPrompt: 1, promptSpeculation: 1, responseSpeculation: 1 };

describe.each(bothWays)('versions of the weights, %s', (_how, start) => {
  const open = (more: object = {}) => {
    const session = start({ ...one, maxStaleness: 1, ...more });
    session.open(prompts('a'), 'short', 10);
    return session;
  };
  const done = (requestId: string, weightVersions: number[], tokens = 20) =>
    ({ type: 'response.completed', requestId, tokens, weightVersions }) as const;

  test('a place that was kept for a prompt is free when a restart with later weights makes the prompt too old', () => {
    const session = open({ promptsPerRound: 2, promptSpeculation: 1.5, responsesPerPrompt: 2, maxStaleness: 2 });
    session.send({ type: 'prompts.supplied', roundId: 'r0', prompts: prompts('b', 'c') });
    session.send(done('a/0#0', [8]));
    expect(brief(session.complete('b/0#1', 'b/1#1', 'c/0#1', 'c/1#1'))).not.toContain('prompt.counted c no_filter');
    const again = session.send({ type: 'host.restarted', idPrefix: 'x-', weightVersion: 12 });
    expect(brief(again)).toEqual(
      expect.arrayContaining([
        'prompt.deferred a stale_weights',
        'prompt.counted c no_filter',
        'round.completed r0 quota_reached',
      ]),
    );
  });

  test('a response of weights that are too old is dropped, and tried again after a pause, at no cost to its prompt', () => {
    const session = open({ retry: { infrastructure: 0, data: 0, environment: 0 } });
    const dropped = session.send(done('a/0#0', [3]));
    expect(brief(dropped)).toEqual([
      'response.dropped a/0#0 stale_weights',
      'timer.set speculative-admission/pause stale_weights',
    ]);
    expect(dropped[0]!.reason).toEqual({ code: 'stale_weights', oldestVersion: 3, weightVersion: 10, maxStaleness: 1 });
    session.at = 1;
    const again = session.send({ type: 'timer.fired', timerId });
    expect(only(again, 'request.launch')[0]).toMatchObject({
      requestId: 'a/0#1',
      reason: { code: 'retry_stale_weights', attempt: 1 },
    });
    // The pause doubles, and begins anew after a response that is fresh enough.
    const second = session.send(done('a/0#1', [3, 10]));
    expect(only(second, 'timer.set')[0]).toMatchObject({ fireAtSeconds: 3 });
    session.at = 3;
    session.send({ type: 'timer.fired', timerId });
    const end = session.send(done('a/0#2', [9, 10]));
    expect(only(end, 'round.completed')[0]!.prompts[0]!.responses[0]!.weightVersions).toEqual([9, 10]);
  });

  test('newer and older ones within the bound are kept, named, and handed on as said', () => {
    const session = open();
    const end = session.send(done('a/0#0', [11]));
    expect(only(end, 'response.accepted')[0]!.reason).toEqual({
      code: 'other_weights',
      held: 1,
      needed: 1,
      weightVersions: [11],
      weightVersion: 10,
    });
    expect(only(end, 'round.completed')[0]!.prompts[0]!.responses[0]!.weightVersions).toEqual([11]);
  });

  test('a lost timer of a pause holds nothing up: any later event ends it', () => {
    const session = open();
    session.send(done('a/0#0', [3]));
    session.at = 50;
    expect(brief(session.send({ type: 'engine.added', engineId: 'e' }))).toContain(
      'request.launch a/0#1 retry_stale_weights',
    );
  });

  test('an engine whose weights are too old is asked last', () => {
    const session = start({ ...one, promptsPerRound: 2, placement: 'policy', maxStaleness: 1 });
    session.send({ type: 'engine.added', engineId: 'e0' });
    session.send({ type: 'engine.added', engineId: 'e1' });
    session.open(prompts('a', 'b'), 'short', 10);
    session.send(done('a/0#0', [3]));
    session.at = 1;
    const again = only(session.send({ type: 'timer.fired', timerId }), 'request.launch')[0]!;
    expect(again.engineId).toBe('e1');
  });
});

describe.each(bothWays)('a reward that cannot be computed, %s', (_how, start) => {
  const none = (requestId: string) => ({ type: 'reward.failed', requestId, kind: 'judge' }) as never;
  const three = { ...one, responsesPerPrompt: 2, responseSpeculation: 1.5, filter: 'zero-variance' } as const;

  test('siblings go on, and a spare response steps in', () => {
    const session = start(three);
    session.open(prompts('a'));
    session.complete('a/0#0');
    expect(brief(session.send(none('a/0#0')))).toEqual(['response.dropped a/0#0 no_reward']);
    expect(brief(session.complete('a/1#0', 'a/2#0'))).toContain('prompt.collected a responses_held');
    session.send({ type: 'reward.ready', requestId: 'a/1#0', reward: 1 });
    const end = session.send({ type: 'reward.ready', requestId: 'a/2#0', reward: 0 });
    expect(only(end, 'round.completed')[0]!.prompts[0]!.responses.map((each) => each.requestId)).toEqual([
      'a/1#0',
      'a/2#0',
    ]);
  });

  test('without a spare one another is generated, within the budget of its environment; then the prompt fails', () => {
    const session = start({ ...three, promptsPerRound: 11, responseSpeculation: 1, retry: { environment: 1 } });
    session.open(prompts(...'abcdefghijk'));
    session.complete('a/0#0', 'a/1#0');
    expect(brief(session.send(none('a/1#0')))).toEqual([
      'response.dropped a/1#0 no_reward',
      'request.launch a/1#1 retry_environment',
    ]);
    expect(brief(session.complete('a/1#1'))).toContain('prompt.collected a responses_held');
    // The reward of another is awaited.
    session.complete('c/0#0');
    expect(brief(session.send(none('a/1#1')))).toEqual(['response.dropped a/1#1 no_reward']);
    // Others get theirs: what they were launched before is forgotten once.
    const others = [...'cdghij'].flatMap((id) => [`${id}/0#0`, `${id}/1#0`]);
    session.complete(...others.slice(1));
    others.forEach((requestId, index) => {
      session.send({ type: 'reward.ready', requestId, reward: index });
    });
    const since = (each: string, index: number) => {
      session.tell('response.failed', { requestId: `${each}#0`, kind: 'data' });
      session.complete(`${each}#1`);
      return session.send({ type: 'reward.ready', requestId: `${each}#1`, reward: index });
    };
    expect(brief(since('e/0', 0))).toContain('request.launch a/1#2 retry_environment');
    session.complete('a/1#2');
    expect(brief(session.send(none('a/1#2')))).toContain('request.launch a/1#3 retry_environment');
    // The reward of another is awaited.
    session.complete('a/1#3', 'k/0#0');
    session.send(none('a/1#3'));
    // Those of four tries that were launched since show whose fault it is.
    const failed = ['b/0', 'b/1', 'f/0', 'f/1'].flatMap(since);
    expect(only(failed, 'prompt.failed')[0]!.reason).toEqual({ code: 'reward', failures: 2, budget: 1 });
  });

  test('response.failed after the completion says the same', () => {
    const session = start({ ...three, responseSpeculation: 1 });
    session.open(prompts('a'));
    session.complete('a/0#0', 'a/1#0');
    const failed = session.send({ type: 'response.failed', requestId: 'a/1#0', kind: 'environment' });
    expect(brief(failed)).toEqual(['response.dropped a/1#0 no_reward', 'request.launch a/1#1 retry_environment']);
  });

  test('after its reward, or where no round waits for rewards, it is late', () => {
    const session = start({ ...three, responseSpeculation: 1 });
    session.open(prompts('a'));
    session.complete('a/0#0');
    session.send({ type: 'reward.ready', requestId: 'a/0#0', reward: 1 });
    expect(brief(session.send(none('a/0#0')))).toEqual(['response.late a/0#0 report']);
    const other = start(one);
    other.open(prompts('a', 'b'));
    other.complete('a/0#0');
    expect(brief(other.send(none('a/0#0')))).toEqual(['response.late a/0#0 report']);
  });

  test('while its prompt waits for its last abort, only the response leaves: the prompt leaves once, and can be restored', () => {
    const session = start({
      ...three,
      responseSpeculation: 1,
      promptSpeculation: 2,
      partialRollout: true,
      maxStaleness: 1,
    });
    session.open(prompts('a', 'b'));
    session.complete('a/0#0', 'a/1#0', 'b/0#0');
    for (const index of [0, 1]) session.send({ type: 'reward.ready', requestId: `a/${index}#0`, reward: index });
    expect(brief(session.send(none('b/0#0')))).toEqual(['response.dropped b/0#0 no_reward']);
    session.restore();
    const left = only(session.send({ type: 'request.aborted', requestId: 'b/1#0', tokens: 3 }), 'prompt.deferred');
    expect(left[0]!.prompt.kept!.map((each) => each.requestId)).toEqual(['b/1#0']);
  });
});

describe.each(bothWays)('ends that nobody asked for, %s', (_how, start) => {
  test('with partial rollout the tokens that a request has are kept, and cost no budget; without them it is a fault', () => {
    const budget = { retry: { infrastructure: 0 } };
    const session = start({ ...one, promptsPerRound: 7, partialRollout: true, maxStaleness: 1, ...budget });
    session.open(prompts(...'abcdefg'), 'short', 5);
    const again = session.send({ type: 'request.aborted', requestId: 'a/0#0', tokens: 500 });
    expect(only(again, 'request.launch')[0]).toMatchObject({
      requestId: 'a/0#1',
      resumeFrom: { requestId: 'a/0#0', index: 0, tokens: 500, weightVersions: [5], finished: false },
      reason: { code: 'retry_ended_early', attempt: 1, tokens: 500 },
    });
    // No progress: a fault of the engine, which may be an outage for once, and then is its own once others have succeeded.
    expect(session.send({ type: 'request.aborted', requestId: 'a/0#1', tokens: 500 })).toEqual([]);
    const succeed = (id: string) => {
      session.send({ type: 'request.aborted', requestId: `${id}/0#0`, tokens: 7 });
      return brief(session.complete(`${id}/0#1`));
    };
    succeed('b');
    session.at = 60;
    session.tell('timer.fired', { timerId });
    session.send({ type: 'request.aborted', requestId: 'a/0#2', tokens: 500 });
    for (const id of 'cde') expect(succeed(id)).not.toContain('prompt.failed a infrastructure');
    expect(succeed('f')).toContain('prompt.failed a infrastructure');
  });

  const aborted = (requestId: string, tokens: number, weightVersions: number[]) =>
    ({ type: 'request.aborted', requestId, tokens, weightVersions }) as const;

  test('the tokens are of the weights that the engine says; too old, they are dropped, at no cost to the prompt', () => {
    const session = start({ ...one, partialRollout: true, maxStaleness: 1, retry: { infrastructure: 0 } });
    session.open(prompts('a'), 'short', 10);
    const kept = only(session.send(aborted('a/0#0', 500, [9, 10])), 'request.launch')[0]!;
    expect(kept.resumeFrom).toMatchObject({ tokens: 500, weightVersions: [9, 10] });
    expect(session.send(aborted('a/0#1', 700, [3]))[0]).toMatchObject({
      type: 'response.dropped',
      tokens: 700,
      finished: false,
      reason: { code: 'stale_weights', oldestVersion: 3, weightVersion: 10, maxStaleness: 1 },
    });
    session.at = 1;
    const again = only(session.send({ type: 'timer.fired', timerId }), 'request.launch')[0]!;
    // What was kept before goes on.
    expect(again).toMatchObject({ resumeFrom: { tokens: 500 }, reason: { code: 'retry_stale_weights' } });
  });

  test('the tokens of an asked end, too, are of the weights that the engine says', () => {
    const session = start({ ...one, promptSpeculation: 2, partialRollout: true, maxStaleness: 1 });
    session.open(prompts('a', 'b'), 'short', 10);
    session.complete('a/0#0');
    const [left] = only(session.send(aborted('b/0#0', 7, [11])), 'prompt.deferred');
    expect(left!.prompt.kept).toMatchObject([{ tokens: 7, weightVersions: [11] }]);
  });

  test('a data fault of one response fails no prompt whose others may suffice', () => {
    const session = start({ ...one, responsesPerPrompt: 2, responseSpeculation: 1.5, retry: { data: 0 } });
    session.open(prompts('a'));
    session.complete('a/0#0');
    const failed = session.send({ type: 'response.failed', requestId: 'a/1#0', kind: 'data' });
    expect(brief(failed)).toEqual(['response.abandoned a/1#0 data']);
    expect(brief(session.complete('a/2#0'))).toContain('round.completed r0 quota_reached');
  });
});
