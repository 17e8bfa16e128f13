/** What the servers of the benchmarks are asked, and an echo server with the same framing and the same messages. */
import { create, type EventOf, tailBatching } from '../../src/index.ts';
import { uniform } from '../../src/sim/workload/random.ts';

type Event = EventOf<typeof tailBatching>;

export const batch = 256;
export const config = {
  promptsPerRound: 128,
  responsesPerPrompt: 8,
  promptSpeculation: 1.25,
  responseSpeculation: 1.25,
};

/** Everything that a host tells in so many rounds, short ones and long ones: responses end in an order of their own. */
function rounds(count: number): Event[] {
  const policy = create(tailBatching, config);
  const events: Event[] = [];
  const running: string[] = [];
  const aborts: string[] = [];
  let [dealt, wanted, isOpen] = [0, 0, false];
  const send = (event: Event): void => {
    events.push(event);
    for (const decision of policy.send(event)) {
      if (decision.type === 'request.launch') running.push(decision.requestId);
      else if (decision.type === 'request.abort') aborts.push(decision.requestId);
      else if (decision.type === 'prompts.request') wanted += decision.count;
      else if (decision.type === 'round.completed') isOpen = false;
    }
  };
  for (let round = 0; round < count; round += 1) {
    const roundId = `round-${round}`;
    const at = (): number => events.length / 100;
    isOpen = true;
    send({ type: 'round.requested', at: at(), roundId, weightVersion: round });
    while (isOpen) {
      if (wanted > 0) {
        const prompts = Array.from({ length: wanted }, () => ({ promptId: `prompt-${dealt++}` }));
        wanted = 0;
        send({ type: 'prompts.supplied', at: at(), roundId, prompts });
      }
      const one = Math.floor(uniform(1, events.length) * running.length);
      const [requestId] = running.splice(one, 1, running.at(-1)!);
      running.pop();
      if (aborts.includes(requestId!)) continue;
      send({ type: 'response.completed', at: at(), requestId: requestId!, tokens: 500 + (events.length % 997) });
      for (const aborted of aborts.splice(0)) {
        send({ type: 'request.aborted', at: at(), requestId: aborted, tokens: 100 });
        running.splice(running.indexOf(aborted), 1);
      }
    }
  }
  return events;
}

export type Events = readonly object[];

/** What the policy answers: the echo server is given the same text to make and to send. */
export function answersOf(groups: readonly Events[]): unknown[][] {
  const policy = create(tailBatching, config);
  return groups.map((events) => events.flatMap((one) => policy.send(one as never)));
}

/** The events of the rounds, so many a call; nothing is left out, the first call opens the first round. */
export function groupsOf(size: number, roundCount = 30): Events[] {
  const events = rounds(roundCount);
  return Array.from({ length: Math.ceil(events.length / size) }, (_, at) => events.slice(at * size, (at + 1) * size));
}

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
