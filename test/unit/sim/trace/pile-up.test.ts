import { expect, test } from 'vitest';
import { pileUpOf } from '../../../../src/sim/trace/import/pile-up.ts';
import { readTrace } from '../../../../src/sim/trace/read.ts';

const spread = (count: number): number[] => Array.from({ length: count }, (_, index) => 100 + 7 * index);

test('many responses of the largest length are a cap', () => {
  expect(pileUpOf([...spread(300), ...Array(6).fill(4096)])).toEqual({ tokens: 4096, responses: 6 });
});

test('a few may be as long by chance: three, or one in a hundred', () => {
  expect(pileUpOf([...spread(30), ...Array(3).fill(4096)])).toBeUndefined();
  expect(pileUpOf([...spread(600), ...Array(6).fill(4400)])).toBeUndefined();
});

test('where others are as frequent, the largest says nothing', () => {
  const often = spread(60).flatMap((tokens) => Array(6).fill(tokens));
  expect(pileUpOf(often)).toBeUndefined();
  expect(pileUpOf([...spread(300), ...Array(4).fill(3900), ...Array(6).fill(4096)])).toBeUndefined();
  expect(pileUpOf([...spread(300), ...Array(3).fill(3900), ...Array(6).fill(4096)])?.responses).toBe(6);
  expect(pileUpOf(Array(50).fill(512))).toBeUndefined();
  expect(pileUpOf([])).toBeUndefined();
});

const dump = (cut: object): string =>
  spread(40)
    .map((tokens, index) => {
      const response = index < 32 ? { tokens } : { tokens: 900, ...cut };
      return JSON.stringify({ responses: [response] });
    })
    .join('\n');

test('its responses are marked as cut, unless the trace, or the caller, says who was', () => {
  const cutIn = (text: string, options = {}) => {
    const trace = readTrace(text, 'trace', options);
    if (trace.kind !== 'prompts') throw new Error(trace.kind);
    const cut = trace.prompts.flatMap(({ responses }) => responses).filter(({ capped }) => capped === true);
    return [trace.pileUp?.tokens, cut.length];
  };
  expect(cutIn(dump({}))).toEqual([900, 8]);
  expect(cutIn(dump({ capped: false }))).toEqual([undefined, 0]);
  expect(cutIn(dump({}), { capTokens: 1000 })).toEqual([undefined, 0]);
});
