/**
 * The planner flex-ulysses as a part of the recipe (FlexRL §3, §4): the part plans each batch when the lengths are known, and
 * refuses a batch for which there is no plan.
 */
import { z } from 'zod';
import { given } from '../../core/collections/given.ts';
import { type Context, definePolicy, handlersOf, type Live } from '../../core/machine/definition.ts';
import { runPlanner } from '../../core/machine/start.ts';
import { derived } from '../../core/machine/state.ts';
import { isPolicyError, refuse } from '../../errors.ts';
import { type FlexUlyssesPlan, flexUlysses } from '../../planners/flex-ulysses/index.ts';
import { batchRun } from '../../schemas/decisions/loading.ts';
import { batchReady } from '../../schemas/events/loading.ts';
import type { BatchAssignment, FrameSlice } from '../../schemas/loading.ts';
import type { Of } from '../../schemas/vocabulary.ts';
import { mostSequences, plannerSettings } from './schema.ts';

type Ready = Of<typeof batchReady>;
type Planned = Of<typeof batchRun>;

/** Settings of the planner. */
const batchPlanningConfig = z.strictObject(plannerSettings);
type Config = z.output<typeof batchPlanningConfig>;

const batchState = z.strictObject({
  /** The plan for the event that was checked last: the check makes the plan, and the decision uses it. */
  checked: derived(() => new WeakMap<Ready, FlexUlyssesPlan>()),
});
type State = Live<z.output<typeof batchState>, Config>;

/** Refuses settings with which not even an empty batch has a plan: then no batch could be planned. */
function begin(config: Config): z.input<typeof batchState> {
  try {
    runPlanner(flexUlysses, { ...config, lengths: [] });
  } catch (error) {
    if (!isPolicyError(error)) throw error;
    refuse('invalid_config', error.path, error.expected, error.got, error);
  }
  return {};
}

function planOf({ config }: State, { sequences }: Ready): FlexUlyssesPlan {
  const lengths = sequences.map((one) => one.tokens);
  const withFrames = sequences.some((one) => one.frames !== undefined);
  const frames = withFrames ? { frames: sequences.map((one) => one.frames ?? 0) } : {};
  return runPlanner(flexUlysses, { ...config, lengths, ...frames });
}

/**
 * Plans the batch.
 *
 * @throws PolicyError `limit_exceeded` for a batch that takes too long to plan, `infeasible` if the planner has no plan
 */
function check(state: State, event: Ready): void {
  if (event.sequences.length > mostSequences) {
    const expected = `at most ${mostSequences} (a larger batch is planned by flex-ulysses, and given to shadow-loader)`;
    refuse('limit_exceeded', 'sequences', expected, event.sequences.length);
  }
  state.checked.set(event, planOf(state, event));
}

function plan(state: State, event: Ready, ctx: Context<Planned>): void {
  const found = state.checked.get(event) ?? planOf(state, event);
  const { metrics, bounds, memoryRelaxed, packs, order } = found;
  const { maxCompute, communication } = metrics;
  ctx.emit({
    type: 'batch.run',
    at: ctx.at,
    batchId: event.batchId,
    stepId: event.stepId,
    assignments: assignmentsOf(event, found),
    packs: packs.map(({ degree, devices, sequences }) => ({
      degree,
      ranks: [...devices],
      sequences: [...sequences],
    })),
    order: order.map((one) => [...one]),
    reason: { code: 'planned', maxCompute, computeBound: bounds.compute, communication, memoryRelaxed },
  });
}

function assignmentsOf({ sequences }: Ready, { assignments, vision }: FlexUlyssesPlan): BatchAssignment[] {
  const spread = sequences.map((): FrameSlice[] => []);
  for (const { device: rank, slices } of vision ?? []) {
    for (const { sequence, from, to } of slices) spread[sequence]!.push({ rank, fromFrame: from, toFrame: to });
  }
  return assignments.map(({ sequence, degree, devices }) => {
    const { sampleId, frames } = sequences[sequence]!;
    const isSpread = sampleId !== undefined && vision !== undefined && frames !== undefined;
    return {
      sequence,
      ...given({ sampleId }),
      degree,
      ranks: [...devices],
      ...(isSpread ? { slices: spread[sequence]! } : undefined),
    };
  });
}

/** Plans each batch; no state connects one batch with the next. */
export const batchPlanning = definePolicy({
  id: 'batch-planning',
  version: 1,
  summary: 'Plans each batch by flex-ulysses, as its lengths are known.',
  source: 'FlexRL §3, §4',
  config: batchPlanningConfig,
  state: batchState,
  begin,
  handlers: [handlersOf<State, Planned>()(batchReady, plan, check)],
  decisions: [batchRun],
  // No ledger: each batch enters and leaves with the same event.
  ledgers: [],
});
