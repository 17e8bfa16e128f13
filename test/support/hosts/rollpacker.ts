/**
 * A host of the whole of RollPacker: source, engines, reward workers and trainer, as simple as they can be. It carries
 * out what it is told, sends what follows, and makes trouble now and then. What must be true is checked by three books:
 * of prompts and responses (HostModel), of rewards and groups (GroupBooks), and of gradients (TrainingHost).
 */
import { expect } from 'vitest';
import type { Choices } from '../../../src/core/generators/choices.ts';
import { create } from '../../../src/core/machine/start.ts';
import { isPolicyError } from '../../../src/errors.ts';
import { streamTraining } from '../../../src/policies/stream-training/index.ts';
import { type RollpackerInput, rollpacker } from '../../../src/recipes/rollpacker/index.ts';
import { partConfigs } from '../../../src/recipes/rollpacker/schema.ts';
import type { Prompt, VocabularyDecision, VocabularyEvent } from '../../../src/schemas/index.ts';
import { HostModel } from '../../../src/testing/index.ts';
import { GroupBooks } from './group-books.ts';
import { savedPlaces, strayResponses } from './saved-places.ts';
import { TrainingHost } from './training.ts';

type Decision<T extends VocabularyDecision['type']> = Extract<VocabularyDecision, { type: T }>;
type Report = { readonly type: VocabularyEvent['type'] } & Readonly<Record<string, unknown>>;

interface Engine {
  readonly gpuIds: readonly string[];
  isUp: boolean;
  takes: boolean;
}
interface Flight {
  engineId: string;
  tokens: number;
  isAborting: boolean;
  /** The round in which its abort was decided. */
  abortedIn?: number;
  /** The engine that it is to move to, and stands still meanwhile. */
  movesTo?: string;
  /** Which try to move it. */
  attempt?: number;
}
interface Dispatch {
  readonly workerId: string;
  isCancelled: boolean;
}
interface Release {
  readonly releaseId: string;
  readonly roundId: string;
  readonly engineIds: readonly string[];
  readonly gpuIds: readonly string[];
  phase: 'asked' | 'released' | 'reclaimed';
}

/** Reports that a host may repeat: they say what was, not what is. */
const repeatable: ReadonlySet<string> = new Set([
  'response.completed',
  'response.failed',
  'request.aborted',
  'request.migrated',
  'migration.failed',
  'progress.reported',
  'reward.started',
  'reward.finished',
  'gpus.released',
  'gpus.returned',
  'train.consumed',
  'train.finished',
  'optimizer.stepped',
  'prompts.supplied',
  'step.finished',
]);

export class RollpackerHost {
  readonly config;
  readonly groups: GroupBooks;
  readonly trainer: TrainingHost;
  readonly #prompts: HostModel;
  readonly #choices: Choices;
  #policy;
  #at = 0;
  sent = 0;

  readonly #engines = new Map<string, Engine>();
  readonly #flights = new Map<string, Flight>();
  readonly #workers = new Map<string, { readonly kind: string; slots: number }>();
  readonly #dispatches = new Map<string, Dispatch>();
  readonly #timers = new Map<string, number>();
  readonly #owed: Report[] = [];
  readonly #past: Report[] = [];
  readonly #supplied: Prompt[] = [];
  #supply: number;
  #wanted: { roundId: string; count: number; domains: Record<string, number> } | undefined;
  #query: string | undefined;
  #release: Release | undefined;
  /** Rounds in which GPUs were released. */
  readonly releasedIn = new Set<string>();
  #open: { roundId: string; kind: string; tp: number } | undefined;
  #undrained = new Set<string>();
  #rounds = 0;
  #restarts = 0;
  #isDrained = false;

  /** Is told of each event that was accepted, with its decisions. */
  observe: (event: VocabularyEvent, decisions: readonly VocabularyDecision[]) => void = () => undefined;

