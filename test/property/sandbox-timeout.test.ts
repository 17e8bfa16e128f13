/** The invariants of sandbox-timeout, by their numbers in its README, under random events and restored snapshots. */

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { arbitrary } from '../../src/policies/sandbox-timeout/arbitrary.ts';
import {
  type SandboxTimeoutConfig,
  type SandboxTimeoutDecision,
  type SandboxTimeoutEvent,
  sandboxTimeout,
} from '../../src/policies/sandbox-timeout/index.ts';
import type { TimeoutEstimate } from '../../src/schemas/index.ts';
import { tapes } from '../../src/testing/index.ts';
import { playEvents } from '../support/basics/play-events.ts';
import { runs } from '../support/basics/runs.ts';
import { exampleConfigs } from '../support/examples/configs.ts';

type Decision<T extends SandboxTimeoutDecision['type']> = Extract<SandboxTimeoutDecision, { type: T }>;
type Event<T extends SandboxTimeoutEvent['type']> = Extract<SandboxTimeoutEvent, { type: T }>;

interface Flight {
  readonly testCaseId: string;
  readonly anchor: number | undefined;
  readonly timeout: number;
  readonly explores: boolean;
}

interface Past extends Flight {
  readonly anchor: number;
  readonly outcome: string;
  readonly seconds: number;
}

/** The formula of the paper, written again. */
function formula(config: SandboxTimeoutConfig, factor: number, anchor: number): number {
  const stretched = Math.max(config.minTimeoutSeconds, factor * anchor);
  return stretched === 0 ? config.maxTimeoutSeconds : Math.min(stretched, config.maxTimeoutSeconds);
}

/** What was sent and told, kept without any bound or thrift. */
class Model {
  readonly config: SandboxTimeoutConfig;
  readonly flying = new Map<string, Flight>();
  readonly ended = new Set<string>();
  /** Solved test cases in the order of use, with their correct runs. */
  solved: { id: string; correct: number[]; sinceTmax: number }[] = [];
  past: Past[] = [];
  forgotten = 0;

  constructor(config: SandboxTimeoutConfig) {
    this.config = config;
  }

  check(event: SandboxTimeoutEvent, decisions: readonly SandboxTimeoutDecision[]): void {
    switch (event.type) {
      case 'sandbox.requested':
        return this.requested(event, only(decisions, 'sandbox.run'));
      case 'sandbox.finished':
      case 'sandbox.cancelled': {
        const flight = this.flying.get(event.runId);
        if (flight === undefined) {
          expect(this.ended.has(event.runId)).toBe(true);
          expect(only(decisions, 'sandbox.late').runId).toBe(event.runId);
        } else if (event.type === 'sandbox.finished' && event.outcome !== 'infrastructure') {
          this.scored(event, flight, only(decisions, 'sandbox.scored'));
        } else this.unscored(event.runId, only(decisions, 'sandbox.unscored'));
        return;
      }
      case 'host.restarted':
        // Invariant 1: each of them, in the order of the requests.
        expect(decisions.map((one) => (one as Decision<'sandbox.unscored'>).runId)).toEqual([...this.flying.keys()]);
        for (const one of decisions) this.unscored((one as Decision<'sandbox.unscored'>).runId, one as never);
        return;
      case 'sandbox.report.requested':
        return this.reported(only(decisions, 'sandbox.report'));
    }
  }

  requested({ runId, testCaseId }: Event<'sandbox.requested'>, run: Decision<'sandbox.run'>): void {
    const { timeoutFactor, minTimeoutSeconds, maxTimeoutSeconds, exploreEvery } = this.config;
    const known = this.solved.find((one) => one.id === testCaseId);
    const anchor = known && Math.max(...known.correct); // invariant 3
    const explores = run.reason.code === 'exploration';
    if (known !== undefined) {
      this.solved = [...this.solved.filter((one) => one !== known), known];
      known.sinceTmax = explores ? 0 : known.sinceTmax + 1;
      if (exploreEvery > 0)
        expect(known.sinceTmax).toBeLessThan(exploreEvery); // invariant 5
      else expect(explores).toBe(false);
    }
    // Invariant 2.
    const isTmax = anchor === undefined || explores;
    expect(run.timeoutSeconds).toBe(isTmax ? maxTimeoutSeconds : formula(this.config, timeoutFactor, anchor));
    expect(run.timeoutSeconds).toBeGreaterThanOrEqual(minTimeoutSeconds);
    expect(run.timeoutSeconds).toBeLessThanOrEqual(maxTimeoutSeconds);
    expect(run.reason.code === 'no_anchor').toBe(anchor === undefined);
    this.flying.set(runId, { testCaseId, anchor, timeout: run.timeoutSeconds, explores });
  }

