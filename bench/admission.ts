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

/** One round: completions in an order that has nothing to do with prompts. Gives the completions sent. */
function round(policy: Policy, roundId: string, at: number, ids: readonly string[]): number {
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

function eventsPerSecond(validate: boolean, rounds: number, promptsPerRound = 128): number {
  const policy = createSpeculativeAdmission({ promptsPerRound, responsesPerPrompt: 8 }, { validate });
  const ids = Array.from({ length: Math.ceil(promptsPerRound * 1.25) }, (_, index) => `prompt-${index}`);
  let completions = 0;
  const start = performance.now();
  for (let index = 0; index < rounds; index += 1) completions += round(policy, `r${index}`, index, ids);
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
console.log(
  `trusted    ${thousands(trusted)} events/s, 1/${(emits / trusted).toFixed(1)} of bare eventemitter3 emits (${thousands(emits)}/s)`,
);
console.log(`validated  ${thousands(validated)} events/s, 1/${(emits / validated).toFixed(1)}`);
// ceil(eta · P0) prompts with 10 responses each: 1,000, 10,000 and 100,000 requests in flight as a round begins.
const growth = [80, 800, 8000].map((promptsPerRound) => {
  const rounds = Math.ceil(160_000 / promptsPerRound / 8);
  const rate = median(repeat(() => eventsPerSecond(false, rounds, promptsPerRound)));
  return { inFlight: promptsPerRound * 1.25 * 10, nanoseconds: 1e9 / rate };
});
for (const { inFlight, nanoseconds } of growth) {
  const ratio = (nanoseconds / growth[0]!.nanoseconds).toFixed(2);
  console.log(
    `${String(inFlight).padStart(7)} in flight: ${nanoseconds.toFixed(0)} ns an event, ${ratio} × that at 1,000`,
  );
}
