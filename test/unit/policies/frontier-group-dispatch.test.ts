import { describe, expect, test } from 'vitest';
import { runRounds } from '../../../bench/frontier/loop.ts';
import { syntheticCases } from '../../../bench/frontier/synthetic.ts';
import { paperCases } from '../../../bench/frontier/work.ts';
import { create, frontierGroupDispatch, registry } from '../../../src/index.ts';
import type {
  FrontierGroupDispatchDecision,
  FrontierGroupDispatchInput,
} from '../../../src/policies/frontier-group-dispatch/index.ts';
import { mean } from '../../support/basics/numbers.ts';
import { refusal } from '../../support/basics/refusal.ts';

/** A policy that two groups of two requests fill. */
function start(config: Partial<FrontierGroupDispatchInput> = {}) {
  let policy = create(frontierGroupDispatch, { responsesPerPrompt: 2, width: 2, ...config });
  let at = 0;
  const send = (event: object): FrontierGroupDispatchDecision[] =>
    policy.send({ at, ...event } as never) as FrontierGroupDispatchDecision[];
  return {
    send,
    pass: (seconds: number) => void (at += seconds),
    restore: () => void (policy = registry.restore(JSON.parse(JSON.stringify(policy.snapshot()))) as never),
    arrive: (promptId: string, index: number, more: object = {}) =>
      send({ type: 'request.arrived', requestId: `${promptId}/${index}#0`, promptId, roundId: 'r1', index, ...more }),
    group(promptId: string, more: object = {}) {
      return [0, 1].flatMap((index) => this.arrive(promptId, index, more));
    },
    complete: (requestId: string) => send({ type: 'response.completed', requestId, tokens: 10 }),
    consumed: (groups: string[], seconds: number) =>
      send({ type: 'train.consumed', fetchId: 'f', replica: 'a', groups, samples: 4, tokens: 40, seconds }),
  };
}

const admitted = (decisions: readonly FrontierGroupDispatchDecision[]): string[] =>
  decisions.flatMap((one) => (one.type === 'request.admit' ? [one.requestId] : []));
const types = (decisions: readonly FrontierGroupDispatchDecision[]): string[] => decisions.map((one) => one.type);

describe('with a speculative admission before it', () => {
  const collected = (promptId: string) => {
    const reason = { code: 'responses_held', held: 1, launched: 2 };
    return { type: 'prompt.collected', promptId, roundId: 'r1', requestIds: [`${promptId}/0#0`], reason };
  };
  const deferred = (promptId: string, roundId: string, code: 'round_completed' | 'stale_weights') => ({
    type: 'prompt.deferred',
    prompt: { promptId },
    roundId,
    dropped: [],
    reason:
      code === 'round_completed'
        ? { code, held: 0, needed: 2 }
        : { code, startVersion: 0, weightVersion: 3, maxStaleness: 1 },
  });

  test('a prompt that has its responses, or is deferred, leaves when what runs of it has ended, and `closeAtOnce` at once', () => {
    const late = start({ width: 1 });
    const early = start({ width: 1, closeAtOnce: true });
    for (const one of [late, early]) [one.group('a'), one.group('b'), one.complete('a/0#0')];
    expect(late.send(collected('a'))).toEqual([]);
    late.restore();
    expect(types(late.send({ type: 'request.aborted', requestId: 'a/1#0' }))).toEqual([
      'group.left',
      'request.admit',
      'request.admit',
    ]);
    expect(early.send(collected('a'))).toMatchObject([
      { type: 'group.left', requestIds: ['a/0#0', 'a/1#0'], reason: { completed: 1, givenUp: 1 } },
      { type: 'request.admit', requestId: 'b/0#0' },
      { type: 'request.admit', requestId: 'b/1#0' },
    ]);
    expect(early.send(collected('a'))).toEqual([]);
    expect(early.send(deferred('b', 'r1', 'round_completed'))).toMatchObject([{ type: 'group.left', promptId: 'b' }]);
  });

  test('a deferral of an earlier round is not of the group that is here now, unless it was carried on too long', () => {
    const one = start({ closeAtOnce: true });
    one.arrive('a', 0);
    expect(one.send(deferred('a', 'r0', 'round_completed'))).toEqual([]);
    expect(types(one.send(deferred('a', 'r2', 'stale_weights')))).toEqual(['group.left']);
    expect(one.send(deferred('z', 'r1', 'round_completed'))).toEqual([]);
  });

  test('what waits of a closed group is dropped by name; the `ref` of a prompt is there when it is admitted', () => {
    const one = start({ width: 1 });
    one.arrive('a', 0, { ref: 'body of a' });
    one.arrive('b', 0);
    one.restore();
    const launch = { type: 'request.launch', promptId: 'b', roundId: 'r1', index: 1, weightVersion: 0 };
    const reason = { code: 'planned', inFlight: 0 };
    one.send({ ...launch, requestId: 'b/1#0', ref: 'body of b', reason });
    expect(one.arrive('a', 1)).toMatchObject([{ type: 'request.admit', requestId: 'a/1#0', ref: 'body of a' }]);
    one.send({ type: 'request.aborted', requestId: 'a/0#0' });
    expect(one.send({ type: 'request.aborted', requestId: 'a/1#0' }).slice(1)).toMatchObject([
      { type: 'request.admit', requestId: 'b/0#0', ref: 'body of b' },
      { type: 'request.admit', requestId: 'b/1#0', ref: 'body of b' },
    ]);
    one.arrive('c', 0);
    expect(one.send(deferred('c', 'r1', 'round_completed'))).toMatchObject([
      { type: 'request.dropped', requestId: 'c/0#0', admitted: false, reason: { code: 'closed' } },
      { type: 'group.left', promptId: 'c' },
    ]);
  });
});

