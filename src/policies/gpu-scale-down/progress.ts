/** Rounds and their milestones. */
import { decide } from './decide.ts';
import { reclaim } from './release.ts';
import { targetOf } from './schema.ts';
import type { ScaleDownState } from './state.ts';
import type { Ctx, EventOf } from './words.ts';

// 0.05 · 1,024 is no whole number, and 0.2 no exact one.
const slack = 1e-9;

/** A round begins: what the one before has shown of lengths counts from now on. */
export function openRound(state: ScaleDownState, { roundId, kind }: EventOf<'round.opened'>, ctx: Ctx): void {
  if (state.round !== undefined) endRound(state, 'round_replaced', ctx);
  state.histories[state.kind].close(state.config.historyRetention);
  state.kind = kind;
  state.round = { roundId, finished: 0, evaluated: 0, fixed: false, settled: false };
  state.recentRounds.add(roundId);
  // An abort that is not confirmed within two rounds never will be.
  state.abortingBefore = state.aborting;
  state.aborting = new Set();
}

/** The round is over: GPUs that train come back, and a release that is under way is given up. */
export function endRound(state: ScaleDownState, code: 'round_completed' | 'round_replaced', ctx: Ctx): void {
  state.round = undefined;
  state.query = undefined;
  if (state.release?.phase === 'releasing') reclaim(state, { code: 'ended_before_release' }, ctx);
  else if (state.release?.phase === 'released') reclaim(state, { code }, ctx);
}

/** One more is finished: at a milestone the host is asked how far the others are. */
export function advance(state: ScaleDownState, ctx: Ctx): void {
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
  const queryId = `${state.idPrefix}query-${state.nextId++}`;
  state.query = { queryId, roundId, finished, ended: new Set() };
  const reason = { code: 'milestone', finished, target, sinceLast } as const;
  ctx.emit({ type: 'progress.query', at: ctx.at, queryId, roundId, reason });
}

function isMilestone(config: ScaleDownState['config'], fraction: number, since: number): boolean {
  const { trigger, firstFraction, lastFraction, fractionStep } = config;
  if (trigger !== 'adaptive') return fraction >= trigger - slack;
  return fraction >= firstFraction - slack && fraction <= lastFraction + slack && since >= fractionStep - slack;
}

/** The host's report: the decision. */
export function answered(state: ScaleDownState, event: EventOf<'progress.reported'>, ctx: Ctx): void {
  const { query } = state;
  if (query?.queryId !== event.queryId) {
    ctx.emit({ type: 'scale-down.late', at: ctx.at, id: event.queryId, reason: { code: 'query_closed' } });
    return;
  }
  decide(state, query, event.requests, ctx);
  state.query = undefined;
}
