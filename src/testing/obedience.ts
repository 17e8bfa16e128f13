/** Rules of an obedient host: answers to decisions, and the state that they may read. */

import type { Choices } from '../core/choices.ts';
import type { AnyDecision } from '../core/definition.ts';

/** An event without its time; required fields that are absent are filled in. */
export type Report = { readonly type: string } & Readonly<Record<string, unknown>>;

/** Work in steps: the events of a step are made and sent when the step before is done. */
export type Plan = readonly (readonly Report[] | (() => readonly Report[]))[];

/** A host's answer to a decision: the type of an event that repeats its ids, or a function that makes the events. */
export type AnswerRule = string | ((decision: AnyDecision, desk: Desk) => readonly Report[]);

/** Hints to a host for a policy with messages outside of the vocabulary. */
export interface HostHints {
  /** Answers to its commands, by type of the decision. */
  readonly answers?: Readonly<Record<string, AnswerRule>>;
  /** Plans work that a host may begin, with ids from `desk.mint`. */
  readonly work?: (desk: Desk) => Plan;
}

/** State of the host that answers may read and change. */
export interface Desk {
  /** Types of the events that the policy takes. */
  readonly takes: ReadonlySet<string>;
  /** Its configuration, defaults filled in. */
  readonly config: Readonly<Record<string, unknown>>;
  /** Makes an event with the fields that it shares with a decision, and others; absent required fields are filled in. */
  readonly answer: (type: string, decision: object, more?: object) => Report;
  /** Makes a new id. */
  readonly mint: (what: string) => string;
  /** Engine of each request, as far as it is known. */
  readonly engines: Map<string, string>;
  /** Engines that a decision made of its GPUs, as far as they roll out. */
  readonly arranged: Set<string>;
  /** Samples that decisions report as gone. */
  readonly gone: Set<string>;
  /** Version of the weights that the host has. */
  weightVersion: number;
  /** Times that it supplies prompts before its source is exhausted. */
  supplies: number;
  /** Its source of random choices. */
  readonly choices: Choices;
  /** Queues a plan until nothing is left to answer. */
  readonly later: (plan: Plan) => void;
}
