/**
 * A batch of images and videos through events only: samples are drawn as metadata, nodes preprocess them, one of them
 * dies, the batch is planned, and ranks fetch the frames that they need.
 */
import assert from 'node:assert/strict';
import { create, flexrl } from 'rollflex';
import { type Fetch, Node, Rank, type Work } from './cluster.ts';

const gigabyte = 1e9;
const ranksPerNode = 4;
const nodeIds = ['n0', 'n1', 'n2', 'n3'];
const nodes = new Map(nodeIds.map((id) => [id, new Node(12 * gigabyte)]));
const ranks = Array.from({ length: nodeIds.length * ranksPerNode }, () => new Rank());

const job = create(flexrl, {
  devices: ranks.length,
  maxDegree: 4,
  devicesPerNode: ranksPerNode,
  nodes: nodeIds.map((nodeId, number) => ({
    nodeId,
    hostMemoryBytes: nodes.get(nodeId)!.hostMemoryBytes,
    slots: 2,
    ranks: Array.from({ length: ranksPerNode }, (_, index) => number * ranksPerNode + index),
  })),
});

type Event = Parameters<typeof job.send>[0];
type Told<E = Event> = E extends Event ? Omit<E, 'at'> : never;
type Decision = ReturnType<typeof job.send>[number];
const seen = new Map<string, number>();
const tries = new Map<string, number>();
/** What takes time: the oldest ends first. */
const running: (() => void)[] = [];
let now = 0;

const send = (event: Told): void => {
  now += 0.01;
  for (const decision of job.send({ at: now, ...event })) carryOut(decision);
};

function carryOut(decision: Decision): void {
  seen.set(decision.type, (seen.get(decision.type) ?? 0) + 1);
  switch (decision.type) {
    case 'sample.preprocess':
    case 'sample.prefetch':
      return preprocess(decision);
    case 'sample.evict':
      return nodes.get(decision.nodeId)!.evict(decision.sampleId);
    case 'sample.materialize':
      return fetch(decision);
    case 'batch.materialized':
      assert.deepEqual(decision.missing, []);
      console.log(`${decision.batchId}: ${decision.slices} slices are where they are needed`);
  }
}

function preprocess(work: Work): void {
  const { preprocessId, sampleId, nodeId, bytes } = work;
  tries.set(sampleId, (tries.get(sampleId) ?? 0) + 1);
  const node = nodes.get(nodeId)!;
  node.begin(work);
  running.push(() => {
    // A node that died says nothing, and one that was told to stop neither.
    if (node.isUp && node.held.has(sampleId)) send({ type: 'sample.preprocessed', preprocessId, nodeId, bytes });
  });
}

function fetch(slice: Fetch): void {
  const { sliceId, rank, from } = slice;
  running.push(() => {
    // The source has died: the policy knows it by `node.lost`, and tells the rank where to fetch from next.
    if (ranks[rank]!.fetch(slice, nodes.get(from)!)) send({ type: 'slice.materialized', sliceId, rank });
  });
}

const advance = (steps = Number.POSITIVE_INFINITY): void => {
  for (let index = 0; index < steps && running.length > 0; index += 1) running.shift()!();
};

// Every fourth sample is a long video, the others are images; four responses to each.
const sampleOf = (step: number, index: number) => {
  const isVideo = index % 4 === 0;
  const media = isVideo ? ({ kind: 'video', frames: 256 } as const) : ({ kind: 'image', frames: 2 } as const);
  return {
    sampleId: `step-${step}/sample-${index}`,
    path: `/data/${step}/${index}`,
    ...media,
    resolution: { width: 448, height: 448 },
    bytes: media.frames * 5e6,
  };
};
const samples = Array.from({ length: 24 }, (_, index) => sampleOf(0, index));
send({ type: 'samples.drawn', stepId: 'step-0', samples });
send({ type: 'samples.drawn', stepId: 'step-1', samples: samples.map((_, index) => sampleOf(1, index)) });
advance(16);

const sequences = samples.flatMap(({ sampleId, frames }) =>
  [0, 1, 2, 3].map((response) => ({ tokens: frames * 128 + 300 + 100 * response, sampleId })),
);
send({ type: 'batch.ready', batchId: 'batch-0', stepId: 'step-0', sequences });
advance(40);

// A node dies with what it holds; nothing else is done again.
const lost = new Set(nodes.get('n1')!.held.keys());
nodes.get('n1')!.lose();
send({ type: 'node.lost', nodeId: 'n1' });
console.log(`n1 is lost with ${lost.size} samples`);
advance();

assert.equal(seen.get('batch.run'), 1);
assert.equal(seen.get('batch.materialized'), 1);
assert.ok(lost.size > 0, 'the node held something');
for (const [sampleId, count] of tries) {
  assert.ok(count <= 1 + Number(lost.has(sampleId)), `${sampleId} is decoded again only if it was lost`);
}
const arrived = ranks.reduce((sum, one) => sum + one.frames.size, 0);
const all = samples.reduce((sum, one) => sum + one.frames, 0) * ranks.length;
console.log(`${arrived} frames have arrived; all samples on all ranks would be ${all}`);
assert.ok(arrived < all / 2);
assert.ok((seen.get('sample.prefetch') ?? 0) > 0, 'the next step is loaded ahead');

// The step is over: its samples leave, and the next one is current.
send({ type: 'step.completed', stepId: 'step-0' });
send({ type: 'step.completed', stepId: 'step-1' });
for (const node of nodes.values()) assert.equal(node.held.size, 0);
for (const [id, { peakBytes }] of nodes) console.log(`${id}: at most ${(peakBytes / gigabyte).toFixed(1)} of 12 GB`);
