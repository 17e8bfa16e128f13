/** Ids that the policy mints, and whether one that is not known was minted earlier. */
import { mintedId, wasMinted } from '../../core/minted-ids.ts';
import type { LoaderState } from './state.ts';

const preprocess = 'preprocess/';
const slice = 'slice/';

/** Id of a try to preprocess. */
export const preprocessId = (prefix: string, number: number): string => mintedId(prefix, preprocess, number);
/** Id of a slice. */
export const sliceId = (prefix: string, number: number): string => mintedId(prefix, slice, number);

/** Whether there was a try with this id. */
export const wasTask = (state: LoaderState, id: string): boolean => wasMinted(state, id, state.nextTask, preprocess);
/** Whether there was a slice with this id. */
export const wasSlice = (state: LoaderState, id: string): boolean => wasMinted(state, id, state.nextSlice, slice);

const recent = 64;

/** Remembers the id of something that is over: it may be reported again. */
export function remember(list: string[], id: string): void {
  list.push(id);
  if (list.length > recent) list.shift();
}
