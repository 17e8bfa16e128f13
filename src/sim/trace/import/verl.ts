/**
 * verl: `trainer.rollout_data_dir` and `trainer.validation_data_dir`, one file `{step}.jsonl` per step, one response per line
 * (`_write_generations` in `verl/trainer/ppo/ray_trainer.py` and `verl/trainer/ppo/v1/trainer_base.py`).
 */
import { z } from 'zod';
import { parse } from '../../../core/machine/validate.ts';
import { correctness, type DumpReader, dumpedCount, dumpedScore, tokensOfText } from './dump.ts';

const row = z.looseObject({
  input: z.string(),
  output: z.string(),
  step: dumpedCount.optional(),
  score: dumpedScore,
  acc: z.unknown().optional(),
  uid: z.string().min(1).optional(),
  response_length: dumpedCount.optional(),
  prompt_length: dumpedCount.optional(),
});

/** The v1 trainer's key of a row: prompt, session (one response), and number of the output in the session. */
const key = /^(.+)_(\d+)_(\d+)$/;

/** More outputs than any session has. */
const mostOutputs = 2 ** 20;

/** Reader of verl's dumps. */
export const verlDump: DumpReader = Object.freeze({
  id: 'verl',
  description: 'verl: trainer.rollout_data_dir and trainer.validation_data_dir; text',
  needs: ['input', 'output'],
  marks: ['input', 'output', 'gts', 'score'],
  detect: (first: Readonly<Record<string, unknown>>) => typeof first.output === 'string' && 'input' in first,
  read(value, context) {
    const one = parse(row, value, 'invalid_input', context.where);
    const step = one.step ?? context.step;
    const [, prompt, session, output] = one.uid === undefined ? [] : (key.exec(one.uid) ?? [one.uid, one.uid]);
    const counted = one.response_length;
    if (counted === 0) return ['empty'];
    const correct = correctness(one.score, one.acc, context.correctFrom);
    return [
      {
        group: prompt ?? context.fingerprint(one.input),
        // The trainer makes a new key each time a prompt comes.
        ...(prompt === undefined ? undefined : { prompt: context.fingerprint(one.input) }),
        ...(step === undefined ? undefined : { step }),
        ...(session === undefined
          ? undefined
          : { part: Number(session), row: Number(session) * mostOutputs + Number(output) }),
        tokens: counted ?? tokensOfText(one.output, context, 'output'),
        promptTokens: () =>
          one.prompt_length ?? (context.textTokens === undefined ? undefined : context.textTokens.count(one.input)),
        ...(correct === undefined ? undefined : { correct }),
        fromText: counted === undefined,
      },
    ];
  },
} satisfies DumpReader);
