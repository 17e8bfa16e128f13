/** A simulated client: several producers and a subscriber on one connection, which breaks and comes again. */
import type { AnyPolicyDefinition } from '../../../src/core/machine/definition.ts';
import { arbitraryOf } from '../../../src/testing/runs/tested.ts';
import { type Call, type Common, Conversation, isCrowdedOut, type Reply } from './conversation.ts';
import type { Wire, WireClient } from './wire.ts';

type Json = Record<string, unknown>;

/** A session that clients share. */
export interface SharedSession {
  readonly id: string;
  readonly definition: AnyPolicyDefinition;
  readonly open: Json;
}

/** How clients come to the server, and what they do. */
export interface ClientOptions {
  readonly name: string;
  readonly isFirst: boolean;
  readonly sessions: readonly SharedSession[];
  /** Calls of each producer. */
  readonly calls: number;
  /** Connects; nothing while there is no server. */
  connect(client: WireClient, handed: (text: string) => void): Wire | undefined;
  /** Whether trouble is over: everything must be answered from now on. */
  isCalm(): boolean;
}

interface Waiting extends Call {
  readonly id: unknown;
  readonly answered: (reply: Reply) => void;
}

const planners: readonly Json[] = [
  { planner: 'micro-batches', input: { lengths: [5, 9, 3, 7], maxTokens: 12 } },
  { planner: 'micro-batches', input: { lengths: [5, -9], maxTokens: 12 } },
];
const badCalls: readonly [text: string, code: number, hasId: boolean][] = [
  ['{"jsonrpc":"2.0","id":ID,"method":"session.sand"}', -32601, true],
  ['{"jsonrpc":"2.0","id":ID,"method":"session.send","params":{"session":7}}', -32602, true],
  ['{"jsonrpc":"2.0","id":ID,"method":"session.send","params":[]}', -32602, true],
  ['{"jsonrpc":"1.0","id":ID,"method":"session.list"}', -32600, false],
  ['{"jsonrpc":"2.0","id":ID,"method":"session', -32700, false],
  ['[]', -32600, false],
];

const troubles = ['broken connection', 'half-open connection', 'half-closed connection', 'slow reader'];

/** One client. */
export class SimulatedClient implements WireClient {
  readonly #common: Common;
  readonly #options: ClientOptions;
  #wire: Wire | undefined;
  #talk: Conversation | undefined;
  #outbox: Waiting[] = [];
  /** Called when the connection is there, or gone. */
  #changes: (() => void)[] = [];
  #losses: (() => void)[] = [];
  #ids = 0;
  #tags = 0;
  #subscribers: ((method: string, params: Json) => void)[] = [];
  /** Highest number of a decision that came, by session. */
  readonly #seen = new Map<string, number>();
  #isDone = false;

  constructor(common: Common, options: ClientOptions) {
    this.#common = common;
    this.#options = options;
  }

  line(text: string): void {
    this.#talk?.line(text);
  }

