/** Commands by the actor that has to answer: the work of each actor over time, idle actors, and the latest waits. */

import { type Linked, LinkedList } from '../../core/collections/linked-list.ts';
import type { AnyDecision, AnyEvent } from '../../core/machine/definition.ts';
import type { OpenCommand } from '../../core/why/command-table.ts';
import type { Messages } from '../../core/why/obligations.ts';
import { OpenCommands } from '../../core/why/open-commands.ts';
import { type Sender, senderOf } from '../../schemas/senders.ts';
import { Gauge } from './bins.ts';

/** A wait for one answer. */
export interface Span extends Linked<Span> {
  readonly id: string;
  /** Type of the decision, and type of its usual answer. */
  readonly type: string;
  readonly answer: string;
  readonly roundId: string | undefined;
  actor: Actor;
  readonly from: number;
  to: number | undefined;
  /** Type of the event that ended the wait; absent while it continues, and if no event ended it. */
  ended: string | undefined;
}

/** An actor that has to answer: an engine, a worker, or all actors of a kind whose commands do not name one. */
export interface Actor {
  readonly who: Sender;
  readonly by: string | undefined;
  /** Number of continuing waits for this actor. */
  readonly load: Gauge;
  /** The same, oldest first. */
  readonly open: LinkedList<Span>;
  /** Whether the engine is present: an engine that is lost, or takes no more requests, does not count as idle. */
  isHere: boolean;
}

/** Most actors that are told apart; most ended waits that are kept. */
const [mostActors, mostEnded] = [64, 4096];
/** Most commands that are followed at once; the oldest are forgotten first. */
const mostOpen = 65_536;

export class Spans {
  readonly commands: OpenCommands<Span>;
  readonly actors = new Map<string, Actor>();
  /** Number of present engines without work while others work, and number of present engines. */
  readonly idle = new Gauge();
  readonly here = new Gauge();
  /** The latest waits that have ended: a ring. */
  readonly #ended: Span[] = [];
  #endedCount = 0;
  readonly #over: (span: Span, event: AnyEvent) => void;
  #at = 0;
  #event: AnyEvent | undefined;
  #decision: (AnyDecision & { readonly roundId?: unknown }) | undefined;
  #busyEngines = 0;

  /** @param over - called for each wait that an event has ended */
  constructor(messages: Messages, over: (span: Span, event: AnyEvent) => void) {
    this.#over = over;
    this.commands = new OpenCommands<Span>(messages, mostOpen, undefined, {
      opened: (one) => this.#opened(one),
      ended: (span, isAnswered) => this.#close(span, isAnswered),
      moved: (span, { by }) => this.#moved(span, by),
      longest: () => Number.POSITIVE_INFINITY,
    });
  }

  follow(event: AnyEvent, decisions: readonly AnyDecision[], at: number): void {
    this.#at = at;
    this.#event = event;
    this.#decision = undefined;
    this.#engines(event as never);
    this.commands.heard(event, at);
    for (const one of decisions) {
      this.#decision = one;
      this.commands.told(one);
    }
  }

  /** Forgets open waits, because events are missing. */
  forget(at: number): void {
    this.#at = at;
    this.#event = undefined;
    while (this.commands.size > 0) this.commands.forgetOldest();
  }

  /** The latest ended waits, and for each actor the oldest continuing waits, up to a number. */
  *all(most: number): Generator<Span> {
    yield* this.#ended;
    for (const { open } of this.actors.values()) {
      let left = most;
      for (let one = open.peek(); one !== undefined && left > 0; one = one.next ?? undefined, left -= 1) yield one;
    }
  }

  /** Counts the time up to now. */
  upTo(at: number): void {
    for (const { load } of this.actors.values()) load.upTo(at);
    this.idle.upTo(at);
    this.here.upTo(at);
  }

  #opened({ type, answer, ids, by }: OpenCommand): Span {
    const who = senderOf(answer);
    const id = ids.requestId ?? Object.values(ids)[0] ?? '';
    const { roundId } = this.#decision ?? {};
    const round = typeof roundId === 'string' ? roundId : ids.roundId;
    const actor = this.#actor(who, by);
    const span: Span = {
      ...{ id, type, answer, roundId: round, actor, from: this.#at, to: undefined, ended: undefined },
      ...{ previous: null, next: null },
    };
    this.#enter(span, actor);
    return span;
  }

  #close(span: Span, isAnswered: boolean): void {
    this.#leave(span);
    span.to = this.#at;
    if (span.actor.who === 'timer') return;
    this.#ended[this.#endedCount % mostEnded] = span;
    this.#endedCount += 1;
    if (!isAnswered || this.#event === undefined) return;
    span.ended = this.#event.type;
    this.#over(span, this.#event);
  }

  #moved(span: Span, by: string | undefined): void {
    this.#leave(span);
    this.#enter(span, this.#actor(span.actor.who, by));
  }

  #enter(span: Span, actor: Actor): void {
    span.actor = actor;
    actor.open.push(span);
    this.#loaded(actor);
  }

  #leave(span: Span): void {
    span.actor.open.remove(span);
    this.#loaded(span.actor);
  }

  #loaded(actor: Actor): void {
    const [before, now] = [actor.load.value, actor.open.size];
    actor.load.set(this.#at, now);
    if (actor.who !== 'engine' || (before === 0) === (now === 0)) return;
    this.#busyEngines += now === 0 ? -1 : 1;
    if (now > 0) actor.isHere = true;
    this.#idled();
  }

  /** Counts idle engines. All unnamed engines count as one. */
  #idled(): void {
    let [here, idle] = [0, 0];
    for (const { who, by, isHere, load } of this.actors.values()) {
      if (who !== 'engine' || by === undefined || !isHere) continue;
      here += 1;
      if (load.value === 0) idle += 1;
    }
    this.here.set(this.#at, here);
    this.idle.set(this.#at, this.#busyEngines > 0 ? idle : 0);
  }

  #actor(who: Sender, by: string | undefined): Actor {
    // If there are too many actors, the rest counts as one.
    const key = `${who}\n${by ?? ''}`;
    const known = this.actors.get(key);
    if (known !== undefined) return known;
    if (by !== undefined && this.actors.size >= mostActors) return this.#actor(who, undefined);
    const made: Actor = { who, by, load: new Gauge(), open: new LinkedList(), isHere: true };
    made.load.upTo(this.#at);
    this.actors.set(key, made);
    return made;
  }

  /** Follows which engines exist. */
  #engines(event: AnyEvent & Partial<Record<string, unknown>>): void {
    const { type, engineId } = event;
    if (type === 'engines.changed' || type === 'engines.placed') {
      const named = (event.engineIds ?? event.engines) as readonly (string | { readonly engineId?: string })[];
      const ids = new Set(named.map((one) => (typeof one === 'string' ? one : one.engineId)));
      for (const actor of this.actors.values()) if (actor.who === 'engine') actor.isHere = ids.has(actor.by);
      for (const id of ids) if (id !== undefined) this.#actor('engine', id).isHere = true;
      this.#idled();
      return;
    }
    if (typeof engineId !== 'string') return;
    const known = type.startsWith('engine.') ? this.#actor('engine', engineId) : undefined;
    if (known === undefined || known.by === undefined) return;
    if (type === 'engine.added') known.isHere = true;
    else if (type === 'engine.lost' || type === 'engine.drained') known.isHere = false;
    else return;
    this.#idled();
  }
}
