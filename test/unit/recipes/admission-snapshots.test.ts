/** Snapshots that earlier versions of the admission and of the queue wrote, alone and inside a recipe. */
import { describe, expect, test } from 'vitest';
import { createTailBatching, restorePolicy } from '../../../src/index.ts';
import { brief, Rounds, rounds } from '../../support/rounds.ts';
import { only, prompts } from '../../support/session.ts';

type Saved = { policy: string; version: number; state: Record<string, unknown> };
type InRecipe = { state: { parts: Record<string, Saved> } };

function admissionInVersionOne(snapshot: unknown): Saved {
  const saved = structuredClone(snapshot) as Saved;
  saved.version = 1;
  const { restarts: _, departures: _departures, ...state } = saved.state;
  for (const list of [state.prompts, state.settling] as Record<string, unknown>[][]) {
    for (const prompt of list) delete prompt.firstPrefix;
  }
  return { ...saved, state };
}

function queueInVersionOne(snapshot: Saved): Saved {
  const { carried: _, exhaustedDomains: _domains, ...state } = structuredClone(snapshot).state;
  return { ...snapshot, version: 1, state };
}

function tail(): Rounds {
  const session = new Rounds(
    createTailBatching({
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

describe('speculative-admission', () => {
  test('goes on from a snapshot of version 1: what was minted before is late', () => {
    const session = rounds({ filter: 'zero-variance', idPrefix: 'h0-' });
    session.open(prompts('a', 'b'));
    session.complete('h0-a/0#0');
    session.tell('host.restarted', { idPrefix: 'h1-' });
    session.complete('h1-a/1#0');
    session.policy = restorePolicy(admissionInVersionOne(session.policy.snapshot())) as never;
    expect(brief(session.complete('h0-b/0#0'))).toStrictEqual(['response.late h0-b/0#0 completion']);
    session.refuses({ type: 'request.aborted', at: 0, requestId: 'h0-b/0#1' }, 'unknown_id', 'requestId');
    session.tell('reward.ready', { requestId: 'h0-a/0#0', reward: 0 });
    expect(brief(session.tell('reward.ready', { requestId: 'h1-a/1#0', reward: 1 }))).toStrictEqual([
      'prompt.counted a passed',
    ]);
    expect(session.state).toMatchObject({ restarts: 1, departures: { horizon: 1, launched: [] } });
  });

  test.each([
    [5, 'state'],
    [{ oldPrefixes: [], prompts: [5], nextAttempt: 'x' }, 'state.round'],
  ])('refuses a broken one by its path: %j', (state, path) => {
    const snapshot = { ...admissionInVersionOne(rounds().policy.snapshot()), state };
    expect(() => restorePolicy(snapshot)).toThrow(
      expect.objectContaining({ code: 'snapshot_mismatch', path: expect.stringContaining(path) }),
    );
  });
});

describe('tail-batching', () => {
  test('goes on from parts of version 1, and strands nothing that was carried', () => {
    const session = tail();
    session.tell('source.exhausted');
    session.complete('a/0#0');
    session.restore();
    const saved = session.policy.snapshot() as InRecipe;
    saved.state.parts.admission = admissionInVersionOne(saved.state.parts.admission);
    saved.state.parts.queue = queueInVersionOne(saved.state.parts.queue!);
    session.policy = restorePolicy(JSON.parse(JSON.stringify(saved))) as never;
    expect(brief(session.tell('round.requested', { roundId: 'r1', weightVersion: 1 }))).toStrictEqual([
      'round.planned r1 source_exhausted',
    ]);
    expect(only(session.complete('b/0#0'), 'round.completed')).toHaveLength(1);
    const last = session.tell('round.requested', { roundId: 'r2', weightVersion: 2 });
    expect(brief(last)).toStrictEqual(['source.drained r2 source_exhausted']);
  });
});
