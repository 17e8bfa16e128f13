/** Rules of an obedient host: answers to decisions, and the state that they may read. */

import type { Choices } from '../core/choices.ts';
import type { AnyDecision } from '../core/definition.ts';

/** An event without its time; required fields that are absent are filled in. */
export type Report = { readonly type: string } & Readonly<Record<string, unknown>>;

/** Work in steps: the events of one are made, and sent, when nothing of the one before is left to do. */
export type Plan = readonly (readonly Report[] | (() => readonly Report[]))[];

/** A host's answer to a decision: the type of an event that repeats its ids, or a function that makes the events. */
export type AnswerRule = string | ((decision: AnyDecision, desk: Desk) => readonly Report[]);

/** Hints to a host for a policy with words outside of the vocabulary. */
export interface HostHints {
  /** Answers to its commands, by type of the decision. */
  readonly answers?: Readonly<Record<string, AnswerRule>>;
  /** Work that a host may begin; its ids from `desk.mint`. */
  readonly work?: (desk: Desk) => Plan;
}

/** State of the host that answers may read and change. */
export interface Desk {
  /** Types of the events that the policy takes. */
  readonly takes: ReadonlySet<string>;
  /** Its configuration, defaults filled in. */
  readonly config: Readonly<Record<string, unknown>>;
  /** An event with the fields of a decision that it has too, and others; what is not given is filled in. */
  readonly answer: (type: string, decision: object, more?: object) => Report;
  /** A new id. */
  readonly mint: (what: string) => string;
  /** Engine of each request, as far as it is known. */
  readonly engines: Map<string, string>;
  /** Engines that it was told to make of its GPUs, as far as those roll out. */
  readonly arranged: Set<string>;
  /** Samples that it was told are not there any more. */
  readonly gone: Set<string>;
  /** Version of the weights that the host has. */
  weightVersion: number;
  /** Times that it supplies prompts before its source is exhausted. */
  supplies: number;
  /** Its source of random choices. */
  readonly choices: Choices;
  /** Something to do when nothing is left to answer. */
  readonly later: (plan: Plan) => void;
}
