import { describe, expect, test } from 'vitest';
import { create, environmentSlots } from '../../../src/index.ts';
import type { EnvironmentSlotsInput } from '../../../src/policies/environment-slots/index.ts';
import { deadlines } from '../../../src/policies/environment-slots/programs.ts';
import type { VocabularyDecision } from '../../../src/schemas/index.ts';
import { refusal } from '../../support/basics/refusal.ts';
import { only, Session } from '../../support/sessions/session.ts';

/** A pool with short ways to ask for environments, and to report them. */
class Pool extends Session {
  programs = 0;
  /** Environments of programs. */
  readonly boxes = new Map<string, string>();

  constructor(config: EnvironmentSlotsInput = { slots: { box: 2 } }) {
    super(create(environmentSlots, config) as never);
    this.restoresFirst = true;
  }

  tell(event: object): VocabularyDecision[] {
    const told = this.send(event as never);
    for (const { requestId, slotId } of only(told, 'slot.assign')) this.boxes.set(requestId, slotId);
    return told;
  }

  request(requestId = `p${this.programs++}`, environment = 'box'): VocabularyDecision[] {
    return this.tell({ type: 'slot.requested', requestId, environment });
  }

  /** Reports all starts of these decisions as done, or as failed. */
  answer(decisions: readonly VocabularyDecision[], type: 'slot.ready' | 'slot.failed' = 'slot.ready') {
    return only(decisions, 'slot.prewarm').flatMap(({ slotId }) => this.tell({ type, slotId }));
  }

  /** A program with an environment: returns its id and that of the environment. */
  housed(): { requestId: string; slotId: string } {
    const [given] = only(this.answer(this.request()), 'slot.assign');
    return given!;
  }

  close(requestId: string): VocabularyDecision[] {
    return this.tell({ type: 'program.closed', requestId });
  }

  tool(requestId: string, tool = 'bash'): VocabularyDecision[] {
    return this.tell({ type: 'tool.started', requestId, tool });
  }

  answered(requestId: string, outcome: 'success' | 'error' | 'timeout' = 'success') {
    return this.tell({ type: 'tool.finished', requestId, outcome });
  }

  wait(seconds: number): this {
    this.at += seconds;
    return this;
  }

  fire(): VocabularyDecision[] {
    return this.tell({ type: 'timer.fired', timerId: deadlines.timerId });
  }

  /** Lets all timers fire for so long. */
  pass(seconds: number): VocabularyDecision[] {
    const until = this.at + seconds;
    const all: VocabularyDecision[] = [];
    for (;;) {
      const { timerAt } = (this.policy.snapshot() as { state: { timerAt: number | null } }).state;
      if (timerAt === null || timerAt > until) break;
      this.at = Math.max(this.at, timerAt);
      all.push(...this.fire());
    }
    this.at = until;
    return all;
  }
}

const types = (decisions: readonly VocabularyDecision[]): string[] => decisions.map(({ type }) => type);

