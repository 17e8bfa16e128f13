/**
 * Shows simulated responses a second of the decode engine on one core, against the step-by-step oracle of the tests in
 * the same process, which must give the same: batches of 128 × 8 responses with long-tailed lengths (lognormal, median
 * 800, cap 16,384), without preemption on 8 and 16 engines, and with a KV cache so small that a response is preempted
 * twice or more on average. Engines alone: no policy, no timeline.
 */
import { IndexedHeap } from '../../src/core/collections/heap.ts';
import { DecodeEngine, type EngineRequest } from '../../src/sim/engine/decode-engine.ts';
import type { CostModel } from '../../src/sim/models/cost-model.ts';
import { jobPreset } from '../../src/sim/models/presets.ts';
import { normal, pickIndex } from '../../src/sim/workload/random.ts';
import { runOracle } from '../../test/support/simulator/engine-oracle.ts';
import { machine, median } from '../support.ts';

interface Case {
  readonly name: string;
  readonly engines: number;
  readonly cost: CostModel;
  /** Preemptions a response, on average, that make it the case that it claims to be. */
  readonly leastPreemptions: number;
}

interface Result {
  readonly responses: number;
  readonly preemptions: number;
  /** When the last response was complete. */
  readonly endSeconds: number;
}

const capTokens = 16_384;
const promptsPerBatch = 128;
const responsesPerPrompt = 8;

function batchOf(seed: number): EngineRequest[] {
  return Array.from({ length: promptsPerBatch * responsesPerPrompt }, (_, index) => ({
    requestId: `${seed}/${index}`,
    promptTokens: 100 + pickIndex(400, seed, Math.floor(index / responsesPerPrompt)),
    responseTokens: Math.max(1, Math.min(capTokens, Math.round(800 * Math.exp(1.1 * normal(seed, index))))),
  }));
}

/** As a host does it: after every change it asks the engine for its next event. */
function runEngines({ engines: count, cost }: Case, batch: readonly EngineRequest[]): Result {
  const nodes = Array.from({ length: count }, (_, index) => {
    return { index, engine: new DecodeEngine(`e${index}`, cost), nextAt: 0, heapIndex: -1 };
  });
  type Node = (typeof nodes)[number];
  const byTime = new IndexedHeap<Node>((a, b) => a.nextAt - b.nextAt || a.index - b.index);
  const schedule = (node: Node): void => {
    node.nextAt = node.engine.nextEventAt();
    if (node.nextAt === Number.POSITIVE_INFINITY) byTime.remove(node);
    else byTime.update(node);
  };
  batch.forEach((request, index) => {
    nodes[index % count]!.engine.add(request, 0);
    schedule(nodes[index % count]!);
  });
  let responses = 0;
  let endSeconds = 0;
  for (let node = byTime.peek(); node !== undefined; node = byTime.peek()) {
    const at = node.nextAt;
    const outcomes = node.engine.advanceTo(at);
    responses += outcomes.length;
    if (outcomes.length > 0) endSeconds = at;
    schedule(node);
  }
  return { responses, preemptions: nodes.reduce((sum, { engine }) => sum + engine.preemptions, 0), endSeconds };
}

function runOracles({ engines, cost }: Case, batch: readonly EngineRequest[]): Result {
  const runs = Array.from({ length: engines }, (_, engine) => {
    const own = batch.filter((_request, index) => index % engines === engine);
    return runOracle(
      cost,
      own.map((request) => ({ at: 0, kind: 'add', request })),
    );
  });
  return {
    responses: runs.reduce((sum, run) => sum + run.outcomes.length, 0),
    preemptions: runs.reduce((sum, run) => sum + run.counters.preemptions, 0),
    endSeconds: Math.max(...runs.map((run) => run.outcomes.at(-1)!.at)),
  };
}

function measure(run: typeof runEngines, one: Case, batches: readonly (readonly EngineRequest[])[]) {
  const start = performance.now();
  const results = batches.map((batch) => run(one, batch));
  const seconds = (performance.now() - start) / 1000;
  const responses = results.reduce((sum, result) => sum + result.responses, 0);
  const preemptions = results.reduce((sum, result) => sum + result.preemptions, 0);
  return { perSecond: responses / seconds, preemptionsEach: preemptions / responses, results };
}

const roomy = jobPreset('qwen2.5-7b-8k').job.cost;
// Hardly more room than the longest response alone needs, and none kept free at admission.
const tight: CostModel = { ...roomy, kvCapacityTokens: 18_000, watermark: 0 };
const cases: Case[] = [
  { name: 'no preemption', engines: 8, cost: roomy, leastPreemptions: 0 },
  { name: 'no preemption', engines: 16, cost: roomy, leastPreemptions: 0 },
  { name: 'heavy preemption', engines: 8, cost: tight, leastPreemptions: 2 },
  { name: 'heavy preemption', engines: 4, cost: tight, leastPreemptions: 2 },
];
const batches = Array.from({ length: 100 }, (_, seed) => batchOf(seed));

console.log(machine());
for (const one of cases) {
  measure(runEngines, one, batches);
  const engine = Array.from({ length: 5 }, () => measure(runEngines, one, batches));
  const oracle = Array.from({ length: 5 }, () => measure(runOracles, one, batches.slice(0, 1)));
  const [got, want] = [engine[0]!.results[0]!, oracle[0]!.results[0]!];
  const isSame = got.responses === want.responses && got.preemptions === want.preemptions;
  if (!isSame || Math.abs(got.endSeconds / want.endSeconds - 1) > 1e-9) throw new Error('engine and oracle differ');
  const { preemptionsEach } = engine[0]!;
  if (preemptionsEach < one.leastPreemptions) throw new Error(`only ${preemptionsEach} preemptions a response`);
  const [fast, slow] = [median(engine.map((run) => run.perSecond)), median(oracle.map((run) => run.perSecond))];
  const thousands = (value: number): string => Math.round(value).toLocaleString('en-US').padStart(9);
  console.log(
    `${one.name.padEnd(17)} ${String(one.engines).padStart(2)} engines: ${thousands(fast)} responses/s, ` +
      `${(fast / slow).toFixed(1)} × step by step (${thousands(slow).trim()}/s), ` +
      `${preemptionsEach.toFixed(2)} preemptions a response`,
  );
}
