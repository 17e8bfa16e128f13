/**
 * What `prompt-selection` would have passed over of a recorded job whose prompts came several times: the policy is offered the
 * prompts in the order of the dump, and learns from those that it takes. The model of the dump has learnt from all of them, so that
 * this says what would have been saved, and not what would have been learnt.
 */
import { create } from '../../core/machine/start.ts';
import { type PromptSelectionInput, promptSelection } from '../../policies/prompt-selection/index.ts';
import type { Interval } from '../comparison/result.ts';
import { bootstrap } from '../comparison/statistics.ts';
import { rewardedGroup } from '../rewards/model.ts';
import { rowOf, stepOf, type TracePrompt } from '../trace/format.ts';
import type { Trace } from '../trace/read.ts';

/** What a selection would have saved, and what it would have missed. */
export interface Selecting {
  /** Groups of prompts that had come before. */
  readonly groups: number;
  /** Of them, the share whose rewards were all equal, 0 to 1. */
  readonly equalShare: number;
  /** Share of their tokens that would have been passed over. */
  readonly savedTokens: Interval;
  /** Share that would have been taken of their groups whose rewards differed. */
  readonly keptGroups: Interval;
  /** Groups with different rewards a token, ÷ those of the job as it was. */
  readonly gain: Interval;
}

/** Fewer groups of prompts that had come before say nothing. */
const leastGroups = 50;

/** Most parts into which prompts are put for resampling. */
const mostParts = 300;

/** Groups of one prompt, without its first: numbers of groups, and tokens. */
export interface Sums {
  groups: number;
  differing: number;
  takenDiffering: number;
  tokens: number;
  takenTokens: number;
}
const keys = ['groups', 'differing', 'takenDiffering', 'tokens', 'takenTokens'] as const;
const none = (): Sums => ({ groups: 0, differing: 0, takenDiffering: 0, tokens: 0, takenTokens: 0 });

/** Adds the sums of prompts. */
export function added(all: readonly Sums[]): Sums {
  const total = none();
  for (const one of all) for (const key of keys) total[key] += one[key];
  return total;
}

/**
 * Replays a dump. Returns undefined where it says nothing: responses without rewards, or too few prompts that come again.
 *
 * @param trace - prompts in the order in which they were rolled out
 * @param config - settings of the policy, beside the size of a group
 */
export function selectingOf(trace: Trace, config: Partial<PromptSelectionInput> = {}): Selecting | undefined {
  if (trace.kind !== 'prompts') return undefined;
  const { prompts } = trace;
  const known = prompts.filter(
    ({ responses }) => responses.length > 1 && responses.every((one) => one.correct !== undefined),
  );
  if (2 * known.length < prompts.length) return undefined;
  // A prompt is resampled with all of its groups, and with other prompts where there are many: that costs less.
  const again = [...sumsOf(known, takenOf(known, config)).values()].filter(({ groups }) => groups > 0);
  const parts = Array.from({ length: Math.min(mostParts, again.length) }, (): Sums[] => []);
  for (const [index, one] of again.entries()) parts[index % parts.length]!.push(one);
  const cases = parts.map(added);
  const { groups, differing } = added(cases);
  if (groups < leastGroups || differing === 0) return undefined;
  const interval = (of: (sums: Sums) => number): Interval =>
    bootstrap(cases, (some) => of(added(some)), { seed: 1, resamples: 500 });
  const kept = ({ differing, takenDiffering }: Sums) => takenDiffering / Math.max(1, differing);
  const paid = ({ tokens, takenTokens }: Sums) => takenTokens / Math.max(1, tokens);
  return {
    groups,
    equalShare: 1 - differing / groups,
    savedTokens: interval((sums) => 1 - paid(sums)),
    keptGroups: interval(kept),
    gain: interval((sums) => kept(sums) / Math.max(1e-9, paid(sums))),
  };
}

/** Whether the rewards of a group differ, so that it has a gradient. */
export const differs = ({ responses }: TracePrompt): boolean =>
  responses.some(({ correct }) => correct !== responses[0]?.correct);

/** The sums of each prompt by its row, in the order in which they came; `taken` says of each group whether it was taken. */
export function sumsOf(prompts: readonly TracePrompt[], taken: readonly boolean[]): Map<string, Sums> {
  const byRow = new Map<string, Sums>();
  for (const [index, one] of prompts.entries()) {
    const row = rowOf(one);
    const sums = byRow.get(row);
    if (sums === undefined) {
      byRow.set(row, none());
      continue;
    }
    const tokens = tokensOf(one);
    const differing = Number(differs(one));
    sums.groups += 1;
    sums.differing += differing;
    sums.tokens += tokens;
    if (!taken[index]) continue;
    sums.takenDiffering += differing;
    sums.takenTokens += tokens;
  }
  return byRow;
}

const tokensOf = ({ responses }: TracePrompt): number => responses.reduce((sum, { tokens }) => sum + tokens, 0);

/**
 * Offers the groups of a dump to the policy one by one, and says which it takes; it learns from these alone. Each step of the dump has a
 * version of the weights of its own.
 */
export function takenOf(prompts: readonly TracePrompt[], config: Partial<PromptSelectionInput> = {}): boolean[] {
  // No spread: a dump may have more groups than a call may have arguments.
  const responsesPerPrompt = prompts.reduce((most, { responses }) => Math.max(most, responses.length), 2);
  // A round of one prompt: what is passed over is not made up for.
  const policy = create(promptSelection, { ...config, promptsPerRound: undefined, responsesPerPrompt });
  let step: string | undefined;
  let version = 0;
  return prompts.map((one, index) => {
    const { task, responses } = one;
    const promptId = rowOf(one);
    const ofStep = stepOf(one);
    if (step !== undefined && ofStep !== step) version += 1;
    step = ofStep;
    const roundId = `${index}`;
    policy.send({ type: 'round.requested', at: 0, roundId, weightVersion: version });
    const asked = { code: 'round_opened', target: 1, known: 0 } as const;
    policy.send({ type: 'prompts.request', at: 0, roundId, count: 1, reason: asked });
    const offered = { promptId, ...(task === undefined ? undefined : { domain: task }) };
    const decisions = policy.send({ type: 'prompts.supplied', at: 0, roundId, prompts: [offered] });
    if (!decisions.some(({ type }) => type === 'prompts.selected')) return false;
    const rewarded = responses.map(({ tokens, correct }, at) => ({
      ...{ requestId: `${promptId}/${at}#${index}`, tokens },
      reward: Number(correct),
    }));
    policy.send(rewardedGroup({ at: 0, roundId, promptId, responses: rewarded }));
    return true;
  });
}