describe('a program', () => {
  test('gets an environment, keeps it until it is closed, and the next one gets it after a reset', () => {
    const pool = new Pool({ slots: { box: 1 } });
    const first = pool.request();
    expect(first).toMatchObject([
      { type: 'slot.prewarm', slotId: 'slot/0', environment: 'box', reason: { code: 'requested', waiting: 1 } },
      { type: 'timer.set', fireAtSeconds: 600, reason: { code: 'environment_due', due: 'start' } },
    ]);
    expect(types(pool.request())).toEqual([]);
    pool.wait(3);
    expect(pool.answer(first)).toMatchObject([
      { type: 'slot.assign', requestId: 'p0', reason: { code: 'oldest', waitedSeconds: 3, waiting: 2 } },
    ]);
    expect(pool.close('p0')).toMatchObject([
      { type: 'slot.reclaim', slotId: 'slot/0', requestId: 'p0', reason: { code: 'closed' } },
      { type: 'timer.set' },
    ]);
    expect(pool.tell({ type: 'slot.ready', slotId: 'slot/0' })).toMatchObject([
      { type: 'slot.assign', slotId: 'slot/0', requestId: 'p1' },
    ]);
  });

  test('that waits longest is first, and one that lost its environment keeps its place', () => {
    const pool = new Pool({ slots: { box: 1 } });
    const { requestId, slotId } = pool.housed();
    pool.request();
    const again = pool.tell({ type: 'slot.failed', slotId });
    expect(types(again)).toContain('slot.prewarm');
    expect(only(pool.answer(again), 'slot.assign')).toMatchObject([
      { requestId, reason: { code: 'retry', failures: 1, budget: 2 } },
    ]);
  });

  test('whose environments fail too often is told so', () => {
    const pool = new Pool({ slots: { box: 1 }, retries: 1 });
    let { slotId } = pool.housed();
    const again = pool.answer(pool.tell({ type: 'slot.failed', slotId }));
    slotId = only(again, 'slot.assign')[0]!.slotId;
    expect(only(pool.tell({ type: 'slot.failed', slotId }), 'slot.denied')).toMatchObject([
      { requestId: 'p0', reason: { code: 'failed', failures: 2, budget: 1 } },
    ]);
  });

  test('that is closed while it waits leaves the line; one without an environment is of no concern', () => {
    const pool = new Pool();
    pool.request();
    expect(only(pool.close('p0'), 'slot.denied')).toMatchObject([{ requestId: 'p0', reason: { code: 'closed' } }]);
    // A request that comes after the end has crossed it: nobody would ever close the program again.
    expect(pool.request('p0')).toMatchObject([{ type: 'slot.denied', reason: { code: 'closed' } }]);
    expect([pool.close('p0'), pool.tool('other'), pool.answered('other')]).toEqual([[], [], []]);
  });

  test('of a kind that has no slots is told so at once, also when they are taken away', () => {
    const pool = new Pool();
    expect(pool.request('p', 'other')).toMatchObject([{ type: 'slot.denied', reason: { code: 'no_slots' } }]);
    pool.request('q');
    const told = pool.tell({ type: 'slots.changed', environment: 'box', slots: 0 });
    expect(types(told)).toEqual(['slot.denied', 'slot.reclaim', 'timer.set']);
  });

  test('asks once, and has one tool at a time', () => {
    const pool = new Pool();
    const { requestId } = pool.housed();
    pool.refuses({ type: 'slot.requested', at: 0, requestId, environment: 'box' }, 'duplicate_id', 'requestId');
    pool.tool(requestId);
    pool.refuses({ type: 'tool.started', at: 0, requestId, tool: 'bash' }, 'out_of_order', 'requestId');
  });
});

describe('a tool', () => {
  test('that never answers gives its slot back, and its late answer changes nothing (11 of 32 slots held for 7.5 h)', () => {
    const pool = new Pool({ slots: { box: 32 } });
    const all = Array.from({ length: 32 }, () => pool.housed());
    // Each tool has answered once, in 20 s.
    for (const { requestId } of all) pool.tool(requestId);
    pool.wait(20);
    for (const { requestId } of all) pool.answered(requestId);
    const hung = all.slice(0, 11);
    for (const { requestId } of hung) pool.tool(requestId);
    for (const { requestId } of all.slice(11)) pool.close(requestId);
    const before = pool.at;
    // A new program for each environment: 21 get one now, and 11 when the tools' time is over.
    for (const { slotId } of all.slice(11)) pool.tell({ type: 'slot.released', slotId });
    const ends = only(pool.pass(120), 'slot.reclaim').filter(({ reason }) => reason.code === 'tool_timeout');
    expect(ends.map(({ requestId }) => requestId).sort()).toEqual(hung.map(({ requestId }) => requestId).sort());
    expect(ends[0]!.reason).toEqual({ code: 'tool_timeout', tool: 'bash', waitedSeconds: 80, limitSeconds: 80 });
    expect(ends.every(({ at }) => at === before + 80)).toBe(true);
    expect(pool.answered(hung[0]!.requestId)).toEqual([]);
  });

  test('may take λ times its longest answer, at least Tmin, at most Tmax; Tmax while it has not answered', () => {
    const pool = new Pool();
    const { requestId } = pool.housed();
    const limitOf = (event: object): number => {
      pool.tell({ type: 'tool.started', requestId, ...event });
      const { slots } = (pool.policy.snapshot() as { state: { slots: { tool: { limitSeconds: number } }[] } }).state;
      return slots[0]!.tool.limitSeconds;
    };
    expect(limitOf({ tool: 'bash' })).toBe(1800);
    pool.wait(5).answered(requestId);
    expect(limitOf({ tool: 'bash' })).toBe(60);
    pool.wait(40).answered(requestId, 'error');
    expect(limitOf({ tool: 'bash' })).toBe(160);
    // One that the host has stopped is no answer.
    pool.wait(100).answered(requestId, 'timeout');
    expect(limitOf({ tool: 'bash' })).toBe(160);
    pool.answered(requestId);
    expect(limitOf({ tool: 'bash', expectedSeconds: 100 })).toBe(400);
    pool.answered(requestId);
    expect(limitOf({ tool: 'bash', expectedSeconds: 1e6 })).toBe(1800);
    pool.answered(requestId);
    expect(limitOf({ tool: 'other' })).toBe(1800);
  });

  test('gets Tmax now and then, so that its limit can rise', () => {
    const pool = new Pool({ slots: { box: 1 }, toolExploreEvery: 2 });
    const { requestId } = pool.housed();
    const dues = [1, 2, 3].map(() => {
      pool.tool(requestId);
      const { slots } = (pool.policy.snapshot() as { state: { slots: { due: number }[] } }).state;
      pool.answered(requestId);
      return slots[0]!.due;
    });
    expect(dues).toEqual([1800, 60, 1800]);
  });

  test('is found overdue by any event, where the host lets no timer fire', () => {
    const pool = new Pool();
    const { requestId } = pool.housed();
    pool.tool(requestId);
    pool.wait(1800);
    expect(only(pool.request(), 'slot.reclaim')).toMatchObject([{ requestId, reason: { code: 'tool_timeout' } }]);
  });
});

