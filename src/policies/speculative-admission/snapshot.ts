/** What a snapshot holds. What can be derived (loads, lines, heaps) is not in it but built again. */
import { z } from 'zod';
import { promptDeferred } from '../../schemas/decisions/prompts.ts';
import { keptResponse, prompt as promptSchema } from '../../schemas/prompts.ts';
import { mostRequests } from './schema.ts';
import { grid } from './speculation.ts';

const whole = z.int().nonnegative();
const time = z.number();
const optionalTime = z.number().nullable();

const laneSchema = z.strictObject({
  domain: z.string().nullable(),
  quota: whole,
  target: whole,
  admitted: whole,
  counted: whole,
  awaiting: whole,
  exhausted: z.boolean(),
});
const roundSchema = z
  .strictObject({
    id: z.string(),
    kind: z.enum(['short', 'long']),
    weightVersion: whole,
    openedAt: time,
    completedAt: time,
    responses: whole,
    factor: z.number(),
    lanes: z.array(laneSchema),
    counted: whole,
    inFlight: whole,
    duplicates: whole,
    onlyDuplicates: z.boolean(),
  })
  // Each quota is rounded up by itself.
  .refine(({ responses, lanes }) => lanes.reduce((sum, one) => sum + one.target * responses, 0) <= 2 * mostRequests, {
    message: `expected at most ${2 * mostRequests} requests`,
    path: ['responses'],
  });
const responseSchema = z.strictObject({
  index: whole,
  status: z.enum(['pending', 'running', 'waiting', 'resuming', 'aborting', 'held', 'abandoned']),
  requestId: z.string(),
  round: z.string().nullable(),
  engine: z.string().nullable(),
  holdsSlot: z.boolean(),
  awaited: z.boolean(),
  load: whole,
  tokens: whole,
  weightVersions: z.array(whole),
  reward: z.number().nullable(),
  failures: z.strictObject({ infrastructure: whole, data: whole, environment: whole }),
  resume: keptResponse.nullable(),
  cause: z.enum(['planned', 'retry_infrastructure', 'retry_data', 'retry_environment', 'host_restarted']),
  order: whole,
  since: time,
});
const promptStateSchema = z.strictObject({
  spec: promptSchema,
  seq: whole,
  lane: whole.nullable(),
  status: z.enum(['standby', 'active', 'collected', 'passed', 'counted', 'settling']),
  attemptBase: whole,
  firstPrefix: whole,
  startVersion: whole,
  responses: z.array(responseSchema),
  held: whole,
  rewards: whole,
  unsettled: whole,
  settling: z.strictObject({ roundId: z.string(), reason: promptDeferred.schema.shape.reason }).nullable(),
});

/** Schema of the saved state. */
export const admissionSnapshot = z.strictObject({
  round: roundSchema.nullable(),
  draining: z.array(roundSchema),
  recentRounds: z.array(z.string()),
  prompts: z.array(promptStateSchema),
  settling: z.array(promptStateSchema),
  aborting: z
    .array(z.strictObject({ promptId: z.string(), response: responseSchema }))
    .describe('Unconfirmed aborts of prompts that have left, or have tried again since.'),
  engines: z.array(z.strictObject({ id: z.string(), active: z.boolean() })),
  timers: z.strictObject({ abortGrace: optionalTime, responseTimeout: optionalTime }),
  rounds: whole,
  seq: whole,
  weightVersion: whole,
  nextAttempt: whole,
  prefix: z.string(),
  oldPrefixes: z.array(z.string()),
  restarts: whole,
  departures: z.strictObject({
    horizon: whole,
    launched: z.array(
      z.strictObject({
        promptId: z.string(),
        first: whole,
        last: whole,
        indices: whole,
        firstPrefix: whole,
        lastPrefix: whole,
      }),
    ),
  }),
  exhausted: z.strictObject({ all: z.boolean(), domains: z.array(z.string()) }),
  exploration: z.strictObject({
    rounds: z.array(whole),
    seconds: z.array(z.number()),
    deferred: z.array(whole),
    longRounds: whole,
    longSeconds: z.number(),
    chosen: z.number().max(Math.max(...grid)),
  }),
});

export type SavedAdmission = z.output<typeof admissionSnapshot>;
export type SavedRound = SavedAdmission['draining'][number];
export type SavedPrompt = SavedAdmission['prompts'][number];
export type SavedResponse = SavedPrompt['responses'][number];

/**
 * Version 1 remembered every prefix, and no request of prompts that had left. Whatever else it says is left for the check
 * of the state to refuse, with its path.
 */
export function migrateFromOne(given: unknown): unknown {
  const saved = structuredClone(given) as Partial<SavedAdmission> | null;
  if (!Array.isArray(saved?.oldPrefixes)) return saved;
  for (const list of [saved.prompts, saved.settling]) {
    if (!Array.isArray(list)) continue;
    for (const prompt of list) if (typeof prompt === 'object' && prompt !== null) prompt.firstPrefix = 0;
  }
  saved.restarts = saved.oldPrefixes.length;
  // Whatever has an attempt number that was reached may have been minted.
  saved.departures = { horizon: saved.nextAttempt as number, launched: [] };
  return saved;
}
