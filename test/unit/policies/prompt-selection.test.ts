import { describe, expect, test } from 'vitest';
import { create, promptSelection } from '../../../src/index.ts';
import type { PromptSelectionInput } from '../../../src/policies/prompt-selection/index.ts';
import { passed, Selection, taken } from '../../support/sessions/selection.ts';
import { only } from '../../support/sessions/session.ts';

describe('prompt-selection: what a prompt is worth', () => {
  test('the chance that rewards differ is that of its passes and fails, and of two responses like its domain', () => {
    const host = new Selection();
    expect(host.offered('new').keptChance).toBeCloseTo(1 - 2 / 5, 12);
    host.earned('a', [1, 1, 0, 0]);
    // The domain has 2 of 4 passes, and 1 of 2 to begin with: two more responses of a, one of which passes.
    const rising = (from: number) => from * (from + 1) * (from + 2) * (from + 3);
    expect(host.offered('a').keptChance).toBeCloseTo(1 - (2 * rising(3)) / rising(6), 12);
  });

  test('a domain tells of prompts that are new; what it tells is about its last groups', () => {
    const host = new Selection({ priorResponses: 4 });
    for (let n = 0; n < 40; n += 1) host.earned(`h${n}`, [0, 0, 0, 0]);
    const hopeless = host.offered('new').keptChance;
    for (let n = 0; n < 40; n += 1) host.earned(`s${n}`, [0, 1, 0, 1]);
    const mixed = host.offered('newer').keptChance;
    expect(hopeless).toBeLessThan(0.1);
    expect(mixed).toBeGreaterThan(0.6);
  });

  test('what is known fades with each version of the weights, at last to what the domain says', () => {
    const host = new Selection({ retention: 0.5 });
    for (let n = 0; n < 8; n += 1) host.earned('a', [1, 1, 1, 1]);
    for (let n = 0; n < 30; n += 1) host.earned(`s${n}`, [0, 1, 0, 1]);
    const versions = [0, 1, 2, 5, 60].map((version) => host.offered('a', version).keptChance);
    expect(versions).toEqual([...versions].sort((a, b) => a - b));
    expect(versions.at(-1)).toBeCloseTo(host.offered('new', 60).keptChance, 6);
    // A host that goes back to an older checkout knows no more than before.
    expect(host.offered('a', 3).keptChance).toBe(versions.at(-1));
  });

  test('tokens count by their exponent', () => {
    const ratio = (lengthExponent: number) => {
      const host = new Selection({ lengthExponent, threshold: 0 });
      for (let n = 0; n < 40; n += 1) {
        host.earned('short', [0, 1, 0, 1], 100);
        host.earned('long', [0, 1, 0, 1], 400);
        host.request();
        host.fail();
      }
      return host.offered('short').worth / host.offered('long').worth;
    };
    expect(ratio(0)).toBe(1);
    expect(ratio(0.5)).toBeCloseTo(2, 0);
    expect(ratio(1)).toBeCloseTo(4, 0);
  });

  test('rewards of -1 and 1 pass at 1; rewards on a scale count by how often they differed, or by their variance', () => {
    const signed = new Selection();
    signed.earned('a', [-1, 1, -1, 1]);
    const binary = new Selection();
    binary.earned('a', [0, 1, 0, 1]);
    expect(signed.offered('a').keptChance).toBe(binary.offered('a').keptChance);
    const scaled = new Selection({ rewards: 'real' });
    for (let n = 0; n < 4; n += 1) scaled.earned('same', [0.5, 0.5, 0.5, 0.5]);
    for (let n = 0; n < 4; n += 1) scaled.earned('differs', [0.5, 0.6, 0.5, 0.7]);
    expect(scaled.offered('same').keptChance).toBeLessThan(0.2);
    expect(scaled.offered('differs').keptChance).toBeGreaterThan(0.8);
    const plain = new Selection({ rewards: 'real', normalization: 'none' });
    plain.earned('narrow', [0.5, 0.6, 0.5, 0.6]);
    plain.earned('wide', [0, 1, 0, 1]);
    expect(plain.offered('wide').worth).toBeGreaterThan(plain.offered('narrow').worth);
    // One response says nothing about a group.
    const single = new Selection({ rewards: 'real' });
    const before = single.offered('one').keptChance;
    single.earned('one', [0.5]);
    expect(single.offered('one').keptChance).toBe(before);
  });

  test('groups that were cut move no rate, whatever is short and solved ends first', () => {
    // Half of the responses pass, after 10 tokens; the others fail, after 1,000: the first four of eight all pass.
    const host = new Selection({ rewards: 'binary' });
    for (let n = 0; n < 20; n += 1) host.earned('a', [1, 1, 1, 1], 10, { launched: 8 });
    expect(host.offered('a').keptChance).toBeCloseTo(1 - 2 / 5, 12);
    // A reward that never came is no sign that a group was cut.
    const reason = { code: 'all_rewarded', responses: 4, missing: 1, waitedSeconds: 0 };
    host.earned('b', [1, 1, 1], 10, { launched: 4, reason });
    expect(host.offered('b').keptChance).toBeLessThan(0.6);
  });

  test('it remembers as many prompts as it may, and forgets those first that it has not met for longest', () => {
    const host = new Selection({ rememberedPrompts: 2 });
    for (const id of ['a', 'b', 'a', 'c']) host.earned(id, [1, 1, 1, 1]);
    const [a, b, c] = ['a', 'b', 'c'].map((id) => {
      const copy = new Selection();
      copy.policy = create(promptSelection, { snapshot: host.policy.snapshot() as never }) as never;
      copy.rounds = host.rounds;
      return copy.offered(id).keptChance;
    });
    expect(a).toBeLessThan(b!);
    expect(c).toBeLessThan(b!);
  });

  test('lengths are learnt once a round, and those of all responses count', () => {
    const host = new Selection();
    const lengths = [10, 20, 40, 80, 1000];
    for (let n = 0; n < 40; n += 1) host.earned(`p${n}`, [0, 1, 0, 1, 1], lengths);
    const { expectedTokens } = host.offered('new');
    expect(Math.abs(expectedTokens / (1150 / 5) - 1)).toBeLessThan(0.05);
    const other = new Selection();
    const counted = { type: 'prompt.counted', roundId: 'r', promptId: 'a', reason: { code: 'no_filter' } };
    const responses = (tokens: number) => [0, 1].map((index) => ({ requestId: `a/${index}#0`, tokens }));
    other.send({ ...counted, reason: { code: 'no_filter', counted: 1, needed: 1 }, responses: responses(10) } as never);
    other.earned('a', [0, 1], 1000, { roundId: 'r' });
    expect(other.offered('a').expectedTokens).toBeCloseTo(10, 0);
    expect(other.saved().memory.prompts[0]).toMatchObject({ measured: 'r', learnt: 'r', responses: 2 });
  });

  test('a prompt is of the domain that was said last; beyond 64 of them it is of none', () => {
    const host = new Selection({ promptsPerRound: 1000 });
    host.request();
    host.earned('b', [1]);
    host.supply('none', { promptId: 'a', domain: 'math' }, { promptId: 'b', domain: 'math' });
    const counted = { type: 'prompt.counted', roundId: 'r', promptId: 'c', domain: 'math' };
    const responses = [0, 1].map((reward) => ({ requestId: `c/${reward}#0`, tokens: 5, reward }));
    host.send({ ...counted, reason: { code: 'no_filter', counted: 1, needed: 1 }, responses } as never);
    host.earned('a', [0, 1]);
    const records = () => host.saved().domains.map(({ domain, offered, responses }) => [domain, offered, responses]);
    // What is learnt later weighs more: a domain keeps 15/16 of a group with each that comes.
    expect(records()).toEqual([
      [null, 1, 1],
      ['math', 2, 2 + 2 * (15 / 16)],
    ]);
    host.supply(...Array.from({ length: 65 }, (_, n) => ({ promptId: `p${n}`, domain: `d${n}` })));
    expect(host.saved().domains).toHaveLength(65);
    expect(records()[0]).toEqual([null, 3, 1]);
    expect(records().at(-1)).toEqual(['d62', 1, 0]);
  });
});

