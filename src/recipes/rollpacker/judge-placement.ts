/**
 * The planner judge-offload as a part of the recipe (RollPacker §4.3): the longer the responses that the judge gets, the fewer of
 * its layers stay on the GPU. The planned length grows at once, and shrinks only between rounds.
 */
import { z } from 'zod';
import { type Context, definePolicy, handlersOf, type Live } from '../../core/machine/definition.ts';
import { runPlanner } from '../../core/machine/start.ts';
import { derived } from '../../core/machine/state.ts';
import { type JudgeOffloadPlan, judgeOffload } from '../../planners/judge-offload/index.ts';
import { judgeOffloadInput } from '../../planners/judge-offload/schema.ts';
import { judgePlace } from '../../schemas/decisions/judge.ts';
import { roundPlanned } from '../../schemas/decisions/rounds.ts';
import { responseCompleted } from '../../schemas/events/requests.ts';
import { hostRestarted } from '../../schemas/events/session.ts';
import type { Message } from '../../schemas/messages.ts';
import { tokens } from '../../schemas/units.ts';
import type { Of } from '../../schemas/vocabulary.ts';

/** Least planned length; the other planned lengths are its multiples by powers of two. */
const leastTokens = 1024;

type JudgeDecision = Of<typeof judgePlace>;
type Ctx = Context<JudgeDecision>;

/** Settings of the judge; `sequenceTokens` is the greatest length that the judge ever gets. */
const judgePlacementConfig = z.strictObject({ judge: judgeOffloadInput.optional() });
type Config = z.output<typeof judgePlacementConfig>;

const judgeState = z.strictObject({
  planned: tokens,
  kind: z.enum(['short', 'long']),
  longest: z.strictObject({ short: tokens, long: tokens }),
  /** A plan for every possible length; all are made at the start, so that none can be missing later. */
  plans: derived<ReadonlyMap<number, JudgeOffloadPlan>>(),
});
type State = Live<z.output<typeof judgeState>, Config>;

function plansOf({ judge }: Config): Map<number, JudgeOffloadPlan> {
  const plans = new Map<number, JudgeOffloadPlan>();
  if (judge === undefined) return plans;
  for (let length = leastTokens; ; length *= 2) {
    const sequenceTokens = Math.min(length, judge.sequenceTokens);
    plans.set(sequenceTokens, runPlanner(judgeOffload, { ...judge, sequenceTokens }));
    if (sequenceTokens === judge.sequenceTokens) return plans;
  }
}

function completed(state: State, { tokens }: Message<'response.completed'>, ctx: Ctx): void {
  const { kind, longest, planned, plans } = state;
  if (plans.size === 0) return;
  if (tokens > longest[kind]) longest[kind] = tokens;
  if (planned === 0 || tokens <= planned) return;
  place(state, tokens, { code: 'longer_response', responseTokens: tokens, plannedTokens: planned }, ctx);
}

function planned(state: State, { kind }: Message<'round.planned'>, ctx: Ctx): void {
  const { planned, longest, plans } = state;
  if (plans.size === 0) return;
  const expected = longest[kind];
  state.kind = kind;
  longest[kind] = 0;
  // The lengths of such rounds are unknown, so every length must fit.
  const wanted = expected === 0 ? Number.POSITIVE_INFINITY : expected;
  if (planned === 0) place(state, wanted, { code: 'start' }, ctx);
  else place(state, wanted, { code: 'round_planned', longestTokens: expected, plannedTokens: planned }, ctx);
}

/** Places the judge for a length, unless the current plan is for this length already. */
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

const on = handlersOf<State, JudgeDecision>();

/** Places a judge that shares GPUs with the actor; without a judge in the configuration it decides nothing. */
export const judgePlacement = definePolicy({
  id: 'judge-placement',
  version: 1,
  summary: 'Lays a judge beside the actor out for the lengths that it is given.',
  source: 'RollPacker §4.3',
  config: judgePlacementConfig,
  state: judgeState,
  begin: () => ({ planned: 0, kind: 'long' as const, longest: { short: 0, long: 0 } }),
  link: (state) => {
    state.plans = plansOf(state.config);
  },
  handlers: [
    on(roundPlanned, planned),
    on(responseCompleted, completed),
    on(hostRestarted, (state) => void (state.planned = 0)),
  ],
  decisions: [judgePlace],
  // No ledger: the policy holds only lengths, and nothing that could be lost.
  ledgers: [],
});
