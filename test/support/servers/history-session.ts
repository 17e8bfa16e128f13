/** A session that several clients use at once, by several producers. */
import { setTimeout as wait } from 'node:timers/promises';
import type { AnyPolicyDefinition } from '../../../src/core/machine/definition.ts';
import { registry } from '../../../src/index.ts';
import { likelyEvents } from '../../../src/testing/index.ts';
import { exampleConfigs } from '../examples/configs.ts';
import type { Recorded } from './history.ts';
import type { HistoryClient } from './history-clients.ts';
import type { Run } from './history-run.ts';

const subjects = registry.policies.flatMap((definition) =>
  exampleConfigs[definition.id]!.slice(0, 1).map((config) => ({
    definition: definition as AnyPolicyDefinition,
    config,
  })),
);
const producers = 3;
const mostCallsAtOnce = 3;
const mostCallEvents = 4;
const manyEvents = 1000;

interface Sending {
  readonly firstSeq: number;
  readonly events: readonly unknown[];
}

/** What is done with one session from its opening to its end. */
export class SharedSession {
  readonly id: string;
  readonly #run: Run;
  readonly #open: { readonly policy: string; readonly config: unknown; readonly deliver: 'reply' | 'stream' };
  /** Events that are still to be sent, by whomever; several send what follows from what another one has sent. */
  readonly #deck: unknown[];
  #busy = 0;
  readonly #subscribing = new Set<HistoryClient>();

  constructor(run: Run, number: number, events: number) {
    const { definition, config } = subjects[number % subjects.length]!;
    this.#run = run;
    this.id = `shared-${number}`;
    this.#open = { policy: definition.id, config, deliver: run.random() < 0.5 ? 'reply' : 'stream' };
    const tape = Array.from({ length: 200 }, () => run.below(1000));
    this.#deck = likelyEvents(definition, config, tape, events);
  }

