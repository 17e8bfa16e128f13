/** The invariants of environment-slots, by their numbers in its README, under random events and restored snapshots. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { arbitrary } from '../../src/policies/environment-slots/arbitrary.ts';
import {
  type EnvironmentSlotsConfig,
  type EnvironmentSlotsDecision,
  type EnvironmentSlotsEvent,
  environmentSlots,
} from '../../src/policies/environment-slots/index.ts';
import { tapes } from '../../src/testing/index.ts';
import { playEvents } from '../support/basics/play-events.ts';
import { runs } from '../support/basics/runs.ts';
import { exampleConfigs } from '../support/examples/configs.ts';

type Decision<T extends EnvironmentSlotsDecision['type']> = Extract<EnvironmentSlotsDecision, { type: T }>;

interface Box {
  readonly kind: string;
  status: 'starting' | 'idle' | 'busy' | 'ending' | 'stopping';
  requestId: string | undefined;
  isTrial: boolean;
  health: 'new' | 'proven' | 'restarted';
  tool: { name: string; startedAt: number; expected: number } | undefined;
}
interface Asked {
  readonly kind: string;
  readonly order: number;
  failures: number;
  boxId: string | undefined;
}
interface Breaker {
  failures: number;
  retrySeconds: number;
  suspendedUntil: number | undefined;
}

/** What was sent and told, with lists that are searched. */
class Model {
  readonly config: EnvironmentSlotsConfig;
  readonly slots: Map<string, number>;
  readonly boxes = new Map<string, Box>();
  readonly programs = new Map<string, Asked>();
  readonly closed = new Set<string>();
  readonly breakers = new Map<string, Breaker>();
  /** Longest answer of each tool. */
  readonly longest = new Map<string, number>();
  order = 0;
  timerAt = Number.POSITIVE_INFINITY;

  constructor(config: EnvironmentSlotsConfig) {
    this.config = config;
    this.slots = new Map(Object.entries(config.slots));
  }

  breaker(kind: string): Breaker {
    const fresh = { failures: 0, retrySeconds: this.config.retrySeconds, suspendedUntil: undefined };
    if (!this.breakers.has(kind)) this.breakers.set(kind, fresh);
    return this.breakers.get(kind)!;
  }

  of(kind: string, ...statuses: Box['status'][]): Box[] {
    return [...this.boxes.values()].filter((one) => one.kind === kind && statuses.includes(one.status));
  }

  waiting(kind: string): [string, Asked][] {
    const all = [...this.programs].filter(([, one]) => one.kind === kind && one.boxId === undefined);
    return all.sort(([, a], [, b]) => a.order - b.order);
  }

  proved(box: Box): void {
    const { health } = box;
    box.health = 'proven';
    if (health !== 'new' || this.breaker(box.kind).suspendedUntil !== undefined) return;
    Object.assign(this.breaker(box.kind), { failures: 0, retrySeconds: this.config.retrySeconds });
  }

  /** Takes in an event, before its decisions. */
  sent(event: EnvironmentSlotsEvent, at: number): void {
    switch (event.type) {
      case 'slots.changed':
        this.slots.set(event.environment, event.slots);
        return;
      case 'slot.requested':
        this.programs.set(event.requestId, {
          kind: event.environment,
          order: this.order++,
          failures: 0,
          boxId: undefined,
        });
        return;
      case 'slot.ready': {
        const box = this.boxes.get(event.slotId);
        if (box?.status === 'starting' || box?.status === 'ending')
          Object.assign(box, { status: 'idle', isTrial: false });
        return;
      }
      case 'slot.failed':
      case 'slot.released':
        return this.gone(event);
      case 'program.closed': {
        this.closed.add(event.requestId);
        const boxId = this.programs.get(event.requestId)?.boxId;
        if (boxId !== undefined) this.proved(this.boxes.get(boxId)!);
        return;
      }
      case 'tool.started': {
        const boxId = this.programs.get(event.requestId)?.boxId;
        if (boxId === undefined) return;
        this.boxes.get(boxId)!.tool = { name: event.tool, startedAt: at, expected: event.expectedSeconds ?? 0 };
        return;
      }
      case 'tool.finished': {
        const box = this.boxes.get(this.programs.get(event.requestId)?.boxId ?? '');
        if (box?.tool === undefined) return;
        const { name, startedAt } = box.tool;
        if (event.outcome !== 'timeout') this.longest.set(name, Math.max(this.longest.get(name) ?? 0, at - startedAt));
        box.tool = undefined;
        this.proved(box);
        return;
      }
      case 'timer.fired':
        this.timerAt = Number.POSITIVE_INFINITY;
        return;
      case 'host.restarted':
        this.timerAt = Number.POSITIVE_INFINITY;
        this.breakers.clear();
        for (const [id, box] of this.boxes) {
          if (box.status === 'busy') Object.assign(box, { health: 'restarted', tool: undefined });
          else this.boxes.delete(id);
        }
    }
  }

