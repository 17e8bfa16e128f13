/** Halves of a workload, by prompt: settings found on one of them can be tried on the other. */
import type { Workload, WorkloadPrompt } from '../workload/workload.ts';

/** FNV-1a over the UTF-16 code units of an id: 32 bits, the same everywhere. */
function hash(id: string): number {
  let value = 0x811c9dc5;
  for (let at = 0; at < id.length; at += 1) value = Math.imul(value ^ id.charCodeAt(at), 0x01000193);
  // The lowest bit of FNV is the parity of what it has seen: it takes the others, too.
  return (value ^ (value >>> 15) ^ (value >>> 7)) >>> 0;
}

/** In which half an id is: 0 or 1, always the same. */
export const halfOf = (id: string): 0 | 1 => ((hash(id) >>> 3) & 1) as 0 | 1;

/** The two halves of a list, by the ids of its items. */
export function halvesOf<T>(items: readonly T[], idOf: (item: T) => string): readonly [T[], T[]] {
  const halves: readonly [T[], T[]] = [[], []];
  for (const item of items) halves[halfOf(idOf(item))].push(item);
  return halves;
}

/** The prompts of a workload that are in a half, in their order. For workloads that are generated, and have no end. */
export function halfOfWorkload(workload: Workload, half: 0 | 1): Workload {
  return filtered(workload, (promptId) => halfOf(promptId) === half);
}

/**
 * Another half of the prompts of a trace for each seed, so that seeds differ by as much as traces of its size would: what a
 * few prompts decide is then seen in the intervals. What is generated has other prompts for each seed anyway.
 */
export function drawnHalf(workload: Workload, seed: number): Workload {
  const { distinctPrompts } = workload;
  if (!Number.isFinite(distinctPrompts) || distinctPrompts < leastPrompts) return workload;
  // Later epochs have a mark and a number behind the id: they are of the same prompts.
  const own = (promptId: string): string => promptId.replace(/@+\d+$/, '');
  return filtered(workload, (promptId) => halfOf(`${seed} ${own(promptId)}`) === 0);
}

/** Of fewer prompts a half may be none. */
const leastPrompts = 32;

function filtered(workload: Workload, isIn: (promptId: string) => boolean): Workload {
  const indices: number[] = [];
  let next = 0;
  const prompt = (index: number): WorkloadPrompt => {
    while (indices.length <= index) {
      if (isIn(workload.prompt(next).promptId)) indices.push(next);
      next += 1;
    }
    return workload.prompt(indices[index]!);
  };
  return { ...workload, prompt };
}
