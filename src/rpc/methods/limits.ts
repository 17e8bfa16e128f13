/** Limits of a server, each with a safe default. Exceeding a limit gives an error, never a crash. */
import { z } from 'zod';
import { parse } from '../../core/machine/validate.ts';

const count = (least: number, most: number, usual: number, what: string) =>
  z.int().min(least).max(most).default(usual).describe(what);

/** Schema of {@link ServerLimits}; the options of `rollflex serve` are made from it. */
export const limitsSchema = z.strictObject({
  maxMessageBytes: count(1024, 1 << 29, 1 << 26, 'Bytes of one message: a line, without its line break.'),
  maxCallBytes: count(
    1024,
    1 << 29,
    1 << 21,
    'Bytes of one message other than `session.open`, whose snapshot may be larger: how long it takes to read is what others wait.',
  ),
  maxDepth: count(8, 512, 64, 'Depth to which lists and objects of a message are nested.'),
  maxBatchCalls: count(1, 100_000, 1000, 'Calls in one JSON-RPC batch.'),
  maxUnfinishedBytes: count(
    1024,
    2 ** 40,
    1 << 28,
    'Bytes of messages that have begun and not ended, of all connections; the oldest gives way. One always fits.',
  ),
  maxConnections: count(1, 100_000, 1024, 'Connections at once; a further one is closed.'),
  maxUnauthenticated: count(
    1,
    100_000,
    128,
    'Connections, besides those, that have not shown the token yet; the oldest gives way.',
  ),
  maxSessions: count(1, 1_000_000, 65_536, 'Sessions open at once.'),
  maxEventsPerCall: count(1, 1_000_000, 10_000, 'Events in one `session.send`.'),
  maxInFlightIds: count(
    1,
    100_000_000,
    1_000_000,
    'Ids that a session may hold in flight: in the ledgers of its policy, with those that it may mint for them.',
  ),
  maxEventIds: count(
    1,
    100_000_000,
    8192,
    'Ids that one event may bring, with those that the policy may mint for them: how long it takes is what others wait.',
  ),
  maxTotalIds: count(1, 1_000_000_000, 4_000_000, 'Ids in flight of all sessions, counted as for `maxInFlightIds`.'),
  maxProducers: count(1, 100_000, 256, 'Producers of a session.'),
  keptAnswers: count(1, 1000, 8, 'Last answers kept for each producer: how far back a retry may go.'),
  pageDecisions: count(1, 1_000_000, 8192, 'Decisions in one answer; `session.more` gets those that follow.'),
  pageSessions: count(1, 100_000, 1000, 'Sessions in one answer of `session.list`.'),
  maxBacklog: count(1, 10_000_000, 65_536, 'Decisions that a streaming session keeps until they are acknowledged.'),
  maxPlans: count(1, 10_000, 32, 'Plans that are computed or wait for that, of all connections.'),
  maxPlansPerConnection: count(1, 10_000, 8, 'Those of one connection.'),
  maxSubscriptions: count(1, 10_000, 64, 'Subscriptions of a session.'),
  maxOutputBytes: count(
    1024,
    1 << 30,
    1 << 24,
    'Bytes that wait for a client that does not read; past it it is cut off.',
  ),
  maxTotalOutputBytes: count(
    1024,
    2 ** 40,
    1 << 28,
    'Bytes that wait for all clients; past it, a client for whom more than its share waits is not read from until it reads.',
  ),
  stallSeconds: z
    .number()
    .positive()
    .max(86_400)
    .default(30)
    .describe('Seconds in which a client must read what waits for it, before it is cut off.'),
});

/** Limits of a server with all defaults. */
export type ServerLimits = z.output<typeof limitsSchema>;

/** Checks limits, and fills in the defaults. Throws `invalid_config`. */
export function serverLimits(limits: z.input<typeof limitsSchema> = {}): ServerLimits {
  return parse(limitsSchema, limits, 'invalid_config', 'limits');
}
