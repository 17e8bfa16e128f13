/** Many clients of one server at once, each with sessions of its own, which are all checked. */
import type { Socket } from 'node:net';
import { LineClient, opened } from './line-client.ts';
import { playedInProcess, SoakHost, soakConfig } from './soak-host.ts';

/** A client, and the connection that is its own. */
export class SoakClient extends LineClient {
  readonly socket: Socket;

  private constructor(socket: Socket) {
    super(socket, socket);
    this.socket = socket;
  }

  static async to(address: { path: string } | { port: number }): Promise<SoakClient> {
    return new SoakClient(await opened(address));
  }
}

type Kind = 'reply' | 'producer' | 'stream';
const kinds: readonly Kind[] = ['reply', 'producer', 'stream'];

interface Served {
  readonly host: SoakHost;
  readonly kind: Kind;
  readonly streamed: never[];
  calls: number;
  nextSeq: number;
  lastSeq: number;
}

/** What a fleet does, and counts. */
export class Fleet {
  readonly clients: SoakClient[] = [];
  readonly #sessions: Served[][] = [];
  calls = 0;
  events = 0;
  retries = 0;
  /** Milliseconds of the calls since it was last emptied. */
  took: number[] = [];

  async open(path: string, clients: number, sessions: number): Promise<void> {
    for (let n = 0; n < clients; n += 1) this.clients.push(await SoakClient.to({ path }));
    await Promise.all(this.clients.map((client, n) => this.#openAll(client, n, sessions)));
  }

  get sessions(): number {
    return this.#sessions.reduce((sum, all) => sum + all.length, 0);
  }

  /** Calls each session in turn, until `enough` says so after a call. */
  async run(enough: () => boolean): Promise<void> {
    await Promise.all(
      this.clients.map(async (client, n) => {
        const all = this.#sessions[n]!;
        for (let at = 0; !enough(); at = (at + 1) % all.length) await this.#step(client, all[at]!);
      }),
    );
  }

  /** Calls every session so many times. */
  async rounds(times: number): Promise<void> {
    await Promise.all(
      this.clients.map(async (client, n) => {
        for (let round = 0; round < times; round += 1) {
          for (const one of this.#sessions[n]!) await this.#step(client, one);
        }
      }),
    );
  }

  /** Throws where a session was told anything else than the same policy tells in process. */
  check(): { readonly sessions: number; readonly decisions: number } {
    let decisions = 0;
    const all = this.#sessions.flat();
    for (const { host, calls } of all) {
      decisions += host.told;
      if (playedInProcess(host.session, calls) === host.digest) continue;
      throw new Error(`${host.session} was told something else than in process, in ${calls} calls`);
    }
    return { sessions: all.length, decisions };
  }

  close(): void {
    for (const { socket } of this.clients) socket.destroy();
  }

  async #openAll(client: SoakClient, n: number, count: number): Promise<void> {
    const all: Served[] = [];
    const byId = new Map<string, Served>();
    this.#sessions.push(all);
    client.notified = ({ session, decisionSeq, decision }) => {
      const served = byId.get(session);
      if (served === undefined) throw new Error(`not asked for: a decision of ${session}`);
      if (decisionSeq !== ++served.lastSeq) throw new Error(`${session}: a gap in its decisions`);
      served.streamed.push(decision as never);
    };
    for (let index = 0; index < count; index += 1) {
      const session = `client-${n}-session-${index}`;
      const kind = kinds[index % kinds.length]!;
      const deliver = kind === 'stream' ? 'stream' : 'reply';
      await client.call('session.open', { policy: 'tail-batching', config: soakConfig, session, deliver });
      if (kind === 'stream') await client.call('session.subscribe', { session });
      const served = { host: new SoakHost(session), kind, streamed: [], calls: 0, nextSeq: 0, lastSeq: 0 };
      byId.set(session, served);
      all.push(served);
    }
  }

  async #step(client: SoakClient, served: Served): Promise<void> {
    const { host, kind, streamed } = served;
    const { session } = host;
    const events = host.next();
    const params =
      kind === 'producer' ? { session, events, producer: 'host', firstSeq: served.nextSeq } : { session, events };
    const from = performance.now();
    const result = await client.call('session.send', params);
    this.took.push(performance.now() - from);
    if (kind === 'producer' && served.calls % 8 === 7) {
      this.retries += 1;
      const again = await client.call('session.send', params);
      if (JSON.stringify(again) !== JSON.stringify(result)) throw new Error(`${session}: another answer to a retry`);
    }
    served.nextSeq = result.nextSeq;
    // On one connection what was streamed has come before the answer.
    host.tell(events, kind === 'stream' ? streamed.splice(0) : result.decisions);
    if (kind === 'stream' && served.lastSeq > 0) {
      await client.call('session.ack', { session, decisionSeq: served.lastSeq });
    }
    served.calls += 1;
    this.calls += 1;
    this.events += events.length;
  }
}
