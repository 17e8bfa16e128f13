/** Which reports are late, and which are about ids that were never minted, or that are forgotten. */
import { describe, expect, test } from 'vitest';
import { bothWays, brief, keep, type Rounds } from '../../support/sessions/rounds.ts';
import { only, prompts } from '../../support/sessions/session.ts';

const restart = (session: Rounds, idPrefix: string) => session.tell('host.restarted', { idPrefix });
const isLate = (session: Rounds, requestId: string) =>
  expect(brief(session.tell('request.aborted', { requestId }))).toStrictEqual([`response.late ${requestId} report`]);
const isUnknown = (session: Rounds, ...requestIds: string[]) => {
  for (const requestId of requestIds) {
    session.refuses({ type: 'request.aborted', at: 0, requestId }, 'unknown_id', 'requestId');
  }
};

describe.each(bothWays)('reports about what is over, %s', (_how, start) => {
  test('late is what was launched for a prompt that is here; nothing else of it was minted', () => {
    const session = start({ promptsPerRound: 3, maxInFlight: 3 });
    session.open(prompts('a', 'b', 'c'));
    session.complete('a/0#0');
    session.tell('response.failed', { requestId: 'b/0#0', kind: 'infrastructure' });
    isLate(session, 'a/0#0');
    isLate(session, 'b/0#0');
    // b/1 and c wait for a slot; one of b has been tried again, none of a.
    isUnknown(session, 'a/2#0', 'a/0#1', 'b/1#1', 'c/0#0', 'c/0#1', 'd/0#0', 'a/00#0', 'a/0#00', 'a/0#-1', 'A/0#0');
  });

  test('and of one that has left, each time that it was here', () => {
    const session = start({ promptsPerRound: 1 });
    session.open(prompts('a'));
    session.complete('a/0#0', 'a/1#0');
    session.open(prompts('b'));
    session.complete('b/0#1', 'b/1#1');
    session.open(prompts('a'));
    for (const id of ['a/0#0', 'a/1#0', 'b/0#1', 'b/1#1']) isLate(session, id);
    isUnknown(session, 'a/0#1', 'b/0#0', 'b/0#2', 'c/0#0', 'a/2#0', 'a/0#3');
    session.complete('a/0#2', 'a/1#2');
    for (const id of ['a/0#0', 'a/1#0', 'a/0#2', 'a/1#2']) isLate(session, id);
    isUnknown(session, 'a/0#1');
  });

  test('and of one that settles', () => {
    const session = start({ ...keep, promptsPerRound: 1, promptSpeculation: 2 });
    session.open(prompts('a', 'b'));
    session.complete('b/0#0', 'a/0#0', 'a/1#0');
    isLate(session, 'b/0#0');
    isUnknown(session, 'b/2#0');
  });

  test('an old prefix is known with what was in use under it', () => {
    const session = start({ promptsPerRound: 2, idPrefix: 'h0-' });
    session.open(prompts('a'));
    restart(session, 'h1-');
    session.supply('r0', { promptId: 'b' });
    for (const id of ['h0-a/0#0', 'h0-a/1#0']) isLate(session, id);
    // b came later, and no prefix h2- was ever in use.
    isUnknown(session, 'h0-b/0#0', 'h0-b/0#1', 'h2-a/0#0', 'a/0#0');
    session.complete('h1-a/0#0', 'h1-a/1#0', 'h1-b/0#1', 'h1-b/1#1');
    for (const id of ['h0-a/0#0', 'h1-a/0#0', 'h1-b/0#1']) isLate(session, id);
    isUnknown(session, 'h0-b/0#1');
  });

  test('the empty prefix, too, is known with what was in use under it', () => {
    const session = start({ promptsPerRound: 1 });
    session.open(prompts('a'));
    restart(session, 'h1-');
    isLate(session, 'a/0#0');
    isUnknown(session, 'h2-a/0#0', 'h1-b/0#0');
  });
});

describe('what is remembered is bounded', () => {
  test('the last 64 prefixes; one that is forgotten may come again, and no id does', () => {
    const session = bothWays[0][1]({ promptsPerRound: 1, responsesPerPrompt: 1, idPrefix: 'p0-' });
    const minted = only(session.open(prompts('a')), 'request.launch').map((one) => one.requestId);
    for (let n = 1; n <= 64; n += 1) {
      minted.push(...only(restart(session, `p${n}-`), 'request.launch').map((one) => one.requestId));
    }
    isLate(session, 'p0-a/0#0');
    session.refuses({ type: 'host.restarted', at: 0, idPrefix: 'p0-' }, 'duplicate_id', 'idPrefix');
    for (let n = 65; n <= 130; n += 1) {
      minted.push(...only(restart(session, `p${n}-`), 'request.launch').map((one) => one.requestId));
      expect((session.state.oldPrefixes as unknown as unknown[]).length).toBe(64);
    }
    isUnknown(session, 'p0-a/0#0', 'p65-a/0#0');
    isLate(session, minted[66]!);
    isLate(session, minted[129]!);
    const again = only(restart(session, 'p0-'), 'request.launch').map((one) => one.requestId);
    expect(minted).toHaveLength(131);
    expect(new Set([...minted, ...again]).size).toBe(132);
  });

  test('a state does not grow with restarts', () => {
    const session = bothWays[0][1]({ promptsPerRound: 1, responsesPerPrompt: 1 });
    session.open(prompts('a'));
    const size = () => JSON.stringify(session.state).length;
    for (let n = 0; n < 200; n += 1) restart(session, `h${1000 + n}-`);
    const before = size();
    for (let n = 200; n < 2000; n += 1) restart(session, `h${1000 + n}-`);
    expect(size() - before).toBeLessThan(500);
  });

  test('the last 64 prompts, or those of four rounds; what may be older is late', () => {
    const session = bothWays[0][1]({ promptsPerRound: 1, responsesPerPrompt: 1 });
    for (let n = 0; n < 64; n += 1) {
      session.open(prompts(`p${n}`));
      session.complete(`p${n}/0#${n}`);
    }
    isUnknown(session, 'ghost/0#0', 'p0/1#0');
    session.open(prompts('p64'));
    session.complete('p64/0#64');
    // p0 is forgotten: whatever has its attempt number may have been minted.
    isLate(session, 'p0/0#0');
    isLate(session, 'ghost/0#0');
    isUnknown(session, 'ghost/0#1', 'p1/0#0x', 'p1/1#1');
    expect(session.state.departures).toMatchObject({ horizon: 1, launched: { length: 64 } });
  });
});

test('a reward of what is held is taken, however many restarts ago it was minted', () => {
  const session = bothWays[1][1]({ promptsPerRound: 1, filter: 'zero-variance', idPrefix: 'p-' });
  session.open(prompts('a'));
  session.complete('p-a/0#0');
  for (let n = 1; n <= 70; n += 1) restart(session, `p${n}-`);
  expect(session.tell('reward.ready', { requestId: 'p-a/0#0', reward: 1 })).toStrictEqual([]);
  isUnknown(session, 'p-a/1#0');
});
