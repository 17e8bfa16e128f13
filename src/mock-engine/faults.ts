/** What can go wrong with an engine, as a plan or at once. */
import { z } from 'zod';

const engine = z.int().nonnegative().optional().describe('Number of the engine; all of them if not given.');
const seconds = z.number().nonnegative();

const faults = [
  z.strictObject({
    fault: z.literal('crash').describe('Connections are reset, and refused from then on; all requests are lost.'),
    engine,
    restartAfterSeconds: seconds.optional().describe('When it comes back, empty, with its first weights.'),
  }),
  z.strictObject({ fault: z.literal('restart').describe('An engine that has crashed comes back.'), engine }),
  z.strictObject({
    fault: z.literal('reset').describe('Connections with requests are reset; the engine finds out later.'),
    engine,
    rid: z.string().optional().describe('Only requests whose id begins so.'),
  }),
  z.strictObject({
    fault: z.literal('hang').describe('Connections are taken, nothing is answered or generated.'),
    engine,
    seconds: seconds.optional().describe('For so long; until `resume` if not given.'),
  }),
  z.strictObject({ fault: z.literal('resume').describe('An engine that hangs goes on.'), engine }),
  z.strictObject({
    fault: z.literal('slow').describe('Everything takes so many times as long.'),
    engine,
    factor: z.number().positive(),
  }),
  z.strictObject({
    fault: z.literal('shrink-kv').describe('So many tokens fit the KV cache from now on.'),
    engine,
    tokens: z.int().positive(),
  }),
  z.strictObject({
    fault: z.literal('ignore-aborts').describe('The next aborts are answered as always, and forgotten.'),
    engine,
    count: z.int().positive().default(1),
  }),
  z.strictObject({
    fault: z.literal('refuse').describe('The next requests are answered with an error.'),
    engine,
    count: z.int().positive().default(1),
    status: z.int().min(400).max(599).default(503),
  }),
] as const;

/** Names of the faults. */
export const faultNames: readonly string[] = faults.map((one) => one.shape.fault.value);

/** Schema of a fault. */
export const faultSchema = z.discriminatedUnion('fault', faults, {
  error: ({ code }) => (code === 'invalid_union' ? `one of ${faultNames.join(', ')}` : undefined),
});

/** A fault. */
export type Fault = z.output<typeof faultSchema>;

/** A fault that has a time: at once if there is none. */
export type PlannedFault = Fault & { readonly at?: number | undefined };

/** Schema of a fault that has a time. */
export const plannedFaultSchema: z.ZodType<PlannedFault, z.input<typeof faultSchema> & { readonly at?: number }> =
  z.intersection(
    z.object({ at: seconds.optional().describe('Simulated seconds at which it happens.') }),
    z.preprocess(withoutTime, faultSchema),
  ) as never;

function withoutTime(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const { at: _, ...fault } = value as Record<string, unknown>;
  return fault;
}
