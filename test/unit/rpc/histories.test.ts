/** Histories of several clients: faults that are planted are found, and a real server under troubles has none. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { create, rewardDispatch, tailBatching } from '../../../src/index.ts';
import { range } from '../../support/basics/numbers.ts';
import { times } from '../../support/basics/runs.ts';
import { entry } from '../../support/command-line/process.ts';
import { tail } from '../../support/servers/clocked.ts';
import { checkSession, nothingChecked, type Recorded, type Streamed } from '../../support/servers/history.ts';
import { historyRun } from '../../support/servers/history-run.ts';
import { checkSimulated, type Fault, type Simulated } from '../../support/servers/history-simulated.ts';

const seeds = times(60);
const cases = range(seeds).flatMap((seed) =>
  (['tail-batching', 'group-assembly', 'stream-training'] as const).map((policy): Simulated => {
    return { seed, policy, deliver: seed % 2 === 0 ? 'reply' : 'stream' };
  }),
);
const isSend = ({ method, params }: { method: string; params: { events?: unknown[] } }): boolean =>
  method === 'session.send' && params.events!.length > 0;

describe('histories that are simulated', () => {
  test('of the server itself: linearizable', () => {
    for (const one of cases) expect(checkSimulated(one).calls).toBeGreaterThan(20);
  });

  const faults: Record<string, Fault> = {
    'a stale read': ({ method }, _, before) =>
      method === 'session.snapshot' ? before.findLast((one) => one.method === method)?.answer : undefined,
    'a lost update': (call, carryOut, before) => {
      if (!isSend(call) || before.length !== 20) return undefined;
      const { session } = call.params;
      const { snapshot, delivery } = carryOut({
        method: 'session.snapshot',
        params: { session, delivery: true },
      }).result;
      const answer = carryOut(call);
      const deliver = delivery.stream === undefined ? 'reply' : 'stream';
      carryOut({ method: 'session.open', params: { session, snapshot, delivery, deliver, onExisting: 'replace' } });
      return answer;
    },
    'a retry that is applied again': (call, carryOut, before) => {
      const { session, firstSeq, events } = call.params;
      const isAgain = firstSeq !== undefined && before.some(({ params }) => params === call.params);
      if (isAgain) carryOut({ method: call.method, params: { session, events } });
      return undefined;
    },
    'a call that is applied twice': (call, carryOut, before) => {
      if (!isSend(call) || before.length !== 20) return undefined;
      const answer = carryOut(call);
      carryOut({ method: call.method, params: { session: call.params.session, events: call.params.events } });
      return answer;
    },
    'answers with the decisions of another call': (call, carryOut, before) => {
      const other = before.findLast((one) => (one.answer.result?.decisions?.length ?? 0) > 0);
      if (!isSend(call) || before.length < 20 || other === undefined) return undefined;
      const answer = carryOut(call);
      if (answer.result !== undefined) answer.result.decisions = other.answer.result.decisions;
      return answer;
    },
    'a seq that lies': (call, carryOut, before) => {
      const answer = carryOut(call);
      if (before.length >= 20 && answer.result !== undefined && isSend(call)) answer.result.seq -= 1;
      return answer;
    },
    'a number of decisions that lies': (call, carryOut, before) => {
      const answer = carryOut(call);
      if (before.length >= 20 && answer.result?.decisionSeq !== undefined) answer.result.decisionSeq += 1;
      return answer;
    },
    'another call taken for a retry': (call, _, before) => {
      const { producer, events } = call.params;
      const other = before.findLast(
        (one) =>
          producer !== undefined && one.params.producer === producer && one.params.events.length === events.length,
      );
      return before.length < 20 ? undefined : other?.answer;
    },
    'a refusal of what was not refused': (call, carryOut, before) => {
      const answer = carryOut(call);
      if (before.length < 20 || answer.error?.data.index === undefined) return answer;
      const { code: _, path: __, expected: ___, got: ____, index: _____, ...result } = answer.error.data;
      return { result };
    },
  };

  test.each(Object.entries(faults))('%s is found', (_, fault) => {
    expect(isFound((one) => ({ ...one, fault }))).toBe(true);
  });

  test.each<[string, (decisions: unknown[]) => unknown[]]>([
    ['two decisions that are swapped', ([one, other, ...rest]) => [other, one, ...rest]],
    ['a decision that is missing', ([, ...rest]) => rest],
    ['a decision that comes twice', ([one, ...rest]) => [one, one, ...rest]],
  ])('%s in a stream', (_, streamed) => {
    expect(isFound((one) => ({ ...one, deliver: 'stream', streamed }))).toBe(true);
  });

  /** Whether a fault is found in any of the cases. */
  function isFound(change: (one: Simulated) => Simulated): boolean {
    return cases.some((one) => {
      try {
        checkSimulated(change(one));
        return false;
      } catch (error) {
        expect(String(error)).toMatch(/not linearizable|decision/);
        return true;
      }
    });
  }
});

