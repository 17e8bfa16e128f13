/**
 * Plans the best width: simulates a round of the expected size with a small model of engines and trainer. The computation is pure
 * and has bounded size.
 */
import { Heap } from '../../core/collections/heap.ts';
import { type Pace, trainSecondsPerGroup } from './pace.ts';
import { type StepCost, stepCost } from './step-cost.ts';

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
