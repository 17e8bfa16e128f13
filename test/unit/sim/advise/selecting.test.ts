import { expect, test } from 'vitest';
import { selectingOf } from '../../../../src/sim/advise/selecting.ts';
import type { TracePrompt } from '../../../../src/sim/trace/format.ts';

/** A generator of numbers from 0 to 1. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state / 2 ** 31;
  };
}

/** A job of epochs whose prompts are a third each never, sometimes and always solved. */
function dump(seed: number, { epochs = 5, rows = 150, rates = [0, 0.5, 1] } = {}) {
  const next = numbers(seed);
  const prompts: TracePrompt[] = [];
  for (let epoch = 0; epoch < epochs; epoch += 1) {
    for (let row = 0; row < rows; row += 1) {
      const responses = Array.from({ length: 8 }, () => ({
        tokens: 100 + Math.floor(next() * 100),
        correct: next() < rates[row % rates.length]!,
      }));
      prompts.push({ prompt: `p${row}@${epoch * 5 + Math.floor(row / 30)}`, responses });
    }
  }
  return { kind: 'prompts' as const, reader: 'rollflex', prompts };
}

test('a selection passes over what was all right or all wrong, and keeps most of what differed', () => {
  const found = selectingOf(dump(1))!;
  expect(found.groups).toBe(4 * 150);
  expect(found.equalShare).toBeCloseTo(2 / 3, 1);
  expect(found.savedTokens.low).toBeGreaterThan(0.3);
  expect(found.keptGroups.low).toBeGreaterThan(0.9);
  expect(found.gain.value).toBeCloseTo(found.keptGroups.value / (1 - found.savedTokens.value), 9);
});

test('an interval has what another run of the job gives, most of the time', () => {
  const { savedTokens } = selectingOf(dump(2))!;
  const others = Array.from({ length: 10 }, (_, n) => selectingOf(dump(100 + n))!.savedTokens.value);
  const inside = others.filter((one) => one > savedTokens.low && one < savedTokens.high).length;
  expect(inside).toBeGreaterThan(6);
});

test('it saves little where all prompts are alike', () => {
  const { savedTokens, keptGroups } = selectingOf(dump(3, { rates: [0.5] }))!;
  expect(savedTokens.value).toBeLessThan(0.15);
  expect(keptGroups.value).toBeGreaterThan(0.85);
});

test('it says nothing without rewards, where prompts come once, and of quantiles', () => {
  const { prompts, ...rest } = dump(4);
  const unrewarded = prompts.map((one) => ({ ...one, responses: one.responses.map(({ tokens }) => ({ tokens })) }));
  expect(selectingOf({ ...rest, prompts: unrewarded })).toBeUndefined();
  expect(selectingOf(dump(4, { epochs: 1 }))).toBeUndefined();
  expect(selectingOf(dump(4, { rates: [1] }))).toBeUndefined();
  expect(selectingOf({ kind: 'quantiles', reader: 'servegen', rows: [] })).toBeUndefined();
});
