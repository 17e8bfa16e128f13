/** How a report writes numbers, text and tables. */
import { expect, it, test } from 'vitest';
import { escapeHtml, number, numbers, percent, table, times } from '../../../../src/sim/report/format.ts';

test('numbers have thousands separators and as many digits as asked', () => {
  expect([number(1234567.891), number(0.5, 0), number(12, 1)]).toEqual(['1,234,567.89', '1', '12.0']);
  expect(number(-0.001)).toBe('0.00');
});

it.each([
  [0, '0 %'],
  [1, '100.0 %'],
  [0.256, '25.6 %'],
  [0.0042, '0.42 %'],
  [0.00001, '&lt; 0.01 %'],
  [0.00006, '0.01 %'],
])('a share of %s is %s', (share, text) => {
  // The spaces do not break.
  expect(percent(share)).toBe(text.replaceAll(' ', '\u00a0'));
});

test('ratios carry their interval', () => {
  expect(times({ value: 1.5, low: 1.4, high: 1.649, confidence: 0.95 })).toBe(
    '1.50 × <span class="range">1.40–1.65</span>',
  );
});

test('text can stand anywhere', () => {
  expect(escapeHtml(`<a href="x" b='y'>&`)).toBe('&lt;a href=&quot;x&quot; b=&#39;y&#39;&gt;&amp;');
  expect(escapeHtml(7)).toBe('7');
});

test('a table names its rows and columns, for readers who hear it', () => {
  const html = table(
    'A caption',
    [
      ['name', ([name]) => name],
      ['value', ([, value]) => value],
    ],
    [
      ['one', '1'],
      ['two', '2'],
    ] as const,
    'last',
  );
  expect(html).toContain('<caption>A caption</caption>');
  expect(html.match(/<th scope="col">/g)).toHaveLength(2);
  expect(html.match(/<th scope="row">/g)).toHaveLength(2);
  expect(html).toContain('<tr><th scope="row">one</th><td>1</td></tr>');
  expect(html).toContain('<tr class="last"><th scope="row">two</th><td>2</td></tr>');
  expect(table('', numbers(0, { 'busy, s': Number, 'a, so b': Number }), [])).toContain(
    '>busy,\u00a0s</th><th scope="col">a, so b<',
  );
  expect(html).toMatch(/role="region" tabindex="0" aria-label="A caption"/);
});
