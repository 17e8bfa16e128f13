/**
 * slime: samples of `--save-debug-rollout-data`, as JSON lines (`Sample.to_dict` in `slime/utils/types.py`). The `.pt`
 * files themselves are pickles: `python -m rollflex.importing` turns them into these lines.
 */
import { z } from 'zod';
import { parse } from '../../../core/machine/validate.ts';
import { correctness, type DumpReader, dumpedCount, dumpedScore, type SkipReason } from './dump.ts';

const nullableCount = dumpedCount.nullish();
const row = z.looseObject({
  group_index: nullableCount,
  index: nullableCount,
  rollout_id: nullableCount,
  prompt: z.union([z.string(), z.array(z.unknown())]).optional(),
  prompt_tokens: nullableCount,
  tokens: z.array(z.unknown()).optional(),
  response_length: dumpedCount,
  status: z.enum(['pending', 'completed', 'truncated', 'aborted', 'failed']),
  reward: dumpedScore,
  step: nullableCount,
});

const skipped = new Set<string>(['pending', 'aborted', 'failed'] satisfies SkipReason[]);

/** Reader of slime's samples. */
export const slimeDump: DumpReader = Object.freeze({
  id: 'slime',
  description:
    'slime: --save-debug-rollout-data, by python -m rollflex.importing; exact tokens, and what was truncated',
  needs: ['response_length', 'status'],
  marks: ['group_index', 'rollout_id', 'response_length', 'status', 'loss_mask', 'remove_sample', 'rollout_log_probs'],
  detect: (first: Readonly<Record<string, unknown>>) => 'response_length' in first && 'status' in first,
  read(value, context) {
    const one = parse(row, value, 'invalid_input', context.where);
    if (skipped.has(one.status)) return [one.status as SkipReason];
    if (one.response_length === 0) return ['empty'];
    const step = one.step ?? context.step;
    const text = typeof one.prompt === 'string' ? one.prompt : JSON.stringify(one.prompt ?? '');
    const correct = correctness(one.reward, undefined, context.correctFrom);
    const inTokens = one.tokens === undefined ? undefined : one.tokens.length - one.response_length;
    const promptTokens = one.prompt_tokens ?? inTokens;
    return [
      {
        group: one.group_index == null ? context.fingerprint(text) : String(one.group_index),
        // The data source counts on, also when a prompt comes again.
        ...(one.group_index == null || one.prompt === undefined ? undefined : { prompt: context.fingerprint(text) }),
        ...(step === undefined ? undefined : { step }),
        // Samples with the same rollout id are from one execution; a sample without an id is its own execution.
        ...(one.rollout_id == null ? undefined : { part: one.rollout_id }),
        ...(one.index == null ? undefined : { row: one.index }),
        tokens: one.response_length,
        promptTokens: () => (promptTokens !== undefined && promptTokens >= 0 ? promptTokens : undefined),
        truncated: one.status === 'truncated',
        ...(correct === undefined ? undefined : { correct }),
        fromText: false,
      },
    ];
  },
} satisfies DumpReader);
