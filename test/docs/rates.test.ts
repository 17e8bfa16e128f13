/** Rates are stated only where `npm run bench` measures them and holds the statement to what it measures. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { benchmarks, documentsOf } from '../../bench/list.ts';
import { floors, measuredRates, reached, speaksOfRates, statedRates } from '../../bench/rates/stated.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const markdown = (readdirSync(root, { recursive: true, encoding: 'utf8' }) as string[]).filter((file) =>
  /^(src|docs|README|CONTRIBUTING)\b.*\.md$/.test(file),
);
const held = Object.values(benchmarks).flatMap((policy) => (policy === null ? [] : documentsOf(policy)));

test.each(markdown)('%s states no rate that is not measured', (file) => {
  const text = readFileSync(join(root, file), 'utf8');
  const stated = statedRates(text);
  if (speaksOfRates(text)) expect(stated).not.toEqual([]);
  if (stated.length > 0) expect(held).toContain(file);
  for (const { kind, perSecond } of stated) expect(perSecond).toBeGreaterThanOrEqual(floors[kind]);
});

const kinds = fc.constantFrom('trusted' as const, 'validated' as const);
const rate = fc.record({ kind: kinds, perSecond: fc.integer({ min: 1, max: 5000 }).map((one) => one * 1000) });
const inEnglish = (value: number): string => value.toLocaleString('en');

test('what a benchmark prints is read back', () => {
  fc.assert(
    fc.property(fc.array(rate), (rates) => {
      const output = rates.map(
        ({ kind, perSecond }) => `10 in flight, ${kind}   ${inEnglish(perSecond)} events/s, 1/9`,
      );
      expect(measuredRates(output.join('\n'))).toEqual(rates);
    }),
  );
});

test('what a document states is read back, of a range the lower end', () => {
  fc.assert(
    fc.property(
      rate,
      fc.boolean(),
      fc.constantFrom('events a second', 'events\na second', 'events/s'),
      (one, isRange, unit) => {
        const text = `It does ${inEnglish(one.perSecond)}${isRange ? ' to 9,000,000' : ''} ${unit} ${one.kind}.`;
        expect(speaksOfRates(text)).toBe(true);
        expect(statedRates(text)).toEqual([one]);
      },
    ),
  );
  expect(statedRates('0.8 to 1.5 million events a second trusted, 600 thousand validated')).toEqual([
    { kind: 'trusted', perSecond: 800_000 },
    { kind: 'validated', perSecond: 600_000 },
  ]);
});

test('a statement holds when, and only when, the slowest measure of its kind reaches it', () => {
  fc.assert(
    fc.property(rate, fc.array(rate), (stated, measured) => {
      const own = measured.filter((one) => one.kind === stated.kind).map((one) => one.perSecond);
      const holds = own.length > 0 && Math.min(...own) >= stated.perSecond;
      expect(reached([stated], measured)).toEqual(holds ? [stated] : []);
    }),
  );
});
