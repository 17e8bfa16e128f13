/** What a host that obeys goes by: how decisions are answered, and what it may look at for that. */

import type { Choices } from '../core/choices.ts';
import type { AnyDecision } from '../core/definition.ts';

/** An event without its time; what it must have beside is filled in. */
export type Report = { readonly type: string } & Readonly<Record<string, unknown>>;

/** Work in steps: the events of one are made, and sent, when nothing of the one before is left to do. */
export type Plan = readonly (readonly Report[] | (() => readonly Report[]))[];

/** How a host answers a decision: by this event, with the ids of the decision in it, or by these. */
export type AnswerRule = string | ((decision: AnyDecision, desk: Desk) => readonly Report[]);

/** What a host needs to know of a policy whose words are not those of the vocabulary. */
export interface HostHints {
  /** What answers its commands, by decision. */
  readonly answers?: Readonly<Record<string, AnswerRule>>;
  /** Work that a host may begin; its ids from `desk.mint`. */
  readonly work?: (desk: Desk) => Plan;
}

/** What answers may look at. */
export interface Desk {
  /** Types of the events that the policy takes. */
  readonly takes: ReadonlySet<string>;
  /** Its configuration, defaults filled in. */
  readonly config: Readonly<Record<string, unknown>>;
  /** An event with the fields of a decision that it has too, and others; what is not given is filled in. */
  readonly answer: (type: string, decision: object, more?: object) => Report;
  /** A new id. */
  readonly mint: (what: string) => string;
  /** Where requests run, as far as it was said. */
  readonly engines: Map<string, string>;
  /** Engines that it was told to make of its GPUs, as far as those roll out. */
  readonly arranged: Set<string>;
  /** Samples that it was told are not there any more. */
  readonly gone: Set<string>;
  /** Version of the weights that the host has. */
  weightVersion: number;
  /** How often it supplies prompts before its source is exhausted. */
  supplies: number;
  /** Chooses. */
  readonly choices: Choices;
  /** Something to do when nothing is left to answer. */
  readonly later: (plan: Plan) => void;
}
