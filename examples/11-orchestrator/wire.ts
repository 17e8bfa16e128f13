/** JSON-RPC 2.0 over a Unix socket, a message a line: calls, and what the server sends by itself. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { createInterface } from 'node:readline';

/** There is no connection any more: whether the call was done is not known. */
export class ConnectionLost extends Error {}

/** The server has refused a call. */
export class Refused extends Error {}

type Json = Readonly<Record<string, unknown>>;
interface Message {
  readonly id?: number;
  readonly result?: Json;
  readonly error?: { readonly message: string };
  readonly method?: string;
  readonly params?: Json;
}
interface Waiting {
  readonly resolve: (result: Json) => void;
  readonly reject: (error: Error) => void;
}

/** One connection. It ends once, and is not made again. */
export class Wire {
  readonly #socket: Socket;
  readonly #waiting = new Map<number, Waiting>();
  #calls = 0;

  private constructor(socket: Socket, notified: (method: string, params: Json) => void) {
    this.#socket = socket;
    const lines = createInterface({ input: socket }).on('line', (line) => {
      const { id, result, error, method, params } = JSON.parse(line) as Message;
      if (method !== undefined) return notified(method, params!);
      const call = this.#waiting.get(id!);
      this.#waiting.delete(id!);
      if (error === undefined) call?.resolve(result ?? {});
      else call?.reject(new Refused(error.message));
    });
    // A connection that breaks is closed as well.
    socket.on('error', () => {});
    lines.on('error', () => {});
    socket.on('close', () => {
      for (const { reject } of this.#waiting.values()) reject(new ConnectionLost());
      this.#waiting.clear();
    });
  }

  /** @throws Error where nobody listens */
  static async open(path: string, notified: (method: string, params: Json) => void): Promise<Wire> {
    const socket = connect(path);
    await once(socket, 'connect');
    return new Wire(socket, notified);
  }

  /** @throws Refused, ConnectionLost */
  async call(method: string, params: Json): Promise<Json> {
    if (this.#socket.destroyed) throw new ConnectionLost();
    this.#calls += 1;
    const id = this.#calls;
    const answer = new Promise<Json>((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
    this.#socket.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    return answer;
  }

  close(): void {
    this.#socket.destroy();
  }
}
