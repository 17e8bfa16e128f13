/** The ledgers: by which events prompts and responses come in, by which decisions they leave, where a snapshot holds them. */
import { describe, expect, test } from 'vitest';
import { speculativeAdmission } from '../../../src/policies/speculative-admission/index.ts';
import { rounds } from '../../support/sessions/rounds.ts';
import { prompts } from '../../support/sessions/session.ts';

const [promptLedger, responseLedger] = speculativeAdmission.ledgers;
const kept = (requestId: string, finished: boolean) => ({
  requestId,
  index: 0,
  tokens: 1,
  weightVersions: [0],
  finished,
});
const list = [
  { promptId: 'a', kept: [kept('a/0#0', true), kept('a/1#0', false), kept('a/2#0', true)] },
  { promptId: 'b' },
];
const dropped = [{ requestId: 'a/5#0' }, { requestId: 'a/6#0' }];
const entered = (event: object) => [promptLedger!.entered(event as never), responseLedger!.entered(event as never)];
const left = (decision: object) => [promptLedger!.left(decision as never), responseLedger!.left(decision as never)];

describe('what comes in', () => {
  test.each(['round.opened', 'prompts.supplied'])(
    '%s: its prompts, and the finished responses that they bring',
    (type) => {
      expect(entered({ type, prompts: list })).toStrictEqual([
        ['a', 'b'],
        ['a/0#0', 'a/2#0'],
      ]);
    },
  );

  test('response.completed: the response; a failed, aborted or rewarded one brings nothing', () => {
    expect(entered({ type: 'response.completed', requestId: 'a/0#0' })).toStrictEqual([[], ['a/0#0']]);
    for (const type of ['response.failed', 'request.aborted', 'reward.ready', 'prompt.judged', 'timer.fired']) {
      expect(entered({ type, requestId: 'a/0#0', promptId: 'a' })).toStrictEqual([[], []]);
    }
  });
});

describe('what leaves', () => {
  test('round.completed: its prompts, with their responses', () => {
    const responses = [{ requestId: 'b/0#0' }, { requestId: 'b/1#0' }];
    expect(
      left({
        type: 'round.completed',
        prompts: [
          { promptId: 'b', responses },
          { promptId: 'c', responses: [] },
        ],
      }),
    ).toStrictEqual([
      ['b', 'c'],
      ['b/0#0', 'b/1#0'],
    ]);
  });

  test.each(['prompt.deferred', 'prompt.returned'])(
    '%s: the prompt, with what is dropped and what is finished in it',
    (type) => {
      expect(left({ type, prompt: list[0], dropped })).toStrictEqual([['a'], ['a/5#0', 'a/6#0', 'a/0#0', 'a/2#0']]);
      expect(left({ type, prompt: list[1], dropped: [] })).toStrictEqual([['b'], []]);
    },
  );

  test.each(['prompt.filtered', 'prompt.failed', 'prompt.merged'])('%s: the prompt, with what is dropped', (type) => {
    expect(left({ type, promptId: 'a', dropped })).toStrictEqual([['a'], ['a/5#0', 'a/6#0']]);
  });

  test('response.surplus, a late completion, and a finished one that is given up: the response', () => {
    const requestId = 'a/0#0';
    expect(left({ type: 'response.surplus', requestId })).toStrictEqual([[], [requestId]]);
    expect(left({ type: 'response.late', requestId, reason: { code: 'completion', tokens: 1 } })).toStrictEqual([
      [],
      [requestId],
    ]);
    expect(left({ type: 'response.late', requestId, reason: { code: 'report' } })).toStrictEqual([[], []]);
    expect(left({ type: 'response.dropped', requestId, finished: true })).toStrictEqual([[], [requestId]]);
    expect(left({ type: 'response.dropped', requestId, finished: false })).toStrictEqual([[], []]);
  });

  test('nothing by anything else', () => {
    for (const type of ['response.accepted', 'prompt.collected', 'prompt.counted', 'prompt.carried', 'request.abort']) {
      expect(left({ type, requestId: 'a/0#0', promptId: 'a', dropped })).toStrictEqual([[], []]);
    }
  });
});

test('a snapshot holds prompts that stand by, run, or settle, and of each its finished responses', () => {
  const session = rounds({
    partialRollout: true,
    maxStaleness: 1,
    promptsPerRound: 1,
    promptSpeculation: 2,
    filter: 'host',
    allowOverlap: true,
  });
  const held = () => [promptLedger!.held(session.state as never), responseLedger!.held(session.state as never)];
  expect(held()).toStrictEqual([[], []]);
  session.open([...prompts('x', 'y'), { promptId: 'a', kept: [kept('a/0#0', true), kept('a/1#0', false)] }]);
  session.complete('x/0#0', 'y/1#0');
  // a stands by with what it brought.
  expect(held()).toStrictEqual([
    ['x', 'y', 'a'],
    ['x/0#0', 'y/1#0', 'a/0#0'],
  ]);
  session.complete('x/1#0');
  session.tell('prompt.judged', { roundId: 'r0', promptId: 'x', keep: true });
  // y waits for its abort; x was handed over, and a back.
  expect(held()).toStrictEqual([['y'], ['y/1#0']]);
  session.open(prompts('y'));
  expect(held()).toStrictEqual([['y', 'y'], ['y/1#0']]);
});
