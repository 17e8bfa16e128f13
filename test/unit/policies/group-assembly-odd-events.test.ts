/** What group-assembly says of events that do not fit, and that it shares nothing with who sends and hears. */
import { beforeEach, describe, expect, test } from 'vitest';
import { create, groupAssembly, type PolicyOf } from '../../../src/index.ts';

const counted = (promptId: string, roundId: string, ...ids: string[]) =>
  ({
    type: 'prompt.counted',
    at: 2,
    promptId,
    roundId,
    responses: ids.map((requestId) => ({ requestId, tokens: 10, weightVersions: [3, 4] })),
    reason: { code: 'no_filter', counted: 1, needed: 2 },
  }) as const;
const completed = (code: 'quota_reached' | 'round_failed', roundId: string, ...promptIds: string[]) =>
  ({
    type: 'round.completed',
    at: 3,
    roundId,
    kind: 'short',
    weightVersion: 4,
    prompts: promptIds.map((promptId) => ({
      promptId,
      responses: [{ requestId: `${promptId}/0#0`, index: 0, tokens: 10, weightVersions: [4] }],
    })),
    openedSeconds: 0,
    deferred: 0,
    reason: { code, counted: 1, needed: 2 },
  }) as const;
const ready = (requestId: string) => ({ type: 'reward.ready', at: 4, requestId, reward: 1 }) as const;

let assembly: PolicyOf<typeof groupAssembly>;
/** `c` is open; `a` and `b` count for `r`, and `b` has no reward; `s` is complete and waits for that of `d`. */
beforeEach(() => {
  assembly = create(groupAssembly, {});
  const reason = { code: 'held', held: 1, needed: 1 } as const;
  for (const promptId of ['a', 'b', 'c', 'd'])
    assembly.send({ type: 'response.accepted', at: 1, requestId: `${promptId}/0#0`, promptId, reason });
  assembly.send(counted('a', 'r', 'a/0#0'));
  assembly.send(counted('b', 'r', 'b/0#0'));
  const failed = { code: 'infrastructure', failures: 1, budget: 0 } as const;
  assembly.send({ type: 'reward.failed', at: 2, requestId: 'b/0#0', kind: 'rule', reason: failed });
  assembly.send(counted('d', 's', 'd/0#0'));
  assembly.send(completed('quota_reached', 's', 'd'));
});

const once = 'a response of this prompt, once';
const isCounted = 'a prompt that counts for the round, once';

