/** What rounds need, what was taken for them, and when a round is full. */
import type { Context } from '../../core/machine/definition.ts';
import { alreadyQueued, copyPrompt, scaledCount } from '../../core/rollout/prompts.ts';
import { refuse } from '../../errors.ts';
import type { PromptSelectionDecision } from '../../generated/settings/prompt-selection.ts';
import type { Message } from '../../schemas/messages.ts';
import type { Prompt, PromptChoice } from '../../schemas/prompts.ts';
import { beginsEpoch, choiceAgain, estimate, judge, nextEpoch, thresholdOf } from './choice.ts';
import { mostKeptFactor, responseRange } from './schema.ts';
import type { SelectionState, Taken } from './state.ts';
import { costOf, type Share, shareOut, teaches } from './value.ts';

type Ctx = Context<PromptSelectionDecision>;
type Why = Message<'prompts.selected'>['reason']['code'];
type Need = NonNullable<SelectionState['need']>;
type Given = Pick<Need, 'roundId' | 'count' | 'offered' | 'passed'>;
type Asked = Message<'prompts.request'>['reason'];

/** More than so many prompts for each that is taken are not asked for at once. */
const mostAtOnce = 4;
const rounding = 1e-9;

export function checkNew(
  { need, recentRounds, config }: SelectionState,
  { roundId }: Message<'round.requested'>,
): void {
  if (need !== null && config.promptsPerRound !== undefined)
    refuse('out_of_order', 'roundId', `the prompts of round ${need.roundId} to be supplied first`, roundId);
  if (recentRounds.has(roundId)) refuse('duplicate_id', 'roundId', 'a new round id', roundId);
}

export function checkKnown({ recentRounds }: SelectionState, { roundId }: { readonly roundId: string }): void {
  if (!recentRounds.has(roundId)) refuse('unknown_id', 'roundId', 'the id of a round that was requested', roundId);
}

/** Begins a round. Its prompts are asked for here, or by `prompts.request`. */
export function request(state: SelectionState, { roundId, weightVersion }: Message<'round.requested'>, ctx: Ctx): void {
  state.recentRounds.add(roundId);
  state.rounds += 1;
  state.weightVersion = weightVersion;
  state.lengths.begin(state.rounds);
  state.need = null;
  const { promptsPerRound } = state.config;
  if (promptsPerRound !== undefined) lack(state, roundId, promptsPerRound, ctx);
  else if (state.exhausted) drain(ctx, roundId);
}

/** A round lacks so many prompts, in addition to those that it has been given. */
export function lack(state: SelectionState, roundId: string, missing: number, ctx: Ctx): void {
  if (state.need?.roundId === roundId) state.need.count += missing;
  else state.need = { roundId, count: missing, awaited: 0, askedAt: ctx.at, offered: 0, passed: 0, repeats: 0 };
  settle(state, roundId, ctx, { code: 'round_opened', target: state.need.count, known: state.taken.size });
}

export function supply(state: SelectionState, { roundId, prompts }: Message<'prompts.supplied'>, ctx: Ctx): void {
  const { need } = state;
  const isFor = need?.roundId === roundId;
  const passed: Prompt[] = [];
  const choices: PromptChoice[] = [];
  const threshold = thresholdOf(state);
  for (const one of prompts) {
    if (beginsEpoch(state, one.promptId)) endEpoch(state, ctx, 'offered_again');
    if (!mayWait(state, one)) {
      if (isFor) need.repeats += 1;
      merge(one, roundId, ctx);
      continue;
    }
    if (isFor) {
      need.offered += 1;
      need.repeats = 0;
    }
    const { choice, isTaken } = judge(state, one);
    if (!isTaken && isFor) need.passed += 1;
    if (isTaken || state.config.passedOver === 'last') keep(state, copyPrompt(one), choice, isTaken);
    else {
      passed.push(copyPrompt(one));
      choices.push(choice);
    }
  }
  if (isFor) {
    need.awaited = Math.max(0, need.awaited - prompts.length);
    need.askedAt = ctx.at;
  }
  if (passed.length > 0) {
    const reason = { code: 'low_worth', threshold } as const;
    ctx.emit({ type: 'prompts.passed', at: ctx.at, roundId, prompts: passed, choices, reason });
  }
  settle(state, roundId, ctx);
}

