/** Speculative decoding, as the engines name its options. */
import { z } from 'zod';
import { parse } from '../core/machine/validate.ts';
import { refuse } from '../errors.ts';
import { count, positiveCount } from '../schemas/units.ts';
import type { DraftSettings } from '../sim/models/draft-settings.ts';

type Tokens = Pick<DraftSettings, 'tokens' | 'maxTokens'>;

/** Fields that are read from vLLM's `speculative_config`; method, model and all other fields have no effect here. */
const vllmConfig = z.looseObject({
  num_speculative_tokens: positiveCount.max(64),
  num_speculative_tokens_per_batch_size: z
    .array(z.tuple([positiveCount, positiveCount, count]))
    .min(1)
    .optional(),
});

/**
 * Returns the tokens that vLLM drafts by its `speculative_config`. A batch size between two ranges uses the lower range, and no
 * size drafts more than `num_speculative_tokens`.
 *
 * @throws PolicyError `invalid_config`
 */
export function vllmDraftTokens(config: unknown): Tokens {
  const { num_speculative_tokens: most, num_speculative_tokens_per_batch_size: ranges } = parse(
    vllmConfig,
    config,
    'invalid_config',
  );
  if (ranges === undefined) return { tokens: most, maxTokens: most };
  const sorted = [...ranges].sort(([a], [b]) => a - b);
  for (const [at, [first, last]] of sorted.entries()) {
    const least = (sorted[at - 1]?.[1] ?? 0) + 1;
    const path = 'num_speculative_tokens_per_batch_size';
    if (at === 0 && first !== 1) refuse('invalid_config', path, 'a first range from 1 on', first);
    if (first < least || last < first) refuse('invalid_config', path, 'ranges that do not overlap', [first, last]);
  }
  return { tokens: sorted.map(([sequences, , tokens]) => ({ sequences, tokens })), maxTokens: most };
}

/** SGLang's server options for drafts. */
export interface SglangDrafts {
  /** `--speculative-num-steps`: passes of the drafter, which are the drafted tokens. */
  readonly numSteps: number;
  /** `--speculative-num-draft-tokens`: verified tokens; one more than the steps. */
  readonly numDraftTokens?: number;
  /** The JSON of `--speculative-adaptive-config`. */
  readonly adaptiveConfig?: unknown;
}

const adaptiveEntry = z.looseObject({ candidate_steps: z.array(count.max(64)).min(1) });

/**
 * Returns the tokens that SGLang drafts: chains (`--speculative-eagle-topk 1`), by batch size if `--speculative-adaptive` is
 * configured with one candidate per size. A batch size uses the entry with the largest key that does not exceed it.
 *
 * @throws PolicyError `invalid_config`; `infeasible` for trees of drafts, and for several candidates
 */
export function sglangDraftTokens({ numSteps, numDraftTokens = numSteps + 1, adaptiveConfig }: SglangDrafts): Tokens {
  if (numDraftTokens !== numSteps + 1) {
    refuse('infeasible', 'speculative_num_draft_tokens', `${numSteps + 1}: no trees of drafts`, numDraftTokens);
  }
  if (adaptiveConfig === undefined) return { tokens: numSteps, maxTokens: numSteps };
  const all = parse(z.record(z.string(), z.unknown()), adaptiveConfig, 'invalid_config');
  const entries = Object.entries(all)
    .filter(([key]) => /^\d+$/.test(key))
    .map(([key, value]) => {
      const { candidate_steps: steps } = parse(adaptiveEntry, value, 'invalid_config');
      if (steps.length > 1)
        refuse('infeasible', `${key}.candidate_steps`, 'one: the mock engine does not adapt', steps);
      return { sequences: Number(key), tokens: steps[0]! };
    })
    .sort((a, b) => a.sequences - b.sequences);
  if (entries.length === 0) refuse('invalid_config', '', 'a batch size as a key', Object.keys(all));
  const tokens = [{ ...entries[0]!, sequences: 1 }, ...entries.slice(1)];
  return { tokens, maxTokens: Math.max(numSteps, ...tokens.map((one) => one.tokens)) };
}
