/** Gives work to replicas, and takes work from them. */
import { mintedId, wasMinted } from '../../core/ids/minted-ids.ts';
import type { Message } from '../../schemas/messages.ts';
import type { Ctx } from './messages.ts';
import type { Group, Replica, Round, StreamTrainingState, Work } from './state.ts';

/** Reasons to train groups again. */
export type RequeueCode = Message<'train.requeued'>['reason']['code'];
type DiscardCode = Message<'gradients.discard'>['reason']['code'];

/** Whether a fetch or share that is not in flight may have been decided earlier. */
export function wasFetch(state: StreamTrainingState, fetchId: string): boolean {
  return wasMinted(state, fetchId, state.nextFetch, (kind) => kind.endsWith('#') && state.byId.has(kind.slice(0, -1)));
}

const idOf = (group: Group): string => group.groupId;

/** Gives work to a replica, after its earlier work. */
export function assign(
  state: StreamTrainingState,
  replica: Replica,
  kind: Work['kind'],
  groups: Group[],
  at: number,
): { work: Work; samples: number } {
  let samples = 0;
  let tokens = 0;
  for (let index = 0; index < groups.length; index += 1) {
    samples += groups[index]!.samples;
    tokens += groups[index]!.tokens;
  }
  const fetchId = mintedId(state.prefix, `${replica.id}#`, state.nextFetch++);
  const work: Work = { fetchId, kind, groups, startedSeconds: replica.works.length === 0 ? at : null, tokens };
  if (replica.streams && replica.works.length === 0) state.idle -= 1;
  replica.works.push(work);
  state.works.set(fetchId, { replica, work });
  return { work, samples };
}

/** Removes finished work from a replica; its next work begins. */
export function unassign(state: StreamTrainingState, replica: Replica, work: Work, at: number): void {
  state.works.delete(work.fetchId);
  replica.works.splice(replica.works.indexOf(work), 1);
  const next = replica.works[0];
  if (next !== undefined) next.startedSeconds ??= at;
  else if (replica.streams) state.idle += 1;
}

/** Decides the pass of the reference model before the gradients of some groups, if this pass is configured. */
export function referencePass(
  state: StreamTrainingState,
  round: Round,
  replica: Replica,
  { fetchId, groups }: Work,
  ctx: Ctx,
): void {
  if (state.config.reference === 'none' || groups.length === 0) return;
  const { at } = ctx;
  const { roundId } = round;
  const reason = () => ({ code: 'reference_pass', groups: groups.length }) as const;
  ctx.emit({ type: 'weights.swap', at, roundId, replica: replica.id, to: 'reference', reason: reason() });
  ctx.emit({
    type: 'reference.compute',
    at,
    roundId,
    fetchId,
    replica: replica.id,
    groups: groups.map(idOf),
    reason: reason(),
  });
  ctx.emit({ type: 'weights.swap', at, roundId, replica: replica.id, to: 'actor', reason: reason() });
}

/** Reloads the gradients of a replica before new gradients are added. */
export function reload(round: Round, replica: Replica, code: 'fetch' | 'finish', ctx: Ctx): void {
  if (replica.gradients !== 'offloaded') return;
  replica.gradients = 'resident';
  const reason = { code, groups: replica.consumed.length };
  ctx.emit({ type: 'gradients.reload', at: ctx.at, roundId: round.roundId, replica: replica.id, reason });
}

/** Offloads the gradients of an idle replica to host memory. */
export function offload(round: Round, replica: Replica, code: 'idle' | 'gpus_returned', ctx: Ctx): void {
  if (replica.gradients !== 'resident' || replica.works.length > 0) return;
  replica.gradients = 'offloaded';
  const reason = { code, groups: replica.consumed.length };
  ctx.emit({ type: 'gradients.offload', at: ctx.at, roundId: round.roundId, replica: replica.id, reason });
}

/** Puts groups back, which are trained before groups that were never fetched. */
export function requeue(
  round: Round,
  replica: Replica,
  groups: readonly Group[],
  reason: { code: RequeueCode; consumed: number; inFlight: number },
  ctx: Ctx,
): void {
  if (groups.length === 0) return;
  for (const group of groups) {
    round.again.push(group);
    round.waitingTokens += group.tokens;
  }
  ctx.emit({
    type: 'train.requeued',
    at: ctx.at,
    roundId: round.roundId,
    replica: replica.id,
    groups: groups.map(idOf),
    reason,
  });
}

/** Tells a present replica to stop, and to drop its gradients. */
export function discard(round: Round, replica: Replica, code: DiscardCode, ctx: Ctx): void {
  if (replica.works.length === 0 && replica.gradients === 'none') return;
  const reason = { code, groups: replica.consumed.length };
  ctx.emit({ type: 'gradients.discard', at: ctx.at, roundId: round.roundId, replica: replica.id, reason });
}
