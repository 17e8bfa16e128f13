/** Conversations made wrong, with any server: every line gets what it is owed, and no session changes that should not. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { root } from '../command-line/process.ts';
import { SoakHost, soakConfig } from '../servers/soak-host.ts';
import type { CaseFile, Peer, Playground } from './cases.ts';
import { type Answer, AttackedModel, assertPaid, fuzzLimits, type Owed, owed } from './fuzz-owed.ts';
import { Draw, mutations } from './mutations.ts';

const attacked = 'x';
/** No line names it, and none can be made to. */
const bystander = 'bystander-40d1c7';

/** The lines of the wire corpus that are JSON, each about the session that is attacked where it is about one. */
export function corpus(): string[] {
  const folder = join(root, 'test/wire/cases');
  const lines = new Set<string>();
  for (const name of readdirSync(folder)) {
    const { cases } = JSON.parse(readFileSync(join(folder, name), 'utf8')) as CaseFile;
    for (const step of cases.flatMap((one) => one.steps)) {
      const { call: method, send } = step;
      const params = step.params as Record<string, unknown> | undefined;
      const about = params?.session === undefined ? params : { ...params, session: attacked };
      const message = method === undefined ? send : { jsonrpc: '2.0', id: lines.size, method, params: about };
      const text = JSON.stringify(message);
      if (text !== undefined && text.length < fuzzLimits.maxMessageBytes && !text.includes('$kept')) lines.add(text);
    }
  }
  return [...lines];
}

/** Whether a session is opened or closed without an answer: nobody could say what that has done. */
function isUntold(line: Uint8Array): boolean {
  let message: unknown;
  try {
    message = JSON.parse(Buffer.from(line).toString());
  } catch {
    return false;
  }
  const calls = (Array.isArray(message) ? message : [message]) as ({ id?: unknown; method?: unknown } | null)[];
  return calls.some((one) => one?.id === undefined && /^session\.(open|close)$/.test(String(one?.method)));
}

type Named = { readonly name: string; readonly line: Buffer };

type Due = NonNullable<Owed>;

/** A fuzzer of one server. */
export class Fuzzer {
  readonly #ground: Playground;
  readonly #draw: Draw;
  readonly #pool = corpus();
  readonly #names = Object.keys(mutations);
  #monitor: Peer | undefined;
  #model = new AttackedModel(attacked, 'tail-batching', soakConfig);
  #host = new SoakHost(attacked);
  #before: unknown;
  #id = 0;
  /** Inputs of each kind, connections, and what came for them. */
  readonly counts: Record<string, number> = {};
  inputs = 0;
  connections = 0;
  errors = 0;
  results = 0;

  readonly #alone: boolean;

  /** @param alone - there is one connection only: its answers are checked, but nobody can ask for the sessions after it */
  constructor(ground: Playground, seed: number, { alone = false } = {}) {
    this.#ground = ground;
    this.#draw = new Draw(seed);
    this.#alone = alone;
    this.#model.isOpen = !alone;
  }

  /** Opens the two sessions. */
  async begin(): Promise<void> {
    const host = new SoakHost(bystander);
    await this.#call('session.open', { policy: 'tail-batching', config: soakConfig, session: bystander });
    for (let n = 0; n < 7; n += 1) {
      const events = host.next();
      const { decisions } = (await this.#call('session.send', { session: bystander, events })) as {
        decisions: never[];
      };
      host.tell(events, decisions);
    }
    this.#before = await this.#call('session.snapshot', { session: bystander });
    await this.#openAttacked();
  }

