/**
 * Nodes that preprocess, ranks that fetch, and wires that delay and repeat what they say: what shadow-loader decides is
 * carried out, and what tensors do is checked, not what the policy believes of them.
 */

import type { Choices } from '../../../src/core/generators/choices.ts';
import type { ShadowLoaderDecision, ShadowLoaderEvent } from '../../../src/policies/shadow-loader/index.ts';
import type { BatchAssignment, DrawnSample } from '../../../src/schemas/index.ts';
import { neededFrames } from '../oracles/shadow-loader.ts';

type DecisionOf<T extends ShadowLoaderDecision['type']> = Extract<ShadowLoaderDecision, { type: T }>;
type Work = DecisionOf<'sample.preprocess' | 'sample.prefetch'>;
type Fetch = DecisionOf<'sample.materialize'>;

interface WorldNode {
  readonly id: string;
  readonly budget: number;
  isUp: boolean;
  /** Commands that were sent and have not arrived; they arrive in their order. */
  inbox: (Work | DecisionOf<'sample.evict'>)[];
  working: Map<string, Work>;
  memory: Map<string, number>;
}
interface WorldRank {
  /** Batch, sample and frame of what arrived. */
  frames: Set<string>;
  slices: Set<string>;
  fetching: Map<string, Fetch>;
}

function must(holds: boolean, what: string): void {
  if (!holds) throw new Error(what);
}

export class LoaderWorld {
  readonly nodes = new Map<string, WorldNode>();
  readonly ranks = new Map<number, WorldRank>();
  readonly samples = new Map<string, DrawnSample>();
  /** Sequences of the open batches. */
  readonly batches = new Map<string, readonly BatchAssignment[]>();
  /** How often each sample was given to a node, and what it was given anew for. */
  readonly tries = new Map<string, number>();
  readonly hits = new Map<string, number>();
  /** How often each sample has left. */
  readonly left = new Map<string, number>();
  reports: ShadowLoaderEvent[] = [];
  delivered = 0;
  readonly #choices: Choices;

  constructor(choices: Choices) {
    this.#choices = choices;
  }

  addNode(id: string, budget: number): void {
    this.nodes.set(id, { id, budget, isUp: true, inbox: [], working: new Map(), memory: new Map() });
  }

