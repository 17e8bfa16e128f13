/**
 * The width of the frontier: fixed, or planned from measurements. A plan simulates a round of the expected size with a small model of
 * engines and trainer; the computation is pure and has bounded size.
 */
import { Heap } from '../../core/collections/heap.ts';
import type { Message } from '../../schemas/messages.ts';
import { type Pace, type StepCost, stepCost, trained, trainSecondsPerGroup } from './pace.ts';
import { type Ctx, type FrontierState, startWidth } from './state.ts';

/** Limit on the requests of a modelled round; of a larger round, only the beginning is modelled. */
const mostRequests = 2048;
/** Least number of groups with known lengths that a plan needs. */
const fewestGroups = 4;
/** Factor between widths that are tried. */
const ratio = 1.15;
/**
 * Among the widths whose time is within this share of the best time, the widest is taken, because a frontier that is too narrow
 * costs more than one that is too wide.
 */
const tolerance = 0.005;
/** Least predicted seconds per token, as a share of the least ever seen: the responses seen were rarely alone in service. */
const floorShare = 0.75;
/**
 * Strides through the remembered groups; each gives another order of lengths. Small rounds differ more and take less time, so more
 * orders are tried.
 */
const strides = [1, 5, 3, 7] as const;
const fewRequests = 512;

/** A plan for a round. */
export interface Plan {
  readonly width: number;
  readonly expectedSeconds: number;
  readonly step: StepCost;
  readonly trainSecondsPerGroup: number;
}

interface Job {
  readonly end: number;
  readonly group: number;
  readonly seq: number;
  readonly start: number;
}

const byEnd = (a: Job, b: Job): number => a.end - b.end || a.seq - b.seq;

/** A round to model. */
export interface ModelRound {
  readonly groups: number;
  readonly groupsPerUpdate: number;
  readonly step: StepCost;
  /** Seconds of training per token. */
  readonly trainSecondsPerToken: number;
  /** Returns the response lengths of the group at this place in the round. */
  lengths(group: number): readonly number[];
}

/**
 * Returns the seconds from the first admission of a round until the trainer is done with it. All requests in service get tokens at
 * the same pace, which falls with their number; the trainer takes complete groups first come, first served.
 */
export function modelledSeconds(round: ModelRound, width: number): number {
  const { groups, groupsPerUpdate, step } = round;
  const jobs = new Heap<Job>(byEnd);
  const left: number[] = [];
  const tokens: number[] = [];
  let [token, seconds, seq, inService, started] = [0, 0, 0, 0, 0];
  let [ready, readyTokens, done, trainedUntil] = [0, 0, 0, 0];
  const fill = (): void => {
    while (inService < width && left.length < groups) {
      const lengths = round.lengths(left.length);
      let sum = 0;
      for (let at = 0; at < lengths.length; at += 1) {
        jobs.push({ end: token + lengths[at]!, group: left.length, seq: seq++, start: token });
        started += token;
        sum += lengths[at]!;
      }
      left.push(lengths.length);
      tokens.push(sum);
      inService += 1;
    }
  };
  fill();
  while (jobs.size > 0) {
    const running = jobs.size;
    const { end, group, start } = jobs.pop()!;
    const context = running * (token + end) * 0.5 - started;
    const pace = step.base + step.slope * running + step.contextSlope * context;
    seconds += (end - token) * Math.max(floorShare * step.fastest, pace);
    started -= start;
    token = end;
    left[group]! -= 1;
    if (left[group]! > 0) continue;
    inService -= 1;
    ready += 1;
    readyTokens += tokens[group]!;
    done += 1;
    if (ready === groupsPerUpdate || done === groups) {
      trainedUntil = Math.max(trainedUntil, seconds) + readyTokens * round.trainSecondsPerToken;
      ready = 0;
      readyTokens = 0;
    }
    fill();
  }
  return trainedUntil;
}

/**
 * Returns the best width for a round, or `undefined` while too little is known.
 *
 * @param groups - groups of the round
 * @param narrowest - the least width that is considered
 */
export function planWidth(
  pace: Pace,
  { groups, groupsPerUpdate, narrowest }: { groups: number; groupsPerUpdate: number; narrowest: number },
): Plan | undefined {
  const step = stepCost(pace.fit);
  const known = pace.lengths.length;
  if (step === undefined || known < fewestGroups) return undefined;
  const trainSeconds = trainSecondsPerGroup(pace);
  let tokens = 0;
  for (const lengths of pace.lengths) for (const one of lengths) tokens += one;
  const trainSecondsPerToken = tokens > 0 ? (trainSeconds * known) / tokens : 0;
  const most = Math.min(mostRequests, Math.floor((mostRequests * known) / pace.lengthCount));
  const size = Math.max(1, Math.min(groups, most));
  const orders = size * pace.lengthCount <= fewRequests * known ? strides.length : 2;
  const rounds = strides.slice(0, orders).map((stride, turn): ModelRound => {
    // Each pass begins one group later, because a stride that divides the number of groups would always meet the same groups.
    const sample = (group: number) => group * stride + Math.floor((group * stride) / known) + turn * 7;
    const lengths = (group: number) => pace.lengths[sample(group) % known]!;
    return { groups: size, groupsPerUpdate, step, trainSecondsPerToken, lengths };
  });
  const tried: { width: number; seconds: number }[] = [];
  let best = Number.POSITIVE_INFINITY;
  for (
    let width = Math.min(size, narrowest);
    ;
    width = Math.min(size, Math.max(width + 1, Math.round(width * ratio)))
  ) {
    let seconds = 0;
    for (const round of rounds) seconds += modelledSeconds(round, width) / rounds.length;
    tried.push({ width, seconds });
    best = Math.min(best, seconds);
    if (width === size) break;
  }
  const chosen = tried.findLast(({ seconds }) => seconds <= best * (1 + tolerance))!;
  return {
    // If the width holds the whole modelled round, the plan holds the whole real round.
    width: chosen.width === size ? Math.max(groups, chosen.width) : chosen.width,
    expectedSeconds: chosen.seconds,
    step,
    trainSecondsPerGroup: trainSeconds,
  };
}

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
