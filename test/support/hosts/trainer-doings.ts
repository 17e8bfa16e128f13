/** What a trainer that plays along does next, and how one fails: the reports of hosts that hold a PipeliningHost. */

import type { Choices } from '../../../src/core/generators/choices.ts';
import type { CompleteGroupPipeliningEvent } from '../../../src/policies/complete-group-pipelining/index.ts';
import type { PipeliningHost } from './pipelining.ts';

type EventType = 'optimizer.stepped' | 'trainer.restarted' | 'update.consumed' | 'update.lost' | 'weights.published';
type WithoutTime<T> = T extends unknown ? Omit<T, 'at'> : never;
/** A report of a trainer; whoever sends it adds the time. */
export type TrainerReport = WithoutTime<Extract<CompleteGroupPipeliningEvent, { type: EventType }>>;
type Send = (report: TrainerReport) => void;

/** What the trainer may report next; nothing, where it waits. */
export function trainings(trainer: PipeliningHost, choices: Choices, send: Send): (() => void)[] {
  const { head, current } = trainer;
  const list: (() => void)[] = [];
  if (head === undefined) return list;
  const { roundId } = head;
  const { publicationId } = head;
  if (publicationId !== undefined) {
    const weightVersion = head.weightVersion + 1;
    list.push(() => send({ type: 'weights.published', roundId, publicationId, weightVersion }));
  }
  if (current === undefined) return list;
  const { updateId } = current;
  if (trainer.stepping !== undefined) list.push(() => send({ type: 'optimizer.stepped', roundId, updateId }));
  else {
    const left = current.groups.filter((id) => !trainer.consumed.get(updateId)!.has(id));
    const groups = choices.below(3) === 0 ? left.slice(0, 1 + choices.below(left.length)) : left;
    list.push(() => send({ type: 'update.consumed', updateId, groups, seconds: choices.below(20) / 10 }));
  }
  return list;
}

/** Loses one of the updates that the trainer has to do, if there is one. */
export function loseUpdate(trainer: PipeliningHost, choices: Choices, send: Send): void {
  const [...ids] = trainer.live.keys();
  if (ids.length > 0) send({ type: 'update.lost', updateId: ids[choices.below(ids.length)]! });
}

/** Restarts the trainer with the weights of some update of its round, if it has a round. */
export function restartTrainer(trainer: PipeliningHost, choices: Choices, send: Send): void {
  const { head } = trainer;
  if (head === undefined) return;
  const updates = choices.below(head.inWeights + (trainer.stepping === undefined ? 1 : 2));
  send({ type: 'trainer.restarted', roundId: head.roundId, updates });
}
