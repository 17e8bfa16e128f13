/**
 * Events a second of speculative-admission, P0 = 128, R0 = 8, eta = 1.25: distinct completions of open requests in
 * complete rounds, reasons included. Opening rounds, confirming aborts and the host's own bookkeeping are in the time,
 * and not in the count. Beside it, bare emits of eventemitter3 in the same run; and how the cost of an event grows with
 * what is in flight.
 */
import { EventEmitter } from 'eventemitter3';
import { createSpeculativeAdmission } from '../src/index.ts';
import { machine, median } from './support.ts';

type Policy = ReturnType<typeof createSpeculativeAdmission>;
const ids = Array.from({ length: 160 }, (_, index) => `prompt-${index}`);

/** One round: completions in an order that has nothing to do with prompts. Gives the completions sent. */
function round(policy: Policy, roundId: string, at: number): number {
  const prompts = ids.map((promptId) => ({ promptId }));
  const opened = policy.send({ type: 'round.opened', at, roundId, kind: 'short', weightVersion: 0, prompts });
  const launched: string[] = [];
  for (const decision of opened) if (decision.type === 'request.launch') launched.push(decision.requestId);
  const aborted = new Set<string>();
  let completions = 0;
  let open = true;
  for (let step = 0; open; step += 1) {
    const requestId = launched[(step * 7919) % launched.length]!;
    if (aborted.has(requestId)) continue;
    completions += 1;
    for (const decision of policy.send({ type: 'response.completed', at, requestId, tokens: 800 })) {
      if (decision.type === 'request.abort') aborted.add(decision.requestId);
      else if (decision.type === 'round.completed') open = false;
    }
  }
  for (const requestId of aborted) policy.send({ type: 'request.aborted', at, requestId });
  return completions;
}

function eventsPerSecond(validate: boolean, rounds: number): number {
  const policy = createSpeculativeAdmission({ promptsPerRound: 128, responsesPerPrompt: 8 }, { validate });
  let completions = 0;
  const start = performance.now();
  for (let index = 0; index < rounds; index += 1) completions += round(policy, `r${index}`, index);
  return completions / ((performance.now() - start) / 1000);
}

function emitsPerSecond(count: number): number {
  const emitter = new EventEmitter<{ completed: [{ requestId: string; tokens: number }] }>();
  let tokens = 0;
  emitter.on('completed', (event) => {
    tokens += event.tokens;
  });
  const start = performance.now();
  for (let index = 0; index < count; index += 1) emitter.emit('completed', { requestId: 'a', tokens: 1 });
  if (tokens !== count) throw new Error('an emit was lost');
  return count / ((performance.now() - start) / 1000);
}

/** Nanoseconds of a completion with n requests in flight all the time: the completed prompt is replaced at once. */
function nanosecondsAt(inFlight: number, events: number): number {
  const perPrompt = 8;
  const policy = createSpeculativeAdmission(
    { promptsPerRound: 1_000_000, responsesPerPrompt: perPrompt, responseSpeculation: 1, promptSpeculation: 1 },
    { validate: false },
  );
  const queue: string[] = [];
  const take = (decisions: ReturnType<Policy['send']>) => {
    for (const decision of decisions) if (decision.type === 'request.launch') queue.push(decision.requestId);
  };
  const prompts = Array.from({ length: inFlight / perPrompt }, (_, index) => ({ promptId: `p${index}` }));
  take(policy.send({ type: 'round.opened', at: 0, roundId: 'r', kind: 'short', weightVersion: 0, prompts }));
  let next = prompts.length;
  let spent = 0;
  for (let head = 0; head < events; ) {
    const batch = queue.slice(head, head + perPrompt);
    const start = performance.now();
    for (const requestId of batch) policy.send({ type: 'response.completed', at: 0, requestId, tokens: 1 });
    spent += performance.now() - start;
    head += batch.length;
    take(policy.send({ type: 'prompts.supplied', at: 0, roundId: 'r', prompts: [{ promptId: `p${next++}` }] }));
  }
  return (spent * 1e6) / events;
}

console.log(machine());
eventsPerSecond(true, 100);
emitsPerSecond(1e6);
const repeat = <T>(run: () => T): T[] => Array.from({ length: 5 }, run);
const [trusted, validated, emits] = [
  median(repeat(() => eventsPerSecond(false, 200))),
  median(repeat(() => eventsPerSecond(true, 200))),
  median(repeat(() => emitsPerSecond(5e6))),
];
const thousands = (value: number) => `${Math.round(value / 1000)},000`;
console.log(`trusted    ${thousands(trusted)} events/s, 1/${(emits / trusted).toFixed(1)} of bare eventemitter3 emits (${thousands(emits)}/s)`);
console.log(`validated  ${thousands(validated)} events/s, 1/${(emits / validated).toFixed(1)}`);
nanosecondsAt(8000, 16_000);
const growth = [1000, 10_000, 100_000].map((n) => ({ n, nanoseconds: median(repeat(() => nanosecondsAt(n, 80_000))) }));
for (const { n, nanoseconds } of growth) {
  console.log(`${String(n).padStart(7)} in flight: ${nanoseconds.toFixed(0)} ns an event, ${(nanoseconds / growth[0]!.nanoseconds).toFixed(2)} × that at 1,000`);
}