  closed(): void {
    this.#wire = undefined;
    this.#talk = undefined;
    this.#outbox = [];
    for (const one of this.#losses.splice(0)) one();
  }

  /** Does all it has to do, whatever happens. */
  async run(): Promise<void> {
    const { world } = this.#common;
    const { sessions, calls } = this.#options;
    void this.#stayConnected();
    void this.#makeTrouble();
    const lanes = sessions.flatMap((session) => {
      const producers = Array.from({ length: 1 + world.below(2) }, (_, at) =>
        this.#produce(session, `${this.#options.name}/${at}é`, calls),
      );
      // The first client makes room for what others send.
      const subscribes = session.open.deliver === 'stream' && (this.#options.isFirst || world.chance(500));
      return subscribes ? [...producers, this.#subscribe(session)] : producers;
    });
    await Promise.all([...lanes, this.#doOddThings(calls)]);
  }

  /** Leaves for good. */
  leave(): void {
    this.#isDone = true;
    this.#wire?.abort();
    this.closed();
  }

  async #stayConnected(): Promise<void> {
    const { world } = this.#common;
    while (!this.#isDone) {
      const talk = new Conversation(this.#common, this.#options.name, (method, params) => {
        for (const one of this.#subscribers) one(method, params);
      });
      const wire = this.#options.connect(this, (text) => talk.handed(text));
      if (wire !== undefined) {
        [this.#wire, this.#talk] = [wire, talk];
        const lost = new Promise<void>((resolve) => this.#losses.push(resolve));
        for (const one of this.#changes.splice(0)) one();
        await lost;
      }
      await world.sleep(world.seconds(0.01, 0.3), 'reconnect');
    }
  }

  async #makeTrouble(): Promise<void> {
    const { world } = this.#common;
    while (!this.#options.isCalm()) {
      await world.sleep(world.seconds(0.05, 3), 'trouble');
      const wire = this.#wire;
      if (wire === undefined || this.#options.isCalm()) continue;
      const kind = world.below(8);
      world.note(`${this.#options.name} trouble ${kind}`);
      if (kind < 4) world.count(troubles[kind]!);
      if (kind === 0) this.#hangUp(wire);
      else if (kind === 1) wire.lose(world.chance(500));
      else if (kind === 2) {
        wire.end();
        world.after(30, 'hangs up', () => this.#hangUp(wire));
      } else if (kind === 3) wire.pause(world.seconds(0.1, 3));
      else if (kind === 4 && world.chance(300)) wire.pause(world.seconds(20, 60));
    }
  }

  #hangUp(wire: Wire): void {
    wire.abort();
    if (this.#wire === wire) this.closed();
  }

  /** Calls, and gives the answer; nothing if the connection breaks, or nothing comes for long. */
  async #ask(method: string, params: Json, mayFail: readonly string[] = []): Promise<Reply | undefined> {
    const { world, books } = this.#common;
    while (this.#wire?.isOpen !== true) {
      if (this.#wire !== undefined) await new Promise<void>((resolve) => this.#losses.push(resolve));
      if (this.#wire === undefined) await new Promise<void>((resolve) => this.#changes.push(resolve));
    }
    const wire = this.#wire;
    const id = world.chance(100) ? `${this.#options.name}-${++this.#ids}` : ++this.#ids;
    return new Promise((resolve) => {
      const cancel = world.after(world.seconds(8, 20), 'timeout', () => {
        resolve(undefined);
        this.#hangUp(wire);
      });
      this.#losses.push(() => {
        cancel();
        resolve(undefined);
      });
      const answered = (reply: Reply): void => {
        cancel();
        resolve(reply);
      };
      this.#outbox.push({ id, method, params, mayFail, since: books.steps, answered });
      if (this.#outbox.length === 1) world.after(world.chance(500) ? 0 : 0.003, 'sends', () => this.#flush());
    });
  }

  #flush(): void {
    const calls = this.#outbox.splice(0);
    const wire = this.#wire;
    if (wire?.isOpen !== true || calls.length === 0) return;
    const isBatch = calls.length > 1 && this.#common.world.chance(400);
    this.#talk!.asks(calls, isBatch);
    const texts = calls.map(({ id, method, params }) => JSON.stringify({ jsonrpc: '2.0', id, method, params }));
    wire.send(isBatch ? `[${texts.join(',')}]\n` : texts.map((one) => `${one}\n`).join(''));
  }

  /** Asks until there is an answer. */
  async #insist(method: string, params: Json, mayFail: readonly string[] = []): Promise<Reply> {
    const { world } = this.#common;
    for (;;) {
      const reply = await this.#ask(method, params, mayFail);
      if (reply !== undefined && !isCrowdedOut(reply.error)) return reply;
      await world.sleep(world.seconds(0, 0.2), 'again');
    }
  }

  #think(): Promise<void> {
    const { world } = this.#common;
    return world.sleep(world.chance(500) ? world.seconds(0, 0.02) : world.seconds(0, 0.8), 'think');
  }

  async #attach({ id, open }: SharedSession): Promise<void> {
    await this.#insist('session.open', { ...open, session: id, onExisting: 'attach' });
  }

  /** Likely next events of a session, some without a time. */
  #events({ id, definition }: SharedSession, most: number): object[] {
    const { world, books } = this.#common;
    const model = books.open(id);
    if (model === undefined) return [];
    return Array.from({ length: 1 + world.below(most) }, () => {
      const event = JSON.parse(JSON.stringify(arbitraryOf(definition)(model.state, world)));
      const { at: _, ...rest } = event;
      // A time of its own makes an event unlike all others.
      return world.chance(150) ? rest : { ...event, at: world.now + ++this.#tags / 1e9 };
    });
  }

  async #produce(session: SharedSession, producer: string, calls: number): Promise<void> {
    const { world, books } = this.#common;
    let firstSeq = 0;
    this.#common.busy += 1;
    await this.#attach(session);
    for (let done = 0; done < calls; done += 1) {
      await this.#think();
      const events = this.#events(session, 3);
      if (events.length === 0) {
        await this.#attach(session);
        continue;
      }
      const params = { session: session.id, events, producer, firstSeq };
      books.claim(params);
      for (;;) {
        const { result, error } = await this.#insist('session.send', params, [
          'unknown_id',
          'out_of_order',
          'limit_exceeded',
        ]);
        const { code, nextSeq, expected } = (result ?? error!.data) as Json;
        if (nextSeq !== undefined) {
          firstSeq = nextSeq as number;
          await this.#turnPages(session, (result ?? error!.data) as Json);
          // A client that forgot that it was answered gets the same answer.
          if (world.chance(150))
            await this.#ask('session.send', params, ['unknown_id', 'out_of_order', 'limit_exceeded']);
          break;
        }
        if (code === 'limit_exceeded') {
          await world.sleep(world.seconds(0.1, 1), 'backlog');
          continue;
        }
        if (code === 'unknown_id') await this.#attach(session);
        // The session was replaced, and has begun to count anew.
        firstSeq = code === 'out_of_order' ? Number.parseInt(expected as string, 10) : 0;
        break;
      }
    }
    this.#common.busy -= 1;
  }

  async #turnPages({ id }: SharedSession, answer: Json): Promise<void> {
    for (let { more } = answer; more !== undefined && !this.#common.world.chance(100); ) {
      const page = await this.#ask('session.more', { session: id, more }, ['unknown_id']);
      if (page?.result !== undefined) this.#common.world.count('page');
      more = page?.result?.more;
    }
  }

