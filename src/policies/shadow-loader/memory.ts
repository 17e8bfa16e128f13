/** Counts the host memory of nodes: reserved and held bytes, by step, and the samples that could be evicted. */
import type { LoaderState, Node, Sample } from './state.ts';

/** Returns the free host memory of a node, in bytes. */
export const freeBytes = (node: Node): number => node.hostMemoryBytes - node.usedBytes;
/** Returns the limit on the bytes that a node holds for later steps. */
export const aheadLimit = (state: LoaderState, node: Node): number =>
  Math.floor(state.config.prefetchFraction * node.hostMemoryBytes);

/** Whether tries on a node fail, so that it gets only single tries. */
export const isSick = ({ faults }: LoaderState, { id }: Node): boolean => faults.isSuspended({ scope: 'loader', id });

/** Updates the position of a node in the heap of nodes that take work. */
export function reheap(state: LoaderState, node: Node): void {
  const hasSlot = node.slots === null || node.queued < node.slots;
  if (node.active && hasSlot && !isSick(state, node)) state.open.update(node);
  else state.open.remove(node);
}

/** Whether preprocessing a sample would be ahead of need: it belongs to a later step, and no batch needs it. */
export const isAhead = (sample: Sample): boolean => !sample.step.current && sample.demands.length === 0;

/** Reserves host memory of a node for a sample. */
export function hold(sample: Sample, node: Node): void {
  sample.node = node;
  node.samples.add(sample);
  node.usedBytes += sample.bytes;
  if (sample.ahead) count(sample, node, sample.bytes);
}

/** Frees the host memory of a sample. Afterwards the caller must call `reheap` for the node. */
export function free(state: LoaderState, sample: Sample): void {
  const node = sample.node!;
  notAhead(sample);
  setIdle(sample, false);
  sample.node = null;
  node.samples.delete(sample);
  node.usedBytes -= sample.bytes;
  if (sample.task !== null) endTask(state, sample, node);
  state.dirty = true;
}

/** Ends a try, with success or without. */
export function endTask(state: LoaderState, sample: Sample, node: Node): void {
  state.tasks.delete(sample.task!);
  sample.task = null;
  node.queued -= 1;
  node.queuedBytes -= sample.bytes;
  state.dirty = true;
}

/** Sets the actual bytes of a registered sample. */
export function resize(sample: Sample, bytes: number): void {
  const node = sample.node!;
  node.usedBytes += bytes - sample.bytes;
  if (sample.ahead) count(sample, node, bytes - sample.bytes);
  sample.bytes = bytes;
}

function count(sample: Sample, node: Node, bytes: number): void {
  const { step } = sample;
  if (step.current) return;
  node.aheadBytes += bytes;
  step.aheadBytes.set(node, (step.aheadBytes.get(node) ?? 0) + bytes);
}

/** Removes a sample from the bytes held ahead, because the sample is needed now, or leaves. */
export function notAhead(sample: Sample): void {
  if (!sample.ahead) return;
  if (sample.node !== null) count(sample, sample.node, -sample.bytes);
  sample.ahead = false;
}

/** Sets whether a sample may be evicted in favour of one that a batch waits for. */
export function setIdle(sample: Sample, isIdle: boolean): void {
  const node = sample.node;
  if (node === null || sample.status !== 'registered' || isIdle === sample.heapIndex >= 0) return;
  node.idleBytes += isIdle ? sample.bytes : -sample.bytes;
  if (isIdle) node.idle.update(sample);
  else node.idle.remove(sample);
}
