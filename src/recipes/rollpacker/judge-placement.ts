/**
 * The planner judge-offload as a part of the recipe (RollPacker §4.3): fewer layers of the judge stay on the GPU the
 * longer the responses are that it is given. It grows at once, and shrinks only between rounds.
 */
import { z } from 'zod';
import { type Context, definePolicyByHand } from '../../core/definition.ts';
import { runPlanner } from '../../core/start.ts';
import { type JudgeOffloadPlan, judgeOffloadInput, judgeOffloadPlanner } from '../../planners/judge-offload/index.ts';
import { judgePlace } from '../../schemas/decisions/judge.ts';
import { roundPlanned } from '../../schemas/decisions/rounds.ts';
import { responseCompleted } from '../../schemas/events/requests.ts';
import { hostRestarted } from '../../schemas/events/session.ts';
import { tokens } from '../../schemas/units.ts';
import type { Of } from '../../schemas/vocabulary.ts';

/** Lengths are planned for in powers of two, from here on. */
const leastTokens = 1024;

const events = [roundPlanned, responseCompleted, hostRestarted] as const;
type JudgeEvent = Of<(typeof events)[number]>;
type JudgeDecision = Of<typeof judgePlace>;
type Ctx = Context<JudgeDecision>;

/** Settings of the judge; `sequenceTokens` is the greatest length that it is ever given. */
export const judgePlacementConfig = z.strictObject({ judge: judgeOffloadInput.optional() });
type Config = z.output<typeof judgePlacementConfig>;

const snapshot = z.strictObject({
  planned: tokens,
  kind: z.enum(['short', 'long']),
  longest: z.strictObject({ short: tokens, long: tokens }),
});
type Saved = z.output<typeof snapshot>;

interface State extends Saved {
  readonly config: Config;
  /** A plan for every length that may come; made at once, so that none can be missing later. */
  readonly plans: ReadonlyMap<number, JudgeOffloadPlan>;
}

function plansOf({ judge }: Config): Map<number, JudgeOffloadPlan> {
  const plans = new Map<number, JudgeOffloadPlan>();
  if (judge === undefined) return plans;
  for (let length = leastTokens; ; length *= 2) {
    const sequenceTokens = Math.min(length, judge.sequenceTokens);
    plans.set(sequenceTokens, runPlanner(judgeOffloadPlanner, { ...judge, sequenceTokens }));
    if (sequenceTokens === judge.sequenceTokens) return plans;
  }
}

function apply(state: State, event: JudgeEvent, ctx: Ctx): void {
  if (state.plans.size === 0) return;
  switch (event.type) {
    case 'response.completed': {
      const { kind, longest, planned } = state;
      if (event.tokens > longest[kind]) longest[kind] = event.tokens;
      if (planned > 0 && event.tokens > planned) {
        place(
          state,
          event.tokens,
          { code: 'longer_response', responseTokens: event.tokens, plannedTokens: planned },
          ctx,
        );
      }
      return;
    }
    case 'round.planned': {
      const { planned, longest } = state;
      const expected = longest[event.kind];
      state.kind = event.kind;
      longest[event.kind] = 0;
      // Nothing is known of such rounds yet: whatever may come fits.
      const wanted = expected === 0 ? Number.POSITIVE_INFINITY : expected;
      if (planned === 0) place(state, wanted, { code: 'start' }, ctx);
      else place(state, wanted, { code: 'round_planned', longestTokens: expected, plannedTokens: planned }, ctx);
      return;
    }
    case 'host.restarted':
      state.planned = 0;
  }
}

/** Lays the judge out for a length, if that is not how it lies. */
function place(state: State, wanted: number, reason: JudgeDecision['reason'], ctx: Ctx): void {
  const lengths = [...state.plans.keys()];
  const sequenceTokens = lengths.find((length) => length >= wanted) ?? lengths[lengths.length - 1]!;
  if (sequenceTokens === state.planned) return;
  state.planned = sequenceTokens;
  const { residentLayers, streamedLayers, prefetchDepth, mpsShare, memoryBytes, pipelinedSeconds } =
    state.plans.get(sequenceTokens)!;
  ctx.emit({
    type: 'judge.place',
    at: ctx.at,
    sequenceTokens,
    residentLayers,
    streamedLayers: [...streamedLayers],
    prefetchDepth,
    mpsShare,
    memoryBytes,
    pipelinedSeconds,
    reason,
  });
}

/** A judge beside the actor; without one in its configuration it decides nothing. */
export const judgePlacement = definePolicyByHand({
  id: 'judge-placement',
  version: 1,
  summary: 'Lays a judge beside the actor out for the lengths that it is given.',
  source: 'RollPacker §4.3',
  config: judgePlacementConfig,
  events,
  decisions: [judgePlace],
  state: snapshot,
  init: (config: Config): State => ({
    config,
    plans: plansOf(config),
    planned: 0,
    kind: 'long',
    longest: { short: 0, long: 0 },
  }),
  check: () => undefined,
  apply,
  save: ({ planned, kind, longest }: State): Saved => ({ planned, kind, longest: { ...longest } }),
  load: ({ planned, kind, longest }: Saved, config: Config): State => ({
    config,
    plans: plansOf(config),
    planned,
    kind,
    longest: { ...longest },
  }),
  // Lengths are numbers that stay here: nothing enters that could be lost.
  ledgers: [],
});
