import { describe, expect, test } from 'vitest';
import { create, sandboxTimeout } from '../../../src/index.ts';
import type { SandboxTimeoutInput } from '../../../src/policies/sandbox-timeout/index.ts';
import { only, Session } from '../../support/sessions/session.ts';

type Outcome = 'correct' | 'wrong' | 'timeout' | 'infrastructure';

/** A session with short ways to run test cases. */
class Sandboxes extends Session {
  runs = 0;

  constructor(config: SandboxTimeoutInput = {}) {
    super(create(sandboxTimeout, config) as never);
  }

  request(testCaseId = 'case', runId = `run${this.runs++}`) {
    const [run, ...others] = only(this.send({ type: 'sandbox.requested', runId, testCaseId } as never), 'sandbox.run');
    expect(others).toEqual([]);
    return run!;
  }

  finish(runId: string, outcome: Outcome, seconds: number) {
    return this.send({ type: 'sandbox.finished', runId, outcome, seconds } as never);
  }

  /** Requests a run, ends it, and gives what both led to. */
  run(outcome: Outcome, seconds: number, testCaseId = 'case') {
    const run = this.request(testCaseId);
    const [ended] = this.finish(run.runId, outcome, seconds);
    return { run, ended: ended! };
  }

  /** The timeout that a run would be given now. */
  timeout(testCaseId = 'case'): number {
    const { runId, timeoutSeconds } = this.request(testCaseId);
    this.send({ type: 'sandbox.cancelled', runId } as never);
    return timeoutSeconds;
  }

  report(...factors: number[]) {
    const asked = factors.length === 0 ? {} : { factors };
    return only(this.send({ type: 'sandbox.report.requested', ...asked } as never), 'sandbox.report')[0]!;
  }
}

describe('the timeout', () => {
  test('is min(max(Tmin, λ · anchor), Tmax), and Tmax without an anchor (RollPacker §4.3)', () => {
    const session = new Sandboxes({ timeoutFactor: 1.5, exploreEvery: 0 });
    expect(session.request()).toMatchObject({
      timeoutSeconds: 30,
      reason: { code: 'no_anchor', maxTimeoutSeconds: 30 },
    });
    session.run('correct', 0.5);
    expect(session.request()).toMatchObject({
      timeoutSeconds: 2,
      reason: {
        code: 'anchored',
        anchorSeconds: 0.5,
        timeoutFactor: 1.5,
        minTimeoutSeconds: 2,
        maxTimeoutSeconds: 30,
      },
    });
    session.run('correct', 6);
    expect(session.timeout()).toBe(9);
    session.run('correct', 25);
    expect(session.timeout()).toBe(30);
  });

  test('has Tmin 2 s, Tmax 30 s and λ 4 if nothing is said', () => {
    const session = new Sandboxes();
    expect(session.timeout()).toBe(30);
    session.run('correct', 0.1);
    expect(session.timeout()).toBe(2);
    session.run('correct', 3);
    expect(session.timeout()).toBe(12);
  });

  test('is for each test case alone', () => {
    const session = new Sandboxes();
    session.run('correct', 3, 'a');
    expect([session.timeout('a'), session.timeout('b')]).toEqual([12, 30]);
  });

  test('is Tmax where a correct run took no measurable time and there is no minimum', () => {
    const session = new Sandboxes({ minTimeoutSeconds: 0 });
    session.run('correct', 0);
    expect(session.timeout()).toBe(30);
    session.run('correct', 0.001);
    expect(session.timeout()).toBe(0.004);
  });

  test('is that of the request, whatever the anchor has become since', () => {
    const session = new Sandboxes({ exploreEvery: 0 });
    const early = session.request();
    session.run('correct', 3);
    expect(session.finish(early.runId, 'wrong', 20)).toMatchObject([{ reason: { timeoutSeconds: 30 } }]);
  });
});

