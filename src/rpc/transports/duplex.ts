/** From a pair of Node streams to a connection. */
import type { Readable, Writable } from 'node:stream';
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

/** Ends a stream once everything that waits is written. */
function flushed(output: Writable): Promise<void> {
  return new Promise((resolve) => {
    if (output.destroyed || output.writableLength === 0) resolve();
    else {
      output.once('drain', resolve);
      output.once('close', resolve);
    }
  });
}

/**
 * Serves one connection over streams. No input is read before what came is answered, and the answers have room.
 *
 * @returns settles when the input has ended and everything is written, or when the connection is gone; nothing where the
 *   server has no room for a connection
 */
export function serveStreams(
  server: RpcServer,
  input: Readable,
  output: Writable,
  destroy: () => void,
): Promise<void> | undefined {
  const connection = server.connect(linkOver(output, destroy));
  if (connection === undefined) return undefined;
  return new Promise((resolve) => {
    const gone = (): void => {
      connection.close();
      resolve();
    };
    input.on('data', (bytes: Uint8Array) => {
      input.pause();
      connection.receive(bytes).then(() => input.resume(), gone);
    });
    let ending = false;
    const end = (): void => {
      if (ending) return;
      ending = true;
      connection
        .finish()
        .then(() => flushed(output))
        .then(resolve, gone);
    };
    input.on('end', end);
    input.on('close', end);
    // A broken connection is no error of the server.
    input.on('error', gone);
    output.on('error', gone);
    output.on('close', gone);
  });
}
