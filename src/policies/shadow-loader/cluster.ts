/** Handles nodes that come and go, the end of steps, and restarts of the host. */
import { replacePrefix } from '../../core/ids/minted-ids.ts';
import { mostRecent } from '../../core/ids/recent-ids.ts';
import { refuse } from '../../errors.ts';
import type { Message } from '../../schemas/messages.ts';
import { abandon } from './batches.ts';
import { forgetNode, nodeLostUnder, pauses } from './faults.ts';
import { free, reheap } from './memory.ts';
import { giveShape, leave, placeAgain, requeue } from './samples.ts';
import type { Ctx } from './schema.ts';
import { byAge, type LoaderState, type Node, newNode, type Step } from './state.ts';
import { close } from './steps.ts';

export function checkMemory(state: LoaderState, { nodeId, hostMemoryBytes }: Message<'node.added'>): void {
  const used = state.nodes.get(nodeId)?.usedBytes ?? 0;
  if (hostMemoryBytes >= used) return;
  const expected = `at least ${used} bytes, which ${nodeId} holds or has reserved`;
  refuse('limit_exceeded', 'hostMemoryBytes', expected, hostMemoryBytes);
}

export function addNode(state: LoaderState, event: Message<'node.added'>): void {
  const { nodeId, hostMemoryBytes, weight = 1, slots = null, ranks } = event;
  const node = state.nodes.get(nodeId) ?? state.lost.get(nodeId) ?? newNode(nodeId);
  state.lost.delete(nodeId);
  state.nodes.set(nodeId, node);
  // The load of the node changes, so the node must leave the heap meanwhile.
  state.open.remove(node);
  Object.assign(node, { hostMemoryBytes, weight, slots, active: true });
  if (ranks !== undefined) {
    forgetRanks(state, node);
    for (const rank of ranks) runsOn(state, rank, node);
  }
  reheap(state, node);
  measure(state);
  for (let one = state.unplaced.peek(); one !== undefined; one = state.unplaced.peek()) {
    if (one.bytes > state.largestBudget) return;
    placeAgain(state, one);
  }
}

/** Records the node on which a rank runs. */
export function runsOn(state: LoaderState, rank: number, node: Node): void {
  state.nodeOfRank.get(rank)?.ranks.delete(rank);
  state.nodeOfRank.set(rank, node);
  node.ranks.add(rank);
}

function forgetRanks(state: LoaderState, node: Node): void {
  for (const rank of node.ranks) state.nodeOfRank.delete(rank);
  node.ranks.clear();
}

/** Forgets lost nodes, except the latest ones. */
export function forgetOldest(state: LoaderState): void {
  for (const oldest of state.lost.values()) {
    if (state.lost.size <= mostRecent) return;
    state.lost.delete(oldest.id);
    oldest.forgotten = true;
    forgetRanks(state, oldest);
  }
}

export function checkNode({ nodes, lost }: LoaderState, { nodeId }: Message<'node.lost'>): void {
  if (nodes.has(nodeId) || lost.has(nodeId)) return;
  refuse('unknown_id', 'nodeId', 'a node that was added, or one of the last that were lost', nodeId);
}

/** Preprocesses the samples of a lost node on other nodes; nothing else is lost. */
export function loseNode(state: LoaderState, { nodeId }: Message<'node.lost'>, ctx: Ctx): void {
  const node = state.nodes.get(nodeId);
  if (node === undefined) return;
  node.active = false;
  state.nodes.delete(nodeId);
  state.lost.set(nodeId, node);
  forgetOldest(state);
  reheap(state, node);
  measure(state);
  const lost = [...node.samples].sort(byAge);
  // A sample that was being preprocessed may have crashed the node.
  const atWork = lost.filter(({ status }) => status === 'preprocessing');
  for (const sample of lost) free(state, sample);
  for (const sample of lost) if (!atWork.includes(sample)) requeue(state, sample, 'node_lost');
  nodeLostUnder(state, atWork, ctx);
  forgetNode(state, node, ctx);
}

/** Ends a step: its samples leave, except samples that an open batch needs, which leave with their batches. */
export function completeStep(state: LoaderState, { stepId }: Message<'step.completed'>, ctx: Ctx): void {
  const step = state.steps.get(stepId);
  if (step === undefined || step.closed) return;
  const over = [...step.unwanted].sort(byAge);
  close(state, step);
  for (const sample of over) leave(state, sample, { code: 'step_completed' }, ctx);
}

/**
 * Starts again: nodes and ranks hold nothing, so everything is preprocessed again, and batches must be planned again. All open
 * steps and batches are named, because the host may have forgotten them.
 */
export function restartHost(state: LoaderState, { idPrefix }: Message<'host.restarted'>, ctx: Ctx): void {
  for (const node of state.nodes.values()) {
    for (const sample of [...node.samples].sort(byAge)) {
      free(state, sample);
      requeue(state, sample, 'host_restarted');
    }
    reheap(state, node);
  }
  for (const sample of state.samples.values()) {
    sample.avoid = null;
    if (sample.status === 'unplaced') placeAgain(state, sample);
  }
  for (const batch of [...state.batches.values()]) abandon(state, batch, 'host_restarted', ctx);
  for (let step = state.openSteps.peek() ?? null; step !== null; step = step.next) resume(state, step, ctx);
  state.faults.restart(ctx.at);
  state.transfers.restart(ctx.at);
  pauses.forget(state);
  replacePrefix(state, idPrefix);
}

/** Names an open step and its samples, none of which a batch needs at this point. */
function resume(state: LoaderState, step: Step, ctx: Ctx): void {
  const samples = [...step.unwanted].sort(byAge);
  const reason = { code: 'host_restarted', samples: samples.length } as const;
  ctx.emit({ type: 'step.resumed', at: ctx.at, stepId: step.id, samples: samples.map((one) => one.id), reason });
  for (const sample of samples) giveShape(state, sample, 'host_restarted', ctx);
}

const largest = (nodes: Iterable<Node>): number => {
  let most = 0;
  for (const { hostMemoryBytes } of nodes) most = Math.max(most, hostMemoryBytes);
  return most;
};

/** Finds the memory of the largest nodes again, after a node has come or gone. */
export function measure(state: LoaderState): void {
  state.largestBudget = largest(state.nodes.values());
  state.lostBudget = largest(state.lost.values());
  state.dirty = true;
}
