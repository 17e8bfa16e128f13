/** A host that writes down what it sent and what it was told, and checks what must follow from that. */
import { expect } from 'vitest';
import type { AdmissionConfig } from '../../src/policies/speculative-admission/index.ts';
import type { Prompt, VocabularyDecision, VocabularyEvent } from '../../src/schemas/index.ts';

type Multiset = Map<string, number>;

function add(set: Multiset, id: string, by: number): void {
  const count = (set.get(id) ?? 0) + by;
  if (count === 0) set.delete(id);
  else set.set(id, count);
}

interface Flight {
  promptId: string;
  engineId: string | undefined;
  phase: 'running' | 'waiting' | 'resuming' | 'aborting';
}

interface Open {
  id: string;
  kind: 'short' | 'long';
  weightVersion: number;
}

/** States of policies that the model is compared with: only what each holds. */
interface SavedParts {
  parts?: {
    queue: { state: { entries: { prompt: Prompt }[]; unused: Prompt[] } };
    admission: { state: SavedAdmission };
  };
}
interface SavedAdmission {
  prompts: { spec: Prompt; status: string; responses: { status: string; requestId: string }[] }[];
  settling: SavedAdmission['prompts'];
}

export class HostModel {
  readonly #config: AdmissionConfig;
  readonly #prompts: Multiset = new Map();
  readonly #responses: Multiset = new Map();
  readonly #flights = new Map<string, Flight>();
  readonly #minted = new Set<string>();
  readonly #toJudge = new Set<string>();
  readonly #toReward = new Set<string>();
  readonly #exhausted = { all: false };
  #round: Open | undefined;
  #undrained = new Set<string>();
  #awaiting = false;
  #supplied = 0;
  #isRecipe = false;
  #restarts = 0;

  constructor(config: AdmissionConfig) {
    this.#config = config;
  }

