/** Whether an id that is not in flight was minted earlier: what was is late, what was not is wrong. */
import type { Launched } from './departures.ts';
import { attemptOf, parseId } from './ids.ts';
import { responseAt } from './requests.ts';
import type { AdmissionState, PromptState } from './state.ts';

/** Whether a response of a prompt that is here was launched that often. */
function wasLaunched(prompt: PromptState, index: number, attempt: number): boolean {
  const response = responseAt(prompt, index);
  // What it brought along complete was launched before it came.
  if (response === undefined || response.requestId === '' || response.resume?.finished) return false;
  return prompt.attemptBase <= attempt && attempt <= attemptOf(response.requestId);
}

/** What was launched for a prompt that is here, if anything was. */
function launchedOf(prompt: PromptState, lastPrefix: number): Launched | undefined {
  const { spec, attemptBase: first, firstPrefix } = prompt;
  let last = -1;
  let indices = 0;
  for (const { requestId, index, resume } of prompt.responses) {
    if (requestId === '' || resume?.finished) continue;
    last = Math.max(last, attemptOf(requestId));
    indices = Math.max(indices, index + 1);
  }
  return last < first ? undefined : { promptId: spec.promptId, first, last, indices, firstPrefix, lastPrefix };
}

/** Remembers the requests of a prompt that leaves. */
export function rememberLaunched(state: AdmissionState, prompt: PromptState): void {
  const launched = launchedOf(prompt, state.restarts);
  if (launched !== undefined) state.departures.add(launched);
}

/** Whether an id has a prefix that is remembered, and names what was launched under it, or may have been long ago. */
export function wasMinted(state: AdmissionState, id: string): boolean {
  const { prefix, oldPrefixes, restarts } = state;
  const forgotten = restarts - oldPrefixes.length;
  return (
    wasMintedUnder(state, prefix, restarts, id) ||
    oldPrefixes.some((one, index) => wasMintedUnder(state, one, forgotten + index, id))
  );
}

function wasMintedUnder(state: AdmissionState, prefix: string, ordinal: number, id: string): boolean {
  const place = parseId(prefix, id);
  if (place === undefined || place.attempt >= state.nextAttempt) return false;
  if (place.attempt < state.departures.horizon) return true;
  const { promptId, index, attempt } = place;
  const prompt = state.prompts.get(promptId);
  if (prompt !== undefined && wasLaunched(prompt, index, attempt) && prompt.firstPrefix <= ordinal) return true;
  const isOf = ({ first, last, indices, firstPrefix, lastPrefix }: Launched): boolean =>
    index < indices && first <= attempt && attempt <= last && firstPrefix <= ordinal && ordinal <= lastPrefix;
  return state.departures.of(promptId).some(isOf);
}
