/** Request ids: `<idPrefix><prompt>/<index>#<attempt>`, never reused. */
import { PolicyError } from '../../errors.ts';
import type { AdmissionState } from './state.ts';

/** What a request id says. */
export interface ParsedId {
  readonly promptId: string;
  readonly index: number;
  readonly attempt: number;
}

const tail = /^(.+)\/(\d{1,9})#(\d{1,9})$/s;

/** Reads an id that was minted under the prefix, or gives `undefined`. */
export function parseId(prefix: string, id: string): ParsedId | undefined {
  if (!id.startsWith(prefix)) return undefined;
  const match = tail.exec(id.slice(prefix.length));
  if (match === null) return undefined;
  return { promptId: match[1]!, index: Number(match[2]), attempt: Number(match[3]) };
}

/**
 * Whether an id that is not in flight can have been minted earlier. No list of past ids is kept: an id with one of the
 * prefixes and an attempt below the next one was, or is as good as one that was.
 */
export function wasMinted(state: AdmissionState, id: string): boolean {
  for (const prefix of [state.prefix, ...state.oldPrefixes]) {
    const parsed = parseId(prefix, id);
    if (parsed !== undefined && parsed.attempt < state.nextAttempt) return true;
  }
  return false;
}

/** Refuses ids that were never minted. */
export function checkRequestId(state: AdmissionState, id: string): void {
  if (state.requests.has(id) || wasMinted(state, id)) return;
  throw new PolicyError('unknown_id', {
    expected: 'the id of a request that was launched',
    got: id,
    path: 'requestId',
  });
}
