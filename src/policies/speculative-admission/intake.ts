/** Handles incoming prompts: requests, adds and starts prompts, merges duplicates, and hands back late ones. */

import { given } from '../../core/collections/given.ts';
import { copyPrompt, isExpiring, oldestVersionOf } from '../../core/rollout/prompts.ts';
import type { Failure, Where } from '../../core/rollout/shared-faults.ts';
import { refuse } from '../../errors.ts';
import type { Message } from '../../schemas/messages.ts';
import type { KeptResponse, Prompt } from '../../schemas/prompts.ts';
import { giveUpProven, isBeyond, setAside } from './faults.ts';
import { enqueue } from './launch.ts';
import { isSpent } from './leave.ts';
import { askReward, collect } from './progress.ts';
import { checkRound } from './requests.ts';
import type { Ctx } from './schema.ts';
import {
  type AdmissionState,
  type DomainQuota,
  join,
  newPrompt,
  newResponse,
  type PromptState,
  quotaOf,
  type ResponseState,
  type Round,
  type Unsettled,
} from './state.ts';

/** Returns the prompts of a round in starting order: first those that would be too old in the next round. */
export function oldestFirst(
  state: AdmissionState,
  prompts: readonly Prompt[],
  { weightVersion }: Round,
): readonly Prompt[] {
  const { maxStaleness } = state.config;
  const isLast = (one: Prompt): boolean => isExpiring(oldestVersionOf(one), weightVersion, maxStaleness);
  return [...prompts.filter(isLast), ...prompts.filter((one) => !isLast(one))];
}

/** Adds a prompt to the round; a duplicate is merged with the prompt in the round. */
export function addPrompt(state: AdmissionState, spec: Prompt, round: Round, ctx: Ctx): void {
  if (state.prompts.has(spec.promptId)) {
    merge(state, spec, round, ctx);
    return;
  }
  round.duplicates = 0;
  const quota = quotaOf(round, spec.domain)!;
  const prompt = newPrompt(copyPrompt(spec), state.seq++, quota, {
    startVersion: round.weightVersion,
    firstPrefix: state.restarts,
  });
  state.prompts.set(spec.promptId, prompt);
  quota.standby.push(prompt);
}

function merge(state: AdmissionState, spec: Prompt, round: Round, ctx: Ctx): void {
  const { promptId, ref, kept } = spec;
  const finished = kept?.filter((one) => one.finished) ?? [];
  ctx.emit({
    type: 'prompt.merged',
    at: ctx.at,
    promptId,
    roundId: round.id,
    ...given({ ref }),
    dropped: finished.map(({ requestId, tokens }) => ({ requestId, tokens, cause: 'merged' })),
    reason: { code: 'already_in_round' },
  });
  round.duplicates += 1;
  // A source that deals out a shuffled data set repeats a prompt after at most twice the length of the set.
  if (round.duplicates >= 2 * state.prompts.size) round.onlyDuplicates = true;
}

export function checkSupply(state: AdmissionState, { roundId, prompts }: Message<'prompts.supplied'>): void {
  checkRound(state, roundId);
  if (state.round?.id === roundId) checkDomains(state, prompts);
}

/** Takes in prompts that were asked for. */
export function supply(state: AdmissionState, { roundId, prompts }: Message<'prompts.supplied'>, ctx: Ctx): void {
  const { round } = state;
  if (round === null || round.id !== roundId) {
    for (const prompt of prompts) returnUnused(prompt, roundId, ctx);
    return;
  }
  for (const prompt of prompts) {
    const quota = quotaOf(round, prompt.domain)!;
    if (quota.awaiting > 0) quota.awaiting -= 1;
    addPrompt(state, prompt, round, ctx);
  }
  round.askedAt = ctx.at;
  state.unsettled = 'merged';
}

/** Hands back a prompt that came too late. */
function returnUnused(spec: Prompt, roundId: string, ctx: Ctx): void {
  const prompt = copyPrompt(spec);
  ctx.emit({ type: 'prompt.returned', at: ctx.at, prompt, roundId, dropped: [], reason: { code: 'round_closed' } });
}

