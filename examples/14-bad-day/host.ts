/** A host in simulated time, on the clock of the mock engine: it carries out what policies decide, and reports what comes of it. */
import { create, type LooseEvent, recordEvents, registry } from 'rollflex';
import type { MockCluster, MockEngine } from 'rollflex/mock-engine';
import { Engines, type Wanted } from './engines.ts';
import type { Outside, Told } from './outside.ts';

type AnyPolicy = ReturnType<typeof registry.restore>;
type Report = { readonly type: string } & Readonly<Record<string, unknown>>;
/** Training and the transfer of its weights. */
const trainSeconds = 10;
const refusedSeconds = 0.02;

export class Host {
  readonly decisions: Told[] = [];
  /** Lines for `rollflex explain`, of the first policy. */
  readonly log: string[] = [];
  /** Prompts of the rounds that were trained. */
  readonly trained: string[] = [];
  weightVersion = 0;
  isOver = false;
  readonly #policies: AnyPolicy[];
  readonly #outside: Outside;
  readonly #isUsual: boolean;
  readonly #isAgentic: boolean;
  readonly #timers = new Map<string, () => void>();
  readonly #engines = new Engines();
  #round = 0;
  #isTraining = false;
  /** Prompts that were drawn from the data set. */
  drawn = 0;
  /** What was asked of the host before it died concerns it no more. */
  #life = 0;

  /** Each policy hears what the others decide. */
  constructor(members: readonly (readonly [id: string, config: object])[], outside: Outside, isUsual: boolean) {
    this.#outside = outside;
    this.#isUsual = isUsual;
    this.#policies = members.map(([id, config]) => create(registry.policies.find((one) => one.id === id)!, config));
    this.#isAgentic = members[0]![0] === 'agentic-rollout';
    recordEvents(this.#policies[0]!, (line) => this.log.push(line));
    this.cluster.onFault(({ kind }, engine) => kind === 'up' && this.#load(engine));
    for (const { number } of this.cluster.engines) this.send({ type: 'engine.added', engineId: `e${number}` });
    this.send({ type: 'reward-worker.added', workerId: 'judge-0', kind: 'judge', slots: 8 });
    this.#nextRound();
  }

  get cluster(): MockCluster {
    return this.#engines.cluster;
  }

  get now(): number {
    return this.cluster.now;
  }

  /** The time by which it goes wrong: never on a usual day. */
  get #hour(): number {
    return this.#isUsual ? 0 : this.now;
  }

  /** Runs until all is trained, or nothing happens any more. */
  run(untilSeconds = 7200): void {
    while (!this.isOver && this.cluster.nextAt() <= untilSeconds) this.cluster.advanceTo(this.cluster.nextAt());
  }

  /** Does something so many seconds from now, unless the host has died by then. */
  later(seconds: number, run: () => void): () => void {
    const life = this.#life;
    return this.cluster.agenda.at(this.now + seconds, () => life === this.#life && run());
  }

  /** Tells those policies that take it. */
  send(report: Report, to: readonly AnyPolicy[] = this.#policies): void {
    const at = this.#clock();
    for (const policy of to) {
      if (!policy.definition.events.some(({ type }) => type === report.type)) continue;
      for (const decision of policy.send({ ...report, at } as LooseEvent)) this.#hear(decision as Told, policy);
    }
  }

  /** The host dies, and another one goes on with what the policies hold, at weights that it has. */
  restart(weightVersion: number): void {
    const wasTraining = this.#isTraining;
    this.#engines.forget();
    this.#life += 1;
    this.weightVersion = weightVersion;
    for (const engine of this.cluster.engines) this.#load(engine);
    this.send({ type: 'host.restarted', idPrefix: `life-${this.#life}:`, weightVersion });
    if (wasTraining) this.#train();
  }

  #clock(): number {
    return this.now + (this.#outside.ahead?.(this.#hour) ?? 0);
  }

  #after(seconds: number, type: string, fields: object): void {
    this.later(seconds, () => this.send({ type, ...fields }));
  }

  #load(engine: MockEngine): void {
    if (this.#outside.loads?.(engine.number, this.#hour) !== false) engine.weightVersion = String(this.weightVersion);
  }

  #train(): void {
    this.#isTraining = true;
    this.later(trainSeconds, () => this.#nextRound());
  }

  #nextRound(): void {
    this.#isTraining = false;
    this.weightVersion += 1;
    this.#round += 1;
    for (const engine of this.cluster.engines) this.#load(engine);
    this.send({ type: 'round.requested', roundId: `r${this.#round}`, weightVersion: this.weightVersion });
  }

