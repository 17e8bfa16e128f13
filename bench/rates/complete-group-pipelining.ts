/**
 * Shows events a second of complete-group-pipelining, against bare emits of eventemitter3 in the same process: rounds
 * of 10,000 groups of 16 responses, 8 groups an update, the trainer 500 groups behind the rollout. Joined with
 * group-assembly, as in a recipe, each reward is an event; alone, an event brings the 16 rewards of a group. Making the
 * events is not in the time: they are made a hundred groups at a time, and are garbage afterwards, as those of a wire
 * are.
 */
import { completeGroupPipelining, create } from '../../src/index.ts';
import { rewardedPipelining } from '../../test/support/examples/rewarded-pipelining.ts';
import { machine, median } from '../support.ts';
import { emitsPerSecond } from './emits.ts';
import { medianOf, thousands } from './print.ts';

const groups = 10_000;
const perGroup = 16;
const perUpdate = 8;
const behind = 500;
const portion = 100;
const config = { responsesPerPrompt: perGroup, globalBatchSamples: perGroup * perUpdate, maxTokensPerGpu: 30_000 };

type Event = { type: string; at: number; [key: string]: unknown };
type Sender = { send(event: never): { type: string }[] };
/** The events that make a group trainable. */
type Arrival = (roundId: string, promptId: string, at: number, step: number) => Event[];

const idsOf = (promptId: string) => Array.from({ length: perGroup }, (_, index) => `${promptId}/${index}#0`);

/** With all its rewards at once. */
const alone: Arrival = (roundId, promptId, at, step) => {
  const responses = idsOf(promptId).map((requestId, index) => ({ requestId, tokens: 800, reward: (step + index) % 2 }));
  const reason = { code: 'all_rewarded', responses: perGroup, missing: 0, waitedSeconds: 0 };
  const tokens = 800 * perGroup;
  return [{ type: 'group.rewarded', at, roundId, promptId, samples: perGroup, tokens, responses, reason }];
};

/** Response by response, and reward by reward. */
const joined: Arrival = (roundId, promptId, at, step) => {
  const ids = idsOf(promptId);
  const events: Event[] = ids.map((requestId, index) => {
    const reason = { code: 'held', held: index + 1, needed: perGroup };
    return { type: 'response.accepted', at, requestId, promptId, reason };
  });
  const responses = ids.map((requestId) => ({ requestId, tokens: 800 }));
  const reason = { code: 'no_filter', counted: step + 1, needed: groups };
  events.push({ type: 'prompt.counted', at, promptId, roundId, responses, reason });
  for (let index = 0; index < perGroup; index += 1)
    events.push({ type: 'reward.ready', at, requestId: ids[index]!, reward: (step + index) % 2 });
  return events;
};

/** What the trainer reports, with the ids that the policy will have minted. */
function trained(roundId: string, update: number, number: number, at: number): Event[] {
  const updateId = `update#${(number * groups) / perUpdate + update}`;
  const ids = Array.from({ length: perUpdate }, (_, index) => `${roundId}-prompt-${update * perUpdate + index}`);
  return [
    { type: 'update.consumed', at, updateId, groups: ids, seconds: 1 },
    { type: 'optimizer.stepped', at, roundId, updateId },
  ];
}

function closing(roundId: string, number: number, at: number, isJoined: boolean): Event[] {
  const prompts = Array.from({ length: groups }, (_, step) => {
    const promptId = `${roundId}-prompt-${step}`;
    const requestIds = isJoined ? idsOf(promptId) : idsOf(promptId).slice(0, 1);
    const responses = requestIds.map((requestId, index) => ({
      requestId,
      index,
      tokens: 800,
      weightVersions: [number],
    }));
    return { promptId, responses };
  });
  const round = { at, roundId, kind: 'long', weightVersion: number, prompts };
  const reason = { code: 'quota_reached', counted: groups, needed: groups };
  if (isJoined) return [{ type: 'round.completed', ...round, openedSeconds: 0, deferred: 0, reason }];
  return [{ type: 'round.rewarded', ...round, reason: { code: 'all_groups', groups, afterSeconds: 0 } }];
}

interface Publication {
  readonly publicationId: string;
}

/** Groups and events a second of one round; the policy was warmed up by others. */
function measure(policy: Sender, arrival: Arrival): () => { events: number; groups: number } {
  let number = 0;
  const pass = () => {
    const roundId = `r${number}`;
    const from = number * groups;
    let seconds = 0;
    let sent = 0;
    let over = 0;
    let publicationId = '';
    const send = (events: readonly Event[]): void => {
      sent += events.length;
      const start = performance.now();
      for (const event of events) {
        for (const decision of policy.send(event as never)) {
          if (decision.type === 'round.trained') over += 1;
          if (decision.type === 'weights.publish') ({ publicationId } = decision as unknown as Publication);
        }
      }
      seconds += (performance.now() - start) / 1000;
    };
    send([{ type: 'round.opened', at: from, roundId, kind: 'long', weightVersion: number, prompts: [] }]);
    let update = 0;
    for (let step = 0; step < groups; step += portion) {
      const events: Event[] = [];
      for (let one = step; one < step + portion; one += 1) {
        const at = from + one;
        events.push(...arrival(roundId, `${roundId}-prompt-${one}`, at, one));
        if (one >= behind && one % perUpdate === 0) events.push(...trained(roundId, update++, number, at));
      }
      send(events);
    }
    const at = from + groups;
    const rest: Event[] = [];
    while (update < groups / perUpdate) rest.push(...trained(roundId, update++, number, at));
    send(rest);
    send(closing(roundId, number, at, arrival === joined));
    send([{ type: 'weights.published', at, roundId, publicationId, weightVersion: number + 1 }]);
    if (over !== 1) throw new Error('the round was not trained');
    number += 1;
    return { events: sent / seconds, groups: groups / seconds };
  };
  pass();
  return pass;
}

function rates(make: (validate: boolean) => Sender, arrival: Arrival) {
  const [trusted, validated] = [false, true].map((validate) => {
    const pass = measure(make(validate), arrival);
    const runs = Array.from({ length: 5 }, pass);
    return { events: median(runs.map((one) => one.events)), groups: median(runs.map((one) => one.groups)) };
  });
  return { trusted: trusted!, validated: validated! };
}

console.log(machine());
emitsPerSecond(1e6);
const both = rates((validate) => create(rewardedPipelining, config, { validate }) as never, joined);
const own = rates((validate) => create(completeGroupPipelining, config, { validate }) as never, alone);
const emits = medianOf(() => emitsPerSecond(5e6));
for (const kind of ['trusted', 'validated'] as const) {
  const { events } = both[kind];
  const emitted = `1/${(emits / events).toFixed(1)} of bare eventemitter3 emits (${thousands(emits)}/s)`;
  console.log(`joined with group-assembly, ${kind}  ${thousands(events)} events/s, ${emitted}`);
}
for (const kind of ['trusted', 'validated'] as const) {
  const responses = thousands(own[kind].groups * perGroup);
  console.log(`alone, ${kind}: ${thousands(own[kind].groups)} groups/s, that is ${responses} responses/s`);
}
