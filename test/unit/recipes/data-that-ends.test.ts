/** Data sets that no round divides: every prompt is trained once, and no round is empty while prompts wait. */
import { describe, expect, test } from 'vitest';
import { type AnyPolicyDefinition, agenticRollout, create, losslessTail, tailBatching } from '../../../src/index.ts';
import type { VocabularyDecision, VocabularyEvent } from '../../../src/schemas/index.ts';

type Unstamped = VocabularyEvent extends infer E ? (E extends VocabularyEvent ? Omit<E, 'at'> : never) : never;

/**
 * Plays a host that learns that its source is exhausted only when it is asked for more than there is, to the end of the data.
 * Returns the ids of the prompts of each round.
 */
function play(definition: AnyPolicyDefinition, config: object, total: number): string[][] {
  const policy = create(definition, { responsesPerPrompt: 2, ...config } as never);
  const rounds: string[][] = [];
  const events: Unstamped[] = [{ type: 'round.requested', roundId: 'r0', weightVersion: 0 }];
  let drawn = 0;
  let opened = 1;
  for (let at = 0; events.length > 0; at += 1) {
    expect(at).toBeLessThan(5000);
    for (const one of policy.send({ ...events.shift()!, at } as never) as VocabularyDecision[]) {
      if (one.type === 'prompts.request') {
        const { roundId } = one;
        const count = Math.min(one.count, total - drawn);
        const prompts = Array.from({ length: count }, () => ({ promptId: `p${drawn++}` }));
        if (count > 0) events.push({ type: 'prompts.supplied', roundId, prompts });
        if (count < one.count) events.push({ type: 'source.exhausted' });
      } else if (one.type === 'request.launch') {
        events.push({ type: 'response.completed', requestId: one.requestId, tokens: 9 });
      } else if (one.type === 'request.abort') {
        // It has ended, and does not complete any more.
        const { requestId } = one;
        const at = events.findIndex((event) => 'requestId' in event && event.requestId === requestId);
        events.splice(at, 1, { type: 'request.aborted', requestId, tokens: 1 });
      } else if (one.type === 'round.completed') {
        rounds.push(one.prompts.map(({ promptId }) => promptId));
      } else if (one.type === 'round.drained') {
        events.push({ type: 'round.requested', roundId: `r${opened}`, weightVersion: opened++ });
      } else if (one.type === 'source.drained') return rounds;
    }
  }
  throw new Error('the source was never drained');
}

const sizes = [
  [32, 16, [16, 16]],
  [30, 16, [16, 14]],
  [20, 16, [16, 4]],
  [10, 16, [10]],
  [1, 16, [1]],
  [17, 8, [8, 8, 1]],
] as const;

describe.each<[string, AnyPolicyDefinition, object]>([
  ['tail-batching', tailBatching as never, {}],
  ['tail-batching with partial rollout', tailBatching as never, { partialRollout: true, maxStaleness: 1 }],
  ['tail-batching one step off', tailBatching as never, { maxStaleness: 1 }],
  ['lossless-tail', losslessTail as never, { windowRounds: 3 }],
  ['agentic-rollout', agenticRollout as never, {}],
])('%s', (_name, definition, config) => {
  test.each(sizes)('%i prompts in rounds of %i', (total, promptsPerRound, expected) => {
    const rounds = play(definition, { promptsPerRound, ...config }, total);
    const all = rounds.flat();
    expect([all.length, new Set(all).size]).toEqual([total, total]);
    expect(rounds.map((one) => one.length)).toEqual(expected);
  });

  test('a source that has nothing', () => {
    expect(play(definition, { promptsPerRound: 4, ...config }, 0).flat()).toEqual([]);
  });
});

test('a round opens with the prompts that wait for it, while the abort of another prompt is not confirmed', () => {
  const policy = create(tailBatching, {
    promptsPerRound: 1,
    responsesPerPrompt: 1,
    promptSpeculation: 2,
    partialRollout: true,
    maxStaleness: 1,
    allowOverlap: true,
  });
  const prompts = ['a', 'b', 'c'].map((promptId) => ({ promptId }));
  policy.send({ type: 'round.requested', at: 0, roundId: 'r0', weightVersion: 0 });
  policy.send({ type: 'prompts.supplied', at: 0, roundId: 'r0', prompts });
  policy.send({ type: 'source.exhausted', at: 0 });
  const first = policy.send({ type: 'response.completed', at: 1, requestId: 'a/0#0', tokens: 9 });
  expect(first.some(({ type }) => type === 'request.abort')).toBe(true);
  const next = policy.send({ type: 'round.requested', at: 2, roundId: 'r1', weightVersion: 1 });
  expect(next.flatMap((one) => (one.type === 'request.launch' ? [one.promptId] : []))).toEqual(['c']);
});
