import { describe, expect, test } from 'vitest';
import { inGroups, rules } from '../../../../bench/simulated/selection-replay.ts';
import { readTraceFile } from '../../../../src/cli/files/traces.ts';
import { added, differs, sumsOf } from '../../../../src/sim/advise/selecting.ts';
import { rowOf, type TracePrompt } from '../../../../src/sim/trace/format.ts';

const { trace } = readTraceFile('examples/traces/tau-airline-gpt4o.jsonl');
if (trace.kind !== 'prompts') throw new Error('expected a trace of prompts');
const groups = inGroups(trace.prompts, 2, 1);

test('the four trials of a task become a group in each of two epochs', () => {
  const [first, second] = [groups.slice(0, 28), groups.slice(28)];
  for (const one of trace.prompts) {
    const parts = [first, second].map((some) => some.find((group) => rowOf(group) === one.prompt)!.responses);
    expect(parts.flat()).toEqual(one.responses);
  }
  expect(groups.map(({ prompt }) => prompt.split('@')[1])).toEqual(
    [1, 2, 3, 4].flatMap((step) => Array.from({ length: step % 2 ? 16 : 12 }, () => `${step}`)),
  );
});

describe.each(Object.entries(rules))('%s', (name, rule) => {
  test('takes a group or passes it over, the same with the same seed', () => {
    const taken = rule(groups, 3);
    expect(taken).toHaveLength(groups.length);
    expect(rule(groups, 3)).toEqual(taken);
  });

  test('takes no more than all, and of what differs no more than hindsight', () => {
    const [all, hindsight, some] = ['all', 'hindsight', name].map((one) =>
      added([...sumsOf(groups, rules[one]!(groups, 3)).values()]),
    );
    expect(all).toMatchObject({ groups: 28, differing: all!.takenDiffering, tokens: all!.takenTokens });
    expect(hindsight!.takenDiffering).toBe(all!.differing);
    expect(some!.takenDiffering).toBeLessThanOrEqual(all!.differing);
    expect(some!.takenTokens).toBeLessThanOrEqual(all!.tokens);
  });
});

test("GRESO's rule passes over a prompt by the run of its equal groups alone", () => {
  const group = (row: string, step: number, ...correct: boolean[]): TracePrompt => ({
    prompt: `${row}@${step}`,
    responses: correct.map((one) => ({ tokens: 1, correct: one })),
  });
  const steps = Array.from({ length: 2000 }, (_, step) => step);
  const taken = rules.GRESO!(
    steps.flatMap((step) => [group('mixed', step, true, false), group('right', step, true, true)]),
    1,
  );
  expect(taken.filter((_, at) => at % 2 === 0)).not.toContain(false);
  // The chance falls with each equal group that was seen, at p = 0.95 to 1 % after 90 of them.
  const ofRight = taken.filter((one, at) => at % 2 === 1 && one).length;
  expect(ofRight).toBeGreaterThan(10);
  expect(ofRight).toBeLessThan(120);
  expect(differs(group('x', 1, true, true, false))).toBe(true);
});
