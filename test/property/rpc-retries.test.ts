/**
 * Producers that retry: requests and answers get lost, connections break, and any call may be sent again. Nothing is lost and
 * nothing is applied twice: the session is, at every moment, that of a policy that was sent the applied events once, in order.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type AnyDecision, create } from '../../src/index.ts';
import { tailBatching } from '../../src/recipes/tail-batching/index.ts';
import type { RpcServer } from '../../src/rpc/index.ts';
import { runs, times } from '../support/basics/runs.ts';
import { completed, openingEvents, type Reply, rpc, WireClient } from '../support/servers/clocked.ts';

const config = { promptsPerRound: 3, responsesPerPrompt: 2 };
const keptAnswers = 3;

interface Sent {
  readonly firstSeq: number;
  readonly events: readonly unknown[];
  readonly answer: unknown;
}

/** What all must agree on. */
interface Model {
  readonly policy: { send(event: never): readonly AnyDecision[]; snapshot(): unknown; readonly seq: number };
  /** Of each producer: its next number, and its calls with their answers. */
  readonly producers: Map<string, { next: number; readonly sent: Sent[] }>;
  readonly decisions: unknown[];
}

interface Real {
  readonly server: RpcServer;
  readonly streamed: boolean;
  readonly clients: Map<string, WireClient>;
  /** What subscribers were given, by number. */
  readonly given: Map<number, unknown>;
  reader: WireClient | undefined;
}

type Fate = 'arrives' | 'request lost' | 'answer lost' | 'connection breaks';
const content = ({ result, error }: Reply): unknown => ({ result, error: error?.data });

/** Sends a call, which may not arrive, or whose answer may not. */
async function send(real: Real, producer: string, call: Omit<Sent, 'answer'>, fate: Fate): Promise<Reply | undefined> {
  if (fate === 'request lost') return undefined;
  let client = real.clients.get(producer);
  if (client === undefined) real.clients.set(producer, (client = new WireClient(real.server)));
  const { firstSeq, events } = call;
  const reply = await client.reply('session.send', { session: 'x', producer, firstSeq, events });
  if (fate === 'connection breaks') {
    client.destroy();
    real.clients.delete(producer);
  }
  return fate === 'arrives' ? reply : undefined;
}

function applied(model: Model, producer: string, events: readonly unknown[]): void {
  const entry = model.producers.get(producer)!;
  for (const event of events) {
    try {
      model.decisions.push(...model.policy.send(event as never));
    } catch {
      return;
    }
    entry.next += 1;
  }
}

/** What was streamed to the reader. */
function read(real: Real): void {
  for (const { decisionSeq, decision } of real.reader?.pushed() ?? []) {
    const before = real.given.get(decisionSeq);
    if (before !== undefined) expect(decision).toEqual(before);
    real.given.set(decisionSeq, decision);
  }
}

async function compare(model: Model, real: Real): Promise<void> {
  const monitor = new WireClient(real.server);
  const { snapshot, seq } = await monitor.call('session.snapshot', { session: 'x' });
  monitor.destroy();
  expect(seq).toBe(model.policy.seq);
  expect(snapshot).toEqual(JSON.parse(JSON.stringify(model.policy.snapshot())));
}

/** A new call, sent until its answer has come, as a producer must; each time with another fate. */
class Call implements fc.AsyncCommand<Model, Real> {
  readonly producer: string;
  readonly events: readonly unknown[];
  readonly fates: readonly Fate[];

  constructor(producer: string, events: readonly unknown[], fates: readonly Fate[]) {
    this.producer = producer;
    this.events = events;
    this.fates = fates;
  }

  check(): boolean {
    return true;
  }

  async run(model: Model, real: Real): Promise<void> {
    const entry = model.producers.get(this.producer)!;
    const call = { firstSeq: entry.next, events: this.events };
    const seen: unknown[] = [];
    let isApplied = false;
    for (const fate of [...this.fates, 'arrives'] as const) {
      const reply = await send(real, this.producer, call, fate);
      // A call of which no event was taken is done anew each time, with the same outcome.
      if (fate !== 'request lost' && !isApplied) {
        applied(model, this.producer, this.events);
        isApplied = true;
      }
      if (reply !== undefined) seen.push(content(reply));
      await compare(model, real);
    }
    for (const one of seen) expect(one).toEqual(seen[0]);
    if (entry.next > call.firstSeq) entry.sent.push({ ...call, answer: seen[0] });
    read(real);
  }

  toString = () => `${this.producer}: ${this.events.length} events, ${this.fates.join(', ')}`;
}

/** An earlier call once more: the same answer, as long as it is kept; then the number that is due. */
class Again implements fc.AsyncCommand<Model, Real> {
  readonly producer: string;
  readonly back: number;

  constructor(producer: string, back: number) {
    this.producer = producer;
    this.back = back;
  }

  check(model: Readonly<Model>): boolean {
    return model.producers.get(this.producer)!.sent.length > this.back;
  }

