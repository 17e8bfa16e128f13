/**
 * What hosts of recipes with complete-group-pipelining have in common: they send reports, have some come again, save and
 * load, tell the trainer its part, and know which groups are where. The trainer's side is checked by PipeliningHost.
 */
import { expect } from 'vitest';
import type { AnyPolicyDefinition } from '../../../src/core/machine/definition.ts';
import { create, type PolicyOf } from '../../../src/core/machine/start.ts';
import { completeGroupPipelining, isPolicyError } from '../../../src/index.ts';
import type { CompleteGroupPipeliningConfig } from '../../../src/policies/complete-group-pipelining/index.ts';
import type { VocabularyDecision, VocabularyEvent } from '../../../src/schemas/index.ts';
import { choicesFrom } from '../../../src/testing/index.ts';
import { PipeliningHost } from './pipelining.ts';
import { loseUpdate, restartTrainer, trainings } from './trainer-doings.ts';

export type Report = { readonly type: VocabularyEvent['type'] | VocabularyDecision['type'] } & Readonly<
  Record<string, unknown>
>;
export type Decision<T extends VocabularyDecision['type']> = Extract<VocabularyDecision, { type: T }>;

/** What this host reads of the configuration of a recipe. */
interface Settings {
  readonly pipelining: boolean;
  readonly idPrefix: string;
  readonly width?: number | 'auto' | undefined;
}
/** A group on its way: its responses or rewards are due, or it is the trainer's. */
type Place = 'collection' | 'trainer';

const fromTrainer: ReadonlySet<string> = new Set(completeGroupPipelining.events.map((message) => message.type));
const ofTrainer: ReadonlySet<string> = new Set(completeGroupPipelining.decisions.map((message) => message.type));
/** Reports that may come again: they are late then. */
const repeatable: ReadonlySet<string> = new Set([
  'response.completed',
  'response.failed',
  'request.aborted',
  'reward.ready',
  'update.consumed',
  'optimizer.stepped',
]);

export abstract class PipeliningRecipeHost<C extends Settings> {
  readonly config: C;
  readonly trainer: PipeliningHost;
  readonly choices: ReturnType<typeof choicesFrom>;
  readonly tally = new Map<string, number>();
  policy: PolicyOf<AnyPolicyDefinition>;
  /** Responses that wait for a reward. */
  abstract readonly unrewarded: Pick<Set<string>, 'clear' | 'delete' | 'has'>;
  /** Where each group of a round is, until it has left. */
  readonly places = new Map<string, Place>();
  readonly inService = new Set<string>();
  /** Every request that ever came to an engine. */
  readonly started = new Set<string>();
  readonly taken: Report[] = [];
  rounds = 0;
  prompts = 0;
  restarts = 0;
  prefix: string;
  width = Number.POSITIVE_INFINITY;
  at = 0;
  readonly #definition: AnyPolicyDefinition;

  constructor(
    definition: AnyPolicyDefinition,
    input: object,
    tape: readonly number[],
    trainerOf: (config: C) => unknown,
  ) {
    this.#definition = definition;
    this.policy = create(definition, input);
    this.config = this.policy.config as C;
    this.trainer = new PipeliningHost(trainerOf(this.config) as CompleteGroupPipeliningConfig);
    this.choices = choicesFrom(tape);
    this.prefix = this.config.idPrefix;
  }

  /** What the recipe's own parts have decided; `super.rollout` takes what both recipes say. */
  rollout(decision: VocabularyDecision): void {
    switch (decision.type) {
      case 'frontier.resized':
        this.width = decision.width;
        return;
      case 'group.rewarded':
        return this.move(decision, 'collection', 'trainer');
      case 'group.unrewarded':
        return this.move(decision, 'collection', undefined);
      case 'groups.dropped':
      case 'round.trained':
        for (const promptId of decision.groups)
          this.move({ roundId: decision.roundId, promptId }, 'trainer', undefined);
        return;
      case 'group.late':
        throw new Error('a group comes once');
      default:
    }
  }

  /** After all decisions of an event. */
  abstract settled(): void;
  /** What a report that comes again may lead to. */
  abstract checkLate(types: readonly string[]): void;
  abstract trouble(): void;
  /** Whether requests of a group are at engines. */
  abstract runs(promptId: string): boolean;

  /** An event that was taken. */
  heard(event: VocabularyEvent): void {
    this.taken.push(event as never);
    if (fromTrainer.has(event.type)) this.trainer.sent(event as never);
  }

