/** What a session may hold bounds each call, too: what an event would lead to is refused before it is applied. */
import { describe, expect, test } from 'vitest';
import { tailBatching } from '../../../../src/index.ts';
import { serverLimits } from '../../../../src/rpc/methods/limits.ts';
import { InFlight } from '../../../../src/rpc/session/in-flight.ts';
import { openingEvents, rpc } from '../../../support/servers/clocked.ts';

const prompts = (count: number) => Array.from({ length: count }, (_, index) => ({ promptId: `p${index}` }));
const supplied = (count: number) => ({ type: 'prompts.supplied', at: 0, roundId: 'r1', prompts: prompts(count) });

describe('ids in flight', () => {
  test('one event that would mint more requests than a session may hold is refused, and changes nothing', async () => {
    const { client, server } = rpc({ limits: { maxEventIds: 10_000_000 } });
    const config = { promptsPerRound: 20, responsesPerPrompt: 25_000 };
    const { session } = await client.call('session.open', { policy: 'tail-batching', config });
    await client.call('session.send', { session, events: openingEvents().slice(0, 1) });
    const { policy } = server.sessions.get(session);
    const before = JSON.stringify(policy.snapshot());
    await client.fails(
      'session.send',
      { session, events: [supplied(50)] },
      { code: 'limit_exceeded', path: 'events', index: 0, seq: 1, got: String(50 * (1 + 31_250)) },
    );
    expect(JSON.stringify(policy.snapshot())).toBe(before);
    // Smaller portions are taken, as far as the session has room.
    await client.call('session.send', { session, events: [supplied(1)] });
    expect(server.sessions.get(session).inFlight).toBe(1);
  });

  test('what was promised is never refused: at the bound a round goes on to its end', () => {
    const policy = startPolicyAtBound();
    const { inFlight } = policy;
    for (const requestId of ['p0/0#0', 'p0/1#0']) {
      const entering = inFlight.check({ type: 'response.completed', at: 1, requestId, tokens: 1 } as never);
      expect(entering).toEqual({ ids: 1, promised: 1, isIntake: false });
      inFlight.count(entering, []);
    }
    expect(() => inFlight.check(supplied(1) as never)).toThrow(expect.objectContaining({ code: 'limit_exceeded' }));
  });

  test('a restored session counts what is minted for the prompts that it holds', () => {
    const { inFlight, saved } = startPolicyAtBound();
    const again = new InFlight(tailBatching, saved, limits);
    expect(again.held).toBe(inFlight.held);
    expect(() => again.check(supplied(1) as never)).toThrow(expect.objectContaining({ got: '9' }));
  });
});

const limits = serverLimits({ maxInFlightIds: 6 });

/** Two prompts with two requests each, where six ids are allowed. */
function startPolicyAtBound() {
  const config = { promptsPerRound: 2, responsesPerPrompt: 2, promptSpeculation: 1, responseSpeculation: 1 };
  const parsed = tailBatching.config.parse(config);
  const state = tailBatching.init(parsed);
  const inFlight = new InFlight(tailBatching, { config: parsed, state: tailBatching.save(state) }, limits);
  const opening = { type: 'round.requested', at: 0, roundId: 'r1', weightVersion: 1 } as const;
  for (const event of [opening, supplied(2)]) {
    inFlight.count(inFlight.check(event), []);
    tailBatching.check(state, event as never);
    tailBatching.apply(state, event as never, { at: 0, emit: () => undefined });
  }
  return { inFlight, saved: { config: parsed, state: tailBatching.save(state) } };
}
