/** Three rounds of tail batching with a host of one's own. */
import assert from 'node:assert/strict';
import { create, tailBatching } from 'rollflex';
import type { RoundCompleted } from 'rollflex/schemas';
import { ToyEngine } from './engine.ts';
import { Host, now } from './host.ts';

const policy = create(tailBatching, {
  promptsPerRound: 4,
  responsesPerPrompt: 3,
  promptSpeculation: 1.5,
  responseSpeculation: 1.34,
});
let prompts = 0;
const host = new Host(
  new ToyEngine(),
  () => `p${prompts++}`,
  (event) => void policy.send(event),
);
policy.handle(host.handlers);

/** Rolls out one batch: resolves when it is complete and nothing of it runs any more. */
function round(step: number): Promise<RoundCompleted> {
  return new Promise((resolve) => {
    let completed: RoundCompleted | undefined;
    policy.once('round.completed', (decision) => {
      completed = decision;
    });
    policy.once('round.drained', () => resolve(completed!));
    policy.send({ type: 'round.requested', at: now(), roundId: `step-${step}`, weightVersion: step });
  });
}

for (let step = 0; step < 3; step += 1) {
  const { kind, prompts: batch } = await round(step);
  console.log(
    `${kind} round: ${batch.length} prompts, ${batch.flatMap(({ responses }) => responses).length} responses`,
  );
  assert.equal(batch.length, 4);
  // Here your trainer trains on the batch, and loads the new weights into the engines.
}
host.close();
