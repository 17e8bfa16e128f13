/**
 * Updates the best that is known of the batches of alike-batches.ts (alike-best.jsonl): the planner at `thorough` with many
 * times the steps of its default, in minutes. What was better before is kept, and so is what the planner of version 0.1.0
 * found. `proven`: within a thousandth of what counting allows.
 */
import { type AlikeCell, alikeGrids, alikeInput, alikeKey, alikeSeeds, isProven } from './alike-batches.ts';
import { readBest, writeBest } from './alike-records.ts';
import { searched } from './study.ts';

const known = readBest();
for (const grid of ['close', 'wide'] as const) {
  for (const cell of alikeGrids[grid] as readonly AlikeCell[]) {
    const key = alikeKey(cell, alikeSeeds[grid]);
    const before = known.get(key);
    if (before?.proven === true) continue;
    const { plan, limit } = searched({ ...alikeInput(cell, alikeSeeds[grid]), effort: 'thorough' });
    const least = Math.min(before?.best ?? Number.POSITIVE_INFINITY, plan.metrics.communication);
    known.set(key, {
      limit,
      old: plan.metrics.communication,
      oldSteps: 0,
      ...before,
      best: least,
      proven: isProven({ ...plan, metrics: { ...plan.metrics, communication: least } }),
    });
    console.log(key, plan.bounds.communication, least);
    writeBest(known);
  }
}
