/**
 * Shows the activity of a job, from its events and decisions in order: rounds, the work of each engine and worker, deferred
 * prompts, and rates. The view knows no policy by name and uses only the vocabulary. Its memory is bounded, and it says which
 * events it has not seen.
 */

import type { AnyDecision, AnyEvent } from '../../core/machine/definition.ts';
import type { Messages } from '../../core/why/obligations.ts';
import { Bins, binSeconds, mostBins } from './bins.ts';
import { DeferredThings } from './deferred.ts';
import { type Round, Rounds } from './rounds.ts';
import { type Actor, type Span, Spans } from './spans.ts';

/** Events that were not followed: the charts are empty in between. */
export interface Missed {
  /** Time of the last event before the gap, in seconds. */
  readonly from: number;
  /** Time of the first event after the gap, in seconds. */
  to: number;
  /** Number of missed events. */
  events: number;
}

/** Sums over bins, from one bin to another. */
export interface Timeline {
  /** Seconds of a bin; times are `bin * width`. */
  readonly width: number;
  /** First bin. */
  readonly from: number;
  /** Number of the bin after the last one. */
  readonly to: number;
  /** Present time, in seconds, which ends the last bin. */
  readonly at: number;
  /** For each actor: the number of answers that it owes, on average. */
  readonly actors: readonly { readonly who: string; readonly by: string | null; readonly load: readonly number[] }[];
  /** Number of engines, on average. */
  readonly engines: readonly number[];
  /** Number of engines without work while others work, on average. */
  readonly idle: readonly number[];
  /** Number of deferred prompts, on average. */
  readonly queue: readonly number[];
  /** Events, for each second. */
  readonly events: readonly number[];
  /** Decisions, for each second. */
  readonly decisions: readonly number[];
  /** Completed responses, for each second. */
  readonly completed: readonly number[];
  /** Tokens of completed responses, for each second. */
  readonly tokens: readonly number[];
}

/** A wait for an answer, as a bar. */
export interface RequestBar {
  readonly id: string;
  readonly type: string;
  readonly actor: string;
  readonly from: number;
  /** Absent while the wait continues. */
  readonly to?: number;
  /** Event that ended the wait; absent if the wait was replaced, or its end is unknown. */
  readonly ended?: string;
}

/** Number of each actor's open waits that a chart considers, oldest first: later waits cannot be longer. */
const mostLooked = 1024;
/** Most gaps that are told apart. */
const mostMissed = 16;
/** Senders without work that a chart of requests would show. */
const notDrawn: ReadonlySet<string> = new Set(['host', 'timer', 'data source']);

/** Names an actor in words. */
export const actorName = ({ who, by }: Pick<Actor, 'who' | 'by'>): string => (by === undefined ? who : `${who} ${by}`);

export class JobView {
  /** Time of the first followed event; `undefined` before it. */
  begun: number | undefined;
  /** Time of the latest event, up to which time is counted, in seconds. */
  heardTo = 0;
  at = 0;
  /** Totals over the followed events. */
  readonly totals = { events: 0, decisions: 0, completed: 0, tokens: 0 };
  readonly missed: Missed[] = [];
  readonly spans: Spans;
  readonly deferred = new DeferredThings();
  readonly #rounds = new Rounds();
  readonly #events = new Bins();
  readonly #decisions = new Bins();
  readonly #completed = new Bins();
  readonly #tokens = new Bins();
  /** Whether the events before the next one are missing. */
  #gap: Missed | undefined;

  /** @param messages - messages that the policy takes and makes: its definition */
  constructor(messages: Messages) {
    this.spans = new Spans(messages, (span, event) => {
      if (span.roundId !== undefined && !notDrawn.has(span.actor.who))
        this.#rounds.ended(span.roundId, event.type, (event as { tokens?: unknown }).tokens);
    });
  }

  /** Takes an applied event and its decisions. */
  follow(event: AnyEvent, decisions: readonly AnyDecision[]): void {
    this.heardTo = Math.max(this.heardTo, event.at);
    const at = (this.at = Math.max(this.at, event.at));
    this.begun ??= at;
    if (this.#gap !== undefined) {
      this.#gap.to = at;
      this.#gap = undefined;
    }
    this.totals.events += 1;
    this.totals.decisions += decisions.length;
    this.#events.add(at, 1);
    if (decisions.length > 0) this.#decisions.add(at, decisions.length);
    this.#count(event as never, at);
    this.#rounds.follow(event, decisions, at);
    this.spans.follow(event, decisions, at);
    this.deferred.follow(event, decisions, at);
  }

