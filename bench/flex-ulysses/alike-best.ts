/**
 * Shows the best plans that a long search finds for nearly equal lengths, against those found before: the moves of the
 * planner, with many times the steps and from other random numbers, and the planner at `thorough`. What counting proves
 * to be within 2 % of the best is left out. Writes alike-best.jsonl, in minutes; a plan that is better already is kept.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { flexUlysses, runPlanner } from '../../src/index.ts';
import { instanceOf } from '../../src/planners/flex-ulysses/instance.ts';
import { flexUlyssesInput } from '../../src/planners/flex-ulysses/schema.ts';
import { Search } from '../../src/planners/flex-ulysses/search/attempts.ts';
import { bestBalance, computeLimit } from '../../src/planners/flex-ulysses/search/balance.ts';
import { effortFor } from '../../src/planners/flex-ulysses/search/effort.ts';
import { problemOf } from '../../src/planners/flex-ulysses/search/problem.ts';
import { Sequence } from '../../src/planners/flex-ulysses/search/random.ts';
import { type AlikeCell, alikeInput, alikeKey, isProven, sampledCells } from './alike-batches.ts';

const steps = 6_000_000;
const randoms = [11];
const file = fileURLToPath(new URL('alike-best.jsonl', import.meta.url));

/** The least communication that long searches find. */
function longSearch(cell: AlikeCell, seed: number): number {
  const settings = flexUlyssesInput.parse(alikeInput(cell, seed));
  const instance = instanceOf(settings);
  const balance = bestBalance(instance);
  const problem = problemOf(instance, computeLimit(balance, settings.balanceTolerance), balance.memoryCap);
  const flat = Int32Array.from(problem.sequence, (i) => balance.group[i]!);
  let best = Number.POSITIVE_INFINITY;
  for (const random of randoms) {
    const search = new Search(problem, flat, { ...effortFor('thorough', problem), alikeSteps: steps });
    search.alike(new Sequence(random));
    const { level } = search.best;
    const costs = problem.sequence.map((i, item) => instance.splitCost[level[item]!]![i]!);
    best = Math.min(
      best,
      costs.reduce((sum, one) => sum + one, 0),
    );
  }
  return best;
}

const known = new Map<string, number>();
if (existsSync(file)) {
  for (const line of readFileSync(file, 'utf8').trim().split('\n')) {
    const [key, least] = JSON.parse(line) as [string, number];
    known.set(key, least);
  }
}
const [seed = 1] = process.argv.slice(2).map(Number);
for (const cell of sampledCells) {
  const plan = runPlanner(flexUlysses, alikeInput(cell, seed));
  if (isProven(plan)) continue;
  const key = alikeKey(cell, seed);
  if (process.argv.includes('--new') && known.has(key)) continue;
  const least = Math.min(known.get(key) ?? plan.metrics.communication, longSearch(cell, seed));
  known.set(key, least);
  console.log(key, plan.bounds.communication, plan.metrics.communication / least);
  writeFileSync(file, [...known].map((one) => `${JSON.stringify(one)}\n`).join(''));
}
