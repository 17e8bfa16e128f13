/** Standard input and output: one connection, and the server stops when its input ends. */
import type { Readable, Writable } from 'node:stream';
import type { RpcServer } from '../server.ts';
import { serveStreams } from './duplex.ts';

/** Subset of `Readable`, declared here so that the types need none of Node's. */
export interface InputStream {
  /** Listens for `data`, `end`, `error` and `close`. */
  on(event: string, listener: (...values: never[]) => void): unknown;
  /** Stops the flow of data. */
  pause(): unknown;
  /** Resumes the flow of data. */
  resume(): unknown;
  /** Closes the stream. */
  destroy(): unknown;
}

/** Subset of `Writable`. */
export interface OutputStream {
  /** Listens for `drain`, `error` and `close`. */
  on(event: string, listener: (...values: never[]) => void): unknown;
  /** Writes text; false if the buffer is full. */
  write(text: string): boolean;
  /** Bytes that wait in the buffer. */
  readonly writableLength: number;
  /** Closes the stream. */
  destroy(): unknown;
}

/** Streams other than those of the process, for tests and for hosts that spawn it in some other way. */
export interface StdioStreams {
  /** Source of calls; standard input if absent. */
  readonly input?: InputStream;
  /** Destination of answers; standard output if absent. */
  readonly output?: OutputStream;
}

/** Serves one client; settles when its input has ended and all answers are written. */
export async function serveStdio(server: RpcServer, streams: StdioStreams = {}): Promise<void> {
  const { input = process.stdin, output = process.stdout } = streams;
  const served = serveStreams(server, input as Readable, output as Writable, () => {
    input.destroy();
    output.destroy();
  });
  await served?.done;
  server.close();
}
