/**
 * Handles rounds and their milestones: at a milestone the host reports the progress of the requests in flight, and the policy
 * decides.
 */
import { mintedId } from '../../core/ids/minted-ids.ts';
import { refuse } from '../../errors.ts';
import type { RunningRequest } from '../../schemas/gpus.ts';
import type { Message } from '../../schemas/messages.ts';
import { batchesOf, planFor } from './plan.ts';
import type { InFlight } from './projection.ts';
import { assertEngine, checkMinted, late, reclaim } from './release.ts';
import { type Ctx, targetOf } from './schema.ts';
import type { Query, ScaleDownState } from './state.ts';

// 0.05 · 1,024 is not a whole number, and 0.2 is not exact.
const slack = 1e-9;

export function checkOpening(state: ScaleDownState, { roundId }: Message<'round.opened'>): void {
  if (state.recentRounds.has(roundId)) refuse('duplicate_id', 'roundId', 'a new round id', roundId);
}

/** Opens a round; from now on, the lengths of the round before count. */
export function openRound(state: ScaleDownState, { roundId, kind }: Message<'round.opened'>, ctx: Ctx): void {
  if (state.round !== undefined) endRound(state, 'round_replaced', ctx);
  state[state.kind].close(state.config.historyRetention);
  state.kind = kind;
  state.round = { roundId, finished: 0, evaluated: 0, fixed: false, settled: false };
  state.recentRounds.add(roundId);
  // An abort that was not confirmed within two rounds is forgotten.
  state.abortingBefore = state.aborting;
  state.aborting = new Set();
}

export function checkClosing(state: ScaleDownState, { roundId }: Message<'round.completed'>): void {
  if (!state.recentRounds.has(roundId)) refuse('unknown_id', 'roundId', 'a round that was opened', roundId);
}

export function closeRound(state: ScaleDownState, { roundId }: Message<'round.completed'>, ctx: Ctx): void {
  if (roundId === state.round?.roundId) endRound(state, 'round_completed', ctx);
  else late(roundId, 'round_closed', ctx);
}

/** Ends the round: asks for training GPUs back, and gives up a release under way. */
function endRound(state: ScaleDownState, code: 'round_completed' | 'round_replaced', ctx: Ctx): void {
  state.round = undefined;
  state.query = undefined;
  if (state.release?.phase === 'releasing') reclaim(state, { code: 'ended_before_release' }, ctx);
  else if (state.release?.phase === 'released') reclaim(state, { code }, ctx);
}

export function accepted(state: ScaleDownState, _: Message<'response.accepted'>, ctx: Ctx): void {
  if (state.config.progressUnit === 'responses') advance(state, ctx);
}

export function counted(state: ScaleDownState, { roundId }: Message<'prompt.counted'>, ctx: Ctx): void {
  if (state.config.progressUnit === 'prompts' && roundId === state.round?.roundId) advance(state, ctx);
}

/** Counts one more finished response or prompt; at a milestone, asks the host for the progress of the others. */
function advance(state: ScaleDownState, ctx: Ctx): void {
  const { round, release, topology } = state;
  if (round === undefined) return;
  round.finished += 1;
  if (topology.engines.length === 0) return;
  if (round.settled || state.query !== undefined || (release !== undefined && release.phase !== 'reclaiming')) return;
  const { finished, roundId } = round;
  const target = targetOf(state.config);
  const sinceLast = finished - round.evaluated;
  if (!isMilestone(state.config, finished / target, sinceLast / target)) return;
  round.evaluated = finished;
  round.fixed = true;
  if (state.config.trigger !== 'adaptive') round.settled = true;
  if (release !== undefined) {
    const reason = { code: 'not_returned', releaseId: release.releaseId } as const;
    ctx.emit({ type: 'scale-down.rejected', at: ctx.at, roundId, reason });
    return;
  }
  const queryId = mintedId(state.prefix, 'query-', state.nextId++);
  state.query = { queryId, roundId, finished, ended: new Set() };
  const reason = { code: 'milestone', finished, target, sinceLast } as const;
  ctx.emit({ type: 'progress.query', at: ctx.at, queryId, roundId, reason });
}