describe('the anchor', () => {
  test('is the maximum over correct runs, and never falls', () => {
    const session = new Sandboxes({ exploreEvery: 0 });
    for (const [seconds, anchor] of [
      [1, 1],
      [3, 3],
      [2, 3],
    ] as const) {
      expect(session.run('correct', seconds).ended).toMatchObject({
        reason: { code: 'correct', anchorSeconds: anchor },
      });
    }
  });

  test.each(['wrong', 'timeout', 'infrastructure'] as const)('is not moved by %s', (outcome) => {
    const session = new Sandboxes({ exploreEvery: 0 });
    session.run(outcome, 29);
    expect(session.timeout()).toBe(30);
    session.run('correct', 1);
    session.run(outcome, 29);
    expect(session.timeout()).toBe(4);
  });

  test('of the least recently used test case leaves', () => {
    const session = new Sandboxes({ maxTestCases: 2 });
    for (const id of ['a', 'b']) session.run('correct', 1, id);
    session.request('a');
    session.run('correct', 1, 'c');
    expect([session.timeout('a'), session.timeout('b'), session.timeout('c')]).toEqual([4, 30, 4]);
    expect(session.report()).toMatchObject({ testCases: 2, forgottenTestCases: 1 });
  });
});

describe('the score', () => {
  test('of a timeout is 0, and named as such', () => {
    const { ended } = new Sandboxes().run('timeout', 30);
    expect(ended).toMatchObject({
      type: 'sandbox.scored',
      score: 0,
      reason: { code: 'timeout', seconds: 30, timeoutSeconds: 30, maxTimeoutSeconds: 30 },
    });
  });

  test('is 1 for a correct run and 0 for a wrong one', () => {
    const session = new Sandboxes();
    expect(session.run('correct', 1).ended).toMatchObject({ score: 1, reason: { code: 'correct' } });
    expect(session.run('wrong', 1).ended).toMatchObject({ score: 0, reason: { code: 'wrong' } });
  });

  test('is none for an infrastructure fault (RollPacker artifact: any exception scores 0)', () => {
    const session = new Sandboxes();
    const { run } = session.run('infrastructure', 1);
    expect(session.run('infrastructure', 1).ended).toMatchObject({
      type: 'sandbox.unscored',
      reason: { code: 'infrastructure' },
    });
    expect(session.report().runs).toBe(0);
    expect(session.finish(run.runId, 'correct', 1)).toMatchObject([{ type: 'sandbox.late' }]);
  });

  test('is none for a run that nobody needs any more, or that is gone with its host', () => {
    const session = new Sandboxes();
    const [one, two, three] = [session.request(), session.request(), session.request()];
    expect(session.send({ type: 'sandbox.cancelled', runId: two.runId } as never)).toMatchObject([
      { type: 'sandbox.unscored', runId: two.runId, reason: { code: 'cancelled' } },
    ]);
    session.restore();
    expect(session.send({ type: 'host.restarted', idPrefix: 'b-' } as never)).toMatchObject([
      { type: 'sandbox.unscored', runId: one.runId, reason: { code: 'host_restarted' } },
      { type: 'sandbox.unscored', runId: three.runId, reason: { code: 'host_restarted' } },
    ]);
    for (const { runId } of [one, two, three]) {
      expect(session.finish(runId, 'correct', 9)).toMatchObject([{ type: 'sandbox.late', runId }]);
    }
    expect(session.timeout()).toBe(30);
  });
});

describe('exploration', () => {
  test('gives every n-th run of a solved test case Tmax, so that an anchor that is too low can rise', () => {
    const session = new Sandboxes({ exploreEvery: 3, minTimeoutSeconds: 0 });
    session.run('correct', 1);
    const given: [string, number][] = [];
    // The machine has become slow: what took 1 s now takes 10.
    for (let index = 0; index < 6; index += 1) {
      const { runId, timeoutSeconds, reason } = session.request();
      given.push([reason.code, timeoutSeconds]);
      if (timeoutSeconds < 10) session.finish(runId, 'timeout', timeoutSeconds);
      else session.finish(runId, 'correct', 10);
    }
    expect(given).toEqual([
      ['anchored', 4],
      ['anchored', 4],
      ['exploration', 30],
      ['anchored', 30],
      ['anchored', 30],
      ['exploration', 30],
    ]);
  });

  test('counts for each test case alone, and not before it is solved', () => {
    const session = new Sandboxes({ exploreEvery: 2 });
    session.run('wrong', 1, 'a');
    session.run('correct', 1, 'a');
    session.run('correct', 1, 'b');
    const codes = ['a', 'b', 'a', 'b'].map((id) => session.run('wrong', 1, id).run.reason.code);
    expect(codes).toEqual(['anchored', 'anchored', 'exploration', 'exploration']);
  });

  test('that ends without a score is made up for by the next run', () => {
    const session = new Sandboxes({ exploreEvery: 4 });
    session.run('correct', 1);
    for (let index = 0; index < 3; index += 1) session.run('wrong', 1);
    expect(session.run('infrastructure', 1).run.reason.code).toBe('exploration');
    expect(session.run('wrong', 1).run.reason.code).toBe('exploration');
    expect(session.run('wrong', 1).run.reason.code).toBe('anchored');
  });

  test('does not happen with 0, and always with 1', () => {
    for (const [exploreEvery, code] of [
      [0, 'anchored'],
      [1, 'exploration'],
    ] as const) {
      const session = new Sandboxes({ exploreEvery });
      session.run('correct', 1);
      for (let index = 0; index < 40; index += 1) expect(session.run('wrong', 1).run.reason.code).toBe(code);
    }
  });
});

