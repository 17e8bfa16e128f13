/** Invariants of decisions that a host can check with the settings of the policy. */

import type { Message } from '../../schemas/messages.ts';

/** Throws an error with the message if the claim is false. */
export function claim(holds: boolean, otherwise: string): void {
  if (!holds) throw new Error(otherwise);
}

/** Progress of a request from the host's point of view. */
export interface Flight {
  /** The prompt of the request. */
  readonly promptId: string;
  /** The engine of the request, if the host knows it. */
  engineId: string | undefined;
  /** `waiting` for an environment, then `resuming`; `aborting`: told to stop, and not confirmed yet. */
  phase: 'running' | 'waiting' | 'resuming' | 'aborting';
  /** Whether an aborting request still takes a slot. */
  held?: boolean;
}

/** Settings against which decisions are checked: the settings of speculative-admission with the same names. */
export interface HostModelConfig {
  /** P0, prompts that a round trains on. */
  readonly promptsPerRound: number;
  /** R0, responses per prompt. */
  readonly responsesPerPrompt: number;
  /** Weight versions that a response may lag behind; 0 if absent. */
  readonly maxStaleness?: number | undefined;
  /** Most requests in flight; unlimited if absent. */
  readonly maxInFlight?: number | undefined;
  /** Most requests in flight on one engine; unlimited if absent. */
  readonly maxInFlightPerEngine?: number | undefined;
  /** `none`, `zero-variance` or `host`; `none` if absent. */
  readonly filter?: string | undefined;
  /** Prompts of each domain in a short round. */
  readonly quotas?: Readonly<Record<string, number>> | undefined;
}

/** An open round, with the data that its rules need. */
export interface OpenRound {
  /** Id of the round. */
  readonly id: string;
  /** Kind of the round: with speculation (`short`) or without (`long`). */
  readonly kind: 'short' | 'long';
  /** Weight version of the responses of the round. */
  readonly weightVersion: number;
}

/** Checks that a round is long if the queue holds P0 prompts, and short otherwise, whatever reason the policy gives. */
export function checkPlanned({ promptsPerRound }: HostModelConfig, decision: Message<'round.planned'>): void {
  const { roundId, kind, reason } = decision;
  if (reason.code !== 'queue_full' && reason.code !== 'queue_below_threshold') return;
  const isFull = reason.queued >= promptsPerRound;
  const fits = isFull === (reason.code === 'queue_full') && isFull === (kind === 'long');
  claim(fits, `${roundId} is ${kind} with ${reason.queued} of ${promptsPerRound} prompts queued`);
}

/** Whether a request takes a slot. */
export function holds(flight: Flight): boolean {
  if (flight.phase === 'aborting') return flight.held ?? true;
  return flight.phase === 'running';
}

/** Checks invariant 3 when a prompt is collected: this happens at its R0-th response, not before or after. */
export function checkCollected(
  { responsesPerPrompt }: HostModelConfig,
  { promptId, requestIds }: Message<'prompt.collected'>,
): void {
  claim(
    new Set(requestIds).size === responsesPerPrompt && requestIds.length === responsesPerPrompt,
    `invariant 3: ${promptId} is collected with ${requestIds.length} responses of ${responsesPerPrompt}`,
  );
}

/** Checks invariant 8: no response older than `maxStaleness` is used. */
export function checkFresh(
  { maxStaleness = 0 }: HostModelConfig,
  versions: readonly number[],
  weightVersion: number,
): void {
  const lag = weightVersion - Math.min(...versions);
  claim(lag <= maxStaleness, `invariant 8: a response lags ${lag} versions behind, allowed are ${maxStaleness}`);
}

/** Checks invariant 4: the limits hold whenever a request starts. */
export function checkLimits(
  { maxInFlight: most = Number.POSITIVE_INFINITY, maxInFlightPerEngine: limit }: HostModelConfig,
  flights: ReadonlyMap<string, Flight>,
  started: string | undefined,
): void {
  const holding = [...flights.values()].filter(holds);
  claim(holding.length <= most, `invariant 4: ${holding.length} requests in flight, allowed are ${most}`);
  if (limit === undefined || started === undefined) return;
  const here = holding.filter((flight) => flight.engineId === started).length;
  claim(here <= limit, `invariant 4: ${here} requests on ${started}, allowed are ${limit}`);
}

/**
 * Checks invariant 3: a round has P0 prompts with R0 responses each and no id twice, unless the source is exhausted or the round
 * has failed.
 */
export function checkCompleted(
  config: HostModelConfig,
  { roundId, prompts, reason, weightVersion }: Message<'round.completed'>,
  open: OpenRound | undefined,
): void {
  const { promptsPerRound: needed, responsesPerPrompt } = config;
  claim(roundId === open?.id, `invariant 3: ${roundId} completes, open is ${open?.id}`);
  const enough = reason.code !== 'quota_reached' || prompts.length === needed;
  claim(
    enough && prompts.length <= needed,
    `invariant 3: ${roundId} completes (${reason.code}) with ${prompts.length} of ${needed} prompts`,
  );
  const ids = prompts.flatMap((one) => one.responses.map((response) => response.requestId));
  for (const all of [prompts.map((one) => one.promptId), ids])
    claim(new Set(all).size === all.length, `invariant 3: ${roundId} holds something twice: ${all.join(' ')}`);
  for (const { promptId, responses } of prompts) {
    const full = responses.length === responsesPerPrompt;
    claim(full, `invariant 3: ${promptId} completes with ${responses.length} responses of ${responsesPerPrompt}`);
    for (const { weightVersions } of responses) checkFresh(config, weightVersions, weightVersion);
  }
}
