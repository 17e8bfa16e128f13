/**
 * Shows events a second of shadow-loader, against bare emits of eventemitter3 in the same process, and the cost of an
 * event with 1,000 samples waiting against that with 100,000: steps of 256 samples on 64 nodes with 8 ranks each, half
 * of the samples shared by two ranks. Making the reports is in the time, making samples and plans is not.
 */
import { create, type PolicyOf, shadowLoader } from '../../src/index.ts';
import type { ShadowLoaderDecision, ShadowLoaderEvent } from '../../src/policies/shadow-loader/index.ts';
import type { BatchAssignment, DrawnSample } from '../../src/schemas/index.ts';
import { machine, median } from '../support.ts';
import { printRates } from './print.ts';

const nodes = 64;
const ranksPerNode = 8;
const samplesPerStep = 256;
const bytes = 400e6;

/** Samples of a step, with strings of their own, as those read from a wire have. */
function samplesOf(step: number, count: number): DrawnSample[] {
  return Array.from({ length: count }, (_, index) => ({
    sampleId: `step-${step}-sample-${index}`,
    kind: 'video',
    path: `/data/videos/${step}/${index}.mp4`,
    frames: 64,
    resolution: { width: 448, height: 448 },
    bytes,
  }));
}

function batchOf(step: number, samples: readonly DrawnSample[], stepId = `step-${step}`): ShadowLoaderEvent {
  const assignments = samples.map(({ sampleId }, sequence): BatchAssignment => {
    const degree = 1 + (sequence & 1);
    const first = 2 * ((sequence * 37) % ((nodes * ranksPerNode) / 2));
    return { sequence, sampleId, degree, ranks: degree === 1 ? [first] : [first, first + 1] };
  });
  const ids = { batchId: `batch-${step}`, stepId };
  return { type: 'batch.run', at: step, ...ids, assignments, reason: { code: 'host' } };
}

/** Answers in the order in which a cluster might give them: the reports of a step mixed with those of the next. */
class Cluster {
  readonly #policy: PolicyOf<typeof shadowLoader>;
  #reports: ShadowLoaderEvent[] = [];
  sent = 0;
  seconds = 0;

  constructor(validate: boolean, hostMemoryBytes: number) {
    this.#policy = create(shadowLoader, { prefetchFraction: 1 }, { validate });
    for (let number = 0; number < nodes; number += 1) {
      const ranks = Array.from({ length: ranksPerNode }, (_, index) => number * ranksPerNode + index);
      this.#policy.send({ type: 'node.added', at: 0, nodeId: `node-${number}`, hostMemoryBytes, ranks });
    }
  }

  /** Sends events; what will be answered to their decisions is made in the time, as a host does. */
  send(events: readonly ShadowLoaderEvent[]): void {
    const start = performance.now();
    for (let index = 0; index < events.length; index += 1) {
      for (const one of this.#policy.send(events[index]!)) this.#answer(one);
    }
    this.seconds += (performance.now() - start) / 1000;
    this.sent += events.length;
  }

  #answer(one: ShadowLoaderDecision): void {
    if (one.type === 'sample.preprocess' || one.type === 'sample.prefetch') {
      const { preprocessId, nodeId } = one;
      this.#reports.push({ type: 'sample.preprocessed', at: 1, preprocessId, nodeId, bytes: bytes - 1e6 });
    } else if (one.type === 'sample.materialize') {
      this.#reports.push({ type: 'slice.materialized', at: 1, sliceId: one.sliceId, rank: one.rank });
    }
  }

  /** Everything is answered, and what follows from that too. */
  drain(): void {
    while (this.#reports.length > 0) {
      const reports = this.#reports;
      this.#reports = [];
      this.send(reports);
    }
  }
}

/** Events a second over so many steps, after a pass to warm up. */
function eventsPerSecond(validate: boolean, steps: number): () => number {
  const cluster = new Cluster(validate, 16e9);
  let step = 0;
  const pass = (): number => {
    cluster.sent = 0;
    cluster.seconds = 0;
    for (const last = step + steps; step < last; step += 1) {
      const samples = samplesOf(step, samplesPerStep);
      cluster.send([{ type: 'samples.drawn', at: step, stepId: `step-${step}`, samples }]);
      cluster.drain();
      cluster.send([batchOf(step, samples)]);
      cluster.drain();
      cluster.send([{ type: 'step.completed', at: step, stepId: `step-${step}` }]);
    }
    return cluster.sent / cluster.seconds;
  };
  pass();
  return pass;
}

/** Nanoseconds of an event while so many samples of later steps wait for memory. */
function nanosecondsWith(waiting: number): number {
  const cluster = new Cluster(false, 16e9);
  cluster.send([{ type: 'samples.drawn', at: 0, stepId: 'later', samples: samplesOf(-1, 1) }]);
  cluster.send([{ type: 'samples.drawn', at: 0, stepId: 'latest', samples: samplesOf(-2, 64 * 40 + waiting) }]);
  cluster.drain();
  let step = 0;
  const pass = (): number => {
    cluster.sent = 0;
    cluster.seconds = 0;
    for (const last = step + 40; step < last; step += 1) {
      const samples = samplesOf(step, samplesPerStep);
      cluster.send([
        { type: 'samples.drawn', at: step, stepId: 'later', samples: samples.map((one) => ({ ...one, uses: 1 })) },
      ]);
      cluster.send([batchOf(step, samples, 'later')]);
      cluster.drain();
    }
    return (1e9 * cluster.seconds) / cluster.sent;
  };
  pass();
  return median(Array.from({ length: 3 }, pass));
}

console.log(machine());
printRates(eventsPerSecond(false, 100), eventsPerSecond(true, 100));
const first = nanosecondsWith(1000);
for (const size of [1000, 100_000]) {
  const nanoseconds = size === 1000 ? first : nanosecondsWith(size);
  const ratio = (nanoseconds / first).toFixed(2);
  console.log(`${String(size).padStart(7)} waiting: ${nanoseconds.toFixed(0)} ns an event, ${ratio} × that at 1,000`);
}
