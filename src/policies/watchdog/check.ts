/** Looks for overdue answers, and names the cause once, instead of each waiting answer. */
import type { Context } from '../../core/machine/definition.ts';
import type { OpenCommand } from '../../core/why/command-table.ts';
import type { WatchdogDecision } from '../../generated/settings/watchdog.ts';
import type { Message } from '../../schemas/messages.ts';
import { type Cause, type Owing, queuesOf } from './causes.ts';
import type { Limit, WatchdogState } from './state.ts';

type Ctx = Context<WatchdogDecision>;
type Reason = Message<'host.owes'>['reason'];

/** Most answers per cause that are named one by one; more are named together. */
const mostSingle = 8;
/** Most notices per check; the next check has the others. */
const mostNotices = 32;
/** Shortest time between two checks, in seconds. */
export const leastSeconds = 1;

class Check {
  readonly #state: WatchdogState;
  readonly #ctx: Ctx;
  readonly #limits = new Map<string, Limit>();
  readonly #isAsked: boolean;
  #room = mostNotices;
  /** Earliest time at which something may become overdue. */
  next = Number.POSITIVE_INFINITY;

  constructor(state: WatchdogState, ctx: Ctx) {
    this.#state = state;
    this.#ctx = ctx;
    this.#isAsked = state.owed.isAsked;
  }

  run(): void {
    const { causes, isHostNamed } = this.#state.owed;
    if (isHostNamed) return;
    let silent = 0;
    const found: Cause[] = [];
    for (const cause of causes) {
      if (cause.isNamed) silent += 1;
      else if (this.#isSilent(cause)) {
        silent += 1;
        found.push(cause);
      } else this.#single(cause);
    }
    if (found.length === 0) return;
    if (silent > 1 && silent === causes.size && this.#isQuiet(found)) return this.#nameHost(found, silent);
    for (const cause of found) {
      if (this.#room === 0) this.next = 0;
      else this.#nameCause(cause);
    }
  }

  #limitOf(one: OpenCommand): Limit {
    let limit = this.#limits.get(one.type);
    if (limit === undefined) this.#limits.set(one.type, (limit = this.#state.owed.limitOf(one, this.#isAsked)));
    return limit;
  }

  /** Returns the time at which an answer becomes overdue. */
  #dueAt(one: OpenCommand, { freshAt }: Cause): number {
    return Math.max(one.since, freshAt) + this.#limitOf(one).seconds;
  }

  /** Whether the oldest answer of every kind that a cause owes is overdue, and nothing has come from it meanwhile. */
  #isSilent(cause: Cause): boolean {
    const { at } = this.#ctx;
    const queues = queuesOf(cause);
    let isSilent = queues.length > 0;
    for (const queue of queues) {
      const { one } = queue.peek()!;
      const dueAt = this.#dueAt(one, cause);
      if (dueAt > at) this.next = Math.min(this.next, dueAt);
      if (dueAt > at || cause.heardAt + this.#limitOf(one).seconds > at) isSilent = false;
    }
    return isSilent;
  }

  /** Whether the host has sent nothing at all for so long. */
  #isQuiet(causes: readonly Cause[]): boolean {
    const { heardAt } = this.#state.owed;
    return causes.every((cause) => heardAt + this.#limitOf(oldestOf(cause)).seconds <= this.#ctx.at);
  }

  /** Names the overdue answers of a cause from which other answers still come. */
  #single(cause: Cause): void {
    for (const queue of queuesOf(cause)) {
      const late: Owing[] = [];
      for (let owing = queue.peek(); owing !== undefined; owing = owing.next ?? undefined) {
        const dueAt = this.#dueAt(owing.one, cause);
        if (dueAt > this.#ctx.at) {
          this.next = Math.min(this.next, dueAt);
          break;
        }
        late.push(owing);
      }
      if (late.length === 0) continue;
      const [{ one: first }] = late as [Owing];
      if (this.#room < Math.min(late.length, mostSingle)) {
        this.next = 0;
        continue;
      }
      cause.namedAfter = this.#limitOf(first).seconds;
      for (const owing of late) this.#state.owed.causes.name(owing);
      if (late.length > mostSingle) this.#emit(cause, first, late.length, { code: 'overdue', ...this.#late(first) });
      else for (const { one } of late) this.#emit(cause, one, 1, { code: 'overdue', ...this.#late(one) });
    }
  }

  #nameCause(cause: Cause): void {
    const oldest = oldestOf(cause);
    Object.assign(cause, { isNamed: true, namedAfter: this.#limitOf(oldest).seconds });
    const silentSeconds = this.#ctx.at - Math.max(cause.heardAt, oldest.since);
    this.#emit(cause, oldest, cause.owed, { code: 'silent', ...this.#late(oldest), silentSeconds });
  }

  #nameHost(found: readonly Cause[], causes: number): void {
    const { owed } = this.#state;
    owed.isHostNamed = true;
    for (const one of found) Object.assign(one, { isNamed: true, namedAfter: this.#limitOf(oldestOf(one)).seconds });
    const oldest = found.map(oldestOf).reduce((one, other) => (other.since < one.since ? other : one));
    const silentSeconds = this.#ctx.at - owed.heardAt;
    const reason = { code: 'nothing_comes', ...this.#late(oldest), silentSeconds, causes } as const;
    this.#emit({ sender: 'host', by: undefined }, oldest, owed.size, reason);
  }

  #late(one: OpenCommand) {
    const { seconds, usual } = this.#limitOf(one);
    return {
      // When an answer is just due, a rounding error may make the difference too small.
      waitedSeconds: Math.max(this.#ctx.at - one.since, seconds),
      limitSeconds: seconds,
      ...(usual === undefined ? undefined : { usualSeconds: usual.medianSeconds }),
      answers: Math.round(usual?.answers ?? 0),
    };
  }

  #emit({ sender, by }: Pick<Cause, 'sender' | 'by'>, one: OpenCommand, count: number, reason: Reason): void {
    this.#room -= 1;
    const { answer: event, ids, since } = one;
    const who = by === undefined ? { sender } : { sender, by };
    const { at } = this.#ctx;
    this.#ctx.emit({ type: 'host.owes', at, ...who, event, ids: { ...ids }, count, sinceSeconds: since, reason });
  }
}

function oldestOf(cause: Cause): OpenCommand {
  let found: OpenCommand | undefined;
  for (const queue of queuesOf(cause)) {
    const { one } = queue.peek()!;
    if (found === undefined || one.since < found.since) found = one;
  }
  return found!;
}

/** Says what is overdue, and returns when to check again, at the latest after `floorSeconds`; nothing if time alone changes nothing. */
export function check(state: WatchdogState, ctx: Ctx): number | undefined {
  const one = new Check(state, ctx);
  one.run();
  if (one.next === Number.POSITIVE_INFINITY) return undefined;
  return Math.min(ctx.at + state.config.floorSeconds, Math.max(ctx.at + leastSeconds, one.next));
}
