/** Reads the saved retries and streams of a session, to continue it in another server. */
import { z } from 'zod';
import { parse } from '../../core/machine/validate.ts';
import { policyErrorCodes, refuse } from '../../errors.ts';
import type { ServerLimits } from '../methods/limits.ts';
import { exceeded } from '../methods/refusals.ts';
import type { SavedDelivery } from './delivery.ts';

const count = z.int().nonnegative();
const decisions = z.array(z.looseObject({ type: z.string() }));
const answerFields = { pages: z.strictObject({ more: z.string().max(64), decisions }).optional() };
const refused = z.strictObject({
  code: z.int(),
  message: z.string(),
  data: z.looseObject({ code: z.enum(policyErrorCodes), path: z.string(), expected: z.string(), got: z.string() }),
});
const answer = z.union([
  z.strictObject({ ...answerFields, result: z.looseObject({ seq: count }) }),
  z.strictObject({ ...answerFields, error: refused }),
]);
const producer = z.strictObject({
  name: z.string().min(1).max(256),
  nextSeq: count,
  kept: z.array(z.strictObject({ firstSeq: count, events: count, digest: z.int().optional(), answer })),
});
const schema = z.strictObject({
  producers: z.array(producer),
  answers: z.strictObject({ made: count, kept: z.array(z.tuple([z.string(), decisions])) }),
  stream: z.strictObject({ acknowledged: count, backlog: decisions }).optional(),
});

/** Reads the saved state. Throws `snapshot_mismatch` for a malformed value, or for another kind of delivery; `limit_exceeded`. */
export function openDelivery(value: unknown, deliver: 'reply' | 'stream', limits: ServerLimits): SavedDelivery {
  const found = parse(schema, value, 'snapshot_mismatch', 'delivery') as unknown as SavedDelivery;
  if ((found.stream !== undefined) !== (deliver === 'stream')) {
    refuse(
      'snapshot_mismatch',
      'delivery.stream',
      `that of a session with deliver: ${deliver}`,
      found.stream ?? 'none',
    );
  }
  const { length } = found.producers;
  if (length > limits.maxProducers)
    exceeded('maxProducers', 'delivery.producers', `at most ${limits.maxProducers}`, length);
  return found;
}