  async run(model: Model, real: Real): Promise<void> {
    const { sent, next } = model.producers.get(this.producer)!;
    const one = sent[sent.length - 1 - this.back]!;
    const reply = (await send(real, this.producer, one, 'arrives'))!;
    if (this.back < keptAnswers) expect(content(reply)).toEqual(one.answer);
    else {
      expect(reply.error!.data).toMatchObject({ code: 'out_of_order', path: 'firstSeq' });
      expect(reply.error!.data.expected).toMatch(new RegExp(`^${next}, `));
    }
    await compare(model, real);
  }

  toString = () => `${this.producer}: again ${this.back}`;
}

/** The subscriber goes and comes again, having acknowledged a part. */
class Resubscribe implements fc.AsyncCommand<Model, Real> {
  readonly part: number;

  constructor(part: number) {
    this.part = part;
  }

  check(): boolean {
    return true;
  }

  async run(_: Model, real: Real): Promise<void> {
    if (!real.streamed) return;
    read(real);
    const last = Math.max(0, ...real.given.keys());
    await real.reader!.call('session.ack', { session: 'x', decisionSeq: Math.floor(last * this.part) });
    real.reader!.destroy();
    real.reader = new WireClient(real.server);
    await real.reader.call('session.subscribe', { session: 'x' });
    read(real);
  }

  toString = () => `resubscribe after ${this.part}`;
}

const request = fc
  .tuple(fc.constantFrom('a', 'b', 'c', 'd'), fc.nat(3))
  .map(([prompt, index]) => `${prompt}/${index}#0`);
const event = fc.oneof(
  { weight: 4, arbitrary: request.map((id) => completed(id)) },
  { weight: 2, arbitrary: request.map((requestId) => ({ type: 'request.aborted', at: 2, requestId })) },
  { weight: 1, arbitrary: fc.constantFrom<unknown>(completed('never'), { type: 'nothing' }, 5) },
  { weight: 1, arbitrary: fc.constant({ type: 'round.requested', at: 3, roundId: 'r2', weightVersion: 2 }) },
);
const fate = fc.constantFrom<Fate>('arrives', 'request lost', 'answer lost', 'connection breaks');
const producer = fc.constantFrom('p', 'q');
const commands = fc.commands(
  [
    fc
      .tuple(producer, fc.array(event, { minLength: 1, maxLength: 5 }), fc.array(fate, { maxLength: 3 }))
      .map(([name, events, fates]) => new Call(name, events, fates)),
    fc.tuple(producer, fc.nat(5)).map(([name, back]) => new Again(name, back)),
    fc.double({ min: 0, max: 1, noNaN: true }).map((part) => new Resubscribe(part)),
  ],
  { maxCommands: 30 },
);

test.each(['reply', 'stream'] as const)(
  'two producers with losses and retries: nothing lost, nothing twice (%s)',
  async (deliver) => {
    let calls = 0;
    await fc.assert(
      fc.asyncProperty(commands, async (all) => {
        const streamed = deliver === 'stream';
        const { server, client } = rpc({ limits: { keptAnswers, pageDecisions: 1000 } });
        await client.call('session.open', { policy: 'tail-batching', config, session: 'x', deliver });
        const model: Model = {
          policy: create(tailBatching, config) as never,
          producers: new Map(['p', 'q'].map((name) => [name, { next: 0, sent: [] as Sent[] }])),
          decisions: [],
        };
        const reader = streamed ? new WireClient(server) : undefined;
        const real: Real = { server, streamed, clients: new Map(), given: new Map(), reader };
        await reader?.call('session.subscribe', { session: 'x' });
        const opening = [
          ...openingEvents(),
          { type: 'prompts.supplied', at: 0, roundId: 'r1', prompts: [{ promptId: 'd' }] },
        ];
        await fc.asyncModelRun(() => ({ model, real }), [new Call('p', opening, ['answer lost']), ...all]);
        calls += [...model.producers.values()].reduce((sum, one) => sum + one.sent.length, 0);
        // The decisions are those of an uninterrupted run of what was applied.
        const told = streamed
          ? [...real.given].sort(([a], [b]) => a - b).map(([, decision]) => decision)
          : model.decisions;
        expect(told).toEqual(JSON.parse(JSON.stringify(model.decisions)));
        if (!streamed) {
          const answers = [...model.producers.values()].flatMap(({ sent }) => sent.map((one) => one.answer));
          const inAnswers = answers.flatMap((one) => {
            const { result, error } = one as { result?: { decisions: unknown[] }; error?: { decisions: unknown[] } };
            return (result ?? error!).decisions;
          });
          const texts = (all: readonly unknown[]) => all.map((one) => JSON.stringify(one)).sort();
          expect(texts(inAnswers)).toEqual(texts(model.decisions));
        }
      }),
      runs(60),
    );
    expect(calls).toBeGreaterThan(times(60));
  },
);
