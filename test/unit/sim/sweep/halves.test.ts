/** Halves by prompt. */
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readTraceFile } from '../../../../src/cli/files/traces.ts';
import { packageRoot } from '../../../../src/logs/index/package.ts';
import { rolloutpipeWorkload, tracedWorkload } from '../../../../src/sim/node.ts';
import { drawnHalf, halfOf } from '../../../../src/sim/sweep/prompt-halves.ts';

const { trace } = readTraceFile(join(packageRoot(), 'examples/traces/castillo-qwen2.5-7b-instruct-1m.jsonl'));
const prompts = trace.kind === 'prompts' ? trace.prompts : [];

describe('halves', () => {
  test('are about even', () => {
    for (const ids of [
      prompts.map((one) => one.prompt),
      Array.from({ length: 3000 }, (_, index) => `prompt-${index}`),
    ]) {
      const share = ids.filter((id) => halfOf(id) === 0).length / ids.length;
      expect(Math.abs(share - 0.5)).toBeLessThan(0.04);
    }
  });
});

describe('the half that a seed draws', () => {
  const traced = (count: number) =>
    tracedWorkload({
      name: 'lengths',
      prompts: Array.from({ length: count }, (_, index) => ({
        prompt: `q${index}`,
        responses: [{ tokens: 1 + index }],
      })),
      capTokens: 1000,
      seed: 1,
    });
  const base = (promptId: string): string => promptId.replace(/@+\d+$/, '');
  const drawn = (seed: number, count = 200): Set<string> => {
    const half = drawnHalf(traced(200), seed);
    return new Set(Array.from({ length: count }, (_, index) => base(half.prompt(index).promptId)));
  };

  test('is another one for each seed, the same in every epoch, and about a half', () => {
    const [one, other] = [drawn(1), drawn(2)];
    expect(one.size).toBeGreaterThan(75);
    expect(one.size).toBeLessThan(125);
    // Two hundred prompts are more than an epoch: no other ones come with further epochs.
    expect(drawn(1, 600)).toEqual(one);
    const shared = [...one].filter((id) => other.has(id)).length;
    expect(shared).toBeGreaterThan(25);
    expect(shared).toBeLessThan(75);
  });

  test('is all of a trace that is small, and of what is generated', () => {
    const [small, endless] = [traced(20), rolloutpipeWorkload('lsat-ar', 1)];
    expect(drawnHalf(small, 1)).toBe(small);
    expect(drawnHalf(endless, 1)).toBe(endless);
  });
});