function isMilestone(config: ScaleDownState['config'], fraction: number, since: number): boolean {
  const { trigger, firstFraction, lastFraction, fractionStep } = config;
  if (trigger !== 'adaptive') return fraction >= trigger - slack;
  return fraction >= firstFraction - slack && fraction <= lastFraction + slack && since >= fractionStep - slack;
}

/** Refuses a report with an unknown engine. */
export function checkReport(state: ScaleDownState, { queryId, requests }: Message<'progress.reported'>): void {
  if (state.query?.queryId !== queryId) return checkMinted(state, 'queryId', queryId);
  const { engineIndexOf } = state.topology;
  // Reports list requests engine by engine, so most ids are the one before them.
  let known: string | undefined;
  for (let index = 0; index < requests.length; index += 1) {
    const { engineId } = requests[index]!;
    if (engineId === known) continue;
    if (!engineIndexOf.has(engineId)) assertEngine(state, engineId, `requests[${index}].engineId`);
    known = engineId;
  }
}

/** Decides on the report of the host. */
export function answered(state: ScaleDownState, event: Message<'progress.reported'>, ctx: Ctx): void {
  const { query } = state;
  if (query?.queryId !== event.queryId) {
    late(event.queryId, 'query_closed', ctx);
    return;
  }
  decide(state, query, event.requests, ctx);
  state.query = undefined;
}

/** Answers a report with `gpus.release` or `scale-down.rejected`. */
function decide(state: ScaleDownState, query: Query, requests: readonly RunningRequest[], ctx: Ctx): void {
  const { at } = ctx;
  const { roundId } = query;
  const { engines } = state.topology;
  const progress = { finished: query.finished, target: targetOf(state.config) };
  const plan = planFor(state, inFlight(state, query, requests), progress);
  if ('code' in plan) {
    ctx.emit({ type: 'scale-down.rejected', at, roundId, reason: plan });
    return;
  }
  const { chosen, keep, moves, free, fullest } = plan;
  const releaseId = mintedId(state.prefix, 'release-', state.nextId++);
  const migrations = batchesOf(state, moves);
  state.release = { releaseId, phase: 'releasing', engines: chosen, moves: new Map(), free };
  // A report that was not validated may name a request twice: the first move is the one that counts.
  for (const { request, to } of moves) {
    const { requestId, engineIndex: from, tokens } = request;
    if (state.release.moves.has(requestId)) continue;
    state.release.moves.set(requestId, { from, to, tokens, attempts: 1, status: 'moving' });
  }
  ctx.emit({
    type: 'gpus.release',
    at,
    releaseId,
    roundId,
    release: chosen.map((engineIndex) => {
      const { engineId, gpuIds } = engines[engineIndex]!;
      return { engineId, gpuIds: [...gpuIds] };
    }),
    keep: keep.map((engineIndex) => engines[engineIndex]!.engineId),
    migrations,
    reason: { code: state.config.trigger === 'adaptive' ? 'fits' : 'fixed_fraction', ...progress, ...fullest },
  });
}

/** Reads a report, without requests that have ended since the query, or must end, or whose engine is lost. */
function inFlight(state: ScaleDownState, { ended }: Query, requests: readonly RunningRequest[]): InFlight[] {
  const { status, topology, aborting, abortingBefore } = state;
  const gone = [ended, aborting, abortingBefore].filter((ids) => ids.size > 0);
  const there: InFlight[] = [];
  for (const { requestId, engineId, tokens, promptTokens } of requests) {
    const engineIndex = topology.engineIndexOf.get(engineId)!;
    if (status[engineIndex] === 'lost' || gone.some((ids) => ids.has(requestId))) continue;
    there.push({ requestId, engineIndex, tokens, kvTokens: promptTokens + tokens });
  }
  return there;
}