  /** An event that was accepted. */
  sent(event: VocabularyEvent): void {
    switch (event.type) {
      case 'round.requested':
        this.#isRecipe = true;
        break;
      case 'round.opened':
        this.#open(event);
        this.#enter(event.prompts);
        break;
      case 'prompts.supplied':
        this.#enter(event.prompts);
        break;
      case 'response.completed':
        add(this.#responses, event.requestId, 1);
        this.#flights.delete(event.requestId);
        break;
      case 'response.failed':
      case 'environment.failed':
      case 'request.aborted':
        this.#flights.delete(event.requestId);
        break;
      case 'engine.lost':
        for (const [id, flight] of this.#flights)
          if (flight.engineId === event.engineId && this.#holds(flight)) this.#flights.delete(id);
        break;
      case 'request.started': {
        const flight = this.#flights.get(event.requestId);
        if (flight !== undefined && this.#holds(flight)) flight.engineId = event.engineId;
        break;
      }
      case 'environment.waiting':
        this.#setPhase(event.requestId, 'waiting');
        break;
      case 'environment.resumed':
        this.#setPhase(event.requestId, 'resuming');
        break;
      case 'source.exhausted':
        this.#exhausted.all ||= event.domain === undefined;
        break;
      case 'source.reopened':
        this.#exhausted.all = false;
        break;
      case 'reward.ready':
        this.#toReward.delete(event.requestId);
        break;
      case 'prompt.judged':
        this.#toJudge.delete(event.promptId);
        break;
      case 'host.restarted':
        this.#restarts += 1;
        this.#flights.clear();
        break;
      default:
    }
  }

  /** A decision, in the order given. */
  told(decision: VocabularyDecision): void {
    const leave = (id: string) => {
      add(this.#prompts, id, -1);
      // A merged one leaves its twin behind, which may wait for its judgement.
      if (decision.type !== 'prompt.merged') this.#toJudge.delete(id);
    };
    const drop = (list: readonly { requestId: string }[]) => {
      for (const { requestId } of list) add(this.#responses, requestId, -1);
    };
    const finished = (prompt: Prompt) => (prompt.kept ?? []).filter((one) => one.finished);
    switch (decision.type) {
      case 'round.planned':
        this.#open(decision);
        break;
      case 'prompts.request':
        expect(decision.count).toBeGreaterThan(0);
        this.#awaiting = true;
        break;
      case 'request.launch':
        this.#launched(decision);
        break;
      case 'request.resume': {
        const flight = this.#flights.get(decision.requestId)!;
        expect(flight.phase).toBe('resuming');
        Object.assign(flight, { phase: 'running', engineId: decision.engineId ?? flight.engineId });
        this.#checkLimits(decision.engineId);
        break;
      }
      case 'request.abort': {
        // Invariant 7: aborts name what is in flight, each once.
        const flight = this.#flights.get(decision.requestId);
        expect(flight, `abort of ${decision.requestId}`).toBeDefined();
        expect(flight!.phase).not.toBe('aborting');
        if (!this.#holds(flight!)) flight!.engineId = undefined;
        (flight as Flight & { held?: boolean }).held = this.#holds(flight!);
        flight!.phase = 'aborting';
        break;
      }
      case 'request.expired':
        this.#flights.delete(decision.requestId);
        break;
      case 'response.surplus':
        drop([decision]);
        break;
      case 'response.late':
        if (decision.reason.code === 'completion') drop([decision]);
        break;
      case 'response.dropped':
        if (decision.finished) drop([decision]);
        break;
      case 'response.accepted':
        this.#toReward.add(decision.requestId);
        break;
      case 'reward.request':
        this.#toReward.add(decision.requestId);
        break;
      case 'prompt.collected':
        this.#toJudge.add(decision.promptId);
        break;
      case 'prompt.filtered':
      case 'prompt.quarantined':
      case 'prompt.merged':
        leave(decision.promptId);
        drop(decision.dropped);
        break;
      case 'prompt.deferred':
      case 'prompt.returned':
        drop(decision.dropped);
        this.#toJudge.delete(decision.prompt.promptId);
        if (this.#isRecipe) break;
        leave(decision.prompt.promptId);
        drop(finished(decision.prompt));
        break;
      case 'round.completed':
        this.#completed(decision);
        break;
      case 'round.drained':
        expect(this.#undrained.delete(decision.roundId)).toBe(true);
        break;
      case 'source.drained':
        this.#round = undefined;
        break;
      default:
    }
  }

  /** After the decisions of an event: nothing was handed over that never came in. */
  settle(): void {
    for (const set of [this.#prompts, this.#responses])
      for (const count of set.values()) expect(count).toBeGreaterThan(0);
  }

  /** Invariants 1 and 2: the snapshot holds exactly what the model says is there. */
  compareWith(saved: SavedAdmission & SavedParts): void {
    const admission = saved.parts?.admission.state ?? saved;
    const queue = saved.parts?.queue.state;
    const queued = [...(queue?.entries.map((one) => one.prompt) ?? []), ...(queue?.unused ?? [])];
    const here = [...admission.prompts, ...admission.settling];
    const prompts: Multiset = new Map();
    const responses: Multiset = new Map();
    const kept = (prompt: Prompt) => {
      for (const one of prompt.kept ?? []) if (one.finished) add(responses, one.requestId, 1);
    };
    for (const prompt of queued) {
      add(prompts, prompt.promptId, 1);
      kept(prompt);
    }
    for (const one of here) {
      add(prompts, one.spec.promptId, 1);
      if (one.status === 'standby') kept(one.spec);
      else for (const { status, requestId } of one.responses) if (status === 'held') add(responses, requestId, 1);
    }
    const sorted = (set: Multiset) => [...set].sort(([a], [b]) => (a < b ? -1 : 1));
    expect(sorted(prompts)).toEqual(sorted(this.#prompts));
    expect(sorted(responses)).toEqual(sorted(this.#responses));
  }

  /** What a host that plays along does next; nothing, once the round has ended and drained. */
  cooperate(at: number): VocabularyEvent | undefined {
    const roundId = this.#round?.id;
    for (const [requestId, { phase }] of this.#flights) {
      if (phase === 'aborting') return { type: 'request.aborted', at, requestId };
    }
    if (roundId === undefined) return undefined;
    // Engines and prompts come only as long as they are needed.
    if (this.#awaiting && !this.#exhausted.all) {
      this.#awaiting = false;
      this.#supplied += 1;
      if (this.#supplied > 12) return { type: 'source.exhausted', at };
      const domains = Object.keys(this.#config.quotas ?? {});
      const names = domains.length > 0 ? domains : [undefined];
      const prompts = names.flatMap((domain) =>
        Array.from({ length: 6 }, (_, index): Prompt => {
          const promptId = `new-${this.#restarts}-${this.#supplied}-${domain}-${index}`;
          return domain === undefined ? { promptId } : { promptId, domain };
        }),
      );
      return { type: 'prompts.supplied', at, roundId, prompts };
    }
    for (const [requestId, { phase }] of this.#flights) {
      if (phase === 'waiting') return { type: 'environment.resumed', at, requestId };
      if (phase === 'running') return { type: 'response.completed', at, requestId, tokens: 5 };
    }
    for (const requestId of this.#toReward) {
      if (this.#config.filter !== 'zero-variance') break;
      this.#toReward.delete(requestId);
      return { type: 'reward.ready', at, requestId, reward: this.#toReward.size % 2 };
    }
    for (const promptId of this.#toJudge) {
      if (this.#config.filter !== 'host') break;
      this.#toJudge.delete(promptId);
      return { type: 'prompt.judged', at, roundId, promptId, keep: true };
    }
    this.#idle += 1;
    if (this.#idle === 1) return { type: 'engine.added', at, engineId: 'helper' };
    if (this.#idle === 2) return { type: 'source.exhausted', at };
    throw new Error(`stuck: ${this.describe()}`);
  }

  #idle = 0;

  describe(): string {
    const flights = [...this.#flights].map(([id, { phase }]) => `${id} ${phase}`);
    return JSON.stringify({ round: this.#round, flights, prompts: [...this.#prompts] });
  }

  #open(round: { roundId: string; kind: 'short' | 'long'; weightVersion: number }): void {
    this.#round = { id: round.roundId, kind: round.kind, weightVersion: round.weightVersion };
    this.#undrained.add(round.roundId);
    this.#awaiting = false;
  }

  #enter(prompts: readonly Prompt[]): void {
    for (const prompt of prompts) {
      add(this.#prompts, prompt.promptId, 1);
      for (const one of prompt.kept ?? []) if (one.finished) add(this.#responses, one.requestId, 1);
    }
  }

  #setPhase(requestId: string, phase: Flight['phase']): void {
    const flight = this.#flights.get(requestId);
    if (flight !== undefined && flight.phase !== 'aborting') flight.phase = phase;
  }

  #launched(decision: Extract<VocabularyDecision, { type: 'request.launch' }>): void {
    // Invariant 5: ids are never used twice. Invariant 7: nothing starts outside its round.
    expect(this.#minted.has(decision.requestId), decision.requestId).toBe(false);
    expect(decision.roundId).toBe(this.#round?.id);
    this.#minted.add(decision.requestId);
    this.#flights.set(decision.requestId, {
      promptId: decision.promptId,
      engineId: decision.engineId,
      phase: 'running',
    });
    const { resumeFrom } = decision;
    if (resumeFrom !== undefined) this.#checkFresh(resumeFrom.weightVersions, decision.weightVersion);
    this.#checkLimits(decision.engineId);
  }

  /** Invariant 8: nothing older than `maxStaleness` is used. */
  #checkFresh(versions: readonly number[], weightVersion: number): void {
    expect(weightVersion - Math.min(...versions)).toBeLessThanOrEqual(this.#config.maxStaleness);
  }

  #holds(flight: Flight & { held?: boolean }): boolean {
    if (flight.phase === 'aborting') return flight.held ?? true;
    return flight.phase === 'running';
  }

  /** Invariant 4: limits hold whenever something starts. */
  #checkLimits(started: string | undefined): void {
    const holding = [...this.#flights.values()].filter((flight) => this.#holds(flight));
    expect(holding.length).toBeLessThanOrEqual(this.#config.maxInFlight ?? Number.POSITIVE_INFINITY);
    const limit = this.#config.maxInFlightPerEngine;
    if (limit === undefined || started === undefined) return;
    expect(holding.filter((flight) => flight.engineId === started).length).toBeLessThanOrEqual(limit);
  }

  /** Invariant 3: P0 prompts with R0 responses each, no id twice, unless the source ran out or the round failed. */
  #completed(decision: Extract<VocabularyDecision, { type: 'round.completed' }>): void {
    const { promptsPerRound, responsesPerPrompt } = this.#config;
    const { prompts, reason } = decision;
    expect(decision.roundId).toBe(this.#round?.id);
    if (reason.code === 'quota_reached') expect(prompts.length).toBe(promptsPerRound);
    else expect(prompts.length).toBeLessThanOrEqual(promptsPerRound);
    expect(new Set(prompts.map((one) => one.promptId)).size).toBe(prompts.length);
    const ids = prompts.flatMap((one) => one.responses.map((response) => response.requestId));
    expect(new Set(ids).size).toBe(ids.length);
    for (const prompt of prompts) {
      expect(prompt.responses.length).toBe(responsesPerPrompt);
      for (const { requestId, weightVersions } of prompt.responses) {
        add(this.#responses, requestId, -1);
        this.#checkFresh(weightVersions, decision.weightVersion);
      }
      add(this.#prompts, prompt.promptId, -1);
    }
    this.#round = undefined;
    this.#toJudge.clear();
  }
}
