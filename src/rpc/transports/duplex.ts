/** Connects a pair of Node streams to the server. */
import type { Readable, Writable } from 'node:stream';
import { systemClock } from '../../core/machine/clock.ts';
import type { Link } from '../connection/link.ts';
import type { RpcServer } from '../server.ts';

function linkOver(output: Writable, destroy: () => void): Link {
  let gone = false;
  const waiters = new Set<() => void>();
  const tell = (): void => {
    for (const settle of waiters) settle();
    waiters.clear();
  };
  output.on('drain', tell);
  output.on('close', () => {
    gone = true;
    tell();
  });
  return {
    write(text) {
      if (!gone && !output.destroyed && !output.writableEnded) output.write(text);
    },
    get waiting() {
      return gone || output.destroyed ? 0 : output.writableLength;
    },
    drained() {
      if (gone || output.destroyed || !output.writableNeedDrain) return Promise.resolve();
      return new Promise((resolve) => waiters.add(resolve));
    },
    destroy() {
      gone = true;
      tell();
      destroy();
    },
  };
}

/**
 * Waits until all output is written. Closes the connection if the client does not read in time, because no other timeout applies
 * any more.
 */
function flushed(output: Writable, seconds: number, destroy: () => void): Promise<void> {
  return new Promise((resolve) => {
    if (output.destroyed || output.writableLength === 0) return resolve();
    const cancel = systemClock.after(seconds, destroy);
    const done = (): void => {
      cancel();
      resolve();
    };
    // The callback of an empty write shows that the stream is flushed; `drain` comes only if the buffer was full.
    output.write('', done);
    output.once('close', done);
  });
}

/** A connection over streams. */
export interface ServedStreams {
  /** Resolves when the input has ended and all answers are written, or when the connection is closed. */
  readonly done: Promise<void>;
  /** Stops reading calls. Resolves when the received calls are answered, and their answers can be written. */
  stop(): Promise<void>;
}

/**
 * Serves one connection over streams. No more input is read until the received calls are answered and there is room for more
 * answers.
 *
 * @returns nothing if the server has too many connections
 */
export function serveStreams(
  server: RpcServer,
  input: Readable,
  output: Writable,
  destroy: () => void,
): ServedStreams | undefined {
  const connection = server.connect(linkOver(output, destroy));
  if (connection === undefined) return undefined;
  let stopped = false;
  const done = new Promise<void>((resolve) => {
    const gone = (): void => {
      connection.close();
      resolve();
    };
    input.on('data', (bytes: Uint8Array) => {
      // Input is still read and dropped: if a socket is closed with unread bytes, its last answers are lost.
      if (stopped) return;
      input.pause();
      connection.receive(bytes).then(() => input.resume(), gone);
    });
    let ending = false;
    const end = (): void => {
      if (ending) return;
      ending = true;
      connection
        .finish()
        .then(() => flushed(output, server.limits.stallSeconds, destroy))
        .then(resolve, gone);
    };
    input.on('end', end);
    input.on('close', end);
    // A broken connection is no error of the server.
    input.on('error', gone);
    output.on('error', gone);
    output.on('close', gone);
  });
  return {
    done,
    stop() {
      stopped = true;
      return connection.settled();
    },
  };
}
