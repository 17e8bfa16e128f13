/** Faults of an engine: each happens at once, or at the time in its fields. */
import { z } from 'zod';

const seconds = z.number().nonnegative();
const where = {
  engine: z.int().nonnegative().optional().describe('Number of the engine; all of them if not given.'),
  at: seconds.optional().describe('Simulated seconds at which it happens; at once if not given.'),
};

const faults = [
  z.strictObject({
    fault: z.literal('crash').describe('Connections are reset, and refused from then on; all requests are lost.'),
    ...where,
    restartAfterSeconds: seconds.optional().describe('When it comes back, empty, with its first weights.'),
  }),
  z.strictObject({ fault: z.literal('restart').describe('An engine that has crashed comes back.'), ...where }),
  z.strictObject({
    fault: z.literal('reset').describe('Connections with requests are reset; the engine finds out later.'),
    ...where,
    rid: z.string().optional().describe('Only requests whose id begins so.'),
  }),
  z.strictObject({
    fault: z.literal('hang').describe('Connections are taken, nothing is answered or generated.'),
    ...where,
    seconds: seconds.optional().describe('For so long; until `resume` if not given.'),
  }),
  z.strictObject({ fault: z.literal('resume').describe('An engine that hangs goes on.'), ...where }),
  z.strictObject({
    fault: z.literal('slow').describe('Everything takes so many times as long.'),
    ...where,
    factor: z.number().positive(),
  }),
  z.strictObject({
    fault: z.literal('shrink-kv').describe('So many tokens fit the KV cache from now on.'),
    ...where,
    tokens: z.int().positive(),
  }),
  z.strictObject({
    fault: z.literal('ignore-aborts').describe('The next aborts are answered as always, and forgotten.'),
    ...where,
    count: z.int().positive().default(1),
  }),
  z.strictObject({
    fault: z.literal('refuse').describe('The next requests are answered with an error.'),
    ...where,
    count: z.int().positive().default(1),
    status: z.int().min(400).max(599).default(503),
  }),
] as const;

/** Names of the faults. */
export const faultNames: readonly string[] = faults.map((one) => one.shape.fault.value);

export const faultSchema = z.discriminatedUnion('fault', faults);

/** A fault. */
export type Fault = z.output<typeof faultSchema>;
