/** The word that was meant. */
import { expect, test } from 'vitest';
import { didYouMean, nearest, oneOf } from '../../../../src/core/ids/nearest.ts';

const words = ['tail-batching', 'promptsPerRound', 'promptSpeculation', 'round.requested', 'fifo', 's1'];

test.each([
  ['tail-bacthing', 'tail-batching'],
  ['tail_batching', 'tail-batching'],
  ['TailBatching', 'tail-batching'],
  ['prompts_per_round', 'promptsPerRound'],
  ['--prompts-per-round', 'promptsPerRound'],
  ['promptSpec', 'promptSpeculation'],
  ['tail', 'tail-batching'],
  ['round.request', 'round.requested'],
  ['fiof', 'fifo'],
  ['quite-another-word', undefined],
  ['s2', undefined],
  ['', undefined],
  ['--', undefined],
  ['a'.repeat(1000), undefined],
  [5, undefined],
  [undefined, undefined],
])('%s: %s', (word, meant) => {
  expect(nearest(word, words)).toBe(meant);
});

test('of words that are equally near the first one is taken, and of a slip and a beginning the slip', () => {
  expect(nearest('rolls', ['rolle', 'rollo'])).toBe('rolle');
  expect(nearest('rollo', ['rolloutpipe', 'roll'])).toBe('roll');
});

test('says so, or nothing', () => {
  expect(didYouMean('fiof', words)).toBe(' (did you mean "fifo"?)');
  expect(didYouMean('nothing', words)).toBe('');
  expect(oneOf(['a-word', 'another'], 'anoter')).toBe('one of a-word, another (did you mean "another"?)');
});