  /** One connection, and up to so many lines over it. */
  async converse(most: number): Promise<void> {
    const lines = Array.from({ length: 1 + this.#draw.below(most) }, () => this.#line()).filter(
      ({ line }) => !isUntold(line),
    );
    for (const { name } of lines) this.counts[name] = (this.counts[name] ?? 0) + 1;
    this.inputs += lines.length;
    this.connections += 1;
    const peer = await this.#ground.connect();
    const isBroken = !this.#alone && this.#draw.below(12) === 0;
    const halfALine = this.#draw.below(4) === 0;
    const bytes = Buffer.concat(lines.flatMap(({ line }) => [line, Buffer.from('\n')]));
    this.#sendInPieces(peer, halfALine ? bytes.subarray(0, bytes.length - 1) : bytes);
    if (isBroken) {
      this.counts['broken off'] = (this.counts['broken off'] ?? 0) + 1;
      peer.destroy();
      await this.#settle(lines.length * fuzzLimits.maxEventsPerCall * fuzzLimits.maxBatchCalls);
      return;
    }
    peer.end();
    this.counts['half-closed'] = (this.counts['half-closed'] ?? 0) + 1;
    const plans: Due[] = [];
    for (const { line } of lines) await this.#paid(line, peer, plans);
    while (plans.length > 0) {
      const answer = (await peer.next('answer')) as Answer | undefined;
      if (!this.#paidPlan(answer, plans)) throw new Error(`no plan was due: ${JSON.stringify(answer)}`);
    }
    const extra = await peer.next('answer');
    if (extra !== undefined) throw new Error(`an answer too many: ${JSON.stringify(extra)}`);
    await peer.closed();
    if (!this.#alone) await this.#settle(0);
  }

  #line(): Named {
    const draw = this.#draw;
    const isPlayed = draw.below(3) === 0;
    const events = this.#host.next();
    const played = { jsonrpc: '2.0', id: ++this.#id, method: 'session.send', params: { session: attacked, events } };
    const base = isPlayed ? JSON.stringify(played) : draw.of(this.#pool);
    const name = draw.of(this.#names);
    const made = mutations[name]!(base, draw, this.#pool, fuzzLimits.maxMessageBytes);
    // A line is what has no line break in it.
    return { name, line: Buffer.from(made.filter((byte) => byte !== 10)) };
  }

  #sendInPieces(peer: Peer, bytes: Buffer): void {
    const size = this.#draw.of([1, 7, 100, 5000, bytes.length]);
    const least = Math.max(size, Math.ceil(bytes.length / 200), 1);
    for (let at = 0; at < bytes.length; at += least) peer.send(bytes.subarray(at, at + least));
  }

  /** Whether an answer is that of one of these plans, which comes when it is there. */
  #paidPlan(answer: Answer | undefined, plans: Due[]): boolean {
    const at = plans.findIndex((due) => 'call' in due && isDeepStrictEqual(due.id, answer?.id));
    if (answer === undefined || at < 0) return false;
    const [due] = plans.splice(at, 1);
    this.#check(due!, answer);
    return true;
  }

  #check(due: Due, answer: Answer): void {
    assertPaid(due, answer);
    if (answer.error === undefined) this.results += 1;
    else this.errors += 1;
  }

  async #paid(line: Uint8Array, peer: Peer, plans: Due[]): Promise<void> {
    const due = owed(line);
    if (due === undefined) return;
    if ('call' in due && due.call.method === 'plan') {
      plans.push(due);
      return;
    }
    const all = 'all' in due ? due.all : [due];
    let got = await peer.next('answer');
    // An answer that this line may get is taken for that of a plan only where it has one.
    const isOfThis = (answer: Answer | undefined) => {
      if ('all' in due) return Array.isArray(answer);
      return isDeepStrictEqual('codes' in due ? null : due.id, answer?.id) && answer?.result?.plan === undefined;
    };
    while (!isOfThis(got as Answer) && this.#paidPlan(got as Answer, plans)) got = await peer.next('answer');
    const answers = ('all' in due ? got : [got]) as Answer[];
    if (!Array.isArray(answers) || answers.length !== all.length) {
      throw new Error(`no such answers to ${Buffer.from(line)}: ${JSON.stringify(got)}`);
    }
    for (const [index, answer] of answers.entries()) {
      if (answer === undefined) throw new Error(`no answer to ${Buffer.from(line)}`);
      const one = all[index]!;
      this.#check(one, answer);
      if ('call' in one) this.#model.happened(one.call, answer);
    }
  }

  /** The two sessions are as they must be; after a broken connection the attacked one may be up to so many events on. */
  async #settle(unknown: number): Promise<void> {
    const still = await this.#call('session.snapshot', { session: bystander });
    if (!isDeepStrictEqual(still, this.#before)) throw new Error('the bystander was changed');
    const found = await this.#answer('session.snapshot', { session: attacked });
    const state = found.result as { snapshot: Record<string, unknown> & { seq: number } } | undefined;
    if (unknown === 0 && this.#model.isOpen !== (state !== undefined))
      throw new Error('the session is gone, or is not');
    if (unknown === 0 && state !== undefined && !this.#model.isUnsure) {
      const same = isDeepStrictEqual(state.snapshot, this.#model.snapshot);
      if (!same) throw new Error(`another state: ${JSON.stringify(state.snapshot)}`);
    }
    if (this.connections % 50 === 0 || state === undefined || this.#model.isAnother || unknown > 0) {
      await this.#openAttacked();
    } else this.#model.restore(state.snapshot);
    if (this.connections % 20 === 0) await this.#closeOthers();
    if (Object.hasOwn(Object.prototype, 'polluted')) throw new Error('a prototype was changed');
    await this.#ground.pass?.(0);
  }

  async #openAttacked(): Promise<void> {
    const open = { policy: 'tail-batching', config: soakConfig, session: attacked, onExisting: 'replace' };
    await this.#call('session.open', open);
    this.#model = new AttackedModel(attacked, 'tail-batching', soakConfig);
    this.#host = new SoakHost(attacked);
    for (let n = this.#draw.below(6); n > 0; n -= 1) {
      const events = this.#host.next();
      const params = { session: attacked, events };
      const answer = await this.#answer('session.send', params);
      this.#model.happened({ method: 'session.send', params }, answer);
      this.#host.tell(events, (answer.result as { decisions: never[] }).decisions);
    }
  }

  async #closeOthers(): Promise<void> {
    const { sessions } = (await this.#call('session.list', {})) as { sessions: { session: string }[] };
    for (const { session } of sessions) {
      if (session !== attacked && session !== bystander) await this.#call('session.close', { session });
    }
  }

  async #answer(method: string, params: object): Promise<Answer> {
    this.#monitor ??= await this.#ground.connect();
    this.#monitor.send(Buffer.from(`${JSON.stringify({ jsonrpc: '2.0', id: 'monitor', method, params })}\n`));
    const answer = (await this.#monitor.next('answer')) as Answer | undefined;
    if (answer === undefined) throw new Error('the server is gone');
    return answer;
  }

  async #call(method: string, params: object): Promise<Record<string, unknown>> {
    const { result, error } = await this.#answer(method, params);
    if (result === undefined) throw new Error(`${method}: ${JSON.stringify(error)}`);
    return result;
  }
}
