/** Which round of prompt-selection gets which prompts, and what is said of those that wait. */
import { describe, expect, test } from 'vitest';
import { promptSelection } from '../../../src/index.ts';
import type { Prompt, VocabularyDecision } from '../../../src/schemas/index.ts';
import { Selection, taken } from '../../support/sessions/selection.ts';
import { only } from '../../support/sessions/session.ts';

/** A host whose prompts have responses of ten tokens, half of which pass. */
const even = (config: ConstructorParameters<typeof Selection>[0], ...ids: string[]) => {
  const host = new Selection({ threshold: 0, ...config });
  for (const id of ids) host.earned(id, [0, 1, 0, 1]);
  host.request();
  return host;
};
/** Passes over whatever is worth much less than what was taken. */
const choosy = { threshold: 16, explorationShare: 0, domainFloor: 0 };
const exhaust = (host: Selection, more: object = {}) => host.send({ type: 'source.exhausted', ...more } as never);
const supplyFor = (host: Selection, roundId: string, ...ids: string[]): VocabularyDecision[] =>
  host.send({ type: 'prompts.supplied', roundId, prompts: ids.map((promptId) => ({ promptId })) });
const keeping = (promptId: string): Prompt => ({
  promptId,
  deferral: { count: 2, sinceRound: 0, sinceSeconds: 3 },
  kept: [{ requestId: `${promptId}/0#1`, index: 0, tokens: 3, weightVersions: [0], finished: true }],
});

describe('prompts of a round', () => {
  test('a portion that comes late is for the round that lacks prompts, and is none of those that it asked for', () => {
    const host = even({ promptsPerRound: 2 });
    expect(taken(host.supply('a', 'b'))).toEqual(['a', 'b']);
    host.request();
    expect(supplyFor(host, 'r0', 'late')).toEqual([]);
    expect(supplyFor(host, 'r0', 'late').map(({ type }) => type)).toEqual(['epoch.ended', 'prompt.merged']);
    const decisions = host.supply('c');
    expect(taken(decisions)).toEqual(['late', 'c']);
    expect(only(decisions, 'prompts.selected')[0]!.reason).toMatchObject({ code: 'filled', offered: 1, passed: 0 });
  });

  test('a portion without prompts is no end of what was asked for', () => {
    const host = even({ promptsPerRound: 2 });
    expect(host.supply()).toEqual([]);
    expect(only(host.supply('a'), 'prompts.request')).toEqual([]);
  });

  test('a round that is given up leaves its prompts to the next, another one nothing', () => {
    const host = even({ promptsPerRound: 2 });
    host.supply('a', 'b');
    host.request();
    host.supply('c');
    host.send({ type: 'round.failed', roundId: 'r0' } as never);
    expect(host.saved().need).toMatchObject({ roundId: 'r1', awaited: 1, offered: 1 });
    host.fail();
    expect(host.saved().need).toBeNull();
    expect(host.request()).toMatchObject([{ count: 1, reason: { code: 'round_opened', target: 2, known: 1 } }]);
    expect(taken(host.supply('d'))).toEqual(['c', 'd']);
  });

  test('tokens bound a round, what does not fit is for the next, and one prompt fits always', () => {
    const host = even({ promptsPerRound: 4, tokensPerRound: 90 }, 'a', 'b', 'c', 'd');
    // Four responses of ten tokens each.
    expect(taken(host.supply('a', 'b', 'c'))).toEqual(['a', 'b']);
    expect(host.saved().takenTokens).toBe(40);
    expect(host.request()).toMatchObject([{ type: 'prompts.request', count: 3 }]);
    expect(host.supply('d')).toEqual([]);
    expect(taken(host.supply('a'))).toEqual(['c', 'd']);
    const tight = even({ promptsPerRound: 4, tokensPerRound: 30 }, 'a', 'b');
    expect(taken(tight.supply('a', 'b'))).toEqual(['a']);
    expect(taken(tight.request())).toEqual(['b']);
    expect(tight.saved()).toMatchObject({ takenTokens: 0, takenKept: 0 });
  });

  test('responses that are shared out fit the tokens of their round', () => {
    const settings = { minResponses: 2, maxResponses: 8, promptsPerRound: 2, tokensPerRound: 60 };
    const host = even(settings, 'a', 'b');
    const [{ choices } = { choices: [] }] = only(host.supply('a', 'b'), 'prompts.selected');
    // Two prompts with two to eight responses of ten tokens: six of eight responses.
    expect(choices.reduce((sum, { responses }) => sum + responses, 0)).toBe(6);
  });

  test('`fill: kept` asks for as many as are not likely to be there', () => {
    const host = even({ fill: 'kept', promptsPerRound: 2 });
    const asked = (decisions: readonly VocabularyDecision[]) => only(decisions, 'prompts.request')[0]?.count;
    // Of new prompts, three in five.
    expect([host.supply('a', 'b'), host.supply('c')].map(asked)).toEqual([1, 1]);
    expect(host.saved().takenKept).toBeCloseTo(1.8, 12);
    expect(taken(host.supply('d', 'e'))).toEqual(['a', 'b', 'c', 'd']);
    expect(host.saved().takenKept).toBeCloseTo(0.6, 12);
    expect(asked(host.request())).toBe(2);
  });

  test('at most four times as many are asked for as are needed', () => {
    const host = even({ ...choosy, maxOffered: 1000 }, 'good');
    host.supply('good');
    const dull = Array.from({ length: 7 }, (_, n) => `dull ${n}`);
    for (const id of dull) host.earned(id, [0, 0, 0, 0]);
    host.request();
    const portions = [dull.slice(0, 1), dull.slice(1, 3), dull.slice(3)];
    const asked = portions.flatMap((one) => only(host.supply(...one), 'prompts.request'));
    // After 2, 4 and 8 prompts of which one was taken.
    expect(asked.map(({ count }) => count)).toEqual([2, 4, 4]);
  });
});

