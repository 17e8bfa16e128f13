/** Whether an offered prompt is taken or passed over: its worth, its chance, and the draw. */
import { logLengthOf } from '../../core/lengths/scale.ts';
import type { Prompt, PromptChoice } from '../../schemas/prompts.ts';
import { domainOf, expectedTokens, fade, rememberedOf } from './knowledge.ts';
import { responseRange } from './schema.ts';
import { type DomainRecord, noLengths, type Remembered, type SelectionState } from './state.ts';
import { chanceToDiffer, costOf, type Posterior, posteriorOf, teaches } from './value.ts';

/** The mean worth of what is taken follows about so many prompts. */
const meanOver = 64;

/** An offered prompt with what was decided. */
export interface Judged {
  readonly choice: PromptChoice;
  readonly isTaken: boolean;
}

/** Returns the worth from which a prompt is taken for certain. */
export const thresholdOf = ({ config, worth }: SelectionState): number => config.threshold * worth.mean;

/** Whether the epoch is over as this prompt comes: it has been offered in it, and is not one of a few that come at random. */
export function beginsEpoch({ memory, epoch }: SelectionState, promptId: string): boolean {
  return memory.peek(promptId)?.epoch === epoch.number && 2 * epoch.offered >= memory.size;
}

/** Begins an epoch. */
export function nextEpoch(state: SelectionState): void {
  const counts = { offered: 0, selected: 0, offeredTokens: 0, selectedTokens: 0 };
  Object.assign(state.epoch, counts, { offeredLengths: noLengths(), selectedLengths: noLengths() });
  state.epoch.number += 1;
  for (const domain of state.domains.values()) Object.assign(domain, counts);
}

/** What is expected of a prompt. */
export interface Estimate {
  readonly of: Remembered;
  readonly domain: DomainRecord;
  readonly posterior: Posterior;
  /** Expected tokens of a response; 0 before any length is known. */
  readonly tokens: number;
  readonly isLengthKnown: boolean;
  readonly worth: number;
}

/** Returns what is expected of a prompt, and marks it as used. */
export function estimate(state: SelectionState, { promptId, domain: name }: Prompt): Estimate {
  const { config } = state;
  const of = rememberedOf(state, promptId, name);
  const domain = domainOf(state, of.domain);
  const posterior = posteriorOf(config, domain, fade(state, of));
  const known = expectedTokens(state, of);
  const tokens = known ?? 0;
  const worth = teaches(config, posterior, config.responsesPerPrompt) / costOf(tokens, config.lengthExponent);
  return { of, domain, posterior, tokens, isLengthKnown: known !== undefined, worth };
}

/** Decides whether a prompt is taken, and counts it as offered. */
export function judge(state: SelectionState, prompt: Prompt): Judged {
  const { config, epoch } = state;
  const found = estimate(state, prompt);
  const { of, domain, tokens, isLengthKnown, worth } = found;
  const all = tokens * config.responsesPerPrompt;
  for (const one of [epoch, domain]) {
    one.offered += 1;
    one.offeredTokens += all;
  }
  epoch.offeredLengths.add(logLengthOf(Math.round(tokens)));
  of.epoch = epoch.number;
  const chance = !isLengthKnown || isCertain(state, prompt, found) ? 1 : chanceOf(state, worth);
  const isTaken = chance >= 1 || draw(state) < chance;
  if (isTaken) {
    for (const one of [epoch, domain]) {
      one.selected += 1;
      one.selectedTokens += all;
    }
    epoch.selectedLengths.add(logLengthOf(Math.round(tokens)));
    if (isLengthKnown) learnWorth(state, worth);
    of.chance = chance;
    of.passes = 0;
  } else of.passes += 1;
  return { isTaken, choice: choiceOf(state, found, chance) };
}

/** Returns the choice of a prompt that was taken before, and has come back: it is not drawn again. */
export function choiceAgain(state: SelectionState, prompt: Prompt): PromptChoice {
  const found = estimate(state, prompt);
  return choiceOf(state, found, found.of.chance);
}

function choiceOf(
  { config }: SelectionState,
  { of, posterior, tokens, worth }: Estimate,
  chance: number,
): PromptChoice {
  const keptChance = chanceToDiffer(config, posterior, config.responsesPerPrompt);
  const { least: responses } = responseRange(config);
  const choice = { promptId: of.promptId, responses, expectedTokens: tokens, keptChance, worth, chance };
  return config.unbiased ? { ...choice, weight: 1 / chance } : choice;
}

/** Whether a prompt is taken whatever it is worth. */
function isCertain(state: SelectionState, { kept = [] }: Prompt, { of, domain }: Estimate): boolean {
  const { config, need, epoch } = state;
  // Tokens that are kept would be lost.
  if (kept.length > 0 || of.passes >= config.maxPasses) return true;
  if (need !== null && need.offered > config.maxOffered * need.count) return true;
  const { offeredTokens, selectedTokens } = domain;
  // Products in place of quotients, so that nothing is divided by 0.
  return selectedTokens * epoch.offeredTokens < config.domainFloor * offeredTokens * epoch.selectedTokens;
}

function chanceOf(state: SelectionState, worth: number): number {
  const enough = thresholdOf(state);
  return worth >= enough ? 1 : Math.max(state.config.explorationShare, (worth / enough) ** 2);
}

function learnWorth({ worth }: SelectionState, one: number): void {
  worth.prompts = Math.min(meanOver, worth.prompts + 1);
  worth.mean += (one - worth.mean) / worth.prompts;
}

/** Draws a number from 0 to 1, 1 excluded: a hash (the mixer of MurmurHash3) of the seed and of the number of draws so far. */
function draw(state: SelectionState): number {
  const number = state.draws;
  state.draws += 1;
  const high = mix(state.config.seed ^ mix(number >>> 0) ^ mix(0x9e3779b9 + Math.floor(number / 2 ** 32)));
  const low = mix(high ^ 0x85ebca6b);
  return ((high >>> 5) * 2 ** 26 + (low >>> 6)) / 2 ** 53;
}

function mix(value: number): number {
  let hash = value | 0;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}
