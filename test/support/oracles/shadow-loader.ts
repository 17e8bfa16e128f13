/**
 * A host of shadow-loader that knows only what it sent and what it was told. Every rule is here once more, as naively as
 * can be: lists that are searched and sorted.
 */
import { expect } from 'vitest';
import type {
  ShadowLoaderConfig,
  ShadowLoaderDecision,
  ShadowLoaderEvent,
} from '../../../src/policies/shadow-loader/index.ts';
import type { BatchAssignment, DrawnSample } from '../../../src/schemas/index.ts';

type EventOf<T extends ShadowLoaderEvent['type']> = Extract<ShadowLoaderEvent, { type: T }>;
type DecisionOf<T extends ShadowLoaderDecision['type']> = Extract<ShadowLoaderDecision, { type: T }>;

/** A frame that a rank needs for a batch. */
interface Need {
  readonly batchId: string;
  readonly rank: number;
  readonly frame: number;
  sliceId: string | undefined;
  sent: boolean;
}
export interface OracleSample {
  readonly id: string;
  readonly stepId: string;
  readonly order: number;
  readonly seq: number;
  readonly frames: number;
  readonly uses: number | undefined;
  used: number;
  bytes: number;
  status: 'waiting' | 'unplaced' | 'preprocessing' | 'registered' | 'text';
  node: string | undefined;
  task: string | undefined;
  ahead: boolean;
  avoid: string | undefined;
  tries: number;
  /** Losses, failures, and what else cost a try. */
  causes: number;
  infrastructure: number;
  data: number;
  needs: Need[];
}
interface OracleNode {
  readonly id: string;
  budget: number;
  weight: number;
  slots: number;
  active: boolean;
}
interface OracleBatch {
  readonly id: string;
  dropped: string[];
  samples: string[];
  /** Those that it had in full: a use of each, unless it is given up. */
  readonly used: OracleSample[];
}

/** As `expect`, at a hundredth of its cost: it is asked of everything after every decision. */
function must(holds: boolean, what: string): void {
  if (!holds) throw new Error(what);
}

const by =
  (...keys: ((one: never) => number | string)[]) =>
  (a: unknown, b: unknown): number => {
    for (const key of keys) {
      const [one, two] = [key(a as never), key(b as never)];
      if (one !== two) return one < two ? -1 : 1;
    }
    return 0;
  };

export class LoaderOracle {
  readonly config: ShadowLoaderConfig;
  samples: OracleSample[] = [];
  nodes: OracleNode[] = [];
  batches: OracleBatch[] = [];
  steps: { id: string; order: number; closed: boolean }[] = [];
  nodeOfRank = new Map<number, string>();
  minted = new Set<string>();
  #seq = 0;
  #transfer = new Map<string, number>();
  /** Whether a try has failed so far: from then on retries are put off, and single tries are made where they fail. */
  #isTroubled = false;
  #placeholders: string[] = [];
  #resumed: string[] = [];

  constructor(config: ShadowLoaderConfig) {
    this.config = config;
    for (const node of config.nodes) this.#nodeAdded(node);
  }

