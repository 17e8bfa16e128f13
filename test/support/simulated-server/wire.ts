/** A connection between a simulated client and the server: bytes take time, and get lost with it. */
import type { Link, RpcServer, Served } from '../../../src/rpc/index.ts';
import type { Life, World } from './world.ts';

/** What the client of a wire hears. */
export interface WireClient {
  line(text: string): void;
  closed(): void;
}

/** How a wire behaves. */
export interface WireManners {
  /** Seconds that bytes take at most. */
  readonly slowest: number;
  /** Most bytes that arrive at once. */
  readonly chunk: number;
  /** Bytes that the system takes from the server before the client reads. */
  readonly systemBytes: number;
}

const newline = 10;
/** Seconds after which the system of the server gives up a connection of which nothing is heard. */
const keepAliveSeconds = 75;

/** One connection. The server writes to it as its link. */
export class Wire implements Link {
  readonly #name: string;
  readonly #world: World;
  readonly #life: Life;
  readonly #manners: WireManners;
  readonly #client: WireClient;
  readonly #watch: (text: string) => void;
  #served: Served | undefined;
  #toServer = Buffer.alloc(0);
  #toClient = Buffer.alloc(0);
  #line = Buffer.alloc(0);
  #isReceiving = false;
  #isCarrying = false;
  #isBringing = false;
  /** Whether the server is to be told that the client sends no more. */
  #isEnding = false;
  #hasEnded = false;
  #isPaused = false;
  #isLost = false;
  #clientGone = false;
  #serverGone = false;
  #waiters: (() => void)[] = [];

  /** @param watch - sees every text that the server hands over */
  constructor(
    name: string,
    world: World,
    life: Life,
    manners: WireManners,
    client: WireClient,
    watch: (text: string) => void,
  ) {
    this.#name = name;
    this.#world = world;
    this.#life = life;
    this.#manners = manners;
    this.#client = client;
    this.#watch = watch;
  }

  /** Whether the client may send. */
  get isOpen(): boolean {
    return !this.#clientGone && !this.#hasEnded;
  }

  /** @param link - what the server writes to */
  connect(server: RpcServer, link: Link): void {
    this.#served = server.connect(link);
  }

  get waiting(): number {
    return this.#serverGone ? 0 : Math.max(0, this.#toClient.length - this.#manners.systemBytes);
  }