describe('admission', () => {
  test('requests of the frontier are admitted, others deferred, with the numbers', () => {
    const one = start();
    expect(admitted([...one.group('a'), ...one.group('b')])).toEqual(['a/0#0', 'a/1#0', 'b/0#0', 'b/1#0']);
    expect(one.arrive('c', 0)).toEqual([
      {
        type: 'request.deferred',
        at: 0,
        requestId: 'c/0#0',
        promptId: 'c',
        roundId: 'r1',
        reason: { code: 'frontier_full', order: 2, inService: 2, width: 2 },
      },
    ]);
  });

  test('the slot of a group that has left goes to the lowest order among the deferred', () => {
    const one = start();
    for (const id of ['a', 'b', 'c']) one.group(id);
    one.group('late', { order: 1 });
    one.complete('b/0#0');
    const decisions = one.complete('b/1#0');
    expect(types(decisions)).toEqual(['group.left', 'request.admit', 'request.admit']);
    expect(decisions[0]).toMatchObject({ requestIds: ['b/0#0', 'b/1#0'], reason: { code: 'all_ended', completed: 2 } });
    expect(admitted(decisions)).toEqual(['late/0#0', 'late/1#0']);
  });

  test('a late group of a lower order does not push out one in service (Algorithm 1, not equation 5)', () => {
    const one = start();
    one.group('a', { order: 5 });
    one.group('b', { order: 6 });
    expect(admitted(one.group('late', { order: 0 }))).toEqual([]);
    expect(admitted(one.complete('a/0#0'))).toEqual([]);
    expect(admitted(one.complete('a/1#0'))).toEqual(['late/0#0', 'late/1#0']);
  });

  test('a group waits for those of its requests that have not come', () => {
    const one = start({ width: 1 });
    one.arrive('a', 0);
    one.group('b');
    expect(types(one.complete('a/0#0'))).toEqual([]);
    expect(admitted(one.arrive('a', 1))).toEqual(['a/1#0']);
    expect(admitted(one.complete('a/1#0'))).toEqual(['b/0#0', 'b/1#0']);
  });

  test('rounds are served in the order in which they began', () => {
    const one = start({ width: 1 });
    one.group('a');
    one.group('z', { roundId: 'r2', order: 0 });
    one.group('b', { order: 9 });
    one.complete('a/0#0');
    expect(admitted(one.complete('a/1#0'))).toEqual(['b/0#0', 'b/1#0']);
  });

  test('what speculative-admission launches is admitted as well', () => {
    const launch = {
      type: 'request.launch',
      requestId: 'a/0#0',
      promptId: 'a',
      roundId: 'r1',
      index: 0,
      weightVersion: 1,
    };
    expect(admitted(start().send({ ...launch, reason: { code: 'planned', inFlight: 0 } }))).toEqual(['a/0#0']);
  });
});

