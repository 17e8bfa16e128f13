/**
 * NeMo-RL: `train_data_step{step}.jsonl` in the log directory, one response per line, each value in a list with one item
 * (`log_batched_dict_as_jsonl` in `nemo_rl/utils/logger.py`; GRPO and PPO). Prompts have no id: responses with the same tokens
 * before the first generated token belong to one prompt. With several turns, all generated tokens count.
 */
import { z } from 'zod';
import { parse } from '../../../core/machine/validate.ts';
import { correctness, type DumpReader, dumpedScore } from './dump.ts';

/** A list with one item, into which `make_microbatch_iterator(1)` turns every value. */
const one = <T extends z.ZodType>(value: T) => z.array(value).length(1);

const row = z.looseObject({
  token_ids: one(z.array(z.number())),
  token_loss_mask: one(z.array(z.number())),
  rewards: one(dumpedScore).optional(),
});

/** Reader of NeMo-RL's dumps. */
export const nemoRlDump: DumpReader = Object.freeze({
  id: 'nemo-rl',
  description: 'NeMo-RL: train_data_step{step}.jsonl; exact tokens',
  needs: ['token_ids', 'token_loss_mask', 'idx'],
  marks: [
    'token_ids',
    'token_loss_mask',
    'sample_loss_mask',
    'generation_logprobs',
    'prev_logprobs',
    'input_lengths',
    'idx',
  ],
  detect: (first: Readonly<Record<string, unknown>>) => 'token_loss_mask' in first && 'idx' in first,
  read(value, context) {
    const found = parse(row, value, 'invalid_input', context.where);
    const [mask, ids] = [found.token_loss_mask[0]!, found.token_ids[0]!];
    const promptTokens = mask.findIndex((on) => on !== 0);
    if (promptTokens < 0) return ['empty'];
    const correct = correctness(found.rewards?.[0], undefined, context.correctFrom);
    return [
      {
        group: context.fingerprint(ids.slice(0, promptTokens).join(',')),
        ...(context.step === undefined ? undefined : { step: context.step }),
        tokens: mask.reduce((sum, on) => sum + (on === 0 ? 0 : 1), 0),
        promptTokens: () => promptTokens,
        ...(correct === undefined ? undefined : { correct }),
        fromText: false,
      },
    ];
  },
} satisfies DumpReader);
