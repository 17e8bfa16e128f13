/** Clients that a server must not suffer from: one that does not read, and those that have no token. */
import { connect } from 'node:net';
import { SoakClient } from './soak.ts';

/** A client that has subscribed to more than it may leave unread, and reads nothing. */
export interface SlowReader {
  /** Decisions that it should have been sent. */
  readonly due: number;
  /** Reads what the system has taken for it, until the server has closed; how many decisions that were. */
  read(): Promise<number>;
}

export async function slowReader(path: string): Promise<SlowReader> {
  const host = await SoakClient.to({ path });
  const slow = await SoakClient.to({ path });
  const session = 'slow-reader';
  const config = { promptsPerRound: 8000, responsesPerPrompt: 1, promptSpeculation: 1 };
  await host.call('session.open', { policy: 'tail-batching', config, session, deliver: 'stream' });
  await slow.call('session.subscribe', { session });
  let came = 0;
  slow.notified = () => {
    came += 1;
  };
  slow.socket.pause();
  const prompts = Array.from({ length: 8000 }, (_, index) => ({ promptId: `p${index}`, ref: 'r'.repeat(200) }));
  const { decisionSeq } = await host.call('session.send', {
    session,
    events: [
      { type: 'round.requested', at: 0, roundId: 'r', weightVersion: 1 },
      ...[0, 2000, 4000, 6000].map((from) => ({
        type: 'prompts.supplied',
        at: 0,
        roundId: 'r',
        prompts: prompts.slice(from, from + 2000),
      })),
    ],
  });
  return {
    due: decisionSeq!,
    async read() {
      const gone = new Promise<void>((resolve) => slow.socket.once('close', () => resolve()));
      slow.socket.resume();
      await gone;
      await host.call('session.close', { session });
      host.socket.destroy();
      return came;
    },
  };
}

/** Says something to a server as the first thing; how many bytes came back before it closed. */
export function bytesFor(port: number, first: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1' }, () => socket.write(first));
    let bytes = 0;
    socket.on('data', (chunk) => {
      bytes += chunk.length;
    });
    socket.on('error', (error: NodeJS.ErrnoException) => (error.code === 'ECONNRESET' ? undefined : reject(error)));
    socket.on('close', () => resolve(bytes));
  });
}

const line = (method: string, params: unknown): string =>
  `${JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })}\n`;

/** What clients without the right token may try. */
export const withoutToken = (token: string): readonly string[] => [
  line('server.authenticate', { token: `${token}x` }),
  line('server.authenticate', { token: token.slice(1) }),
  line('server.authenticate', { token: token.toUpperCase() }),
  line('server.authenticate', {}),
  line('server.info', {}),
  line('session.list', { token }),
  line('rpc.discover', {}),
  `[${line('server.authenticate', { token }).trim()}]\n`,
  '\u0000\n',
  'GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n',
  `${'x'.repeat(10_000)}\n`,
  '{\n',
];