describe('the report', () => {
  test('says what a λ would have cost and saved', () => {
    const session = new Sandboxes({ exploreEvery: 1, minTimeoutSeconds: 0, maxTimeoutSeconds: 20 });
    session.run('correct', 1); // no anchor: not in the report
    session.run('correct', 1.4);
    session.run('correct', 3); // anchor 1.4
    session.run('wrong', 10); // anchor 3
    session.run('timeout', 20);
    const report = session.report(1, 2, 4, 8);
    expect(report).toMatchObject({ runs: 4, correctRuns: 2, exploredRuns: 4, exploredCorrectRuns: 2 });
    expect(report.runSeconds).toBeCloseTo(34.4, 10);
    expect(report.fixedSeconds).toBeCloseTo(34.4, 10);
    expect(report.estimates.map((one) => one.correctKilled)).toEqual([2, 1, 0, 0]);
    expect(report.estimates.map((one) => one.exploredKilled)).toEqual([2, 1, 0, 0]);
    // λ = 1: 1 + 1.4 + 3 + 3; λ = 2: 1.4 + 2.8 + 6 + 6; λ = 4: 1.4 + 3 + 10 + 12; λ = 8: 1.4 + 3 + 10 + 20.
    const seconds = [8.4, 16.2, 26.4, 34.4];
    report.estimates.forEach((one, index) => void expect(one.runSeconds).toBeCloseTo(seconds[index]!, 10));
  });

  test('knows what it cannot know: runs that were stopped earlier than another λ would have', () => {
    const session = new Sandboxes({ exploreEvery: 0, timeoutFactor: 2, minTimeoutSeconds: 0 });
    session.run('correct', 1);
    session.run('timeout', 2);
    const { estimates, fixedSeconds } = session.report(1, 2, 4);
    expect(estimates.map((one) => [one.unknown, one.runSeconds])).toEqual([
      [0, 1],
      [0, 2],
      [1, 4],
    ]);
    expect(fixedSeconds).toBe(30);
  });

  test('tells runs that explored apart: only they show what the λ in use costs', () => {
    const session = new Sandboxes({ exploreEvery: 2, timeoutFactor: 2, minTimeoutSeconds: 0 });
    session.run('correct', 1);
    expect(session.run('timeout', 2).run.timeoutSeconds).toBe(2); // may have been correct
    session.run('correct', 3);
    expect(session.report(2)).toMatchObject({
      runs: 2,
      exploredRuns: 1,
      exploredCorrectRuns: 1,
      estimates: [{ correctKilled: 1, exploredKilled: 1, unknown: 0 }],
    });
  });

  test('has the usual λ if none is asked for, the paper’s among them, and is bounded', () => {
    const session = new Sandboxes({ historyRuns: 3 });
    for (let index = 0; index < 10; index += 1) session.run('correct', 1);
    const report = session.report();
    expect(report.runs).toBe(3);
    expect(report.reason).toEqual({ code: 'requested', historyRuns: 3 });
    expect(report.estimates.map((one) => one.timeoutFactor)).toEqual([1, 1.25, 1.5, 2, 3, 4, 6, 8, 16]);
  });
});