describe('the end of the source', () => {
  test('is not that of one of its domains', () => {
    const host = even({ promptsPerRound: 2 });
    host.supply('a');
    expect(exhaust(host, { domain: 'math' })).toEqual([]);
    expect(host.saved().exhausted).toBe(false);
  });

  test('gives all that is here to the newest round where nobody asks any more, whatever its tokens are', () => {
    const host = even({ promptsPerRound: undefined, tokensPerRound: 60 }, 'a', 'b');
    host.supply('a', 'b');
    const [all] = only(exhaust(host), 'prompts.selected');
    expect(all).toMatchObject({ roundId: 'r0', reason: { code: 'source_exhausted', offered: 0, passed: 0 } });
    expect(all!.prompts).toHaveLength(2);
    // A round that lacks prompts after the end gets none, and is not said to be drained: its host knows.
    expect(host.lacks(2)).toEqual([]);
    expect(host.saved().need).toBeNull();
    host.send({ type: 'source.reopened' } as never);
    host.lacks(1);
    expect(taken(host.supply('c'))).toEqual(['c']);
    const early = new Selection({ promptsPerRound: undefined });
    expect(exhaust(early)).toEqual([]);
  });

  test('is that of the round, too, whose prompts are here', () => {
    const host = even({ promptsPerRound: 3 });
    exhaust(host);
    expect(host.saved().need).toBeNull();
    host.returned('a');
    expect(only(host.request(), 'prompts.selected')).toMatchObject([{ reason: { code: 'source_exhausted' } }]);
  });
});

describe('prompts that come back, or come twice', () => {
  test('a prompt that waits already is merged, with its deferrals and its complete responses', () => {
    const host = even({ promptsPerRound: 3 });
    host.returned(keeping('a'));
    const [merged] = only(host.returned(keeping('a')), 'prompt.merged');
    expect(merged).toMatchObject({ roundId: 'x', reason: { code: 'already_queued', deferrals: 2 } });
    expect(merged!.dropped).toMatchObject([{ requestId: 'a/0#1', tokens: 3, cause: 'merged' }]);
    expect(only(host.supply('a'), 'prompt.merged')[0]!.reason).toMatchObject({ deferrals: 0 });
  });

  test('`passedOver: last`: beside the one of the epoch before it waits for the end of its own', () => {
    const host = even({ promptsPerRound: 3, passedOver: 'last' });
    host.supply('a');
    expect(only(host.supply('a'), 'prompt.merged')).toEqual([]);
    expect(only(host.supply('a'), 'prompt.merged')).toHaveLength(1);
    expect(host.why('a')[0]).toBe('a was taken');
    expect(taken(host.supply('b', 'c'))).toEqual(['a', 'b', 'c']);
    expect(host.why('a')[0]).toBe('a was passed over, until the end of the epoch');
    host.request();
    expect(taken(exhaust(host))).toEqual(['a']);
  });

  test('`passedOver: last`: what comes back is for the next round, and what was passed over is certain at the end', () => {
    const host = even({ ...choosy, promptsPerRound: 2, passedOver: 'last' }, 'good');
    for (let n = 0; n < 4; n += 1) host.earned('dull', [0, 0, 0, 0]);
    host.supply('good', 'dull');
    const { taken: before, last } = host.saved();
    expect([before, last].map((all) => all.map(({ prompt, choice }) => [prompt.promptId, choice.chance]))).toEqual([
      [['good', 1]],
      [['dull', 1]],
    ]);
    expect(taken(host.returned('back'))).toEqual(['good', 'back']);
  });
});

