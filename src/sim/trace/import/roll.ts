/**
 * ROLL: `rollout_dump_dir` of the RLVR pipelines (`rollout_dump_data.step_{step}.jsonl`: one line per step, with one list per
 * column; `roll/pipeline/rlvr/utils.py`), and `save_logging_board_dir` (`data_{time}.jsonl`: one response per line, with its
 * mask; `save_metrics` in `roll/pipeline/rlvr/rlvr_pipeline.py`).
 */
import { z } from 'zod';
import { parse } from '../../../core/machine/validate.ts';
import { refuse } from '../../../errors.ts';
import {
  correctness,
  type DumpContext,
  type DumpedResponse,
  type DumpReader,
  dumpedCount,
  dumpedScore,
  tokensOfText,
} from './dump.ts';

const column = z.array(z.union([z.string(), z.number(), z.null()])).optional();
const step = z.object({
  responses: z.array(z.string()),
  scores: z.array(dumpedScore).optional(),
  global_step: z.array(dumpedCount).optional(),
  id: column,
  prompt: column,
  messages: z.array(z.unknown()).optional(),
  domain: column,
});

/**
 * Returns the key of a prompt in a step: its text, because ids of data sets may be missing, and two data sets may use the same id.
 */
function promptOf(columns: z.output<typeof step>, index: number): string {
  const fields = [columns.domain, columns.id, columns.prompt, columns.messages].map((one) => one?.[index] ?? null);
  return JSON.stringify(fields);
}

/** Reader of ROLL's dumps of rollouts. */
export const rollDump: DumpReader = Object.freeze({
  id: 'roll',
  description: 'ROLL: rollout_dump_dir of RLVR pipelines; text',
  needs: ['responses', 'global_step'],
  marks: ['responses', 'scores', 'messages'],
  detect: (first: Readonly<Record<string, unknown>>) => Array.isArray(first.responses) && 'global_step' in first,
  read(value, context) {
    const columns = parse(step, value, 'invalid_input', context.where);
    const count = columns.responses.length;
    for (const [name, list] of Object.entries(columns)) {
      if (list === undefined || list.length === count) continue;
      const path = `${context.where}.${name}`;
      refuse('invalid_input', path, `${count} values, as of responses`, list.length);
    }
    if (columns.id === undefined && columns.prompt === undefined && columns.messages === undefined) {
      const expected = 'a column id, prompt or messages: without one, nobody knows which responses are of one prompt';
      refuse('invalid_input', context.where, expected, Object.keys(columns));
    }
    return columns.responses.map((text, index) => responseOf(columns, text, index, context));
  },
} satisfies DumpReader);

function responseOf(columns: z.output<typeof step>, text: string, index: number, context: DumpContext): DumpedResponse {
  const at = columns.global_step?.[index] ?? context.step;
  const task = columns.domain?.[index];
  const prompt = columns.prompt?.[index];
  const correct = correctness(columns.scores?.[index], undefined, context.correctFrom);
  return {
    group: context.fingerprint(promptOf(columns, index)),
    ...(at === undefined ? undefined : { step: at }),
    tokens: tokensOfText(text, context, `responses[${index}]`),
    promptTokens: () => (typeof prompt === 'string' ? context.textTokens?.count(prompt) : undefined),
    ...(correct === undefined ? undefined : { correct }),
    ...(typeof task === 'string' && task !== '' ? { task } : undefined),
    fromText: true,
  };
}

const boardRow = z.looseObject({
  prompt: z.string(),
  new_response_mask: z.array(z.union([z.number(), z.boolean()])),
  step: dumpedCount.optional(),
  reward: dumpedScore,
});

/** Reader of ROLL's logging board. */
export const rollBoard: DumpReader = Object.freeze({
  id: 'roll-board',
  description: 'ROLL: save_logging_board_dir; exact tokens',
  needs: ['new_response_mask', 'prompt'],
  marks: ['new_response_mask', 'log_probs2', 'response_tokens'],
  detect: (first: Readonly<Record<string, unknown>>) => 'new_response_mask' in first,
  read(value, context) {
    const one = parse(boardRow, value, 'invalid_input', context.where);
    const tokens = one.new_response_mask.reduce<number>((sum, on) => sum + (Number(on) === 0 ? 0 : 1), 0);
    if (tokens === 0) return ['empty'];
    const at = one.step ?? context.step;
    const correct = correctness(one.reward, undefined, context.correctFrom);
    return [
      {
        group: context.fingerprint(one.prompt),
        ...(at === undefined ? undefined : { step: at }),
        tokens,
        // The text is padded on the left, so its length is not the prompt's length.
        promptTokens: () => undefined,
        ...(correct === undefined ? undefined : { correct }),
        fromText: false,
      },
    ];
  },
} satisfies DumpReader);
