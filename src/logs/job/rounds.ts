/** Follows the rounds of a job, by any message that names a round. */
import type { AnyDecision, AnyEvent } from '../../core/machine/definition.ts';

/** A round. */
export interface Round {
  /** Id of the round. */
  readonly id: string;
  /** `short` or `long`, if its messages say so. */
  kind?: string;
  /** Weight version of the round. */
  weightVersion?: number;
  /** Time of the first message, in seconds. */
  readonly from: number;
  /** Time of the latest message, in seconds. */
  to: number;
  /** Time at which the rollout was completed or failed. */
  end?: number;
  /** By type: the time of the first message about the round as a whole. */
  readonly marks: Record<string, number>;
  /** Number of requests that were launched for the round. */
  launched: number;
  /** Number of ended requests, by the event that ended them. */
  readonly ended: Record<string, number>;
  /** Tokens of completed responses. */
  tokens: number;
  /** Number of prompts by outcome: `counted`, `deferred`, `filtered`, … */
  readonly prompts: Record<string, number>;
}

/** Most rounds that are kept. */
const mostRounds = 64;
/** Messages about a round as a whole, beside those whose type begins with `round.`. */
const marks: ReadonlySet<string> = new Set([
  'train.batch',
  'optimizer.stepped',
  'weights.publish',
  'weights.published',
  'source.drained',
]);
const ends: ReadonlySet<string> = new Set(['round.completed', 'round.failed', 'train.batch', 'source.drained']);

interface RoundMessage {
  readonly type: string;
  readonly roundId?: unknown;
  readonly kind?: unknown;
  readonly weightVersion?: unknown;
}

export class Rounds {
  readonly all = new Map<string, Round>();

  follow(event: AnyEvent, decisions: readonly AnyDecision[], at: number): void {
    this.#take(event, at, event.type.startsWith('round.'));
    // A late message belongs to a round that is over.
    for (const one of decisions) this.#take(one, at, !one.type.endsWith('.late'));
  }

  /** Counts an event that ended a request of a round. */
  ended(roundId: string, type: string, tokens: unknown): void {
    const round = this.all.get(roundId);
    if (round === undefined) return;
    count(round.ended, type);
    if (type === 'response.completed' && typeof tokens === 'number') round.tokens += tokens;
  }

  /** @param mayBegin - whether the message may be the first one of its round */
  #take(message: RoundMessage, at: number, mayBegin: boolean): void {
    const { type, roundId: id, kind, weightVersion } = message;
    if (typeof id !== 'string') return;
    let round = this.all.get(id);
    if (round === undefined) {
      if (!mayBegin) return;
      round = { id, from: at, to: at, marks: {}, launched: 0, ended: {}, tokens: 0, prompts: {} };
      this.all.set(id, round);
      if (this.all.size > mostRounds) this.all.delete(this.all.keys().next().value!);
    }
    round.to = at;
    if (type === 'request.launch' || type === 'request.admit' || type === 'group.launch') round.launched += 1;
    else if (type.startsWith('prompt.')) count(round.prompts, type.slice('prompt.'.length));
    else if (type.startsWith('round.') || marks.has(type)) {
      round.marks[type] ??= at;
      if (ends.has(type)) round.end ??= at;
      if (typeof kind === 'string') round.kind ??= kind;
      if (typeof weightVersion === 'number') round.weightVersion ??= weightVersion;
    }
  }
}

function count(counts: Record<string, number>, name: string): void {
  counts[name] = (counts[name] ?? 0) + 1;
}