  async #subscribe(session: SharedSession): Promise<void> {
    const { world, books } = this.#common;
    const { id } = session;
    let isSubscribed = false;
    let acknowledged = -1;
    this.#subscribers.push((method, params) => {
      if (params.session !== id) return;
      if (method === 'session.closed') isSubscribed = false;
      else this.#seen.set(id, params.decisionSeq as number);
    });
    await this.#attach(session);
    const isOver = (): boolean => {
      const model = books.open(id);
      const isThrough = model === undefined || model.acknowledged >= model.decisionSeq;
      return this.#options.isCalm() && this.#common.busy === 0 && isThrough;
    };
    let wire: Wire | undefined;
    while (!isOver()) {
      await this.#think();
      if (!isSubscribed || wire !== this.#wire) {
        const after = this.#seen.get(id);
        const params: Json = { session: id };
        if (after !== undefined && world.chance(500)) params.after = after;
        if (!this.#options.isCalm() && world.chance(100))
          params.types = session.definition.decisions.slice(0, 2).map(({ type }) => type);
        // Decisions of other types need no acknowledgement.
        books.acknowledges(id, params.types === undefined ? ((params.after as number) ?? 0) : Number.POSITIVE_INFINITY);
        const reply = await this.#ask('session.subscribe', params, ['unknown_id', 'out_of_order']);
        wire = this.#wire;
        isSubscribed = reply?.result !== undefined;
        if (reply?.error !== undefined) {
          this.#seen.delete(id);
          await this.#attach(session);
        }
        continue;
      }
      const decisionSeq = this.#seen.get(id);
      if (decisionSeq === undefined) {
        // The answer to another subscription says how far the stream is.
        isSubscribed = !this.#options.isCalm();
        await world.sleep(0.5, 'listens');
        continue;
      }
      // What was acknowledged before is not acknowledged again and again, except by a client that waits for others.
      if (decisionSeq === acknowledged) await world.sleep(this.#options.isCalm() ? 5 : 1, 'listens');
      acknowledged = decisionSeq;
      books.acknowledges(id, decisionSeq);
      const reply = await this.#ask('session.ack', { session: id, decisionSeq }, ['unknown_id', 'out_of_order']);
      if (reply?.error !== undefined) isSubscribed = false;
    }
    // Others need not wait for this one any more.
    await this.#insist('session.unsubscribe', { session: id }, ['unknown_id']);
  }

  async #doOddThings(calls: number): Promise<void> {
    const { world, books } = this.#common;
    for (let done = 0; done < calls; done += 1) {
      await this.#think();
      const session = world.pick(this.#options.sessions);
      const { id, open } = session;
      const kind = world.below(12);
      if (kind === 0) await this.#ask('session.list', {});
      else if (kind === 1)
        await this.#ask('session.snapshot', { session: id, delivery: world.chance(500) }, ['unknown_id']);
      else if (kind === 2) await this.#ask('server.info', {});
      else if (kind === 3) await this.#ask('plan', { ...world.pick(planners) }, ['invalid_input', 'limit_exceeded']);
      else if (kind === 4) this.#sayWrong();
      else if (kind === 5 && world.chance(250))
        await this.#ask('session.open', { ...open, session: id, onExisting: 'replace' });
      else if (kind === 6 && world.chance(200)) await this.#ask('session.close', { session: id }, ['unknown_id']);
      else if (kind === 7) await this.#replaceBySnapshot(session);
      else if (kind === 8) {
        const events = this.#events(session, 2);
        const params = { session: id, events };
        books.claim({ ...params, producer: undefined, firstSeq: 0 });
        if (open.deliver === 'stream' && world.chance(500)) this.#notify('session.send', params);
        else await this.#ask('session.send', params, ['unknown_id', 'limit_exceeded']);
      } else if (kind === 9) await this.#ask('session.open', open, []).then((reply) => this.#closeAgain(reply));
      // Even seeds stay what they were before anybody asked this: one of them once broke a rule.
      else if (kind === 10 && world.seed % 2 === 1) await this.#ask('session.why', { session: id }, ['unknown_id']);
    }
  }

  async #closeAgain(reply: Reply | undefined): Promise<void> {
    const session = reply?.result?.session as string | undefined;
    if (session !== undefined) await this.#insist('session.close', { session }, ['unknown_id']);
  }

  async #replaceBySnapshot({ id, open }: SharedSession): Promise<void> {
    const { world } = this.#common;
    if (world.chance(700)) return;
    const whole = world.chance(500);
    const saved = await this.#ask('session.snapshot', { session: id, delivery: whole }, ['unknown_id']);
    if (saved?.result === undefined) return;
    const { snapshot, armed, delivery } = saved.result as Json;
    const { config: _, ...rest } = open;
    const from = whole ? { snapshot, armed, delivery } : { snapshot, armed };
    await this.#ask('session.open', { ...rest, session: id, ...from, onExisting: 'replace' });
  }

  #notify(method: string, params: Json): void {
    if (this.#wire?.isOpen === true) this.#wire.send(`${JSON.stringify({ jsonrpc: '2.0', method, params })}\n`);
  }

  #sayWrong(): void {
    const { world, books } = this.#common;
    if (this.#wire?.isOpen !== true || this.#outbox.length > 0) return;
    const [text, code, hasId] = world.pick(badCalls);
    const id = hasId ? ++this.#ids : null;
    if (this.#talk!.awaits(id)) return;
    const mayFail = [String(code), 'must'];
    this.#talk!.asks(
      [{ id, method: 'wrong', params: {}, mayFail, since: books.steps, answered: () => undefined }],
      false,
    );
    this.#wire.send(`${text.replace('ID', String(id))}\n`);
  }
}
