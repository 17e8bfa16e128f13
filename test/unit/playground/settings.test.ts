/** Settings of the playground, their place in a URL, and their configurations as code. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { literal } from '../../../docs/playground/src/code.ts';
import type { Field, Settings } from '../../../docs/playground/src/settings/fields.ts';
import { usual } from '../../../docs/playground/src/settings/fields.ts';
import { fromHash, toHash } from '../../../docs/playground/src/settings/hash.ts';
import { viewIds, views } from '../../../docs/playground/src/settings/views.ts';
import { Keep, Recent } from '../../../docs/playground/src/worker/keep.ts';

/** As a slider gives it: a number of steps from the least. */
const anyOf = (field: Field): fc.Arbitrary<number | string> => {
  if (field.kind === 'choice') return fc.constantFrom(...field.options.map(([value]) => value));
  const { min, max, step } = field;
  return fc.integer({ min: 0, max: Math.floor((max - min) / step + 1e-9) }).map((at) => {
    return Number((min + at * step).toFixed(6));
  });
};
const anySettings = fc
  .constantFrom(...viewIds)
  .chain((view) =>
    fc
      .record(Object.fromEntries(Object.entries(views[view].fields).map(([key, field]) => [key, anyOf(field)])))
      .map((settings) => ({ view, settings: settings as Settings })),
  );

describe('settings in a URL', () => {
  test('whatever a slider can give comes back as it was', () => {
    fc.assert(
      fc.property(anySettings, ({ view, settings }) => {
        expect(fromHash(toHash(view, settings))).toEqual({ view, settings, problems: [] });
      }),
    );
  });

  test('the defaults are what their fields accept', () => {
    for (const view of viewIds) {
      const settings = usual(views[view].fields);
      expect(fromHash(toHash(view, settings)).problems).toEqual([]);
      expect(fromHash(`#v=${view}`)).toEqual({ view, settings, problems: [] });
    }
    expect(fromHash('')).toEqual({ view: 'sync', settings: usual(views.sync.fields), problems: [] });
  });

  test.for([
    ['P=0', 'P=0: expected a whole number from 2 to 128; 8 is used.'],
    ['P=7.5', 'P=7.5: expected a whole number from 2 to 128; 8 is used.'],
    ['P=', 'P=: expected a whole number from 2 to 128; 8 is used.'],
    ['P=1e1', 'P=1e1: expected a whole number from 2 to 128; 8 is used.'],
    ['P=NaN', 'P=NaN: expected a whole number from 2 to 128; 8 is used.'],
    ['etaP=1.255', 'etaP=1.255: expected a number from 1 to 2 in steps of 0.01; 1.25 is used.'],
    ['TP=3', 'TP=3: expected one of 1, 2, 4, 8; 1 is used.'],
    ['__proto__=1', '__proto__: no such setting; it is left out.'],
    ['P=4&P=5', 'P is given twice; the first counts.'],
    ['etap=2', 'etap: no such setting (did you mean "etaP"?); it is left out.'],
    [
      't=castillo-7',
      't=castillo-7: expected one of castillo-7b, castillo-32b, deepseek-r1, rollpacker, own (did you mean "castillo-7b"?); deepseek-r1 is used.',
    ],
    ['v=sync&v=vlm', 'v is given twice; the first counts.'],
    ['v=pool', 'v=pool: expected one of sync, pools, vlm (did you mean "pools"?); sync is shown.'],
    ['v=moon', 'v=moon: expected one of sync, pools, vlm; sync is shown.'],
  ])('%s is said to be wrong', ([hash, problem]) => {
    const { settings, problems } = fromHash(`#${hash}`);
    expect(problems.map(({ text }) => text)).toEqual([problem]);
    expect(Object.keys(settings)).toEqual(Object.keys(views.sync.fields));
  });

  test('no text at all breaks it', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const { view, settings } = fromHash(text);
        expect(fromHash(toHash(view, settings)).problems).toEqual([]);
      }),
    );
  });
});

describe('configurations as code', () => {
  test('a literal is the value again', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        // In JavaScript `__proto__: …` in a literal is no key.
        fc.pre(!JSON.stringify(value).includes('__proto__'));
        expect(new Function(`return (${literal(value)});`)()).toEqual(value);
      }),
    );
  });

  test('is laid out in lines', () => {
    expect(literal({ a: 1, list: [1, 2], text: "it's", 'other-key': true, none: undefined })).toBe(
      "{\n  a: 1,\n  list: [1, 2],\n  text: 'it\\'s',\n  'other-key': true,\n}",
    );
  });
});

describe('what is kept between updates', () => {
  test('the last update, and nothing older', () => {
    const keep = new Keep();
    let made = 0;
    const make = (): number => (made += 1);
    expect(keep.get('a', make)).toBe(1);
    keep.next();
    expect(keep.get('a', make)).toBe(1);
    keep.next();
    keep.next();
    expect(keep.get('a', make)).toBe(2);
  });

  test('the last few', () => {
    const recent = new Recent(2);
    const first = recent.get('a', () => ({}));
    recent.get('b', () => ({}));
    expect(recent.get('a', () => ({}))).toBe(first);
    recent.get('c', () => ({}));
    recent.get('d', () => ({}));
    expect(recent.get('a', () => ({}))).not.toBe(first);
  });
});
