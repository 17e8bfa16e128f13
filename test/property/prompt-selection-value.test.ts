/** What responses are expected to teach, what is known of a prompt and its domain, and how responses are shared out. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { promptSelection } from '../../src/policies/prompt-selection/index.ts';
import {
  chanceToDiffer,
  costOf,
  type Evidence,
  posteriorOf,
  type Share,
  shareOut,
  teaches,
} from '../../src/policies/prompt-selection/value.ts';
import { runs } from '../support/basics/runs.ts';
import { Selection } from '../support/sessions/selection.ts';

const none = { responses: 0, sum: 0, squares: 0, groups: 0, differing: 0 };
const sumOf = (all: readonly number[]) => all.reduce((sum, one) => sum + one, 0);

test('9: the chance that rewards differ, and the variance, are those of the Beta distribution', () => {
  const given = fc.record({ passes: fc.nat(20), fails: fc.nat(20), n: fc.integer({ min: 2, max: 16 }) });
  fc.assert(
    fc.property(given, ({ passes, fails, n }) => {
      const config = promptSelection.config.parse({
        promptsPerRound: 1,
        responsesPerPrompt: n,
        normalization: 'none',
      });
      const of = posteriorOf(config, none, { ...none, responses: passes + fails, sum: passes });
      expect([of.passes, of.fails]).toEqual([passes + 1, fails + 1]);
      // The midpoint rule over the density of the pass rate p, which is a polynomial.
      let [all, differ, variance] = [0, 0, 0];
      const steps = 20_000;
      for (let step = 0; step < steps; step += 1) {
        const p = (step + 0.5) / steps;
        const density = p ** passes * (1 - p) ** fails;
        all += density;
        differ += density * (1 - p ** n - (1 - p) ** n);
        variance += density * p * (1 - p);
      }
      expect(chanceToDiffer(config, of, n)).toBeCloseTo(differ / all, 5);
      expect(teaches(config, of, n)).toBeCloseTo(((n - 1) * variance) / all, 4);
    }),
    runs(100),
  );
});

/** Groups of rewards as the sums that are kept of them; each group weighs so many times what the next one does. */
function evidenceOf(groups: readonly (readonly number[])[], retention = 1): Evidence {
  const total = (of: (group: readonly number[]) => number) =>
    groups.reduce((sum, group) => sum * retention + of(group), 0);
  const isGroup = (group: readonly number[]) => Number(group.length > 1);
  return {
    responses: total((group) => group.length),
    sum: total(sumOf),
    squares: total((group) => sumOf(group.map((one) => one * one))),
    groups: total(isGroup),
    differing: total((group) => isGroup(group) * Number(new Set(group).size > 1)),
  };
}

const rewards = fc.array(fc.constantFrom(-1, 0, 0.5, 1), { minLength: 1, maxLength: 4 });
const groups = fc.array(rewards, { maxLength: 5 });

test('9: the pass rate of the domain, and rewards on a scale, count as so many responses of the prompt', () => {
  const prior = fc.constantFrom(0.5, 2, 8);
  fc.assert(
    fc.property(groups, groups, prior, (own, domain, priorResponses) => {
      const given = { promptsPerRound: 1, responsesPerPrompt: 4, priorResponses };
      const binary = promptSelection.config.parse(given);
      const passes = (all: readonly (readonly number[])[]) => all.map((group) => group.map((one) => Number(one >= 1)));
      const rate = (sumOf(passes(domain).flat()) + 1) / (domain.flat().length + 2);
      const of = posteriorOf(binary, evidenceOf(passes(domain)), evidenceOf(passes(own)));
      expect(of.passes).toBeCloseTo(sumOf(passes(own).flat()) + priorResponses * rate, 10);
      expect(of.passes + of.fails).toBeCloseTo(own.flat().length + priorResponses, 10);

      const real = promptSelection.config.parse({ ...given, rewards: 'real', normalization: 'none' });
      const scaled = posteriorOf(real, evidenceOf(domain), evidenceOf(own));
      const variance =
        (own.flat().length * varianceOf(own) + priorResponses * varianceOf(domain)) /
        (own.flat().length + priorResponses);
      expect(scaled.variance).toBeCloseTo(variance, 10);
      expect(teaches(real, scaled, 4)).toBeCloseTo(3 * variance, 10);
      const differing = (all: readonly (readonly number[])[]) => all.filter((group) => new Set(group).size > 1).length;
      const many = (all: readonly (readonly number[])[]) => all.filter((group) => group.length > 1).length;
      const ofDomain = (differing(domain) + 1) / (many(domain) + 2);
      const groupsOfPrior = priorResponses / 4;
      expect(chanceToDiffer(real, scaled, 4)).toBeCloseTo(
        (differing(own) + groupsOfPrior * ofDomain) / (many(own) + groupsOfPrior),
        10,
      );
    }),
    runs(100),
  );
});

/** Variance of all rewards; 0 of none. */
function varianceOf(all: readonly (readonly number[])[]): number {
  const flat = all.flat();
  const mean = sumOf(flat) / flat.length;
  return flat.length === 0 ? 0 : sumOf(flat.map((one) => (one - mean) ** 2)) / flat.length;
}