describe('starts', () => {
  /** Programs that come every 2 s and stay for a minute, with starts of 10 s. Returns for each whether it waited for a start. */
  function steady(pool: Pool, programs: number): boolean[] {
    const due = Array.from({ length: programs }, (_, count) => ({
      at: 2 * count,
      event: { type: 'slot.requested', requestId: `r${count}`, environment: 'box' } as object,
    }));
    const waited: boolean[] = [];
    const handle = (decisions: readonly VocabularyDecision[]): void => {
      const later = (seconds: number, event: object): void => void due.push({ at: pool.at + seconds, event });
      for (const { slotId } of only(decisions, 'slot.prewarm')) later(10, { type: 'slot.ready', slotId });
      for (const { slotId } of only(decisions, 'slot.reclaim')) later(1, { type: 'slot.released', slotId });
      for (const { requestId, reason } of only(decisions, 'slot.assign')) {
        waited.push(reason.code === 'oldest' && reason.waitedSeconds > 0);
        later(60, { type: 'program.closed', requestId });
      }
    };
    while (due.length > 0) {
      due.sort((a, b) => a.at - b.at);
      const next = due.shift()!;
      handle(pool.pass(Math.max(0, next.at - pool.at)));
      handle(pool.tell(next.event));
    }
    return waited;
  }

  test('are ahead of steady demand: after five times the time of a start, no program waits', () => {
    const pool = new Pool({ slots: { box: 64 } });
    pool.restoresFirst = false;
    const waited = steady(pool, 200);
    expect(waited.slice(0, 20).every(Boolean)).toBe(true);
    expect(waited.slice(60).filter(Boolean)).toEqual([]);
    const { slots } = (pool.policy.snapshot() as { state: { slots: unknown[] } }).state;
    expect(slots.length).toBeLessThan(12);
  });

  test('never exceed the slots, however many programs wait', () => {
    const pool = new Pool({ slots: { box: 3 } });
    const starts = Array.from({ length: 10 }, () => only(pool.request(), 'slot.prewarm').length);
    expect(starts.reduce((sum, one) => sum + one)).toBe(3);
  });

  test('that hang are given up, and count as failures', () => {
    const pool = new Pool({ slots: { box: 1 }, suspendAfter: 1 });
    pool.request();
    const told = pool.pass(600);
    expect(types(told)).toEqual(['slot.reclaim', 'slots.suspended', 'timer.set']);
    expect(told[0]).toMatchObject({ reason: { code: 'start_timeout', waitedSeconds: 600, limitSeconds: 600 } });
    // It was ready after all: that report has crossed the end.
    expect(pool.tell({ type: 'slot.ready', slotId: 'slot/0' })).toEqual([]);
    expect(types(pool.pass(60))).toContain('slot.expired');
  });

  test('of idle environments that are not needed any more end; those that pay between bursts are kept', () => {
    const pool = new Pool({ slots: { box: 8 } });
    const burst = (): number => {
      let cold = 0;
      for (let count = 0; count < 8; count += 1) {
        const starts = only(pool.request(), 'slot.prewarm');
        cold += starts.length;
        pool.wait(1).answer(starts);
      }
      while (pool.boxes.size > 0) {
        const [[requestId, slotId] = ['', '']] = pool.boxes;
        pool.close(requestId);
        pool.boxes.delete(requestId);
        pool.tell({ type: 'slot.ready', slotId });
      }
      pool.pass(200);
      return cold;
    };
    const colds = Array.from({ length: 6 }, burst);
    // The first burst finds none, the second tells that keeping them would have paid, and from the fourth on they are there.
    expect(colds[0]).toBeGreaterThan(6);
    expect(colds.slice(3)).toEqual([0, 0, 0]);
    // Nobody comes: none is kept for ever.
    pool.pass(5000);
    expect((pool.policy.snapshot() as { state: { slots: unknown[] } }).state.slots).toEqual([]);
  });
});

