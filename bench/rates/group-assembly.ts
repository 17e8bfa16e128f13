/**
 * Shows events a second of group-assembly, against bare emits of eventemitter3 in the same process: whole rounds of 128
 * prompts with 8 responses each. Responses are accepted prompt mixed with prompt, a prompt counts with its last one,
 * rewards come 300 responses later, and the round is completed with its last prompt. Making the events is not in the
 * time.
 */
import { create, groupAssembly, type PolicyOf } from '../../src/index.ts';
import { machine } from '../support.ts';
import { printRates } from './print.ts';

type Assembly = PolicyOf<typeof groupAssembly>;
type Event = Parameters<Assembly['send']>[0];
type Counted = Extract<Event, { type: 'prompt.counted' }>;

const prompts = 128;
const responses = 8;
const lag = 300;

/** One round, with strings of its own, as those read from a wire have. */
function round(roundId: string, from: number): Event[] {
  const events: Event[] = [];
  const counted: Counted[] = [];
  const needed = prompts;
  const total = prompts * responses;
  const requestIdOf = (prompt: number, index: number) => `${roundId}-prompt-${prompt}/${index}#0`;
  for (let step = 0; step < total + lag; step += 1) {
    const at = from + step * 0.01;
    if (step >= lag) {
      const order = step - lag;
      const requestId = requestIdOf(order % prompts, Math.floor(order / prompts));
      events.push({ type: 'reward.ready', at, requestId, reward: order % 2 });
    }
    if (step >= total) continue;
    const prompt = step % prompts;
    const index = Math.floor(step / prompts);
    const promptId = `${roundId}-prompt-${prompt}`;
    const held = { code: 'held', held: index + 1, needed: responses } as const;
    events.push({ type: 'response.accepted', at, requestId: requestIdOf(prompt, index), promptId, reason: held });
    if (index < responses - 1) continue;
    const all = Array.from({ length: responses }, (_, one) => ({ requestId: requestIdOf(prompt, one), tokens: 800 }));
    const reason = { code: 'no_filter', counted: counted.length + 1, needed } as const;
    const event: Counted = { type: 'prompt.counted', at, promptId, roundId, responses: all, reason };
    counted.push(event);
    events.push(event);
    if (counted.length === needed) events.push(completion(roundId, at, counted));
  }
  return events;
}

function completion(roundId: string, at: number, counted: readonly Counted[]): Event {
  return {
    type: 'round.completed',
    at,
    roundId,
    kind: 'short',
    weightVersion: 1,
    prompts: counted.map((one) => ({
      promptId: one.promptId,
      responses: one.responses.map(({ requestId, tokens }, index) => ({
        requestId,
        index,
        tokens,
        weightVersions: [1],
      })),
    })),
    openedSeconds: 0,
    deferred: 0,
    reason: { code: 'quota_reached', counted: counted.length, needed: counted.length },
  };
}

/** A policy, warmed up by one pass; each call measures another pass. */
function eventsPerSecond(validate: boolean, rounds: number): () => number {
  const assembly = create(groupAssembly, {}, { validate });
  let made = 0;
  const pass = (): number => {
    const lists = Array.from({ length: rounds }, () => {
      made += 1;
      return round(`r${made}`, made * 100);
    });
    let groups = 0;
    let ready = 0;
    let sent = 0;
    const start = performance.now();
    for (const events of lists) {
      sent += events.length;
      for (const event of events) {
        for (const { type } of assembly.send(event)) {
          if (type === 'group.rewarded') groups += 1;
          else if (type === 'round.rewarded') ready += 1;
        }
      }
    }
    const seconds = (performance.now() - start) / 1000;
    if (ready !== rounds || groups !== rounds * prompts) throw new Error('a round was not handed over whole');
    return sent / seconds;
  };
  pass();
  return pass;
}

console.log(machine());
printRates(eventsPerSecond(false, 50), eventsPerSecond(true, 50));
