import { describe, expect, test } from 'vitest';
import { create, roundComposition } from '../../../src/index.ts';
import type { RoundCompositionInput } from '../../../src/policies/round-composition/index.ts';
import { only, prompts, Session } from '../../support/sessions/session.ts';

class Composition extends Session {
  constructor(config: Partial<RoundCompositionInput> = {}) {
    const settings = { promptsPerRound: 2, responsesPerPrompt: 2, windowRounds: 2, ...config };
    super(create(roundComposition, settings) as never);
  }

  request() {
    return this.send({ type: 'round.requested', roundId: `r${this.rounds++}`, weightVersion: 3 } as never);
  }

  supply(...ids: string[]) {
    return this.send({ type: 'prompts.supplied', roundId: `r${this.rounds - 1}`, prompts: prompts(...ids) } as never);
  }

  /** Reports the lengths of the two responses of a prompt. */
  counted(promptId: string, tokens: number) {
    const responses = [0, 1].map((index) => ({ requestId: `${promptId}/${index}#0`, tokens: tokens + index }));
    const reason = { code: 'no_filter', counted: 1, needed: 2 };
    return this.send({ type: 'prompt.counted', promptId, roundId: 'x', responses, reason } as never);
  }

  returned(promptId: string) {
    const reason = { code: 'round_failed' };
    return this.send({ type: 'prompt.returned', prompt: { promptId }, roundId: 'x', dropped: [], reason } as never);
  }

  saved() {
    type Saved = { copies: unknown[]; later: unknown[]; lengths: unknown; epoch: unknown[] };
    return (this.policy.snapshot() as never as { state: Saved }).state;
  }

  /** Plays epochs of 20 prompts, of which the even ones are ten times as long, until they are known. */
  learn(epochs = 3) {
    for (let epoch = 0; epoch < epochs; epoch += 1) {
      for (let one = 0; one < 20; one += 1) this.counted(`p${one}`, (one % 2 === 0 ? 10_000 : 1000) + 10 * epoch);
      // Rounds tell one epoch from the next.
      this.request();
      this.send({ type: 'round.failed', roundId: `r${this.rounds - 1}` } as never);
    }
  }
}

const planned = (decisions: ReturnType<Composition['send']>) => {
  const [round] = only(decisions, 'round.planned');
  return round && { ids: round.queued.map((one) => one.promptId), kind: round.kind, reason: round.reason };
};