describe('a kind whose environments fail', () => {
  test('is suspended still after its slots were taken away and came back', () => {
    const pool = new Pool({ slots: { box: 1 }, suspendAfter: 1, retrySeconds: 300, maxRetrySeconds: 600, retries: 0 });
    pool.request('a');
    expect(types(pool.tell({ type: 'slot.failed', slotId: 'slot/0' }))).toContain('slots.suspended');
    pool.tell({ type: 'slots.changed', environment: 'box', slots: 0 });
    expect(types(pool.tell({ type: 'slots.changed', environment: 'box', slots: 1 }))).toEqual([]);
    expect(types(pool.request('b'))).toEqual([]);
    expect(only(pool.pass(300), 'slot.prewarm')).toMatchObject([{ reason: { code: 'trial' } }]);
  });

  /** Fails every start until none is asked for. */
  function failAll(pool: Pool, decisions: readonly VocabularyDecision[]): VocabularyDecision[] {
    const all = [...decisions];
    for (let todo = decisions; only(todo, 'slot.prewarm').length > 0; ) {
      todo = pool.answer(todo, 'slot.failed');
      all.push(...todo);
    }
    return all;
  }

  test('is suspended, tried after growing times, and its programs are told after a trial has failed', () => {
    const pool = new Pool({ slots: { box: 4 } });
    const all = failAll(pool, pool.request());
    expect(only(all, 'slot.prewarm').length).toBe(5);
    expect(only(all, 'slots.suspended')).toMatchObject([
      { reason: { code: 'failing', failures: 5, retrySeconds: 10 } },
    ]);
    expect(pool.request()).toEqual([]);
    const trial = pool.pass(10);
    expect(trial).toMatchObject([
      { type: 'slot.prewarm', reason: { code: 'trial', failures: 5 } },
      { type: 'timer.set' },
    ]);
    const told = pool.answer(trial, 'slot.failed');
    expect(types(told)).toEqual(['slots.suspended', 'slot.denied', 'slot.denied']);
    expect(told[0]).toMatchObject({ reason: { failures: 6, retrySeconds: 20 } });
    expect(told[1]).toMatchObject({ requestId: 'p0', reason: { code: 'failing', failures: 6, retrySeconds: 20 } });
    // Nobody waits, so nothing is tried.
    expect(pool.pass(100)).toEqual([]);
    const again = pool.request();
    expect(again).toMatchObject([{ type: 'slot.prewarm', reason: { code: 'trial' } }]);
    expect(pool.wait(4).answer(again)).toMatchObject([
      { type: 'slots.recovered', reason: { code: 'started', suspendedSeconds: 114 } },
      { type: 'slot.assign' },
    ]);
  });

  test('after its start, in the hands of programs, is suspended as well; what has worked once does not count', () => {
    const pool = new Pool({ slots: { box: 1 }, suspendAfter: 2, retries: 0 });
    const one = pool.housed();
    pool.tell({ type: 'slot.failed', slotId: one.slotId });
    const two = pool.housed();
    expect(types(pool.tell({ type: 'slot.failed', slotId: two.slotId }))).toEqual(['slot.denied', 'slots.suspended']);
    pool.request();
    const trial = pool.pass(10);
    const three = only(pool.answer(trial), 'slot.assign')[0]!;
    pool.tool(three.requestId);
    pool.answered(three.requestId);
    expect(types(pool.tell({ type: 'slot.failed', slotId: three.slotId }))).toEqual(['slot.denied']);
  });

  test('does not hold up another kind', () => {
    const pool = new Pool({ slots: { box: 1, good: 1 }, suspendAfter: 1 });
    failAll(pool, pool.request());
    expect(types(pool.request('q', 'good'))).toContain('slot.prewarm');
  });
});

