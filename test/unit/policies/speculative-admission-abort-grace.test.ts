/** Aborts that are never confirmed: one timer, for the earliest. */
import { describe, expect, test } from 'vitest';
import { bothWays, brief, type Rounds } from '../../support/sessions/rounds.ts';
import { only, prompts } from '../../support/sessions/session.ts';

const grace = 'speculative-admission/abort-grace';
const fire = (session: Rounds, timerId: string, at: number) => {
  session.at = at;
  return session.tell('timer.fired', { timerId });
};

describe.each(bothWays)('aborts that are never confirmed, %s', (_how, start) => {
  test('one timer for the earliest; it is set again for the next; those confirmed meanwhile need none', () => {
    const session = start({ promptsPerRound: 4, responseSpeculation: 1.5, abortGraceSeconds: 10 });
    session.open(prompts('a', 'b', 'c', 'd'));
    session.at = 1;
    expect(only(session.complete('a/0#0', 'a/1#0'), 'timer.set')).toStrictEqual([
      {
        type: 'timer.set',
        at: 1,
        timerId: grace,
        fireAtSeconds: 11,
        reason: { code: 'abort_grace', graceSeconds: 10 },
      },
    ]);
    session.at = 3;
    expect(only(session.complete('b/0#0', 'b/1#0'), 'timer.set')).toStrictEqual([]);
    session.at = 5;
    expect(only(session.complete('c/0#0', 'c/1#0'), 'timer.set')).toStrictEqual([]);
    expect(session.tell('request.aborted', { requestId: 'b/2#0' })).toStrictEqual([]);
    expect(fire(session, grace, 11)).toStrictEqual([
      {
        type: 'timer.set',
        at: 11,
        timerId: grace,
        fireAtSeconds: 15,
        reason: { code: 'abort_grace', graceSeconds: 10 },
      },
      {
        type: 'request.expired',
        at: 11,
        requestId: 'a/2#0',
        promptId: 'a',
        reason: { code: 'abort_unconfirmed', graceSeconds: 10 },
      },
    ]);
    expect(brief(session.complete('a/2#0'))).toStrictEqual(['response.late a/2#0 completion']);
    // Too early: nothing, but the timer again.
    expect(brief(fire(session, grace, 14.5))).toStrictEqual([`timer.set ${grace} abort_grace`]);
    expect(brief(fire(session, grace, 15))).toStrictEqual(['request.expired c/2#0 abort_unconfirmed']);
    expect(fire(session, grace, 99)).toStrictEqual([]);
    session.at = 100;
    expect(only(session.complete('d/0#0', 'd/1#0'), 'timer.set')).toMatchObject([{ fireAtSeconds: 110 }]);
  });

  test('an expired abort frees its slot, and lets its round drain', () => {
    const session = start({ promptsPerRound: 2, responseSpeculation: 1.5, maxInFlight: 3 });
    session.open(prompts('a', 'b'));
    session.complete('a/0#0', 'a/1#0');
    expect(brief(fire(session, grace, 30))).toStrictEqual([
      'request.expired a/2#0 abort_unconfirmed',
      'request.launch b/2#0 planned',
    ]);
    session.complete('b/0#0', 'b/1#0');
    expect(brief(fire(session, grace, 60))).toStrictEqual([
      'request.expired b/2#0 abort_unconfirmed',
      'round.drained r0 all_ended',
    ]);
  });
});
