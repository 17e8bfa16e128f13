/**
 * A host of reward-dispatch that knows only what it sent and what it was told. Every rule is here once more, as naively
 * as can be: lists that are searched and sorted.
 */
import { expect } from 'vitest';
import type {
  RewardDispatchConfig,
  RewardDispatchDecision,
  RewardDispatchEvent,
} from '../../../src/policies/reward-dispatch/index.ts';

type Kind = 'rule' | 'sandbox' | 'judge';
type EventOf<T extends RewardDispatchEvent['type']> = Extract<RewardDispatchEvent, { type: T }>;
type DecisionOf<T extends RewardDispatchDecision['type']> = Extract<RewardDispatchDecision, { type: T }>;

interface Sample {
  readonly requestId: string;
  readonly promptId: string | undefined;
  roundId: string | undefined;
  /** Whether a completed round named it. */
  final: boolean;
  readonly kind: Kind;
  readonly budgetSeconds: number;
  readonly order: number;
  readonly requestedAt: number;
  /** When it got in line last, and why. */
  since: number;
  cause: string;
  attempts: number;
  waits: boolean;
  failures: number;
  /** When it has failed first, and where last. */
  failedAt?: number;
  failedOn?: string;
  timeouts: number;
}
interface Dispatch {
  readonly id: string;
  readonly sample: Sample;
  readonly worker: Worker;
  readonly dispatchedAt: number;
  deadline: number;
  started: boolean;
  cancelled: boolean;
}
interface Worker {
  readonly id: string;
  readonly kind: Kind;
  slots: number;
  active: boolean;
}

/** From so many lost workers on a response runs alone, and further losses are its own. */
const lossesToSuspect = 3;
const kinds = ['rule', 'sandbox', 'judge'] as const;
const sorted = (ids: Iterable<string>): string[] => [...ids].sort();

export class RewardHost {
  readonly config: RewardDispatchConfig;
  samples: Sample[] = [];
  running: Dispatch[] = [];
  workers: Worker[] = [];
  dispatched = new Set<string>();
  /** Kinds with a failure so far: from then on retries are put off, and single tries are made where dispatches fail. */
  readonly troubled = new Set<Kind>();
  /** Workers and kinds that are suspended. */
  readonly suspended = new Set<string>();
  /** When a worker of each kind has answered last, and about which response. */
  readonly answers: { kind: Kind; requestId: string; at: number }[] = [];
  saturated: Record<Kind, boolean> = { rule: false, sandbox: false, judge: false };
  timerAt: number | undefined;
  #order = 0;

  constructor(config: RewardDispatchConfig) {
    this.config = config;
  }

  /** Compares what was decided with what must be, and remembers it. */
  step(event: RewardDispatchEvent, decisions: readonly RewardDispatchDecision[], at: number): void {
    const expected = this.#sent(event, at);
    for (const decision of decisions) this.#told(decision, expected, at);
    // Everything that had to be said was said.
    expect(sorted(expected.cancelled)).toEqual([]);
    expect(sorted(expected.merged)).toEqual([]);
    expect(expected.ended).toEqual([]);
    for (const kind of kinds) {
      const waiting = this.samples.filter((one) => one.waits && one.kind === kind);
      const isFresh = ({ cause }: Sample) => !this.troubled.has(kind) || cause === 'requested';
      const isIdle = this.#open(kind).some(({ id }) => !this.suspended.has(id)) && !this.suspended.has(kind);
      if (isIdle) expect(waiting.filter(isFresh), 'invariant 4').toEqual([]);
      // What is put off has a timer.
      const isPutOff = waiting.length > 0 && this.#open(kind).length > 0;
      if (isPutOff && !this.running.some(({ sample }) => sample.kind === kind)) {
        expect(this.timerAt, 'invariant 10').toBeDefined();
      }
    }
    const first = Math.min(...this.running.map((one) => one.deadline));
    if (this.running.length > 0) expect(this.timerAt, 'invariant 7').toBeLessThanOrEqual(first);
    if (event.type === 'timer.fired') expect(first, 'invariant 7').toBeGreaterThan(at);
    this.#checkPressure(event, decisions);
  }

