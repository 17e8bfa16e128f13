/** What the servers of the benchmarks are asked, and an echo server with the same framing and the same messages. */
import { createTailBatching } from '../src/index.ts';

export const batch = 256;
export const config = {
  promptsPerRound: 2000,
  responsesPerPrompt: 8,
  promptSpeculation: 1.25,
  responseSpeculation: 1.25,
};

/** A round, and the completions that fill it, as a host would send them. */
function workload() {
  const policy = createTailBatching(config);
  const prompts = Array.from({ length: 2500 }, (_, index) => ({ promptId: `prompt-${index}` }));
  const opening = [
    { type: 'round.requested', at: 0, roundId: 'r1', weightVersion: 1 },
    { type: 'prompts.supplied', at: 0, roundId: 'r1', prompts },
  ];
  const launched = opening.flatMap((one) => policy.send(one as never)).filter((one) => one.type === 'request.launch');
  const completions = launched
    .filter((one) => one.index < config.responsesPerPrompt)
    .slice(0, config.promptsPerRound * config.responsesPerPrompt)
    .map(({ requestId }, index) => ({
      type: 'response.completed',
      at: index / 100,
      requestId,
      tokens: 500 + (index % 997),
    }));
  return { opening, completions };
}

export type Events = readonly object[];
export const { opening, completions } = workload();

/** What the policy answers: the echo server is given the same text to make and to send. */
export function answersOf(groups: readonly Events[]): unknown[][] {
  const policy = createTailBatching(config);
  for (const one of opening) policy.send(one as never);
  return groups.map((events) => events.flatMap((one) => policy.send(one as never)));
}

export const groupsOf = (size: number): Events[] =>
  Array.from({ length: Math.floor(completions.length / size) }, (_, at) =>
    completions.slice(at * size, (at + 1) * size),
  );

/** Parses each line, and answers with the decisions that it was given for the n-th call; clients may greet it. */
export const echo = `
const { createInterface } = require('node:readline');
let answers = [];
let next = 0;
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  let result = {};
  if (method === 'session.send') {
    const nextSeq = (params.firstSeq ?? 0) + params.events.length;
    result = { seq: params.events.length, nextSeq, decisions: answers[next++] };
  } else if (method === 'answers') { answers = params.answers; next = 0; }
  else if (method === 'server.info') result = { name: 'echo', version: '0', limits: {} };
  else if (method === 'session.open') result = { session: params.session, policy: params.policy, version: 1, seq: 0 };
  process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n');
});`;
