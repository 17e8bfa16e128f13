/**
 * Handles the weight versions that an engine reports for a response. The policy passes reported versions on unchanged, whatever
 * version the request was launched with. The oldest version counts: a response that is too old is dropped, and tried again after
 * a pause.
 */
import { isExpiring } from '../../core/rollout/prompts.ts';
import type { Message } from '../../schemas/messages.ts';
import { engineOf, reheap } from './launch.ts';
import { longestStalePauseSeconds } from './pauses.ts';
import { endRequest, reportDrained } from './requests.ts';
import type { Ctx } from './schema.ts';
import type { AdmissionState, ResponseState } from './state.ts';

/** The first pause, in seconds; each further pause in a row is twice as long. */
const firstPauseSeconds = 1;

/**
 * Returns the versions of a response, ascending if the engine reports versions: the reported ones, and those of the tokens from
 * which the response was resumed.
 */
export function saidVersions(
  { weightVersions, resume }: ResponseState,
  { weightVersions: said }: { readonly weightVersions?: readonly number[] | undefined },
): readonly number[] {
  if (said === undefined) return weightVersions;
  return [...new Set([...(resume?.weightVersions ?? []), ...said])].sort((a, b) => a - b);
}

/** Version of the weights that are trained in the response's round, or in the last round. */
const versionOf = (state: AdmissionState, { round }: ResponseState): number =>
  round?.weightVersion ?? state.weightVersion;

/** Whether the oldest version is too old to be trained. What was believed is judged when a round opens. */
export function isStale(state: AdmissionState, response: ResponseState, said: readonly number[]): boolean {
  return said !== response.weightVersions && versionOf(state, response) - said[0]! > state.config.maxStaleness;
}

/** Returns the reason of an acceptance, since the weights may differ from the requested ones. */
export function acceptedReason(
  state: AdmissionState,
  response: ResponseState,
  said: readonly number[],
): Message<'response.accepted'>['reason'] {
  const { weightVersions: believed, prompt } = response;
  const numbers = { held: prompt.held, needed: state.config.responsesPerPrompt };
  // After a restart at an older version, the versions do not ascend, so both ends are compared.
  if (said[0]! >= Math.min(...believed) && said.at(-1)! <= Math.max(...believed)) return { code: 'held', ...numbers };
  return {
    code: 'other_weights',
    ...numbers,
    weightVersions: said.slice(),
    weightVersion: versionOf(state, response),
  };
}

/** Takes the versions that an engine has reported; a prompt is as old as its oldest token. */
export function takeVersions(state: AdmissionState, response: ResponseState, said: readonly number[]): void {
  response.weightVersions = said;
  countStale(state, response, false);
  const { prompt } = response;
  prompt.startVersion = Math.min(prompt.startVersion, said[0]!);
  const { round, config } = state;
  if (round === null || !prompt.quota?.members.has(prompt)) return;
  if (isExpiring(prompt.startVersion, round.weightVersion, config.maxStaleness)) prompt.quota.expiring.add(prompt);
}

/** Counts the engine's responses in a row that are too old; new requests prefer other engines. */
function countStale(state: AdmissionState, response: ResponseState, isOld: boolean): number {
  const engine = engineOf(response);
  const counted = engine ?? state;
  const stale = isOld ? counted.stale + 1 : 0;
  if (counted.stale === stale) return stale;
  counted.stale = stale;
  if (engine?.active) reheap(state, engine);
  return stale;
}

/**
 * Drops a response, or a part of it, whose weights are too old. This counts as a fault of the engine and costs the prompt no
 * budget.
 */
export function dropStale(
  state: AdmissionState,
  response: ResponseState,
  { said, tokens, finished }: { said: readonly number[]; tokens: number; finished: boolean },
  ctx: Ctx,
): void {
  const { requestId, prompt, failures, resume } = response;
  const { maxStaleness } = state.config;
  const reason = {
    code: 'stale_weights',
    oldestVersion: said[0]!,
    weightVersion: versionOf(state, response),
    maxStaleness,
  } as const;
  const { promptId } = prompt.spec;
  ctx.emit({ type: 'response.dropped', at: ctx.at, requestId, promptId, tokens, finished, reason });
  const stale = countStale(state, response, true);
  const round = endRequest(state, response);
  state.elsewhere.delete(requestId);
  response.failures = { ...failures, uncharged: failures.uncharged + 1 };
  response.tokens = resume?.tokens ?? 0;
  response.status = 'paused';
  response.cause = 'retry_stale_weights';
  response.since = ctx.at + Math.min(firstPauseSeconds * 2 ** (stale - 1), longestStalePauseSeconds);
  response.order = state.seq++;
  state.pauses.push(response);
  reportDrained(state, round, ctx);
}
