/**
 * The planner flex-ulysses as a part of the recipe (FlexRL §3, §4): it plans each batch as its lengths are known, and
 * refuses one that it has no plan for.
 */
import { z } from 'zod';
import { type Context, definePolicyByHand } from '../../core/definition.ts';
import { runPlanner } from '../../core/start.ts';
import { isPolicyError, refuse } from '../../errors.ts';
import { type FlexUlyssesPlan, flexUlyssesPlanner } from '../../planners/flex-ulysses/index.ts';
import { batchPlanned } from '../../schemas/decisions/loading.ts';
import { batchReady } from '../../schemas/events/loading.ts';
import type { BatchAssignment, FrameSlice } from '../../schemas/loading.ts';
import type { Of } from '../../schemas/vocabulary.ts';
import { plannerSettings } from './schema.ts';

type Ready = Of<typeof batchReady>;
type Planned = Of<typeof batchPlanned>;

/** Settings of the planner. */
export const batchPlanningConfig = z.strictObject(plannerSettings);
type Config = z.output<typeof batchPlanningConfig>;

interface State {
  readonly config: Config;
  /** The plan of the event that was checked last: it is made once, to see whether there is one, and used then. */
  readonly checked: WeakMap<Ready, FlexUlyssesPlan>;
}

const snapshot = z.strictObject({});

function init(config: Config): State {
  try {
    runPlanner(flexUlyssesPlanner, { ...config, lengths: [] });
  } catch (error) {
    if (!isPolicyError(error)) throw error;
    refuse('invalid_config', error.path, error.expected, error.got, error);
  }
  return { config, checked: new WeakMap() };
}

function planOf({ config }: State, { sequences }: Ready): FlexUlyssesPlan {
  const lengths = sequences.map((one) => one.tokens);
  const withFrames = sequences.some((one) => one.frames !== undefined);
  const frames = withFrames ? { frames: sequences.map((one) => one.frames ?? 0) } : {};
  return runPlanner(flexUlyssesPlanner, { ...config, lengths, ...frames });
}

/**
 * Plans the batch.
 *
 * @throws PolicyError `infeasible` where the planner has no plan
 */
function check(state: State, event: Ready): void {
  state.checked.set(event, planOf(state, event));
}

function apply(state: State, event: Ready, ctx: Context<Planned>): void {
  const plan = state.checked.get(event) ?? planOf(state, event);
  const { metrics, bounds, memoryRelaxed, packs, order } = plan;
  const { maxCompute, communication } = metrics;
  ctx.emit({
    type: 'batch.planned',
    at: ctx.at,
    batchId: event.batchId,
    stepId: event.stepId,
    assignments: assignmentsOf(event, plan),
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
      ...(sampleId === undefined ? undefined : { sampleId }),
      degree,
      ranks: [...devices],
      ...(isSpread ? { slices: spread[sequence]! } : undefined),
    };
  });
}

/** Plans each batch; keeps nothing from one to the next. */
export const batchPlanning = definePolicyByHand({
  id: 'batch-planning',
  version: 1,
  summary: 'Plans each batch by flex-ulysses, as its lengths are known.',
  source: 'FlexRL §3, §4',
  config: batchPlanningConfig,
  events: [batchReady],
  decisions: [batchPlanned],
  state: snapshot,
  init,
  check,
  apply,
  save: () => ({}),
  load: (_: unknown, config: Config): State => init(config),
  // A batch is planned by the event that it comes with.
  ledgers: [],
});
