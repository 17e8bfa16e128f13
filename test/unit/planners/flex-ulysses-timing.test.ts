/** The timing presets against the measurements of FlexRL. */
import { describe, expect, test } from 'vitest';
import { allToAllTime, attentionTime } from '../../../src/planners/flex-ulysses/execution/timing.ts';
import { timingPresets } from '../../../src/planners/flex-ulysses/index.ts';

const ki = 1024;

/** FlexRL Table 3: sequences of equal length, 65,536 tokens together, and milliseconds on H800. */
const table3 = [
  [1, 182.9],
  [4, 46.6],
  [8, 24.0],
  [16, 12.7],
  [32, 7.0],
  [64, 4.3],
] as const;

/** FlexRL Table 5: degree, tokens in units of 1024, milliseconds of both all-to-alls on H200 and on H800. */
const table5 = [
  [2, 128, 9.97, 11.079],
  [2, 256, 23.401, 18.245],
  [2, 512, 52.472, 60.709],
  [4, 128, 6.547, 6.943],
  [4, 256, 16.107, 16.48],
  [4, 512, 47.361, 44.372],
  [8, 128, 3.501, 6.36],
  [8, 256, 8.513, 12.543],
  [8, 512, 22.462, 28.686],
  [8, 1024, 64.878, 119.293],
  [16, 128, 7.871, 12.333],
  [16, 256, 14.639, 19.644],
  [16, 512, 36.554, 41.43],
  [16, 1024, 68.558, 104.011],
  [32, 128, 6.355, 17.219],
  [32, 256, 11.03, 16.558],
  [32, 512, 24.15, 31.089],
  [32, 1024, 48.356, 69.296],
] as const;

const rowsOf = (card: 'H200' | 'H800') =>
  table5.map(([degree, tokens, h200, h800]) => ({
    degree,
    tokens: tokens * ki,
    seconds: (card === 'H200' ? h200 : h800) / 1000 / 2,
  }));

describe('attention', () => {
  const seconds = (sequences: number) =>
    attentionTime(timingPresets.H800, 1, 64 * ki, sequences * ((64 * ki) / sequences) ** 2);

  test.each(table3)('Table 3, %i sequences: %d ms within 3 %%', (sequences, milliseconds) => {
    expect(Math.abs((seconds(sequences) * 1000) / milliseconds - 1)).toBeLessThan(0.03);
  });

  test('the coefficients are those of its two ends', () => {
    const [most, least] = [182.9e-3, 4.3e-3];
    const perTokenSquared = (most - least) / (2 ** 32 - 2 ** 26);
    const { attentionSeconds } = timingPresets.H800;
    expect(attentionSeconds.perTokenSquared / perTokenSquared).toBeCloseTo(1, 3);
    expect(attentionSeconds.perToken / ((least - perTokenSquared * 2 ** 26) / 2 ** 16)).toBeCloseTo(1, 3);
    expect(timingPresets.H200.attentionSeconds).toEqual(attentionSeconds);
  });

  test('a degree divides it', () => {
    expect(attentionTime(timingPresets.H800, 8, 64 * ki, (64 * ki) ** 2)).toBeCloseTo(seconds(1) / 8, 12);
  });
});

/** What each coefficient is multiplied with, for groups on nodes of 8. */
function parts(degree: number, tokens: number): number[] {
  const near = Math.min(degree, 8);
  const toEach = tokens / degree ** 2;
  return [degree - 1, toEach * (near - 1), toEach * (degree - near), (toEach * (degree - 1)) ** 2];
}

/** Least squares of the relative errors: the normal equations, by elimination. */
function fitted(rows: ReturnType<typeof rowsOf>): number[] {
  const relative = rows.map(({ degree, tokens, seconds }) => parts(degree, tokens).map((part) => part / seconds));
  const scale = [0, 1, 2, 3].map((i) => Math.max(...relative.map((row) => row[i]!)));
  const a = relative.map((row) => row.map((value, i) => value / scale[i]!));
  const m = [0, 1, 2, 3].map((i) => [
    ...[0, 1, 2, 3].map((j) => a.reduce((sum, row) => sum + row[i]! * row[j]!, 0)),
    a.reduce((sum, row) => sum + row[i]!, 0),
  ]);
  for (let i = 0; i < 4; i += 1) {
    for (let j = 0; j < 4; j += 1) {
      if (j === i) continue;
      const factor = m[j]![i]! / m[i]![i]!;
      for (let k = i; k <= 4; k += 1) m[j]![k]! -= factor * m[i]![k]!;
    }
  }
  return m.map((row, i) => row[4]! / row[i]! / scale[i]!);
}

describe('all-to-alls', () => {
  const errorsOf = (card: 'H200' | 'H800') =>
    rowsOf(card).map(({ degree, tokens, seconds }) =>
      Math.abs(allToAllTime(timingPresets[card], degree, tokens, Math.min(degree, 8)) / seconds - 1),
    );

  test.each([
    ['H200', 0.075, 0.24],
    ['H800', 0.155, 0.54],
  ] as const)('Table 5, %s: mean error below %d, none above %d', (card, mean, most) => {
    const errors = errorsOf(card);
    expect(errors.reduce((sum, one) => sum + one, 0) / errors.length).toBeLessThan(mean);
    expect(Math.max(...errors)).toBeLessThan(most);
  });

  test.each(['H200', 'H800'] as const)('the coefficients of %s are the best by least squares', (card) => {
    const { perPeer, perToken, perTokenBetweenNodes, perTokenSquared } = timingPresets[card].allToAllSeconds;
    fitted(rowsOf(card)).forEach((value, i) => {
      expect([perPeer, perToken, perTokenBetweenNodes, perTokenSquared][i]! / value).toBeCloseTo(1, 3);
    });
  });

  test('a group of one sends nothing', () => {
    expect(allToAllTime(timingPresets.H800, 1, 1e6, 1)).toBe(0);
  });
});