describe('failures', () => {
  const failed = (requestId: string) => ({ type: 'response.failed', requestId, kind: 'infrastructure' });

  test('without retries a failed request has failed for good', () => {
    const one = start({ width: 1 });
    one.group('a');
    one.group('b');
    one.send(failed('a/0#0'));
    const decisions = one.complete('a/1#0');
    expect(decisions[0]).toMatchObject({ type: 'group.left', reason: { completed: 1, givenUp: 1 } });
    expect(refusal(() => one.arrive('a', 0, { requestId: 'a/0#1' }))).toMatchObject({ code: 'out_of_order' });
  });

  test('with retries the group keeps its slot while something of it runs, and another request takes the place', () => {
    const one = start({ width: 1, awaitRetries: true });
    one.group('a');
    one.group('b');
    expect(one.send(failed('a/0#0'))).toEqual([]);
    const again = one.arrive('a', 0, { requestId: 'a/0#1' });
    expect(types(again)).toEqual(['request.dropped', 'request.admit']);
    one.complete('a/1#0');
    expect(types(one.complete('a/0#0'))).toEqual(['response.late']);
    expect(types(one.complete('a/0#1'))[0]).toBe('group.left');
  });

  test('a group that only waits for a retry keeps nobody out, and is the next one when the retry comes', () => {
    const one = start({ width: 1, awaitRetries: true });
    one.group('a');
    one.group('b');
    one.group('c');
    one.complete('a/1#0');
    // The retry may itself wait for what b shows.
    expect(admitted(one.send(failed('a/0#0')))).toEqual(['b/0#0', 'b/1#0']);
    one.restore();
    expect(types(one.arrive('a', 0, { requestId: 'a/0#1' }))).toEqual(['request.dropped', 'request.deferred']);
    one.complete('b/0#0');
    one.restore();
    expect(admitted(one.complete('b/1#0'))).toEqual(['a/0#1']);
    const left = one.complete('a/0#1');
    expect(left[0]).toMatchObject({ type: 'group.left', promptId: 'a', reason: { completed: 2 } });
    expect(admitted(left)).toEqual(['c/0#0', 'c/1#0']);
  });

  test('a group that only waits for a retry keeps its slot while nobody else wants it', () => {
    const one = start({ width: 1, awaitRetries: true });
    one.group('a');
    one.complete('a/1#0');
    one.send(failed('a/0#0'));
    expect(types(one.arrive('a', 0, { requestId: 'a/0#1' }))).toEqual(['request.dropped', 'request.admit']);
    one.send(failed('a/0#1'));
    one.restore();
    expect(admitted(one.group('b'))).toEqual(['b/0#0', 'b/1#0']);
    const reason = { code: 'infrastructure', failures: 2, budget: 1 };
    const gone = one.send({ type: 'response.abandoned', requestId: 'a/0#1', promptId: 'a', reason });
    expect(gone).toMatchObject([
      { type: 'group.left', promptId: 'a', reason: { code: 'all_ended', servedSeconds: 0 } },
    ]);
  });

  test('a response that was only to be compared with leaves its slot', () => {
    const one = start({ width: 1, awaitRetries: true });
    for (const id of ['a', 'b']) for (const index of [0, 1]) [one.arrive(id, index), one.complete(`${id}/${index}#0`)];
    one.group('c');
    one.send(failed('c/0#0'));
    one.send(failed('c/1#0'));
    expect(admitted(one.arrive('a', 2))).toEqual(['a/2#0']);
    expect(types(one.arrive('c', 0, { requestId: 'c/0#1' }))).toContain('request.deferred');
    one.complete('a/2#0');
    one.restore();
    const reason = { code: 'control', tokens: 10 };
    expect(one.send({ type: 'response.surplus', requestId: 'a/2#0', promptId: 'a', reason })).toMatchObject([
      { type: 'group.left', promptId: 'a', requestIds: ['a/2#0'], reason: { code: 'closed' } },
      { type: 'request.admit', requestId: 'c/0#1' },
    ]);
  });

  test('a response that is abandoned is not waited for', () => {
    const one = start({ width: 1, awaitRetries: true });
    one.group('a');
    one.complete('a/1#0');
    one.send(failed('a/0#0'));
    const reason = { code: 'infrastructure', failures: 1, budget: 0 };
    const decisions = one.send({ type: 'response.abandoned', requestId: 'a/0#0', promptId: 'a', reason });
    expect(decisions[0]).toMatchObject({ type: 'group.left', requestIds: ['a/0#0', 'a/1#0'] });
  });

  test('an abort frees what runs on its confirmation, and what waits at once', () => {
    const one = start({ width: 1 });
    one.group('a');
    one.group('b');
    const reason = { code: 'round_completed', counted: 1 };
    const abort = (requestId: string) => one.send({ type: 'request.abort', requestId, promptId: 'x', reason });
    expect(abort('a/0#0')).toEqual([]);
    expect(abort('b/0#0')).toMatchObject([{ type: 'request.dropped', admitted: false, reason: { code: 'aborted' } }]);
    expect(types(one.send({ type: 'request.aborted', requestId: 'b/0#0' }))).toEqual(['response.late']);
    one.send({ type: 'request.aborted', requestId: 'a/0#0' });
    expect(admitted(one.complete('a/1#0'))).toEqual(['b/1#0']);
  });

  test('a round that is over drops what waits, and keeps what runs until it has ended', () => {
    const one = start({ width: 1 });
    one.group('a');
    one.group('b');
    expect(types(one.send({ type: 'round.failed', roundId: 'r1' }))).toEqual([
      'request.dropped',
      'request.dropped',
      'group.left',
    ]);
    one.complete('a/0#0');
    expect(types(one.complete('a/1#0'))).toEqual(['group.left']);
    expect(refusal(() => one.arrive('c', 0))).toMatchObject({ code: 'out_of_order', path: 'roundId' });
  });

  test('a restart forgets what was in flight, and its groups keep their places for what comes again', () => {
    const one = start({ width: 1 });
    one.group('a');
    one.group('b');
    one.complete('a/0#0');
    one.restore();
    const dropped = one.send({ type: 'host.restarted', idPrefix: 'h1-' });
    expect(dropped).toMatchObject([
      { requestId: 'a/1#0', admitted: true, reason: { code: 'host_restarted' } },
      { requestId: 'b/0#0', admitted: false },
      { requestId: 'b/1#0', admitted: false },
    ]);
    expect(admitted(one.arrive('b', 0, { requestId: 'h1-b/0#0' }))).toEqual([]);
    expect(admitted(one.arrive('a', 1, { requestId: 'h1-a/1#0' }))).toEqual(['h1-a/1#0']);
    expect(types(one.complete('a/1#0'))).toEqual(['response.late']);
    expect(admitted(one.complete('h1-a/1#0'))).toEqual(['h1-b/0#0']);
  });

  test('requests that an engine took with it are replaced by those that come for the same responses', () => {
    const one = start({ awaitRetries: true });
    one.group('a');
    const again = one.arrive('a', 0, { requestId: 'a/0#1' });
    expect(again).toMatchObject([{ type: 'request.dropped', reason: { code: 'replaced' } }, { type: 'request.admit' }]);
  });
});

