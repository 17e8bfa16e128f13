/** The state of watchdog: what is owed, by whom, and what was reported about it. */
import { z } from 'zod';
import type { AnyDecision, AnyEvent, Live } from '../../core/machine/definition.ts';
import { byHand, derived } from '../../core/machine/state.ts';
import type { OpenCommand } from '../../core/why/command-table.ts';
import { isUnasked, type Messages } from '../../core/why/obligations.ts';
import { OpenCommands, savedOpenCommands } from '../../core/why/open-commands.ts';
import type { UsualTime } from '../../core/why/overdue.ts';
import { overdueSeconds } from '../../core/why/overdue.ts';
import type { WatchdogConfig } from '../../generated/settings/watchdog.ts';
import { timerSet } from '../../schemas/decisions/session.ts';
import { seconds } from '../../schemas/units.ts';
import { type Cause, Causes, type Owing } from './causes.ts';
import { decided, reported, timerFired } from './messages.ts';

const messages = { events: [...reported, timerFired], decisions: [...decided, timerSet] };

const cause = z.strictObject({
  key: z.string().describe('Names the cause.'),
  heardAt: seconds.describe('When something has come from it last.'),
  isNamed: z.boolean().describe('Whether it is named as a whole.'),
  freshAt: seconds.describe('When something came again after it was named.'),
  namedAfter: seconds.describe('The limit beyond which something of it was named last.'),
});
const saved = z.strictObject({
  commands: savedOpenCommands,
  causes: z.array(cause).describe('The causes of which more is known than what they owe.'),
  named: z.array(z.int().nonnegative()).describe('Commands that were named by themselves, by their index.'),
  heardAt: seconds.describe('When an event has come last.'),
  isHostNamed: z.boolean().describe('Whether the host was named, and nothing has come since.'),
  isResting: z.boolean().describe('Whether nothing becomes overdue until something is asked for, or comes.'),
  timeoutSeconds: seconds.describe('How long the policy itself lets a response take; 0 if it sets no timer for them.'),
});
type Saved = z.output<typeof saved>;

/** The state in which nothing is owed. */
export const nothingOwed: Saved = {
  commands: { open: [], times: [] },
  causes: [],
  named: [],
  heardAt: 0,
  isHostNamed: false,
  isResting: false,
  timeoutSeconds: 0,
};

/** Fewest answers that a usual time is learnt from. */
const fewestAnswers = 8;

/** The time after which an answer is overdue. */
export interface Limit {
  /** Limit in seconds, after which an answer is overdue. */
  readonly seconds: number;
  /** Usual time of such answers, where some have come. */
  readonly usual: UsualTime | undefined;
}

/** What is owed, by whom, and what was reported about it. */
export class Owed {
  readonly causes = new Causes();
  readonly commands: OpenCommands<Owing>;
  /** Time when an event has come last, in seconds. */
  heardAt: number;
  /** Whether the host was named, and nothing has come since. */
  isHostNamed: boolean;
  /** Whether nothing can become overdue until something is requested, or comes. */
  isResting: boolean;
  /** Time limit of the policy itself for a response, in seconds; 0 if it sets no timer for responses. */
  timeoutSeconds: number;
  /** Set by the definition's `link`. */
  config: WatchdogConfig | undefined;
  #now = 0;
  /** Causes that owed nothing for a moment. */
  #empty: Cause[] = [];
  readonly #keepsReasons: boolean;

  /** @param only - messages of the single followed policy: then nothing else is awaited, and reasons are stored unchanged */
  constructor(from: Saved, only?: Messages) {
    this.#keepsReasons = only !== undefined;
    this.heardAt = from.heardAt;
    this.isHostNamed = from.isHostNamed;
    this.isResting = from.isResting;
    this.timeoutSeconds = from.timeoutSeconds;
    this.commands = new OpenCommands(only ?? messages, Number.POSITIVE_INFINITY, from.commands, this);
    for (const { key, ...known } of from.causes) {
      const found = this.causes.get(key);
      if (found !== undefined) Object.assign(found, known);
    }
    const { marks } = this.commands;
    for (const index of from.named) if (marks[index] !== undefined) this.causes.name(marks[index]);
  }

  /** Number of answers that are awaited. */
  get size(): number {
    return this.commands.size;
  }

  /** Follows an event of the host. */
  heard(event: AnyEvent, at: number): void {
    this.#isAlive(at);
    this.commands.heard(event, at);
    this.#prune();
  }

