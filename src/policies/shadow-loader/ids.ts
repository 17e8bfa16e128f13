/** Ids that the policy mints, and whether one that is not known was minted earlier. */
import type { LoaderState } from './state.ts';

/** Id of a try to preprocess. */
export const preprocessId = (prefix: string, number: number): string => `${prefix}preprocess/${number}`;
/** Id of a slice. */
export const sliceId = (prefix: string, number: number): string => `${prefix}slice/${number}`;

function wasMinted(state: LoaderState, id: string, mint: LoaderState['prefix'], next: number): boolean {
  for (const prefix of [state.prefix, ...state.oldPrefixes]) {
    const head = `${prefix}${mint}/`;
    const tail = id.startsWith(head) ? id.slice(head.length) : '';
    if (/^(0|[1-9]\d{0,15})$/.test(tail) && Number(tail) < next) return true;
  }
  return false;
}

/** Whether there was a try with this id; no list of past ids is kept. */
export const wasTask = (state: LoaderState, id: string): boolean => wasMinted(state, id, 'preprocess', state.nextTask);
/** Whether there was a slice with this id. */
export const wasSlice = (state: LoaderState, id: string): boolean => wasMinted(state, id, 'slice', state.nextSlice);

const recent = 64;

/** Remembers the id of something that is over: it may be reported again. */
export function remember(list: string[], id: string): void {
  list.push(id);
  if (list.length > recent) list.shift();
}
