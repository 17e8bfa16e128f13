/** How batches end. */
import type { Context } from '../../core/definition.ts';
import { remember } from './ids.ts';
import type { Batch, LoaderState } from './state.ts';
import type { LoaderDecision, ReasonOf } from './words.ts';

type Ctx = Context<LoaderDecision>;

/** Says that a batch has all that it can get, if it has. */
export function finishBatch(state: LoaderState, batch: Batch, ctx: Ctx): void {
  if (batch.waiting > 0) return;
  const { id: batchId, stepId, fetched: slices, missing } = batch;
  const waitedSeconds = ctx.at - batch.plannedAt;
  const reason: ReasonOf<'batch.materialized'> =
    missing.length === 0
      ? { code: 'delivered', waitedSeconds }
      : { code: 'samples_dropped', waitedSeconds, dropped: missing.length };
  ctx.emit({ type: 'batch.materialized', at: ctx.at, batchId, stepId, slices, missing: [...missing], reason });
  endBatch(state, batch);
}

/** A batch is over, in whatever way. */
export function endBatch(state: LoaderState, batch: Batch): void {
  state.batches.delete(batch.id);
  remember(state.recentBatches, batch.id);
}
