/** Standard input and output: one connection, and the server leaves when its input ends. */
import type { Readable, Writable } from 'node:stream';
import type { RpcServer } from '../server.ts';
import { serveStreams } from './duplex.ts';

/** Streams other than those of the process, for tests and for hosts that spawn it in some other way. */
export interface StdioStreams {
  readonly input?: Readable;
  readonly output?: Writable;
}

/** Serves one client; settles when its input has ended and everything is written. */
export async function serveStdio(server: RpcServer, streams: StdioStreams = {}): Promise<void> {
  const { input = process.stdin, output = process.stdout } = streams;
  await serveStreams(server, input, output, () => {
    input.destroy();
    output.destroy();
  });
  server.close();
}
