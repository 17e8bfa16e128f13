/** The loop of a host that embeds tail batching: three rounds, the last one long. */
import assert from 'node:assert/strict';
import { create, tailBatching } from 'rollflex';
import { ToyEngine } from './engine.ts';

// Lengths that nobody knows beforehand: prompts 2 and 5 are slow ones.
const lengths = [
  [300, 320, 900],
  [280, 310, 350],
  [4000, 4200, 4100],
  [260, 900, 270],
  [300, 310, 330],
  [5000, 3900, 4400],
];
const prompts = lengths.map((_, index) => ({ promptId: `p${index}`, ref: `row-${index}` }));

const engine = new ToyEngine();
const tail = create(tailBatching, {
  promptsPerRound: 2,
  responsesPerPrompt: 2,
  promptSpeculation: 1.5,
  responseSpeculation: 1.5,
});

let now = 0;
let cursor = 0;
let drained = false;
const aborted: { requestId: string; tokens: number }[] = [];
const rounds: { kind: string; seconds: number; trained: string[] }[] = [];

// Decisions are carried out as they come. What they lead to is reported by the loop below, not from in here.
tail.on('prompts.request', ({ roundId, count }) => {
  tail.send({ type: 'prompts.supplied', at: now, roundId, prompts: prompts.slice(cursor, cursor + count) });
  cursor += count;
});
tail.on('request.launch', ({ requestId, promptId, index }) => {
  engine.launch(requestId, lengths[Number(promptId.slice(1))]![index]!, now);
});
tail.on('request.abort', ({ requestId }) => {
  const tokens = engine.abort(requestId, now);
  if (tokens !== undefined) aborted.push({ requestId, tokens });
});
tail.on('round.completed', ({ kind, openedSeconds, prompts: trained }) => {
  rounds.push({ kind, seconds: now - openedSeconds, trained: trained.map((prompt) => prompt.promptId) });
});
tail.on('round.drained', () => {
  drained = true;
});
const failures: unknown[] = [];
tail.on('listener.error', ({ error }) => failures.push(error));

for (let step = 0; step < 3; step += 1) {
  drained = false;
  tail.send({ type: 'round.requested', at: now, roundId: `step-${step}`, weightVersion: step });
  while (!drained) {
    const confirmed = aborted.shift();
    if (confirmed !== undefined) {
      tail.send({ type: 'request.aborted', at: now, ...confirmed });
      continue;
    }
    const finished = engine.next();
    assert(finished !== undefined, 'a round that has not drained has something in flight');
    now = finished.atSeconds;
    tail.send({ type: 'response.completed', at: now, requestId: finished.requestId, tokens: finished.tokens });
  }
  // Here the batch is trained on, and the new weights go to the engine: nothing runs on the old ones any more.
  assert.equal(engine.runningRequests, 0);
  assert.deepEqual(failures, []);
  now += 1;
}

for (const { kind, seconds, trained } of rounds)
  console.log(`${kind} round, ${seconds.toFixed(2)} s: ${trained.join(' and ')}`);
assert.deepEqual(
  rounds.map(({ kind, trained }) => ({ kind, trained })),
  [
    { kind: 'short', trained: ['p0', 'p1'] },
    { kind: 'short', trained: ['p3', 'p4'] },
    { kind: 'long', trained: ['p2', 'p5'] },
  ],
);
assert(rounds[0]!.seconds < 0.5 && rounds[1]!.seconds < 0.5 && rounds[2]!.seconds > 4);