/** Takes a prompt back that was taken for a round and was not trained: it comes first, and is not drawn again. */
export function comeBack(state: SelectionState, { prompt, roundId }: Returned, ctx: Ctx): void {
  if (!mayWait(state, prompt)) return merge(prompt, roundId, ctx);
  keep(state, copyPrompt(prompt), choiceAgain(state, prompt), true);
  settle(state, roundId, ctx);
}
type Returned = Message<'prompt.deferred'> | Message<'prompt.returned'>;

/** Whether a prompt may wait here: where each is trained in every epoch, also beside the same one of the epoch before. */
const mayWait = ({ config, taken, last }: SelectionState, { promptId }: Prompt): boolean =>
  !taken.has(promptId) || (config.passedOver === 'last' && !last.has(promptId));

/** Keeps a prompt for the next round, or for the end of the epoch if it is passed over, or the same one waits for the round. */
function keep(state: SelectionState, prompt: Prompt, choice: PromptChoice, isTaken: boolean): void {
  const { taken, last } = state;
  if (taken.has(prompt.promptId) || !(isTaken || last.has(prompt.promptId)))
    last.set(prompt.promptId, { prompt, choice: { ...choice, chance: 1 } });
  else take(state, prompt, choice);
}

/** Takes what was passed over until the end of the epoch. */
function release(state: SelectionState): void {
  for (const [promptId, { prompt, choice }] of state.last) {
    if (state.taken.has(promptId)) continue;
    state.last.delete(promptId);
    take(state, prompt, choice);
  }
}

function merge(dropped: Prompt, roundId: string, ctx: Ctx): void {
  ctx.emit(alreadyQueued(dropped, dropped.deferral?.count ?? 0, roundId, ctx.at));
}

export function exhaust(state: SelectionState, { domain }: Message<'source.exhausted'>, ctx: Ctx): void {
  if (domain !== undefined) return;
  state.exhausted = true;
  endEpoch(state, ctx, 'source_exhausted');
  settle(state, state.recentRounds.newest, ctx);
}

/** Asks again for what a host that has restarted does not know any more. */
export function restart(state: SelectionState, { weightVersion }: Message<'host.restarted'>, ctx: Ctx): void {
  if (weightVersion !== undefined) state.weightVersion = weightVersion;
  // Who asks by `prompts.request` asks again for all that it lacks.
  if (state.config.promptsPerRound === undefined) state.need = null;
  const { need } = state;
  if (need === null) return;
  need.awaited = 0;
  fill(state, need, ctx, { code: 'host_restarted', target: need.count, admitted: state.taken.size });
}

/**
 * Gives prompts to the round that lacks some. Who asks by `prompts.request` asks no more once the source is exhausted: what is here
 * then goes to the given round, at once.
 */
function settle(state: SelectionState, roundId: string | undefined, ctx: Ctx, asked?: Asked): void {
  if (state.need !== null) fill(state, state.need, ctx, asked);
  const { need, exhausted, config, taken } = state;
  if (need !== null || !exhausted || config.promptsPerRound !== undefined || roundId === undefined) return;
  const all = { roundId, count: Number.POSITIVE_INFINITY, offered: 0, passed: 0 };
  for (release(state); taken.size > 0; release(state)) give(state, all, ctx, 'source_exhausted');
}

/** Gives a round its prompts if there are enough of them, or no more can come; else asks for what it lacks. */
function fill(state: SelectionState, need: Need, ctx: Ctx, asked?: Asked): void {
  const { exhausted, taken } = state;
  if (exhausted) release(state);
  if (isFull(state, need.count)) return give(state, need, ctx, 'filled');
  // All prompts of a source that goes on in epochs have been seen then.
  if (taken.size > 0 && need.repeats >= 2 * taken.size) return give(state, need, ctx, 'only_duplicates');
  if (exhausted && taken.size > 0) return give(state, need, ctx, 'source_exhausted');
  if (exhausted) {
    state.need = null;
    // Who asks by `prompts.request` learns from the source itself that it is exhausted.
    if (state.config.promptsPerRound !== undefined) drain(ctx, need.roundId);
    return;
  }
  if (need.awaited > 0) return;
  const { epoch, config } = state;
  const missing = config.fill === 'kept' ? Math.ceil(need.count - state.takenKept) : need.count - taken.size;
  // Since some are passed over, more are asked for, as many as the epoch so far makes likely.
  const likely = Math.min(mostAtOnce, epoch.selected === 0 ? 1 : epoch.offered / epoch.selected);
  need.awaited = scaledCount(likely, Math.max(1, missing));
  need.askedAt = ctx.at;
  const reason = asked ?? { code: 'passed_over', target: need.count, admitted: taken.size };
  ctx.emit({ type: 'prompts.request', at: ctx.at, roundId: need.roundId, count: need.awaited, reason });
}

