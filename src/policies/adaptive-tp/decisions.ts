/** Builds the decisions of adaptive-tp. */

import { given } from '../../core/collections/given.ts';
import type { Context } from '../../core/machine/definition.ts';
import type { AdaptiveTpDecision } from '../../generated/settings/adaptive-tp.ts';
import { kindTpKept, kindTpSet, profileMeasure, roundTpSet } from '../../schemas/decisions/parallelism.ts';
import type { Message } from '../../schemas/messages.ts';
import { type Parallelism, replicasOf } from './bounds.ts';
import type { Kind, TpState } from './state.ts';

export const tpDecisions = [kindTpSet, roundTpSet, kindTpKept, profileMeasure] as const;

export type Ctx = Context<AdaptiveTpDecision>;
export type SetReason = Message<'kind-tp.set'>['reason'];

/** Returns the fields of a parallelism that are present. */
export const only = ({ tp, ep }: Parallelism): Parallelism => (ep === undefined ? { tp } : { tp, ep });
/** Returns the same fields for the former parallelism. */
export const fromOf = ({ tp, ep }: Parallelism) => (ep === undefined ? { fromTp: tp } : { fromTp: tp, fromEp: ep });
/** Returns the same fields for the wanted parallelism. */
export const wantedOf = ({ tp, ep }: Parallelism) =>
  ep === undefined ? { wantedTp: tp } : { wantedTp: tp, wantedEp: ep };

/** Tells the host with which parallelism a round runs. */
export function tellRound(state: TpState, code: Message<'round-tp.set'>['reason']['code'], ctx: Ctx): void {
  if (state.round === null) return;
  const { roundId, kind, tp, ep } = state.round;
  ctx.emit({
    type: 'round-tp.set',
    at: ctx.at,
    roundId,
    kind,
    tp,
    ...given({ ep }),
    replicas: replicasOf(state.config.servers, tp),
    reason: { code },
  });
}

/** Tells the host the parallelism of a kind. */
export function tell(
  state: TpState,
  kind: Kind,
  { tp, ep }: Parallelism,
  reason: SetReason,
  roundId: string | undefined,
  ctx: Ctx,
): void {
  ctx.emit({
    type: 'kind-tp.set',
    at: ctx.at,
    ...given({ roundId }),
    kind,
    tp,
    ...given({ ep }),
    replicas: replicasOf(state.config.servers, tp),
    reason,
  });
}

/** Reports that a kind keeps its parallelism. */
export function keep(
  kind: Kind,
  { tp, ep }: Parallelism,
  reason: Message<'kind-tp.kept'>['reason'],
  roundId: string,
  ctx: Ctx,
): void {
  const { at } = ctx;
  // Every step emits a decision, and an object spread would be most of its cost.
  if (ep === undefined) ctx.emit({ type: 'kind-tp.kept', at, roundId, kind, tp, reason });
  else ctx.emit({ type: 'kind-tp.kept', at, roundId, kind, tp, ep, reason });
}
