/** The state of sandbox-timeout: anchors, runs in flight, and the past runs for reports. */
import { z } from 'zod';
import { Fifo } from '../../core/collections/fifo.ts';
import type { Live } from '../../core/machine/definition.ts';
import { byHand, mapBy, setOf } from '../../core/machine/state.ts';
import { anchorsOf } from '../../core/rollout/adaptive-timeout.ts';
import type { SandboxTimeoutConfig } from '../../generated/settings/sandbox-timeout.ts';
import { count, runId, seconds, testCaseId } from '../../schemas/units.ts';

const run = z.strictObject({
  runId,
  testCaseId,
  timeoutSeconds: seconds,
  /** The anchor when the run was requested. */
  anchorSeconds: seconds.nullable(),
  explores: z.boolean(),
});
/** A run in flight. */
export interface Run extends z.output<typeof run> {}

/** A run that has scored and had an anchor. */
export interface PastRun {
  readonly anchorSeconds: number;
  readonly timeoutSeconds: number;
  readonly seconds: number;
  readonly outcome: 'correct' | 'wrong' | 'timeout';
  readonly explores: boolean;
}

/** One codec serves the whole list, because a codec per run would take twice as long. */
const history = byHand(
  z
    .array(z.tuple([seconds, seconds, seconds, z.enum(['correct', 'wrong', 'timeout']), z.boolean()]))
    .describe('Anchor, timeout, seconds, outcome, whether it explored.'),
  {
    decode: (saved) => {
      const fifo = new Fifo<PastRun>();
      for (const [anchorSeconds, timeoutSeconds, taken, outcome, explores] of saved) {
        fifo.push({ anchorSeconds, timeoutSeconds, seconds: taken, outcome, explores });
      }
      return fifo;
    },
    encode: (fifo) =>
      [...fifo].map((one) => [one.anchorSeconds, one.timeoutSeconds, one.seconds, one.outcome, one.explores]),
  },
);

export const timeoutState = z.strictObject({
  /** Anchors by test case. */
  anchors: anchorsOf(testCaseId),
  runs: mapBy('runId', run),
  /**
   * Ids of the latest ended runs: a second report about such a run is late, not wrong. There are two generations: when the newer
   * one is full, the older one is forgotten as a whole, so that the end of a run costs one insertion.
   */
  ended: z.strictObject({ newer: setOf(z.string()), older: setOf(z.string()) }),
  history,
  /** Number of test cases whose anchors were dropped because there were too many. */
  forgotten: count,
});
export type TimeoutState = Live<z.output<typeof timeoutState>, SandboxTimeoutConfig>;
export type SavedTimeouts = z.input<typeof timeoutState>;

/** Least number of ended runs that are remembered by id; at most twice as many are. */
const rememberedRuns = 1024;

/** Whether a run is known to have ended. */
export function hasEnded({ ended }: TimeoutState, id: string): boolean {
  return ended.newer.has(id) || ended.older.has(id);
}

/** Takes a run out of flight, and remembers its id for late reports. */
export function end(state: TimeoutState, id: string): void {
  state.runs.delete(id);
  if (state.ended.newer.size >= rememberedRuns) state.ended = { newer: new Set(), older: state.ended.newer };
  state.ended.newer.add(id);
}
