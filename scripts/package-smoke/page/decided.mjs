/** A round of tail batching, a plan, and a comparison on a trace of one's own: the same lines in Node and in a browser. */
import { create, flexUlysses, isPolicyError, registry, runPlanner, tailBatching } from 'rollflex';
import { responseCompleted, z } from 'rollflex/schemas';
import { compare, jobPreset, readTrace, tracedWorkload } from 'rollflex/sim';

const prompts = ['a', 'b', 'c'].map((promptId) => ({ promptId }));
const events = [
  { type: 'round.requested', at: 0, roundId: 'r1', weightVersion: 1 },
  { type: 'prompts.supplied', at: 0, roundId: 'r1', prompts },
  { type: 'response.completed', at: 1, requestId: 'a/0#0', tokens: 10 },
  { type: 'response.completed', at: 2, requestId: 'a/1#0', tokens: 20 },
  { type: 'response.completed', at: 3, requestId: 'b/0#0', tokens: 30 },
];
const last = { type: 'response.completed', at: 4, requestId: 'b/1#0', tokens: 40 };
const lines = prompts.map((_, row) => {
  return JSON.stringify({ responses: [1, 2, 3].map((column) => ({ tokens: 100 * column + 37 * row })) });
});

export function decided() {
  const tail = create(tailBatching, { promptsPerRound: 2, responsesPerPrompt: 2 });
  const said = events.flatMap((event) => tail.send(event));
  // The round is closed by the policy that came back, through JSON.
  const again = registry.restore(JSON.parse(JSON.stringify(tail.snapshot())));
  said.push(...again.send(last));

  let refused = '';
  try {
    again.send({ ...last, tokens: -1 });
  } catch (error) {
    if (!isPolicyError(error)) throw error;
    refused = `${error.code} at ${error.path}`;
  }
  const plan = runPlanner(flexUlysses, { lengths: [8192, 4096, 1024, 1024], devices: 4 });
  const job = { ...jobPreset('qwen2.5-7b-8k').job, promptsPerRound: 2, responsesPerPrompt: 2 };
  const { prompts: recorded } = readTrace(lines.join('\n'));
  const workload = (seed) => tracedWorkload({ name: 'own', prompts: recorded, capTokens: 4096, seed });
  const { schedulers } = compare({ job, workload, steps: 3, seeds: [1] });
  return [
    ...said.map(({ type, reason }) => `${type}: ${reason.code}`),
    `refused: ${refused}`,
    `schema: ${responseCompleted.schema.safeParse(last).success}, own: ${z.int().safeParse(1.5).success}`,
    `plan: ${JSON.stringify(plan.assignments)}`,
    ...schedulers.map((one) => `${one.scheduler}: ${JSON.stringify(one.rolloutSpeedup)}`),
  ];
}