describe('group-assembly', () => {
  test.each([
    ['duplicate_id', 'promptId', 'a prompt that does not count yet', '"a"', counted('a', 'r', 'a/1#0')],
    ['duplicate_id', 'promptId', 'a prompt that does not count yet', '"b"', counted('b', 'r', 'b/1#0')],
    ['out_of_order', 'roundId', 'a round that is not complete', '"s"', counted('c', 's', 'c/0#0')],
    ['invalid_event', 'responses', 'at least one response', '[]', counted('c', 'r')],
    ['duplicate_id', 'responses[0].requestId', once, '"a/0#0"', counted('c', 'r', 'a/0#0')],
    ['duplicate_id', 'responses[0].requestId', once, '"a/0#0"', counted('a', 't', 'a/0#0')],
    ['duplicate_id', 'responses[0].requestId', once, '"c/0#0"', counted('e', 'r', 'c/0#0')],
    ['duplicate_id', 'responses[1].requestId', once, '"e/0"', counted('e', 'r', 'e/0', 'e/0')],
    ['duplicate_id', 'roundId', 'a round that is not complete', '"s"', completed('quota_reached', 's', 'd')],
    ['unknown_id', 'prompts[1].promptId', isCounted, '"c"', completed('quota_reached', 'r', 'a', 'c')],
    ['unknown_id', 'prompts[1].promptId', isCounted, '"a"', completed('round_failed', 'r', 'a', 'a')],
    ['unknown_id', 'prompts[0].promptId', isCounted, '"a"', completed('quota_reached', 't', 'a')],
    ['invalid_event', 'prompts', 'all 2 prompts that count for the round', '1', completed('quota_reached', 'r', 'a')],
    ['invalid_event', 'prompts', 'all 2 prompts that count for the round', '1', completed('quota_reached', 'r', 'b')],
  ] as const)('refuses with %s of %s: expected %s, got %s', (code, path, expected, got, event) => {
    const before = assembly.snapshot();
    expect(() => assembly.send(event)).toThrow(expect.objectContaining({ code, path, expected, got }));
    expect(assembly.snapshot()).toEqual(before);
  });

  test('a round of which nothing counts is ready at once, however it ends', () => {
    const rest = { kind: 'short', weightVersion: 4, prompts: [] };
    expect(assembly.send(completed('quota_reached', 't'))).toMatchObject([
      { type: 'round.rewarded', roundId: 't', ...rest, reason: { code: 'all_groups', groups: 0, afterSeconds: 0 } },
    ]);
    expect(assembly.send(completed('round_failed', 't'))).toMatchObject([
      { type: 'round.rewarded', roundId: 't', ...rest, reason: { code: 'round_failed' } },
    ]);
  });

  test('a failed round may name some of what counts for it, and hands nothing over', () => {
    expect(assembly.send(completed('round_failed', 'r', 'b'))).toMatchObject([
      { type: 'group.withdrawn', promptId: 'a' },
      { type: 'round.rewarded', prompts: [], reason: { code: 'round_failed' } },
    ]);
  });

  test.each(['prompt.filtered', 'prompt.failed'] as const)('after %s nobody waits for what it names', (type) => {
    const dropped = ['c/0#0', 'a/0#0'].map((requestId) => ({ requestId, tokens: 1, cause: 'filtered' as const }));
    const left = { at: 3, promptId: 'c', roundId: 'r', dropped };
    const reason = { code: 'data', failures: 2, budget: 1 } as const;
    if (type === 'prompt.filtered') assembly.send({ type, ...left, reason: { code: 'host' } });
    else assembly.send({ type, ...left, reason });
    expect(assembly.send(ready('c/0#0'))).toMatchObject([{ type: 'reward.unused', requestId: 'c/0#0' }]);
    // One that counts does not leave by them.
    const before = assembly.snapshot().state;
    if (type === 'prompt.filtered') assembly.send({ type, ...left, promptId: 'a', reason: { code: 'host' } });
    else assembly.send({ type, ...left, promptId: 'a', reason });
    expect(assembly.snapshot().state).toEqual(before);
  });

  test('what leaves takes nothing of a prompt that counts, and may name what is not known', () => {
    const before = assembly.snapshot().state;
    const dropped = ['a/0#0', 'nobody'].map((requestId) => ({ requestId, tokens: 1, cause: 'merged' as const }));
    const reason = { code: 'already_queued', deferrals: 1 } as const;
    expect(assembly.send({ type: 'prompt.merged', at: 3, promptId: 'a', dropped, reason })).toEqual([]);
    expect(assembly.snapshot().state).toEqual(before);
    expect(assembly.send(ready('a/0#0'))).toMatchObject([{ type: 'group.rewarded', samples: 1 }]);
  });

  test('nobody waits for a response that a prompt does not count with, once it is dropped', () => {
    const reason = { code: 'held', held: 2, needed: 2 } as const;
    assembly.send({ type: 'response.accepted', at: 2, requestId: 'c/1#0', promptId: 'c', reason });
    expect(assembly.send(counted('c', 'r', 'c/1#0'))).toEqual([]);
    const beyond = { code: 'beyond_round', needed: 1 } as const;
    const dropped = { type: 'response.dropped', at: 2, promptId: 'c', tokens: 1, finished: true } as const;
    // It takes nothing that counts.
    for (const requestId of ['c/0#0', 'c/1#0']) assembly.send({ ...dropped, requestId, reason: beyond });
    expect(assembly.send(ready('c/0#0'))).toMatchObject([{ type: 'reward.unused', requestId: 'c/0#0' }]);
    expect(assembly.send(ready('c/1#0'))).toMatchObject([{ type: 'group.rewarded', samples: 1 }]);
  });

  test('shares nothing with events and decisions', () => {
    const event = structuredClone(counted('c', 'r', 'c/0#0'));
    assembly.send(event);
    event.responses[0]!.weightVersions.length = 0;
    const [group] = assembly.send(ready('c/0#0'));
    expect(group).toMatchObject({ type: 'group.rewarded', responses: [{ weightVersions: [3, 4] }] });
    const before = JSON.stringify(assembly.snapshot());
    (group as unknown as { responses: { weightVersions: number[] }[] }).responses[0]!.weightVersions.length = 0;
    expect(JSON.stringify(assembly.snapshot())).toBe(before);
  });
});