  /** Opens it, sends its events, and reads its end. */
  async use(): Promise<void> {
    await this.#surely('session.open', { ...this.#open, onExisting: 'attach' });
    const sent = Array.from({ length: producers }, (_, n) => this.#produce(`p${n}`));
    if (this.#open.policy === 'reward-dispatch') sent.push(this.#sendMany());
    this.#busy = sent.length + 1;
    const isStream = this.#open.deliver === 'stream';
    await Promise.all([
      ...[...sent, this.#sendUnnumbered()].map((one) => one.finally(() => (this.#busy -= 1))),
      this.#read(),
      ...(isStream ? [this.#consume(), this.#consume()] : []),
    ]);
    await this.#surely('session.snapshot', {});
    await this.#surely('session.close', {});
  }

  /** Sends as a producer; what got no answer is sent again, by any client. */
  async #produce(producer: string): Promise<void> {
    const run = this.#run;
    let client = await run.client();
    let firstSeq = 0;
    while (this.#deck.length > 0) {
      if (!client.isConnected || run.random() < 0.2) client = await run.client();
      const sendings: Sending[] = [];
      for (let left = 1 + run.below(mostCallsAtOnce); left > 0 && this.#deck.length > 0; left -= 1) {
        const events = this.#deck.splice(0, 1 + run.below(mostCallEvents));
        sendings.push({ firstSeq, events });
        firstSeq += events.length;
      }
      const answers = await Promise.all(this.#calls(client, producer, sendings));
      for (const [at, sending] of sendings.entries()) {
        const answer = await this.#answerOf(answers[at]!, producer, sending);
        if (answer === undefined) {
          // Somebody else takes the producer over, and does not know what the former one has sent.
          firstSeq = (await this.#surely('session.send', { events: [], producer })).result.nextSeq;
          break;
        }
        const { result, error } = answer;
        if (result !== undefined) {
          firstSeq = result.nextSeq;
          continue;
        }
        const { code, index, nextSeq } = error.data;
        // What comes after the refused event may be right, in its turn.
        if (index !== undefined) this.#deck.unshift(...sending.events.slice(index + 1));
        for (const { events } of sendings.slice(at + 1)) this.#deck.unshift(...events);
        if (index === undefined && code !== 'out_of_order') throw new Error(JSON.stringify(error));
        firstSeq = nextSeq ?? (await this.#surely('session.send', { events: [], producer })).result.nextSeq;
        break;
      }
    }
  }

  #calls(client: HistoryClient, producer: string, sendings: readonly Sending[]): Promise<Recorded>[] {
    const run = this.#run;
    const calls = sendings.map((one) => ({ method: 'session.send', params: { session: this.id, producer, ...one } }));
    const isTwice = run.sendsTwice || run.random() < 0.1;
    const made = client.send(calls);
    if (!isTwice) return made;
    const others = run.client().then((other) => other.send(calls));
    return made.map(async (one, at) => {
      const other = (await others)[at]!;
      const first = await one;
      return first.isLost ? other : first;
    });
  }

  /** The answer to a call, which is sent again if need be; nothing if the producer is given up. */
  async #answerOf(recorded: Recorded, producer: string, sending: Sending): Promise<Recorded | undefined> {
    for (let answer = recorded; ; ) {
      if (!answer.isLost) return answer;
      if (this.#run.random() < 0.3) return undefined;
      const client = await this.#run.client();
      [answer] = (await Promise.all(this.#calls(client, producer, [sending]))) as [Recorded];
    }
  }

  /** Sends without a number: what gets no answer is not sent again. */
  async #sendUnnumbered(): Promise<void> {
    while (this.#deck.length > 0) {
      const client = await this.#run.client();
      const events = this.#deck.splice(0, 1 + this.#run.below(2));
      await client.send([{ method: 'session.send', params: { session: this.id, events } }])[0];
      await wait(this.#run.below(10));
    }
  }

  /** Calls that take so long that the server answers others in between. */
  async #sendMany(): Promise<void> {
    for (let firstSeq = 0; firstSeq < 4 * manyEvents; firstSeq += manyEvents) {
      await wait(this.#run.below(100));
      const events = Array.from({ length: manyEvents }, (_, n) => {
        const requestId = `many-${(firstSeq + n) >> 1}`;
        const type = n % 2 === 0 ? 'reward.requested' : 'reward.withdrawn';
        return { type, at: 1, requestId, ...(n % 2 === 0 ? { kind: 'rule' } : {}) };
      });
      await this.#surely('session.send', { events, producer: 'many', firstSeq });
    }
  }

  async #read(): Promise<void> {
    const { id: session } = this;
    while (this.#busy > 0) {
      await wait(this.#run.below(12));
      const client = await this.#run.client();
      const calls = [
        { method: 'session.snapshot', params: { session } },
        { method: 'session.list', params: {} },
        { method: 'session.open', params: { session, ...this.#open, onExisting: 'attach' } },
      ];
      await client.send([this.#run.one(calls)])[0];
    }
  }

  /** Subscribes, on one connection after the other, and acknowledges some. At the end all must come and be acknowledged. */
  async #consume(): Promise<void> {
    const run = this.#run;
    for (let isOver = false; !isOver; ) {
      const client = await run.client((one) => one.seen(this.id) === undefined && !this.#subscribing.has(one));
      this.#subscribing.add(client);
      const { result } = await this.#once(client, 'session.subscribe', {});
      this.#subscribing.delete(client);
      if (result === undefined) continue;
      for (let turns = 2 + run.below(12); turns > 0 && !isOver; turns -= 1) {
        await wait(run.below(15));
        const seen = client.seen(this.id);
        if (seen === undefined) break;
        const decisionSeq = result.acknowledged + run.below(seen - result.acknowledged + 1);
        if (this.#busy > 0) await this.#once(client, 'session.ack', { decisionSeq });
        else isOver = await this.#isAllAcknowledged(client, seen);
      }
      await this.#once(client, 'session.unsubscribe', {});
    }
  }

  async #isAllAcknowledged(client: HistoryClient, seen: number): Promise<boolean> {
    const { result } = await this.#once(client, 'session.snapshot', {});
    if (result?.decisionSeq !== seen) return false;
    return (await this.#once(client, 'session.ack', { decisionSeq: seen })).result?.acknowledged === seen;
  }

  async #once(client: HistoryClient, method: string, more: object): Promise<Recorded> {
    return (await client.send([{ method, params: { session: this.id, ...more } }])[0])!;
  }

  /** A call that may be done again, until it is answered. Throws where it is refused. */
  async #surely(method: string, more: object): Promise<Recorded> {
    for (let isAgain = false; ; isAgain = true) {
      const recorded = await this.#once(await this.#run.client(), method, more);
      if (recorded.isLost) continue;
      const isDone = isAgain && method === 'session.close' && recorded.error?.data.code === 'unknown_id';
      if (recorded.error !== undefined && !isDone) throw new Error(`${method}: ${recorded.error.message}`);
      return recorded;
    }
  }
}
