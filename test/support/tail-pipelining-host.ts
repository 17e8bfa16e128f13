/**
 * A host of tail-pipelining: a data source, engines, rewards and a trainer that make trouble now and then, and hold
 * every decision against what they know. The numbers are those of the invariants in the recipe's README; prompts and
 * responses are checked by HostModel, the trainer's side by PipeliningHost.
 */
import { expect } from 'vitest';
import { resumePolicy, startPolicy } from '../../src/core/registry.ts';
import { completeGroupPipelining, isPolicyError } from '../../src/index.ts';
import {
  type TailPipeliningConfig,
  type TailPipeliningInput,
  tailPipelining,
} from '../../src/recipes/tail-pipelining/index.ts';
import { partConfigs } from '../../src/recipes/tail-pipelining/schema.ts';
import type { Prompt, VocabularyDecision, VocabularyEvent } from '../../src/schemas/index.ts';
import { choicesFrom } from '../../src/testing/index.ts';
import { HostModel } from './host-model.ts';
import { PipeliningHost } from './pipelining-host.ts';

type Report = { readonly type: VocabularyEvent['type'] | VocabularyDecision['type'] } & Readonly<
  Record<string, unknown>
>;
type Decision<T extends VocabularyDecision['type']> = Extract<VocabularyDecision, { type: T }>;

const fromTrainer: ReadonlySet<string> = new Set(completeGroupPipelining.events.map((word) => word.type));
const ofTrainer: ReadonlySet<string> = new Set(completeGroupPipelining.decisions.map((word) => word.type));
/** Reports that may come again: they are late then. */
const repeatable: ReadonlySet<string> = new Set([
  'response.completed',
  'response.failed',
  'request.aborted',
  'reward.ready',
  'update.consumed',
  'optimizer.stepped',
]);

export class TailPipeliningHost {
  readonly config: TailPipeliningConfig;
  readonly trainer: PipeliningHost;
  readonly model: HostModel;
  readonly choices: ReturnType<typeof choicesFrom>;
  readonly tally = new Map<string, number>();
  policy: ReturnType<typeof startPolicy<typeof tailPipelining>>;
  /** Requests in engines, and whether they are to stop. */
  readonly flights = new Map<string, { readonly promptId: string; isAborting: boolean }>();
  /** Requests that the frontier keeps from the engines. */
  readonly waiting = new Map<string, string>();
  readonly inService = new Set<string>();
  readonly started = new Set<string>();
  readonly aborted = new Set<string>();
  readonly unrewarded = new Set<string>();
  readonly toJudge = new Map<string, string>();
  readonly timers = new Map<string, number>();
  /** Where a prompt that counts for a round is, until it has left. */
  readonly places = new Map<string, 'rewards' | 'trainer'>();
  readonly undrained = new Set<string>();
  readonly taken: Report[] = [];
  /** Every decision, in order. */
  readonly log: VocabularyDecision[] = [];
  wanted: { roundId: string; count: number; domains: Record<string, number> } | undefined;
  open: string | undefined;
  isDrained = false;
  supply: number;
  rounds = 0;
  prompts = 0;
  restarts = 0;
  prefix: string;
  width: number;
  at = 0;

  constructor(input: TailPipeliningInput, tape: readonly number[], supply = 40) {
    this.policy = startPolicy(tailPipelining, input);
    this.config = this.policy.config;
    this.supply = supply;
    this.model = new HostModel(this.config);
    this.trainer = new PipeliningHost(partConfigs(this.config).pipelining as never);
    this.choices = choicesFrom(tape);
    this.prefix = this.config.idPrefix;
    const { width = Number.POSITIVE_INFINITY } = this.config;
    this.width = width === 'auto' ? Math.floor(this.config.startRequests / this.config.responsesPerPrompt) : width;
    if (this.config.placement === 'policy')
      for (const engineId of ['e0', 'e1']) this.send({ type: 'engine.added', engineId });
  }

  /** Sends an event that fits, unless it `mayBeRefused`; false where it was. */
  send(report: Report, mayBeRefused = false): boolean {
    this.at += this.choices.below(4) === 0 ? 0 : this.choices.below(30) / 10;
    const event = { at: this.at, ...report } as never as VocabularyEvent;
    let decisions: VocabularyDecision[];
    try {
      decisions = this.policy.send(event as never) as VocabularyDecision[];
    } catch (error) {
      if (!mayBeRefused || !isPolicyError(error) || error.code === 'internal') throw error;
      return false;
    }
    this.taken.push(event);
    this.model.sent(event);
    if (fromTrainer.has(event.type)) this.trainer.sent(event as never);
    this.told(decisions);
    if (this.choices.below(12) === 0)
      this.policy = resumePolicy(tailPipelining, JSON.parse(JSON.stringify(this.policy.snapshot())));
    if (this.taken.length % 8 === 0) this.model.compareWith(this.policy.snapshot().state as never); // invariant 1
    return true;
  }