  scored(
    { runId, outcome, seconds }: Event<'sandbox.finished'>,
    flight: Flight,
    told: Decision<'sandbox.scored'>,
  ): void {
    this.end(runId);
    expect([told.runId, told.reason.code, told.score]).toEqual([runId, outcome, outcome === 'correct' ? 1 : 0]); // invariant 4
    if (flight.anchor !== undefined) {
      this.past = [...this.past, { ...flight, anchor: flight.anchor, outcome, seconds }].slice(
        -this.config.historyRuns,
      );
    }
    if (outcome !== 'correct') return;
    const known = this.solved.find((one) => one.id === flight.testCaseId);
    if (known === undefined) this.solved.push({ id: flight.testCaseId, correct: [seconds], sinceTmax: 0 });
    else known.correct.push(seconds);
    if (this.solved.length <= this.config.maxTestCases) return;
    this.solved.shift(); // invariant 6: the one used longest ago
    this.forgotten += 1;
  }

  unscored(runId: string, told: Decision<'sandbox.unscored'>): void {
    expect([told.type, told.runId]).toEqual(['sandbox.unscored', runId]);
    const { explores, testCaseId } = this.flying.get(runId)!;
    this.end(runId);
    const known = this.solved.find((one) => one.id === testCaseId);
    if (explores && known !== undefined) known.sinceTmax = this.config.exploreEvery - 1; // the next one explores
  }

  end(runId: string): void {
    expect(this.flying.delete(runId)).toBe(true); // invariant 1
    this.ended.add(runId);
  }

  /** Invariant 7. */
  reported(report: Decision<'sandbox.report'>): void {
    expect([report.runs, report.testCases, report.forgottenTestCases]).toEqual([
      this.past.length,
      this.solved.length,
      this.forgotten,
    ]);
    for (const one of report.estimates) expect(one).toEqual(this.estimate(one.timeoutFactor));
    const byFactor = [...report.estimates].sort((a, b) => a.timeoutFactor - b.timeoutFactor);
    byFactor.slice(1).forEach((one, index) => {
      expect(one.correctKilled).toBeLessThanOrEqual(byFactor[index]!.correctKilled);
      expect(one.exploredKilled).toBeLessThanOrEqual(one.correctKilled);
    });
  }

  estimate(timeoutFactor: number): TimeoutEstimate {
    const limits = this.past.map((run) => formula(this.config, timeoutFactor, run.anchor));
    const killed = this.past.filter((run, index) => run.outcome === 'correct' && run.seconds > limits[index]!);
    return {
      timeoutFactor,
      correctKilled: killed.length,
      exploredKilled: killed.filter((run) => run.explores).length,
      unknown: this.past.filter((run, index) => run.outcome === 'timeout' && run.timeout < limits[index]!).length,
      runSeconds: this.past.reduce(
        (sum, run, index) => sum + (run.outcome === 'timeout' ? limits[index]! : Math.min(run.seconds, limits[index]!)),
        0,
      ),
    };
  }

  /** Invariants 1, 3 and 6: what is held is what the model holds. */
  compareWith(saved: { anchors: [string, number, number][]; runs: { runId: string }[]; history: unknown[] }): void {
    expect(saved.runs.map((one) => one.runId)).toEqual([...this.flying.keys()]);
    const anchors = this.solved.map((one) => [one.id, Math.max(...one.correct)]);
    expect(saved.anchors.map(([id, seconds]) => [id, seconds])).toEqual(anchors);
    expect(saved.anchors.length).toBeLessThanOrEqual(this.config.maxTestCases);
    expect(saved.history.length).toBe(this.past.length);
  }
}

function only<T extends SandboxTimeoutDecision['type']>(
  decisions: readonly SandboxTimeoutDecision[],
  type: T,
): Decision<T> {
  expect(decisions.map((one) => one.type)).toEqual([type]);
  return decisions[0] as Decision<T>;
}

const seen = new Map<string, number>();

function run(config: Record<string, unknown>, tape: readonly number[]): void {
  const model = new Model(sandboxTimeout.config.parse(config));
  const saw = (code: string): unknown => seen.set(code, (seen.get(code) ?? 0) + 1);
  playEvents(
    sandboxTimeout,
    arbitrary,
    { config, tape, steps: 120 },
    (event, decisions, policy) => {
      for (const { reason } of decisions) saw(reason.code);
      model.check(event, decisions);
      model.compareWith(policy.snapshot().state as never);
    },
    saw,
  );
}

describe('sandbox-timeout', () => {
  const configs = [...exampleConfigs['sandbox-timeout']!, { exploreEvery: 1 }, { maxTestCases: 2, historyRuns: 20 }];

  test.each(configs.map((config) => [JSON.stringify(config), config] as const))(
    'invariants 1 to 7 hold with %s',
    (_name, config) => {
      fc.assert(
        fc.property(tapes(), (tape) => run(config, tape)),
        runs(100),
      );
    },
  );

  test('every reason was met on the way', () => {
    const decisions = sandboxTimeout.decisions.flatMap((message) => message.reasons);
    const missing = [...decisions, 'unknown_id', 'duplicate_id'].filter((code) => (seen.get(code) ?? 0) < 10);
    expect(missing).toEqual([]);
  });
});
