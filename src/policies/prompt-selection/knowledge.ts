/** What is learnt of prompts and domains: rewards, which lose weight with each new version of the weights, and lengths. */
import type { GroupRewarded, PromptCounted, PromptFiltered } from '../../generated/messages/index.ts';
import type { DomainRecord, Remembered, SelectionState } from './state.ts';
import type { Evidence } from './value.ts';

/** Only the first so many domains are told apart. */
const mostDomains = 64;
/** What is known of a domain is what about its last so many groups have earned. */
const groupsOfDomain = 16;
/** Levels of lengths whose mean stands for the expected length. */
const levels = [0.1, 0.3, 0.5, 0.7, 0.9];

const nothing: Evidence = { responses: 0, sum: 0, squares: 0, groups: 0, differing: 0 };

/** Returns the record of a domain; those beyond the 64th count as prompts without a domain. */
export function domainOf({ domains }: SelectionState, domain: string | null): DomainRecord {
  const isKnown = domain === null || domains.has(domain) || domains.size <= mostDomains;
  const key = isKnown ? (domain ?? '') : '';
  const known = domains.get(key);
  if (known !== undefined) return known;
  const counts = { offered: 0, selected: 0, offeredTokens: 0, selectedTokens: 0 };
  const record = { domain: isKnown ? domain : null, ...nothing, ...counts };
  domains.set(key, record);
  return record;
}

/** Returns what is known of a prompt, and marks it as used; begins to remember it if nothing is. */
export function rememberedOf(state: SelectionState, promptId: string, domain: string | undefined): Remembered {
  const known = state.memory.get(promptId);
  if (known !== undefined) {
    known.domain = domain ?? known.domain;
    return known;
  }
  const one = {
    ...{ promptId, domain: domain ?? null, ...nothing, version: state.weightVersion },
    ...{ passes: 0, epoch: null, chance: 1, measured: null, learnt: null },
  };
  state.memory.set(promptId, one);
  return one;
}

/** Takes from what a prompt has earned the weight that it has lost since its version. */
export function fade({ weightVersion, config }: SelectionState, of: Remembered): Remembered {
  let versions = weightVersion - of.version;
  of.version = weightVersion;
  if (versions <= 0 || of.responses === 0) return of;
  let left = 1;
  // By squares, because the number of versions may be large.
  for (let power = config.retention; versions > 0; versions = Math.floor(versions / 2)) {
    if (versions % 2 === 1) left *= power;
    power *= power;
  }
  lighten(of, left);
  return of;
}

function lighten(of: Remembered | DomainRecord, left: number): void {
  of.responses *= left;
  of.sum *= left;
  of.squares *= left;
  of.groups *= left;
  of.differing *= left;
}

/** Returns the expected tokens of a response to a prompt; `undefined` before any length is known. */
export function expectedTokens({ lengths }: SelectionState, { promptId, domain }: Remembered): number | undefined {
  const { quantiles } = lengths.predict({ promptId, domain: domain ?? undefined }, levels);
  const sum = quantiles.reduce((all, one) => all + one, 0);
  return sum === 0 ? undefined : sum / quantiles.length;
}

type Response = { readonly tokens: number; readonly reward?: number | undefined };

/**
 * Learns from a group that counts or was filtered. Rewards that are not all known yet come with `group.rewarded`.
 *
 * If only the responses that ended first are known, these are short, and no sample of what the prompt earns: nothing is learnt of
 * its rewards.
 */
export function learnCounted(state: SelectionState, event: PromptCounted | PromptFiltered): void {
  const isCounted = event.type === 'prompt.counted';
  const responses: readonly Response[] = isCounted ? event.responses : event.dropped;
  const of = rememberedOf(state, event.promptId, isCounted ? event.domain : undefined);
  const isCut = event.launched !== undefined && event.launched > responses.length;
  learnLengths(state, of, event.roundId, responses);
  if (isCut) of.learnt = event.roundId;
  else if (responses.every(({ reward }) => reward !== undefined)) learnRewards(state, of, event.roundId, responses);
}

/** Learns from a group whose rewards are all known, or will never be. */
export function learnRewarded(
  state: SelectionState,
  { promptId, roundId, responses, launched, reason }: GroupRewarded,
): void {
  const of = rememberedOf(state, promptId, undefined);
  learnLengths(state, of, roundId, responses);
  if (launched !== undefined && launched > responses.length + reason.missing) of.learnt = roundId;
  learnRewards(state, of, roundId, responses);
}

function learnLengths(state: SelectionState, of: Remembered, roundId: string, responses: readonly Response[]): void {
  if (of.measured === roundId) return;
  of.measured = roundId;
  const { promptId, domain } = of;
  for (const { tokens } of responses)
    state.lengths.observe({ promptId, domain: domain ?? undefined, tokens, round: state.rounds });
}

function learnRewards(state: SelectionState, of: Remembered, roundId: string, responses: readonly Response[]): void {
  if (of.learnt === roundId || responses.length === 0) return;
  of.learnt = roundId;
  const { rewards, passReward } = state.config;
  const known = responses.map(({ reward = 0 }) => (rewards === 'real' ? reward : Number(reward >= passReward)));
  const sum = known.reduce((all, one) => all + one, 0);
  const squares = known.reduce((all, one) => all + one * one, 0);
  const differs = Number(known.some((one) => one !== known[0]));
  const domain = domainOf(state, of.domain);
  lighten(domain, 1 - 1 / groupsOfDomain);
  for (const one of [fade(state, of), domain]) {
    one.responses += known.length;
    one.sum += sum;
    one.squares += squares;
    // One response says nothing about whether a group's rewards differ.
    if (known.length === 1) continue;
    one.groups += 1;
    one.differing += differs;
  }
}