  #sent(event: RewardDispatchEvent, at: number): Expected {
    const expected: Expected = { cancelled: new Set(), merged: [], ended: [] };
    switch (event.type) {
      case 'reward.requested':
      case 'reward.request':
      case 'response.accepted':
        this.#wanted(event as EventOf<'reward.requested'>, expected, at);
        break;
      case 'reward-worker.added': {
        const known = this.workers.find((one) => one.id === event.workerId);
        if (known === undefined) {
          this.workers.push({ id: event.workerId, kind: event.kind, slots: event.slots, active: true });
        } else Object.assign(known, { slots: event.slots, active: true });
        break;
      }
      case 'reward-worker.drained':
        this.workers.find((one) => one.id === event.workerId)!.active = false;
        break;
      case 'reward-worker.lost':
        this.workers = this.workers.filter((one) => one.id !== event.workerId);
        for (const one of this.running.filter((other) => other.worker.id === event.workerId)) {
          this.#over(one);
          if (!one.cancelled) this.#fault(one.sample, one.worker, at);
        }
        break;
      case 'host.restarted':
        this.timerAt = undefined;
        for (const one of [...this.running]) {
          this.#over(one);
          if (!one.cancelled) this.#again(one.sample, 'host_restarted', at);
        }
        break;
      case 'timer.fired':
        this.timerAt = undefined;
        break;
      case 'reward.started': {
        const dispatch = this.#running(event.dispatchId);
        if (dispatch === undefined || dispatch.cancelled || dispatch.started) break;
        dispatch.started = true;
        dispatch.deadline = at + dispatch.sample.budgetSeconds + this.config.answerGraceSeconds;
        break;
      }
      case 'reward.finished':
        this.#finished(event, expected, at);
        break;
      default:
        expected.code = cancelCodes[event.type];
        for (const id of this.#unneeded(event)) expected.cancelled.add(id);
    }
    return expected;
  }

  #wanted(event: EventOf<'reward.requested'>, expected: Expected, at: number): void {
    const { requestId, promptId, roundId, domain } = event;
    if (this.samples.some((one) => one.requestId === requestId)) {
      expected.merged.push(requestId);
      return;
    }
    const { kindByDomain = {}, defaultKind, budgetSeconds } = this.config;
    const kind = event.kind ?? (domain === undefined ? undefined : kindByDomain[domain]) ?? defaultKind;
    const budget = event.budgetSeconds ?? budgetSeconds[kind];
    const counts = { final: false, waits: true, failures: 0, timeouts: 0, attempts: 0, order: this.#order++ };
    const times = { requestedAt: at, since: at, cause: 'requested' };
    this.samples.push({ requestId, promptId, roundId, kind, budgetSeconds: budget, ...counts, ...times });
  }

