/** Nodes that come and go, steps that end, and a host that restarts. */
import type { Context } from '../../core/definition.ts';
import { replacePrefix } from '../../core/minted-ids.ts';
import { mostRecent } from '../../core/recent-ids.ts';
import type { LoaderNode } from '../../schemas/loading.ts';
import { abandon } from './batches.ts';
import { newNode } from './create.ts';
import { free, reheap } from './memory.ts';
import { tryAgain } from './reports.ts';
import { giveShape, leave, placeAgain, requeue } from './samples.ts';
import { byAge, type LoaderState, type Node, type Step } from './state.ts';
import { close } from './steps.ts';
import type { LoaderDecision } from './words.ts';

type Ctx = Context<LoaderDecision>;

export function nodeAdded(state: LoaderState, event: LoaderNode): void {
  const { nodeId, hostMemoryBytes, weight = 1, slots = null, ranks } = event;
  const node = state.nodes.get(nodeId) ?? state.lost.get(nodeId) ?? newNode(nodeId);
  state.lost.delete(nodeId);
  state.nodes.set(nodeId, node);
  // Its load changes: it must not stand in the heap meanwhile.
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

/** A rank runs on a node. */
export function runsOn(state: LoaderState, rank: number, node: Node): void {
  state.nodeOfRank.get(rank)?.ranks.delete(rank);
  state.nodeOfRank.set(rank, node);
  node.ranks.add(rank);
}

function forgetRanks(state: LoaderState, node: Node): void {
  for (const rank of node.ranks) state.nodeOfRank.delete(rank);
  node.ranks.clear();
}

/** Remembers a node that is lost, in place of the one that was lost longest ago if there are too many. */
export function rememberLost(state: LoaderState, node: Node): void {
  state.lost.set(node.id, node);
  if (state.lost.size <= mostRecent) return;
  const [oldest] = state.lost.values();
  state.lost.delete(oldest!.id);
  forgetRanks(state, oldest!);
}

/** What was on a lost node is preprocessed elsewhere; that is all that it costs. */
export function nodeLost(state: LoaderState, nodeId: string, ctx: Ctx): void {
  const node = state.nodes.get(nodeId);
  if (node === undefined) return;
  node.active = false;
  state.nodes.delete(nodeId);
  rememberLost(state, node);
  reheap(state, node);
  measure(state);
  const lost = [...node.samples].sort(byAge);
  for (const sample of lost) {
    // What was being preprocessed may be why the node is gone.
    const isSuspect = sample.status === 'preprocessing';
    free(state, sample);
    if (isSuspect) tryAgain(state, sample, 'node_lost', ctx);
    else requeue(state, sample, 'node_lost');
  }
}

/** Samples of a step that no open batch needs leave; the others leave with their batches. */
export function stepCompleted(state: LoaderState, stepId: string, ctx: Ctx): void {
  const step = state.steps.get(stepId);
  if (step === undefined || step.closed) return;
  const over = [...step.unwanted].sort(byAge);
  close(state, step);
  for (const sample of over) leave(state, sample, { code: 'step_completed' }, ctx);
}

/**
 * Nodes hold nothing, and ranks have nothing: everything is preprocessed anew, and batches must be planned anew. All that
 * is open is named, for a host that has forgotten it.
 */
export function hostRestarted(state: LoaderState, idPrefix: string, ctx: Ctx): void {
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
  replacePrefix(state, idPrefix);
}

/** Names an open step and its samples; no batch needs any of them. */
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

/** What the largest nodes have changes when a node comes or goes. */
export function measure(state: LoaderState): void {
  state.largestBudget = largest(state.nodes.values());
  state.lostBudget = largest(state.lost.values());
  state.dirty = true;
}
