/** A server that can be killed and started again at the same port. */
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A server on one port, which can be killed and restarted on the same port. */
export class Listener {
  readonly #listener: RequestListener;
  readonly #host: string;
  #server: Server | undefined;
  #port: number;

  constructor(listener: RequestListener, host: string, port: number) {
    this.#listener = listener;
    this.#host = host;
    this.#port = port;
  }

  /** Address of the server. The port is known once the server has listened. */
  get url(): string {
    const host = this.#host.includes(':') ? `[${this.#host}]` : this.#host;
    return `http://${host}:${this.#port}`;
  }

  get port(): number {
    return this.#port;
  }

  /** Starts to listen. Rejects with the system's error, such as a port in use. */
  async listen(): Promise<void> {
    // Streams may last long, and clients may pause between requests.
    const server = createServer({ keepAliveTimeout: 60_000, requestTimeout: 0 }, this.#listener);
    this.#server = server;
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(this.#port, this.#host, resolve);
    });
    this.#port = (server.address() as AddressInfo).port;
  }

  /** Stops accepting connections, and resets open ones. */
  async kill(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (server === undefined) return;
    await new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  }
}

/** Resets the connection of a response, as if the machine were gone. */
export function reset(response: ServerResponse): void {
  const { socket } = response;
  if (socket === null || socket.destroyed) response.destroy();
  else socket.resetAndDestroy();
}