  write(text: string): void {
    if (this.#serverGone) return;
    this.#watch(text);
    this.#toClient = Buffer.concat([this.#toClient, Buffer.from(text)]);
    this.#bring();
  }

  drained(): Promise<void> {
    return this.waiting === 0 ? Promise.resolve() : new Promise((resolve) => this.#waiters.push(resolve));
  }

  destroy(): void {
    if (this.#serverGone) return;
    this.#leaveServer();
    this.#toClient = Buffer.alloc(0);
    if (!this.#isLost) this.#world.after(this.#delay(), 'reset', () => this.#closeClient());
  }

  /** The client sends bytes. */
  send(text: string): void {
    this.#world.note(`${this.#name} > ${text.trimEnd()}`);
    this.#toServer = Buffer.concat([this.#toServer, Buffer.from(text)]);
    this.#carry();
  }

  /** The client says that it sends no more; the rest is answered. */
  end(): void {
    [this.#isEnding, this.#hasEnded] = [true, true];
    this.#carry();
  }

  /** The client stops reading for some seconds. */
  pause(seconds: number): void {
    this.#isPaused = true;
    this.#world.after(seconds, 'reads again', () => {
      this.#isPaused = false;
      this.#bring();
    });
  }

  /** From now on nothing arrives at either side, and nobody is told. What the client sent may arrive much later. */
  lose(isLate: boolean): void {
    if (this.#isLost) return;
    this.#isLost = true;
    const rest = isLate ? this.#toServer : Buffer.alloc(0);
    const last = rest.lastIndexOf(newline) + 1;
    this.#toServer = Buffer.alloc(0);
    if (last > 0)
      this.#world.after(this.#world.seconds(1, 30), 'late bytes', () => void this.#receive(rest), this.#life);
    this.#world.after(keepAliveSeconds, 'keep-alive', () => this.#closeServer(), this.#life);
  }

  /** The client is gone: what it sent last arrives or not, and the server is told, unless the connection is lost. */
  abort(): void {
    if (this.#clientGone) return;
    this.#clientGone = true;
    this.#isEnding = false;
    this.#toClient = Buffer.alloc(0);
    if (this.#world.chance(500)) this.#toServer = Buffer.alloc(0);
    if (!this.#isLost) this.#world.after(this.#delay() + 0.05, 'gone', () => this.#closeServer(), this.#life);
  }

  /** The process of the server is gone. */
  died(): void {
    this.#serverGone = true;
    if (!this.#isLost) this.#world.after(this.#delay(), 'reset', () => this.#closeClient());
  }

  #delay(): number {
    return this.#world.seconds(0.0002, this.#manners.slowest);
  }

  #chunkOf(bytes: Buffer): Buffer {
    const most = Math.min(bytes.length, this.#manners.chunk);
    return bytes.subarray(0, this.#world.chance(150) ? 1 + this.#world.below(most) : most);
  }

  #carry(): void {
    const isDone = this.#toServer.length === 0 && !this.#isEnding;
    if (this.#isCarrying || this.#isReceiving || this.#isLost || this.#serverGone || isDone) return;
    this.#isCarrying = true;
    this.#world.after(
      this.#delay(),
      'to server',
      () => {
        this.#isCarrying = false;
        if (this.#isLost || this.#serverGone) return;
        if (this.#toServer.length === 0) {
          if (!this.#isEnding) return;
          this.#isReceiving = true;
          void this.#served?.finish().then(() => this.#finished());
          return;
        }
        const chunk = this.#chunkOf(this.#toServer);
        this.#toServer = this.#toServer.subarray(chunk.length);
        this.#isReceiving = true;
        void this.#receive(chunk).then(() => {
          this.#isReceiving = false;
          this.#carry();
        });
      },
      this.#life,
    );
  }

  async #receive(bytes: Buffer): Promise<void> {
    // The server gets a buffer of its own, as from a socket.
    if (!this.#serverGone) await this.#served?.receive(new Uint8Array(bytes));
  }

  /** The server has answered everything; it closes once the system has taken the answers. */
  #finished(): void {
    if (this.#toClient.length === 0) return this.destroy();
    void this.drained().then(() => {
      this.#leaveServer();
      if (this.#toClient.length === 0) this.#world.after(this.#delay(), 'closed', () => this.#closeClient());
    });
  }

  #bring(): void {
    if (this.#isBringing || this.#isPaused || this.#isLost || this.#clientGone || this.#toClient.length === 0) return;
    this.#isBringing = true;
    this.#world.after(this.#delay(), 'to client', () => {
      this.#isBringing = false;
      if (this.#isPaused || this.#isLost || this.#clientGone) return;
      const chunk = this.#chunkOf(this.#toClient);
      this.#toClient = this.#toClient.subarray(chunk.length);
      if (this.waiting === 0) this.#wake();
      this.#read(chunk);
      this.#bring();
      const isOver = this.#serverGone && this.#toClient.length === 0 && this.#isEnding;
      if (isOver) this.#world.after(this.#delay(), 'closed', () => this.#closeClient());
    });
  }

  #read(chunk: Buffer): void {
    this.#line = Buffer.concat([this.#line, chunk]);
    for (let at = this.#line.indexOf(newline); at !== -1; at = this.#line.indexOf(newline)) {
      const line = this.#line.subarray(0, at).toString();
      this.#line = this.#line.subarray(at + 1);
      this.#world.note(`${this.#name} < ${line}`);
      this.#client.line(line);
    }
  }

  #wake(): void {
    for (const settle of this.#waiters.splice(0)) settle();
  }

  #leaveServer(): void {
    this.#serverGone = true;
    this.#wake();
  }

  #closeServer(): void {
    if (this.#serverGone) return;
    this.#leaveServer();
    this.#served?.close();
  }

  #closeClient(): void {
    if (this.#clientGone) return;
    this.#clientGone = true;
    this.#client.closed();
  }
}