describe('bad input', () => {
  test.each([
    [{ responsesPerPrompt: 2 }, 'width'],
    [{ responsesPerPrompt: 2, width: 0 }, 'width'],
    [{ responsesPerPrompt: 2, width: 'wide' }, 'width'],
    [{ responsesPerPrompt: 2, width: 1, starvedShare: 0 }, 'starvedShare'],
  ])('%j', (config, path) => {
    expect(refusal(() => create(frontierGroupDispatch, config as never))).toMatchObject({
      code: 'invalid_config',
      path,
    });
  });

  test('a request that is here, a response that is complete, a prefix that was used', () => {
    const one = start();
    one.group('a');
    expect(refusal(() => one.arrive('a', 0))).toMatchObject({ code: 'duplicate_id', path: 'requestId' });
    one.complete('a/0#0');
    expect(refusal(() => one.arrive('a', 0, { requestId: 'a/0#1' }))).toMatchObject({
      code: 'duplicate_id',
      path: 'index',
    });
    expect(refusal(() => one.send({ type: 'host.restarted', idPrefix: '' }))).toMatchObject({ code: 'duplicate_id' });
  });
});

describe('width', () => {
  test('a width that starves the trainer is reported once a round, with its numbers', () => {
    const one = start({ width: 1 });
    for (let group = 0; group < 8; group += 1) one.group(`p${group}`);
    const notices: FrontierGroupDispatchDecision[] = [];
    for (let group = 0; group < 6; group += 1) {
      one.pass(10);
      one.complete(`p${group}/0#0`);
      one.complete(`p${group}/1#0`);
      one.pass(2);
      notices.push(...one.consumed([`p${group}`], 2));
    }
    expect(notices).toMatchObject([{ type: 'frontier.starved', roundId: 'r1', width: 1 }]);
    const notice = notices[0]! as Extract<FrontierGroupDispatchDecision, { type: 'frontier.starved' }>;
    expect(notice.suggestedWidth).toBeGreaterThan(1);
    expect(notice.reason).toMatchObject({ code: 'trainer_waits', waitedSeconds: 30, busySeconds: 8 });
    expect(notice.reason.servedGroupsPerSecond).toBeCloseTo(4 / 48, 2);
    expect(notice.reason.trainedGroupsPerSecond).toBeCloseTo(0.5, 6);
  });

  test('strict F_w = U starves the trainer, and says so', () => {
    const { setting, round } = paperCases[0]!;
    const rounds = runRounds(setting, 2, [round(32, 1, 0)], { throughPolicy: true });
    expect(rounds[0]!.starved).toBe(1);
  });

  test('what the trainer does between updates, and does not report, is no wait while groups are ready', () => {
    const starved = (isReady: boolean): number => {
      const one = start({ width: 8 });
      for (let group = 0; group < 16; group += 1) one.group(`p${group}`);
      let notices = 0;
      for (let group = 0; group < 6; group += 1) {
        one.pass(2);
        for (let k = 0; k < (isReady && group === 0 ? 8 : 1); k += 1) {
          for (const index of [0, 1]) one.complete(`p${isReady && group > 0 ? 20 : group + k}/${index}#0`);
        }
        one.pass(2);
        notices += one.consumed([`p${group}`], 2).filter((each) => each.type === 'frontier.starved').length;
      }
      return notices;
    };
    expect(starved(false)).toBe(1);
    expect(starved(true)).toBe(0);
  });

  const seconds = (name: string, width: FrontierGroupDispatchInput['width']): number => {
    const { setting, round } = cases.find((one) => one.name === name)!;
    const rounds = [0, 1, 2, 3, 4, 5, 6].map((at) => round(32, 1, at));
    return mean(
      runRounds(setting, width, rounds)
        .slice(4)
        .map((one) => one.seconds),
    );
  };
  const cases = syntheticCases(32);

  test('auto stays wide where more requests cost an engine little', () => {
    const name = 'flat, broad, trainer 0.5';
    expect(seconds(name, 'auto') / seconds(name, 32)).toBeLessThan(1.03);
  });

  test('auto narrows where more requests make the first groups late', () => {
    const name = 'compute, narrow, trainer 1.5';
    const best = Math.min(...[2, 3, 4, 6, 8, 12, 16].map((width) => seconds(name, width)));
    expect(seconds(name, 'auto') / best).toBeLessThan(1.03);
    expect(seconds(name, 32) / best).toBeGreaterThan(1.2);
  });

  test('what is planned with survives a snapshot, and a plan says what led to it', () => {
    const one = start({ width: 'auto', startRequests: 4 });
    for (let group = 0; group < 7; group += 1) one.group(`p${group}`);
    const decisions: FrontierGroupDispatchDecision[] = [];
    for (let group = 0; group < 4; group += 1) {
      one.pass(3 + group);
      if (group === 3) one.restore();
      for (const index of [0, 1]) decisions.push(...one.complete(`p${group}/${index}#0`));
    }
    // Four groups are known, twice as many as it began with; a late plan only widens.
    expect(decisions.filter((each) => each.type === 'frontier.resized').at(-1)).toMatchObject({
      reason: { code: 'planned', groups: 7, stepSecondsPerContextToken: expect.any(Number) },
    });
  });

  test('a round that begins with what is known has a plan at once', () => {
    const one = start({ width: 'auto', startRequests: 8 });
    for (let group = 0; group < 4; group += 1) one.group(`p${group}`);
    for (let group = 0; group < 4; group += 1) {
      one.pass(3 + group);
      for (const index of [0, 1]) one.complete(`p${group}/${index}#0`);
    }
    const decisions = [0, 1, 2, 3, 4, 5].flatMap((group) => one.group(`n${group}`, { roundId: 'r2' }));
    expect(decisions.filter((each) => each.type === 'frontier.resized')[0]).toMatchObject({
      reason: { code: 'planned' },
    });
  });
});