test('7: what a prompt has earned fades with versions of the weights, and what its domain has with groups', () => {
  const earned = fc.record({ rewards, more: fc.constantFrom(0, 0, 1, 2, 7) });
  fc.assert(
    fc.property(fc.array(earned, { minLength: 1, maxLength: 20 }), fc.constantFrom(0.5, 0.9, 1), (all, retention) => {
      const host = new Selection({ rewards: 'real', retention, promptsPerRound: undefined });
      let version = 0;
      const own: { group: readonly number[]; version: number }[] = [];
      for (const { rewards, more } of all) {
        version += more;
        host.request(version);
        host.earned('a', rewards);
        own.push({ group: rewards, version });
        if (more === 2) host.restore();
      }
      const { memory, domains } = host.saved();
      const faded = own.map((one) => ({ weight: retention ** (version - one.version), of: evidenceOf([one.group]) }));
      const domain = evidenceOf(
        own.map(({ group }) => group),
        1 - 1 / 16,
      );
      for (const key of ['responses', 'sum', 'squares', 'groups', 'differing'] as const) {
        expect(memory.prompts[0]![key]).toBeCloseTo(sumOf(faded.map(({ weight, of }) => weight * of[key])), 8);
        expect(domains[0]![key]).toBeCloseTo(domain[key], 8);
      }
    }),
    runs(100),
  );
});

test('a cost is 1, and tokens to the power of the exponent, about', () => {
  fc.assert(
    fc.property(fc.nat(100_000), fc.constantFrom(0.25, 0.5, 0.75), (tokens, exponent) => {
      expect(costOf(tokens, 0)).toBe(1);
      expect(Math.abs(costOf(tokens, 1) - 1 - tokens)).toBeLessThanOrEqual(tokens / 1000);
      // Between powers of two the scale is a straight line.
      const ratio = costOf(tokens, exponent) / (1 + tokens) ** exponent;
      expect(Math.abs(ratio - 1)).toBeLessThan(0.1);
    }),
    runs(100),
  );
});

test('10: responses are shared out as an exhaustive search would, where their number is the limit', () => {
  const one = fc.record({ passes: fc.nat(8), fails: fc.nat(8), cost: fc.constantFrom(1, 1, 1) });
  fc.assert(
    fc.property(fc.array(one, { minLength: 1, maxLength: 4 }), fc.nat(8), (prompts, more) => {
      const config = promptSelection.config.parse({ promptsPerRound: 1, responsesPerPrompt: 2 });
      const shares = prompts.map(({ passes, fails, cost }) => {
        const of = posteriorOf(config, none, { ...none, responses: passes + fails, sum: passes });
        return { value: (n: number) => teaches(config, of, n), cost, size: 1 };
      });
      const responses = 2 * prompts.length + more;
      const worthOf = (counts: readonly number[]) => counts.reduce((sum, n, index) => sum + shares[index]!.value(n), 0);
      const given = shareOut(shares, { least: 2, most: 5, responses, total: Number.POSITIVE_INFINITY });
      let best = 0;
      const search = (counts: readonly number[], left: number): void => {
        if (counts.length === shares.length) best = Math.max(best, worthOf(counts));
        else for (let n = 2; n <= Math.min(5, left); n += 1) search([...counts, n], left - n);
      };
      search([], responses);
      expect(given.reduce((sum, n) => sum + n, 0)).toBeLessThanOrEqual(responses);
      expect(worthOf(given)).toBeCloseTo(best, 10);
    }),
    runs(100),
  );
});

test('10: every response goes where it teaches most for what it costs, and none is left that there is room for', () => {
  const one = fc.record({
    gains: fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 6, maxLength: 6 }),
    cost: fc.integer({ min: 1, max: 4 }),
    size: fc.nat(3),
  });
  const [least, most] = [2, 5];
  const budget = fc.record({ more: fc.nat(12), room: fc.option(fc.nat(12), { nil: undefined }) });
  fc.assert(
    fc.property(fc.array(one, { minLength: 1, maxLength: 5 }), budget, (all, { more, room }) => {
      const prompts = all.map(({ gains, cost, size }): Share & { gain(n: number): number } => {
        const falling = [...gains].sort((a, b) => b - a);
        const value = (n: number) => sumOf(falling.slice(0, n));
        return { value, cost, size, gain: (n) => (value(n) - value(n - 1)) / cost };
      });
      const responses = least * all.length + more;
      const total = room === undefined ? Number.POSITIVE_INFINITY : sumOf(all.map(({ size }) => least * size)) + room;
      const counts = shareOut(prompts, { least, most, responses, total });
      const left = responses - sumOf(counts);
      const free = total - sumOf(counts.map((n, index) => n * all[index]!.size));
      expect(left).toBeGreaterThanOrEqual(0);
      expect(free).toBeGreaterThanOrEqual(0);
      const last = counts.flatMap((n, index) => (n > least ? [prompts[index]!.gain(n)] : []));
      counts.forEach((n, index) => {
        expect(n).toBeGreaterThanOrEqual(least);
        expect(n).toBeLessThanOrEqual(most);
        if (n === most) return;
        if (left > 0) expect(prompts[index]!.size).toBeGreaterThan(free);
        // Where all fit, none that was given teaches less than one that was not.
        if (room === undefined) expect(Math.min(...last)).toBeGreaterThanOrEqual(prompts[index]!.gain(n + 1));
      });
    }),
    runs(200),
  );
});
