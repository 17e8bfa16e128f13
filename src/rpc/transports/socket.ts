/** Unix sockets and TCP: any number of connections, which share the sessions. */
import { chmodSync, lstatSync, rmSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { PolicyError } from '../../errors.ts';
import type { RpcServer } from '../server.ts';
import { serveStreams } from './duplex.ts';

/** Where to listen. */
export type Address = { readonly path: string } | { readonly port: number; readonly host?: string };

/** A server that listens. */
export interface Listening {
  /** `/path/of/socket`, or `127.0.0.1:41233`. */
  readonly address: string;
  /** The port of TCP. */
  readonly port: number | undefined;
  /** Stops: no further connections, all sessions and connections closed. */
  close(): Promise<void>;
}

function serveSocket(server: RpcServer, socket: Socket): void {
  socket.setNoDelay(true);
  socket.on('error', () => socket.destroy());
  const served = serveStreams(server, socket, socket, () => socket.destroy());
  void served?.then(() => socket.end());
}

/** Whether somebody answers at a Unix socket. */
function isAlive(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = connect(path, () => {
      probe.destroy();
      resolve(true);
    });
    probe.on('error', () => resolve(false));
  });
}

/** A socket that a killed server has left is removed; one in use, or a file of another kind, is refused. */
async function makeRoom(path: string): Promise<void> {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return;
  const inUse = found.isSocket() ? await isAlive(path) : true;
  if (!inUse) return rmSync(path, { force: true });
  const got = found.isSocket() ? `${path}, where a server listens` : `${path}, which is no socket`;
  throw new PolicyError('invalid_input', { expected: 'a path that is free', got, path: '--socket' });
}

/** An address that cannot be had is the caller's; anything else is the system's. */
function refused(error: NodeJS.ErrnoException, address: Address): Error {
  if (!['EADDRINUSE', 'EADDRNOTAVAIL', 'ENOTFOUND'].includes(error.code ?? '')) return error;
  const got = 'path' in address ? address.path : `${address.host ?? '127.0.0.1'}:${address.port} (${error.code})`;
  return new PolicyError('invalid_input', { expected: 'an address that is free', got, path: 'address', cause: error });
}

/** Unix sockets are for their owner only. */
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
 * TCP needs a server with `isToken`: whoever reaches the port could use it.
 *
 * @throws PolicyError `invalid_config` for TCP without a token, `invalid_input` for an address that is taken; the
 *   system's error where it cannot listen for another reason
 */
export async function listenOn(server: RpcServer, address: Address): Promise<Listening> {
  if ('port' in address && !server.asksForToken) {
    throw new PolicyError('invalid_config', { expected: 'a server with a token', got: 'none', path: 'isToken' });
  }
  const listener = createServer({ allowHalfOpen: true }, (socket) => serveSocket(server, socket));
  await listen(listener, address);
  const bound = listener.address();
  const port = typeof bound === 'object' && bound !== null ? bound.port : undefined;
  const host = 'port' in address ? (address.host ?? '127.0.0.1') : '';
  return {
    address: 'path' in address ? address.path : `${host.includes(':') ? `[${host}]` : host}:${port}`,
    port,
    close() {
      const closed = new Promise<void>((resolve) => listener.close(() => resolve()));
      server.close();
      return closed;
    },
  };
}