describe('prompt-selection: rounds', () => {
  /** A host that knows a prompt that teaches nothing, and others that do. */
  const knowing = (config: Partial<PromptSelectionInput> = {}) => {
    const host = new Selection({ explorationShare: 0, domainFloor: 0, lengthExponent: 0, threshold: 0.5, ...config });
    for (let n = 0; n < 8; n += 1) {
      host.earned('dull', [0, 0, 0, 0]);
      host.earned('good', [0, 1, 0, 1]);
      host.earned('fine', [1, 1, 0, 1]);
    }
    host.request();
    // What is taken first says what the others are measured by.
    for (let n = 0; taken(host.supply(n === 0 ? 'good' : `first ${n}`)).length === 0; n += 1);
    return host;
  };

  test('what teaches nothing is passed over, and asked for again as often as it is passed over', () => {
    const host = knowing();
    expect(host.request()).toMatchObject([
      { type: 'prompts.request', count: 1, reason: { code: 'round_opened', target: 1 } },
    ]);
    const decisions = host.supply('dull');
    expect(passed(decisions)).toEqual(['dull']);
    expect(only(decisions, 'prompts.request')).toMatchObject([
      { count: 2, reason: { code: 'passed_over', admitted: 0 } },
    ]);
    const [full] = only(host.supply('good', 'fine'), 'prompts.selected');
    expect(full).toMatchObject({ prompts: [{ promptId: 'good' }], reason: { code: 'filled', offered: 3, passed: 1 } });
    // What is too much is for the next round, which asks for nothing.
    expect(taken(host.request())).toEqual(['fine']);
  });

  test('it is taken all the same after so many epochs, and where a round was offered enough', () => {
    const host = knowing({ maxPasses: 2 });
    const times = [0, 1, 2].map(() => host.offered('dull').chance > 0.1);
    expect(times).toEqual([false, false, true]);
    const other = knowing({ maxOffered: 2 });
    other.request();
    expect(passed(other.supply('dull', 'dull'))).toEqual(['dull', 'dull']);
    expect(taken(other.supply('dull'))).toEqual(['dull']);
  });

  test('a domain below its floor is taken', () => {
    const host = knowing({ domainFloor: 1, promptsPerRound: 3 });
    host.request();
    const math = (promptId: string) => ({ promptId, domain: 'math' });
    for (let n = 0; n < 8; n += 1) host.earned('dull math', [0, 0, 0, 0]);
    expect(passed(host.supply(math('dull math')))).toEqual([]);
  });

  test('a prompt that comes back is first, with its chance and weight, and is not drawn again', () => {
    const host = knowing({ unbiased: true, normalization: 'none', explorationShare: 0.5, threshold: 8 });
    let chance = 1;
    for (let tries = 0; tries < 40 && chance === 1; tries += 1) {
      host.request();
      const [one] = only(host.supply('dull'), 'prompts.selected');
      if (one !== undefined) ({ chance } = one.choices[0]!);
      else host.fail();
    }
    expect(chance).toBe(0.5);
    host.returned('dull');
    host.returned('dull');
    const [again] = only(host.request(), 'prompts.selected');
    expect(again).toMatchObject({ prompts: [{ promptId: 'dull' }], choices: [{ chance: 0.5, weight: 2 }] });
  });

  test('an epoch ends where a prompt is offered again, or the source is exhausted: by domain, and of the longest', () => {
    const host = knowing();
    host.send({ type: 'round.failed', roundId: 'r0' } as never);
    host.request();
    host.supply({ promptId: 'dull', domain: 'math' }, 'fine');
    const [ended] = only(host.supply('good'), 'epoch.ended');
    expect(ended).toMatchObject({
      ...{ epoch: 0, offered: 3, selected: 2, reason: { code: 'offered_again' } },
      domains: [
        { offered: 2, selected: 2 },
        { domain: 'math', offered: 1, selected: 0, selectedTokens: 0 },
      ],
    });
    const [last] = only(host.send({ type: 'source.exhausted' } as never), 'epoch.ended');
    expect(last).toMatchObject({ epoch: 1, offered: 1, reason: { code: 'source_exhausted' } });
  });

  test('an epoch says how many of the longest 1 % were offered and taken', () => {
    const settings = { explorationShare: 0, domainFloor: 0, lengthExponent: 1, promptsPerRound: 200 };
    const host = new Selection(settings);
    const ids = Array.from({ length: 200 }, (_, n) => `p${n}`);
    ids.forEach((id, n) => {
      host.earned(id, [0, 1, 0, 1], n % 50 === 0 ? 4000 : 10);
    });
    host.request();
    const over = passed(host.supply(...ids));
    // The first of the four long ones is taken: nothing is known then of what others are worth.
    expect(over).toEqual(['p50', 'p100', 'p150']);
    const [ended] = only(host.send({ type: 'source.exhausted' } as never), 'epoch.ended');
    expect(ended).toMatchObject({ offered: 200, selected: 197, longestOffered: 4, longestSelected: 1 });
  });

  test('when the source is exhausted a round has what is here, and the next one nothing', () => {
    const host = new Selection({ promptsPerRound: 3 });
    host.request();
    host.supply('a');
    const [short] = only(host.send({ type: 'source.exhausted' } as never), 'prompts.selected');
    expect(short).toMatchObject({ prompts: [{ promptId: 'a' }], reason: { code: 'source_exhausted' } });
    expect(host.request()).toMatchObject([{ type: 'source.drained', roundId: 'r1' }]);
    host.send({ type: 'source.reopened' } as never);
    expect(host.request()).toMatchObject([{ type: 'prompts.request', count: 3 }]);
  });

  test('a source with too few prompts does not keep a round open', () => {
    const host = new Selection({ promptsPerRound: 3 });
    host.request();
    host.supply('a', 'b');
    const decisions = host.supply('a', 'b', 'a', 'b');
    expect(only(decisions, 'prompt.merged')).toHaveLength(4);
    expect(only(decisions, 'prompts.selected')).toMatchObject([
      { prompts: [{ promptId: 'a' }, { promptId: 'b' }], reason: { code: 'only_duplicates' } },
    ]);
  });

  test('after a restart it asks for what a round lacks', () => {
    const host = new Selection({ promptsPerRound: 3 });
    host.request();
    host.supply('a');
    const [asked] = host.send({ type: 'host.restarted', idPrefix: 'h-', weightVersion: 7 } as never);
    expect(asked).toMatchObject({ type: 'prompts.request', count: 2, reason: { code: 'host_restarted', admitted: 1 } });
  });

  test('without promptsPerRound the host says what it needs, also more of it', () => {
    const host = new Selection({ promptsPerRound: undefined });
    expect(host.request()).toEqual([]);
    host.lacks(1);
    expect(host.lacks(1)).toEqual([]);
    expect(taken(host.supply('a', 'b', 'c'))).toEqual(['a', 'b']);
    expect(taken(host.lacks(1))).toEqual(['c']);
    host.lacks(2);
    host.supply('d');
    // What it lacks it says again.
    expect(host.send({ type: 'host.restarted', idPrefix: 'h-' } as never)).toEqual([]);
    expect(taken(host.send({ type: 'source.exhausted' } as never))).toEqual(['d']);
    expect(taken(host.returned('e'))).toEqual(['e']);
    expect(host.request()).toMatchObject([{ type: 'source.drained' }]);
  });

  test('`fill: kept` takes as many as are likely to be kept, at most four times as many', () => {
    const host = knowing({ fill: 'kept', promptsPerRound: 2, threshold: 0 });
    host.request();
    const [one] = only(host.supply('dull', 'good', 'fine', 'new', 'newer'), 'prompts.selected');
    const kept = one!.choices.map(({ keptChance }) => keptChance);
    expect(kept.reduce((sum, chance) => sum + chance)).toBeGreaterThanOrEqual(2);
    expect(kept.slice(0, -1).reduce((sum, chance) => sum + chance)).toBeLessThan(2);
    host.request();
    for (let n = 0; n < 12; n += 1) for (let m = 0; m < 4; m += 1) host.earned(`dull ${n}`, [0, 0, 0, 0]);
    const [most] = only(host.supply(...Array.from({ length: 12 }, (_, n) => `dull ${n}`)), 'prompts.selected');
    expect(most!.prompts).toHaveLength(8);
  });

  test('responses go where one more teaches most, and tokens bound them', () => {
    const host = knowing({ minResponses: 2, maxResponses: 8, promptsPerRound: 2, threshold: 0 });
    host.request();
    const [one] = only(host.supply('dull', 'good'), 'prompts.selected');
    const counts = one!.choices.map(({ responses }) => responses);
    expect(counts.reduce((sum, n) => sum + n)).toBe(8);
    expect(counts[0]).not.toBe(counts[1]);
    const bounded = new Selection({ tokensPerRound: 90, promptsPerRound: 4, threshold: 0 });
    for (let n = 0; n < 8; n += 1) for (const id of ['dull', 'good', 'fine']) bounded.earned(id, [0, 1, 0, 1]);
    bounded.request();
    // Four responses of ten tokens each.
    const [two] = only(bounded.supply('good', 'fine', 'dull'), 'prompts.selected');
    expect(two!.prompts.map(({ promptId }) => promptId)).toEqual(['good', 'fine']);
  });

  test('`passedOver: last` changes the order only', () => {
    const host = knowing({ passedOver: 'last' });
    host.request();
    expect(taken(host.supply('dull'))).toEqual([]);
    expect(host.why('dull')).toContain('dull was passed over, until the end of the epoch');
    expect(taken(host.supply('fine'))).toEqual(['fine']);
    host.request();
    expect(taken(host.supply('fine'))).toEqual(['dull']);
  });

  test('says what it waits for', () => {
    const host = new Selection({ promptsPerRound: 2 });
    host.request();
    host.supply('a');
    expect(host.why('a')).toContain('r0 has 1 prompts, 0 were passed over');
    expect(() => host.request()).toThrow('the prompts of round r0 to be supplied first');
    expect(() => host.send({ type: 'round.failed', roundId: 'x' } as never)).toThrow(
      'the id of a round that was requested',
    );
  });
});

