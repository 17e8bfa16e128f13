/** The head: the oldest round, which is being trained. */
import { type Replica, refreshStreaming, type StreamTrainingState } from './state.ts';

/** Removes the head round; the next round becomes the head. */
export function closeHead(state: StreamTrainingState): void {
  const head = state.head!;
  state.rounds.delete(head.roundId);
  for (const one of state.replicas) clearReplica(state, one);
  setHead(state);
  state.recentRounds.add(head.roundId);
}

/** Makes the oldest round the head. */
export function setHead(state: StreamTrainingState): void {
  state.head = state.rounds.values().next().value ?? null;
  if (state.head !== null && state.head.completedSeconds !== null) state.head.phase = 'finishing';
  refreshStreaming(state);
}

/** Forgets the work and the gradients of a replica. */
export function clearReplica(state: StreamTrainingState, replica: Replica): void {
  for (const work of replica.works) state.works.delete(work.fetchId);
  replica.works = [];
  replica.consumed = [];
  replica.samples = 0;
  replica.tokens = 0;
  replica.gradients = 'none';
  replica.joined = false;
}