  /** Sends an event that fits, unless it `mayBeRefused`: it has no decisions then. */
  send(report: Report, mayBeRefused = false): VocabularyDecision[] {
    this.at += this.choices.below(4) === 0 ? 0 : this.choices.below(30) / 10;
    const event = { at: this.at, ...report } as never as VocabularyEvent;
    let decisions: VocabularyDecision[];
    try {
      decisions = this.policy.send(event) as VocabularyDecision[];
    } catch (error) {
      if (!mayBeRefused || !isPolicyError(error) || error.code === 'internal') throw error;
      return [];
    }
    this.heard(event);
    this.told(decisions);
    if (this.choices.below(12) === 0)
      this.policy = create(this.#definition, { snapshot: JSON.parse(JSON.stringify(this.policy.snapshot())) });
    return decisions;
  }

  told(decisions: readonly VocabularyDecision[]): void {
    let closing: VocabularyDecision | undefined;
    for (const decision of decisions) {
      const name = `${decision.type} ${(decision.reason as { code: string }).code}`;
      this.tally.set(name, (this.tally.get(name) ?? 0) + 1);
      this.rollout(decision);
      // The trainer hears of the end of a round after it has heard of its last groups.
      if (decision.type === 'round.rewarded' && decision.reason.code === 'all_groups') closing = decision;
      if (decision.type === 'group.rewarded') this.trainer.sent(decision as never);
      if (!ofTrainer.has(decision.type)) continue;
      const isOfGroup =
        decision.type === 'group.trainable' ||
        decision.type === 'groups.dropped' ||
        (decision.type === 'train.dispatch' && decision.reason.code === 'batch_ready' && this.config.pipelining);
      if (closing !== undefined && !isOfGroup) {
        this.trainer.sent(closing as never);
        closing = undefined;
      }
      this.trainer.told(decision as never);
    }
    if (closing !== undefined) this.trainer.sent(closing as never);
    this.trainer.settle();
    this.settled();
  }

  /** A request comes to an engine. */
  startOnce(requestId: string): void {
    expect(this.started.has(requestId)).toBe(false);
    this.started.add(requestId);
  }

  /** The group of a request is in service; with `auto` a width that shrinks leaves those in service that are. */
  takeIntoService({ promptId, reason }: Decision<'request.admit'>): void {
    // A group that only waits for retries makes room.
    if (reason.code === 'group_admitted')
      for (const one of this.inService) if (!this.runs(one)) this.inService.delete(one);
    this.inService.add(promptId);
    if (this.config.width !== 'auto' || reason.code === 'group_admitted')
      expect(this.inService.size).toBeLessThanOrEqual(this.width);
  }

  /** A group is in one place, and goes on from there. */
  move({ roundId, promptId }: { roundId: string; promptId: string }, from: Place, to: Place | undefined): void {
    const key = `${roundId} ${promptId}`;
    expect([key, this.places.get(key)]).toEqual([key, from]);
    if (to === undefined) this.places.delete(key);
    else this.places.set(key, to);
  }

  /** The verifier answers; one time in `failsIn` it has failed. */
  judge(requestId: string, failsIn: number): void {
    this.unrewarded.delete(requestId);
    if (this.choices.below(failsIn) === 0) {
      const reason = { code: 'timeout', timeouts: 1, budget: 0 };
      this.send({ type: 'reward.failed', requestId, kind: 'rule', reason });
    } else this.send({ type: 'reward.ready', requestId, reward: this.choices.below(3) });
  }

  /** What the trainer may do next. */
  trainings(): (() => void)[] {
    return trainings(this.trainer, this.choices, (report) => this.send(report));
  }

  loseUpdate(): void {
    loseUpdate(this.trainer, this.choices, (report) => this.send(report));
  }

  restartTrainer(): void {
    restartTrainer(this.trainer, this.choices, (report) => this.send(report));
  }

  restart(): void {
    this.prefix = `h${this.restarts++}-`;
    this.unrewarded.clear();
    this.send({ type: 'host.restarted', idPrefix: this.prefix });
  }

  /** A report that comes again is late: nothing changes. */
  repeat(): void {
    const event = this.taken[this.choices.below(Math.max(1, this.taken.length))];
    if (event === undefined || !repeatable.has(event.type)) return;
    if (event.type === 'reward.ready' && this.unrewarded.has(event.requestId as string)) return;
    const { state } = this.policy.snapshot();
    const decisions = this.policy.send({ ...event, at: this.at }) as VocabularyDecision[];
    this.checkLate(decisions.map((one) => one.type));
    expect(this.policy.snapshot().state).toEqual(state);
    this.tally.set('repeated', (this.tally.get('repeated') ?? 0) + 1);
  }
}
