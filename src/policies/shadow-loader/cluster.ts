/** Nodes that come and go, steps that end, and a host that restarts. */
import type { Context } from '../../core/definition.ts';
import { replacePrefix } from '../../core/prefix.ts';
import type { LoaderNode } from '../../schemas/loading.ts';
import { abandon } from './batches.ts';
import { newNode } from './create.ts';
import { free, reheap } from './memory.ts';
import { tryAgain } from './reports.ts';
import { leave, requeue } from './samples.ts';
import { byAge, type LoaderState } from './state.ts';
import { close } from './steps.ts';
import type { LoaderDecision } from './words.ts';

type Ctx = Context<LoaderDecision>;

export function nodeAdded(state: LoaderState, event: LoaderNode): void {
  const { nodeId, hostMemoryBytes, weight = 1, slots = null, ranks } = event;
  let node = state.nodes.get(nodeId);
  if (node === undefined) state.nodes.set(nodeId, (node = newNode(nodeId)));
  // Its load changes: it must not stand in the heap meanwhile.
  state.open.remove(node);
  Object.assign(node, { hostMemoryBytes, weight, slots, active: true });
  if (ranks !== undefined) {
    for (const [rank, other] of state.nodeOfRank) if (other === node) state.nodeOfRank.delete(rank);
    for (const rank of ranks) state.nodeOfRank.set(rank, node);
  }
  reheap(state, node);
  measure(state);
}

/** What was on a lost node is preprocessed elsewhere; that is all that it costs. */
export function nodeLost(state: LoaderState, nodeId: string, ctx: Ctx): void {
  const node = state.nodes.get(nodeId)!;
  if (!node.active) return;
  node.active = false;
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

/** Nodes hold nothing, and ranks have nothing: everything is preprocessed anew, and batches must be planned anew. */
export function hostRestarted(state: LoaderState, idPrefix: string, ctx: Ctx): void {
  for (const node of state.nodes.values()) {
    for (const sample of [...node.samples].sort(byAge)) {
      free(state, sample);
      requeue(state, sample, 'host_restarted');
    }
    reheap(state, node);
  }
  for (const sample of state.samples.values()) sample.avoid = null;
  for (const batch of [...state.batches.values()]) abandon(state, batch, 'host_restarted', ctx);
  replacePrefix(state, idPrefix);
}

function measure(state: LoaderState): void {
  state.largestBudget = 0;
  for (const { active, hostMemoryBytes } of state.nodes.values()) {
    if (active) state.largestBudget = Math.max(state.largestBudget, hostMemoryBytes);
  }
  state.dirty = true;
}
