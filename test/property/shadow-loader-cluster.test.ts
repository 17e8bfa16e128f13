/** The invariants of shadow-loader that are about tensors, on simulated nodes and ranks that fail, repeat and are slow. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Choices } from '../../src/core/generators/choices.ts';
import { create, type PolicyOf } from '../../src/core/machine/start.ts';
import {
  type ShadowLoaderDecision,
  type ShadowLoaderEvent,
  shadowLoader,
} from '../../src/policies/shadow-loader/index.ts';
import type { BatchAssignment, DrawnSample } from '../../src/schemas/index.ts';
import { choicesFrom, tapes } from '../../src/testing/index.ts';
import { met, runs } from '../support/basics/runs.ts';
import { LoaderWorld } from '../support/hosts/loader-world.ts';

const configs = [{}, { prefetchSteps: 2, prefetchFraction: 1 }, { prefetchSteps: 0, retry: { infrastructure: 0 } }];

class Job {
  readonly world: LoaderWorld;
  readonly #choices: Choices;
  #policy: PolicyOf<typeof shadowLoader>;
  #drawn = 0;
  #steps = 0;
  #planned = 0;
  #restarts = 0;
  readonly openSteps: string[] = [];

  constructor(config: Record<string, unknown>, choices: Choices) {
    this.#choices = choices;
    this.world = new LoaderWorld(choices);
    this.#policy = create(shadowLoader, config);
    for (const number of [0, 1, 2]) this.addNode(number, 60 + 30 * choices.below(3));
  }

  send(event: ShadowLoaderEvent): ShadowLoaderDecision[] {
    const decisions = this.#policy.send(event);
    this.world.carryOut(decisions);
    return decisions;
  }

  addNode(number: number, hostMemoryBytes: number): void {
    const nodeId = `n${number}`;
    this.world.addNode(nodeId, hostMemoryBytes);
    this.send({ type: 'node.added', at: 0, nodeId, hostMemoryBytes, ranks: [2 * number, 2 * number + 1], slots: 3 });
  }

  /** Something that the host does. */
  act(): void {
    const { below } = this.#choices;
    switch (below(12)) {
      case 0:
      case 1:
      case 2:
        return this.draw();
      case 3:
      case 4:
      case 5:
      case 6:
        return this.plan();
      case 7: {
        const nodeId = `n${below(3)}`;
        const node = this.world.nodes.get(nodeId)!;
        if (node.isUp) {
          this.world.loseNode(nodeId);
          this.send({ type: 'node.lost', at: 0, nodeId });
        } else this.addNode(Number(nodeId.slice(1)), node.budget);
        return;
      }
      case 8: {
        const stepId = this.openSteps[0];
        if (stepId !== undefined && below(3) === 0) this.complete(stepId);
        return;
      }
      case 9: {
        const batchId = [...this.world.batches.keys()][0];
        if (batchId !== undefined && below(4) === 0) this.send({ type: 'batch.withdrawn', at: 0, batchId });
        return;
      }
      case 10:
        if (below(12) > 0) return;
        this.world.restart();
        this.send({ type: 'host.restarted', at: 0, idPrefix: `h${this.#restarts++}-` });
        return;
      default:
        this.restore();
    }
  }

  restore(): void {
    this.#policy = create(shadowLoader, { snapshot: JSON.parse(JSON.stringify(this.#policy.snapshot())) });
  }

  draw(): void {
    const { below } = this.#choices;
    const isNew = this.openSteps.length === 0 || below(3) === 0;
    const stepId = isNew ? `s${this.#steps++}` : this.openSteps[below(this.openSteps.length)]!;
    if (isNew) this.openSteps.push(stepId);
    const samples = Array.from({ length: 1 + below(4) }, (): DrawnSample => {
      const sampleId = `x${this.#drawn++}`;
      const uses = below(2) === 0 ? { uses: 1 + below(2) } : {};
      if (below(8) === 0) return { sampleId, kind: 'text', ...uses };
      const resolution = { width: 28, height: 28 };
      const media = { frames: 1 + below(8), resolution, bytes: 4 + below(25) };
      return { sampleId, kind: 'video', path: `/data/${sampleId}`, ...media, ...uses };
    });
    for (const one of samples) this.world.samples.set(one.sampleId, one);
    this.send({ type: 'samples.drawn', at: 0, stepId, samples });
  }

  plan(): void {
    const { below } = this.#choices;
    const stepId = this.openSteps[0];
    if (stepId === undefined) return;
    const batchId = `b${this.#planned++}`;
    const saved = this.#policy.snapshot().state as {
      samples: { id: string; step: string; uses: number | null; used: number }[];
      batches: { demands: { sample: string }[] }[];
    };
    const demands = saved.batches.flatMap((one) => one.demands.map((demand) => demand.sample));
    const usable = saved.samples.filter(({ id, step, uses, used }) => {
      const open = demands.filter((one) => one === id).length;
      return this.openSteps.includes(step) && (uses === null || used + open < uses);
    });
    const assignments = Array.from({ length: 1 + below(5) }, (_, sequence): BatchAssignment => {
      const degree = 2 ** below(3);
      const first = degree * below(Math.floor(6 / degree));
      const ranks = Array.from({ length: degree }, (_, index) => first + index);
      const sample = usable[below(usable.length + 1)];
      return { sequence, degree, ranks, ...(sample === undefined ? undefined : { sampleId: sample.id }) };
    });
    this.world.batches.set(batchId, assignments);
    this.send({ type: 'batch.run', at: 0, batchId, stepId, assignments, reason: { code: 'host' } });
  }

  complete(stepId: string): void {
    this.openSteps.splice(this.openSteps.indexOf(stepId), 1);
    this.send({ type: 'step.completed', at: 0, stepId });
  }

  /** One report reaches the policy, in any order. */
  hear(): boolean {
    const { reports, timer } = this.world;
    if (reports.length === 0) {
      this.world.timer = undefined;
      if (timer !== undefined) this.send(timer);
      return timer !== undefined;
    }
    const [event] = reports.splice(this.#choices.below(reports.length), 1);
    this.send(event!);
    return true;
  }

  /** Without faults everything comes to its end. */
  finish(): void {
    this.addNode(3, 1000);
    while (this.world.happen(false) || this.hear());
    expect([...this.world.batches.keys()], 'every batch gets what it needs').toEqual([]);
    for (const stepId of [...this.openSteps]) this.complete(stepId);
    while (this.world.happen(false) || this.hear());
    expect(this.#policy.snapshot().state).toMatchObject({ samples: [], batches: [], steps: [] });
    expect(this.world.left.size).toBe(this.#drawn);
    for (const { memory, working } of this.world.nodes.values())
      expect([...memory.keys(), ...working.keys()]).toEqual([]);
  }
}

test.each(configs)('invariants 1 to 5 and 7 hold on nodes and ranks that fail, with %j', (config) => {
  let delivered = 0;
  fc.assert(
    fc.property(tapes(), (tape) => {
      const choices = choicesFrom(tape);
      const job = new Job(config, choices);
      for (let index = 0; index < 250; index += 1) {
        const what = choices.below(10);
        if (what < 2) job.act();
        else if (what < 6) job.world.happen(true);
        else job.hear();
      }
      job.finish();
      delivered += job.world.delivered;
    }),
    runs(60),
  );
  expect(delivered).toBeGreaterThan(met(500));
});
