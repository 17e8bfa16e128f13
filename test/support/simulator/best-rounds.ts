/** The best schedule of a few prompts, by trying all: every way of forming rounds, and every placement in each. */

import type { FixedPrompt } from '../../../src/sim/bounds/lower-bound.ts';
import { DecodeEngine } from '../../../src/sim/engine/decode-engine.ts';
import type { CostModel } from '../../../src/sim/models/cost-model.ts';

/** Every way to deal items into rounds of P0, the last of which may be smaller. */
function* partitions(items: readonly FixedPrompt[], size: number): Generator<FixedPrompt[][]> {
  if (items.length === 0) {
    yield [];
    return;
  }
  const [first, ...rest] = items;
  for (let mask = 0; mask < 1 << rest.length; mask += 1) {
    const chosen = rest.filter((_, index) => mask & (1 << index));
    const left = rest.filter((_, index) => !(mask & (1 << index)));
    const isFull = chosen.length === size - 1;
    // Only one round may be smaller: the one that takes what is left of the division.
    if (!isFull && chosen.length + 1 !== (items.length % size || size)) continue;
    for (const others of partitions(left, size)) {
      const sizes = [chosen.length + 1, ...others.map((one) => one.length)];
      if (sizes.filter((one) => one < size).length <= 1) yield [[first!, ...chosen], ...others];
    }
  }
}

function bestRound(round: readonly FixedPrompt[], engines: number, cost: CostModel): number {
  const requests = round.flatMap((one) =>
    one.responseTokens.map((responseTokens) => ({ promptTokens: one.promptTokens, responseTokens })),
  );
  let best = Number.POSITIVE_INFINITY;
  for (let code = 0; code < engines ** requests.length; code += 1) {
    const all = Array.from({ length: engines }, (_, index) => new DecodeEngine(`e${index}`, cost));
    requests.forEach((request, index) => {
      all[Math.floor(code / engines ** index) % engines]!.add({ ...request, requestId: `q${index}` }, 0);
    });
    const ends = all.flatMap((engine) => engine.advanceTo(1e9).map((outcome) => outcome.at));
    best = Math.min(best, Math.max(...ends));
  }
  return best;
}

/** Least seconds of all rollouts. */
export function bestSeconds(
  prompts: readonly FixedPrompt[],
  promptsPerRound: number,
  engines: number,
  cost: CostModel,
): number {
  let best = Number.POSITIVE_INFINITY;
  for (const rounds of partitions(prompts, promptsPerRound)) {
    const seconds = rounds.reduce((sum, round) => sum + bestRound(round, engines, cost), 0);
    best = Math.min(best, seconds);
  }
  return best;
}