describe('what is streamed and acknowledged', () => {
  const session = 's';
  const opened: Recorded = {
    method: 'session.open',
    params: { session, policy: 'tail-batching', config: tail.config, deliver: 'stream' },
    from: 0,
    to: 1,
    result: { session, policy: 'tail-batching', version: tailBatching.version, seq: 0 },
  };
  const acknowledged = (from: number, decisionSeq: number, upTo: number): Recorded => ({
    method: 'session.ack',
    params: { session, decisionSeq },
    from,
    to: from + 1,
    result: { acknowledged: upTo },
  });
  const check = (calls: Recorded[], streamed: Streamed[] = []) =>
    checkSession(session, [opened, ...calls], streamed, nothingChecked());
  const round = { type: 'round.requested', at: 0, roundId: 'r', weightVersion: 1 };
  const decisions = JSON.parse(JSON.stringify(create(tailBatching, tail.config).send(round as never)));
  const streamed = (from: number, made: unknown[]): Streamed => ({
    session,
    from,
    to: from + 1,
    first: 1,
    decisions: made,
  });
  const sent: Recorded = {
    method: 'session.send',
    params: { session, events: [round] },
    from: 4,
    to: 5,
    result: { seq: 1, decisions: [], decisionSeq: decisions.length },
  };

  test('acknowledgements only grow, and come from somebody', () => {
    check([sent, acknowledged(6, 1, 1), acknowledged(8, 2, 2)]);
    expect(() => check([sent, acknowledged(6, 2, 2), acknowledged(8, 2, 1)])).toThrow('acknowledged: 2, and later 1');
    expect(() => check([sent, acknowledged(6, 1, 2)])).toThrow('acknowledged: 2, which nobody has');
  });

  test('decisions are those of the calls, each is the same whenever it comes, and none comes before its call', () => {
    check([sent], [streamed(6, decisions), streamed(8, decisions)]);
    const [first, ...others] = decisions;
    const changed = [{ ...first, roundId: 'other' }, ...others];
    expect(() => check([sent], [streamed(6, changed)])).toThrow('not linearizable');
    expect(() => check([sent], [streamed(6, decisions), streamed(8, changed)])).toThrow('decision 1 was sent as');
    expect(() => check([sent], [streamed(2, decisions)])).toThrow('not linearizable');
  });
});

test('of many calls that were lost in a kill, the one that took effect is found at once', () => {
  const session = 's';
  const open = { method: 'session.open', params: { session, policy: 'reward-dispatch', config: {} }, from: 0, to: 1 };
  const opened = { session, policy: 'reward-dispatch', version: rewardDispatch.version, seq: 0 };
  const eventOf = (n: number) => ({ type: 'reward.requested', at: 1, requestId: `r${n}`, kind: 'rule' }) as const;
  const lost = range(16).map((n): Recorded => {
    const params = { session, events: [eventOf(n)] };
    return { method: 'session.send', params, from: 2 + n / 100, to: 9, isLost: true };
  });
  const rewards = create(rewardDispatch, {});
  rewards.send(eventOf(15));
  const snapshot = JSON.parse(JSON.stringify(rewards.snapshot()));
  const read = { method: 'session.snapshot', params: { session }, from: 10, to: 11, result: { snapshot, seq: 1 } };
  const counts = nothingChecked();
  checkSession(session, [{ ...open, result: opened }, ...lost, read], [], counts);
  expect(counts.looked).toBeLessThan(50);
});

test.each([
  ['a Unix socket', 'always'],
  ['TCP', 'interval'],
] as const)(
  'several clients over %s, stopped, cut off and killed: each session is linearizable',
  async (name, fsync) => {
    const folder = mkdtempSync(join(tmpdir(), 'rf-'));
    try {
      const token = { file: join(folder, 'token'), token: 'a token for this test only' };
      writeFileSync(token.file, token.token, { mode: 0o600 });
      const figures = await historyRun({
        command: [process.execPath, ...entry],
        folder,
        ...(name === 'TCP' ? { token } : {}),
        fsync,
        clients: 3,
        sessions: 2,
        events: 80,
        troubles: times(90),
        seed: 3,
      });
      expect(Math.min(...Object.values(figures.troubles))).toBeGreaterThan(0);
      expect(figures.lost).toBeGreaterThan(0);
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
);
