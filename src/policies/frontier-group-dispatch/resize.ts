/** The width of the frontier: fixed, or planned from measurements. */
import type { Message } from '../../schemas/messages.ts';
import type { Ctx } from './messages.ts';
import { trained, trainSecondsPerGroup } from './pace.ts';
import { type Plan, planWidth } from './plan.ts';
import { type FrontierState, startWidth } from './state.ts';

/** A new plan is made when the round becomes this many times larger than planned. */
const outgrown = 1.25;
/** A wait of the trainer counts as caused by the frontier only after so many reports of a round. */
const fewestReports = 4;

function resize(state: FrontierState, width: number, reason: Message<'frontier.resized'>['reason'], ctx: Ctx): void {
  if (width === state.width) return;
  state.width = width;
  ctx.emit({ type: 'frontier.resized', at: ctx.at, width, reason });
}

/** Returns the expected number of groups in the current round: those that have come, but at least as many as in the last round. */
function groupsOf({ pace }: FrontierState): number {
  return Math.max(1, pace.round.groups, pace.plan.lastGroups);
}

function plan(state: FrontierState, narrowest: number): Plan | undefined {
  const { groupsPerUpdate } = state.config;
  return planWidth(state.pace, { groups: groupsOf(state), groupsPerUpdate, narrowest });
}

function plannedReason(
  groups: number,
  { expectedSeconds, step, trainSecondsPerGroup: seconds }: Plan,
): Message<'frontier.resized'>['reason'] {
  return {
    code: 'planned',
    groups,
    expectedSeconds,
    stepSeconds: step.base,
    stepSecondsPerRequest: step.slope,
    stepSecondsPerContextToken: step.contextSlope,
    trainSecondsPerGroup: seconds,
  };
}

/** With `auto`, makes a plan when a round begins, or when it has outgrown its plan. */
export function planRound(state: FrontierState, ctx: Ctx): void {
  const { config, pace } = state;
  const groups = groupsOf(state);
  if (config.width !== 'auto' || groups <= pace.plan.groups * outgrown) return;
  pace.plan.groups = groups;
  // Widths far from the measured ones are approached step by step: a plan narrows the frontier by at most half.
  const made = plan(state, Math.ceil(pace.plan.width / 2));
  pace.plan.isMade = made !== undefined;
  if (made === undefined) return;
  pace.plan.width = made.width;
  resize(state, made.width, plannedReason(groups, made), ctx);
}

/**
 * With `auto`, makes a plan in a round that began without a plan, once as many groups have left as the round began with. This
 * plan may only widen the frontier: the first groups to leave are the shortest, and narrowing this late saves little.
 */
export function planLate(state: FrontierState, ctx: Ctx): void {
  const { config, pace, deferred } = state;
  if (config.width !== 'auto' || pace.plan.isMade || deferred.size === 0) return;
  const waves = pace.round.served / startWidth(config);
  if (!Number.isInteger(waves) || waves === 0 || (waves & (waves - 1)) !== 0) return;
  const made = plan(state, state.width);
  if (made === undefined || made.width < state.width) return;
  resize(state, made.width, plannedReason(groupsOf(state), made), ctx);
}

/** With `auto` and no plan, admits another group if the requests stay within `startRequests`. */
export function learn(state: FrontierState, ctx: Ctx): boolean {
  const { config, pace, inService, owed } = state;
  const { startRequests, responsesPerPrompt } = config;
  if (config.width !== 'auto' || pace.plan.isMade || inService > state.width) return false;
  if (owed + responsesPerPrompt > startRequests || pace.fit.weight === 0) return false;
  resize(state, inService + 1, { code: 'learning', unfinished: owed, startRequests }, ctx);
  return true;
}

/** Measures the work of the trainer, and widens the frontier if it has waited while groups were deferred. */
export function consumed(state: FrontierState, event: Message<'train.consumed'>, ctx: Ctx): void {
  const { config, pace, newest } = state;
  const { round } = pace;
  const { groupsPerUpdate } = config;
  trained(pace, event.groups.length, event.seconds, { at: ctx.at, isBehind: state.deferred.size > 0, groupsPerUpdate });
  const { waitedSeconds, busySeconds, firstServedSeconds } = round;
  const total = waitedSeconds + busySeconds;
  if (round.isReported || round.reports < fewestReports || waitedSeconds <= config.starvedShare * total) return;
  // A check is made only after 4, 8, 16 … reports.
  if ((round.reports & (round.reports - 1)) !== 0) return;
  if (newest === null || state.deferred.size === 0 || firstServedSeconds === null) return;
  const servedSeconds = ctx.at - firstServedSeconds;
  const perGroup = trainSecondsPerGroup(pace);
  if (servedSeconds <= 0 || perGroup <= 0) return;
  const servedGroupsPerSecond = round.served / servedSeconds;
  const trainedGroupsPerSecond = 1 / perGroup;
  const wanted = plan(state, state.width)?.width ?? state.width * (trainedGroupsPerSecond / servedGroupsPerSecond);
  const suggestedWidth = Math.min(groupsOf(state), Math.ceil(wanted));
  // The engines cannot go faster, so a wider frontier would not help.
  if (!(suggestedWidth > state.width)) return;
  round.isReported = true;
  ctx.emit({
    type: 'frontier.starved',
    at: ctx.at,
    roundId: newest,
    width: state.width,
    suggestedWidth,
    reason: { code: 'trainer_waits', waitedSeconds, busySeconds, servedGroupsPerSecond, trainedGroupsPerSecond },
  });
}
