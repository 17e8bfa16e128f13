/** One session of a log, played event by event: its policy, what is owed to it, and what the log lacks. */

import type { AnyDecision, AnyEvent } from '../../core/machine/definition.ts';
import type { Policy } from '../../core/machine/policy.ts';
import type { Snapshot } from '../../core/machine/snapshot.ts';
import type { LooseEvent } from '../../core/machine/start.ts';
import { OpenCommands, type SavedOpenCommands } from '../../core/why/open-commands.ts';
import { isPolicyError, refuse } from '../../errors.ts';
import type { LogLineOf } from '../format/decision-log.ts';
import type { LogGap } from './replay-log.ts';

export type PlayedPolicy = Policy<unknown, unknown, LooseEvent, AnyDecision, unknown>;
type Line = LogLineOf<'session'> | LogLineOf<'event'>;

/** A point from which a session can be played on. */
export interface SavedPlay {
  readonly snapshot: Snapshot;
  readonly commands: SavedOpenCommands;
}

/** Plays the lines of one session in order. */
export class SessionPlay {
  /** The policy after the last line; `undefined` without a snapshot before it. */
  policy: PlayedPolicy | undefined;
  /** Unanswered commands, with times and usual durations; `undefined` before the first snapshot. */
  commands: OpenCommands | undefined;
  /** Number of the last event that was read, or that is known to be missing. */
  seq: number;
  /** Events that are missing. */
  readonly gaps: LogGap[] = [];
  /** Why the last snapshot, or a later event, could not be played. */
  problem: string | undefined;
  readonly #restore: (snapshot: unknown) => PlayedPolicy;

  constructor(restore: (snapshot: unknown) => PlayedPolicy, seq: number, from?: SavedPlay) {
    this.#restore = restore;
    this.seq = seq;
    if (from === undefined) return;
    this.policy = restore(from.snapshot);
    this.commands = new OpenCommands(this.policy.definition, undefined, from.commands);
  }

  /**
   * Takes the next line, and returns the policy's decisions; `undefined` if the line is no event for it. `where` names the line,
   * for a gap. Throws `invalid_input` for an event out of order.
   */
  take(line: Line, where: () => string): readonly AnyDecision[] | undefined {
    if (line.kind === 'event') return this.#play(line, where);
    this.#begin(line, where);
    return undefined;
  }

  /** Returns the point after the last line; `undefined` if the state is unknown. */
  save(): SavedPlay | undefined {
    const { policy, commands } = this;
    return policy && commands && { snapshot: policy.snapshot(), commands: commands.save() };
  }

  #begin({ seq, snapshot, policy }: LogLineOf<'session'>, where: () => string): void {
    this.#miss(seq, where);
    const goesOn = this.policy?.seq === seq && this.policy.id === policy;
    this.seq = seq;
    // Each file of the log repeats the state at its beginning; open commands continue.
    if (goesOn) return;
    this.policy = undefined;
    if (snapshot === null) return;
    try {
      this.policy = this.#restore(snapshot);
      this.problem = undefined;
      const { times = [], futile } = this.commands?.save() ?? {};
      this.commands = new OpenCommands(this.policy.definition, undefined, { open: [], times, futile });
    } catch (error) {
      this.#failed(error);
    }
  }

  #play({ seq, event }: LogLineOf<'event'>, where: () => string): readonly AnyDecision[] | undefined {
    if (seq <= this.seq) refuse('invalid_input', where(), `event ${this.seq + 1}`, `event ${seq}`);
    this.#miss(seq - 1, where);
    this.seq = seq;
    const { policy, commands } = this;
    if (policy === undefined || commands === undefined) return undefined;
    let made: readonly AnyDecision[];
    try {
      made = policy.send(event as LooseEvent);
    } catch (error) {
      this.#failed(error);
      return undefined;
    }
    commands.follow(event as AnyEvent, made, policy.at);
    return made;
  }

  #failed(error: unknown): void {
    if (!isPolicyError(error)) throw error;
    this.policy = undefined;
    // A list of all policies would be less helpful.
    const own = error.got.includes('/') ? ' (one of your own: --policies FILE, or its definition in the registry)' : '';
    this.problem =
      error.code === 'unknown_id' && error.path === 'policy'
        ? `no policy ${error.got} is known here${own}`
        : error.message;
  }

  /** Records a gap between the last known event and the event with this number, if there is one. */
  #miss(seq: number, where: () => string): void {
    if (seq <= this.seq) return;
    this.gaps.push({ where: where(), from: this.seq + 1, to: seq });
    this.policy = undefined;
    this.seq = seq;
  }
}

/** Whether a session line begins another session with the id of an earlier one. */
export const isNewSession = (
  { closed, policy, play }: { readonly closed: boolean; readonly policy: string; readonly play: SessionPlay },
  line: LogLineOf<'session'>,
): boolean => closed || policy !== line.policy || line.seq < play.seq;

/** Refuses an event of a session that no line has opened. */
export const unopened = (where: string, seq: number): never =>
  refuse('invalid_input', where, 'the session before its events', `event ${seq}`);