  /** Notes that so many events were not followed, so that open waits are not known any more. */
  miss(events: number): void {
    if (this.#gap === undefined) {
      this.#gap = { from: this.at, to: this.at, events: 0 };
      this.missed.push(this.#gap);
      if (this.missed.length > mostMissed) {
        const [first, second] = this.missed.splice(0, 2);
        this.missed.unshift({ from: first!.from, to: second!.to, events: first!.events + second!.events });
      }
      this.spans.forget(this.at);
      this.deferred.forget(this.at);
    }
    this.#gap.events += events;
  }

  /** Lets time go on to now: a job that hangs has no events. */
  upTo(at: number): void {
    if (this.begun === undefined) return;
    this.at = Math.max(this.at, at);
    this.spans.upTo(this.at);
    this.deferred.queue.upTo(this.at);
  }

  /** The rounds, oldest first. */
  get rounds(): Round[] {
    return [...this.#rounds.all.values()];
  }

  /**
   * Returns sums over time, up to now.
   *
   * @param level - level of the bins: see {@link binSeconds}
   * @param since - the first bin that is wanted; the oldest that is kept if absent
   */
  timeline(level: number, since = 0): Timeline {
    this.upTo(this.at);
    const width = binSeconds[level]!;
    const to = Math.floor(this.at / width);
    const from = Math.max(since, to - mostBins + 1, Math.floor((this.begun ?? this.at) / width));
    // Only a part of the last bin has passed.
    const last = Math.max(this.at - to * width, width / 8);
    const rate = (bins: Bins): number[] =>
      bins.read(level, from, to).map((sum, index) => rounded(sum / (index === to - from ? last : width)));
    return {
      ...{ width, from, to, at: this.at },
      actors: [...this.spans.actors.values()]
        .filter(({ who }) => who !== 'timer')
        .map(({ who, by, load }) => ({ who, by: by ?? null, load: rate(load.bins) })),
      engines: rate(this.spans.here.bins),
      idle: rate(this.spans.idle.bins),
      queue: rate(this.deferred.queue.bins),
      events: rate(this.#events),
      decisions: rate(this.#decisions),
      completed: rate(this.#completed),
      tokens: rate(this.#tokens),
    };
  }

  /**
   * Returns the waits for engines, workers and similar actors: the longest ones, ended or continuing.
   *
   * @param roundId - only waits of this round
   * @returns the bars, and the number of all waits
   */
  requests(most: number, roundId?: string): { bars: RequestBar[]; of: number } {
    const meant = [...this.spans.all(mostLooked)].filter(
      ({ actor, roundId: round }) => !notDrawn.has(actor.who) && (roundId === undefined || round === roundId),
    );
    const seconds = ({ from, to = this.at }: Span): number => to - from;
    const bars = [...meant]
      .sort((a, b) => seconds(b) - seconds(a))
      .slice(0, most)
      .sort((a, b) => a.from - b.from)
      .map(({ id, type, actor, from, to, ended }) => ({
        ...{ id, type, actor: actorName(actor), from },
        ...(to === undefined ? undefined : { to }),
        ...(ended === undefined ? undefined : { ended }),
      }));
    return { bars, of: meant.length };
  }

  /** Counts responses, and their tokens if the event has them. */
  #count({ type, tokens, samples }: { type: string; tokens?: unknown; samples?: unknown }, at: number): void {
    const count = type === 'response.completed' ? 1 : type === 'group.completed' ? Number(samples ?? 0) : 0;
    if (count > 0) {
      this.totals.completed += count;
      this.#completed.add(at, count);
    }
    if ((count > 0 || type === 'request.aborted') && typeof tokens === 'number') {
      this.totals.tokens += tokens;
      this.#tokens.add(at, tokens);
    }
  }
}

const rounded = (value: number): number => Number(value.toPrecision(4));