  /** Compares what was decided with what must be, and remembers it. */
  step(event: ShadowLoaderEvent, decisions: readonly ShadowLoaderDecision[]): void {
    this.#placeholders = [];
    this.#resumed = [];
    this.#sent(event);
    for (const decision of decisions) {
      this.#told(decision);
      this.checkMemory();
    }
    const near = decisions.flatMap((one) => (one.type === 'sample.materialize' ? [one.reason.code] : []));
    must(near.lastIndexOf('same_node') < near.concat('other_node').indexOf('other_node'), 'near copies come first');
    expect(this.#placeholders, 'invariant 1: every sample has a placeholder').toEqual([]);
    expect(this.#resumed, 'invariant 10: every open step is named').toEqual([]);
    this.#checkRest();
  }

  /** Invariant 3. */
  checkMemory(): void {
    for (const node of this.nodes) must(this.used(node.id) <= node.budget, 'invariant 3');
  }

  used(nodeId: string): number {
    return this.samples.reduce((sum, one) => sum + (one.node === nodeId ? one.bytes : 0), 0);
  }

  sample(id: string): OracleSample | undefined {
    return this.samples.find((one) => one.id === id);
  }

  #sent(event: ShadowLoaderEvent): void {
    switch (event.type) {
      case 'node.added':
        return this.#nodeAdded(event);
      case 'node.lost': {
        const node = this.nodes.find((one) => one.id === event.nodeId)!;
        if (!node.active) return;
        node.active = false;
        for (const one of this.samples.filter((other) => other.node === node.id)) {
          if (one.status === 'preprocessing') one.infrastructure += 1;
          this.#lose(one);
        }
        return;
      }
      case 'samples.drawn':
        return this.#drawn(event);
      case 'sample.preprocessed':
      case 'preprocess.failed':
        return this.#reported(event);
      case 'batch.run':
        return this.#planned(event);
      case 'slice.materialized': {
        const sample = this.#sampleOf(event.sliceId);
        if (sample === undefined) return;
        const { batchId } = sample.needs.find((one) => one.sliceId === event.sliceId)!;
        sample.needs = sample.needs.filter((one) => one.sliceId !== event.sliceId);
        if (!sample.needs.some((one) => one.batchId === batchId)) this.#use(sample, batchId);
        return;
      }
      case 'slice.failed':
        return this.#sliceFailed(event);
      case 'batch.withdrawn':
        for (const one of this.samples) one.needs = one.needs.filter((need) => need.batchId !== event.batchId);
        return;
      case 'step.completed': {
        const step = this.steps.find((one) => one.id === event.stepId);
        if (step !== undefined) step.closed = true;
        return;
      }
      case 'host.restarted':
        for (const one of this.samples) {
          one.avoid = undefined;
          one.needs = [];
          if (one.node !== undefined) this.#lose(one);
          if (one.status === 'unplaced') one.status = 'waiting';
        }
        this.#resumed = this.#openSteps().map((one) => one.id);
    }
  }

  #nodeAdded({ nodeId: id, hostMemoryBytes: budget, weight = 1, slots = Infinity, ranks }: NodeFacts): void {
    const known = this.nodes.find((one) => one.id === id);
    if (known === undefined) this.nodes.push({ id, budget, weight, slots, active: true });
    else Object.assign(known, { budget, weight, slots, active: true });
    for (const one of this.samples.filter((other) => other.status === 'unplaced')) {
      if (one.bytes <= this.#largest()) one.status = 'waiting';
    }
    if (ranks === undefined) return;
    for (const [rank, other] of [...this.nodeOfRank]) if (other === id) this.nodeOfRank.delete(rank);
    for (const rank of ranks) this.nodeOfRank.set(rank, id);
  }

  #drawn({ stepId, samples }: EventOf<'samples.drawn'>): void {
    if (!this.steps.some((one) => one.id === stepId)) {
      this.steps.push({ id: stepId, order: this.steps.length, closed: false });
    }
    const { order } = this.steps.find((one) => one.id === stepId)!;
    for (const one of samples as DrawnSample[]) {
      const isText = one.kind === 'text';
      const facts = { node: undefined, task: undefined, avoid: undefined, ahead: false, needs: [] };
      const counts = { used: 0, tries: 0, causes: 0, infrastructure: 0, data: 0 };
      this.samples.push({
        ...{ id: one.sampleId, stepId, order, seq: this.#seq++, uses: one.uses, ...facts, ...counts },
        frames: isText ? 0 : one.frames,
        bytes: isText ? 0 : one.bytes,
        status: isText ? 'text' : 'waiting',
      });
      this.#placeholders.push(one.sampleId);
    }
  }

  #reported(event: EventOf<'sample.preprocessed' | 'preprocess.failed'>): void {
    const sample = this.samples.find((one) => one.task === event.preprocessId);
    if (sample === undefined) return;
    if (event.type === 'sample.preprocessed') {
      const node = this.nodes.find((one) => one.id === sample.node)!;
      if (this.used(node.id) - sample.bytes + event.bytes > node.budget) {
        sample.infrastructure += 1;
        return this.#lose(sample, event.bytes);
      }
      Object.assign(sample, { status: 'registered', task: undefined, avoid: undefined, bytes: event.bytes });
      return;
    }
    const { node } = sample;
    if (event.kind === 'infrastructure') this.#isTroubled = true;
    if (event.kind === 'data') sample.data += 1;
    else sample.infrastructure += 1;
    this.#lose(sample, Math.max(sample.bytes, event.bytes ?? 0));
    if (event.kind === 'infrastructure') sample.avoid = node;
  }