  /** A node is gone; what was on it, or on its way to it, has to be done again. */
  loseNode(id: string): void {
    const node = this.nodes.get(id)!;
    node.isUp = false;
    for (const sampleId of this.#on(node)) this.#hit(sampleId);
    Object.assign(node, { inbox: [], working: new Map(), memory: new Map() });
  }

  /** The timer that runs, if any. */
  timer: Extract<ShadowLoaderEvent, { type: 'timer.fired' }> | undefined;

  /** Everything is gone but what is still on its way to the policy. */
  restart(): void {
    for (const node of this.nodes.values()) {
      for (const sampleId of this.#on(node)) this.#hit(sampleId);
      Object.assign(node, { inbox: [], working: new Map(), memory: new Map() });
    }
    this.ranks.clear();
    this.batches.clear();
    this.timer = undefined;
  }

  carryOut(decisions: readonly ShadowLoaderDecision[]): void {
    for (const one of decisions) {
      switch (one.type) {
        case 'sample.preprocess':
        case 'sample.prefetch': {
          const tries = (this.tries.get(one.sampleId) ?? 0) + 1;
          this.tries.set(one.sampleId, tries);
          const causes = this.hits.get(one.sampleId) ?? 0;
          must(
            tries <= 1 + causes,
            `invariant 4: ${one.sampleId} is preprocessed for the ${tries}. time after ${causes}`,
          );
          this.nodes.get(one.nodeId)!.inbox.push(one);
          break;
        }
        case 'sample.evict':
          if (one.reason.code === 'displaced') this.#hit(one.sampleId);
          if (one.reason.code === 'last_use' || one.reason.code === 'step_completed') this.#leave(one.sampleId);
          this.nodes.get(one.nodeId)!.inbox.push(one);
          break;
        case 'sample.materialize': {
          const rank = this.#rank(one.rank);
          if (rank.slices.has(one.sliceId)) this.#report({ ...one, type: 'slice.materialized' });
          else rank.fetching.set(one.sliceId, one);
          break;
        }
        case 'sample.released':
        case 'sample.dropped':
          this.#leave(one.sampleId);
          break;
        case 'batch.materialized':
          this.#checkBatch(one);
          this.batches.delete(one.batchId);
          break;
        case 'batch.abandoned':
          this.batches.delete(one.batchId);
          break;
        case 'timer.set':
          this.timer = { type: 'timer.fired', at: one.fireAtSeconds, timerId: one.timerId };
      }
    }
  }

  /** Something happens, if anything can: a command arrives, a node or a rank is done. With `faults` it may go wrong. */
  happen(faults: boolean): boolean {
    const nodes = [...this.nodes.values()];
    const inboxes = nodes.filter((one) => one.inbox.length > 0);
    const working = nodes.flatMap((node) => [...node.working.values()].map((work) => ({ node, work })));
    const fetching = [...this.ranks.values()].flatMap((rank) =>
      [...rank.fetching.values()].map((fetch) => ({ rank, fetch })),
    );
    const total = inboxes.length + working.length + fetching.length;
    if (total === 0) return false;
    const at = this.#choices.below(total);
    if (at < inboxes.length) this.#arrive(inboxes[at]!);
    else if (at < inboxes.length + working.length) {
      const { node, work } = working[at - inboxes.length]!;
      this.#done(node, work, faults);
    } else {
      const { rank, fetch } = fetching[at - inboxes.length - working.length]!;
      this.#fetch(rank, fetch, faults);
    }
    return true;
  }

  #arrive(node: WorldNode): void {
    const command = node.inbox.shift()!;
    if (command.type === 'sample.evict') {
      node.memory.delete(command.sampleId);
      for (const [id, work] of node.working) if (work.sampleId === command.sampleId) node.working.delete(id);
      return;
    }
    node.working.set(command.preprocessId, command);
    const reserved = [...node.working.values()].reduce((sum, one) => sum + one.bytes, 0);
    const held = [...node.memory.values()].reduce((sum, one) => sum + one, 0);
    must(reserved + held <= node.budget, `invariant 3: ${node.id} would hold ${reserved + held} of ${node.budget}`);
  }

  #done(node: WorldNode, { preprocessId, sampleId, bytes }: Work, faults: boolean): void {
    node.working.delete(preprocessId);
    const how = faults ? this.#choices.below(16) : 16;
    const failed = { type: 'preprocess.failed', at: 0, preprocessId, nodeId: node.id } as const;
    if (how < 3) {
      this.#hit(sampleId);
      if (how === 0) this.#report({ ...failed, kind: 'data' });
      else if (how === 1) this.#report({ ...failed, kind: 'infrastructure' });
      else this.#report({ ...failed, kind: 'memory', bytes: bytes + 3 });
      return;
    }
    const taken = Math.max(1, bytes - this.#choices.below(3));
    node.memory.set(sampleId, taken);
    this.#report({ type: 'sample.preprocessed', at: 0, preprocessId, nodeId: node.id, bytes: taken });
  }

  #fetch(rank: WorldRank, fetch: Fetch, faults: boolean): void {
    const { sliceId, attempt, rank: number, sampleId, batchId, from } = fetch;
    rank.fetching.delete(sliceId);
    const node = this.nodes.get(from)!;
    const failed = { type: 'slice.failed', at: 0, sliceId, rank: number, attempt } as const;
    if (!node.isUp || (faults && this.#choices.below(12) === 0)) return this.#report({ ...failed, kind: 'transfer' });
    if (!node.memory.has(sampleId)) {
      // Only for a batch that is given up meanwhile.
      must(
        !this.batches.has(batchId) || this.#isComing(node, sampleId) || (this.left.get(sampleId) ?? 0) > 0,
        'invariant 7',
      );
      return this.#report({ ...failed, kind: 'missing' });
    }
    for (let frame = fetch.fromFrame; frame < fetch.toFrame; frame += 1) {
      const key = `${batchId} ${sampleId} ${frame}`;
      must(!rank.frames.has(key), `invariant 2: rank ${number} gets ${key} again`);
      rank.frames.add(key);
    }
    rank.slices.add(sliceId);
    this.delivered += 1;
    this.#report({ type: 'slice.materialized', at: 0, sliceId, rank: number });
  }

  /** Whether a sample was lost there since a rank was told to fetch it. */
  #isComing(node: WorldNode, sampleId: string): boolean {
    return (this.hits.get(sampleId) ?? 0) > 0 || node.inbox.length > 0;
  }

  /** Invariant 2: each rank has the frames that the batch needs on it, and no others. */
  #checkBatch({ batchId, missing }: DecisionOf<'batch.materialized'>): void {
    const assignments = this.batches.get(batchId)!;
    for (const sampleId of new Set(assignments.flatMap((one) => one.sampleId ?? []))) {
      const sample = this.samples.get(sampleId)!;
      if (missing.includes(sampleId) || sample.kind === 'text') continue;
      const own = assignments.filter((one) => one.sampleId === sampleId);
      const needed = neededFrames(sample.frames, own).map(
        ([rank, frame]) => `${rank}: ${batchId} ${sampleId} ${frame}`,
      );
      const has = [...this.ranks].flatMap(([rank, { frames }]) =>
        [...frames].filter((one) => one.startsWith(`${batchId} ${sampleId} `)).map((one) => `${rank}: ${one}`),
      );
      must(needed.sort().join() === has.sort().join(), `invariant 2: ${batchId} needs ${needed} and has ${has}`);
    }
  }

  /** Reports may be repeated on their way. */
  #report(event: ShadowLoaderEvent | (Fetch & { type: 'slice.materialized' })): void {
    const report =
      event.type === 'slice.materialized'
        ? ({ type: event.type, at: 0, sliceId: event.sliceId, rank: event.rank } as const)
        : event;
    this.reports.push(report);
    if (this.#choices.below(8) === 0) this.reports.push(report);
  }

  #rank(number: number): WorldRank {
    const rank = this.ranks.get(number) ?? { frames: new Set(), slices: new Set(), fetching: new Map() };
    this.ranks.set(number, rank);
    return rank;
  }

  /** Samples that are on a node, or will be. */
  #on(node: WorldNode): Set<string> {
    const on = new Set(node.memory.keys());
    for (const work of node.working.values()) on.add(work.sampleId);
    for (const one of node.inbox) {
      if (one.type === 'sample.evict') on.delete(one.sampleId);
      else on.add(one.sampleId);
    }
    // A failure that the policy has not heard of yet was counted as a hit already.
    return on;
  }

  #hit(sampleId: string): void {
    this.hits.set(sampleId, (this.hits.get(sampleId) ?? 0) + 1);
  }

  #leave(sampleId: string): void {
    this.left.set(sampleId, (this.left.get(sampleId) ?? 0) + 1);
    must(this.left.get(sampleId) === 1, `invariant 1: ${sampleId} leaves twice`);
  }
}