/** Whether all domains of the source are exhausted. */
export function isSourceExhausted({ config, exhausted }: AdmissionState): boolean {
  const domains = Object.keys(config.quotas ?? {});
  return exhausted.all || (domains.length > 0 && domains.every((one) => exhausted.domains.has(one)));
}

export function checkDomains(state: AdmissionState, prompts: readonly Prompt[]): void {
  if (state.config.quotas === undefined) return;
  prompts.forEach((prompt, index) => {
    checkDomain(state, prompt.domain ?? '', `prompts[${index}].domain`);
  });
}

export function checkDomain(state: AdmissionState, domain: string | undefined, path: string): void {
  const { quotas } = state.config;
  if (domain === undefined || quotas === undefined || Object.hasOwn(quotas, domain)) return;
  refuse('invalid_event', path, `a domain with a quota: ${Object.keys(quotas).sort().join(', ')}`, domain);
}

/** Marks the source, or one domain of it, as exhausted: the round ends with the prompts that it has. */
export function exhaust(state: AdmissionState, { domain }: Message<'source.exhausted'>): void {
  const { exhausted, round } = state;
  if (domain === undefined) exhausted.all = true;
  else exhausted.domains.add(domain);
  if (round === null) return;
  const isAll = isSourceExhausted(state);
  for (const quota of round.quotas) {
    if (!isAll && (quota.domain === null || !exhausted.domains.has(quota.domain))) continue;
    quota.exhausted = true;
    quota.awaiting = 0;
  }
  state.unsettled = 'counted';
}

/** Marks the source as having prompts again, from the next round on. */
export function reopen(state: AdmissionState, _: unknown, ctx: Ctx): void {
  const { exhausted, faults } = state;
  exhausted.all = false;
  exhausted.domains.clear();
  if (faults.isQuiet) return;
  faults.endSuspensions('prompt', ctx);
  state.unsettled ??= 'failed';
}

/** Returns the number of prompts that a round begins with. */
export const targetOf = ({ quotas }: Round): number => quotas.reduce((sum, { target }) => sum + target, 0);

/** Asks for missing prompts that have not been asked for yet. */
export function requestMore(state: AdmissionState, round: Round, code: Exclude<Unsettled, 'counted'>, ctx: Ctx): void {
  const { faults } = state;
  if (isSpent(state, round)) return;
  // All prompts fail by their data.
  if (!faults.isQuiet && faults.find({ scope: 'prompt', id: null })?.suspension != null) return;
  let total = 0;
  const domains: Record<string, number> = {};
  for (const quota of round.quotas) {
    if (quota.exhausted || round.onlyDuplicates || quota.counted === quota.prompts) continue;
    const missing = quota.target - quota.admitted - quota.standby.size - quota.awaiting;
    if (missing <= 0) continue;
    quota.awaiting += missing;
    total += missing;
    if (quota.domain !== null) domains[quota.domain] = missing;
  }
  if (total === 0) return;
  round.askedAt = ctx.at;
  const target = targetOf(round);
  const known = round.quotas.reduce((sum, quota) => sum + quota.admitted + quota.standby.size, 0);
  ctx.emit({
    type: 'prompts.request',
    at: ctx.at,
    roundId: round.id,
    count: total,
    ...(Object.keys(domains).length === 0 ? undefined : { domains }),
    reason: code === 'round_opened' ? { code, target, known } : { code, target, admitted: known },
  });
}

/** Starts prompts until a quota has enough. */
export function takeIn(state: AdmissionState, round: Round, quota: DomainQuota, ctx: Ctx): void {
  if (isSpent(state, round)) return;
  while (quota.admitted < quota.target && quota.counted < quota.prompts) {
    const prompt = quota.standby.shift();
    if (prompt === undefined) return;
    startPrompt(state, prompt, quota, round, ctx);
  }
}