  #planned({ batchId, assignments }: EventOf<'batch.run'>): void {
    const ids = [...new Set(assignments.flatMap((one) => one.sampleId ?? []))];
    this.batches.push({ id: batchId, dropped: [], samples: ids, used: [] });
    for (const id of ids) {
      const sample = this.sample(id)!;
      const own = assignments.filter((one) => one.sampleId === id);
      const frames = sample.status === 'text' ? [] : neededFrames(sample.frames, own);
      for (const [rank, frame] of frames) sample.needs.push({ batchId, rank, frame, sliceId: undefined, sent: false });
      if (frames.length === 0) this.#use(sample, batchId);
      else sample.ahead = false;
    }
  }

  #use(sample: OracleSample, batchId: string): void {
    sample.used += 1;
    const batch = this.batches.find((one) => one.id === batchId)!;
    batch.samples = batch.samples.filter((id) => id !== sample.id);
    batch.used.push(sample);
  }

  #sliceFailed({ sliceId, attempt, kind }: EventOf<'slice.failed'>): void {
    const sample = this.#sampleOf(sliceId);
    const needs = sample?.needs.filter((one) => one.sliceId === sliceId) ?? [];
    if (sample === undefined || !needs[0]!.sent || attempt + 1 < (this.attempts.get(sliceId) ?? 0)) return;
    this.#isTroubled = true;
    if (kind === 'missing') {
      sample.infrastructure += 1;
      return this.#lose(sample);
    }
    this.#transfer.set(sliceId, (this.#transfer.get(sliceId) ?? 0) + 1);
    for (const need of needs) need.sent = false;
  }

  #lose(sample: OracleSample, bytes = sample.bytes): void {
    sample.causes += 1;
    Object.assign(sample, { status: 'waiting', node: undefined, task: undefined, ahead: false, bytes });
    for (const need of sample.needs) need.sent = false;
  }

  /** Tries of each slice. */
  readonly attempts = new Map<string, number>();

  #told(decision: ShadowLoaderDecision): void {
    switch (decision.type) {
      case 'sample.placeholder':
        expect(this.#placeholders.shift()).toBe(decision.sampleId);
        return;
      case 'step.resumed':
        return this.#resume(decision);
      case 'sample.unplaced': {
        const sample = this.sample(decision.sampleId)!;
        this.#isNext(sample);
        const { bytes } = sample;
        const lost = Math.max(...this.nodes.filter((one) => !one.active).map((one) => one.budget));
        must(bytes > this.#largest() && bytes <= lost, 'invariant 8: only a lost node could hold it');
        expect(decision.reason).toMatchObject({ bytes, largestBudgetBytes: this.#largest(), lostBudgetBytes: lost });
        sample.status = 'unplaced';
        return;
      }
      case 'sample.preprocess':
      case 'sample.prefetch':
        return this.#begun(decision);
      case 'sample.registered':
        expect(this.sample(decision.sampleId)).toMatchObject({ status: 'registered', node: decision.nodeId });
        return;
      case 'sample.materialize':
        return this.#materialize(decision);
      case 'sample.evict':
        return this.#evicted(decision);
      case 'sample.released': {
        const sample = this.sample(decision.sampleId)!;
        expect(sample.node, 'invariant 1').toBeUndefined();
        return this.#left(sample, decision.reason.code);
      }
      case 'sample.dropped':
        return this.#dropped(decision);
      case 'batch.materialized': {
        const batch = this.batches.find((one) => one.id === decision.batchId)!;
        expect(batch.samples, 'invariant 2').toEqual([]);
        expect(decision.missing, 'invariant 2').toEqual(batch.dropped);
        this.batches = this.batches.filter((one) => one !== batch);
        return;
      }
      case 'batch.abandoned':
        return this.#abandoned(decision);
    }
  }

  #resume({ stepId, samples }: DecisionOf<'step.resumed'>): void {
    expect(this.#resumed.shift(), 'invariant 10').toBe(stepId);
    const own = this.samples.filter((one) => one.stepId === stepId);
    const ids = own.map((one) => one.id);
    expect(samples, 'invariant 10').toEqual(ids);
    this.#placeholders.push(...ids);
  }

  #abandoned({ batchId, gone }: DecisionOf<'batch.abandoned'>): void {
    const batch = this.batches.find((one) => one.id === batchId)!;
    const [here, left] = [true, false].map((is) => batch.used.filter((one) => this.samples.includes(one) === is));
    for (const one of here!) one.used -= 1;
    expect(
      gone.map((one) => one.sampleId),
      'invariant 10',
    ).toEqual(left!.map((one) => one.id));
    this.batches = this.batches.filter((one) => one !== batch);
  }

  #begun(decision: DecisionOf<'sample.preprocess' | 'sample.prefetch'>): void {
    const { sampleId, nodeId, bytes, preprocessId } = decision;
    const sample = this.sample(sampleId)!;
    expect(this.minted.has(preprocessId), 'ids are new').toBe(false);
    this.minted.add(preprocessId);
    this.#isNext(sample);
    expect(bytes).toBe(sample.bytes);
    const isAhead = this.#isAhead(sample);
    expect(decision.type, 'invariant 9').toBe(isAhead ? 'sample.prefetch' : 'sample.preprocess');
    const rooms = this.#rooms(sample).map((one) => one.id);
    if (this.#isTroubled) expect(rooms, 'invariant 8').toContain(nodeId);
    else expect(nodeId, 'invariant 8').toBe(rooms[0]);
    Object.assign(sample, { status: 'preprocessing', node: nodeId, task: preprocessId, ahead: isAhead });
    sample.tries += 1;
    expect(sample.tries, 'invariant 4').toBeLessThanOrEqual(1 + sample.causes);
  }

  #materialize(decision: DecisionOf<'sample.materialize'>): void {
    const { sliceId, batchId, sampleId, rank, fromFrame, toFrame, from, attempt } = decision;
    const sample = this.sample(sampleId)!;
    expect(sample, 'invariant 2').toMatchObject({ status: 'registered', node: from });
    for (let frame = fromFrame; frame < toFrame; frame += 1) {
      const need = sample.needs.find((one) => one.batchId === batchId && one.rank === rank && one.frame === frame);
      must(need?.sent === false, 'invariant 2: needed, and not under way');
      must((need!.sliceId ?? sliceId) === sliceId, 'invariant 2: one slice for a frame');
      need!.sliceId = sliceId;
      need!.sent = true;
    }
    expect(attempt).toBe(this.attempts.get(sliceId) ?? 0);
    this.attempts.set(sliceId, attempt + 1);
    expect(decision.reason.code).toBe(this.nodeOfRank.get(rank) === from ? 'same_node' : 'other_node');
  }

  #evicted({ sampleId, nodeId, bytes, reason }: DecisionOf<'sample.evict'>): void {
    const sample = this.sample(sampleId);
    switch (reason.code) {
      case 'dropped':
        expect(sample, 'invariant 1').toBeUndefined();
        return;
      case 'memory':
      case 'copy_missing':
        // Lost with the report.
        expect(sample?.node, 'invariant 5').toBeUndefined();
        return;
      case 'displaced': {
        expect(sample).toMatchObject({ status: 'registered', node: nodeId, bytes, needs: [] });
        const wanted = this.#line().filter((one) => !isIdle(one));
        expect(wanted.length, 'invariant 7: only for what a batch waits for').toBeGreaterThan(0);
        const idle = this.samples.filter((one) => one.node === nodeId && one.status === 'registered' && isIdle(one));
        expect(
          idle.sort(
            by(
              (one: OracleSample) => -one.order,
              (one: OracleSample) => -one.seq,
            ),
          )[0],
        ).toBe(sample);
        return this.#lose(sample!);
      }
      default:
        expect(sample).toMatchObject({ node: nodeId, bytes });
        return this.#left(sample!, reason.code);
    }
  }

  #left(sample: OracleSample, code: 'last_use' | 'step_completed'): void {
    expect(sample.needs, 'invariant 7').toEqual([]);
    if (code === 'last_use') expect(sample.used).toBe(sample.uses);
    else expect(this.steps.find((one) => one.id === sample.stepId)!.closed).toBe(true);
    this.#gone(sample);
  }

  #dropped({ sampleId, reason }: DecisionOf<'sample.dropped'>): void {
    const sample = this.sample(sampleId)!;
    const { infrastructure, data } = this.config.retry;
    switch (reason.code) {
      case 'infrastructure':
        // Others have shown that these were its own, and not those of nodes.
        expect(sample.infrastructure).toBeGreaterThan(infrastructure);
        break;
      case 'data':
        expect(sample.data).toBe(data + 1);
        break;
      case 'transfer':
        expect(this.#overTransfer(sample)).toBe(true);
        break;
      default:
        for (const node of this.nodes) expect(node.budget).toBeLessThan(sample.bytes);
    }
    for (const batch of this.batches) {
      if (!batch.samples.includes(sampleId) || !sample.needs.some((one) => one.batchId === batch.id)) continue;
      batch.samples = batch.samples.filter((id) => id !== sampleId);
      batch.dropped.push(sampleId);
    }
    this.#gone(sample);
  }

  #gone(sample: OracleSample): void {
    this.samples = this.samples.filter((one) => one !== sample);
  }

  #overTransfer(sample: OracleSample): boolean {
    return sample.needs.some((one) => (this.#transfer.get(one.sliceId ?? '') ?? 0) > this.config.retry.transfer);
  }

  #sampleOf(sliceId: string): OracleSample | undefined {
    return this.samples.find((one) => one.needs.some((need) => need.sliceId === sliceId));
  }

  /** The first sample in line is next; one whose retry is put off holds up no other. */
  #isNext(sample: OracleSample): void {
    if (this.#isTroubled) expect(this.#line(), 'invariant 8').toContain(sample);
    else expect(this.#line()[0], 'invariant 8').toBe(sample);
  }

  #line(): OracleSample[] {
    return this.samples
      .filter((one) => one.status === 'waiting')
      .sort(
        by(
          (one: OracleSample) => Number(isIdle(one)),
          (one: OracleSample) => one.order,
          (one: OracleSample) => one.seq,
        ),
      );
  }

  #largest(): number {
    return Math.max(0, ...this.nodes.filter((one) => one.active).map((one) => one.budget));
  }

  #openSteps() {
    return this.steps.filter((one) => !one.closed);
  }

  #isAhead(sample: OracleSample): boolean {
    return isIdle(sample) && sample.stepId !== this.#openSteps()[0]?.id;
  }

  #aheadBytes(nodeId: string): number {
    const held = this.samples.filter((one) => one.node === nodeId && one.ahead && this.#isAheadNow(one));
    return held.reduce((sum, one) => sum + one.bytes, 0);
  }

  #isAheadNow(sample: OracleSample): boolean {
    return sample.stepId !== this.#openSteps()[0]?.id;
  }

  /** The nodes with room for a sample, the best first. */
  #rooms(sample: OracleSample): OracleNode[] {
    const queued = (node: OracleNode) =>
      this.samples.filter((one) => one.node === node.id && one.status === 'preprocessing');
    const queuedBytes = (node: OracleNode) => queued(node).reduce((sum, one) => sum + one.bytes, 0);
    const near = (node: OracleNode) => {
      return sample.needs.filter((one) => this.nodeOfRank.get(one.rank) === node.id).length;
    };
    const isAhead = this.#isAhead(sample);
    const fits = (node: OracleNode) => {
      if (!node.active || queued(node).length >= node.slots) return false;
      if (this.used(node.id) + sample.bytes > node.budget) return false;
      const limit = Math.floor(this.config.prefetchFraction * node.budget);
      return !isAhead || this.#aheadBytes(node.id) + sample.bytes <= limit;
    };
    return this.nodes.filter(fits).sort(
      by(
        (one: OracleNode) => Number(one.id === sample.avoid),
        (one: OracleNode) => queuedBytes(one) / one.weight,
        (one: OracleNode) => queued(one).length,
        (one: OracleNode) => -near(one),
        (one: OracleNode) => this.used(one.id),
        (one: OracleNode) => one.id,
      ),
    );
  }

  /** After an event nothing is left undone. */
  #checkRest(): void {
    for (const one of this.samples) {
      const isPutOff = (id: string | undefined) => id !== undefined && this.#transfer.has(id);
      const areSent = one.needs.every((need) => need.sent || isPutOff(need.sliceId));
      must(one.status !== 'registered' || areSent, 'invariant 2');
      must(one.used !== one.uses, 'invariant 1: nothing stays after its last use');
      const step = this.steps.find(({ id }) => id === one.stepId)!;
      must(!(isIdle(one) && step.closed), 'invariant 1: nothing stays after its step');
      must(one.data <= this.config.retry.data, 'invariant 4');
    }
    for (const batch of this.batches) must(batch.samples.length > 0, 'invariant 2: an open batch waits');
    const [first] = this.#line();
    if (first === undefined || this.#isTroubled) return;
    const isWanted = !isIdle(first);
    const distance = this.#openSteps().findIndex((one) => one.id === first.stepId);
    if (!isWanted && distance > this.config.prefetchSteps) return;
    expect(this.#rooms(first), 'invariant 8: the first in line has room nowhere').toEqual([]);
  }
}

type NodeFacts = Pick<EventOf<'node.added'>, 'nodeId' | 'hostMemoryBytes' | 'weight' | 'slots' | 'ranks'>;

const isIdle = (sample: OracleSample): boolean => sample.needs.length === 0;

/** Rank and frame of all that a batch needs of a sample, each once. */
export function neededFrames(frames: number, assignments: readonly BatchAssignment[]): [number, number][] {
  const found = new Map<string, [number, number]>();
  for (const { ranks, slices } of assignments) {
    if (slices !== undefined) {
      for (const { rank, fromFrame, toFrame } of slices) {
        for (let frame = fromFrame; frame < toFrame; frame += 1) found.set(`${rank} ${frame}`, [rank, frame]);
      }
      continue;
    }
    for (let frame = 0; frame < frames; frame += 1) {
      // The rank whose share it falls into.
      const index = ranks.findIndex((_, at) => frame < Math.floor(((at + 1) * frames) / ranks.length));
      found.set(`${ranks[index]} ${frame}`, [ranks[index]!, frame]);
    }
  }
  return [...found.values()];
}
