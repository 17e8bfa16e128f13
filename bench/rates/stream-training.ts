/**
 * Shows events a second of stream-training, against bare emits of eventemitter3 in the same process: rounds of 512
 * groups on 16 replicas, half of which are released after a fifth of the groups. Completed groups, consumed fetches and
 * finished shares count; opening and stepping, and the host's own bookkeeping, are in the time and not in the count.
 */
import { create, type PolicyOf, streamTraining } from '../../src/index.ts';
import { machine } from '../support.ts';
import { printRates } from './print.ts';

type Trainer = PolicyOf<typeof streamTraining>;
type Decision = ReturnType<Trainer['send']>[number];
type Fetch = Extract<Decision, { type: 'train.fetch' }>;

const groupsPerRound = 512;
const replicas = Array.from({ length: 16 }, (_, index) => ({ id: `replica-${index}`, gpuIds: [`gpu-${index}`] }));
const released = replicas.slice(8).flatMap((one) => one.gpuIds);
const groupIds = Array.from({ length: groupsPerRound }, (_, index) => `prompt-${index}`);
const prompts = groupIds.map((promptId) => ({
  promptId,
  responses: [{ requestId: `${promptId}/0#0`, index: 0, tokens: 800, weightVersions: [0] }],
}));
const completion = { kind: 'long', weightVersion: 0, openedSeconds: 0, deferred: 0 } as const;

/** One round; gives the events that count. */
function round(trainer: Trainer, roundId: string, from: number): number {
  let at = from;
  let events = 0;
  const running: Fetch[] = [];
  const take = (decisions: readonly Decision[]): void => {
    for (const one of decisions) if (one.type === 'train.fetch') running.push(one);
  };
  const consume = ({ fetchId, replica, groups, samples, tokens }: Fetch): void => {
    events += 1;
    take(
      trainer.send({ type: 'train.consumed', at, fetchId, replica, groups, samples, tokens, seconds: tokens / 1e4 }),
    );
  };
  trainer.send({ type: 'round.opened', at, roundId, kind: 'long', weightVersion: 0, prompts: [] });
  for (let index = 0; index < groupsPerRound; index += 1) {
    at += 0.1;
    events += 1;
    const tokens = 6400 + ((index * 7919) % 512);
    take(trainer.send({ type: 'group.completed', at, roundId, groupId: groupIds[index]!, samples: 8, tokens }));
    if (index === 100) take(trainer.send({ type: 'gpus.released', at, roundId, gpuIds: released }));
    if (running.length > 0 && index % 2 === 0) consume(running.shift()!);
  }
  const reason = { code: 'quota_reached', counted: groupsPerRound, needed: groupsPerRound } as const;
  const finish = trainer.send({ type: 'round.completed', at, roundId, prompts, ...completion, reason });
  while (running.length > 0) consume(running.shift()!);
  let updateId = '';
  for (const decision of finish) {
    if (decision.type !== 'train.finish') continue;
    for (const { fetchId, replica, groups, samples, tokens } of decision.shares) {
      events += 1;
      const seconds = tokens / 1e4;
      const done = { fetchId, replica, groups, samples, tokens, seconds };
      for (const next of trainer.send({ type: 'train.finished', at, ...done })) {
        if (next.type === 'optimizer.step') ({ updateId } = next);
      }
    }
  }
  const trained = trainer.send({ type: 'optimizer.stepped', at, roundId, updateId });
  if (trained[0]?.type !== 'round.trained') throw new Error('the round was not trained');
  return events;
}

/** A trainer, warmed up by one pass; each call measures another pass. */
function eventsPerSecond(validate: boolean, rounds: number): () => number {
  const trainer = create(streamTraining, { replicas, groupsPerRound }, { validate });
  let opened = 0;
  const pass = (): number => {
    let events = 0;
    const start = performance.now();
    for (let index = 0; index < rounds; index += 1, opened += 1) events += round(trainer, `r${opened}`, opened * 100);
    return events / ((performance.now() - start) / 1000);
  };
  pass();
  return pass;
}

console.log(machine());
printRates(eventsPerSecond(false, 400), eventsPerSecond(true, 400));
