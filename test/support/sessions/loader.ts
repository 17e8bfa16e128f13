/** A shadow-loader in a test, with short ways to send the usual events. */
import { expect } from 'vitest';
import { create, type PolicyOf, registry, shadowLoader } from '../../../src/index.ts';
import type { ShadowLoaderInput } from '../../../src/policies/shadow-loader/index.ts';
import type { BatchAssignment, VocabularyDecision } from '../../../src/schemas/index.ts';
import { refusal } from '../basics/refusal.ts';

type Loader = PolicyOf<typeof shadowLoader>;
type Event = Parameters<Loader['send']>[0];

const resolution = { width: 28, height: 56 };

/** A video of 8 frames. */
export const video = (sampleId: string, bytes = 10, more: { frames?: number; uses?: number; ref?: string } = {}) => {
  return { sampleId, kind: 'video' as const, path: `/data/${sampleId}.mp4`, frames: 8, resolution, bytes, ...more };
};
export const text = (sampleId: string, more: { uses?: number; ref?: string } = {}) => {
  return { sampleId, kind: 'text' as const, ...more };
};
export const node = (nodeId: string, hostMemoryBytes: number, ...ranks: number[]) => ({
  nodeId,
  hostMemoryBytes,
  ranks,
});
export const two = [node('a', 100, 0, 1), node('b', 100, 2, 3)];

export const types = (decisions: readonly VocabularyDecision[]) => decisions.map((one) => one.type);

export class LoaderSession {
  loader: Loader;

  constructor(config: ShadowLoaderInput = { nodes: two }) {
    this.loader = create(shadowLoader, config);
  }

  send(event: Omit<Event, 'at'> & { at?: number }): VocabularyDecision[] {
    return this.loader.send({ at: 0, ...event } as Event) as VocabularyDecision[];
  }

  draw(stepId: string, ...samples: unknown[]) {
    return this.send({ type: 'samples.drawn', stepId, samples } as never);
  }

  done(id: number, nodeId: string, bytes = 10) {
    return this.send({ type: 'sample.preprocessed', preprocessId: `preprocess/${id}`, nodeId, bytes } as never);
  }

  failed(id: number, nodeId: string, kind: string, more = {}) {
    return this.send({ type: 'preprocess.failed', preprocessId: `preprocess/${id}`, nodeId, kind, ...more } as never);
  }

  plan(batchId: string, assignments: readonly Partial<BatchAssignment>[], stepId = 's') {
    const all = assignments.map((one, sequence) => ({ sequence, degree: one.ranks!.length, ...one }));
    const reason = { code: 'host' } as const;
    return this.send({ type: 'batch.run', batchId, stepId, assignments: all, reason } as never);
  }

  has(id: number, rank: number) {
    return this.send({ type: 'slice.materialized', sliceId: `slice/${id}`, rank } as never);
  }

  complete(stepId: string) {
    return this.send({ type: 'step.completed', stepId } as never);
  }

  lose(nodeId: string) {
    return this.send({ type: 'node.lost', nodeId } as never);
  }

  add(nodeId: string, hostMemoryBytes: number, ranks?: number[]) {
    return this.send({ type: 'node.added', nodeId, hostMemoryBytes, ranks } as never);
  }

  restart(idPrefix = 'h-') {
    return this.send({ type: 'host.restarted', idPrefix } as never);
  }

  /** Goes on from a snapshot that was JSON. */
  restore(): void {
    this.resume(JSON.parse(JSON.stringify(this.loader.snapshot())));
  }

  resume(snapshot: unknown): void {
    this.loader = registry.restore(snapshot) as never;
  }

  get state() {
    return this.loader.snapshot().state as {
      nodes: { id: string; ranks: number[] }[];
      lost: { id: string; ranks: number[] }[];
      steps: object[];
      samples: { id: string; status: string; used: number }[];
      batches: object[];
    };
  }

  refuses(event: object): ReturnType<typeof refusal> {
    const before = JSON.stringify(this.loader.snapshot());
    const refused = refusal(() => this.send(event as never));
    expect(JSON.stringify(this.loader.snapshot())).toBe(before);
    return refused;
  }
}
