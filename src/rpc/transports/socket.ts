/** Unix sockets and TCP: any number of connections, which share the sessions. */
import { chmodSync, lstatSync, rmSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { PolicyError, refuse } from '../../errors.ts';
import { systemClock } from '../clock.ts';
import type { RpcServer } from '../server.ts';
import { serveStreams } from './duplex.ts';

/** Address to listen on: the path of a Unix socket, or a TCP port. */
export type Address = { readonly path: string } | { readonly port: number; readonly host?: string };

/** A server that listens. */
export interface Listening {
  /** `/path/of/socket`, or `127.0.0.1:41233`. */
  readonly address: string;
  /** The TCP port; absent for a Unix socket. */
  readonly port: number | undefined;
  /** Stops taking connections and calls; answers are written, then sessions and connections are closed. */
  close(): Promise<void>;
}

/** Time that all clients together have to read their answers when the server stops, in seconds. */
const farewellSeconds = 5;
/** Time that an idle client has to close its socket, in seconds: it may not notice the end. */
const lingerSeconds = 0.5;

interface Client {
  readonly socket: Socket;
  /** Stops reading calls; settles when the received ones are answered. */
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

/** Ends a socket; settles when the client has closed it, or `lingerSeconds` after all is written. */
const ended = (socket: Socket): Promise<void> =>
  new Promise((resolve) => {
    if (socket.destroyed) return resolve();
    socket.once('close', () => resolve());
    socket.end(() => systemClock.after(lingerSeconds, resolve));
    socket.resume();
  });

/** Waits until the clients have read their answers, `farewellSeconds` at most. */
async function farewell(server: RpcServer, clients: ReadonlySet<Client>): Promise<void> {
  let cancel = (): void => undefined;
  const late = new Promise<void>((resolve) => (cancel = systemClock.after(farewellSeconds, resolve)));
  const soon = (all: Promise<void>[]): Promise<unknown> => Promise.race([Promise.all(all), late]);
  await soon([...clients].map((one) => one.stop()));
  // Subscribers are told while their connections are open.
  server.sessions.closeAll();
  await soon([...clients].map(({ socket }) => ended(socket)));
  cancel();
}

/** Whether a server answers at a Unix socket. */
function isAlive(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = connect(path, () => {
      probe.destroy();
      resolve(true);
    });
    probe.on('error', () => resolve(false));
  });
}

/** Removes a socket that a killed server has left; refuses one in use, or a file of another kind. */
async function makeRoom(path: string): Promise<void> {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return;
  const inUse = found.isSocket() ? await isAlive(path) : true;
  if (!inUse) return rmSync(path, { force: true });
  const got = found.isSocket() ? `${path}, where a server listens` : `${path}, which is no socket`;
  refuse('invalid_input', '--socket', 'a path that is free', got);
}

/** Converts errors of the address to refusals; any other error is the system's. */
function refused(error: NodeJS.ErrnoException, address: Address): Error {
  if (!['EADDRINUSE', 'EADDRNOTAVAIL', 'ENOTFOUND'].includes(error.code ?? '')) return error;
  const got = 'path' in address ? address.path : `${address.host ?? '127.0.0.1'}:${address.port} (${error.code})`;
  return new PolicyError('invalid_input', { expected: 'an address that is free', got, path: 'address', cause: error });
}

/** Listens at an address. Only the owner may use a Unix socket. */
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
 * Listens at a Unix socket or a TCP port.
 *
 * TCP needs a server with `isToken`: otherwise anybody who reaches the port could use it.
 *
 * @throws PolicyError `invalid_config` for TCP without a token, `invalid_input` for an address that is taken; the
 *   system's error where it cannot listen for another reason
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
