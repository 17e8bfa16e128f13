/** Copies of prompts, the age of their tokens, and the number of responses that a round launches. */
import type { Message } from '../../schemas/messages.ts';
import { finishedIds, finishedOf } from '../../schemas/moves.ts';
import type { Deferral, FinalPrompt, KeptResponse, Prompt } from '../../schemas/prompts.ts';
import type { HeldLedger } from '../machine/definition.ts';

/** Copies a prompt; the copy shares no object with it, and its keys are in the order of the schema. */
export function copyPrompt(given: Prompt): Prompt {
  const { promptId, ref, domain, promptTokens, expectedTokens, keptChance, deferral, kept } = given;
  const copy: Prompt = { promptId };
  if (ref !== undefined) copy.ref = ref;
  if (domain !== undefined) copy.domain = domain;
  if (promptTokens !== undefined) copy.promptTokens = promptTokens;
  if (expectedTokens !== undefined) copy.expectedTokens = expectedTokens;
  if (keptChance !== undefined) copy.keptChance = keptChance;
  if (deferral !== undefined) copy.deferral = copyDeferral(deferral);
  if (kept !== undefined) copy.kept = kept.map(copyKept);
  return copy;
}

/** Copies the deferral of a prompt. */
export function copyDeferral({ count, sinceRound, sinceSeconds }: Deferral): Deferral {
  return { count, sinceRound, sinceSeconds };
}

/** Copies a kept response. */
export function copyKept({ requestId, index, tokens, weightVersions, finished, reward }: KeptResponse): KeptResponse {
  const copy = { requestId, index, tokens, weightVersions: weightVersions.slice(), finished };
  return reward === undefined ? copy : { ...copy, reward };
}

/** Copies a prompt of a completed round. */
export function copyFinal({ promptId, ref, domain, deferral, responses }: FinalPrompt): FinalPrompt {
  return {
    promptId,
    ...(ref === undefined ? undefined : { ref }),
    ...(domain === undefined ? undefined : { domain }),
    ...(deferral === undefined ? undefined : { deferral: copyDeferral(deferral) }),
    responses: responses.map(({ requestId, index, tokens, weightVersions, reward }) => {
      const copy = { requestId, index, tokens, weightVersions: weightVersions.slice() };
      return reward === undefined ? copy : { ...copy, reward };
    }),
  };
}

/** Makes the report that one of two prompts with the same id is dropped: the other one waits already. */
export function alreadyQueued(
  dropped: Prompt,
  deferrals: number,
  roundId: string,
  at: number,
): Message<'prompt.merged'> {
  const { promptId, ref } = dropped;
  return {
    type: 'prompt.merged',
    at,
    promptId,
    roundId,
    ...(ref === undefined ? undefined : { ref }),
    dropped: finishedOf(dropped).map(({ requestId, tokens }) => ({ requestId, tokens, cause: 'merged' })),
    reason: { code: 'already_queued', deferrals },
  };
}

/** Returns the oldest weight version that has generated a token of the prompt; infinity if there is no token. */
export function oldestVersionOf({ kept = [] }: Prompt): number {
  return Math.min(...kept.flatMap((one) => one.weightVersions));
}

/** Whether tokens of a version may be trained with the given weights, but not with newer weights. */
export function isExpiring(oldestVersion: number, weightVersion: number, maxStaleness: number): boolean {
  return maxStaleness > 0 && weightVersion - oldestVersion >= maxStaleness;
}

/**
 * Returns `ceil(factor · n)` without the rounding error of the factor: 1.1 · 100 is 110, not 111.
 *
 * @param factor - a speculation factor, >= 1
 * @param n - the count that it multiplies, a whole number >= 0
 */
export function scaledCount(factor: number, n: number): number {
  return Math.ceil(factor * n - 1e-9);
}

/** Makes the ledgers of a policy that holds whole prompts: of the prompts, and of the complete responses that they keep. */
export const promptLedgers = <Saved>(all: (saved: Saved) => readonly Prompt[]): readonly HeldLedger<Saved>[] => [
  { name: 'prompts', held: (saved) => all(saved).map((one) => one.promptId) },
  { name: 'responses', held: (saved) => all(saved).flatMap(finishedIds) },
];
