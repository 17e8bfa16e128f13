/**
 * An asynchronous host: engines generate groups while a trainer works. It keeps its own books of what was generated with which
 * weights. Its reports come late, in any order, twice, or never where it restarts.
 */
import type { Choices } from '../../../src/core/generators/choices.ts';
import { create } from '../../../src/core/machine/start.ts';
import {
  type StalenessPacingDecision,
  type StalenessPacingEvent,
  type StalenessPacingInput,
  stalenessPacing,
} from '../../../src/policies/staleness-pacing/index.ts';

type Told<T extends StalenessPacingDecision['type']> = Extract<StalenessPacingDecision, { type: T }>;
// biome-ignore lint/suspicious/noExplicitAny: distributes over the union
type Untimed<E> = E extends any ? Omit<E, 'at'> : never;
type Report = Untimed<StalenessPacingEvent>;

/** A group in the books. */
export interface BookedGroup {
  readonly launchId: string;
  readonly groupId: string;
  /** Version that the engines really had when it was launched. */
  readonly trueStart: number;
  /** The version that the decision named. */
  readonly start: number;
  isComplete: boolean;
}

/** One run of a host and its policy. */
export class AsynchronousHost {
  policy: ReturnType<typeof create<typeof stalenessPacing>>;
  readonly config: StalenessPacingInput;
  readonly choices: Choices;
  /** Groups that are launched and in no batch, in the order of their launches. */
  live: BookedGroup[] = [];
  /** Reports that the policy has not heard. */
  reports: Report[] = [];
  readonly heard: Report[] = [];
  /** Batches whose weights the policy does not know of. */
  outstanding: string[] = [];
  readonly batches: Told<'train.batch'>[] = [];
  /** Publications that the trainer has really made, with their versions. */
  readonly published = new Map<string, number>();
  /** Version that the trainer and the engines really have. */
  version = 0;
  supplied = 0;
  restarts = 0;
  readonly left = { trained: 0, withdrawn: 0, dropped: 0, merged: 0, returned: 0 };
  /** Largest true lag of a trained group, in versions. */
  largestLag = 0;
  asked = 0;
  isExhausted = false;
  isOver = false;
  /** Called with the groups of a batch before they leave the books. */
  onBatch: (groups: readonly BookedGroup[], decision: Told<'train.batch'>) => void = () => undefined;

  constructor(config: StalenessPacingInput, choices: Choices, version = 0) {
    this.config = config;
    this.choices = choices;
    this.version = version;
    this.policy = create(stalenessPacing, config);
    this.send({ type: 'round.requested', roundId: 'r', weightVersion: version });
  }

  send(report: Report): readonly StalenessPacingDecision[] {
    const decisions = this.policy.send({ at: this.heard.length, ...report } as StalenessPacingEvent);
    this.heard.push(report);
    for (const decision of decisions) this.#told(decision);
    return decisions;
  }

