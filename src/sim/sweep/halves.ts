/** Halves of a workload, by prompt: settings found on one of them can be tried on the other. */
import type { Workload, WorkloadPrompt } from '../workload/workload.ts';

/** Hashes an id: FNV-1a over its UTF-16 code units, 32 bits, the same everywhere. */
export function hashOf(id: string): number {
  let value = 0x811c9dc5;
  for (let at = 0; at < id.length; at += 1) value = Math.imul(value ^ id.charCodeAt(at), 0x01000193);
  // The lowest bit of FNV is the parity of its input, so the other bits are mixed in.
  return (value ^ (value >>> 15) ^ (value >>> 7)) >>> 0;
}

/** Returns the half of an id, 0 or 1, which is always the same. */
export const halfOf = (id: string): 0 | 1 => ((hashOf(id) >>> 3) & 1) as 0 | 1;

/** Returns the id of a prompt without its epoch, and without the step after the @ of an imported one. */
export const ownId = ({ promptId, firstId = promptId }: WorkloadPrompt): string => firstId.replace(/@\d+$/, '');

/**
 * Returns another half of the prompts of a trace for each seed, so that seeds differ by as much as traces of its size would: the
 * intervals then show the effect of a few prompts. A generated workload has other prompts for each seed anyway.
 */
export function drawnHalf(workload: Workload, seed: number): Workload {
  const { distinctPrompts } = workload;
  if (!Number.isFinite(distinctPrompts) || distinctPrompts < leastPrompts) return workload;
  const half = withPrompts(workload, (prompt) => halfOf(`${seed} ${ownId(prompt)}`) === 0);
  return { ...half, distinctPrompts: Math.floor(distinctPrompts / 2) };
}

/** Half of fewer prompts may be none. */
const leastPrompts = 32;

/** Returns the prompts of a workload that fit, in their order; there must be one. */
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
