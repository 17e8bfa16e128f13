/** Histories of a session without any process: calls overlap as a seed says, answers get lost, and faults are planted. */
import { registry } from '../../../src/index.ts';
import { Service } from '../../../src/rpc/service.ts';
import { likelyEvents } from '../../../src/testing/index.ts';
import { seeded } from '../basics/numbers.ts';
import { exampleConfigs } from '../examples/configs.ts';
import { type Checked, checkSession, nothingChecked, type Recorded, type Streamed } from './history.ts';

// biome-ignore lint/suspicious/noExplicitAny: what was said on the wire
type Json = any;
interface Call {
  readonly method: string;
  readonly params: Json;
}
type CarryOut = (call: Call) => Json;
/** What a server does in place of carrying a call out. It is asked for each call; `before` are those carried out so far. */
export type Fault = (call: Call, carryOut: CarryOut, before: readonly (Call & { readonly answer: Json })[]) => Json;

interface Pending extends Call {
  readonly from: number;
  answer?: Json;
}

export interface Simulated {
  readonly seed: number;
  readonly policy: string;
  readonly deliver: 'reply' | 'stream';
  readonly fault?: Fault;
  /** What is done to the streamed decisions before they are seen. */
  readonly streamed?: (decisions: unknown[]) => unknown[];
}

const session = 'simulated';
const clients = 4;

/** Makes a history and checks it. Throws where it is not linearizable. */
export function checkSimulated(options: Simulated): Checked {
  const { calls, streamed } = new Simulation(options).run();
  const checked = nothingChecked();
  checkSession(session, calls, streamed, checked);
  return checked;
}

class Simulation {
  readonly #options: Simulated;
  readonly #random: () => number;
  readonly #service = new Service({});
  readonly #calls: Recorded[] = [];
  readonly #streamed: Streamed[] = [];
  readonly #before: (Call & { readonly answer: Json })[] = [];
  readonly #pending: (Pending | undefined)[] = Array.from({ length: clients });
  /** Whose clients are gone: they may be carried out. */
  #left: Pending[] = [];
  /** The call of each client that is sent again if its answer is lost. */
  readonly #again: (Call | undefined)[] = [];
  readonly #nextSeq: number[] = Array.from({ length: clients }, () => 0);
  #deck: unknown[] = [];
  #time = 0;

  constructor(options: Simulated) {
    this.#options = options;
    this.#random = seeded(options.seed);
  }

  run(): { readonly calls: Recorded[]; readonly streamed: Streamed[] } {
    const { policy, deliver, streamed = (all) => all } = this.#options;
    const config = exampleConfigs[policy as 'tail-batching']![0];
    const opening = { method: 'session.open', params: { session, policy, config, deliver } };
    this.#record({ ...opening, from: 0 }, this.#carryOut(opening));
    const tape = Array.from({ length: 100 }, () => this.#below(1000));
    this.#deck = likelyEvents(registry.get(policy as 'tail-batching') as never, config, tape, 80);
    while (this.#deck.length > 0) this.#step(this.#below(clients));
    for (const [at, one] of this.#pending.entries()) if (one !== undefined) this.#answer(at, one);
    const end = { method: 'session.snapshot', params: { session } };
    this.#record({ ...end, from: this.#tick() }, this.#do(end));
    if (deliver === 'stream') this.#read(streamed);
    return { calls: this.#calls, streamed: this.#streamed };
  }

  #step(at: number): void {
    const one = this.#pending[at];
    const zombie = this.#left[0];
    if (zombie !== undefined && this.#random() < 0.1) {
      this.#do(zombie);
      this.#left.shift();
    } else if (one === undefined) this.#pending[at] = { ...this.#next(at), from: this.#tick() };
    else if (one.answer === undefined && this.#random() < 0.7) one.answer = this.#do(one);
    else if (this.#random() < 0.15) this.#lose(at, one);
    else if (one.answer !== undefined) this.#answer(at, one);
  }

  #next(at: number): Call {
    const again = this.#again[at];
    if (again !== undefined) return again;
    if (this.#random() < 0.2) return { method: 'session.snapshot', params: { session } };
    const events = this.#deck.splice(0, 1 + this.#below(3));
    const numbered = { session, producer: `p${at}`, firstSeq: this.#nextSeq[at], events };
    return { method: 'session.send', params: at === 0 ? { session, events } : numbered };
  }

  #answer(at: number, one: Pending): void {
    one.answer ??= this.#do(one);
    this.#record(one, one.answer);
    this.#pending[at] = undefined;
    this.#again[at] = undefined;
    const { result, error } = one.answer;
    if (one.method === 'session.send') this.#nextSeq[at] = (result ?? error.data).nextSeq ?? 0;
  }

  #lose(at: number, one: Pending): void {
    if (one.answer === undefined) this.#left.push(one);
    this.#calls.push({ ...one, isLost: true, to: Number.POSITIVE_INFINITY });
    this.#pending[at] = undefined;
    const { method, params } = one;
    if (params.firstSeq !== undefined) this.#again[at] = { method, params };
  }

  #record(one: Pending, answer: Json): void {
    const { method, params, from } = one;
    this.#calls.push({ method, params, from, to: this.#tick(), ...structuredClone(answer) });
  }

  /** Carries a call out, or does what the fault does. */
  #do(call: Call): Json {
    const { fault } = this.#options;
    const answer = fault?.(call, (one) => this.#carryOut(one), this.#before) ?? this.#carryOut(call);
    this.#before.push({ ...call, answer });
    return answer;
  }

  #carryOut({ method, params }: Call): Json {
    const request = { jsonrpc: '2.0', id: 1, method, params: structuredClone(params) } as const;
    const { result, error } = this.#service.answer(request, undefined as never) as Json;
    return JSON.parse(JSON.stringify(error === undefined ? { result } : { error }));
  }

  /** Sees the whole stream, at the end. */
  #read(change: (decisions: unknown[]) => unknown[]): void {
    const { stream } = this.#service.sessions.get(session);
    const subscription = stream.subscribe({ wake: () => undefined }, 0);
    const decisions: unknown[] = [];
    for (let one = stream.next(subscription); one !== undefined; one = stream.next(subscription))
      decisions.push(JSON.parse(JSON.stringify(one.decision)));
    if (decisions.length === 0) return;
    this.#streamed.push({ session, from: this.#tick(), to: this.#tick(), first: 1, decisions: change(decisions) });
  }

  #below(count: number): number {
    return Math.floor(this.#random() * count);
  }

  #tick(): number {
    return (this.#time += 1);
  }
}
