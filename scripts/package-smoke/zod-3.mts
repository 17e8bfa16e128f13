/** A consumer on zod 3: its schemas beside those of rollflex, which are zod 4. Neither takes the other's. */
import { create, defineEvent, definePlanner, isPolicyError, tailBatching, z } from 'rollflex';
import { z as own } from 'zod';

function check(fine: boolean, what: string): asserts fine {
  if (!fine) throw new Error(what);
}

// zod 3 reads a setting, rollflex takes what it gives.
const settings = own
  .object({ prompts: own.number().int().positive(), perPrompt: own.number().int().default(2) })
  .strict();
const { prompts, perPrompt }: own.infer<typeof settings> = settings.parse({ prompts: 2 });
const tail = create(tailBatching, { promptsPerRound: prompts, responsesPerPrompt: perPrompt });
const [planned] = tail.send({ type: 'round.requested', at: 0, roundId: 'r1', weightVersion: 1 });
check(planned?.type === 'round.planned' && planned.kind === 'short', 'a round is planned');
// A decision is plain JSON: zod 3 reads it too.
check(own.object({ type: own.literal('round.planned'), at: own.number() }).safeParse(planned).success, 'and read');
check(z.int().safeParse(1).success && typeof create === 'function', 'z is the zod of rollflex');

function refused(call: () => unknown): string {
  try {
    call();
  } catch (error) {
    if (isPolicyError(error)) return error.message;
    throw error;
  }
  return 'nothing thrown';
}

const sum = { id: 'acme/sum', version: 1, summary: 'Adds.', source: 'acme' };
const input = own.object({ numbers: own.array(own.number()) });
const plan = z.strictObject({ total: z.number() });
const compute = ({ numbers }: { numbers: number[] }): { total: number } => ({
  total: numbers.reduce((total, one) => total + one, 0),
});
// @ts-expect-error a schema of zod 3
const planner = refused(() => definePlanner({ ...sum, input, plan, compute }));
check(/zod 4/.test(planner), `a schema of zod 3 was not refused: ${planner}`);
// @ts-expect-error a schema of zod 3
const message = refused(() => defineEvent('acme/a', 'A thing.', { tokens: own.number() }));
check(/zod 4/.test(message), `a field of zod 3 was not refused: ${message}`);
