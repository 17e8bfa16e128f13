/** Small jobs on disaggregated pools, and what they must take: an oracle that knows when every group is complete. */
import type { AnyDecision, AnyEvent } from '../../../src/core/machine/definition.ts';
import type { PoolsScheduler } from '../../../src/sim/pools/scheduler.ts';
import { definePoolsJob, type PoolsJob, type PoolsJobInput } from '../../../src/sim/pools/settings.ts';
import type { Workload } from '../../../src/sim/workload/workload.ts';
import { freeCost } from './free-cost.ts';

/** Tokens of every response: of each group in turn, rounds one after the other. */
export type Lengths = readonly (readonly number[])[];

/** A workload of these lengths, without prompts. */
export const workloadOf = (lengths: Lengths): Workload => ({
  name: 'by-hand',
  source: 'by hand',
  resampling: 'recorded',
  correlation: 0,
  capTokens: 1_000_000,
  distinctPrompts: lengths.length,
  prompt: (index) => ({
    promptId: `g${index}`,
    promptTokens: 0,
    sample: (k) => ({ tokens: lengths[index]![k]!, capped: false }),
  }),
});

/** A token a second for every request, however many run; a second of training for ten tokens. */
export function steadyJob(input: Partial<PoolsJobInput> & Pick<PoolsJobInput, 'groupsPerRound'>): PoolsJob {
  return definePoolsJob({
    name: 'steady',
    responsesPerPrompt: 2,
    globalBatchSamples: 2,
    verifier: { medianSeconds: 0.5 },
    cost: {
      memoryBoundSeconds: 1,
      ...freeCost,
      kvCapacityTokens: 1_000_000_000,
      maxRunningSequences: 10_000,
      trainSecondsPerToken: 0.1,
      weightSyncSeconds: 3,
    },
    ...input,
  });
}

/** Four groups, complete after 50, 20, 90 and 30 s on a steady job; 8, 4, 10 and 5 s of training. */
export const fourGroups: Lengths = [
  [30, 50],
  [20, 20],
  [10, 90],
  [20, 30],
];
/** The job of four groups: rewards take half a second. */
export const fourGroupsJob = steadyJob({ groupsPerRound: 4 });

/** What a round takes on a steady job. */
export interface Expected {
  readonly rolloutSeconds: number;
  readonly firstDispatchSeconds: number;
  readonly mainSeconds: number;
  readonly waitSeconds: number;
  /** Groups that are complete at the moment of another: their order is not settled here. */
  readonly ties: number;
}

/** A round on a steady job, without events: slots, ready times, a line of updates. */
export function expectedRound(
  { globalBatchSamples, responsesPerPrompt, verifier, cost }: PoolsJob,
  { pipelining, width }: Pick<PoolsScheduler, 'pipelining' | 'width'>,
  lengths: Lengths,
): Expected {
  const groupsPerUpdate = globalBatchSamples / responsesPerPrompt;
  const slots = Array.from({ length: width === 'all' ? lengths.length : (width as number) }, () => 0);
  const groups = lengths.map((tokens, order) => {
    // The slot that is free first takes the next group.
    const slot = slots.indexOf(Math.min(...slots));
    slots[slot]! += Math.max(...tokens);
    const ended = slots[slot]!;
    return { order, ended, ready: ended + verifier.medianSeconds, tokens: tokens.reduce((sum, one) => sum + one, 0) };
  });
  const ties = groups.length - new Set(groups.map((one) => one.ended)).size;
  const rolloutSeconds = Math.max(...groups.map((one) => one.ended));
  const complete = rolloutSeconds + verifier.medianSeconds;
  const line = [...groups].sort((a, b) => a.ready - b.ready);
  let [end, wait, first] = [0, 0, -1];
  for (let at = 0; at < line.length; at += groupsPerUpdate) {
    const update = line.slice(at, at + groupsPerUpdate);
    const isWhole = update.length === groupsPerUpdate;
    const ready = pipelining && isWhole ? Math.max(...update.map((one) => one.ready)) : complete;
    if (first < 0) first = ready;
    wait += Math.max(0, ready - end);
    const tokens = update.reduce((sum, one) => sum + one.tokens, 0);
    end = Math.max(end, ready) + tokens * cost.trainSecondsPerToken + cost.trainBaseSeconds;
  }
  return { rolloutSeconds, firstDispatchSeconds: first, mainSeconds: end, waitSeconds: wait, ties };
}

/** A scheduler whose events and decisions are written down. */
export function recorded(scheduler: PoolsScheduler): {
  readonly scheduler: PoolsScheduler;
  readonly events: AnyEvent[];
  readonly decisions: AnyDecision[];
} {
  const events: AnyEvent[] = [];
  const decisions: AnyDecision[] = [];
  const create: PoolsScheduler['create'] = (job, options) => {
    const policy = scheduler.create(job, options);
    return {
      id: policy.id,
      send: (event) => {
        events.push(event);
        const decided = policy.send(event);
        decisions.push(...decided);
        return decided;
      },
    };
  };
  return { scheduler: { ...scheduler, create }, events, decisions };
}
