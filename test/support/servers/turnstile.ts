/** A policy in several versions, which builds of the server take by `--policies`. */
import { defineDecision, defineEvent, definePolicy, handlersOf, type Live, z } from '../../../src/index.ts';
import { promptId } from '../../../src/schemas/units.ts';
import type { Of } from '../../../src/schemas/vocabulary.ts';

const asked = defineEvent('test/turn.asked', 'Somebody wants a turn.', { promptId });
const fields = { promptId, turn: z.int() };
const given = defineDecision('test/turn.given', 'command', 'The turn.', fields, { next: { before: z.int() } });
const config = z.strictObject({});

/**
 * @param version - of the saved state: 2 also keeps who asked last, and migrates a state of 1
 * @param step - from one turn to the next: another step is a policy that decides otherwise
 */
export function turnstile(version: 1 | 2, step = 1) {
  const last: z.ZodType<string | undefined> = version === 2 ? z.string() : z.undefined().optional();
  const state = z.strictObject({ turns: z.int(), last });
  const on = handlersOf<Live<z.output<typeof state>, z.output<typeof config>>, Of<typeof given>>();
  return definePolicy({
    id: 'test/turnstile',
    version,
    summary: 'Gives turns.',
    source: 'these tests',
    config,
    state,
    begin: () => ({ turns: 0, last: version === 2 ? '' : undefined }),
    migrations: version === 2 ? { 1: (saved) => ({ ...(saved as object), last: '' }) } : {},
    handlers: [
      on(asked, (turns, { promptId: one }, { at, emit }) => {
        const reason = { code: 'next', before: turns.turns } as const;
        turns.turns += step;
        if (version === 2) turns.last = one;
        emit({ type: 'test/turn.given', at, promptId: one, turn: turns.turns, reason });
      }),
    ],
    decisions: [given],
    ledgers: [],
  });
}
