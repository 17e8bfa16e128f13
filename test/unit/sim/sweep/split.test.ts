/** The prompts of the confirmation are none of those of the search. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { rolloutpipeWorkload, tracedWorkload, type Workload } from '../../../../src/sim/node.ts';
import { ownId } from '../../../../src/sim/sweep/prompt-halves.ts';
import { confirmationSpread, leastToSplit, partOf, splitOf } from '../../../../src/sim/sweep/split.ts';
import { runs } from '../../../support/basics/runs.ts';

const traced = (ids: readonly string[], seed = 1): Workload =>
  tracedWorkload({
    name: 'lengths',
    prompts: ids.map((prompt, index) => ({ prompt, responses: [{ tokens: 1 + index }] })),
    capTokens: 100_000,
    seed,
  });
const idsOf = (workload: Workload, count: number): Set<string> =>
  new Set(Array.from({ length: count }, (_, index) => ownId(workload.prompt(index))));

const names = fc.uniqueArray(fc.string({ minLength: 1, maxLength: 8, unit: fc.constantFrom(...'abcdefgh0123-') }), {
  minLength: leastToSplit,
  maxLength: 220,
});

describe('the split', () => {
  test('of a dump, whose ids end with the step: a prompt of several steps is in one part, in every epoch', () => {
    const ids = Array.from({ length: 400 }, (_, index) => `p${index % 200}@${1 + Math.floor(index / 200)}`);
    const workload = traced(ids);
    expect(splitOf(workload)).toEqual({ kind: 'halves', search: 100, confirmation: 100 });
    const search = idsOf(partOf(workload, 'search', 1), 1200);
    const confirmation = idsOf(partOf(workload, 'confirmation', 1), 1200);
    expect([...search].filter((id) => confirmation.has(id))).toEqual([]);
    expect([...search, ...confirmation].filter((id) => id.includes('@'))).toEqual([]);
    const one = traced(ids.map((_, index) => `p@${index}`));
    expect(splitOf(one).kind).toBe('same');
    expect(partOf(one, 'confirmation', 1).prompt(900).promptId).toMatch(/^p@/);
  });

  test('no prompt is in both parts, whatever the seeds and epochs', () => {
    const seeds = fc.integer({ min: 0, max: 1000 });
    fc.assert(
      fc.property(names, seeds, seeds, (ids, one, other) => {
        const search = idsOf(partOf(traced(ids, one), 'search', one), 3 * ids.length);
        const confirmation = idsOf(partOf(traced(ids, other), 'confirmation', other), 3 * ids.length);
        expect([...search].filter((id) => confirmation.has(id))).toEqual([]);
        expect(Math.min(search.size, confirmation.size)).toBeGreaterThan(ids.length / 16);
      }),
      runs(100),
    );
  });

  test('over all seeds a part has all of its prompts, and the parts are as large as it is said', () => {
    fc.assert(
      fc.property(names, (ids) => {
        const { kind, search, confirmation } = splitOf(traced(ids));
        expect([kind, search! + confirmation!]).toEqual(['halves', ids.length]);
        const seen = (part: 'search' | 'confirmation'): number => {
          const all = new Set<string>();
          for (let seed = 0; seed < 24; seed += 1) {
            for (const id of idsOf(partOf(traced(ids), part, seed), ids.length)) all.add(id);
          }
          return all.size;
        };
        expect([seen('search'), seen('confirmation')]).toEqual([search, confirmation]);
      }),
      runs(40),
    );
  });

  test('the order of the trace changes nothing', () => {
    fc.assert(
      fc.property(names, fc.integer(), (ids, salt) => {
        const shuffled = [...ids].sort((a, b) => ((a.length * salt) % 7) - ((b.length * salt) % 7));
        expect(idsOf(partOf(traced(shuffled), 'search', 3), 50)).toEqual(idsOf(partOf(traced(ids), 'search', 3), 50));
      }),
      runs(100),
    );
  });

  test('a half of a trace can be swept again: its split is another one', () => {
    const ids = Array.from({ length: 400 }, (_, index) => `q${index}`);
    const half = [...idsOf(partOf(traced(ids), 'search', 1), 2000)].slice(0, leastToSplit);
    if (half.length < leastToSplit)
      half.push(...ids.filter((id) => !half.includes(id)).slice(0, leastToSplit - half.length));
    expect(splitOf(traced(half))).toEqual({ kind: 'halves', search: 64, confirmation: 64 });
    expect(idsOf(partOf(traced(half), 'confirmation', 1), 500).size).toBeGreaterThan(10);
  });

  test('few prompts are shared, and what is generated has its own for each seed', () => {
    const few = traced(Array.from({ length: leastToSplit - 1 }, (_, index) => `q${index}`));
    expect(splitOf(few)).toEqual({ kind: 'same', search: 127, confirmation: 127 });
    expect(idsOf(partOf(few, 'search', 5), 300)).toEqual(idsOf(partOf(few, 'confirmation', 5), 300));
    const endless = rolloutpipeWorkload('lsat-ar', 1);
    expect(splitOf(endless)).toEqual({ kind: 'generated', search: null, confirmation: null });
    expect(partOf(endless, 'confirmation', 1)).toBe(endless);
  });

  test('the spread of an independent run has the prompts in it', () => {
    const large = traced(Array.from({ length: 400 }, (_, index) => `q${index}`));
    // 200 prompts, 100 in a run: the sample is as uncertain as two runs differ.
    expect(confirmationSpread(large, 32, 40)).toEqual({ run: 1, prompts: 1, rounds: 40 / 60 });
    // Runs of 40 prompts draw from many more, and one of 60 steps has half as many again.
    expect(confirmationSpread(large, 1, 40)).toEqual({ run: 40 / 60, prompts: 40 / 160, rounds: 40 / 60 });
    expect(confirmationSpread(rolloutpipeWorkload('lsat-ar', 1), 32, 40)).toEqual({
      run: 40 / 60,
      prompts: 0,
      rounds: 40 / 60,
    });
    // So few prompts are all in every run: nothing is known of others.
    expect(confirmationSpread(traced(['a', 'b', 'c']), 8, 40)).toEqual({ run: 1, prompts: 0, rounds: 40 / 60 });
  });
});
