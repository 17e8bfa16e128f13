/** Snapshots of group-assembly, of its version and of others. */
import { describe, expect, test } from 'vitest';
import { create, groupAssembly, type PolicyOf, registry, rollpacker } from '../../../src/index.ts';
import { smallCluster } from '../../support/examples/configs.ts';

type Saved = { version: number };

/** A round that waits for a reward, and one that is not complete. */
function waiting(): PolicyOf<typeof groupAssembly> {
  const assembly = create(groupAssembly, {});
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

describe('group-assembly', () => {
  test('goes on from a snapshot', () => {
    const restored = registry.restore(waiting().snapshot());
    expect(restored.snapshot()).toEqual(waiting().snapshot());
    const ready = { type: 'reward.ready', at: 3, requestId: 'a/0#0', reward: 1 } as const;
    expect(restored.send(ready)).toMatchObject([{ type: 'group.rewarded' }, { type: 'round.rewarded', roundId: 'r' }]);
  });

  test.each([
    ['nothing', () => ({ ...waiting().snapshot(), state: null }), 'snapshot.state'],
    ['an earlier version', () => ({ ...waiting().snapshot(), version: 2 }), 'snapshot.version'],
    ['a version to come', () => ({ ...waiting().snapshot(), version: 4 }), 'snapshot.version'],
  ] as const)('refuses, by name, a snapshot of %s', (_name, snapshot, path) => {
    expect(() => registry.restore(snapshot())).toThrow(expect.objectContaining({ code: 'snapshot_mismatch', path }));
  });

  test('refuses, by name, an earlier version inside the snapshot of a recipe', () => {
    const snapshot = create(rollpacker, smallCluster).snapshot() as { state: { parts: Record<string, Saved> } };
    const earlier = structuredClone(snapshot);
    earlier.state.parts.assembly!.version = 2;
    const path = 'snapshot.state.parts.assembly.version';
    expect(() => registry.restore(earlier)).toThrow(expect.objectContaining({ code: 'snapshot_mismatch', path }));
  });
});
