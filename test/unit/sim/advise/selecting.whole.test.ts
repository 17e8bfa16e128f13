import { expect, test } from 'vitest';
import { takenOf } from '../../../../src/sim/advise/selecting.ts';

test('a dump may have more groups than a call may have arguments', () => {
  const responses = [
    { tokens: 5, correct: true },
    { tokens: 7, correct: false },
  ];
  const prompts = Array.from({ length: 130_000 }, (_, n) => ({ prompt: `p${n % 10}@${n}`, responses }));
  expect(() => Math.max(...prompts.map(({ responses }) => responses.length))).toThrow(RangeError);
  expect(takenOf(prompts)).toHaveLength(prompts.length);
}, 120_000);
