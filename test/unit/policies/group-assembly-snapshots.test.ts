/** Snapshots that earlier versions of group-assembly wrote. */
import { describe, expect, test } from 'vitest';
import { createGroupAssembly, createRollpacker, restorePolicy } from '../../../src/index.ts';
import { smallCluster } from '../../support/example-configs.ts';

type Saved = { policy: string; version: number; state: { rounds: { completed: object | null }[] } };

/** A round that waits for a reward, and one that is not complete. */
function waiting(): ReturnType<typeof createGroupAssembly> {
  const assembly = createGroupAssembly();
  for (const [promptId, roundId] of [
    ['a', 'r'],
    ['b', 's'],
  ] as const) {
    assembly.send({
      type: 'prompt.counted',
      at: 1,
      promptId,
      roundId,
      responses: [{ requestId: `${promptId}/0#0`, tokens: 3 }],
      reason: { code: 'no_filter', counted: 1, needed: 1 },
    });
  }
  assembly.send({
    type: 'round.completed',
    at: 2,
    roundId: 'r',
    kind: 'short',
    weightVersion: 0,
    prompts: [{ promptId: 'a', responses: [{ requestId: 'a/0#0', index: 0, tokens: 3, weightVersions: [0] }] }],
    openedSeconds: 0,
    deferred: 0,
    reason: { code: 'quota_reached', counted: 1, needed: 1 },
  });
  return assembly;
}

/** As version 1 wrote it: a complete round said whether it had failed. */
function inVersionOne(snapshot: unknown, isFailed: unknown = false): Saved {
  const saved = structuredClone(snapshot) as Saved;
  saved.version = 1;
  for (const round of saved.state.rounds) {
    if (round.completed !== null) round.completed = { ...round.completed, isFailed };
  }
  return saved;
}

describe('group-assembly', () => {
  test('goes on from a snapshot of version 1', () => {
    const assembly = waiting();
    const restored = restorePolicy(inVersionOne(assembly.snapshot()));
    expect(restored.snapshot()).toEqual(assembly.snapshot());
    const ready = { type: 'reward.ready', at: 3, requestId: 'a/0#0', reward: 1 } as const;
    expect(restored.send(ready)).toMatchObject([{ type: 'group.rewarded' }, { type: 'round.rewarded', roundId: 'r' }]);
  });

  test('goes on from one inside the snapshot of a recipe', () => {
    const snapshot = createRollpacker(smallCluster).snapshot() as { state: { parts: Record<string, Saved> } };
    const earlier = structuredClone(snapshot);
    earlier.state.parts.assembly = inVersionOne(earlier.state.parts.assembly);
    expect(restorePolicy(earlier).snapshot()).toEqual(snapshot);
  });

  test.each([
    [
      'a round that has failed',
      () => inVersionOne(waiting().snapshot(), true),
      'snapshot.state.rounds[0].completed.isFailed',
    ],
    ['nothing', () => ({ ...inVersionOne(waiting().snapshot()), state: null }), 'snapshot.state'],
    ['a version to come', () => ({ ...waiting().snapshot(), version: 3 }), 'snapshot.version'],
  ] as const)('refuses, by name, a snapshot of %s', (_name, snapshot, path) => {
    expect(() => restorePolicy(snapshot())).toThrow(expect.objectContaining({ code: 'snapshot_mismatch', path }));
  });
});
