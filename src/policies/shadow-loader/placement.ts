/** Chooses the next waiting sample and its node. */
import type { Message } from '../../schemas/messages.ts';
import { beginSingle, dropDue, dueNode, pauses, settleFaults, suspendNodes, waitsForSingle } from './faults.ts';
import { aheadLimit, free, freeBytes, hold, isAhead, reheap } from './memory.ts';
import { drop, requeue, setAside } from './samples.ts';
import type { Ctx } from './schema.ts';
import { byLoad, type LoaderState, loadOf, type Node, type Sample, taskIdOf } from './state.ts';

/**
 * Starts as many waiting samples as possible, in order. The first sample that fits nowhere holds up all later ones, so that a
 * large sample is not overtaken for ever. A sample too large for every present node is set aside, or leaves.
 */
export function settle(state: LoaderState, ctx: Ctx): void {
  settleFaults(state, ctx);
  do {
    if (state.dirty) place(state, ctx);
  } while (suspendNodes(state, ctx));
  dropDue(state, ctx.at);
  pauses.arm(state, ctx);
}

function place(state: LoaderState, ctx: Ctx): void {
  for (let sample = state.waiting.peek(); sample !== undefined; sample = state.waiting.peek()) {
    const isWanted = sample.demands.length > 0;
    if (!isWanted && sample.step.order > state.lastAhead) break;
    if (state.largestBudget > 0 && sample.bytes > state.largestBudget) {
      misfit(state, sample, ctx);
      continue;
    }
    if (waitsForSingle(state, sample, ctx.at)) break;
    const single = dueNode(state, sample, ctx.at, (one) => hasRoom(state, sample, one));
    const node = single ?? choose(state, sample) ?? (isWanted ? makeRoom(state, sample, ctx) : undefined);
    if (node === undefined) break;
    start(state, sample, node, ctx);
  }
  state.dirty = false;
}

function misfit(state: LoaderState, sample: Sample, ctx: Ctx): void {
  const { bytes } = sample;
  const largestBudgetBytes = Math.max(state.largestBudget, state.lostBudget);
  if (bytes <= largestBudgetBytes) setAside(state, sample, ctx);
  else drop(state, sample, { code: 'too_large', bytes, largestBudgetBytes }, ctx);
}

/**
 * Returns the least loaded node with room, avoiding the node that failed last; among equal nodes, the one whose ranks need most
 * frames of the sample.
 */
function choose(state: LoaderState, sample: Sample): Node | undefined {
  const first = state.open.peek();
  if (first === undefined) return undefined;
  const least = hasRoom(state, sample, first) && first !== sample.avoid ? first : search(state, sample);
  return least === undefined || sample.demands.length === 0 ? least : nearest(state, sample, least);
}

function hasRoom(state: LoaderState, sample: Sample, node: Node): boolean {
  if (sample.bytes > freeBytes(node)) return false;
  return !isAhead(sample) || node.aheadBytes + sample.bytes <= aheadLimit(state, node);
}

/** Searches all nodes, in linear time; used only if the least loaded node does not fit. */
function search(state: LoaderState, sample: Sample): Node | undefined {
  const last = (node: Node): number => Number(node === sample.avoid);
  let best: Node | undefined;
  for (const node of state.nodes.values()) {
    if (node.heapIndex < 0 || !hasRoom(state, sample, node)) continue;
    if (best === undefined || (last(node) - last(best) || byLoad(node, best)) < 0) best = node;
  }
  return best;
}

function nearest(state: LoaderState, sample: Sample, least: Node): Node {
  const frames = new Map<Node, number>();
  for (const { slices } of sample.demands) {
    for (const { rank, from, to, fetched } of slices) {
      if (fetched) continue;
      const node = state.nodeOfRank.get(rank);
      if (node !== undefined) frames.set(node, (frames.get(node) ?? 0) + to - from);
    }
  }
  let best = least;
  for (const [node, own] of frames) {
    const isEqual = loadOf(node) === loadOf(least) && node.queued === least.queued && node !== sample.avoid;
    if (node.heapIndex < 0 || !isEqual || !hasRoom(state, sample, node)) continue;
    const most = frames.get(best) ?? 0;
    if (own > most || (own === most && byLoad(node, best) < 0)) best = node;
  }
  return best;
}

/**
 * Evicts samples that no batch needs, on the node where most memory can be freed, to make room for a sample that a batch waits
 * for.
 */
function makeRoom(state: LoaderState, sample: Sample, ctx: Ctx): Node | undefined {
  const reach = (node: Node): number => freeBytes(node) + node.idleBytes;
  let best: Node | undefined;
  for (const node of state.nodes.values()) {
    if (node.heapIndex < 0 || reach(node) < sample.bytes) continue;
    if (best === undefined || reach(node) > reach(best) || (reach(node) === reach(best) && node.id < best.id)) {
      best = node;
    }
  }
  if (best === undefined) return undefined;
  while (freeBytes(best) < sample.bytes) {
    const victim = best.idle.peek()!;
    const { bytes } = victim;
    const reason = { code: 'displaced', neededBytes: sample.bytes } as const;
    ctx.emit({ type: 'sample.evict', at: ctx.at, sampleId: victim.id, nodeId: best.id, bytes, reason });
    free(state, victim);
    requeue(state, victim, 'displaced');
  }
  reheap(state, best);
  return best;
}

function start(state: LoaderState, sample: Sample, node: Node, ctx: Ctx): void {
  const { bytes, media, ref } = sample;
  const type = isAhead(sample) ? 'sample.prefetch' : 'sample.preprocess';
  sample.lastTry = state.nextTask++;
  const preprocessId = taskIdOf(state.prefix, sample.lastTry);
  state.waiting.remove(sample);
  sample.status = 'preprocessing';
  sample.task = preprocessId;
  const reason = reasonOf(state, sample, node, ctx.at);
  sample.ahead = isAhead(sample);
  state.tasks.set(preprocessId, sample);
  hold(sample, node);
  node.queued += 1;
  node.queuedBytes += bytes;
  reheap(state, node);
  const { kind, path, frames, resolution } = media!;
  const { width, height } = resolution;
  ctx.emit({
    type,
    at: ctx.at,
    preprocessId,
    nodeId: node.id,
    sampleId: sample.id,
    stepId: sample.step.id,
    kind,
    path,
    frames,
    resolution: { width, height },
    bytes,
    ...(ref === null ? undefined : { ref }),
    reason,
  });
}

function reasonOf(state: LoaderState, sample: Sample, node: Node, at: number): Message<'sample.preprocess'>['reason'] {
  const { cause: code, infrastructureFailures, dataFailures } = sample;
  const { queuedBytes, queued } = node;
  const load = { queuedBytes, queued, freeBytes: freeBytes(node) };
  const single = beginSingle(state, sample, node, at);
  if (single !== undefined) return { ...load, ...single };
  if (code !== 'retry') return { code, ...load };
  const { infrastructure, data } = state.config.retry;
  const paused = sample.failedAt === null ? undefined : { pauseSeconds: at - sample.failedAt };
  if (dataFailures > 0) return { code, ...load, failures: dataFailures, budget: data, ...paused };
  const failures = infrastructureFailures + state.faults.countOpen(sample.id);
  return { code, ...load, failures, budget: infrastructure, ...paused };
}
