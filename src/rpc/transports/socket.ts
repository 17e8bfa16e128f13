/** Unix sockets and TCP: any number of connections, which share the sessions. */
import { chmodSync, lstatSync, rmSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { systemClock } from '../../core/machine/clock.ts';
import { PolicyError, refuse } from '../../errors.ts';
import type { RpcServer } from '../server.ts';
import { serveStreams } from './duplex.ts';

/** Address to listen on: the path of a Unix socket, or a TCP port. */
export type Address = { readonly path: string } | { readonly port: number; readonly host?: string };

/** A server that listens. */
export interface Listening {
  /** The address: `/path/of/socket`, or `127.0.0.1:41233`. */
  readonly address: string;
  /** The TCP port; absent for a Unix socket. */
  readonly port: number | undefined;
  /** Stops accepting connections and calls; writes the answers, and then closes sessions and connections. */
  close(): Promise<void>;
}

/** Seconds that all clients together have to read their answers while the server stops. */
const farewellSeconds = 5;
/** Seconds that an idle client has to close its socket, because it may not notice the end. */
const lingerSeconds = 0.5;

interface Client {
  readonly socket: Socket;
  /** Stops reading calls. Resolves when the received calls are answered. */
  stop(): Promise<void>;
}

function serveSocket(server: RpcServer, socket: Socket, clients: Set<Client>): void {
  socket.setNoDelay(true);
  socket.on('error', () => socket.destroy());
  const served = serveStreams(server, socket, socket, () => socket.destroy());
  if (served === undefined) return;
  void served.done.then(() => socket.end());
  const client: Client = { socket, stop: () => served.stop() };
  clients.add(client);
  socket.on('close', () => clients.delete(client));
}

/** Ends a socket. Resolves when the client has closed the socket, or `lingerSeconds` after everything is written. */
const ended = (socket: Socket): Promise<void> =>
  new Promise((resolve) => {
    if (socket.destroyed) return resolve();
    socket.once('close', () => resolve());
    socket.end(() => systemClock.after(lingerSeconds, resolve));
    socket.resume();
  });

/** Waits until clients have read their answers, at most `farewellSeconds`. */
async function farewell(server: RpcServer, clients: ReadonlySet<Client>): Promise<void> {
  let cancel = (): void => undefined;
  const late = new Promise<void>((resolve) => (cancel = systemClock.after(farewellSeconds, resolve)));
  const soon = (all: Promise<void>[]): Promise<unknown> => Promise.race([Promise.all(all), late]);
  await soon([...clients].map((one) => one.stop()));
  // Subscribers are notified while their connections are still open.
  server.sessions.closeAll();
  await soon([...clients].map(({ socket }) => ended(socket)));
  cancel();
}

/** Whether a server is listening on a Unix socket. */
function isAlive(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = connect(path, () => {
      probe.destroy();
      resolve(true);
    });
    probe.on('error', () => resolve(false));
  });
}

/** Removes the socket of a killed server; refuses a socket in use, and any other kind of file. */
async function makeRoom(path: string): Promise<void> {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return;
  const inUse = found.isSocket() ? await isAlive(path) : true;
  if (!inUse) return rmSync(path, { force: true });
  const got = found.isSocket() ? `${path}, where a server listens` : `${path}, which is no socket`;
  refuse('invalid_input', '--socket', 'a path that is free', got);
}

/** Converts errors about the address to refusals; returns any other error unchanged. */
function refused(error: NodeJS.ErrnoException, address: Address): Error {
  if (!['EADDRINUSE', 'EADDRNOTAVAIL', 'ENOTFOUND'].includes(error.code ?? '')) return error;
  const got = 'path' in address ? address.path : `${address.host ?? '127.0.0.1'}:${address.port} (${error.code})`;
  return new PolicyError('invalid_input', { expected: 'an address that is free', got, path: 'address', cause: error });
}

/** Listens on an address. Only the owner may use a Unix socket. */
async function listen(listener: Server, address: Address): Promise<void> {
  const isPath = 'path' in address;
  if (isPath) await makeRoom(address.path);
  const before = isPath ? process.umask(0o177) : 0;
  try {
    await new Promise<void>((resolve, reject) => {
      listener.once('error', (error: NodeJS.ErrnoException) => reject(refused(error, address)));
      if (isPath) listener.listen(address.path, resolve);
      else listener.listen(address.port, address.host ?? '127.0.0.1', resolve);
    });
  } finally {
    if (isPath) process.umask(before);
  }
  if (isPath) chmodSync(address.path, 0o600);
}

/**
 * Listens on a Unix socket or a TCP port.
 *
 * TCP needs a server with `isToken`: otherwise anybody who can reach the port could use the server.
 *
 * @throws PolicyError `invalid_config` for TCP without a token, `invalid_input` for an address in use; the system's error if it
 *   cannot listen for another reason
 */
export async function listenOn(server: RpcServer, address: Address): Promise<Listening> {
  if ('port' in address && !server.asksForToken) refuse('invalid_config', 'isToken', 'a server with a token', 'none');
  const clients = new Set<Client>();
  const listener = createServer({ allowHalfOpen: true }, (socket) => serveSocket(server, socket, clients));
  await listen(listener, address);
  const bound = listener.address();
  const port = typeof bound === 'object' && bound !== null ? bound.port : undefined;
  const host = 'port' in address ? (address.host ?? '127.0.0.1') : '';
  return {
    address: 'path' in address ? address.path : `${host.includes(':') ? `[${host}]` : host}:${port}`,
    port,
    async close() {
      const closed = new Promise<void>((resolve) => listener.close(() => resolve()));
      await farewell(server, clients);
      server.close();
      await closed;
    },
  };
}
