/**
 * Events a second of frontier-group-dispatch: rounds of 10,000 groups × 16 requests, a frontier of 64 groups, every
 * request an arrival and a completion; beside it, bare emits of eventemitter3 in the same run, and `auto`.
 * Run: `npx tsx bench/frontier-group-dispatch.ts`.
 */
import {
  create,
  type FrontierGroupDispatchEvent,
  type FrontierGroupDispatchInput,
  frontierGroupDispatch,
} from '../src/index.ts';
import { emitsPerSecond } from './emits.ts';
import { machine, median } from './support.ts';

const groups = 10_000;
const responsesPerPrompt = 16;

/** Arrivals of a round, each with strings of its own, as those read from a wire have. */
function arrivals(round: number): FrontierGroupDispatchEvent[] {
  return Array.from({ length: groups * responsesPerPrompt }, (_, at) => {
    const promptId = `prompt-${round}-${Math.floor(at / responsesPerPrompt)}`;
    const index = at % responsesPerPrompt;
    const requestId = `${promptId}/${index}#0`;
    return { type: 'request.arrived', at: round * 1000, requestId, promptId, roundId: `round-${round}`, index };
  });
}

/** Each call measures a round; making its events is not in the time, the host's own list of what runs is. */
function eventsPerSecond(validate: boolean, width: FrontierGroupDispatchInput['width']): () => number {
  const policy = create(frontierGroupDispatch, { responsesPerPrompt, width }, { validate });
  let round = 0;
  const pass = (): number => {
    const events = arrivals(round);
    const running: string[] = [];
    let at = round * 1000;
    let sent = 0;
    const send = (event: FrontierGroupDispatchEvent): void => {
      sent += 1;
      for (const decision of policy.send(event)) {
        if (decision.type === 'request.admit') running.push(decision.requestId);
      }
    };
    const start = performance.now();
    for (const event of events) send(event);
    while (running.length > 0) {
      // In an order that has little to do with that of the admissions.
      const place = (sent * 389) % running.length;
      const requestId = running[place]!;
      running[place] = running.at(-1)!;
      running.pop();
      at += 0.001;
      send({ type: 'response.completed', at, requestId, tokens: 100 + (sent % 900) });
    }
    round += 1;
    return sent / ((performance.now() - start) / 1000);
  };
  pass();
  return pass;
}

console.log(machine());
emitsPerSecond(1e6);
const repeat = <T>(run: () => T): T[] => Array.from({ length: 5 }, run);
const [trusted, validated, auto, emits] = [
  median(repeat(eventsPerSecond(false, 64))),
  median(repeat(eventsPerSecond(true, 64))),
  median(repeat(eventsPerSecond(false, 'auto'))),
  median(repeat(() => emitsPerSecond(5e6))),
];
const thousands = (value: number) => (Math.round(value / 1000) * 1000).toLocaleString('en');
console.log(
  `trusted    ${thousands(trusted)} events/s, 1/${(emits / trusted).toFixed(1)} of bare eventemitter3 emits (${thousands(emits)}/s)`,
);
console.log(`validated  ${thousands(validated)} events/s, 1/${(emits / validated).toFixed(1)}`);
console.log(`width auto ${thousands(auto)} a second, plans included`);