describe('a restart', () => {
  test('asks anew for what was awaited, and tells of the weights', () => {
    const host = even({ promptsPerRound: 3, retention: 0.5 });
    host.supply('a');
    const restarted = { type: 'host.restarted', idPrefix: 'h-' };
    host.at += 5;
    expect(host.send(restarted as never)).toMatchObject([
      { type: 'prompts.request', count: 2, reason: { code: 'host_restarted', target: 3, admitted: 1 } },
    ]);
    expect(host.saved()).toMatchObject({ weightVersion: 0, need: { awaited: 2, askedAt: host.at } });
    expect(taken(host.supply('b', 'c'))).toEqual(['a', 'b', 'c']);
    expect(host.send({ ...restarted, weightVersion: 7 } as never)).toEqual([]);
    expect(host.saved().weightVersion).toBe(7);
  });
});

describe('refusals and why', () => {
  test('refuses rounds that it does not know, or knows', () => {
    const host = even({ promptsPerRound: 1 });
    const reason = { code: 'filtered', target: 1, admitted: 0 };
    host.refuses({ type: 'prompts.supplied', at: 1, roundId: 'x', prompts: [] }, 'unknown_id', 'roundId');
    host.refuses({ type: 'prompts.request', at: 1, roundId: 'x', count: 1, reason }, 'unknown_id', 'roundId');
    host.refuses({ type: 'round.failed', at: 1, roundId: 'x' }, 'unknown_id', 'roundId');
    host.refuses({ type: 'round.requested', at: 1, roundId: 'r1', weightVersion: 0 }, 'out_of_order', 'roundId');
    host.supply('a');
    host.refuses({ type: 'round.requested', at: 1, roundId: 'r0', weightVersion: 0 }, 'duplicate_id', 'roundId');
    const asked = even({ promptsPerRound: undefined });
    asked.lacks(2);
    expect(asked.request()).toEqual([]);
    expect(asked.saved().need).toBeNull();
  });

  test('a prompt waits for a round, a round for prompts, and a complete response for its prompt', () => {
    const host = new Selection({ promptsPerRound: 2 });
    host.returned(keeping('a'));
    expect(host.why('a')).toEqual(['a was taken', 'host: round.requested']);
    expect(host.why('a/0#1')).toEqual(['a/0#1 is complete', 'a was taken', 'host: round.requested']);
    host.request();
    expect(host.why('a')).toEqual([
      ...['a was taken', 'r0 has 1 prompts, 0 were passed over', 'data source: prompts.supplied r0'],
    ]);
    expect(host.why('r0')).toEqual(['r0 has 1 prompts, 0 were passed over', 'data source: prompts.supplied r0']);
    expect(() => host.why('b')).toThrow('the id of something that is held');
    expect(() => host.why('r1')).toThrow('the id of something that is held');
    host.supply('b');
    expect(() => host.why('r0')).toThrow('the id of something that is held');
  });

  test('without promptsPerRound it waits for the newest round to ask', () => {
    const host = new Selection({ promptsPerRound: undefined });
    host.returned('a');
    expect(host.why('a')).toEqual(['a was taken', 'host: round.requested']);
    host.request();
    expect(host.why('a')).toEqual(['a was taken', 'host: prompts.request r0']);
    host.lacks(2);
    expect(host.why('a').at(-1)).toBe('data source: prompts.supplied r0');
  });

  test('says since when: a prompt since it was deferred, a round since it asked, or got its last portion', () => {
    const host = new Selection({ promptsPerRound: 3 });
    host.returned(keeping('a'));
    const since = (id: string) => {
      const why = (host.policy as never as { why(id: string): { since?: number; owed: { since?: number }[] } }).why(id);
      return [why.since, why.owed[0]!.since];
    };
    host.at = 5;
    host.request();
    expect(since('a')).toEqual([3, 5]);
    host.at = 7;
    host.supply('b');
    expect([since('b'), since('r0')]).toEqual([
      [undefined, 7],
      [undefined, 7],
    ]);
  });

  test.each([
    [2, [{ what: 'rounds', id: 'r0' }]],
    [undefined, []],
  ])('another part of a recipe that waits for a round waits for its prompts (promptsPerRound: %s)', (given, waits) => {
    const host = new Selection({ promptsPerRound: given });
    const { gates } = promptSelection;
    const gate = (type: string) =>
      gates?.[type]?.({ ...host.saved(), config: { promptsPerRound: given } } as never, { type });
    expect([gate('round.requested'), gate('prompts.supplied')]).toEqual([[], []]);
    host.at = 4;
    host.request();
    if (given === undefined) host.lacks(2);
    expect(gate('round.requested')).toEqual(waits);
    expect(gate('prompts.supplied')).toEqual([{ event: { type: 'prompts.supplied', roundId: 'r0' }, since: 4 }]);
  });
});
