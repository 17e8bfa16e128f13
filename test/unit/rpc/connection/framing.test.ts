import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Line, LineReader, tooLong } from '../../../../src/rpc/connection/framing.ts';

const bytesOf = (text: string) => new TextEncoder().encode(text);
const textOf = (line: Line) => (typeof line === 'symbol' ? line : new TextDecoder().decode(line));

test('lines are the same in whatever pieces they come', () => {
  const line = fc.string({ unit: fc.constantFrom('a', 'é', '{', '"'), maxLength: 30 });
  fc.assert(
    fc.property(fc.array(line, { minLength: 1 }), fc.array(fc.nat(40)), fc.nat(40), (lines, sizes, longest) => {
      const bytes = bytesOf(lines.join('\n'));
      const reader = new LineReader(longest);
      const found: (string | symbol)[] = [];
      for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
        const size = sizes[turn % sizes.length] || 1;
        // Lines may be parts of what came: they are read before the next comes.
        for (const one of reader.read(bytes.slice(at, at + size))) found.push(textOf(one));
        at += size;
      }
      const rest = reader.rest();
      if (rest !== undefined) found.push(textOf(rest));
      else expect(lines.at(-1)).toBe('');
      const expected = lines.map((one) => (bytesOf(one).length > longest ? tooLong : one));
      expect(found).toEqual(rest === undefined ? expected.slice(0, -1) : expected);
      expect(reader.rest()).toBeUndefined();
    }),
  );
});

test('a line that comes byte by byte takes no more room than its bytes', () => {
  const reader = new LineReader(1 << 20);
  const used = () => process.memoryUsage().heapUsed + process.memoryUsage().external;
  const before = used();
  const pieces = 400_000;
  for (let n = 0; n < pieces; n += 1) for (const _ of reader.read(Uint8Array.of(120))) throw new Error('no line');
  // Kept as pieces they would take a hundred times as much.
  expect(used() - before).toBeLessThan(25e6);
  expect([...reader.read(Uint8Array.of(10))].map((one) => textOf(one))).toEqual(['x'.repeat(pieces)]);
});
