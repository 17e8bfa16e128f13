/** A server whose sessions survive a restart: every step is on disk before an answer or a decision shows it. */
import { z } from 'zod';
import { systemClock } from '../core/machine/clock.ts';
import { parse } from '../core/machine/validate.ts';
import type { PolicyError } from '../errors.ts';
import { Journal } from './journal/journal.ts';
import { openStore, type Store } from './journal/store.ts';
import { RpcServer } from './server.ts';
import type { ServerOptions } from './service.ts';

/** Schema of {@link DurableOptions}; the options of `rollflex serve` are made from it. */
export const durableSchema = z.strictObject({
  stateDir: z.string().min(1).describe('Directory of the sessions; one server at a time.'),
  fsync: z
    .enum(['always', 'interval'])
    .default('always')
    .describe(
      'When an answer may go out: when its events are on the disk (always), or when the system has them, which ' +
        'writes them within a second (interval): then a crash of the machine, not of the server, may lose that second.',
    ),
  snapshotEvents: z
    .int()
    .min(1)
    .max(10_000_000)
    .default(10_000)
    .describe(
      'Events of a session, besides 4 for each id in flight, after which a snapshot takes the place of its journal: bounds ' +
        'the time of recovery.',
    ),
});

/** Options of a state directory, which stores the sessions. */
export type DurableOptions = z.input<typeof durableSchema>;

/** A server with its state directory. */
export interface DurableServer {
  /** The server, with the sessions from the disk. */
  readonly server: RpcServer;
  /** Rejects once the directory cannot be written; after that, no call is answered. */
  readonly failed: Promise<never>;
  /** Closes the connections, saves snapshots of the sessions, and releases the directory. */
  close(): Promise<void>;
}

/**
 * Opens a state directory, restores its sessions, and makes a server for them.
 *
 * An answer or a streamed decision goes out only after all steps that it depends on are stored. So every step that a client has
 * seen survives `kill -9`, and any other step is stored whole or not at all.
 *
 * @throws PolicyError `invalid_config`; `invalid_input` for a directory that another server uses, or that holds other files;
 *   `snapshot_mismatch` for a damaged store, or steps that this version cannot replay
 */
export async function openDurableServer(options: DurableOptions & ServerOptions): Promise<DurableServer> {
  const { stateDir, fsync, snapshotEvents, ...rest } = options;
  const durable = parse(durableSchema, { stateDir, fsync, snapshotEvents }, 'invalid_config');
  return serverOver(await openStore(durable.stateDir), { ...durable, ...rest });
}

/** Restores the sessions of a store, and makes a server for them. Throws as {@link openDurableServer} does; then the store is closed. */
export async function serverOver(
  store: Store,
  options: Omit<z.output<typeof durableSchema>, 'stateDir'> & ServerOptions,
): Promise<DurableServer> {
  const { fsync, snapshotEvents, ...rest } = options;
  const { version = 'unknown', meter, clock = systemClock } = rest;
  let failed: (error: unknown) => void = () => undefined;
  const failure = new Promise<never>((_, reject) => (failed = reject));
  // Without a handler, an unhandled rejection would end the process.
  failure.catch(() => undefined);
  const committed = (operations: number, seconds: number): void => meter?.committed(operations, seconds);
  const { warn = () => undefined } = rest;
  const misread = (session: string, { code, message }: PolicyError): void =>
    warn(
      `session ${JSON.stringify(session)}: its snapshot could not be read back (${code}, ${message}). Its steps are kept instead, for this version`,
    );
  const journal = new Journal(store, { fsync, snapshotEvents, version, clock, failed, committed, misread });
  const server = new RpcServer({ ...rest, journal });
  try {
    for await (const found of journal.recover()) {
      const aside = server.sessions.restore(found);
      if (aside !== undefined) warn(aside.told);
    }
    server.sessions.restored();
  } catch (error) {
    await store.close();
    throw error;
  }
  return {
    server,
    failed: failure,
    async close() {
      server.close();
      await journal.close();
    },
  };
}