function isFull({ config, taken, takenKept, takenTokens }: SelectionState, needed: number): boolean {
  if (config.tokensPerRound !== undefined && takenTokens >= config.tokensPerRound) return true;
  if (config.fill === 'prompts') return taken.size >= needed;
  return takenKept >= needed - rounding || taken.size >= mostKeptFactor * needed;
}

function drain(ctx: Ctx, roundId: string): void {
  ctx.emit({ type: 'source.drained', at: ctx.at, roundId, reason: { code: 'source_exhausted' } });
}

function take(state: SelectionState, prompt: Prompt, choice: PromptChoice): void {
  state.taken.set(prompt.promptId, { prompt, choice });
  state.takenKept += choice.keptChance;
  state.takenTokens += leastTokens(choice);
}

const leastTokens = ({ responses, expectedTokens }: PromptChoice): number => responses * expectedTokens;

/** Gives a round the prompts that were taken first, as many as it needs. */
function give(state: SelectionState, need: Given, ctx: Ctx, code: Why): void {
  const { config, taken, worth } = state;
  const { roundId, count, offered, passed } = need;
  // What is left over when the source is exhausted goes as a whole.
  const mostTokens = Number.isFinite(count) ? (config.tokensPerRound ?? Number.POSITIVE_INFINITY) : count;
  const given: Taken[] = [];
  let kept = 0;
  let tokens = 0;
  for (const [promptId, one] of taken) {
    tokens += leastTokens(one.choice);
    if (given.length > 0 && tokens > mostTokens) break;
    taken.delete(promptId);
    given.push(one);
    kept += one.choice.keptChance;
    state.takenKept = taken.size === 0 ? 0 : Math.max(0, state.takenKept - one.choice.keptChance);
    state.takenTokens = taken.size === 0 ? 0 : Math.max(0, state.takenTokens - leastTokens(one.choice));
    if (
      config.fill === 'prompts'
        ? given.length === count
        : kept >= count - rounding || given.length === mostKeptFactor * count
    )
      break;
  }
  const choices = shared(state, given);
  state.need = null;
  ctx.emit({
    type: 'prompts.selected',
    at: ctx.at,
    roundId,
    prompts: given.map(({ prompt }) => prompt),
    choices,
    reason: { code, offered, passed, meanWorth: worth.mean },
  });
}

/** Shares the responses of a round out among its prompts. */
function shared(state: SelectionState, given: readonly Taken[]): PromptChoice[] {
  const { config } = state;
  const { least, most } = responseRange(config);
  const choices = given.map(({ choice }) => choice);
  if (least === most) return choices;
  const shares = given.map(({ prompt, choice: { expectedTokens } }): Share => {
    const { posterior } = estimate(state, prompt);
    return {
      value: (n) => teaches(config, posterior, n),
      cost: costOf(expectedTokens, config.lengthExponent),
      size: expectedTokens,
    };
  });
  const responses = given.length * config.responsesPerPrompt;
  const total = config.tokensPerRound ?? Number.POSITIVE_INFINITY;
  const counts = shareOut(shares, { least, most, responses, total });
  return choices.map((choice, index) => ({ ...choice, responses: counts[index]! }));
}

function endEpoch(state: SelectionState, ctx: Ctx, code: 'offered_again' | 'source_exhausted'): void {
  const { epoch, domains } = state;
  const { number, offered, selected, offeredLengths, selectedLengths } = epoch;
  if (offered === 0) return;
  const longest = offeredLengths.quantile(0.99)!;
  const beyond = (of: typeof offeredLengths): number => Math.round(of.total * (1 - of.below(longest)));
  ctx.emit({
    type: 'epoch.ended',
    at: ctx.at,
    epoch: number,
    offered,
    selected,
    domains: [...domains.values()]
      .filter((one) => one.offered > 0)
      .map(({ domain, offered, selected, offeredTokens, selectedTokens }) => ({
        ...(domain === null ? undefined : { domain }),
        ...{ offered, selected, offeredTokens, selectedTokens },
      })),
    longestOffered: beyond(offeredLengths),
    longestSelected: beyond(selectedLengths),
    reason: { code },
  });
  nextEpoch(state);
  release(state);
}