  constructor(config: RollpackerInput, choices: Choices, supply: number) {
    this.#policy = create(rollpacker, config);
    this.config = rollpacker.config.parse(config);
    this.groups = new GroupBooks(this.config.responsesPerPrompt);
    this.trainer = new TrainingHost(streamTraining.config.parse(partConfigs(this.config).training));
    this.#prompts = new HostModel(this.config);
    this.#choices = choices;
    this.#supply = supply;
  }

  /** Whether every prompt of the source has come to its end. */
  get isDone(): boolean {
    return this.#isDrained && this.groups.untrained.length === 0 && this.#undrained.size === 0;
  }

  get snapshot(): unknown {
    return this.#policy.snapshot();
  }

  /** Requests that run. */
  get running(): readonly string[] {
    return [...this.#flights.keys()];
  }

  /** A report of a request that another life of the host has launched. */
  lateReport(requestId: string): void {
    this.#send({ type: 'response.completed', requestId, tokens: 7 });
  }

  /** What the policy holds is what came in and did not leave. */
  compare(): void {
    const { state } = this.#policy.snapshot();
    this.#prompts.compareWith(savedPlaces(state));
    expect(strayResponses(state)).toEqual([]);
  }

  /** One thing that happens; with trouble, also what should not. */
  step(troubled: boolean): void {
    if (troubled && this.#choices.below(6) === 0) return this.#trouble();
    const owed = this.#owed.length > 0 ? [() => this.#pay()] : [];
    const doings = [...owed, ...this.#doings()];
    if (doings.length > 0) return this.#pick(doings)();
    this.#mend();
  }

  /** What a host may do next. */
  #doings(): (() => void)[] {
    const doings: (() => void)[] = [];
    if (this.#wanted !== undefined) doings.push(() => this.#supplyPrompts());
    const flight = this.#pickKey(this.#flights, (one) => one.movesTo === undefined);
    if (flight !== undefined) doings.push(() => this.#end(flight));
    const moving = this.#pickKey(this.#flights, (one) => one.movesTo !== undefined);
    if (moving !== undefined) doings.push(() => this.#arrive(moving));
    const dispatch = this.#pickKey(this.#dispatches, () => true);
    if (dispatch !== undefined) doings.push(() => this.#reward(dispatch, 'scored'));
    if (this.#query !== undefined) doings.push(() => this.#progress());
    const release = this.#release;
    if (release?.phase === 'asked' && moving === undefined) doings.push(() => this.#released(release));
    if (release?.phase === 'reclaimed') doings.push(() => this.#returned(release));
    const busy = [...this.trainer.replicas].filter(([, one]) => one.works.length > 0);
    if (busy.length > 0) doings.push(() => this.#train(this.#pick(busy)[0], false));
    const { stepping } = this.trainer;
    if (stepping !== undefined) doings.push(() => void this.#send({ type: 'optimizer.stepped', ...stepping }));
    if (this.#mayRequest()) doings.push(() => this.#request());
    return doings;
  }

  /** Nothing can happen any more: what has died comes back, and timers run out. */
  #mend(): void {
    const timer = [...this.#timers].sort((a, b) => a[1] - b[1])[0];
    const down = [...this.#engines].find(([id, one]) => !(one.isUp && one.takes) && !this.#isReleased(id));
    const kind = ['rule', 'sandbox'].find((name) => ![...this.#workers.values()].some((one) => one.kind === name));
    const gone = [...this.trainer.replicas].find(([, one]) => !one.present);
    if (kind !== undefined) this.#addWorker(kind);
    else if (down !== undefined) this.#addEngine(down[0]);
    else if (gone !== undefined) this.#addReplica(gone[0]);
    else if (timer !== undefined) this.#fire(timer);
    else throw new Error(`stuck at ${this.#at}: ${this.describe()}`);
  }

  describe(): string {
    const { untrained } = this.groups;
    return JSON.stringify({
      untrained,
      open: this.#open,
      undrained: [...this.#undrained],
      release: this.#release,
      engines: [...this.#engines],
      prompts: this.#prompts.describe(),
    });
  }

  #trouble(): void {
    const flight = this.#pickKey(this.#flights, () => true);
    const dispatch = this.#pickKey(this.#dispatches, () => true);
    const engine = this.#pickKey(this.#engines, () => true);
    const worker = this.#pickKey(this.#workers, () => true);
    const replica = this.#pick([...this.trainer.replicas.keys()]);
    const release = this.#release;
    switch (this.#choices.below(20)) {
      case 0:
        if (engine !== undefined) this.#loseEngine(engine);
        return;
      case 1:
        if (engine !== undefined && !this.#isReleased(engine)) this.#addEngine(engine);
        return;
      case 2:
        if (engine === undefined || !this.#engines.get(engine)!.isUp || this.#isReleased(engine)) return;
        if (this.#send({ type: 'engine.drained', engineId: engine })) this.#engines.get(engine)!.takes = false;
        return;
      case 3:
      case 4: {
        if (flight === undefined) return;
        const kind = this.#choices.below(6) === 0 ? 'data' : 'infrastructure';
        this.#flights.delete(flight);
        this.#send({ type: 'response.failed', requestId: flight, kind });
        return;
      }
      case 5:
        // It was done before it could be stopped, or moved.
        if (flight !== undefined) this.#complete(flight);
        return;
      case 6:
      case 7:
        if (dispatch !== undefined) this.#reward(dispatch, this.#pick(['timeout', 'infrastructure', 'cancelled']));
        return;
      case 8:
        if (worker !== undefined) this.#loseWorker(worker);
        return;
      case 9:
        return this.#addWorker(this.#pick(['rule', 'sandbox']));
      case 10:
        this.trainer.lose(replica);
        this.#send({ type: 'replica.lost', replica });
        return;
      case 11:
        return this.#addReplica(replica);
      case 12: {
        const busy = this.trainer.replicas.get(replica)!.works.length > 0;
        if (busy) this.#train(replica, true);
        return;
      }
      case 13:
        if (release?.phase !== 'asked') return;
        this.#send({ type: 'gpus.release.failed', releaseId: release.releaseId });
        return;
      case 14: {
        const moving = this.#pickKey(this.#flights, (one) => one.movesTo !== undefined);
        if (moving === undefined || release === undefined) return;
        const { attempt } = this.#flights.get(moving)!;
        delete this.#flights.get(moving)!.movesTo;
        this.#send({ type: 'migration.failed', releaseId: release.releaseId, requestId: moving, attempt });
        return;
      }
      case 15: {
        const timer = this.#pickKey(this.#timers, () => true);
        if (timer !== undefined) this.#fire([timer, this.#timers.get(timer)!]);
        return;
      }
      case 16:
        // Too early, most often: refused.
        return this.#request();
      case 17:
        if (this.#choices.below(4) > 0) return;
        if (this.#open === undefined) return;
        this.#send({ type: 'round.failed', roundId: this.#open.roundId });
        return;
      case 18:
        if (this.#choices.below(8) === 0) this.restart();
        return;
      default: {
        if (this.#past.length === 0) return;
        const again = this.#pick(this.#past);
        if (again.type === 'prompts.supplied') this.#supplied.push(...(again.prompts as Prompt[]));
        this.#send(again);
      }
    }
  }

  /** Sends an event, and carries out what is decided; false when it was refused. */
  #send(event: Report): boolean {
    this.#at += this.#choices.below(3);
    this.sent += 1;
    const whole = { at: this.#at, ...event, ...(event.at === undefined ? undefined : { at: this.#at }) };
    let decisions: VocabularyDecision[];
    try {
      decisions = this.#policy.send(whole as never) as VocabularyDecision[];
    } catch (error) {
      if (!isPolicyError(error) || error.code === 'internal') throw error;
      return false;
    }
    if (repeatable.has(event.type)) {
      this.#past.push(event);
      if (this.#past.length > 30) this.#past.shift();
    }
    if (event.type === 'response.completed') {
      this.groups.completed(event.requestId as string, event.tokens as number);
    }
    this.observe(whole as never, decisions);
    this.#prompts.sent(whole as never);
    for (const decision of decisions) {
      this.#prompts.told(decision);
      this.groups.told(decision);
      this.#carryOut(decision);
      this.trainer.told([decision as never]);
    }
    this.#prompts.settle();
    if (this.#choices.below(12) === 0) {
      this.#policy = create(rollpacker, { snapshot: JSON.parse(JSON.stringify(this.#policy.snapshot())) });
    }
    if (this.sent % 8 === 0) this.compare();
    return true;
  }

  #carryOut(decision: VocabularyDecision): void {
    switch (decision.type) {
      case 'round.planned':
        this.#undrained.add(decision.roundId);
        return;
      case 'kind-tp.set':
        if (this.#choices.below(8) === 0)
          this.#owed.push({ type: 'kind-tp.failed', kind: decision.kind, tp: decision.tp });
        return;
      case 'round-tp.set':
        return this.#arrange(decision);
      case 'prompts.request':
        return this.#want(decision);
      case 'request.launch':
        this.#checkEngine(decision.engineId!);
        this.#flights.set(decision.requestId, { engineId: decision.engineId!, tokens: 0, isAborting: false });
        return;
      case 'request.abort':
        Object.assign(this.#flights.get(decision.requestId)!, { isAborting: true, abortedIn: this.#rounds });
        return;
      case 'request.expired':
        this.#flights.delete(decision.requestId);
        return;
      case 'request.migrate':
        this.#checkEngine(decision.to);
        Object.assign(this.#flights.get(decision.requestId)!, { movesTo: decision.to, attempt: decision.attempt });
        return;
      case 'migration.abandoned':
        this.#owed.push({ type: 'response.failed', requestId: decision.requestId, kind: 'infrastructure' });
        return;
      case 'progress.query':
        this.#query = decision.queryId;
        return;
      case 'gpus.release':
        return this.#let(decision);
      case 'gpus.reclaim':
        return this.#reclaim(decision);
      case 'reward.dispatch': {
        const { dispatchId, workerId, requestId, kind } = decision;
        const worker = this.#workers.get(workerId);
        expect(worker?.kind, `${requestId} goes to a worker of its kind`).toBe(kind);
        expect(kind, `${requestId} is rewarded by its domain`).toBe(this.#kindOf(decision.promptId!));
        const running = [...this.#dispatches.values()].filter((one) => one.workerId === workerId).length;
        expect(running).toBeLessThan(worker!.slots);
        this.#dispatches.set(dispatchId, { workerId, isCancelled: false });
        return;
      }
      case 'reward.cancel':
        this.#dispatches.get(decision.dispatchId)!.isCancelled = true;
        return;
      case 'reward.expired':
        this.#dispatches.delete(decision.dispatchId);
        return;
      case 'timer.set':
        this.#timers.set(decision.timerId, decision.fireAtSeconds);
        return;
      case 'group.rewarded': {
        const { roundId, promptId: groupId, responses } = decision;
        const samples = responses.map(({ requestId, tokens }) => ({ tokens, gradient: numberOf(requestId) }));
        this.trainer.groups.set(`${roundId} ${groupId}`, { roundId, groupId, samples });
        return;
      }
      case 'round.completed':
        this.#wanted = undefined;
        this.#open = undefined;
        this.#query = undefined;
        return;
      case 'train.finish':
        // Fetches that were decided together with the end of the round come before.
        expect(this.groups.isReady(decision.roundId), 'rewards come first').toBe(true);
        this.trainer.completed.add(decision.roundId);
        return;
      case 'round.drained':
        this.#undrained.delete(decision.roundId);
        return;
      case 'source.drained':
        this.#isDrained = true;
        this.#open = undefined;
        return;
      default:
    }
  }

  /** What was released is not used before it is back. */
  #checkEngine(engineId: string): void {
    expect(this.#engines.get(engineId), `${engineId} is there`).toMatchObject({ isUp: true, takes: true });
    expect(this.#isReleased(engineId), `${engineId} rolls out`).toBe(false);
  }

  #isReleased(engineId: string): boolean {
    return this.#release?.engineIds.includes(engineId) ?? false;
  }

  #arrange({ roundId, kind, tp, replicas }: Decision<'round-tp.set'>): void {
    expect(this.#release, 'GPUs are back before the next round').toBeUndefined();
    // Engines change under nothing that runs on; what is being aborted ends with them.
    const used = new Set([...this.#flights.values()].filter((one) => !one.isAborting).map((one) => one.engineId));
    for (const engineId of used) {
      const now = replicas.find(({ gpuIds }) => gpuIds[0] === engineId)?.gpuIds;
      expect(now, `${engineId} stays as it is: requests run on it`).toEqual(this.#engines.get(engineId)?.gpuIds);
    }
    this.#engines.clear();
    for (const { gpuIds } of replicas) this.#engines.set(gpuIds[0]!, { gpuIds, isUp: true, takes: true });
    this.#open = { roundId, kind, tp };
  }

  #mayRequest(): boolean {
    if (this.#isDrained || this.#open !== undefined || this.#release !== undefined) return false;
    // Beside the training of one round the next one may run.
    if (this.config.allowOverlap) return this.groups.untrained.length < 2;
    return this.groups.untrained.length === 0 && this.#undrained.size === 0;
  }

  #request(): void {
    const weightVersion = [...this.groups.rounds.values()].filter((one) => one.over).length;
    if (this.#send({ type: 'round.requested', roundId: `r${this.#rounds}`, weightVersion })) this.#rounds += 1;
  }

  #want({ roundId, count, domains = {} }: Decision<'prompts.request'>): void {
    if (this.#wanted?.roundId !== roundId) this.#wanted = { roundId, count: 0, domains: {} };
    this.#wanted.count += count;
    for (const [name, number] of Object.entries(domains)) {
      this.#wanted.domains[name] = (this.#wanted.domains[name] ?? 0) + number;
    }
  }

  #supplyPrompts(): void {
    const { roundId, count, domains } = this.#wanted!;
    this.#wanted = undefined;
    if (this.#supply <= 0) {
      this.#send({ type: 'source.exhausted' });
      return;
    }
    const names = Object.entries(domains).flatMap(([name, number]) => Array<string>(number).fill(name));
    const prompts = Array.from({ length: count }, (_, index): Prompt => {
      this.#supply -= 1;
      const domain = names[index] ?? (this.#choices.below(2) === 0 ? 'code' : 'math');
      return { promptId: `p${this.#supplied.length + index}`, domain, promptTokens: this.#choices.below(20) };
    });
    // Now and then one comes twice.
    if (this.#supplied.length > 0 && this.#choices.below(6) === 0) prompts.unshift(this.#pick(this.#supplied));
    const first = this.#choices.below(4) === 0 ? this.#choices.below(count) : count;
    for (const portion of [prompts.slice(0, first), prompts.slice(first)]) {
      if (portion.length === 0) continue;
      this.#supplied.push(...portion);
      this.#send({ type: 'prompts.supplied', roundId, prompts: portion });
    }
  }

  #end(requestId: string): void {
    const flight = this.#flights.get(requestId)!;
    if (flight.isAborting) {
      this.#flights.delete(requestId);
      this.#send({ type: 'request.aborted', requestId, tokens: flight.tokens });
    } else this.#complete(requestId);
  }

  #complete(requestId: string): void {
    const flight = this.#flights.get(requestId)!;
    this.#flights.delete(requestId);
    const tokens = Math.min(this.config.maxResponseTokens, flight.tokens + 1 + this.#choices.below(60));
    this.#send({ type: 'response.completed', requestId, tokens });
  }

  #arrive(requestId: string): void {
    const flight = this.#flights.get(requestId)!;
    const { movesTo: engineId, attempt } = flight;
    delete flight.movesTo;
    const { releaseId } = this.#release!;
    if (!this.#engines.get(engineId!)!.isUp) {
      this.#send({ type: 'migration.failed', releaseId, requestId, attempt });
      return;
    }
    flight.engineId = engineId!;
    this.#send({ type: 'request.migrated', releaseId, requestId, attempt });
    if (this.#flights.has(requestId)) this.#send({ type: 'request.started', requestId, engineId });
  }

  #progress(): void {
    const queryId = this.#query!;
    this.#query = undefined;
    const here = [...this.#flights].filter(([, one]) => this.#engines.has(one.engineId));
    const requests = here.map(([requestId, flight]) => {
      flight.tokens = Math.min(this.config.maxResponseTokens, flight.tokens + this.#choices.below(30));
      return { requestId, engineId: flight.engineId, tokens: flight.tokens, promptTokens: 5 };
    });
    this.#send({ type: 'progress.reported', queryId, requests });
  }

  /** Half of the engines go, with all that they have; no more than once a round. */
  #let({ releaseId, roundId, release, keep, migrations }: Decision<'gpus.release'>): void {
    expect(this.#release).toBeUndefined();
    expect(this.releasedIn.has(roundId), 'released at most once a round').toBe(false);
    const engineIds = release.map((one) => one.engineId);
    const here = [...this.#flights].filter(([, one]) => engineIds.includes(one.engineId));
    // What is being aborted ends where it is; an abort that is not confirmed for two rounds is forgotten.
    const running = here.filter(([, one]) => !one.isAborting).map(([id]) => id);
    const forgotten = here.filter(([, one]) => one.isAborting && one.abortedIn! < this.#rounds - 1).map(([id]) => id);
    const moved = migrations.flatMap((one) => one.requestIds);
    expect(moved.filter((id) => !forgotten.includes(id)).sort()).toEqual(running.sort());
    expect(new Set(moved).size).toBe(moved.length);
    for (const { requestIds, from, to } of migrations) {
      expect(keep).toContain(to);
      this.#checkEngine(to);
      for (const requestId of requestIds) {
        const flight = this.#flights.get(requestId)!;
        expect(flight.engineId).toBe(from);
        flight.movesTo = to;
        flight.attempt = 1;
      }
    }
    const gpuIds = release.flatMap((one) => one.gpuIds);
    this.#release = { releaseId, roundId, engineIds, gpuIds, phase: 'asked' };
  }

  #released(release: Release): void {
    const { releaseId, roundId, gpuIds } = release;
    for (const gpu of gpuIds) this.trainer.released.add(`${roundId} ${gpu}`);
    release.phase = 'released';
    this.releasedIn.add(roundId);
    this.#send({ type: 'gpus.released', roundId, releaseId, gpuIds: [...gpuIds] });
  }

  #reclaim({ releaseId }: Decision<'gpus.reclaim'>): void {
    // Asked again: they are back.
    if (this.#release?.releaseId !== releaseId) return;
    this.#release.phase = 'reclaimed';
    for (const flight of this.#flights.values()) delete flight.movesTo;
  }

  #returned({ releaseId, roundId, engineIds, gpuIds }: Release): void {
    this.#release = undefined;
    for (const engineId of engineIds) Object.assign(this.#engines.get(engineId)!, { isUp: true, takes: true });
    for (const engineId of engineIds) this.#owed.push({ type: 'engine.added', engineId });
    for (const gpu of gpuIds) this.trainer.released.delete(`${roundId} ${gpu}`);
    this.#send({ type: 'gpus.returned', roundId, releaseId, gpuIds: [...gpuIds] });
  }

  #loseEngine(engineId: string): void {
    if (!this.#send({ type: 'engine.lost', engineId })) return;
    this.#engines.get(engineId)!.isUp = false;
    for (const [id, one] of this.#flights) if (one.engineId === engineId) this.#flights.delete(id);
  }

  #addEngine(engineId: string): void {
    // The round may be over, and the engines others.
    const engine = this.#engines.get(engineId);
    if (engine === undefined || this.#isReleased(engineId)) return;
    Object.assign(engine, { isUp: true, takes: true });
    this.#send({ type: 'engine.added', engineId });
  }

  #reward(dispatchId: string, outcome: string): void {
    const { isCancelled } = this.#dispatches.get(dispatchId)!;
    this.#dispatches.delete(dispatchId);
    const end = isCancelled && this.#choices.below(3) > 0 ? 'cancelled' : outcome;
    const reward = end === 'scored' ? { reward: this.#choices.below(3) } : undefined;
    this.#send({ type: 'reward.finished', dispatchId, outcome: end, ...reward, seconds: this.#choices.below(5) });
  }

  #addWorker(kind: string): void {
    const workerId = `${kind}${this.#choices.below(2)}`;
    const slots = 1 + this.#choices.below(4);
    this.#workers.set(workerId, { kind, slots });
    this.#send({ type: 'reward-worker.added', workerId, kind, slots });
  }

  #loseWorker(workerId: string): void {
    this.#workers.delete(workerId);
    for (const [id, one] of this.#dispatches) if (one.workerId === workerId) this.#dispatches.delete(id);
    this.#send({ type: 'reward-worker.lost', workerId });
  }

  #train(replica: string, partly: boolean): void {
    const work = this.trainer.replicas.get(replica)!.works[0]!;
    const left = partly ? this.#choices.below(work.groups.length + 1) : -1;
    const { event } = this.trainer.finish(replica, work, left);
    this.#send({ ...event, seconds: this.#choices.below(5) } as never);
  }

  #addReplica(replica: string): void {
    this.trainer.replicas.get(replica)!.present = true;
    this.#send({ type: 'replica.added', replica });
  }

  #fire([timerId, at]: readonly [string, number]): void {
    this.#timers.delete(timerId);
    this.#at = Math.max(this.#at, at);
    this.#send({ type: 'timer.fired', timerId });
  }

  #kindOf(promptId: string): string {
    const { domain } = this.#supplied.find((one) => one.promptId === promptId)!;
    return this.config.rewardKindByDomain?.[domain!] ?? this.config.defaultRewardKind;
  }

  /** The host comes back: what was in flight is gone. */
  restart(): void {
    this.#flights.clear();
    this.#dispatches.clear();
    this.#timers.clear();
    this.#owed.length = 0;
    this.#past.length = 0;
    this.#query = undefined;
    this.#wanted = undefined;
    this.trainer.restart();
    this.#restarts += 1;
    this.#send({ type: 'host.restarted', idPrefix: `h${this.#restarts}-` });
  }

  #pay(): void {
    const event = this.#owed.shift()!;
    if (event.type === 'response.failed') this.#flights.delete(event.requestId as string);
    if (event.type === 'engine.added') return this.#addEngine(event.engineId as string);
    this.#send(event);
  }

  #pick<T>(all: readonly T[]): T {
    return all[this.#choices.below(all.length)]!;
  }

  #pickKey<T>(all: ReadonlyMap<string, T>, fits: (one: T) => boolean): string | undefined {
    const ids = [...all].filter(([, one]) => fits(one)).map(([id]) => id);
    return ids.length === 0 ? undefined : this.#pick(ids);
  }
}

/** A gradient of its own for every response. */
function numberOf(id: string): number {
  let sum = 7;
  for (const letter of id) sum = (sum * 31 + letter.charCodeAt(0)) % 10_007;
  return sum / 13;
}
