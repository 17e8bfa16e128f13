import { describe, expect, test } from 'vitest';
import { create, losslessTail } from '../../../src/index.ts';
import type { LosslessTailInput } from '../../../src/recipes/lossless-tail/index.ts';
import { only, prompts, Session } from '../../support/sessions/session.ts';

class Tail extends Session {
  constructor(config: Partial<LosslessTailInput> = {}) {
    const settings = { promptsPerRound: 2, responsesPerPrompt: 2, windowRounds: 2, ...config };
    super(create(losslessTail, settings) as never);
  }

  request() {
    return this.send({ type: 'round.requested', roundId: `r${this.rounds++}`, weightVersion: this.rounds } as never);
  }

  supply(...ids: string[]) {
    return this.send({ type: 'prompts.supplied', roundId: `r${this.rounds - 1}`, prompts: prompts(...ids) } as never);
  }

  /** Completes all requests of a round, with a length for each prompt. */
  finish(decisions: ReturnType<Tail['send']>, lengthOf: (promptId: string) => number = () => 10) {
    return only(decisions, 'request.launch').flatMap(({ requestId, promptId }) =>
      this.send({ type: 'response.completed', requestId, tokens: lengthOf(promptId) } as never),
    );
  }
}

const launched = (decisions: ReturnType<Tail['send']>) => [
  ...new Set(only(decisions, 'request.launch').map((one) => one.promptId)),
];

describe('lossless-tail', () => {
  test('a round gets its prompts from a window, launches exactly P0 × R0 requests, and waits for all of them', () => {
    const tail = new Tail();
    expect(only(tail.request(), 'prompts.request')).toMatchObject([{ count: 4, reason: { code: 'window_begun' } }]);
    const round = tail.supply('a', 'b', 'c', 'd');
    expect(round.map((one) => one.type)).toEqual(['round.planned', ...Array(4).fill('request.launch')]);
    const end = tail.finish(round);
    expect(only(end, 'round.completed')[0]).toMatchObject({ kind: 'long', deferred: 0, reason: { counted: 2 } });
    expect(only(end, 'request.abort')).toEqual([]);
    expect(only(end, 'round.drained')).toHaveLength(1);
    // The rest of the window needs no supply.
    expect(launched(tail.request())).toEqual(['c', 'd']);
  });

  test('from the second epoch on, long prompts are in rounds of their own', () => {
    const tail = new Tail({ windowRounds: 8 });
    const all = Array.from({ length: 16 }, (_, index) => `p${index}`);
    const lengthOf = (promptId: string) => (Number(promptId.slice(1)) % 4 === 0 ? 9000 : 300);
    const rounds: string[][] = [];
    for (let epoch = 0; epoch < 4; epoch += 1) {
      tail.request();
      for (let round = tail.supply(...all), left = 8; left > 0; round = --left > 0 ? tail.request() : []) {
        rounds.push(launched(round));
        tail.finish(round, lengthOf);
      }
    }
    expect(rounds.slice(0, 8).flat()).toEqual(all);
    expect(rounds.slice(24).flat().slice(0, 4)).toEqual(['p0', 'p4', 'p8', 'p12']);
  });

  test('prompts that replace others in an open round go to the round, not to a window', () => {
    const tail = new Tail({ retry: { data: 0 } });
    tail.request();
    tail.supply('a', 'b', 'c', 'd');
    const failed = tail.send({ type: 'response.failed', requestId: 'a/0#0', kind: 'data' } as never);
    expect(only(failed, 'prompts.request')).toMatchObject([{ roundId: 'r0', count: 1, reason: { code: 'failed' } }]);
    expect(launched(tail.supply('e'))).toEqual(['e']);
  });

  test('a round that fails gives its prompts back, and they make the next round', () => {
    const tail = new Tail();
    tail.request();
    tail.supply('a', 'b', 'c', 'd');
    const failed = tail.send({ type: 'round.failed', roundId: 'r0' } as never);
    expect(only(failed, 'prompt.returned').map((one) => one.prompt.promptId)).toEqual(['a', 'b']);
    tail.confirm(failed);
    expect(launched(tail.request())).toEqual(['a', 'b']);
  });

  test('a round that waits for its prompts can fail, too', () => {
    const tail = new Tail();
    tail.request();
    tail.supply('a');
    tail.send({ type: 'round.failed', roundId: 'r0' } as never);
    tail.request();
    expect(launched(tail.supply('b', 'c', 'd'))).toEqual(['a', 'b']);
  });

  test('the data end with smaller rounds, and then the source is drained', () => {
    const tail = new Tail();
    tail.request();
    tail.supply('a', 'b', 'c');
    const round = tail.send({ type: 'source.exhausted' } as never);
    expect(launched(round)).toEqual(['a', 'b']);
    tail.finish(round);
    const last = tail.request();
    expect(launched(last)).toEqual(['c']);
    expect(only(tail.finish(last), 'round.completed')[0]?.reason).toMatchObject({
      code: 'source_exhausted',
      counted: 1,
    });
    expect(tail.request()).toMatchObject([{ type: 'source.drained', roundId: 'r2' }]);
  });

  test('a round is refused while the one before is open, before anything is asked for', () => {
    const tail = new Tail();
    tail.request();
    tail.supply('a', 'b', 'c', 'd');
    tail.refuses({ type: 'round.requested', at: 0, roundId: 'x', weightVersion: 9 }, 'out_of_order', 'roundId');
  });

  test('settings by which tokens would be thrown away are unknown; those of the admission are checked', () => {
    for (const key of ['responseSpeculation', 'partialRollout', 'quotas']) {
      expect(() => new Tail({ [key]: 1 } as never)).toThrow(expect.objectContaining({ code: 'invalid_config' }));
    }
    expect(() => new Tail({ promptSpeculation: 1.25 })).toThrow(
      expect.objectContaining({ code: 'invalid_config', path: 'promptSpeculation' }),
    );
    expect(() => new Tail({ maxInFlightPerEngine: 3 })).toThrow(
      expect.objectContaining({ code: 'invalid_config', path: 'maxInFlightPerEngine' }),
    );
    expect(() => new Tail({ promptsPerRound: 2_000_000 })).toThrow(
      expect.objectContaining({ code: 'invalid_config', path: 'promptsPerRound' }),
    );
  });
});

test('an engine that gives all of its requests back: the tokens that they have are kept, and cost no prompt its budget', () => {
  const tail = new Tail({ responsesPerPrompt: 1, maxStaleness: 2, retry: { infrastructure: 0 } });
  tail.request();
  const given = only(tail.supply(...'abcdefgh'), 'request.launch').flatMap(({ requestId }) =>
    tail.send({ type: 'request.aborted', requestId, tokens: 500 } as never),
  );
  const again = only(given, 'request.launch');
  expect(again.map((one) => [one.requestId, one.reason.code, one.resumeFrom?.tokens])).toEqual(
    ['a', 'b', 'c'].map((promptId) => [`${promptId}/0#1`, 'retry_ended_early', 500]),
  );
  expect(only(tail.finish(given), 'round.completed')).toMatchObject([{ prompts: [{}, {}] }]);
});
