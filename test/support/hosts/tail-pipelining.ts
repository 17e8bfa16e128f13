/**
 * A host of tail-pipelining: a data source, engines, rewards and a trainer that make trouble now and then, and hold
 * every decision against what they know. The numbers are those of the invariants in the recipe's README; prompts and
 * responses are checked by HostModel, the trainer's side by PipeliningHost.
 */
import { expect } from 'vitest';
import {
  type TailPipeliningConfig,
  type TailPipeliningInput,
  tailPipelining,
} from '../../../src/recipes/tail-pipelining/index.ts';
import { partConfigs } from '../../../src/recipes/tail-pipelining/schema.ts';
import type { Prompt, VocabularyDecision, VocabularyEvent } from '../../../src/schemas/index.ts';
import { HostModel } from '../../../src/testing/index.ts';
import { type Decision, PipeliningRecipeHost, type Report } from './pipelining-recipe.ts';
import { savedPlaces, strayResponses } from './saved-places.ts';

export class TailPipeliningHost extends PipeliningRecipeHost<TailPipeliningConfig> {
  readonly model: HostModel;
  /** Requests in engines, and whether they are to stop. */
  readonly flights = new Map<string, { readonly promptId: string; isAborting: boolean }>();
  /** Requests that the frontier keeps from the engines. */
  readonly waiting = new Map<string, string>();
  readonly aborted = new Set<string>();
  readonly unrewarded = new Set<string>();
  readonly toJudge = new Map<string, string>();
  readonly timers = new Map<string, number>();
  readonly undrained = new Set<string>();
  /** Every decision, in order. */
  readonly log: VocabularyDecision[] = [];
  wanted: { roundId: string; count: number; domains: Record<string, number> } | undefined;
  open: string | undefined;
  isDrained = false;
  supply: number;

  constructor(input: TailPipeliningInput, tape: readonly number[], supply = 40) {
    super(tailPipelining, input, tape, (config) => partConfigs(config).pipelining);
    this.supply = supply;
    this.model = new HostModel(this.config);
    const { width = Number.POSITIVE_INFINITY } = this.config;
    this.width = width === 'auto' ? Math.floor(this.config.startRequests / this.config.responsesPerPrompt) : width;
    if (this.config.placement === 'policy')
      for (const engineId of ['e0', 'e1']) this.send({ type: 'engine.added', engineId });
  }

  override heard(event: VocabularyEvent): void {
    super.heard(event);
    this.model.sent(event);
  }

  override send(report: Report, mayBeRefused = false): VocabularyDecision[] {
    const before = this.taken.length;
    const decisions = super.send(report, mayBeRefused);
    if (this.taken.length > before && this.taken.length % 8 === 0) this.#compare();
    return decisions;
  }

  override told(decisions: readonly VocabularyDecision[]): void {
    this.log.push(...decisions);
    super.told(decisions);
  }

  settled(): void {
    this.model.settle();
    for (const promptId of this.waiting.values()) expect(this.inService.has(promptId)).toBe(false); // invariant 5
  }

  /** A request comes to an engine: by its launch, or with a frontier by its admission. */
  start({ requestId, promptId, roundId }: { requestId: string; promptId: string; roundId: string }): void {
    // Invariant 5: once, and nothing starts that was to stop, or whose round is over.
    this.startOnce(requestId);
    expect(this.aborted.has(requestId)).toBe(false);
    expect(this.open).toBe(roundId);
    this.flights.set(requestId, { promptId, isAborting: false });
  }

  admitted(decision: Decision<'request.admit'>): void {
    const { at, requestId, promptId, roundId, index, ref } = decision;
    expect(ref).toBe(`body of ${promptId}`);
    this.waiting.delete(requestId);
    this.start(decision);
    this.takeIntoService(decision); // invariant 5
    // What the model knows as a launch.
    const reason = { code: 'planned', inFlight: 0 } as const;
    this.model.told({ type: 'request.launch', at, requestId, promptId, roundId, index, weightVersion: 0, reason });
  }

  override rollout(decision: VocabularyDecision): void {
    // The model knows of requests that came to an engine alone.
    if (decision.type !== 'request.abort' || this.flights.has(decision.requestId)) this.model.told(decision);
    switch (decision.type) {
      case 'round.planned':
        this.open = decision.roundId;
        this.undrained.add(decision.roundId);
        return this.openForTrainer(decision);
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
      case 'request.dropped': {
        const { requestId, admitted, reason } = decision;
        const waited = this.waiting.delete(requestId);
        const ended = reason.code === 'replaced' && reason.ended;
        expect([waited, admitted, ended].filter(Boolean)).toHaveLength(1);
        if (ended) expect(this.flights.has(requestId)).toBe(false);
        if (reason.code === 'replaced' && admitted) expect(this.flights.has(requestId)).toBe(true);
        return;
      }
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
        this.places.set(`${decision.roundId} ${decision.promptId}`, 'collection');
        return;
      case 'group.withdrawn': {
        // One that has its rewards is the trainer's to leave out.
        const key = `${decision.roundId} ${decision.promptId}`;
        if (this.places.get(key) === 'collection') this.places.delete(key);
        return;
      }
      case 'round.completed': {
        this.open = undefined;
        this.wanted = undefined;
        this.toJudge.clear();
        return;
      }
      case 'round.drained':
        this.undrained.delete(decision.roundId);
        return;
      default:
        // Invariants 2 and 3: what counts for a round is in one place, and goes on from there.
        super.rollout(decision);
    }
  }

  runs(promptId: string): boolean {
    return [...this.flights.values()].some((one) => one.promptId === promptId);
  }

  openForTrainer({ at, roundId, kind, weightVersion }: Decision<'round.planned'>): void {
    this.trainer.sent({ type: 'round.opened', at, roundId, kind, weightVersion, prompts: [] });
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

  /** What a host that plays along may do next. */
  doings(): (() => void)[] {
    const { choices, wanted } = this;
    const list: (() => void)[] = [];
    if (wanted !== undefined) list.push(() => this.supplyPrompts(wanted));
    for (const [requestId, { isAborting }] of this.flights) list.push(() => this.end(requestId, isAborting));
    for (const requestId of this.unrewarded) list.push(() => this.judge(requestId, 12));
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

  override restart(): void {
    this.flights.clear();
    this.timers.clear();
    this.wanted = undefined;
    super.restart();
  }

  fireTimer(): void {
    const [timerId, fireAt] = [...this.timers].sort((a, b) => a[1] - b[1])[0]!;
    this.timers.delete(timerId);
    this.at = Math.max(this.at, fireAt);
    this.send({ type: 'timer.fired', timerId });
  }

  trouble(): void {
    const { choices, trainer } = this;
    const [...flights] = this.flights.keys();
    const flight = flights[choices.below(Math.max(1, flights.length))];
    switch (choices.below(11)) {
      case 0:
        return this.loseUpdate();
      case 1:
        return this.restartTrainer();
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

  checkLate(types: readonly string[]): void {
    for (const type of types) expect(type).toMatch(/late$|unused$/); // invariant 8
    expect(types.length).toBeGreaterThan(0);
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
    this.#compare();
  }

  #compare(): void {
    const { state } = this.policy.snapshot();
    this.model.compareWith(savedPlaces(state)); // invariant 1
    expect(strayResponses(state)).toEqual([]);
  }
}
