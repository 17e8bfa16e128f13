/** The window: decides which prompts enter, where the window ends, and which prompts make the next round. */
import type { Prompt } from '../../schemas/prompts.ts';
import { roundSize } from './schema.ts';
import { type CompositionState, type Entry, hasRound, held } from './state.ts';

/** Begins a window: prompts left over from the previous window are due, and prompts that wait for a later window enter this one. */
export function renew(state: CompositionState): void {
  makeDue(state);
  state.priorTokens = longestOf(state, { promptId: '' });
  resize(state);
  for (const one of state.later) {
    if (!enter(state, one)) break;
    state.later.delete(one);
  }
}

/** Makes prompts due that are left in the window. */
function makeDue(state: CompositionState): void {
  for (let left = takeLongest(state); left !== undefined; left = takeLongest(state)) {
    state.due.set(left.prompt.promptId, left.prompt);
  }
}

/**
 * Where an epoch leaves too few prompts for a round, the longest prompts are left, because they fit the first round of the next
 * window. Where nothing distinguishes prompts, the last ones in the data are left.
 */
export function leaveLongest(state: CompositionState): void {
  const { byLength } = state;
  const left = (held(state) + state.copies.size) % roundSize(state.config);
  const longest: Entry[] = [];
  while (longest.length < left && byLength.peek() !== undefined) longest.push(byLength.pop()!);
  const shortest = longest.at(-1);
  const isLast = shortest !== undefined && shortest.expectedTokens > (byLength.peek()?.expectedTokens ?? 0);
  for (const one of longest) {
    one.isLast = isLast;
    byLength.push(one);
  }
}

/** Sets the size of the window: W rounds, or fewer, so that windows are equal until the epoch is likely to end. */
function resize(state: CompositionState): void {
  const { config, epoch, epochPrompts } = state;
  const size = roundSize(config);
  const left = epochPrompts - epoch.size;
  // An epoch that has had as many prompts as the previous epoch is over.
  const rounds = Math.ceil((held(state) + (left === 0 ? epochPrompts : left)) / size);
  const windows = Math.max(1, Math.ceil(rounds / config.windowRounds));
  state.windowPrompts = size * (epochPrompts === 0 || left < 0 ? config.windowRounds : Math.ceil(rounds / windows));
}

/** Takes a prompt into the window; returns false if the prompt is for a later window. */
function enter(state: CompositionState, one: Prompt): boolean {
  const { epoch, config, copies, lengths } = state;
  if (hasRound(state) && held(state) + copies.size >= state.windowPrompts) return false;
  const { promptId } = one;
  // If ids come again at random, the first repeated id is not enough to begin an epoch.
  if (epoch.has(promptId) && 2 * epoch.size >= lengths.size) {
    if (hasRound(state)) {
      // No window reaches beyond the end of an epoch.
      state.windowPrompts = 0;
      return false;
    }
    state.epochPrompts = epoch.size;
    epoch.clear();
    makeDue(state);
    resize(state);
  }
  if (epoch.size === config.rememberedPrompts) epoch.clear();
  epoch.add(promptId);
  if (isHere(state, one)) {
    copies.add(one);
    return true;
  }
  const entry = { prompt: one, seq: state.seq++, expectedTokens: expected(state, one), isLast: false };
  state.window.set(promptId, entry);
  state.byLength.push(entry);
  return true;
}

/** Takes a prompt in, for the window of the waiting round or for a later window. */
export function takeIn(state: CompositionState, one: Prompt): void {
  if (state.pending === null || !enter(state, one)) state.later.add(one);
}

/** Makes a returned prompt due; if another copy with its id is here, that copy goes first. */
export function putBack(state: CompositionState, one: Prompt): void {
  if (isHere(state, one)) state.copies.add(one);
  else state.due.set(one.promptId, one);
}

function isHere({ due, window }: CompositionState, { promptId }: Prompt): boolean {
  return due.has(promptId) || window.has(promptId);
}

function expected(state: CompositionState, { promptId, domain }: Prompt): number {
  const asked = { promptId, domain };
  return state.lengths.predict(asked, []).trust > 0 ? longestOf(state, asked) : state.priorTokens;
}

/** A round waits for the longest of its responses, so the longest possible length of a prompt counts. */
function longestOf(
  { lengths, config }: CompositionState,
  asked: { promptId: string; domain?: string | undefined },
): number {
  return lengths.longest(asked, roundSize(config) * config.responsesPerPrompt);
}

function takeLongest({ window, byLength }: CompositionState): Entry | undefined {
  const entry = byLength.pop();
  if (entry !== undefined) window.delete(entry.prompt.promptId);
  return entry;
}

/** The prompts chosen for a round. */
export interface Composed {
  readonly prompts: Prompt[];
  /** Number of due prompts, which come first. */
  readonly due: number;
  /** The longest and the shortest expected length among the other prompts, in tokens; 0 without others. */
  readonly longestTokens: number;
  readonly shortestTokens: number;
}

/** Takes the prompts of a round: due prompts first, then the longest of the window. */
export function takeRound(state: CompositionState): Composed {
  const size = roundSize(state.config);
  const prompts: Prompt[] = [];
  // Kept tokens become too old if their prompt waits.
  for (const isKept of [true, false]) {
    for (const one of state.due.values()) {
      if (prompts.length === size) break;
      if ((one.kept !== undefined) !== isKept) continue;
      state.due.delete(one.promptId);
      prompts.push(one);
    }
  }
  const due = prompts.length;
  let longestTokens = 0;
  let shortestTokens = 0;
  while (prompts.length < size) {
    const entry = takeLongest(state);
    if (entry === undefined) break;
    if (prompts.length === due) longestTokens = entry.expectedTokens;
    shortestTokens = entry.expectedTokens;
    prompts.push(entry.prompt);
  }
  for (const one of state.copies) {
    if (isHere(state, one)) continue;
    state.copies.delete(one);
    state.due.set(one.promptId, one);
  }
  return { prompts, due, longestTokens, shortestTokens };
}
