/** Rules of an obedient host: its answers to decisions, and the state that the answers may read. */

import type { Choices } from '../../core/generators/choices.ts';
import type { AnyDecision } from '../../core/machine/definition.ts';

/** An event without its time. Absent required fields are filled in. */
export type Report = { readonly type: string; readonly dueAt?: number } & Readonly<Record<string, unknown>>;

/** Times at which a host reports. */
export interface Pace {
  /** Returns the host's reports on a decision, in place of its usual answers, each with `dueAt`, in seconds. */
  readonly reports: (decision: AnyDecision, usual: readonly Report[]) => readonly Report[];
  /** Whether a report still holds: an aborted request does not complete. */
  readonly holds: (report: Report) => boolean;
}

/** Work in steps. The events of a step are made and sent after the step before is done. */
export type Plan = readonly (readonly Report[] | (() => readonly Report[]))[];

/** A host's answer to a decision: the type of an event with the same ids, or a function that makes the events. */
export type AnswerRule = string | ((decision: AnyDecision, desk: Desk) => readonly Report[]);

/** Hints to a host for a policy with messages outside of the vocabulary. */
export interface HostHints {
  /** Answers to the commands, by type of the decision. */
  readonly answers?: Readonly<Record<string, AnswerRule>>;
  /** Returns work that the host may begin, with ids from `desk.mint`. */
  readonly work?: (desk: Desk) => Plan;
}

/** State of the host that answers may read and change. */
export interface Desk {
  /** Types of the events that the policy takes. */
  readonly takes: ReadonlySet<string>;
  /** Configuration of the policy, with defaults filled in. */
  readonly config: Readonly<Record<string, unknown>>;
  /** Makes an event with the fields that it shares with a decision, and with more fields; absent required fields are filled in. */
  readonly answer: (type: string, decision: object, more?: object) => Report;
  /** Makes a new id. */
  readonly mint: (what: string) => string;
  /** Engine of each request, if it is known. */
  readonly engines: Map<string, string>;
  /** Engines that a decision has made from GPUs and that still run the rollout. */
  readonly arranged: Set<string>;
  /** Samples that decisions have reported as dropped. */
  readonly gone: Set<string>;
  /** Weight version of the host. */
  weightVersion: number;
  /** Number of times that the host still supplies prompts. */
  supplies: number;
  /** Random choices of the host. */
  readonly choices: Choices;
  /** Queues a plan to begin when nothing is left to answer. */
  readonly later: (plan: Plan) => void;
}