  told(decisions: readonly VocabularyDecision[]): void {
    this.log.push(...decisions);
    let closing: VocabularyDecision | undefined;
    for (const decision of decisions) {
      const name = `${decision.type} ${(decision.reason as { code: string }).code}`;
      this.tally.set(name, (this.tally.get(name) ?? 0) + 1);
      this.rollout(decision);
      if (decision.type === 'round.planned') {
        const { at, roundId, kind, weightVersion } = decision;
        this.trainer.sent({ type: 'round.opened', at, roundId, kind, weightVersion, prompts: [] });
      }
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
    this.model.settle();
    for (const promptId of this.waiting.values()) expect(this.inService.has(promptId)).toBe(false); // invariant 5
  }

  /** A request comes to an engine: by its launch, or with a frontier by its admission. */
  start({ requestId, promptId, roundId }: { requestId: string; promptId: string; roundId: string }): void {
    expect(this.started.has(requestId)).toBe(false); // invariant 5
    this.started.add(requestId);
    // Invariant 5: nothing starts that was to stop, or whose round is over.
    expect(this.aborted.has(requestId)).toBe(false);
    expect(this.open).toBe(roundId);
    this.flights.set(requestId, { promptId, isAborting: false });
  }

  admitted(decision: Decision<'request.admit'>): void {
    const { at, requestId, promptId, roundId, index, ref } = decision;
    expect(ref).toBe(`body of ${promptId}`);
    this.waiting.delete(requestId);
    this.start(decision);
    this.inService.add(promptId);
    if (this.config.width !== 'auto' || decision.reason.code === 'group_admitted')
      expect(this.inService.size).toBeLessThanOrEqual(this.width); // invariant 5
    // What the model knows as a launch.
    const reason = { code: 'planned', inFlight: 0 } as const;
    this.model.told({ type: 'request.launch', at, requestId, promptId, roundId, index, weightVersion: 0, reason });
  }

  rollout(decision: VocabularyDecision): void {
    // The model knows of requests that came to an engine alone.
    if (decision.type !== 'request.abort' || this.flights.has(decision.requestId)) this.model.told(decision);
    switch (decision.type) {
      case 'round.planned':
        this.open = decision.roundId;
        this.undrained.add(decision.roundId);
        return;
      case 'source.drained':
        this.isDrained = true;
        return;
      case 'prompts.request':
        return this.want(decision);
      case 'request.launch':
        expect(this.config.frontier).toBe(false);
        return this.start(decision);
      case 'request.deferred':
        this.waiting.set(decision.requestId, decision.promptId);
        return;
      case 'request.admit':
        return this.admitted(decision);
      case 'frontier.resized':
        this.width = decision.width;
        return;
      case 'request.dropped':
        expect(this.waiting.delete(decision.requestId) || decision.admitted).toBe(true);
        return;
      case 'group.left':
        this.inService.delete(decision.promptId);
        return;
      case 'request.abort': {
        this.aborted.add(decision.requestId);
        const flight = this.flights.get(decision.requestId);
        if (flight === undefined) expect(this.config.frontier).toBe(true);
        else flight.isAborting = true;
        return;
      }
      case 'request.expired':
        this.flights.delete(decision.requestId);
        return;
      case 'timer.set':
        this.timers.set(decision.timerId, decision.fireAtSeconds);
        return;
      case 'response.accepted':
      case 'reward.request':
        this.unrewarded.add(decision.requestId);
        return;
      case 'prompt.collected':
        this.toJudge.set(decision.promptId, decision.roundId);
        return;
      case 'prompt.deferred':
      case 'prompt.returned':
        expect(this.places.has(`${decision.roundId} ${decision.prompt.promptId}`)).toBe(
          decision.reason.code === 'round_failed' && this.places.has(`${decision.roundId} ${decision.prompt.promptId}`),
        ); // invariant 3
        return;
      case 'prompt.counted':
        expect(this.open).toBe(decision.roundId);
        expect(decision.responses).toHaveLength(this.config.responsesPerPrompt);
        this.places.set(`${decision.roundId} ${decision.promptId}`, 'rewards');
        return;
      case 'group.rewarded':
        return this.move(decision, 'rewards', 'trainer');
      case 'group.unrewarded':
        return this.move(decision, 'rewards', undefined);
      case 'group.withdrawn': {
        // One that has its rewards is the trainer's to leave out.
        const key = `${decision.roundId} ${decision.promptId}`;
        if (this.places.get(key) === 'rewards') this.places.delete(key);
        return;
      }
      case 'groups.dropped':
      case 'round.trained':
        for (const promptId of decision.groups)
          this.move({ roundId: decision.roundId, promptId }, 'trainer', undefined);
        return;
      case 'round.completed': {
        this.open = undefined;
        this.wanted = undefined;
        this.toJudge.clear();
        return;
      }
      case 'round.drained':
        this.undrained.delete(decision.roundId);
        return;
      case 'group.late':
        throw new Error('a group comes once');
      default:
    }
  }

  /** Invariants 2 and 3: what counts for a round is in one place, and goes on from there. */
  move(
    { roundId, promptId }: { roundId: string; promptId: string },
    from: 'rewards' | 'trainer',
    to: 'trainer' | undefined,
  ): void {
    const key = `${roundId} ${promptId}`;
    expect([key, this.places.get(key)]).toEqual([key, from]);
    if (to === undefined) this.places.delete(key);
    else this.places.set(key, to);
  }

  want({ roundId, count, domains = {} }: Decision<'prompts.request'>): void {
    if (this.wanted?.roundId !== roundId) this.wanted = { roundId, count: 0, domains: {} };
    this.wanted.count += count;
    for (const [name, more] of Object.entries(domains))
      this.wanted.domains[name] = (this.wanted.domains[name] ?? 0) + more;
  }

  supplyPrompts({ roundId, count, domains }: NonNullable<TailPipeliningHost['wanted']>): void {
    this.wanted = undefined;
    if (this.supply <= 0) return void this.send({ type: 'source.exhausted' });
    const names = Object.entries(domains).flatMap(([name, more]) => Array<string>(more).fill(name));
    const prompts = Array.from({ length: count }, (_, index): Prompt => {
      this.supply -= 1;
      // A row that is dealt twice, now and then.
      const promptId = `p${this.choices.below(9) === 0 ? this.choices.below(this.prompts + 1) : this.prompts++}`;
      const domain = names[index] ?? (this.config.quotas === undefined ? undefined : 'math');
      const ref = `body of ${promptId}`;
      return domain === undefined ? { promptId, ref } : { promptId, ref, domain };
    });
    this.send({ type: 'prompts.supplied', roundId, prompts });
  }

  requestRound(): void {
    const roundId = `r${this.rounds++}`;
    this.send({ type: 'round.requested', roundId, weightVersion: this.trainer.version + 1 }, true);
  }

  end(requestId: string, isAborting: boolean): void {
    this.flights.delete(requestId);
    if (isAborting && this.choices.below(4) > 0) this.send({ type: 'request.aborted', requestId });
    else this.send({ type: 'response.completed', requestId, tokens: this.choices.below(50) });
  }

  reward(requestId: string): void {
    this.unrewarded.delete(requestId);
    if (this.choices.below(12) === 0) {
      const reason = { code: 'timeout', timeouts: 1, budget: 0 };
      this.send({ type: 'reward.failed', requestId, kind: 'rule', reason });
    } else this.send({ type: 'reward.ready', requestId, reward: this.choices.below(3) });
  }

  /** What a host that plays along may do next. */
  doings(): (() => void)[] {
    const { choices, wanted } = this;
    const list: (() => void)[] = [];
    if (wanted !== undefined) list.push(() => this.supplyPrompts(wanted));
    for (const [requestId, { isAborting }] of this.flights) list.push(() => this.end(requestId, isAborting));
    for (const requestId of this.unrewarded) list.push(() => this.reward(requestId));
    if (this.config.filter === 'host') {
      for (const [promptId, roundId] of this.toJudge)
        list.push(() => {
          this.toJudge.delete(promptId);
          this.send({ type: 'prompt.judged', roundId, promptId, keep: choices.below(4) > 0 });
        });
    }
    const mayOpen = this.config.allowOverlap
      ? this.trainer.open.length < 2
      : this.trainer.open.length === 0 && this.undrained.size === 0;
    if (this.open === undefined && mayOpen && !this.isDrained) list.push(() => this.requestRound());
    list.push(...this.trainings());
    return list;
  }

  trainings(): (() => void)[] {
    const { choices, trainer } = this;
    const { head, current } = trainer;
    if (head === undefined) return [];
    const { roundId } = head;
    if (head.isAsked)
      return [() => this.send({ type: 'weights.published', roundId, weightVersion: head.weightVersion + 1 })];
    if (current === undefined) return [];
    const { updateId } = current;
    if (trainer.stepping !== undefined) return [() => this.send({ type: 'optimizer.stepped', roundId, updateId })];
    const left = current.groups.filter((id) => !trainer.consumed.get(updateId)!.has(id));
    const groups = choices.below(3) === 0 ? left.slice(0, 1 + choices.below(left.length)) : left;
    return [() => this.send({ type: 'update.consumed', updateId, groups, seconds: choices.below(20) / 10 })];
  }

  restart(): void {
    this.prefix = `h${this.restarts++}-`;
    this.unrewarded.clear();
    this.flights.clear();
    this.timers.clear();
    this.wanted = undefined;
    this.send({ type: 'host.restarted', idPrefix: this.prefix });
  }

  fireTimer(): void {
    const [timerId, fireAt] = [...this.timers].sort((a, b) => a[1] - b[1])[0]!;
    this.timers.delete(timerId);
    this.at = Math.max(this.at, fireAt);
    this.send({ type: 'timer.fired', timerId });
  }

  trouble(): void {
    const { choices, trainer } = this;
    const { head } = trainer;
    const [...flights] = this.flights.keys();
    const flight = flights[choices.below(Math.max(1, flights.length))];
    switch (choices.below(11)) {
      case 0: {
        const [...ids] = trainer.live.keys();
        if (ids.length > 0) this.send({ type: 'update.lost', updateId: ids[choices.below(ids.length)]! });
        return;
      }
      case 1: {
        if (head === undefined) return;
        const updates = choices.below(head.inWeights + (trainer.stepping === undefined ? 1 : 2));
        this.send({ type: 'trainer.restarted', roundId: head.roundId, updates });
        return;
      }
      case 2:
        if (choices.below(3) === 0) this.restart();
        return;
      case 3: {
        const round = trainer.open[choices.below(Math.max(1, trainer.open.length))];
        if (round !== undefined && choices.below(3) === 0) this.send({ type: 'round.failed', roundId: round.roundId });
        return;
      }
      case 4:
      case 5: {
        if (flight === undefined) return;
        this.flights.delete(flight);
        const kind = choices.below(5) === 0 ? 'data' : 'infrastructure';
        this.send({ type: 'response.failed', requestId: flight, kind });
        return;
      }
      case 6: {
        // An engine gives it up, or never says that it has.
        if (flight === undefined) return;
        const { isAborting } = this.flights.get(flight)!;
        this.flights.delete(flight);
        if (!isAborting || choices.below(2) === 0) this.send({ type: 'request.aborted', requestId: flight });
        return;
      }
      case 7:
        if (this.timers.size > 0) this.fireTimer();
        return;
      default:
        return this.repeat();
    }
  }

  /** A report that comes again is late: nothing changes. */
  repeat(): void {
    const event = this.taken[this.choices.below(Math.max(1, this.taken.length))];
    if (event === undefined || !repeatable.has(event.type)) return;
    if (event.type === 'reward.ready' && this.unrewarded.has(event.requestId as string)) return;
    const { state } = this.policy.snapshot();
    const decisions = this.policy.send({ ...event, at: this.at } as never) as VocabularyDecision[];
    for (const { type } of decisions) expect(type).toMatch(/late$|unused$/); // invariant 8
    expect(decisions.length).toBeGreaterThan(0);
    expect(this.policy.snapshot().state).toEqual(state);
    this.tally.set('repeated', (this.tally.get('repeated') ?? 0) + 1);
  }

  step(): void {
    if (this.choices.below(7) === 0) return this.trouble();
    this.act();
  }

  act(): void {
    const doings = this.doings();
    if (doings.length > 0) return doings[this.choices.below(doings.length)]!();
    // An abort that nobody confirms.
    if (this.timers.size > 0) return this.fireTimer();
    if (this.isDrained) return;
    throw new Error(`nothing to do: ${JSON.stringify(this.trainer.open)} ${this.model.describe()}`);
  }

  /** Invariant 6: with a host that plays along every round is generated and trained, until the source has no more. */
  finish(): void {
    this.supply = 0;
    for (let steps = 0; !(this.isDrained && this.trainer.open.length === 0); steps += 1) {
      if (steps > 4000) throw new Error(`no end: ${this.model.describe()}`);
      this.act();
    }
    expect([...this.places]).toEqual([]); // invariant 3
    expect([...this.waiting.keys()]).toEqual([]);
    expect([...this.inService]).toEqual([]);
    this.model.compareWith(this.policy.snapshot().state as never);
  }
}
