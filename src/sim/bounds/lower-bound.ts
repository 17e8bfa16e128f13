/**
 * The clairvoyant lower bound: the least time in which any scheduler, even one that knows all lengths, trains the same prompts
 * once on the same engines. Each prompt has R0 responses, fixed beforehand; updates of P0 prompts are synchronous.
 *
 * No schedule is faster, for two reasons; the larger of the two bounds counts:
 *
 * - stragglers: a round lasts at least as long as its longest response would alone. The sum of these times is least if prompts are
 *   grouped into rounds by their longest response.
 * - work: the cost of each sequence and the reading of KV are the same in every schedule, each prompt is computed at least once; and
 *   there are at least tokens ÷ maxRunningSequences decode steps, and at least context tokens ÷ kvCapacityTokens of them.
 *
 * A scheduler that may choose which samples it trains on, as tail batching does, can take less time.
 */
import { refuse } from '../../errors.ts';
import { baseSeconds, type CostModel, gradientSeconds, secondsOfPrefill, swapSeconds } from '../models/cost-model.ts';

/** A prompt, with the lengths of its R0 responses in tokens. */
export interface FixedPrompt {
  /** Tokens of the prompt. */
  readonly promptTokens: number;
  /** Lengths of its R0 responses, in tokens. */
  readonly responseTokens: readonly number[];
}

/** The bound and its parts, in seconds. */
export interface LowerBound {
  /** Least seconds of the whole job. */
  readonly totalSeconds: number;
  /** Part of the total for the rollouts: the larger of the two bounds, summed over rounds. */
  readonly rolloutSeconds: number;
  /** First bound of the rollout: the longest response of each round alone. */
  readonly stragglerSeconds: number;
  /** Second bound of the rollout: all tokens, on engines that are never idle. */
  readonly workSeconds: number;
  /** Training, rewards, weight syncs and other fixed costs per round. */
  readonly otherSeconds: number;
}

/** Returns Σ of context lengths over all steps of one response. */
export function contextTokens(promptTokens: number, tokens: number): number {
  return tokens * promptTokens + (tokens * (tokens - 1)) / 2;
}

/** Returns the least seconds by which a prefill delays an engine: all of it if nothing else runs, and else what is not hidden. */
const prefillOf = (cost: CostModel, tokens: number): number =>
  cost.prefillInterference * secondsOfPrefill(cost, tokens);

/** Returns the seconds of a response that runs alone on an engine. */
function aloneSeconds(cost: CostModel, promptTokens: number, tokens: number): number {
  const reading = cost.secondsPerContextToken * contextTokens(promptTokens, tokens);
  return prefillOf(cost, promptTokens) + tokens * baseSeconds(cost, 1) + reading;
}

/** Returns the prompts in the order of a scheduler that knows all lengths: longest response first. */
export function clairvoyantOrder<P extends FixedPrompt>(prompts: readonly P[]): P[] {
  const longest = (prompt: P) => Math.max(...prompt.responseTokens);
  return [...prompts].sort((a, b) => longest(b) - longest(a));
}

/**
 * Returns the bound.
 *
 * @param prompts - every prompt that is trained
 * @param promptsPerRound - P0, a whole number >= 1
 * @param engines - number of engines, a whole number >= 1
 * @param options - `overlap`: rewards and training may run during the rollout; `oneStepOff`: training has its own GPUs, and the
 *   next rollout does not wait for it
 * @throws PolicyError `invalid_input` for invalid counts and lengths, and for a prompt without responses; `infeasible` for engines
 *   with drafts
 */
export function clairvoyantLowerBound(
  prompts: readonly FixedPrompt[],
  promptsPerRound: number,
  engines: number,
  cost: CostModel,
  { overlap = false, oneStepOff = false }: { readonly overlap?: boolean; readonly oneStepOff?: boolean } = {},
): LowerBound {
  check(prompts, promptsPerRound, engines);
  if (cost.drafts !== undefined) refuse('infeasible', 'cost.drafts', 'no drafts: a step gives one token', cost.drafts);
  const alone = prompts
    .map((prompt) =>
      Math.max(...prompt.responseTokens.map((tokens) => aloneSeconds(cost, prompt.promptTokens, tokens))),
    )
    .sort((a, b) => b - a);
  const stragglerSeconds = alone.reduce((sum, one, index) => (index % promptsPerRound === 0 ? sum + one : sum), 0);

  let [tokens, context, prefill] = [0, 0, 0];
  for (const { promptTokens, responseTokens } of prompts) {
    prefill += prefillOf(cost, promptTokens);
    for (const length of responseTokens) {
      tokens += length;
      context += contextTokens(promptTokens, length);
    }
  }
  const stepSeconds = cost.memoryBoundSeconds + cost.overheadSeconds;
  const steps = Math.max(tokens / cost.maxRunningSequences, context / cost.kvCapacityTokens);
  const perToken =
    (baseSeconds(cost, cost.maxRunningSequences) / cost.maxRunningSequences - cost.secondsPerSequence) * tokens;
  const work =
    prefill +
    cost.secondsPerSequence * tokens +
    cost.secondsPerContextToken * context +
    Math.max(stepSeconds * steps, perToken);
  const responses = prompts.reduce((sum, one) => sum + one.responseTokens.length, 0);
  const passes = tokens * (cost.referenceSecondsPerToken + cost.logProbSecondsPerToken);
  const trainingSeconds = passes + gradientSeconds(cost, { responses, tokens });
  // Passes and gradients take GPU time, during the rollout or after it.
  const workSeconds = work / engines + (overlap ? trainingSeconds : 0);

  const rounds = Math.ceil(prompts.length / promptsPerRound);
  const rewardSeconds = overlap ? 0 : cost.rewardTailSeconds;
  const swaps = overlap ? 0 : swapSeconds(cost);
  const perRound = cost.fixedRolloutSeconds + rewardSeconds + swaps + cost.trainBaseSeconds + cost.weightSyncSeconds;
  const otherSeconds = rounds * perRound + (overlap ? 0 : trainingSeconds);
  if (oneStepOff) {
    const rolloutSeconds = Math.max(stragglerSeconds, work / engines);
    const rollouts = rolloutSeconds + rounds * cost.fixedRolloutSeconds;
    const training = trainingSeconds + rounds * cost.trainBaseSeconds;
    const totalSeconds = Math.max(rollouts, training);
    const otherSeconds = totalSeconds - rolloutSeconds;
    return { totalSeconds, rolloutSeconds, stragglerSeconds, workSeconds: work / engines, otherSeconds };
  }
  const rolloutSeconds = Math.max(stragglerSeconds, workSeconds);
  return { totalSeconds: rolloutSeconds + otherSeconds, rolloutSeconds, stragglerSeconds, workSeconds, otherSeconds };
}

function check(prompts: readonly FixedPrompt[], promptsPerRound: number, engines: number): void {
  for (const [path, count] of Object.entries({ promptsPerRound, engines })) {
    if (!Number.isSafeInteger(count) || count < 1) refuse('invalid_input', path, 'a whole number >= 1', count);
  }
  const isLength = (tokens: number): boolean => Number.isFinite(tokens) && tokens >= 0;
  for (const [index, { promptTokens, responseTokens }] of prompts.entries()) {
    if (!isLength(promptTokens))
      refuse('invalid_input', `prompts[${index}].promptTokens`, 'a number >= 0', promptTokens);
    if (responseTokens.length === 0 || !responseTokens.every(isLength)) {
      refuse('invalid_input', `prompts[${index}].responseTokens`, 'one or more numbers >= 0', responseTokens);
    }
  }
}