  gone({ type, slotId }: { type: string; slotId: string }): void {
    const box = this.boxes.get(slotId);
    if (box === undefined) return;
    this.boxes.delete(slotId);
    if (type === 'slot.failed' && box.health === 'new' && !box.status.endsWith('ing'))
      this.breaker(box.kind).failures += 1;
    if (type === 'slot.failed' && box.status === 'starting') this.breaker(box.kind).failures += 1;
    if (box.requestId === undefined) return;
    const program = this.programs.get(box.requestId)!;
    program.boxId = undefined;
    if (box.health !== 'restarted') program.failures += 1;
  }

  told(decision: EnvironmentSlotsDecision, at: number): void {
    switch (decision.type) {
      case 'slot.prewarm':
        return this.started(decision, at);
      case 'slot.assign':
        return this.assigned(decision);
      case 'slot.reclaim':
        return this.reclaimed(decision, at);
      case 'slot.denied':
        if (decision.reason.code === 'closed') expect(this.closed.has(decision.requestId)).toBe(true);
        // Invariant 1.
        expect(this.programs.get(decision.requestId)?.boxId).toBe(undefined);
        expect(this.programs.delete(decision.requestId)).toBe(true);
        return;
      case 'slots.suspended': {
        // Invariant 5: the times double, up to the longest.
        const breaker = this.breaker(decision.environment);
        expect(decision.reason).toEqual({
          code: 'failing',
          failures: breaker.failures,
          retrySeconds: Math.min(this.config.maxRetrySeconds, breaker.retrySeconds),
        });
        expect(breaker.failures).toBeGreaterThanOrEqual(this.config.suspendAfter);
        breaker.retrySeconds *= 2;
        breaker.suspendedUntil = at + decision.reason.retrySeconds;
        return;
      }
      case 'slots.recovered': {
        const breaker = this.breaker(decision.environment);
        breaker.suspendedUntil = undefined;
        if (decision.reason.code === 'started') breaker.failures = this.config.suspendAfter - 1;
        return;
      }
      case 'slot.expired':
        expect(this.boxes.get(decision.slotId)?.status).toMatch(/ending|stopping/);
        this.boxes.delete(decision.slotId);
        return;
      case 'slot.late':
        expect(this.boxes.has(decision.slotId)).toBe(false);
        return;
      case 'timer.set':
        this.timerAt = decision.fireAtSeconds;
    }
  }

  started({ slotId, environment: kind, reason }: Decision<'slot.prewarm'>, at: number): void {
    const { suspendedUntil } = this.breaker(kind);
    expect((suspendedUntil === undefined) === (reason.code !== 'trial')).toBe(true); // invariant 5
    if (reason.code === 'trial') {
      expect(at).toBeGreaterThanOrEqual(suspendedUntil!);
      expect(this.of(kind, 'starting')).toEqual([]);
    }
    // Invariant 7.
    const ahead = this.of(kind, 'starting', 'idle').length;
    const wanted = this.waiting(kind).length + (reason.code === 'predicted' ? reason.expected : 0);
    expect(ahead).toBeLessThan(wanted);
    expect(this.boxes.has(slotId)).toBe(false);
    const isTrial = reason.code === 'trial';
    this.boxes.set(slotId, { kind, status: 'starting', requestId: undefined, isTrial, health: 'new', tool: undefined });
    // Invariant 2.
    const all = [...this.boxes.values()].filter((one) => one.kind === kind);
    expect(all.length).toBeLessThanOrEqual(this.slots.get(kind)!);
  }

  assigned({ slotId, requestId, environment, reason }: Decision<'slot.assign'>): void {
    const box = this.boxes.get(slotId)!;
    if (reason.code === 'host_restarted') {
      expect([box.status, box.requestId]).toEqual(['busy', requestId]);
      return;
    }
    // Invariants 1 and 3.
    expect([box.status, box.kind, environment]).toEqual(['idle', environment, box.kind]);
    expect(this.waiting(environment)[0]![0]).toBe(requestId);
    const program = this.programs.get(requestId)!;
    expect(program.failures).toBe(reason.code === 'retry' ? reason.failures : 0);
    expect(program.failures).toBeLessThanOrEqual(this.config.retries);
    program.boxId = slotId;
    Object.assign(box, { status: 'busy', requestId });
  }

