/** The host of one session under load: what it sends follows from what it was told, so that it can be played again. */
import { createHash } from 'node:crypto';
import { create, tailBatching } from '../../../src/index.ts';

type Decision = { readonly type: string; readonly [field: string]: unknown };
export type Event = Readonly<Record<string, unknown>>;

export const soakConfig = { promptsPerRound: 2, responsesPerPrompt: 1 };

/** Its ids begin with that of the session: nobody else has them. */
export class SoakHost {
  readonly session: string;
  readonly #flying = new Set<string>();
  readonly #toAbort = new Set<string>();
  readonly #timers = new Map<string, number>();
  #wanted = 0;
  #rounds = 0;
  #prompts = 0;
  #time = 0;
  #open = false;
  #drained = true;
  #digest = '';
  /** Decisions that were told. */
  told = 0;

  constructor(session: string) {
    this.session = session;
  }

  /** Digest of all decisions so far, in order. */
  get digest(): string {
    return this.#digest;
  }

  next(): Event[] {
    const at = ++this.#time;
    if (this.#toAbort.size > 0)
      return [...this.#toAbort].map((requestId) => ({ type: 'request.aborted', at, requestId }));
    for (const [timerId, fireAtSeconds] of this.#timers) {
      if (fireAtSeconds > at) continue;
      this.#timers.delete(timerId);
      return [{ type: 'timer.fired', at, timerId }];
    }
    const roundId = `${this.session}/r${this.#rounds}`;
    if (this.#wanted > 0) {
      const prompts = Array.from({ length: this.#wanted }, () => ({ promptId: `${this.session}/p${++this.#prompts}` }));
      this.#wanted = 0;
      return [{ type: 'prompts.supplied', at, roundId, prompts }];
    }
    if (!this.#open && this.#drained) {
      this.#rounds += 1;
      return [
        { type: 'round.requested', at, roundId: `${this.session}/r${this.#rounds}`, weightVersion: this.#rounds },
      ];
    }
    const done = [...this.#flying].slice(0, 2);
    return done.map((requestId) => ({ type: 'response.completed', at, requestId, tokens: 100 + (at % 50) }));
  }

  /** Throws where a decision belongs to another session. */
  tell(events: readonly Event[], decisions: readonly Decision[]): void {
    for (const { type, requestId } of events as { type: string; requestId: string }[]) {
      if (type === 'response.completed') this.#flying.delete(requestId);
      if (type === 'request.aborted') this.#toAbort.delete(requestId);
    }
    for (const one of decisions) this.#told(one);
    this.told += decisions.length;
    const hash = createHash('sha1').update(this.#digest);
    for (const one of decisions) hash.update(JSON.stringify(one));
    this.#digest = hash.digest('base64');
  }

  #told(decision: Decision): void {
    const { type, roundId, promptId, requestId } = decision;
    for (const id of [roundId, promptId, requestId]) {
      if (id === undefined || String(id).startsWith(`${this.session}/`)) continue;
      throw new Error(`${this.session} was told of ${id}: ${JSON.stringify(decision)}`);
    }
    switch (type) {
      case 'round.planned':
        [this.#open, this.#drained] = [true, false];
        break;
      case 'prompts.request':
        this.#wanted += decision.count as number;
        break;
      case 'request.launch':
        this.#flying.add(requestId as string);
        break;
      case 'request.abort':
        this.#flying.delete(requestId as string);
        this.#toAbort.add(requestId as string);
        break;
      case 'timer.set':
        this.#timers.set(decision.timerId as string, decision.fireAtSeconds as number);
        break;
      case 'round.completed':
        this.#open = false;
        this.#wanted = 0;
        break;
      case 'round.drained':
        this.#drained = true;
        break;
      default:
    }
  }
}

/** The same in process; returns the digest after as many calls. */
export function playedInProcess(session: string, calls: number): string {
  const host = new SoakHost(session);
  const policy = create(tailBatching, soakConfig);
  for (let n = 0; n < calls; n += 1) {
    const events = host.next();
    host.tell(
      events,
      events.flatMap((one) => policy.send(one as never) as unknown as Decision[]),
    );
  }
  return host.digest;
}