function startPrompt(state: AdmissionState, prompt: PromptState, quota: DomainQuota, round: Round, ctx: Ctx): void {
  const { responses } = prompt;
  prompt.status = 'active';
  prompt.attemptBase = state.nextAttempt;
  quota.admitted += 1;
  const kept = usableKept(state, prompt, round, ctx);
  if (prompt.spec.kept !== undefined) prompt.spec = { ...prompt.spec, kept: kept.length > 0 ? kept : undefined };
  for (const one of kept) placeKept(state, prompt, one, ctx);
  join(prompt, quota, round, state.config);
  const taken = new Set(kept.map((one) => one.index));
  for (let index = 0; responses.length < round.responses; index += 1) {
    if (!taken.has(index)) responses.push(newResponse(prompt, index));
  }
  if (kept.length > 0) responses.sort((a, b) => a.index - b.index);
  if (prompt.held >= state.config.responsesPerPrompt) {
    collect(state, prompt, ctx);
    return;
  }
  enqueueAll(state, prompt, ctx);
}

/** Queues the responses of a started prompt, with their earlier failures. */
function enqueueAll(state: AdmissionState, prompt: PromptState, ctx: Ctx): void {
  const { promptId } = prompt.spec;
  const before = state.recalled.get(promptId);
  state.recalled.delete(promptId);
  for (const response of [...prompt.responses]) {
    if (response.status !== 'pending') continue;
    const failures = before?.responses.find(({ index }) => index === response.index)?.failures;
    if (failures !== undefined) response.failures = failures;
    if (!isBeyond(state, response)) enqueue(state, response, 'planned');
    else {
      response.lastFault = { ...domainOfFault(state, response), at: ctx.at };
      setAside(state, response, ctx.at);
    }
  }
  if (before === undefined) return;
  for (const response of [...prompt.responses]) if (response.status === 'aside') giveUpProven(state, response, ctx);
}

/** Returns the place of a response's latest unjudged failure, where the response is compared with others. */
function domainOfFault({ faults }: AdmissionState, { prompt, index }: ResponseState): Where {
  let last: Failure | undefined;
  for (const one of faults.openOf(prompt.spec.promptId))
    if (one.place === index && one.order >= (last?.order ?? 0)) last = one;
  return last === undefined ? { scope: 'engine', id: null } : { scope: last.scope, id: last.id };
}

/** Returns the kept responses that are fresh enough to be used: finished ones first, then the longest. */
function usableKept(state: AdmissionState, prompt: PromptState, round: Round, ctx: Ctx): KeptResponse[] {
  const { maxStaleness, responsesPerPrompt } = state.config;
  const { weightVersion } = round;
  const usable: KeptResponse[] = [];
  const sorted = [...(prompt.spec.kept ?? [])].sort(
    (a, b) => Number(b.finished) - Number(a.finished) || b.tokens - a.tokens || a.index - b.index,
  );
  for (const one of sorted) {
    const oldestVersion = Math.min(...one.weightVersions);
    const drop = (reason: Message<'response.dropped'>['reason']) => {
      const { requestId, tokens, finished } = one;
      const { promptId } = prompt.spec;
      ctx.emit({ type: 'response.dropped', at: ctx.at, requestId, promptId, tokens, finished, reason });
    };
    const repeated = usable.some((other) => other.index === one.index);
    const limit = one.finished ? responsesPerPrompt : round.responses;
    if (weightVersion - oldestVersion > maxStaleness) {
      drop({ code: 'stale_weights', oldestVersion, weightVersion, maxStaleness });
    } else if (repeated || usable.length >= limit) drop({ code: 'beyond_round', needed: limit });
    else usable.push(one);
  }
  return usable;
}

function placeKept(state: AdmissionState, prompt: PromptState, kept: KeptResponse, ctx: Ctx): void {
  const response = newResponse(prompt, kept.index);
  response.resume = kept;
  response.tokens = kept.tokens;
  response.weightVersions = kept.weightVersions.slice();
  prompt.startVersion = Math.min(prompt.startVersion, ...kept.weightVersions);
  prompt.responses.push(response);
  if (!kept.finished) return;
  response.status = 'held';
  response.requestId = kept.requestId;
  state.elsewhere.set(kept.requestId, response);
  prompt.held += 1;
  if (kept.reward !== undefined) {
    response.reward = kept.reward;
    prompt.rewards += 1;
  } else if (state.config.filter === 'zero-variance') {
    askReward(response, 'kept_without_reward', ctx);
  }
}
