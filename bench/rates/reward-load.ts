/**
 * A host that keeps reward-dispatch busy: 64 workers with 16 slots each, and so many responses waiting. With an
 * argument it prints the nanoseconds of an event with that many waiting, for bench/rates/reward-dispatch.ts.
 */
import { fileURLToPath } from 'node:url';
import { create, rewardDispatch } from '../../src/index.ts';
import type { RewardDispatchEvent } from '../../src/policies/reward-dispatch/index.ts';
import { median } from '../support.ts';

const workers = 64;
const slots = 16;
const responsesPerPrompt = 8;

/** Requests, each with strings of its own, as those read from a wire have. */
function requests(from: number, count: number): RewardDispatchEvent[] {
  return Array.from({ length: count }, (_, index) => {
    const promptId = `prompt-${Math.floor((from + index) / responsesPerPrompt)}`;
    const requestId = `${promptId}/${(from + index) % responsesPerPrompt}#0`;
    return { type: 'reward.requested', at: 0, requestId, promptId, roundId: 'round-1', kind: 'sandbox' };
  });
}

/**
 * A policy with so many waiting, warmed up by one pass. Each call measures another: as a worker finishes, a new response
 * is asked for, so that as many wait as before. Two events and two decisions a response; making the requests is not in
 * the time, the host's own list of what runs is.
 */
export function eventsPerSecond(validate: boolean, waiting: number, responses: number): () => number {
  const policy = create(rewardDispatch, { maxQueued: waiting + 1 }, { validate });
  const running: string[] = [];
  const send = (event: RewardDispatchEvent, place: number): void => {
    for (const decision of policy.send(event)) {
      if (decision.type === 'reward.dispatch') running[place] = decision.dispatchId;
    }
  };
  for (let index = 0; index < workers; index += 1) {
    policy.send({ type: 'reward-worker.added', at: 0, workerId: `worker-${index}`, kind: 'sandbox', slots });
  }
  let asked = workers * slots + waiting;
  let at = 0;
  for (const event of requests(0, asked)) send(event, running.length);
  const pass = (): number => {
    const events = requests(asked, responses);
    asked += responses;
    const start = performance.now();
    for (let index = 0; index < responses; index += 1) {
      at += 0.001;
      // In an order that has nothing to do with that of the dispatches.
      const place = (index * 389) % running.length;
      const dispatchId = running[place]!;
      send({ type: 'reward.finished', at, dispatchId, outcome: 'scored', reward: 1, seconds: 1.5 }, place);
      send(events[index]!, place);
    }
    return (2 * responses) / ((performance.now() - start) / 1000);
  };
  pass();
  return pass;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const pass = eventsPerSecond(false, Number(process.argv[2]), 100_000);
  console.log(1e9 / median(Array.from({ length: 3 }, pass)));
}