  #hear(decision: Told, from: AnyPolicy): void {
    this.decisions.push(decision);
    this.#outside.heard?.(decision, this.now);
    this.#carryOut(decision, from);
    this.send(
      { ...decision },
      this.#policies.filter((one) => one !== from),
    );
  }

  #carryOut(decision: Told, from: AnyPolicy): void {
    const { type, requestId, roundId, slotId, dispatchId } = decision;
    const { starts, judges, reward } = this.#outside;
    switch (type) {
      case 'prompts.request':
        this.later(0.1, () => this.#supply(roundId, decision.count));
        return;
      case 'request.launch':
        // In a rollout of agents its first turn comes once it has an environment.
        return this.#isAgentic ? undefined : this.#generate(decision);
      case 'request.abort':
        return this.#engines.abort(requestId);
      case 'timer.set': {
        this.#timers.get(decision.timerId)?.();
        const seconds = Math.max(0, decision.fireAtSeconds - this.#clock());
        const fire = () => this.send({ type: 'timer.fired', timerId: decision.timerId }, [from]);
        this.#timers.set(decision.timerId, this.later(seconds, fire));
        return;
      }
      case 'slot.prewarm':
        if (starts?.(this.#hour) !== false) return this.#after(5, 'slot.ready', { slotId });
        return this.#after(3, 'slot.failed', { slotId, message: 'pull access denied' });
      case 'slot.assign':
        return this.#after(0, 'turn.requested', { requestId, contextTokens: 500 });
      case 'turn.route':
        return this.#generate({ ...decision, promptId: requestId, index: 0 });
      case 'slot.reclaim':
        return this.#after(1, 'slot.released', { slotId });
      case 'reward.dispatch':
        if (judges?.(this.#hour) !== false)
          return this.#after(5, 'reward.finished', {
            dispatchId,
            outcome: 'scored',
            reward: scoreOf(requestId),
            seconds: 5,
          });
        return this.#after(refusedSeconds, 'reward.finished', { dispatchId, outcome: 'infrastructure', seconds: 0 });
      case 'reward.scored':
        return this.send({ type: 'reward.ready', requestId, reward: decision.reward });
      case 'response.accepted':
        if (reward !== undefined)
          this.#after(1, 'reward.ready', { requestId, reward: reward(scoreOf(requestId), this.#hour) });
        return;
      case 'round.completed':
        this.trained.push(...decision.prompts.map(({ promptId }) => promptId));
        return;
      case 'round.drained':
        return this.#train();
      case 'source.drained':
        this.isOver = true;
    }
  }

  #supply(roundId: string, count: number): void {
    const drawn = Math.min(count, (this.#outside.prompts ?? 64) - this.drawn);
    const prompts = Array.from({ length: drawn }, (_, k) => ({ promptId: `p${this.drawn + k}` }));
    this.drawn += drawn;
    if (drawn > 0) this.send({ type: 'prompts.supplied', roundId, prompts });
    if (drawn < count) this.send({ type: 'source.exhausted' });
  }

  #generate(wanted: Wanted): void {
    const life = this.#life;
    const { requestId } = wanted;
    this.#engines.generate(wanted, (type, fields) => life === this.#life && this.send({ type, requestId, ...fields }));
  }
}

/** The score of a response: of each prompt one of four is right, and of each fifth prompt none. */
function scoreOf(requestId: string): number {
  const [, prompt, index] = /p(\d+)\/(\d+)#/.exec(requestId)!;
  return Number(prompt) % 5 !== 4 && Number(index) % 4 === 0 ? 1 : 0;
}
