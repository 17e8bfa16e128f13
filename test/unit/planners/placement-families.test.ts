/** The families of batches against the known batches of the same family: what they were fitted to. */
import { expect, test } from 'vitest';
import { familyLengths, type PlacementFamily } from '../../support/placement/families.ts';
import { knownInstances } from '../../support/placement/instances.ts';

const known: Readonly<Record<PlacementFamily, readonly string[]>> = {
  'image-heavy': ['img_64_32', 'img_256_32'],
  'video-heavy': ['huge_vid_8192_1024'],
  'only-video': ['only_64_32'],
  text: ['text_256_64'],
  grpo: ['grpo_vid_256_64'],
};

const ascending = (lengths: readonly number[]) => [...lengths].sort((a, b) => a - b);
const at = (sorted: readonly number[], part: number): number => sorted[Math.floor(part * sorted.length)]!;

test.each(Object.entries(known))('%s has the quantiles of the known batches', (family, ids) => {
  const theirs = ascending(knownInstances.filter(({ id }) => ids.includes(id)).flatMap(({ lengths }) => lengths));
  const ours = ascending(familyLengths(family as PlacementFamily, 1, 20_000));
  // Thirty-two prompts make up the known batch of groups: its quantiles are rough.
  const most = family === 'grpo' ? 1.5 : 1.3;
  for (const part of [0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95]) {
    const ratio = at(ours, part) / at(theirs, part);
    expect(Math.max(ratio, 1 / ratio), `at ${part}`).toBeLessThan(most);
  }
});

test('responses of a prompt share its length', () => {
  const lengths = familyLengths('grpo', 1, 800);
  for (let first = 0; first < lengths.length; first += 8) {
    const group = lengths.slice(first, first + 8);
    expect(Math.max(...group) - Math.min(...group)).toBeLessThan(1024);
  }
});
