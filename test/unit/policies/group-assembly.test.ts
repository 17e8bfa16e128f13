import { describe, expect, test } from 'vitest';
import { create, groupAssembly, type PolicyOf, registry } from '../../../src/index.ts';
import { told } from '../../support/sessions/why.ts';

type Assembly = PolicyOf<typeof groupAssembly>;
const reason = { code: 'held', held: 1, needed: 2 } as const;

const accept = (assembly: Assembly, ...ids: string[]) =>
  ids.flatMap((requestId) =>
    assembly.send({ type: 'response.accepted', at: 1, requestId, promptId: requestId.split('/')[0]!, reason }),
  );
const count = (assembly: Assembly, promptId: string, ...ids: string[]) =>
  assembly.send({
    type: 'prompt.counted',
    at: 2,
    promptId,
    roundId: 'r',
    responses: ids.map((requestId) => ({ requestId, tokens: 10 })),
    reason: { code: 'no_filter', counted: 1, needed: 2 },
  });
const reward = (assembly: Assembly, requestId: string, value = 1) =>
  assembly.send({ type: 'reward.ready', at: 3, requestId, reward: value });
const fail = (assembly: Assembly, requestId: string) =>
  assembly.send({
    type: 'reward.failed',
    at: 3,
    requestId,
    kind: 'sandbox',
    reason: { code: 'infrastructure', failures: 4, budget: 3 },
  });
const complete = (assembly: Assembly, code: 'quota_reached' | 'round_failed', groups: Record<string, string[]>) =>
  assembly.send({
    type: 'round.completed',
    at: 4,
    roundId: 'r',
    kind: 'short',
    weightVersion: 5,
    prompts: Object.entries(groups).map(([promptId, ids]) => ({
      promptId,
      responses: ids.map((requestId, index) => ({ requestId, index, tokens: 10, weightVersions: [5] })),
    })),
    openedSeconds: 0,
    deferred: 0,
    reason: { code, counted: 1, needed: 1 },
  });
const [a, b] = [
  ['a/0#0', 'a/1#0'],
  ['b/0#0', 'b/1#0'],
] as const;

