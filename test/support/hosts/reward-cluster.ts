/** A host of reward-dispatch whose workers answer in time order: some fail, some responses fail everywhere. */
import { create, registry, rewardDispatch } from '../../../src/index.ts';
import type { RewardDispatchDecision, RewardDispatchInput } from '../../../src/policies/reward-dispatch/index.ts';

type DecisionOf<T extends RewardDispatchDecision['type']> = Extract<RewardDispatchDecision, { type: T }>;
type Dispatch = DecisionOf<'reward.dispatch'>;

export interface RewardDay {
  readonly config?: RewardDispatchInput;
  readonly workers: Readonly<Record<string, number>>;
  readonly seconds?: number;
  /** Whether a dispatch fails, which takes 20 ms. */
  fails(dispatch: Dispatch, at: number): boolean;
  /** Whether it is saved and restored before every seventh event. */
  readonly restores?: boolean;
}

/** Plays a day until nothing is due, or a time is over. */
export class RewardCluster {
  readonly decisions: RewardDispatchDecision[] = [];
  policy;
  at = 0;
  #sent = 0;
  readonly #day: RewardDay;
  #agenda: { at: number; order: number; send: () => object | undefined }[] = [];
  #order = 0;
  readonly #live = new Set<string>();
  #timer = 0;

  constructor(day: RewardDay) {
    this.#day = day;
    this.policy = create(rewardDispatch, day.config ?? {});
    for (const [workerId, slots] of Object.entries(day.workers)) {
      this.send({ type: 'reward-worker.added', workerId, kind: 'rule', slots });
    }
  }

  want(...requestIds: string[]): void {
    for (const requestId of requestIds) this.send({ type: 'reward.requested', requestId, budgetSeconds: 100 });
  }

  restart(): void {
    this.#agenda = [];
    this.send({ type: 'host.restarted', idPrefix: `h${this.#order}-` });
  }

  /** Lets time go on. */
  until(at: number): this {
    for (let next = this.#next(at); next !== undefined; next = this.#next(at)) {
      this.at = Math.max(this.at, next.at);
      const event = next.send();
      if (event !== undefined) this.send(event);
    }
    this.at = at;
    return this;
  }

  #next(until: number) {
    this.#agenda.sort((a, b) => a.at - b.at || a.order - b.order);
    return this.#agenda[0] !== undefined && this.#agenda[0].at <= until ? this.#agenda.shift() : undefined;
  }

  send(event: object): void {
    if (this.#day.restores && this.#sent++ % 7 === 0) {
      this.policy = registry.restore(JSON.parse(JSON.stringify(this.policy.snapshot()))) as never;
    }
    const sent = this.policy.send({ at: this.at, ...event } as never);
    this.decisions.push(...sent);
    for (const one of sent) this.#told(one);
  }

  #told(one: RewardDispatchDecision): void {
    if (one.type === 'timer.set') {
      const timer = ++this.#timer;
      const { timerId } = one;
      this.#plan(one.fireAtSeconds, () => (timer === this.#timer ? { type: 'timer.fired', timerId } : undefined));
    } else if (one.type === 'reward.dispatch') {
      const { dispatchId } = one;
      this.#live.add(dispatchId);
      const fails = this.#day.fails(one, this.at);
      const seconds = fails ? 0.02 : (this.#day.seconds ?? 1);
      const how = fails ? { outcome: 'infrastructure' } : { outcome: 'scored', reward: 1 };
      this.#plan(this.at + seconds, () => ({ type: 'reward.finished', dispatchId, seconds, ...how }));
    }
  }

  #plan(at: number, send: () => object | undefined): void {
    this.#agenda.push({ at, order: this.#order++, send });
  }

  of<T extends RewardDispatchDecision['type']>(type: T): DecisionOf<T>[] {
    return this.decisions.filter((one) => one.type === type) as DecisionOf<T>[];
  }
}