  reclaimed({ slotId, requestId, reason }: Decision<'slot.reclaim'>, at: number): void {
    const box = this.boxes.get(slotId)!;
    expect(box.requestId).toBe(requestId);
    if (requestId !== undefined) expect(this.programs.delete(requestId)).toBe(true); // invariant 1
    if (reason.code === 'tool_timeout') {
      const { minToolTimeoutSeconds, maxToolTimeoutSeconds, toolTimeoutFactor: factor } = this.config;
      const { name, startedAt, expected } = box.tool!;
      // Invariant 4; the longest answer may have grown since the tool has started.
      expect(reason).toMatchObject({ tool: name, waitedSeconds: at - startedAt });
      expect(reason.waitedSeconds).toBeGreaterThanOrEqual(reason.limitSeconds);
      expect(reason.limitSeconds).toBeGreaterThanOrEqual(Math.min(maxToolTimeoutSeconds, factor * expected));
      expect(reason.limitSeconds).toBeGreaterThanOrEqual(minToolTimeoutSeconds);
      expect(reason.limitSeconds).toBeLessThanOrEqual(maxToolTimeoutSeconds);
      if (!this.longest.has(name)) expect(reason.limitSeconds).toBe(maxToolTimeoutSeconds);
    }
    if (reason.code === 'start_timeout') this.breaker(box.kind).failures += 1;
    const status = box.status === 'starting' ? 'stopping' : 'ending';
    Object.assign(box, { status, requestId: undefined, tool: undefined });
  }

  /** What holds after every event. */
  check(
    at: number,
    saved: { slots: { id: string; status: string; due: number | null }[]; programs: { requestId: string }[] },
  ): void {
    expect(new Set(saved.programs.map((one) => one.requestId))).toEqual(new Set(this.programs.keys()));
    expect(new Map(saved.slots.map((one) => [one.id, one.status]))).toEqual(
      new Map([...this.boxes].map(([id, one]) => [id, one.status])),
    );
    for (const [kind, slots] of this.slots) {
      const waiting = this.waiting(kind).length;
      const [idle, starting] = [this.of(kind, 'idle').length, this.of(kind, 'starting').length];
      if (waiting > 0) expect([idle, slots > 0]).toEqual([0, true]); // invariant 3
      const total = [...this.boxes.values()].filter((one) => one.kind === kind).length;
      const { suspendedUntil } = this.breaker(kind);
      const isFull = total >= slots;
      // Invariant 7: what waits is served if it can be.
      if (suspendedUntil === undefined && !isFull) expect(starting).toBeGreaterThanOrEqual(waiting);
      if (waiting > 0 && suspendedUntil !== undefined && !isFull && starting === 0) {
        expect(suspendedUntil).toBeGreaterThan(at);
        expect(this.timerAt).toBeLessThanOrEqual(suspendedUntil);
      }
    }
    // Invariant 6: only programs without a tool that runs are not limited in time, and the timer is set.
    for (const one of saved.slots) {
      if (one.due === null) expect([one.status, this.boxes.get(one.id)!.tool]).toEqual(['busy', undefined]);
      else {
        expect(one.due).toBeGreaterThan(at);
        expect(this.timerAt).toBeLessThanOrEqual(one.due);
      }
    }
  }
}

const seen = new Map<string, number>();

function run(config: Record<string, unknown>, tape: readonly number[]): void {
  const model = new Model(environmentSlots.config.parse(config));
  const saw = (what: string): unknown => seen.set(what, (seen.get(what) ?? 0) + 1);
  playEvents(
    environmentSlots,
    arbitrary,
    { config, tape, steps: 100 },
    (event, decisions, policy) => {
      model.sent(event, policy.at);
      for (const one of decisions) {
        if (one.type !== 'timer.set') saw(`${one.type} ${one.reason.code}`);
        model.told(one, policy.at);
      }
      model.check(policy.at, policy.snapshot().state as never);
    },
    saw,
  );
}

describe('environment-slots', () => {
  const configs = [...exampleConfigs['environment-slots']!, { slots: { kind0: 30 } }];

  test.each(configs.map((config) => [JSON.stringify(config), config] as const))(
    'invariants 1 to 7 hold with %s',
    (_name, config) => {
      fc.assert(
        fc.property(tapes(), (tape) => run(config, tape)),
        runs(60),
      );
    },
  );

  test('every reason was met on the way', () => {
    const reasons = environmentSlots.decisions
      .filter(({ type }) => type !== 'timer.set')
      .flatMap(({ type, reasons }) => reasons.map((code) => `${type} ${code}`));
    const missing = [...reasons, 'unknown_id', 'out_of_order'].filter((one) => (seen.get(one) ?? 0) < 2);
    expect(missing).toEqual([]);
  });
});
