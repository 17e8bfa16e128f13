/** Connects a pair of Node streams to the server. */
import type { Readable, Writable } from 'node:stream';
import { systemClock } from '../clock.ts';
import type { Link } from '../link.ts';
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

/** Waits until all output is written. A client that does not read in time is cut off: no other timeout applies any more. */
function flushed(output: Writable, seconds: number, destroy: () => void): Promise<void> {
  return new Promise((resolve) => {
    if (output.destroyed || output.writableLength === 0) return resolve();
    const cancel = systemClock.after(seconds, destroy);
    const done = (): void => {
      cancel();
      resolve();
    };
    // An empty write tells when the stream is flushed: `drain` comes only if it was full.
    output.write('', done);
    output.once('close', done);
  });
}

/** A connection over streams. */
export interface ServedStreams {
  /** Settles when the input has ended and all answers are written, or when the connection is gone. */
  readonly done: Promise<void>;
  /** Stops reading calls; settles when the received ones are answered, and the answers can be written. */
  stop(): Promise<void>;
}

/**
 * Serves one connection over streams. No input is read before the received calls are answered and the answers have room.
 *
 * @returns nothing where the server has no room for a connection
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
      // Input is still read and dropped: a socket closed with unread bytes would lose its last answers.
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
    // A broken connection is not an error of the server.
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
