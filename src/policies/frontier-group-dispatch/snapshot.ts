/** The saved state: groups with their requests, rounds, and what was measured. Everything else is made of these. */
import { z } from 'zod';
import { RecentIds } from '../../core/recent-ids.ts';
import { groupKey } from '../../core/trained-groups.ts';
import { paceSchema } from './pace.ts';
import type { FrontierConfig } from './schema.ts';
import { type FrontierState, isUnfinished, newGroup, newRequest, newRound, newState, update } from './state.ts';

const whole = z.int().nonnegative();
const amount = z.number().nonnegative();

const request = z.strictObject({
  requestId: z.string(),
  index: whole,
  status: z.enum(['waiting', 'admitted', 'aborting', 'completed', 'open', 'gone']),
  isHeld: z.boolean(),
  tokens: whole,
  mark: z.strictObject({ since: amount, clock: amount, requests: amount, context: amount }),
});

/** Schema of the saved state. */
export const frontierSnapshot = z.strictObject({
  rounds: z.array(z.strictObject({ roundId: z.string(), ordinal: whole, nextOrder: whole })),
  groups: z.array(
    z.strictObject({
      promptId: z.string(),
      roundId: z.string(),
      order: whole,
      seq: whole,
      ref: z.string().optional(),
      since: amount.nullable(),
      isClosing: z.boolean(),
      requests: z.array(request),
    }),
  ),
  endedRounds: z.array(z.string()),
  left: z.array(z.string()),
  pace: paceSchema,
  oldPrefixes: z.array(z.string()),
  prefix: z.string(),
  width: z.int().positive(),
  newest: z.string().nullable(),
  seq: whole,
  roundSeq: whole,
});
export type SavedFrontier = z.output<typeof frontierSnapshot>;

export function save(state: FrontierState): SavedFrontier {
  const { prefix, oldPrefixes, width, seq, roundSeq } = state;
  return {
    rounds: [...state.rounds.values()].map(({ roundId, ordinal, nextOrder }) => ({ roundId, ordinal, nextOrder })),
    groups: [...state.groups.values()].map(({ promptId, round, order, seq: own, ref, since, isClosing, places }) => ({
      promptId,
      roundId: round.roundId,
      order,
      seq: own,
      ...(ref === undefined ? undefined : { ref }),
      since,
      isClosing,
      requests: places.map(({ group: _, ...one }) => ({ ...one, mark: { ...one.mark } })),
    })),
    endedRounds: [...state.endedRounds],
    left: [...state.left],
    pace: structuredClone(state.pace),
    oldPrefixes: [...oldPrefixes],
    prefix,
    width,
    newest: state.newest?.roundId ?? null,
    seq,
    roundSeq,
  };
}

export function load(saved: SavedFrontier, config: FrontierConfig): FrontierState {
  const { prefix, oldPrefixes, width, seq, roundSeq } = saved;
  const state: FrontierState = {
    ...newState(config),
    ...{ prefix, width, seq, roundSeq, oldPrefixes: [...oldPrefixes], pace: structuredClone(saved.pace) },
    endedRounds: new RecentIds(saved.endedRounds),
    left: new RecentIds(saved.left),
  };
  for (const { roundId, ordinal, nextOrder } of saved.rounds) {
    state.rounds.set(roundId, { ...newRound(roundId, ordinal), nextOrder });
  }
  for (const one of saved.groups) loadGroup(state, one);
  for (const round of state.rounds.values()) if (round.groups.size === 0) state.empty.update(round);
  state.newest = saved.newest === null ? null : state.rounds.get(saved.newest)!;
  return state;
}

function loadGroup(state: FrontierState, saved: SavedFrontier['groups'][number]): void {
  const round = state.rounds.get(saved.roundId)!;
  const group = newGroup(saved.promptId, round, saved.order, saved.seq);
  const { ref, since, isClosing } = saved;
  Object.assign(group, { since, isClosing });
  if (ref !== undefined) group.ref = ref;
  for (const { requestId, index, ...rest } of saved.requests) {
    const one = Object.assign(newRequest(requestId, group, index), { ...rest, mark: { ...rest.mark } });
    group.places.push(one);
    if (one.isHeld) state.requests.set(requestId, one);
    if (isUnfinished(one)) group.unfinished += 1;
    else if (one.status === 'completed') group.completed += 1;
    else if (one.status === 'gone') group.gone += 1;
  }
  state.groups.set(group.promptId, group);
  round.groups.add(group);
  if (since !== null) state.inService += 1;
  update(state, group);
}

/**
 * Version 1 kept the prompts that had left with each round, all of them. Whatever else it says is left for the check of the
 * state to refuse, with its path.
 */
export function migrateFromOne(given: unknown): unknown {
  const saved = structuredClone(given) as { rounds?: { roundId: string; left?: string[] }[]; left?: string[] } | null;
  if (!Array.isArray(saved?.rounds)) return saved;
  saved.left = [];
  for (const round of saved.rounds) {
    if (!Array.isArray(round?.left)) continue;
    for (const promptId of round.left.splice(0)) saved.left.push(groupKey(round.roundId, promptId));
    delete round.left;
  }
  return saved;
}
