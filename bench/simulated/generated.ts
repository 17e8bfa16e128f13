/** A workload of generated lengths, as if it had been recorded: 400 prompts with four responses each. */
import { traceWorkload } from '../../src/sim/workload/of-trace.ts';
import { normal } from '../../src/sim/workload/random.ts';
import type { Workload } from '../../src/sim/workload/workload.ts';

/** How lengths are distributed. */
export interface Lengths {
  /** Median length, spread of its logarithm, and correlation of the responses to a prompt. */
  readonly median: number;
  readonly spread: number;
  readonly correlation: number;
}

const recorded = { prompts: 400, responses: 4 };

/** Returns the workload by the seed of a run; another `seed` gives other prompts. */
export function generatedWorkload(
  { median, spread, correlation }: Lengths,
  { capTokens, seed }: { readonly capTokens: number; readonly seed: number },
): (seed: number) => Workload {
  const prompts = Array.from({ length: recorded.prompts }, (_, index) => {
    const shared = normal(seed, index);
    const responses = Array.from({ length: recorded.responses }, (_each, sample) => {
      const score = Math.sqrt(correlation) * shared + Math.sqrt(1 - correlation) * normal(seed, index, sample);
      return { tokens: Math.max(1, Math.min(capTokens, Math.round(median * Math.exp(spread * score)))) };
    });
    return { prompt: `p${index}`, responses };
  });
  return traceWorkload({ name: 'generated', trace: { kind: 'prompts', reader: 'rollflex', prompts } }, { capTokens });
}
