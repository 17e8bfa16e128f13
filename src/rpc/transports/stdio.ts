/** Serves standard input and output as one connection. The server stops when its input ends. */
import type { Readable, Writable } from 'node:stream';
import type { RpcServer } from '../server.ts';
import { serveStreams } from './duplex.ts';

/** The methods of `Readable` that are needed, declared here so that the types do not depend on Node's types. */
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

/** The members of `Writable` that are needed. */
export interface OutputStream {
  /** Listens for `drain`, `error` and `close`. */
  on(event: string, listener: (...values: never[]) => void): unknown;
  /** Writes text; returns false if the buffer is full. */
  write(text: string): boolean;
  /** Bytes in the buffer. */
  readonly writableLength: number;
  /** Closes the stream. */
  destroy(): unknown;
}

/** Replacements for the streams of the process, for tests, and for hosts that start the process in another way. */
export interface StdioStreams {
  /** Source of calls; standard input if absent. */
  readonly input?: InputStream;
  /** Destination of answers; standard output if absent. */
  readonly output?: OutputStream;
}

/** Serves one client. Resolves when the input has ended and all answers are written. */
export async function serveStdio(server: RpcServer, streams: StdioStreams = {}): Promise<void> {
  const { input = process.stdin, output = process.stdout } = streams;
  const served = serveStreams(server, input as Readable, output as Writable, () => {
    input.destroy();
    output.destroy();
  });
  await served?.done;
  server.close();
}
