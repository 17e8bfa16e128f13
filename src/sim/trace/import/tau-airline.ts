/**
 * tau-bench airline, as prepared for rollflex: trials of a task, each a trajectory whose turns call a tool or speak to a simulated
 * user.
 */
import { z } from 'zod';
import { parse } from '../../../core/machine/validate.ts';
import { generatedIn } from '../format.ts';
import type { DumpReader } from './dump.ts';
import { correctBy } from './rows/value.ts';

const dumpedCount = z.int().nonnegative();

const trial = z.object({
  task_id: z.string().min(1),
  trial: z.int(),
  system_tokens: dumpedCount,
  turns: z.array(z.object({ in: dumpedCount, gen: dumpedCount, call: z.boolean().optional() })),
  reward: z.number().optional(),
});

/** Reader of the trials. */
export const tauAirline: DumpReader = Object.freeze({
  id: 'tau-airline',
  description: 'tau-bench airline: multi-turn agent with tools and a simulated user; approximate tokens',
  needs: ['task_id', 'trial', 'system_tokens', 'turns'],
  marks: ['task_id', 'system_tokens'],
  detect: (first: Readonly<Record<string, unknown>>) => 'task_id' in first && 'turns' in first,
  read(value, context) {
    const one = parse(trial, value, 'invalid_input', context.where);
    if (one.turns.length === 0) return ['empty'];
    const turns = one.turns.map((turn, at) => ({
      addedTokens: turn.in,
      // A turn ends with a token even if it says nothing.
      tokens: Math.max(1, turn.gen),
      ...(at === one.turns.length - 1 ? undefined : { tool: turn.call === true ? 'database' : 'user' }),
    }));
    const correct = correctBy(one.reward, context.correctFrom);
    return [
      {
        group: one.task_id,
        row: one.trial,
        ...(context.step === undefined ? undefined : { step: context.step }),
        tokens: generatedIn(turns),
        turns,
        promptTokens: () => one.system_tokens,
        shared: { environment: 'airline', tokens: one.system_tokens },
        task: 'agent',
        ...(correct === undefined ? undefined : { correct }),
        fromText: false,
      },
    ];
  },
} satisfies DumpReader);
