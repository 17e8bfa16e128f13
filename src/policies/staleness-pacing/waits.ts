/** What blocks what in staleness-pacing: groups wait for their responses, for older groups, and for the trainer. */

import { mintedId } from '../../core/ids/minted-ids.ts';
import type { AwaitedEvent, HeldThing, Standing, Waits } from '../../core/why/waits.ts';
import { allowed, batchKind, type Group, inFlight, type PacingState } from './state.ts';

type For = Iterable<HeldThing | AwaitedEvent>;

const batchThing = ({ publicationId }: { publicationId: string }): HeldThing => ({
  what: 'batches',
  id: publicationId,
});

/** What the next batch waits for: groups in generation; without such groups, prompts. */
function* groupsInFlight(state: PacingState): For {
  for (const one of state.groups.values()) if (!one.isComplete) yield { what: 'prompts', id: one.groupId };
  const { round, isExhausted } = state;
  if (inFlight(state) > 0 || round === null || isExhausted) return;
  yield { event: { type: 'prompts.supplied', roundId: round.roundId } };
}

/** What makes room or lets the next batch begin. */
function* progress(state: PacingState): For {
  const { batches, config } = state;
  const [first] = batches;
  if (first !== undefined) yield batchThing(first);
  if (batches.length < config.maxBatches) yield* groupsInFlight(state);
}

/** The batch that is decided next; all complete groups wait for it. */
const nextBatch = ({ prefix, nextBatch }: PacingState): HeldThing =>
  batchThing({ publicationId: mintedId(prefix, batchKind, nextBatch) });

function groupStanding(state: PacingState, one: Group): Standing {
  const { groupId, launchId, since, startVersion, isComplete } = one;
  if (!isComplete) {
    const event = { type: 'group.completed', roundId: state.round!.roundId, groupId, launchId };
    return { stands: `is generated since version ${startVersion}`, since, for: [{ event, since }] };
  }
  const stands = one.isInWindow ? 'is complete, and waits for a batch' : 'is complete, and outside the window';
  return { stands, since, for: [nextBatch(state)] };
}

function promptStanding(state: PacingState, id: string): Standing | undefined {
  const one = state.here.get(id);
  if (one === undefined) return undefined;
  if (one !== null) return groupStanding(state, one);
  const stands = `waits to be launched: ${state.groups.size} of ${allowed(state)} groups are here, ${inFlight(state)} of them in flight`;
  return { stands, for: [nextBatch(state)] };
}

export const waits: Waits<PacingState> = {
  prompts: { ids: ({ here }) => here.keys(), of: promptStanding },
  batches: {
    ids: ({ batches }) => batches.map(({ publicationId }) => publicationId),
    of: (state, id) => {
      const { batches, round, config } = state;
      if (round !== null && id === nextBatch(state).id) {
        const stands = `is not decided: ${state.ready.size} groups of ${config.groupsPerBatch} are complete`;
        return { stands, for: progress(state) };
      }
      const index = batches.findIndex(({ publicationId }) => publicationId === id);
      const found = batches[index];
      if (found === undefined) return undefined;
      const { since, groups } = found;
      const stands = `is ${index === 0 ? 'trained' : 'fetched ahead'}, with ${groups.length} groups`;
      if (index > 0) return { stands, since, for: [batchThing(batches[index - 1]!)] };
      const event = { type: 'weights.published', roundId: round!.roundId, publicationId: id };
      return { stands, since, for: [{ event, since }] };
    },
  },
  rounds: {
    ids: ({ round }) => (round === null ? [] : [round.roundId]),
    of: (state, id) => {
      const { round, groups, batches, complete, isExhausted } = state;
      if (round?.roundId !== id) return undefined;
      const trainer = batches.length === 0 ? 'the trainer waits' : 'the trainer works';
      const { futile = { filtered: 0, since: 0 } } = round;
      const inVain = futile.filtered === 0 ? '' : `; ${futile.filtered} in a row were filtered`;
      const stands = `has ${groups.size - complete} groups in flight and ${complete} complete, ${trainer}${inVain}`;
      const end: For = isExhausted ? [] : [{ event: { type: 'source.exhausted' } }];
      return { stands, for: [...progress(state), ...end], futile: { ...futile, target: allowed(state) } };
    },
  },
};