  #finished(event: EventOf<'reward.finished'>, expected: Expected, at: number): void {
    const { dispatchId, outcome, reward, seconds } = event;
    const dispatch = this.#running(dispatchId);
    if (dispatch === undefined) return;
    this.#over(dispatch);
    if (dispatch.cancelled) return;
    const { sample, worker } = dispatch;
    const { attempts, budgetSeconds } = sample;
    if (outcome === 'scored' || outcome === 'timeout') {
      this.answers.push({ kind: sample.kind, requestId: sample.requestId, at });
    }
    const scored = { type: 'reward.scored', sample, workerId: worker.id } as const;
    if (outcome === 'scored') expected.ended.push({ ...scored, reward, reason: { code: 'scored', seconds, attempts } });
    else if (outcome === 'timeout') {
      sample.timeouts += 1;
      const { timeouts } = sample;
      const { onTimeout, timeoutReward, retry } = this.config;
      const budget = retry.timeout;
      if (timeouts <= budget) this.#again(sample, 'retry_timeout', at);
      else if (onTimeout === 'fail') {
        expected.ended.push({ type: 'reward.failed', sample, reason: { code: 'timeout', timeouts, budget } });
      } else {
        const reason = { code: 'timeout', seconds, budgetSeconds, timeouts };
        expected.ended.push({ ...scored, reward: timeoutReward, reason });
      }
    } else this.#fault(sample, worker, at);
  }

  #fault(sample: Sample, { id }: Worker, at: number): void {
    sample.failures += 1;
    sample.failedAt ??= at;
    sample.failedOn = id;
    this.troubled.add(sample.kind);
    this.#again(sample, 'retry_infrastructure', at);
  }

  /** A response is given up when more of its tries have failed than its budget, and others have been answered since. */
  #givenUp({ requestId, reason }: DecisionOf<'reward.failed'>): void {
    const { kind, failures, failedAt, waits } = this.#sample(requestId);
    const budget = this.config.retry.infrastructure;
    if (reason.code !== 'infrastructure') throw new Error(`expected a reason with failures, got ${reason.code}`);
    expect(waits, 'invariant 6').toBe(true);
    expect(reason).toEqual({ code: 'infrastructure', failures: reason.failures, budget });
    expect(reason.failures, 'invariant 6').toBeGreaterThan(budget);
    expect(reason.failures, 'invariant 6').toBeLessThanOrEqual(failures);
    const others = this.answers.filter((one) => one.kind === kind && one.requestId !== requestId);
    if (failures < lossesToSuspect + budget + 1) {
      expect(
        others.some(({ at }) => at >= failedAt!),
        'invariant 6',
      ).toBe(true);
    }
    this.#ended(requestId);
  }

  #again(sample: Sample, cause: string, at: number): void {
    Object.assign(sample, { waits: true, cause, since: at });
  }

  /** Which rewards an event makes needless. */
  #unneeded(event: RewardDispatchEvent): string[] {
    const known = (ids: readonly { requestId: string }[]) =>
      this.samples.filter((one) => !one.final && ids.some(({ requestId }) => requestId === one.requestId));
    const here = (promptId: string, roundId: string) =>
      this.samples.filter((one) => one.promptId === promptId && one.roundId === roundId);
    let gone: Sample[] = [];
    switch (event.type) {
      case 'reward.withdrawn':
      case 'response.dropped':
        gone = known([event]);
        break;
      case 'prompt.merged':
        gone = known(event.dropped);
        break;
      case 'prompt.filtered':
      case 'prompt.failed':
        gone = [...known(event.dropped), ...here(event.promptId, event.roundId)];
        break;
      case 'prompt.deferred':
      case 'prompt.returned': {
        const { promptId, kept = [] } = event.prompt;
        gone = [...known([...event.dropped, ...kept]), ...here(promptId, event.roundId)];
        break;
      }
      case 'round.failed':
        gone = this.samples.filter((one) => one.roundId === event.roundId);
        break;
      case 'round.completed':
        for (const one of known(event.prompts.flatMap(({ responses }) => responses))) {
          Object.assign(one, { final: true, roundId: undefined });
        }
        gone = this.samples.filter((one) => one.roundId === event.roundId);
    }
    return gone.map((one) => one.requestId);
  }

  #told(decision: RewardDispatchDecision, expected: Expected, at: number): void {
    switch (decision.type) {
      case 'reward.dispatch':
        this.#dispatched(decision, at);
        break;
      case 'reward.cancel':
        this.#cancelled(decision, expected, at);
        break;
      case 'reward.cancelled':
        expect(expected.cancelled.delete(decision.requestId), 'invariant 5').toBe(true);
        this.#names(decision, at, {
          code: expected.code,
          afterSeconds: at - this.#sample(decision.requestId).requestedAt,
        });
        this.#ended(decision.requestId);
        break;
      case 'reward.merged': {
        expect(expected.merged.shift(), 'invariant 1').toBe(decision.requestId);
        const { requestedAt } = this.#sample(decision.requestId);
        expect(decision.reason).toEqual({ code: 'already_requested', afterSeconds: at - requestedAt });
        break;
      }
      case 'reward.scored':
      case 'reward.failed': {
        if (decision.type === 'reward.failed' && decision.reason.code === 'infrastructure') {
          this.#givenUp(decision);
          break;
        }
        const next = expected.ended.shift();
        expect(decision, 'invariant 6').toMatchObject({ type: next?.type, requestId: next?.sample.requestId });
        this.#names(decision, at, next!.reason);
        if (decision.type === 'reward.scored') {
          expect([decision.reward, decision.workerId], 'invariant 6').toEqual([next?.reward, next?.workerId]);
        }
        this.#ended(decision.requestId);
        break;
      }
      case 'reward.expired': {
        const dispatch = this.#running(decision.dispatchId);
        expect(dispatch?.cancelled, 'invariant 7').toBe(true);
        expect(dispatch!.deadline, 'invariant 7').toBeLessThanOrEqual(at);
        expect(decision).toMatchObject({ workerId: dispatch!.worker.id, requestId: dispatch!.sample.requestId });
        expect(decision.reason).toEqual({ code: 'cancel_unconfirmed', graceSeconds: this.config.cancelGraceSeconds });
        this.#over(dispatch!);
        break;
      }
      case 'timer.set': {
        this.timerAt = decision.fireAtSeconds;
        const first = Math.min(...this.running.map((one) => one.deadline));
        if (decision.reason.code === 'retry_pause') {
          expect(this.timerAt, 'invariant 10').toBeLessThan(first);
          expect(this.troubled.size, 'invariant 10').toBeGreaterThan(0);
          break;
        }
        expect(this.timerAt, 'invariant 7').toBe(first);
        const { answerGraceSeconds, cancelGraceSeconds } = this.config;
        const reasons = this.running
          .filter((one) => one.deadline === first)
          .map(({ cancelled, sample: { budgetSeconds } }) =>
            cancelled
              ? { code: 'reward_cancel_grace', graceSeconds: cancelGraceSeconds }
              : { code: 'reward_budget', budgetSeconds, graceSeconds: answerGraceSeconds },
          );
        expect(reasons).toContainEqual(decision.reason);
        break;
      }
      case 'tries.suspended':
        expect(decision.scope).toBe('reward');
        expect(this.suspended.has(decision.id!), 'invariant 10').toBe(false);
        this.suspended.add(decision.id!);
        break;
      case 'tries.recovered':
        expect(this.suspended.delete(decision.id!), 'invariant 10').toBe(true);
    }
  }

  /** A decision that names a response names all of it, and says why with the numbers. */
  #names(decision: RewardDispatchDecision & { requestId: string }, at: number, reason: object): void {
    const { requestId, promptId, kind } = this.#sample(decision.requestId);
    expect(decision).toMatchObject({ at, requestId, kind, ...(promptId === undefined ? undefined : { promptId }) });
    expect('promptId' in decision).toBe(promptId !== undefined);
    expect(decision.reason).toEqual(reason);
  }

  #dispatched(decision: DecisionOf<'reward.dispatch'>, at: number): void {
    const { dispatchId, requestId, workerId, budgetSeconds } = decision;
    expect(this.dispatched.has(dispatchId), 'ids are new').toBe(false);
    this.dispatched.add(dispatchId);
    const sample = this.samples.find((one) => one.requestId === requestId)!;
    expect(sample?.waits, 'invariant 1').toBe(true);
    expect(budgetSeconds).toBe(sample.budgetSeconds);
    const isTroubled = this.troubled.has(sample.kind);
    const { reason } = decision;
    const isFirstInLine = (one: Sample) => !isTroubled || one.cause === sample.cause;
    const inLine = this.samples.filter((one) => one.waits && one.kind === sample.kind && isFirstInLine(one));
    if (!isTroubled || sample.cause === 'requested') {
      expect(sample.order, 'invariant 3').toBe(Math.min(...inLine.map((one) => one.order)));
    }
    const isSingle = this.suspended.has(sample.kind) || this.suspended.has(workerId);
    if (isSingle) expect(reason.code, 'invariant 10').toBe('probe');
    const open = this.#open(sample.kind).filter(({ id }) => (isSingle ? id === workerId : !this.suspended.has(id)));
    const leastLoaded = (of: Worker[]) =>
      of.sort(
        (a, b) =>
          this.#on(a).length - this.#on(b).length || this.#assigned(a) - this.#assigned(b) || (a.id < b.id ? -1 : 1),
      )[0];
    // While dispatches fail, a response goes elsewhere than where it has failed last.
    const elsewhere = isTroubled ? open.filter(({ id }) => id !== sample.failedOn) : [];
    const worker = [leastLoaded(elsewhere), leastLoaded(open)].find((one) => one?.id === workerId);
    expect(workerId, 'invariants 2 and 3').toBe(worker?.id);
    const deadline = at + budgetSeconds + this.config.answerGraceSeconds;
    const running = this.#on(worker!).length;
    const { retry } = this.config;
    if (reason.code === 'retry_infrastructure' || reason.code === 'probe') {
      const pauseSeconds = reason.code === 'probe' ? reason.pauseSeconds : at - sample.since;
      const { waitedSeconds, scope } = reason;
      expect(reason).toMatchObject({ running, pauseSeconds, scope: 'reward' });
      expect(waitedSeconds).toBeLessThanOrEqual(at - sample.since);
      if (reason.code === 'retry_infrastructure') {
        const { budget, attempt, id } = reason;
        expect([sample.cause, scope, id]).toEqual([reason.code, 'reward', sample.failedOn]);
        expect(budget).toBe(retry.infrastructure);
        expect(attempt, 'invariant 6').toBeLessThanOrEqual(Math.min(budget, sample.failures));
      }
      this.#names(decision, at, reason);
    } else {
      const { cause: code, since, timeouts: attempt } = sample;
      const tries = code === 'retry_timeout' ? { attempt, budget: retry.timeout } : {};
      // One that was put off has been queued again since.
      const isExact = !isTroubled || code === 'requested';
      if (!isExact) expect(reason.waitedSeconds).toBeLessThanOrEqual(at - since);
      const { waitedSeconds } = isExact ? { waitedSeconds: at - since } : reason;
      this.#names(decision, at, { code, waitedSeconds, running, ...tries });
    }
    sample.waits = false;
    sample.attempts += 1;
    const times = { dispatchedAt: at, deadline };
    this.running.push({ id: dispatchId, sample, worker: worker!, ...times, started: false, cancelled: false });
  }

  #cancelled(decision: DecisionOf<'reward.cancel'>, expected: Expected, at: number): void {
    const { dispatchId, reason } = decision;
    const dispatch = this.#running(dispatchId)!;
    expect(dispatch?.cancelled, 'invariant 5').toBe(false);
    const { sample, worker, dispatchedAt } = dispatch;
    const { requestId, budgetSeconds, requestedAt } = sample;
    expect(decision).toMatchObject({ at, workerId: worker.id, requestId });
    const graceSeconds = this.config.answerGraceSeconds;
    expect(reason).toEqual(
      reason.code === 'no_answer'
        ? { code: 'no_answer', ranSeconds: at - dispatchedAt, budgetSeconds, graceSeconds }
        : { code: expected.code, afterSeconds: at - requestedAt },
    );
    if (reason.code === 'no_answer') {
      expect(dispatch.deadline, 'invariant 7').toBeLessThanOrEqual(at);
      this.#fault(dispatch.sample, dispatch.worker, at);
    } else expect(this.samples, 'invariant 5').not.toContain(dispatch.sample);
    dispatch.cancelled = true;
    dispatch.deadline = at + this.config.cancelGraceSeconds;
  }

  #checkPressure(event: RewardDispatchEvent, decisions: readonly RewardDispatchDecision[]): void {
    const { maxQueued, saturatedQueued = maxQueued } = this.config;
    const { resumedQueued = Math.floor(saturatedQueued / 2) } = this.config;
    for (const kind of kinds) {
      const waiting = this.samples.filter((one) => one.waits && one.kind === kind).length;
      const isStuck = waiting > 0 && !this.workers.some((one) => one.active && one.kind === kind);
      const before = this.saturated[kind];
      const after = before ? isStuck || waiting > resumedQueued : isStuck || waiting >= saturatedQueued;
      const said = decisions.filter(
        (one) => (one.type === 'rewards.saturated' || one.type === 'rewards.resumed') && one.kind === kind,
      );
      const isTold = before && after && event.type === 'host.restarted' ? ['rewards.saturated'] : [];
      const wanted = before === after ? isTold : [after ? 'rewards.saturated' : 'rewards.resumed'];
      expect(
        said.map((one) => one.type),
        'invariant 8',
      ).toEqual(wanted);
      this.saturated[kind] = after;
    }
  }

  #sample(requestId: string): Sample {
    return this.samples.find((one) => one.requestId === requestId)!;
  }

  #ended(requestId: string): void {
    const index = this.samples.findIndex((one) => one.requestId === requestId);
    expect(index, 'invariant 1').toBeGreaterThanOrEqual(0);
    this.samples.splice(index, 1);
  }

  #over(dispatch: Dispatch): void {
    this.running.splice(this.running.indexOf(dispatch), 1);
  }

  #running(id: string): Dispatch | undefined {
    return this.running.find((one) => one.id === id);
  }

  #on(worker: Worker): Dispatch[] {
    return this.running.filter((one) => one.worker === worker);
  }

  #assigned(worker: Worker): number {
    return this.#on(worker).reduce((sum, one) => sum + Math.round(one.sample.budgetSeconds * 1000), 0);
  }

  #open(kind: Kind): Worker[] {
    return this.workers.filter((one) => one.active && one.kind === kind && this.#on(one).length < one.slots);
  }
}

/** Why a reward is not needed, by the event that says so. */
const cancelCodes: Partial<Record<RewardDispatchEvent['type'], string>> = {
  'reward.withdrawn': 'withdrawn',
  'response.dropped': 'response_dropped',
  'prompt.merged': 'prompt_merged',
  'prompt.deferred': 'prompt_deferred',
  'prompt.returned': 'prompt_returned',
  'prompt.filtered': 'prompt_filtered',
  'prompt.failed': 'prompt_failed',
  'round.completed': 'round_completed',
  'round.failed': 'round_failed',
};

interface Expected {
  code?: string | undefined;
  readonly cancelled: Set<string>;
  readonly merged: string[];
  readonly ended: {
    readonly type: 'reward.scored' | 'reward.failed';
    readonly sample: Sample;
    readonly reward?: number | undefined;
    readonly workerId?: string;
    readonly reason: object;
  }[];
}