  #told(decision: StalenessPacingDecision): void {
    const roundId = 'r';
    switch (decision.type) {
      case 'prompts.request':
        this.asked += decision.count;
        return;
      case 'group.launch': {
        const { groupId, launchId, weightVersion: start } = decision;
        this.live = this.live.filter((one) => one.groupId !== groupId);
        this.live.push({ groupId, launchId, trueStart: this.version, start, isComplete: false });
        const cause = this.choices.below(2) === 0 ? 'filtered' : 'failed';
        const ids = { roundId, groupId, launchId };
        if (this.choices.below(6) === 0) this.reports.push({ type: 'group.rejected', ...ids, cause });
        else this.reports.push({ type: 'group.completed', ...ids, samples: 2, tokens: 7 });
        return;
      }
      case 'train.batch': {
        this.#train(decision);
        return;
      }
      case 'group.drop':
      case 'group.withdrawn': {
        const id = decision.type === 'group.drop' ? decision.groupId : decision.promptId;
        this.live = this.live.filter((one) => one.groupId !== id);
        this.left[decision.type === 'group.drop' ? 'dropped' : 'withdrawn'] += 1;
        return;
      }
      case 'prompt.merged':
        this.left.merged += 1;
        return;
      case 'prompt.returned':
        this.left.returned += 1;
        return;
      case 'round.drained':
        this.isOver = true;
    }
  }

  #train(decision: Told<'train.batch'>): void {
    const { publicationId, weightVersion, groups, roundId } = decision;
    if (decision.reason.code !== 'host_restarted') {
      this.outstanding.push(publicationId);
      this.batches.push(decision);
      const own = groups.map(({ launchId }) => this.live.find((one) => one.launchId === launchId)!);
      this.onBatch(own, decision);
      for (const { trueStart } of own) this.largestLag = Math.max(this.largestLag, weightVersion - 1 - trueStart);
      this.left.trained += groups.length;
      this.live = this.live.filter((one) => !own.includes(one));
    }
    // The trainer does not train on a batch twice.
    const version = this.published.get(publicationId) ?? weightVersion;
    this.reports.push({ type: 'weights.published', roundId, publicationId, weightVersion: version });
  }

  /** Delivers one of the reports, which then have happened at the latest. */
  deliver(index = this.choices.below(this.reports.length)): void {
    const [report] = this.reports.splice(index, 1) as [Report];
    if (report.type === 'weights.published') {
      this.published.set(report.publicationId, report.weightVersion);
      this.version = Math.max(this.version, report.weightVersion);
      this.outstanding.splice(0, this.outstanding.indexOf(report.publicationId) + 1);
    }
    if (report.type === 'group.completed') {
      const one = this.live.find(({ launchId }) => launchId === report.launchId);
      if (one !== undefined) one.isComplete = true;
    }
    this.send(report);
  }

  supply(count = 1 + this.choices.below(this.asked + 1)): void {
    this.asked = Math.max(0, this.asked - count);
    const prompts = Array.from({ length: count }, () => ({ promptId: `p${this.supplied++}` }));
    this.send({ type: 'prompts.supplied', roundId: 'r', prompts });
  }

  /** The weights are really there before the policy hears of it. */
  publishSilently(): void {
    const report = this.reports.find(({ type }) => type === 'weights.published');
    if (report?.type === 'weights.published') this.version = Math.max(this.version, report.weightVersion);
  }

  restart(): void {
    this.asked = 0;
    // Some reports of the past still come later, others are lost.
    this.reports = this.reports.filter(() => this.choices.below(2) === 0);
    this.send({ type: 'host.restarted', idPrefix: `h${this.restarts++}-` });
  }

  exhaust(): void {
    this.asked = 0;
    this.isExhausted = true;
    this.send({ type: 'source.exhausted' });
  }

  restore(): void {
    this.policy = create(stalenessPacing, { snapshot: JSON.parse(JSON.stringify(this.policy.snapshot())) });
  }

  /** One step of trouble. */
  trouble(): void {
    const { choices } = this;
    const roll = choices.below(30);
    if (roll === 0) this.restart();
    else if (roll === 1) this.restore();
    else if (roll === 2) this.publishSilently();
    else if (roll === 3 && this.heard.length > 0) {
      const again = this.heard[choices.below(this.heard.length)]!;
      if (again.type === 'group.completed' || again.type === 'group.rejected' || again.type === 'weights.published')
        this.send(again);
    } else if (roll === 4 && choices.below(6) === 0) this.exhaust();
    else if (roll < 14 && this.asked > 0) this.supply();
    else if (this.reports.length > 0) this.deliver();
    else if (this.asked > 0) this.supply();
  }

  /** Cooperates until the round has drained. */
  finish(): void {
    for (let step = 0; !this.isOver; step += 1) {
      if (step > 5000) throw new Error(`it does not end: ${JSON.stringify(this.policy.snapshot())}`);
      if (this.reports.length > 0) this.deliver();
      else if (this.asked > 0 && !this.isExhausted && this.supplied < 200) this.supply(this.asked);
      else if (!this.isExhausted) this.exhaust();
      else throw new Error(`nothing is left to do: ${JSON.stringify(this.policy.snapshot())}`);
    }
  }
}
