/** The data source of the simulated job: who is dealt when, and with which samples. */
import { expect, test } from 'vitest';
import { PromptSource } from '../../../../src/sim/cluster/source.ts';
import { plainWorkload } from '../../../support/simulator/host.ts';

const ids = (prompts: readonly { promptId: string }[]): string[] => prompts.map((one) => one.promptId);

test('deals in order, what came back first, and ends', () => {
  const source = new PromptSource(
    plainWorkload(() => 5),
    4,
  );
  expect(source.left).toBe(4);
  const [first, second] = source.take(2);
  expect(ids([first!, second!])).toEqual(['q0', 'q1']);
  source.giveBack(second!);
  source.giveBack(first!);
  expect(source.left).toBe(4);
  expect(ids(source.take(3))).toEqual(['q1', 'q0', 'q2']);
  expect(ids(source.take(9))).toEqual(['q3']);
  expect([source.left, source.take(1)]).toEqual([0, []]);
});

test('gives the same sample for prompt, try and index, and another one after every deferral', () => {
  const source = new PromptSource(
    plainWorkload((prompt, k) => 100_000 * prompt + k, 1e9),
    3,
  );
  source.take(3);
  expect(source.draw('a', 'q1', 7).tokens).toBe(100_007);
  expect(source.draw('b', 'q1', 7)).toEqual(source.drawn('a'));
  const seen = [0, 1, 2].flatMap((count) => {
    if (count > 0) source.deferred({ promptId: 'q2', deferral: { count, sinceRound: 0, sinceSeconds: 0 } });
    return [0, 1, 9].map((index) => source.draw(`c${count}${index}`, 'q2', index).tokens);
  });
  expect(new Set(seen).size).toBe(9);
  expect(source.draw('a', 'q1', 7).tokens).toBe(100_007);
  expect(source.drawn('c00')).toMatchObject({ promptIndex: 2, promptTokens: 10, capped: false });
  source.endStep();
  expect([source.drawn('c00'), source.drawn('c20')?.sample]).toEqual([undefined, 2048]);
});

test('counts deferrals where the policy does not say how often', () => {
  const source = new PromptSource(
    plainWorkload((prompt, k) => 100_000 * prompt + k, 1e9),
    1,
  );
  const [prompt] = source.take(1);
  for (const sample of [0, 1024, 2048]) {
    expect(source.draw(`a${sample}`, 'q0', 0).sample).toBe(sample);
    source.deferred(prompt!);
  }
});

test('refuses a request for a prompt that was not dealt, or is trained', () => {
  const source = new PromptSource(
    plainWorkload(() => 5),
    2,
  );
  const refusal = expect.objectContaining({ code: 'unknown_id', path: 'promptId' });
  expect(() => source.draw('a', 'q0', 0)).toThrow(refusal);
  source.take(1);
  source.draw('a', 'q0', 0);
  source.trained('q0');
  expect(() => source.draw('b', 'q0', 0)).toThrow(refusal);
});

test('tells the policy length and domain of a prompt, and nothing of its responses', () => {
  const plain = plainWorkload(() => 5);
  const tasks = { ...plain, prompt: (index: number) => ({ ...plain.prompt(index), task: 'code' }) };
  expect(new PromptSource(tasks, 1).take(1)).toEqual([{ promptId: 'q0', promptTokens: 10, domain: 'code' }]);
  expect(new PromptSource(plain, 1).take(1)).toEqual([{ promptId: 'q0', promptTokens: 10 }]);
});