describe('round-composition', () => {
  test('of an epoch it knows as many ids as it may remember; then it begins to count anew', () => {
    const host = new Composition({ promptsPerRound: 3, rememberedPrompts: 4 });
    host.request();
    host.supply('a', 'b', 'c', 'd');
    expect(host.saved().epoch).toHaveLength(4);
    host.supply('e', 'f');
    expect(host.saved().epoch).toHaveLength(2);
  });

  test('asks for a whole window, and plans when it is there, in portions of any size', () => {
    const host = new Composition();
    expect(host.request()).toMatchObject([
      {
        type: 'prompts.request',
        roundId: 'r0',
        count: 4,
        reason: { code: 'window_begun', rounds: 2, target: 4, known: 0 },
      },
    ]);
    expect(host.supply('a', 'b', 'c')).toEqual([]);
    const [round] = host.supply('d');
    expect(round).toMatchObject({
      ...{ type: 'round.planned', roundId: 'r0', kind: 'long', weightVersion: 3, queued: prompts('a', 'b') },
      reason: { code: 'composed', waiting: 4, due: 0 },
    });
    expect(planned(host.request())?.ids).toEqual(['c', 'd']);
    expect(only(host.request(), 'prompts.request')).toMatchObject([{ count: 4 }]);
  });

  test('keeps the order of the data where nothing is known', () => {
    const host = new Composition({ windowRounds: 3 });
    host.request();
    const rounds = [host.supply('f', 'a', 'e', 'b', 'd', 'c'), host.request(), host.request()];
    expect(rounds.map((one) => planned(one)?.ids)).toEqual([
      ['f', 'a'],
      ['e', 'b'],
      ['d', 'c'],
    ]);
    expect(planned(rounds[0]!)?.reason).toMatchObject({ code: 'composed' });
  });

  test('lets long prompts wait for each other, once their lengths are known from earlier epochs', () => {
    const host = new Composition();
    host.learn();
    host.request();
    const first = planned(host.supply('p1', 'p2', 'p3', 'p4'));
    expect(first?.ids).toEqual(['p2', 'p4']);
    expect(planned(host.request())?.ids).toEqual(['p1', 'p3']);
    const { longestTokens, shortestTokens } = first!.reason as { longestTokens: number; shortestTokens: number };
    expect(longestTokens).toBeGreaterThanOrEqual(shortestTokens);
    expect(shortestTokens).toBeGreaterThan(5000);
  });

  test('for an admission that over-provisions, a round is larger, and short', () => {
    const host = new Composition({ promptSpeculation: 1.5 });
    expect(only(host.request(), 'prompts.request')).toMatchObject([{ count: 6 }]);
    expect(planned(host.supply('a', 'b', 'c', 'd', 'e', 'f'))).toMatchObject({ ids: ['a', 'b', 'c'], kind: 'short' });
  });

  test('a prompt that comes again while it is here is due as soon as the first is planned: it is lost in no epoch, and twice in no round', () => {
    const host = new Composition();
    host.request();
    expect(planned(host.supply('a', 'a', 'b', 'c'))?.ids).toEqual(['a', 'b']);
    expect(only(host.request(), 'prompts.request')).toMatchObject([{ count: 2, reason: { target: 4, known: 2 } }]);
    expect(planned(host.supply('d', 'e'))).toMatchObject({ ids: ['a', 'c'], reason: { waiting: 4, due: 1 } });
  });

  test('a window ends with its epoch, and those of later epochs are about equally long', () => {
    const host = new Composition({ windowRounds: 4 });
    const epoch = (count: number) => Array.from({ length: count }, (_, index) => `p${index}`);
    host.request();
    // The second epoch begins in the middle of the window.
    expect(planned(host.supply(...epoch(7), 'p3'))?.ids).toEqual(['p0', 'p1']);
    expect(planned(host.request())?.ids).toEqual(['p2', 'p3']);
    expect(planned(host.request())?.ids).toEqual(['p4', 'p5']);
    // One prompt is left of the first epoch. Seven are in the second, of which one is here: three more rounds, and half of one.
    expect(only(host.request(), 'prompts.request')).toMatchObject([
      { count: 6, reason: { code: 'window_begun', rounds: 4, target: 8, known: 2 } },
    ]);
    expect(planned(host.supply('p6', 'p0', 'p1', 'p2', 'p4', 'p5'))?.ids).toEqual(['p6', 'p3']);
    // The copy of p6 had to wait for the first.
    expect(planned(host.request())).toMatchObject({ ids: ['p6', 'p0'], reason: { due: 1 } });
  });

  test('what an epoch leaves over are its longest prompts, for the first round of the next window', () => {
    const host = new Composition({ windowRounds: 7 });
    host.learn();
    host.request();
    host.supply('p1', 'p3', 'p2', 'p5', 'p7', 'p9', 'p11', 'p13', 'p15', 'p17', 'p19');
    const rounds = [host.supply('p1', 'p4', 'p3'), ...[1, 2, 3, 4].map(() => host.request())];
    expect(rounds.flatMap((one) => planned(one)?.ids)).not.toContain('p2');
    host.request();
    const second = ['p2', 'p5', 'p7', 'p9', 'p11', 'p13', 'p15', 'p17', 'p19'];
    expect(planned(host.supply(...second))).toMatchObject({ ids: ['p2', 'p4'], reason: { due: 1 } });
  });

  test('at the end of the data the longest are not left for a window that never comes', () => {
    const host = new Composition({ windowRounds: 4 });
    host.learn();
    host.request();
    host.supply('p1', 'p3', 'p2', 'p5', 'p7');
    expect(planned(host.send({ type: 'source.exhausted' } as never))?.ids).toEqual(['p2', 'p1']);
    expect([planned(host.request())?.ids, planned(host.request())?.ids]).toEqual([['p3', 'p5'], ['p7']]);
  });

  test('an id that comes again soon after an epoch has begun does not end it', () => {
    const epoch = Array.from({ length: 20 }, (_, index) => `p${index}`);
    const host = new Composition({ windowRounds: 20 });
    host.learn();
    host.request();
    host.supply(...epoch, 'p1');
    host.supply(...epoch.slice(1));
    // The second epoch begins with p1, which comes twice.
    for (let round = 0; round < 10; round += 1) host.request();
    expect(host.saved().later).toEqual([]);
    expect(host.saved().copies).toEqual(prompts('p1'));
  });

  test('what comes back goes into the next round, before prompts of any length', () => {
    const host = new Composition();
    host.learn();
    host.request();
    host.supply('p2', 'p4', 'p6', 'p8');
    host.returned('p1');
    expect(planned(host.request())).toMatchObject({ ids: ['p1', 'p6'], reason: { due: 1 } });
    expect(planned(host.request())).toBeUndefined();
    expect(planned(host.supply('p3', 'p5', 'p7'))?.ids).toEqual(['p8', 'p3']);
  });

  test('more than a round may come back', () => {
    const host = new Composition();
    for (const id of ['a', 'b', 'c']) host.returned(id);
    expect(planned(host.request())?.ids).toEqual(['a', 'b']);
    host.request();
    expect(planned(host.supply('d', 'e', 'f'))).toMatchObject({ ids: ['c', 'd'], reason: { due: 1 } });
  });

  test('a prompt that comes back while another with its id is here does not meet it in a round', () => {
    const host = new Composition();
    host.request();
    host.supply('a', 'b', 'c', 'd');
    host.returned('c');
    expect(planned(host.request())?.ids).toEqual(['c', 'd']);
    host.request();
    expect(planned(host.supply('e', 'f', 'g'))?.ids).toEqual(['c', 'e']);
  });

  test('at the end of the data the rest is handed out, and then the source is drained', () => {
    const host = new Composition();
    host.request();
    host.supply('a', 'b', 'a');
    expect(planned(host.send({ type: 'source.exhausted' } as never))?.ids).toEqual(['a', 'b']);
    expect(planned(host.request())?.ids).toEqual(['a']);
    expect(host.request()).toMatchObject([{ type: 'source.drained', roundId: 'r2' }]);
    host.send({ type: 'source.reopened' } as never);
    // The epoch had two prompts.
    expect(only(host.request(), 'prompts.request')).toMatchObject([{ count: 2 }]);
    expect(host.send({ type: 'source.exhausted' } as never)).toMatchObject([{ type: 'source.drained' }]);
  });

  test('the end of one domain is not the end of the data', () => {
    const host = new Composition();
    host.request();
    expect(host.send({ type: 'source.exhausted', domain: 'math' } as never)).toEqual([]);
    expect(planned(host.supply('a', 'b', 'c', 'd'))?.ids).toEqual(['a', 'b']);
  });

  test('a host that has restarted is asked again for what is missing', () => {
    const host = new Composition();
    expect(host.send({ type: 'host.restarted', idPrefix: 'a-' } as never)).toEqual([]);
    host.request();
    host.supply('a');
    expect(host.send({ type: 'host.restarted', idPrefix: 'b-' } as never)).toMatchObject([
      { type: 'prompts.request', count: 3, reason: { code: 'host_restarted', target: 4, admitted: 1 } },
    ]);
    expect(planned(host.supply('b', 'c', 'd'))?.ids).toEqual(['a', 'b']);
  });

  test('prompts that come back may fill the window that a restarted host was asked to fill', () => {
    const host = new Composition();
    host.request();
    host.supply('a', 'b');
    host.returned('c');
    host.returned('d');
    const [round, ...more] = host.send({ type: 'host.restarted', idPrefix: 'a-' } as never);
    expect([planned([round!])?.ids, more]).toEqual([['c', 'd'], []]);
  });

  test('a round that waits can be given up; its prompts stay', () => {
    const host = new Composition();
    host.request();
    host.supply('a');
    host.send({ type: 'round.failed', roundId: 'r0' } as never);
    expect(host.supply('b')).toEqual([]);
    expect(only(host.request(), 'prompts.request')).toMatchObject([{ count: 2, reason: { known: 2 } }]);
  });

  test('a data set smaller than the window is read ahead by one window at most', () => {
    const host = new Composition({ windowRounds: 4 });
    let next = 0;
    let here = 0;
    for (let round = 0; round < 40; round++) {
      for (let [asked] = only(host.request(), 'prompts.request'); asked !== undefined; ) {
        here += asked.count;
        const rows = Array.from({ length: asked.count }, () => `p${next++ % 3}`);
        [asked] = only(host.supply(...rows), 'prompts.request');
      }
      here -= 2;
      expect(here).toBeLessThanOrEqual(8 + 2);
    }
    expect(next).toBeGreaterThan(70);
  });

  test('it learns from filtered and deferred prompts, too', () => {
    const known = new Composition();
    known.learn();
    const learnt = JSON.stringify(known.saved().lengths);
    const filtered = { promptId: 'p1', roundId: 'x', reason: { code: 'host' } };
    const dropped = [{ requestId: 'p1/0#9', tokens: 9, cause: 'filtered' }];
    known.send({ type: 'prompt.filtered', ...filtered, dropped } as never);
    const after = JSON.stringify(known.saved().lengths);
    expect(after).not.toBe(learnt);
    const reason = { code: 'round_completed', held: 0, needed: 2 };
    const deferral = { count: 1, sinceRound: 0, sinceSeconds: 0 };
    // Of a prompt without tokens there is nothing to learn.
    for (const expectedTokens of [undefined, 0])
      known.send({
        ...{ type: 'prompt.deferred', roundId: 'x', dropped: [], reason },
        prompt: { promptId: 'p3', expectedTokens, deferral },
      } as never);
    expect(JSON.stringify(known.saved().lengths)).toBe(after);
    const prompt = { promptId: 'p2', expectedTokens: 50_000, deferral };
    known.send({ type: 'prompt.deferred', prompt, roundId: 'x', dropped: [], reason } as never);
    expect(JSON.stringify(known.saved().lengths)).not.toBe(after);
  });

  test('bad input', () => {
    expect(() => new Composition({ windowRounds: 0 })).toThrow(
      expect.objectContaining({ code: 'invalid_config', path: 'windowRounds' }),
    );
    const host = new Composition();
    host.refuses({ type: 'prompts.supplied', at: 0, roundId: 'x', prompts: [] }, 'unknown_id', 'roundId');
    host.refuses({ type: 'round.failed', at: 0, roundId: 'x' }, 'out_of_order', 'roundId');
    host.request();
    host.refuses({ type: 'round.requested', at: 0, roundId: 'y', weightVersion: 0 }, 'out_of_order', 'roundId');
    host.refuses({ type: 'round.failed', at: 0, roundId: 'x' }, 'out_of_order', 'roundId');
    host.supply('a', 'b', 'c', 'd');
    host.refuses({ type: 'round.requested', at: 0, roundId: 'r0', weightVersion: 0 }, 'duplicate_id', 'roundId');
  });
});
