/**
 * Shows events a second of frontier-group-dispatch, against bare emits of eventemitter3 in the same process: rounds of
 * 10,000 groups × 16 requests, a frontier of 64 groups, every request an arrival and a completion; and those of `auto`.
 */
import { create, frontierGroupDispatch } from '../../src/index.ts';
import type {
  FrontierGroupDispatchEvent,
  FrontierGroupDispatchInput,
} from '../../src/policies/frontier-group-dispatch/index.ts';
import { medianOf, printRates, thousands } from '../rates/print.ts';
import { machine } from '../support.ts';

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
printRates(eventsPerSecond(false, 64), eventsPerSecond(true, 64));
console.log(`width auto ${thousands(medianOf(eventsPerSecond(false, 'auto')))} a second, plans included`);
