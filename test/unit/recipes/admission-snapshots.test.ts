/** Snapshots that earlier versions of the admission and of the queue wrote, alone and inside a recipe, and broken ones. */
import { describe, expect, test } from 'vitest';
import { create, registry, tailBatching } from '../../../src/index.ts';
import { brief, Rounds, rounds } from '../../support/sessions/rounds.ts';
import { only, prompts } from '../../support/sessions/session.ts';

type Saved = { policy: string; version: number; state: Record<string, unknown> };
type InRecipe = { state: { parts: Record<string, Saved> } };

function tail(): Rounds {
  const session = new Rounds(
    create(tailBatching, {
      promptsPerRound: 1,
      responsesPerPrompt: 1,
      promptSpeculation: 2,
      responseSpeculation: 1,
      maxStaleness: 1,
    }) as never,
  );
  session.tell('round.requested', { roundId: 'r0', weightVersion: 0 });
  session.supply('r0', ...prompts('a', 'b'));
  return session;
}

const isMismatch = (path: string) =>
  expect.objectContaining({ code: 'snapshot_mismatch', path: expect.stringContaining(path) });

describe('speculative-admission', () => {
  test.each([1, 2, 3, 4])('refuses a snapshot of version %i by its name', (version) => {
    const snapshot = { ...(rounds().policy.snapshot() as Saved), version };
    expect(() => registry.restore(snapshot)).toThrow(isMismatch('snapshot.version'));
  });

  test.each([
    [5, 'state'],
    [{ oldPrefixes: [], prompts: [5], nextAttempt: 'x' }, 'state.round'],
  ])('refuses a broken one by its path: %j', (state, path) => {
    const snapshot = { ...(rounds().policy.snapshot() as Saved), state };
    expect(() => registry.restore(snapshot)).toThrow(isMismatch(path));
  });

  test.each([
    ['"quotas":[{', '"quotas":[],"none":[{', 'state.round'],
    ['"status":"active"', '"status":"gone"', 'state.prompts[0].status'],
  ])('refuses one with %s as %s', (given, wrong, path) => {
    const session = rounds();
    session.open(prompts('a'));
    const text = JSON.stringify(session.policy.snapshot());
    expect(text).toContain(given);
    expect(() => registry.restore(JSON.parse(text.replace(given, wrong)))).toThrow(isMismatch(path));
  });
});

describe('tail-batching', () => {
  test('goes on from a snapshot, and strands nothing that was carried', () => {
    const session = tail();
    session.tell('source.exhausted');
    session.complete('a/0#0');
    session.restore();
    expect(brief(session.tell('round.requested', { roundId: 'r1', weightVersion: 1 }))).toStrictEqual([
      'round.planned r1 source_exhausted',
    ]);
    expect(only(session.complete('b/0#0'), 'round.completed')).toHaveLength(1);
    const last = session.tell('round.requested', { roundId: 'r2', weightVersion: 2 });
    expect(brief(last)).toStrictEqual(['source.drained r2 source_exhausted']);
  });

  test.each([1, 2])('refuses a queue of version %i by its name', (version) => {
    const saved = tail().policy.snapshot() as InRecipe;
    saved.state.parts.queue!.version = version;
    expect(() => registry.restore(saved)).toThrow(isMismatch('snapshot.state.parts.queue.version'));
  });
});
