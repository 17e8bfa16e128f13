/** Compares adaptive-tp with a host that chooses TP itself: both choices per round, and the predictions of the profile. */

import { isPolicyError } from '../../errors.ts';
import type { LogLineOf } from '../../logs/format/decision-log.ts';
import {
  type AdaptiveTpConfig,
  type AdaptiveTpDecision,
  type AdaptiveTpEvent,
  type Parallelism,
  selectTp,
} from '../../policies/adaptive-tp/index.ts';
import type { ProfileRow, RolloutWorkload } from '../../schemas/parallelism.ts';
import type { ShadowBook } from './book.ts';
import { isSame, Pairs } from './pairs.ts';

type Reason = AdaptiveTpDecision['reason'];
type Finished = Extract<AdaptiveTpEvent, { type: 'step.finished' }>;

/** Predicted times with the TP of either side, for rounds in which the sides differed. */
export interface TpWorth {
  /** Number of rounds with different choices. */
  readonly rounds: number;
  /** Number of these rounds for which the profile predicts both choices. */
  readonly predictedRounds: number;
  /** Predicted decode seconds of these rounds, with the host's TP. */
  readonly hostSeconds: number;
  /** Predicted decode seconds of these rounds, with the policy's TP. */
  readonly policySeconds: number;
  /** Number of steps from which the policy did not learn, because they ran with another TP than the policy's choice. */
  readonly notLearntFrom: number;
}

interface Chosen {
  readonly parallelism: Parallelism;
  readonly reason: Reason;
  readonly where: string;
}

export class TpBook implements ShadowBook {
  readonly #config: AdaptiveTpConfig;
  readonly #rows: ProfileRow[];
  readonly #pairs = new Pairs('round-tp.set');
  readonly #workloads = new Map<string, RolloutWorkload>();
  /** The parallelism of each kind of round, according to the policy. */
  readonly #current = new Map<string, Chosen>();
  readonly #used = new Set<string>();
  #notLearntFrom = 0;

  constructor(config: AdaptiveTpConfig) {
    this.#config = config;
    this.#rows = [...config.profile];
  }

  event({ event, decisions }: LogLineOf<'event'>, where: string): void {
    const tpEvent = event as unknown as AdaptiveTpEvent;
    const before = tpEvent.type === 'step.finished' ? this.#current.get(tpEvent.kind) : undefined;
    for (const decision of decisions as unknown as AdaptiveTpDecision[]) this.#learn(decision, where);
    if (tpEvent.type === 'profile.measured') for (const row of tpEvent.rows) this.#rows.push(row);
    else if (tpEvent.type === 'step.finished') this.#finished(tpEvent, before ?? this.#current.get(tpEvent.kind));
  }

  decided({ decision }: LogLineOf<'decided'>): void {
    const { type, roundId, tp, ep } = decision as unknown as Extract<AdaptiveTpDecision, { type: 'round-tp.set' }>;
    if (type === 'round-tp.set' && roundId !== undefined) this.#pairs.ofHost(roundId, this.#value({ tp, ep }));
  }

  counts() {
    return [this.#pairs.counts()];
  }

  worth(): TpWorth {
    const worth = { rounds: 0, predictedRounds: 0, hostSeconds: 0, policySeconds: 0 };
    for (const pair of this.#pairs) {
      if (isSame(pair)) continue;
      worth.rounds += 1;
      const workload = this.#workloads.get(pair.id);
      if (workload === undefined) continue;
      const [host, policy] = [pair.host, pair.value].map((one) => this.#predicted(one as never, workload));
      if (host === undefined || policy === undefined) continue;
      worth.predictedRounds += 1;
      worth.hostSeconds += host;
      worth.policySeconds += policy;
    }
    return { ...worth, notLearntFrom: this.#notLearntFrom };
  }

  #learn(decision: AdaptiveTpDecision, where: string): void {
    if (decision.type === 'profile.measure') return;
    const { kind, tp, ep, reason } = decision;
    if (decision.type === 'kind-tp.set') this.#current.set(kind, { parallelism: { tp, ep }, reason, where });
    else if (decision.type === 'round-tp.set')
      this.#use(decision.roundId, this.#current.get(kind), { tp, ep }, reason, where);
    else if (decision.reason.code === 'other_parallelism') this.#notLearntFrom += 1;
  }

  #use(roundId: string, chosen: Chosen | undefined, parallelism: Parallelism, reason: Reason, where: string): void {
    this.#used.add(roundId);
    // The report shows the reason for the choice, not the reason for using it in this round.
    this.#pairs.ofPolicy(roundId, this.#value(parallelism), chosen?.reason ?? reason, chosen?.where ?? where);
  }

  /** Records the host's choice: the TP with which a step ran, whether the host has announced this TP or not. */
  #finished({ roundId, workload, tp, ep }: Finished, chosen: Chosen | undefined): void {
    this.#workloads.set(roundId, workload);
    this.#pairs.ofHost(roundId, this.#value({ tp, ep }));
    if (this.#used.has(roundId) || chosen === undefined) return;
    this.#use(roundId, chosen, chosen.parallelism, chosen.reason, chosen.where);
  }

  #value({ tp, ep = 1 }: Parallelism): Readonly<Record<string, unknown>> {
    return this.#config.experts === undefined ? { tp } : { tp, ep };
  }

  #predicted({ tp, ep }: Parallelism, workload: RolloutWorkload): number | undefined {
    const rows = this.#rows.filter((row) => row.tp === tp && (ep === undefined || (row.ep ?? 1) === ep));
    if (rows.length === 0) return undefined;
    const { servers, gpuMemoryBytes, memoryUtilization } = this.#config;
    const gpus = servers.reduce((sum, { gpuIds }) => sum + gpuIds.length, 0);
    try {
      return selectTp({ rows, gpuMemoryBytes, memoryUtilization }, { ...workload, gpus }).predictedSeconds;
    } catch (error) {
      if (isPolicyError(error) && error.code === 'infeasible') return undefined;
      throw error;
    }
  }
}
