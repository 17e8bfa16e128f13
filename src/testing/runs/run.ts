/** Runs of a policy with likely events. A tape of numbers determines the run, so that a failing run can be made smaller. */

import type { Choices } from '../../core/generators/choices.ts';
import type { AnyDecision, AnyEvent, AnyPolicyDefinition } from '../../core/machine/definition.ts';
import { SessionClock } from '../../core/machine/session-clock.ts';
import { create } from '../../core/machine/start.ts';
import type { Holdings, Why } from '../../core/why/why.ts';
import { isPolicyError } from '../../errors.ts';
import { type Tested, withEvents } from './tested.ts';

/** Makes choices from a tape. After its end, the tape is read again with shifted numbers. */
export function choicesFrom(tape: readonly number[]): Choices {
  let position = 0;
  return {
    below: (n) => {
      const round = Math.floor(position / Math.max(1, tape.length));
      const value = tape.length === 0 ? 0 : tape[position % tape.length]! + round;
      position += 1;
      return value % n;
    },
  };
}

/**
 * Makes likely events for a policy by its `arbitrary`, including events that are refused. Stops early at an event on which `apply`
 * fails.
 */
export function likelyEvents(tested: Tested, config: unknown, tape: readonly number[], length: number): AnyEvent[] {
  const { definition, arbitrary } = withEvents(tested);
  const state = definition.init(definition.config.parse(config));
  const choices = choicesFrom(tape);
  const events: AnyEvent[] = [];
  const clock = new SessionClock(0);
  let latest = 0;
  for (let index = 0; index < length; index += 1) {
    const drawn: AnyEvent = arbitrary(state, choices);
    // Likely times follow the state, because the clock of the host may have begun anew.
    const event = { ...drawn, at: Math.max(0, drawn.at - clock.aheadSeconds) };
    events.push(JSON.parse(JSON.stringify(event)));
    try {
      definition.check(state, event);
    } catch (error) {
      if (isPolicyError(error)) continue;
      throw error;
    }
    latest = clock.timeOf(event, latest, definition.id);
    try {
      definition.apply(state, event, { at: latest, emit: () => undefined });
    } catch {
      // Law 3 reports the failure at this event; later events would not be likely events.
      break;
    }
  }
  return events;
}

/** A policy as the laws use it. */
export interface Subject {
  /** Applies an event; throws `PolicyError` if the policy refuses it. */
  send(event: AnyEvent): AnyDecision[];
  /** Returns the whole state as JSON. */
  snapshot(): { state: unknown; seq: number; aheadSeconds?: number };
  /** The latest time of the policy's events, in seconds. */
  readonly at: number;
  /** Returns why a thing of a kind waits. */
  why(id: string, what: string): Why;
  /** Shows what the policy holds. */
  holdings(): Holdings;
  /** Listens for decisions. */
  on(type: string, listener: (payload: unknown) => void): unknown;
}

/** Returns the latest time on the clock of the host, which may have begun anew, in seconds. */
export const hostTime = (subject: Subject): number => Math.max(0, subject.at - (subject.snapshot().aheadSeconds ?? 0));

/** Makes a new policy from a definition. */
export function newSubject(definition: AnyPolicyDefinition, config: unknown): Subject {
  return create(definition, config) as unknown as Subject;
}

/** The answer to an event: its decisions, or the error of a refusal. */
export type Answer = { readonly decisions: AnyDecision[] } | { readonly refused: unknown };

/** Sends an event and catches its refusal. */
export function answer(subject: Subject, event: AnyEvent): Answer {
  try {
    return { decisions: subject.send(event) };
  } catch (error) {
    return { refused: error };
  }
}

/** Returns the answers to all events as text, for a byte-by-byte comparison. */
export function transcript(subject: Subject, events: readonly AnyEvent[]): string[] {
  return events.map((event) => textOf(answer(subject, event)));
}

export function textOf(one: Answer): string {
  return 'refused' in one ? `refused ${JSON.stringify(one.refused)}` : JSON.stringify(one.decisions);
}

/** Whether {@link textOf} wrote a refusal. */
export const isRefusal = (text: string): boolean => text.startsWith('refused ');
