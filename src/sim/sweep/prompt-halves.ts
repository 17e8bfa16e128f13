/** Halves of a workload by prompt, so that settings found on one half can be tried on the other. */
import type { Workload, WorkloadPrompt } from '../workload/workload.ts';

/** Hashes an id with 32-bit FNV-1a over its UTF-16 code units; the result is the same on all machines. */
export function hashOf(id: string): number {
  let value = 0x811c9dc5;
  for (let at = 0; at < id.length; at += 1) value = Math.imul(value ^ id.charCodeAt(at), 0x01000193);
  // The lowest bit of FNV-1a is merely the parity of the input, so other bits are mixed in.
  return (value ^ (value >>> 15) ^ (value >>> 7)) >>> 0;
}

/** Returns the half of an id, 0 or 1, which is always the same. */
export const halfOf = (id: string): 0 | 1 => ((hashOf(id) >>> 3) & 1) as 0 | 1;

/** Returns the id of a prompt without its epoch and, for an imported prompt, without the step after the @. */
export const ownId = ({ promptId, firstId = promptId }: WorkloadPrompt): string => firstId.replace(/@\d+$/, '');

/**
 * Returns a different half of a trace's prompts for each seed, so that seeds differ as much as traces of half the size would: the
 * intervals then show the effect of having few prompts. A generated workload has different prompts for each seed anyway.
 */
export function drawnHalf(workload: Workload, seed: number): Workload {
  const { distinctPrompts } = workload;
  if (!Number.isFinite(distinctPrompts) || distinctPrompts < leastPrompts) return workload;
  const half = withPrompts(workload, (prompt) => halfOf(`${seed} ${ownId(prompt)}`) === 0);
  return { ...half, distinctPrompts: Math.floor(distinctPrompts / 2) };
}

/** A half of fewer prompts might be empty. */
const leastPrompts = 32;

/** Returns the matching prompts of a workload in order; at least one must match. */
export function withPrompts(workload: Workload, fits: (prompt: WorkloadPrompt) => boolean): Workload {
  const indices: number[] = [];
  let next = 0;
  const prompt = (index: number): WorkloadPrompt => {
    while (indices.length <= index) {
      if (fits(workload.prompt(next))) indices.push(next);
      next += 1;
    }
    return workload.prompt(indices[index]!);
  };
  return { ...workload, prompt };
}