describe('reports', () => {
  test('about an environment that is gone are late, about one that never was are refused', () => {
    const pool = new Pool();
    const { slotId, requestId } = pool.housed();
    pool.close(requestId);
    pool.tell({ type: 'slot.released', slotId });
    for (const type of ['slot.ready', 'slot.failed', 'slot.released'] as const)
      expect(pool.tell({ type, slotId })).toMatchObject([{ type: 'slot.late', slotId }]);
    pool.refuses({ type: 'slot.ready', at: 0, slotId: 'slot/99' }, 'unknown_id', 'slotId');
    pool.refuses({ type: 'timer.fired', at: 0, timerId: 'other' }, 'unknown_id', 'timerId');
  });

  test('of a restart: environments with programs are named again, at no cost if they are lost; the others are forgotten', () => {
    const pool = new Pool({ slots: { box: 3 }, retries: 0, suspendAfter: 1 });
    const { requestId, slotId } = pool.housed();
    pool.request();
    const told = pool.tell({ type: 'host.restarted', idPrefix: 'b-' });
    expect(told).toMatchObject([
      { type: 'slot.assign', requestId, slotId, reason: { code: 'host_restarted' } },
      { type: 'slot.prewarm', slotId: 'b-slot/2', reason: { code: 'requested' } },
      { type: 'timer.set' },
    ]);
    expect(pool.tell({ type: 'slot.ready', slotId: 'slot/1' })).toMatchObject([{ type: 'slot.late' }]);
    const lost = pool.tell({ type: 'slot.failed', slotId });
    expect(types(lost)).toEqual(['slot.prewarm']);
    expect(only(pool.answer(lost), 'slot.assign')).toMatchObject([{ requestId, reason: { code: 'oldest' } }]);
    pool.refuses({ type: 'host.restarted', at: 0, idPrefix: 'b-' }, 'duplicate_id', 'idPrefix');
  });

  test('of fewer slots end what has no program, and the others with their programs', () => {
    const pool = new Pool({ slots: { box: 3 } });
    const [a] = [pool.housed(), pool.housed()];
    pool.request();
    expect(types(pool.tell({ type: 'slots.changed', environment: 'box', slots: 1 }))).toEqual([
      'slot.reclaim',
      'timer.set',
    ]);
    pool.close(a!.requestId);
    expect(only(pool.tell({ type: 'slot.ready', slotId: a!.slotId }), 'slot.reclaim')).toMatchObject([
      { reason: { code: 'fewer', slots: 1 } },
    ]);
  });

  test('why a program waits names the environments of its kind', () => {
    const pool = new Pool({ slots: { box: 1 } });
    pool.housed();
    pool.request('late');
    expect(pool.why('late').join('\n')).toContain('program.closed');
  });
});

describe('a damaged snapshot is refused, with the place', () => {
  interface Saved {
    state: {
      slots: { environment: string; requestId: string | null; status: string }[];
      programs: { requestId: string; environment: string }[];
    };
  }
  /** Two programs, of which the first has an environment. */
  function damaged(change: (state: Saved['state']) => void): unknown {
    const pool = new Pool({ slots: { box: 1 } });
    pool.housed();
    pool.request();
    const snapshot = JSON.parse(JSON.stringify(pool.policy.snapshot())) as Saved;
    change(snapshot.state);
    return refusal(() => create(environmentSlots, { snapshot }));
  }

  test.each<[string, string, (state: Saved['state']) => void]>([
    [
      'snapshot.state.slots[0].environment',
      'an environment of no kind',
      ({ slots }) => (slots[0]!.environment = 'other'),
    ],
    ['snapshot.state.slots[0].requestId', 'a program of an idle one', ({ slots }) => (slots[0]!.status = 'idle')],
    ['snapshot.state.slots[0].requestId', 'none of a busy one', ({ slots }) => (slots[0]!.requestId = null)],
    ['snapshot.state.slots[0].requestId', 'one that is not there', ({ slots }) => (slots[0]!.requestId = 'other')],
    [
      'snapshot.state.slots[1].requestId',
      'one that has another',
      ({ slots }) => slots.push({ ...slots[0]!, id: 'slot/9' } as never),
    ],
    [
      'snapshot.state.programs[1].environment',
      'a program of no kind',
      ({ programs }) => (programs[1]!.environment = 'other'),
    ],
  ])('%s: %s', (path, _, change) => {
    expect(damaged(change)).toMatchObject({ code: 'snapshot_mismatch', path });
  });
});

test('a timer that never fires is set again by the next event', () => {
  const pool = new Session(create(environmentSlots, { slots: { box: 2 }, maxStartSeconds: 100 }) as never);
  const ask = (requestId: string) =>
    only(pool.send({ type: 'slot.requested', requestId, environment: 'box' }), 'timer.set');
  const [first] = ask('a');
  pool.send({ type: 'slot.ready', slotId: 'slot/0' });
  pool.at = first!.fireAtSeconds + 5;
  expect(ask('b').map(({ fireAtSeconds }) => fireAtSeconds)).toEqual([pool.at + 100]);
});