describe('late, wrong and repeated', () => {
  test('a second report is late, and changes nothing', () => {
    const session = new Sandboxes();
    const { run } = session.run('wrong', 1);
    for (const event of [
      { type: 'sandbox.finished', runId: run.runId, outcome: 'correct', seconds: 20 },
      { type: 'sandbox.cancelled', runId: run.runId },
    ]) {
      expect(session.send(event as never)).toEqual([
        { type: 'sandbox.late', at: 0, runId: run.runId, reason: { code: 'already_ended' } },
      ]);
    }
    expect(session.timeout()).toBe(30);
  });

  test('the last 1,024 runs that ended are known; of those before, ids are forgotten', () => {
    const session = new Sandboxes();
    const ids = Array.from({ length: 3000 }, () => session.run('wrong', 1).run.runId);
    session.restore();
    for (const runId of ids.slice(-1024)) expect(session.finish(runId, 'wrong', 1)[0]!.type).toBe('sandbox.late');
    const finished = { type: 'sandbox.finished', at: 0, runId: ids[0], outcome: 'wrong', seconds: 1 };
    session.refuses(finished, 'unknown_id', 'runId');
  });

  test('a run that takes longer than its timeout to stop counts with its time', () => {
    const session = new Sandboxes({ exploreEvery: 0 });
    session.run('correct', 1);
    expect(session.run('timeout', 4.2).ended).toMatchObject({ reason: { seconds: 4.2, timeoutSeconds: 4 } });
  });

  test('bad events are refused', () => {
    const session = new Sandboxes();
    const { runId } = session.request();
    const ended = session.run('wrong', 1).run.runId;
    const requested = { type: 'sandbox.requested', at: 0, testCaseId: 'case' };
    session.refuses({ ...requested, runId }, 'duplicate_id', 'runId');
    session.refuses({ ...requested, runId: ended }, 'duplicate_id', 'runId');
    session.refuses({ ...requested, runId: '' }, 'invalid_event', 'runId');
    const finished = { type: 'sandbox.finished', at: 0, runId, outcome: 'correct', seconds: 1 };
    session.refuses({ ...finished, runId: 'nobody' }, 'unknown_id', 'runId');
    session.refuses({ ...finished, outcome: 'maybe' }, 'invalid_event', 'outcome');
    session.refuses({ ...finished, seconds: -1 }, 'invalid_event', 'seconds');
    session.refuses({ ...finished, seconds: 1e10 }, 'invalid_event', 'seconds');
    session.refuses({ ...finished, extra: 1 }, 'invalid_event', 'extra');
    session.refuses({ type: 'sandbox.cancelled', at: 0, runId: 'nobody' }, 'unknown_id', 'runId');
    session.refuses({ type: 'sandbox.report.requested', at: 0, factors: [] }, 'invalid_event', 'factors');
    session.refuses({ type: 'sandbox.report.requested', at: 0, factors: [0.5] }, 'invalid_event', 'factors[0]');
  });

  test.each([
    [{ timeoutFactor: 0.9 }, 'timeoutFactor'],
    [{ minTimeoutSeconds: -1 }, 'minTimeoutSeconds'],
    [{ minTimeoutSeconds: 31 }, 'minTimeoutSeconds'],
    [{ maxTimeoutSeconds: 0 }, 'maxTimeoutSeconds'],
    [{ exploreEvery: 1.5 }, 'exploreEvery'],
    [{ maxTestCases: 0 }, 'maxTestCases'],
    [{ historyRuns: 0 }, 'historyRuns'],
    [{ lambda: 2 }, 'lambda'],
  ])('the configuration %o is refused', (config, path) => {
    expect(() => create(sandboxTimeout, config as never)).toThrow(
      expect.objectContaining({ code: 'invalid_config', path }),
    );
  });
});

test('after 160,000 test cases the snapshot is below 5.5 MB, and no larger than after 120,000: 100,000 are known', () => {
  const policy = create(sandboxTimeout, {}, { validate: false });
  const bytes: number[] = [];
  for (let index = 0; index < 160_000; index += 1) {
    const runId = `step-7/run-${index}`;
    const testCaseId = `problem-${100_000 + (index >> 3)}/case-${index & 7}`;
    policy.send({ type: 'sandbox.requested', at: 0, runId, testCaseId });
    // Seconds with all their digits, as a clock gives them.
    policy.send({ type: 'sandbox.finished', at: 0, runId, outcome: 'correct', seconds: (index % 997) / 1009 });
    if (index === 119_999 || index === 159_999) bytes.push(JSON.stringify(policy.snapshot()).length);
  }
  expect(bytes[1]).toBeLessThan(5_500_000);
  expect(bytes[1]! / bytes[0]!).toBeLessThan(1.01);
  const again = create(sandboxTimeout, { snapshot: JSON.parse(JSON.stringify(policy.snapshot())) });
  const [report] = only(again.send({ type: 'sandbox.report.requested', at: 0 }) as never, 'sandbox.report');
  expect(report).toMatchObject({ testCases: 100_000, forgottenTestCases: 60_000 });
});
