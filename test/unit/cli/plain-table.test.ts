/** Tables and prose on a terminal: within its width, whole, and coloured only where that is wanted. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { look, print } from '../../../src/cli/terminal/output.ts';
import { type Column, plainTable, prose, within } from '../../../src/cli/terminal/plain-table.ts';

interface Row {
  readonly name: string;
  readonly value: number;
}
const rows: readonly Row[] = [
  { name: 'synchronous', value: 1 },
  { name: '+ tail batching', value: 2.25 },
];
const numbered = Array.from({ length: 6 }, (_, index): Column<Row> => [`column\n${index}`, ({ value }) => `${value}`]);
const columns: readonly Column<Row>[] = [['scheduler', ({ name }) => name], ...numbered];

afterEach(() => void vi.unstubAllEnvs());

describe('a table', () => {
  it.each([30, 40, 80, 120])('fits %d columns, and has every cell', (width) => {
    const lines = plainTable(columns, rows, { width }).split('\n');
    for (const one of lines) expect(one.length, one).toBeLessThanOrEqual(width);
    expect(lines.join(' ').match(/2\.25/g)).toHaveLength(6);
    for (let index = 0; index < 6; index += 1) expect(lines.some((one) => one.includes(` ${index}`))).toBe(true);
    // Every block has the names of its rows.
    const blocks = lines.join('\n').split('\n\n');
    for (const block of blocks) expect(block).toMatch(/^scheduler/);
  });

  it('leaves out what there is no room for, where that is asked for', () => {
    const text = plainTable(columns, rows, { width: 40, beyond: 'left out' });
    expect(text).not.toContain('\n\n');
    expect(text.match(/2\.25/g)!.length).toBeLessThan(6);
  });

  it('wraps names at words where they are too long', () => {
    const long = [{ name: 'a name of many words that goes on', value: 3 }];
    const lines = plainTable(columns.slice(0, 2), long, { width: 24 }).split('\n');
    expect(lines.slice(3).map((one) => one.trim().replace(/ +/g, ' '))).toEqual([
      'a name of many 3',
      'words that goes',
      'on',
    ]);
  });
});

describe('prose', () => {
  it('wraps at words, with an indent, and never inside a word', () => {
    const text = 'one two three four five six seven eight nine ten /a/path/that/is/longer/than/a/line eleven';
    expect(prose(text, '  ', 24).split('\n')).toEqual([
      'one two three four',
      '  five six seven eight',
      '  nine ten',
      '  /a/path/that/is/longer/than/a/line',
      '  eleven',
    ]);
  });
});

it('an interval stands in the line of its number, and is left out where it is nothing', () => {
  expect(within({ value: 1.46, low: 1.45, high: 1.48 })).toBe('1.46 ± 0.02');
  expect(within({ value: 1, low: 1, high: 1 })).toBe('1.00');
});

describe('colours', () => {
  const printed = (text: string): string => {
    let said = '';
    print(text, { write: (part: string) => (said += part) } as never);
    return said;
  };

  it.each([
    ['FORCE_COLOR', '1', '\u001b[32m2.0x\u001b[0m'],
    ['FORCE_COLOR', '0', '2.0x'],
    ['NO_COLOR', '1', '2.0x'],
  ])('%s=%s', (name, value, expected) => {
    vi.stubEnv('FORCE_COLOR', undefined);
    vi.stubEnv(name, value);
    expect(printed(look('gain', '2.0x'))).toBe(`${expected}\n`);
  });

  it('of others are harmless: a name cannot move the cursor', () => {
    vi.stubEnv('FORCE_COLOR', '1');
    expect(printed('a\u001b[2Jb')).toBe('a\\u001b[2Jb\n');
  });
});
