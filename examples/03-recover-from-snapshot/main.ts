/** A host dies in the middle of a round; the next one goes on from the snapshot and loses nothing. */
import assert from 'node:assert/strict';
import { create, tailBatching } from 'rollflex';

const config = { promptsPerRound: 3, responsesPerPrompt: 2, promptSpeculation: 1, responseSpeculation: 1 };
const promptIds = ['a', 'b', 'c'];

// The first host. What it writes after every event is all that it leaves behind.
let disk = '';
const first = create(tailBatching, config);
first.observe(() => {
  disk = JSON.stringify(first.snapshot());
});
first.send({ type: 'round.requested', at: 100, roundId: 'step-1', weightVersion: 1 });
first.send({
  type: 'prompts.supplied',
  at: 100,
  roundId: 'step-1',
  prompts: promptIds.map((promptId) => ({ promptId })),
});
first.send({ type: 'response.completed', at: 104, requestId: 'a/0#0', tokens: 200 });
first.send({ type: 'response.completed', at: 105, requestId: 'a/1#0', tokens: 220 });
first.send({ type: 'response.completed', at: 106, requestId: 'b/1#0', tokens: 240 });
// Here it dies: b/0#0, c/0#0 and c/1#0 were running.

const second = create(tailBatching, { snapshot: JSON.parse(disk) });
assert.equal(second.seq, 5);
const launched = second
  .send({ type: 'host.restarted', at: 400, idPrefix: 'boot-2:' })
  .filter((decision) => decision.type === 'request.launch');
console.log(`launched again: ${launched.map((decision) => decision.requestId).join(', ')}`);
assert.deepEqual(
  launched.map(({ promptId, index, reason }) => [promptId, index, reason.code]),
  [
    ['b', 0, 'host_restarted'],
    ['c', 0, 'host_restarted'],
    ['c', 1, 'host_restarted'],
  ],
);

// A report that was on its way when the first host died is late, and harmless.
const late = second.send({ type: 'response.completed', at: 401, requestId: 'b/0#0', tokens: 500 });
assert.deepEqual(
  late.map((decision) => decision.type),
  ['response.late'],
);

const ends = launched.flatMap(({ requestId }, index) =>
  second.send({ type: 'response.completed', at: 410 + index, requestId, tokens: 300 }),
);
const completed = ends.find((decision) => decision.type === 'round.completed');
assert(completed !== undefined);
const trained = completed.prompts.map(
  (prompt) => `${prompt.promptId}: ${prompt.responses.map((one) => one.requestId).join(', ')}`,
);
console.log(trained.join('\n'));
assert.deepEqual(
  completed.prompts.map((prompt) => prompt.promptId),
  promptIds,
);
assert(completed.prompts.every((prompt) => prompt.responses.length === 2));
assert(trained[0] === 'a: a/0#0, a/1#0', 'what was complete before the restart is kept');