  /** Follows a decision of another policy, or a report of the host that answers nothing. */
  told(decision: AnyEvent & Partial<AnyDecision>, at: number): void {
    if (!this.commands.isHeldBack(decision.type)) this.isResting = false;
    // The numbers in a reason belong to the decision, and a saved state shares nothing with it.
    const reason = this.#keepsReasons ? decision.reason : { code: decision.reason?.code ?? 'reported' };
    this.commands.told(decision as AnyDecision, at, reason);
    if (this.commands.size > this.config!.maxOwed) this.commands.forgetOldest();
    this.#prune();
  }

  /** Called by the commands. */
  opened(one: OpenCommand): Owing {
    return this.causes.add(one);
  }

  /** Called by the commands. An overdue answer does not count for usual times, because a single hang would hide the next ones. */
  longest({ one, cause, isNamed }: Owing): number {
    return cause.isNamed || isNamed || one.since < cause.freshAt ? cause.namedAfter : Number.POSITIVE_INFINITY;
  }

  /** Whether a command that was asked for is owed: not a timer, nor an event that the host sends by itself. */
  get isAsked(): boolean {
    const isAsked = ([type, { size }]: [string, { size: number }]): boolean =>
      size > 0 && type !== 'timer.set' && !isUnasked(type);
    return [...this.causes].some(({ queues, named }) => named.size > 0 || [...queues].some(isAsked));
  }

  /**
   * Returns after how many seconds an answer is overdue.
   *
   * @param isAsked - {@link Owed.isAsked}
   */
  limitOf({ answer, type }: OpenCommand, isAsked: boolean): Limit {
    const { floorSeconds, startSeconds, factor } = this.config!;
    const usual = this.commands.usual(answer);
    // An event that a host sends of its own accord may come only after the requested ones. A timer is awaited from its time on.
    const otherwise = isAsked && isUnasked(type) ? Number.POSITIVE_INFINITY : startSeconds;
    const unknown = answer === 'timer.fired' ? floorSeconds : otherwise;
    let limit = overdueSeconds(usual, {
      ...{ shortest: floorSeconds, unknown, fewAnswers: fewestAnswers, few: () => unknown },
      // No logarithm decides: engines of JavaScript round them differently.
      times: [factor, factor],
    });
    // A policy that ends late responses by itself is given time for that: its timer, and then what it asks for.
    if (answer === 'response.completed' && this.timeoutSeconds > 0)
      limit = Math.max(limit, this.timeoutSeconds + 2 * floorSeconds);
    return { seconds: limit, usual };
  }

  /** Called by the commands. */
  ended(owing: Owing, isAnswered: boolean): void {
    const { cause } = owing;
    this.causes.remove(owing);
    if (cause.owed === 0) this.#empty.push(cause);
    if (!isAnswered) return;
    cause.heardAt = this.#now;
    if (!cause.isNamed) return;
    cause.isNamed = false;
    cause.freshAt = this.#now;
  }

  save(): Saved {
    const isKnown = ({ heardAt, isNamed, freshAt, namedAfter }: Cause): boolean =>
      isNamed || Math.max(heardAt, freshAt, namedAfter) > 0;
    return {
      commands: this.commands.save(),
      causes: [...this.causes]
        .filter(isKnown)
        .map(({ key, heardAt, isNamed, freshAt, namedAfter }) => ({ key, heardAt, isNamed, freshAt, namedAfter })),
      named: this.commands.marks.flatMap((owing, index) => (owing.isNamed ? [index] : [])),
      heardAt: this.heardAt,
      isHostNamed: this.isHostNamed,
      isResting: this.isResting,
      timeoutSeconds: this.timeoutSeconds,
    };
  }

  /** Notes that the host has sent an event. */
  #isAlive(at: number): void {
    this.#now = at;
    this.heardAt = at;
    this.isResting = false;
    if (!this.isHostNamed) return;
    this.isHostNamed = false;
    for (const one of this.causes) Object.assign(one, { isNamed: false, freshAt: at });
  }

  #prune(): void {
    if (this.#empty.length === 0) return;
    for (const one of this.#empty) this.causes.prune(one);
    this.#empty = [];
  }
}

export const watchdogState = z.strictObject({
  owed: byHand(saved, { decode: (from) => new Owed(from), encode: (owed) => owed.save() }),
  armedAt: seconds.nullable().describe('When the next check is, for which a timer is set; null if there is none.'),
  /** Whether the host has no timer for the next check; false between events. */
  isTimerGone: derived(() => false),
});
/** The state as handlers see it. */
export type WatchdogState = Live<z.output<typeof watchdogState>, WatchdogConfig>;
/** The state in snapshots. */
export type SavedWatchdog = z.input<typeof watchdogState>;