describe('group-assembly', () => {
  test('after a restart rewards that have not come are asked for, in `askAgain`; not without', () => {
    const restarted = { type: 'host.restarted', at: 3, idPrefix: 'h-' } as const;
    let assembly = create(groupAssembly, { askAgain: true });
    accept(assembly, 'b/0#0');
    assembly.send({ type: 'response.accepted', at: 1, requestId: 'a/0#0', promptId: 'a', domain: 'code', reason });
    accept(assembly, 'a/1#0', 'c/0#0');
    reward(assembly, 'c/0#0');
    count(assembly, 'b', 'b/0#0');
    const asked = [
      { type: 'reward.request', requestId: 'a/0#0', domain: 'code', reason: { code: 'host_restarted' } },
      { type: 'reward.request', requestId: 'a/1#0', domain: 'code' },
      { type: 'reward.request', requestId: 'b/0#0' },
      // Whoever would complete the round may have forgotten it.
      { type: 'round.resumed', promptIds: ['b'], reason: { code: 'host_restarted', prompts: 1 } },
    ];
    expect(assembly.send(restarted)).toMatchObject(asked);
    assembly = registry.restore(JSON.parse(JSON.stringify(assembly.snapshot()))) as never;
    expect(assembly.send(restarted)).toMatchObject(asked);
    const other = create(groupAssembly, { askAgain: false });
    accept(other, 'a/0#0');
    expect(other.send(restarted)).toEqual([]);
  });

  test('what is known of a prompt that counts goes with its group: its tokens, and weights that are not of the round', () => {
    let assembly = create(groupAssembly, {});
    accept(assembly, ...a);
    const responses = [
      { requestId: a[0], tokens: 10, weightVersions: [4, 5] },
      { requestId: a[1], tokens: 10 },
    ];
    const reason = { code: 'no_filter', counted: 1, needed: 1 } as const;
    assembly.send({ type: 'prompt.counted', at: 2, promptId: 'a', roundId: 'r', promptTokens: 3, responses, reason });
    assembly = registry.restore(JSON.parse(JSON.stringify(assembly.snapshot()))) as never;
    reward(assembly, a[0]);
    const [group] = reward(assembly, a[1]);
    expect(group).toMatchObject({
      type: 'group.rewarded',
      promptTokens: 3,
      tokens: 20,
      responses: [{ requestId: a[0], weightVersions: [4, 5] }, { requestId: a[1] }],
    });
    expect((group as { responses: object[] }).responses[1]).not.toHaveProperty('weightVersions');
  });

  test('invariant 2: a group is complete with its last reward, whether its prompt counted before or after', () => {
    const assembly = create(groupAssembly, {});
    accept(assembly, ...a, ...b);
    expect(reward(assembly, a[0])).toEqual([]);
    expect(count(assembly, 'a', ...a)).toEqual([]);
    expect(reward(assembly, a[1], 0)).toMatchObject([
      {
        type: 'group.rewarded',
        roundId: 'r',
        promptId: 'a',
        samples: 2,
        tokens: 20,
        reason: { missing: 0, waitedSeconds: 0 },
      },
    ]);
    reward(assembly, b[0]);
    reward(assembly, b[1]);
    expect(count(assembly, 'b', ...b)).toMatchObject([{ type: 'group.rewarded', promptId: 'b' }]);
  });

  test('invariant 3: a round is ready when it is complete and the last of its groups is', () => {
    const assembly = create(groupAssembly, {});
    accept(assembly, ...a, ...b);
    count(assembly, 'b', ...b);
    count(assembly, 'a', ...a);
    for (const id of [...a, b[0]]) reward(assembly, id);
    expect(complete(assembly, 'quota_reached', { a: [...a], b: [...b] })).toEqual([]);
    const ready = reward(assembly, b[1], 0.5);
    expect(ready).toMatchObject([
      { type: 'group.rewarded' },
      { type: 'round.rewarded', roundId: 'r', weightVersion: 5, reason: { code: 'all_groups', groups: 2 } },
    ]);
    expect((ready[1] as { prompts: unknown[] }).prompts).toMatchObject([
      { promptId: 'a', responses: [{ reward: 1 }, { reward: 1 }] },
      { promptId: 'b', responses: [{ reward: 1 }, { reward: 0.5 }] },
    ]);
    expect(assembly.snapshot().state).toEqual({ rounds: [], open: [] });
  });

  test('a response without a reward is left out of its group, a prompt without any out of its round', () => {
    const assembly = create(groupAssembly, {});
    accept(assembly, ...a, ...b);
    count(assembly, 'a', ...a);
    count(assembly, 'b', ...b);
    reward(assembly, a[0]);
    expect(fail(assembly, a[1])).toMatchObject([{ type: 'group.rewarded', samples: 1, reason: { missing: 1 } }]);
    fail(assembly, b[0]);
    expect(fail(assembly, b[1])).toMatchObject([{ type: 'group.unrewarded', promptId: 'b' }]);
    expect(complete(assembly, 'quota_reached', { a: [...a], b: [...b] })).toMatchObject([
      { type: 'round.rewarded', prompts: [{ promptId: 'a', responses: [{ requestId: 'a/0#0' }] }] },
    ]);
  });

  test('asks for the reward of a response that an earlier round kept, unless it is known', () => {
    const assembly = create(groupAssembly, {});
    const responses = [
      { requestId: 'a/0#0', tokens: 1 },
      { requestId: 'a/1#0', tokens: 2, reward: 1 },
    ];
    const counted = { code: 'no_filter', counted: 1, needed: 2 } as const;
    const asked = assembly.send({
      type: 'prompt.counted',
      at: 0,
      promptId: 'a',
      roundId: 'r',
      domain: 'code',
      responses,
      reason: counted,
    });
    // Of the kind that its domain has, as when the response was accepted.
    expect(asked).toMatchObject([{ type: 'reward.request', requestId: 'a/0#0', domain: 'code' }]);
    expect(reward(assembly, 'a/0#0')).toMatchObject([{ type: 'group.rewarded', samples: 2 }]);
  });

  test('`round.failed` withdraws the groups of a round, before it is complete and after', () => {
    const assembly = create(groupAssembly, {});
    const failed = (roundId: string) => assembly.send({ type: 'round.failed', at: 5, roundId });
    accept(assembly, ...a, ...b);
    count(assembly, 'a', ...a);
    expect(failed('r')).toMatchObject([{ type: 'group.withdrawn', promptId: 'a', reason: { code: 'round_failed' } }]);
    expect(failed('r')).toEqual([]);
    expect(reward(assembly, a[0])).toMatchObject([{ type: 'reward.unused' }]);
    count(assembly, 'b', ...b);
    complete(assembly, 'quota_reached', { b: [...b] });
    expect(failed('r')).toMatchObject([
      { type: 'group.withdrawn', promptId: 'b' },
      { type: 'round.rewarded', weightVersion: 5, prompts: [], reason: { code: 'round_failed' } },
    ]);
    expect(assembly.snapshot().state).toEqual({ rounds: [], open: [] });
  });

  test('a failed round withdraws its groups, and hands over an empty round', () => {
    const assembly = create(groupAssembly, {});
    accept(assembly, ...a);
    count(assembly, 'a', ...a);
    expect(complete(assembly, 'round_failed', {})).toMatchObject([
      { type: 'group.withdrawn', promptId: 'a' },
      { type: 'round.rewarded', prompts: [], reason: { code: 'round_failed' } },
    ]);
    expect(reward(assembly, a[0])).toMatchObject([{ type: 'reward.unused' }]);
  });

  test('a copy of a carried prompt that is returned after its round leaves the prompt its rewards', () => {
    const assembly = create(groupAssembly, {});
    accept(assembly, ...a);
    reward(assembly, a[0]);
    const prompt = { promptId: 'a' };
    const returned = { type: 'prompt.returned' as const, at: 3, prompt, roundId: 'q', dropped: [] };
    assembly.send({ ...returned, reason: { code: 'round_closed' } });
    expect(reward(assembly, a[1])).toEqual([]);
    expect(count(assembly, 'a', ...a)).toMatchObject([{ type: 'group.rewarded', samples: 2 }]);
  });

  test.each(['prompt.deferred', 'prompt.returned'] as const)(
    '%s of one copy of a prompt leaves the other its rewards',
    (type) => {
      const assembly = create(groupAssembly, {});
      accept(assembly, ...a);
      reward(assembly, a[0]);
      // Another copy has been drawn before the round of this one has let go of it.
      accept(assembly, 'a/0#9', 'a/1#9');
      reward(assembly, 'a/0#9');
      const kept = [{ requestId: a[0], index: 0, tokens: 5, weightVersions: [0], finished: true }];
      const dropped = [{ requestId: a[1], tokens: 5, cause: 'round_failed' as const }];
      const left = { at: 5, prompt: { promptId: 'a', kept }, roundId: 'q', dropped };
      if (type === 'prompt.returned') assembly.send({ type, ...left, reason: { code: 'round_failed' } });
      else assembly.send({ type, ...left, reason: { code: 'round_completed', held: 2, needed: 3 } });
      expect(reward(assembly, a[1])).toMatchObject([{ type: 'reward.unused' }]);
      expect(count(assembly, 'a', 'a/0#9', 'a/1#9')).toEqual([]);
      expect(reward(assembly, 'a/1#9')).toMatchObject([{ type: 'group.rewarded', samples: 2 }]);
    },
  );

  test('what a deferred prompt keeps has its reward when it comes back, whenever that came', () => {
    const assembly = create(groupAssembly, {});
    accept(assembly, ...a);
    reward(assembly, a[0]);
    const kept = a.map((requestId, index) => ({ requestId, index, tokens: 5, weightVersions: [0], finished: true }));
    const reason = { code: 'round_completed', held: 2, needed: 3 } as const;
    assembly.send({
      type: 'prompt.deferred',
      at: 5,
      prompt: { promptId: 'a', kept },
      roundId: 'q',
      dropped: [],
      reason,
    });
    expect(reward(assembly, a[1])).toEqual([]);
    accept(assembly, 'a/2#9');
    expect(count(assembly, 'a', ...a, 'a/2#9')).toEqual([]);
    expect(reward(assembly, 'a/2#9')).toMatchObject([{ type: 'group.rewarded', samples: 3 }]);
  });

  test('a reward that comes twice, or after its prompt has left, changes nothing', () => {
    const assembly = create(groupAssembly, {});
    accept(assembly, ...a);
    reward(assembly, a[0]);
    expect(reward(assembly, a[0], 0)).toMatchObject([{ type: 'reward.unused' }]);
    const reason = { code: 'round_completed', held: 2, needed: 3 } as const;
    const dropped = a.map((requestId) => ({ requestId, tokens: 5, cause: 'stale_weights' as const }));
    assembly.send({ type: 'prompt.deferred', at: 5, prompt: { promptId: 'a' }, roundId: 'r', dropped, reason });
    expect(reward(assembly, a[1])).toMatchObject([{ type: 'reward.unused' }]);
    expect(assembly.snapshot().state).toEqual({ rounds: [], open: [] });
  });

  test('refuses what does not fit, and changes nothing', () => {
    const assembly = create(groupAssembly, {});
    accept(assembly, ...a, ...b);
    count(assembly, 'a', ...a);
    const before = JSON.stringify(assembly.snapshot());
    const refused = (run: () => unknown, code: string, path: string) =>
      expect(run).toThrow(expect.objectContaining({ code, path }));
    refused(() => count(assembly, 'a', ...a), 'duplicate_id', 'promptId');
    refused(() => count(assembly, 'b', a[0]), 'duplicate_id', 'responses[0].requestId');
    refused(() => count(assembly, 'b', b[0], b[0]), 'duplicate_id', 'responses[1].requestId');
    refused(() => count(assembly, 'b'), 'invalid_event', 'responses');
    refused(
      () => complete(assembly, 'quota_reached', { a: [...a], z: ['z/0#0'] }),
      'unknown_id',
      'prompts[1].promptId',
    );
    count(assembly, 'b', ...b);
    refused(() => complete(assembly, 'quota_reached', { a: [...a] }), 'invalid_event', 'prompts');
    expect(() => create(groupAssembly, { extra: 1 } as never)).toThrow(
      expect.objectContaining({ code: 'invalid_config' }),
    );
    expect(before).not.toBe(JSON.stringify(assembly.snapshot()));
  });
});

test('why: a round waits for its groups, and these for the rewards that have not come', () => {
  const assembly = create(groupAssembly, {});
  const why = (id: string, what?: string) => told(assembly.why(id, what));
  accept(assembly, ...a, ...b);
  expect(why('a')).toEqual(['a does not count yet', 'host: prompt.counted a']);
  expect(why('a/0#0')).toEqual(['a/0#0 has no reward', 'host: reward.ready a/0#0']);
  count(assembly, 'a', ...a);
  count(assembly, 'b', ...b);
  fail(assembly, 'a/0#0');
  reward(assembly, 'a/1#0');
  reward(assembly, 'b/0#0');
  expect(why('a/0#0')).toEqual([
    'a/0#0 gets no reward',
    'a has its rewards',
    'r has the rewards of 1 of 2 groups',
    'host: round.completed r',
    'host: reward.ready b/1#0',
  ]);
  expect(why('a')).toEqual(['a counts for round r', ...why('a', 'groups')]);
  complete(assembly, 'quota_reached', { a: [...a], b: [...b] });
  expect(why('r')).toEqual([
    'r has the rewards of 1 of 2 groups',
    'b has 1 of 2 rewards',
    'b/1#0 has no reward',
    'host: reward.ready b/1#0',
  ]);
});