test.each([
  [{ unbiased: true }, 'normalization'],
  [{ unbiased: true, normalization: 'none', explorationShare: 0 }, 'explorationShare'],
  [{ unbiased: true, normalization: 'none', fill: 'kept' }, 'fill'],
  [{ unbiased: true, normalization: 'none', passedOver: 'last' }, 'passedOver'],
  [{ unbiased: true, normalization: 'none', maxResponses: 8 }, 'maxResponses'],
  [{ minResponses: 5 }, 'minResponses'],
  [{ maxResponses: 3 }, 'maxResponses'],
  [{ rewards: 'real', minResponses: 2 }, 'minResponses'],
  [{ unbiased: true, normalization: 'none', minResponses: 2 }, 'minResponses'],
  [{ rewards: 'real', maxResponses: 8 }, 'maxResponses'],
  [{ lengthExponent: 1.1 }, 'lengthExponent'],
  [{ thresold: 1 }, 'threshold'],
] as const)('refuses %o by its name', (config, name) => {
  expect(() => new Selection(config as never)).toThrow(name);
});

test.each([
  { unbiased: true, normalization: 'none', minResponses: 4, maxResponses: 4 },
  { rewards: 'real', normalization: 'none', minResponses: 2, maxResponses: 4 },
  { minResponses: 2 },
  { maxResponses: 8 },
  { passedOver: 'last', explorationShare: 0 },
] as const)('takes %o', (config) => {
  const host = new Selection(config);
  expect(host.offered('a')).toEqual(expect.objectContaining({ promptId: 'a' }));
  expect('weight' in host.offered('b')).toBe('unbiased' in config);
});

test('prompts are the same ones whatever is known of others: draws follow the seed', () => {
  const chosen = (seed: number) => {
    const host = new Selection({ threshold: 16, explorationShare: 0.5, domainFloor: 0, maxPasses: 100, seed });
    host.earned('a', [0, 1, 0, 1]);
    host.earned('b', [0, 1, 0, 1]);
    host.request();
    host.supply('a');
    return Array.from({ length: 24 }, () => {
      host.request();
      const isTaken = taken(host.supply('b')).length === 1;
      if (!isTaken) host.fail();
      return isTaken;
    });
  };
  expect(chosen(1)).toEqual(chosen(1));
  expect(chosen(1)).not.toEqual(chosen(2));
  expect(new Set(chosen(1)).size).toBe(2);
});
