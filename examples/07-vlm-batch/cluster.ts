/** Simulated nodes that preprocess and hold tensors, and ranks that fetch frames of them. */
import assert from 'node:assert/strict';

/** What a node is told to preprocess. */
export interface Work {
  readonly preprocessId: string;
  readonly sampleId: string;
  readonly nodeId: string;
  readonly bytes: number;
}
/** What a rank is told to fetch. */
export interface Fetch {
  readonly sliceId: string;
  readonly sampleId: string;
  readonly rank: number;
  readonly from: string;
  readonly fromFrame: number;
  readonly toFrame: number;
}

/** A worker node: what it holds in host memory, in bytes by sample. */
export class Node {
  readonly held = new Map<string, number>();
  readonly hostMemoryBytes: number;
  peakBytes = 0;
  isUp = true;

  constructor(hostMemoryBytes: number) {
    this.hostMemoryBytes = hostMemoryBytes;
  }

  /** Memory is taken when the work begins. */
  begin({ sampleId, bytes }: Work): void {
    this.held.set(sampleId, bytes);
    const used = [...this.held.values()].reduce((sum, one) => sum + one, 0);
    this.peakBytes = Math.max(this.peakBytes, used);
    assert.ok(used <= this.hostMemoryBytes, 'host memory stays within its budget');
  }

  evict(sampleId: string): void {
    this.held.delete(sampleId);
  }

  lose(): void {
    this.isUp = false;
    this.held.clear();
  }
}

/** A training worker: the frames that have arrived on it. */
export class Rank {
  readonly frames = new Set<string>();
  readonly #slices = new Set<string>();

  /** Fetches frames from a node, if it is still there; says whether it has them. */
  fetch({ sliceId, sampleId, fromFrame, toFrame }: Fetch, node: Node): boolean {
    if (this.#slices.has(sliceId)) return true;
    if (!node.isUp) return false;
    assert.ok(node.held.has(sampleId), 'what a rank is told to fetch is there');
    for (let frame = fromFrame; frame < toFrame; frame += 1) {
      const key = `${sampleId} ${frame}`;
      assert.ok(!this.frames.has(key), 'no frame arrives twice');
      this.frames.add(key);
    }
    this.#slices.add(sliceId);
    return true;
  }
}
