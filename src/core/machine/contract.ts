/**
 * What definitions of policies, planners and recipes are, and what goes in and out of them.
 *
 * A policy is a deterministic state machine. It owns its state, and changes it in `apply`; every list of decisions is new and
 * shares nothing with the state. `bench/overhead/state.ts` shows why the state is owned and not copied.
 */
import type { z } from 'zod';
import type { DecisionMessage, EventMessage } from '../../schemas/vocabulary.ts';
import type { Gates, Waits } from '../why/waits.ts';

/** An event as a policy sees it. */
export interface AnyEvent {
  /** Name of the event. */
  readonly type: string;
  /** Seconds on the clock of the session, ≥ 0. */
  readonly at: number;
}

/** A decision as a host sees it. */
export interface AnyDecision {
  /** Name of the decision. */
  readonly type: string;
  /** Seconds of the event that led to the decision. */
  readonly at: number;
  /** Reason of the decision: one of a closed set of codes, with the numbers on which the decision rests. */
  readonly reason: { readonly code: string };
}

/** Context of `apply`: the third argument, after the state and the event. */
export interface Context<D extends AnyDecision = AnyDecision> {
  /** The time of the event, never less than that of an earlier one, in seconds. */
  readonly at: number;
  /** Adds a decision to the answer. */
  emit(decision: D): void;
}

/**
 * Declares one kind of thing that must never be lost. After every event: held after = held before + entered by the event − left by
 * its decisions, as multisets of ids.
 */
export interface Ledger<
  Saved = unknown,
  E extends AnyEvent = AnyEvent,
  D extends AnyDecision = AnyDecision,
  Config = never,
> {
  /** Name of the counted things, such as `requests`; used in messages. */
  readonly name: string;
  /** Returns the ids that enter by this event. */
  entered(event: E): readonly string[];
  /** Returns the ids that leave by this decision. */
  left(decision: D): readonly string[];
  /** Returns the ids that the state holds. */
  held(saved: Saved): readonly string[];
  /**
   * Returns how many ids of its own (such as those of requests) the policy may mint for one of these things while it holds it: a
   * whole number >= 0. Without this function the number is 0. A policy that mints more than a few ids must declare it: a server
   * uses the number to bound the ids of an event before it applies the event, and law 13 (bounded answer) bounds the decisions of
   * an event by it.
   */
  mints?(config: Config): number;
}

/**
 * A ledger whose movements follow from the messages of the policy: what enters with its events, and what leaves with its
 * decisions, under the name of the ledger (`moves` of `defineEvent` and `defineDecision`).
 */
export type HeldLedger<Saved = unknown, Config = never> = Pick<
  Ledger<Saved, AnyEvent, AnyDecision, Config>,
  'name' | 'held' | 'mints'
>;

/** Fields common to all definitions. */
export interface DefinitionBase {
  /** Kebab case; third parties use a namespace: `acme/my-policy`. */
  readonly id: string;
  /** Version of the snapshot's shape and of the behaviour, a whole number >= 1. */
  readonly version: number;
  /** One sentence for tables and listings. */
  readonly summary: string;
  /** The paper and section that describe the algorithm. */
  readonly source: string;
}

/** Definition of a policy, or of a recipe: both follow the same contract. */
export interface PolicyDefinition<
  Input = unknown,
  Config = unknown,
  State = unknown,
  E extends AnyEvent = AnyEvent,
  D extends AnyDecision = AnyDecision,
  Saved = unknown,
  Id extends string = string,
  Command extends string = string,
> extends DefinitionBase {
  /** A recipe is a policy that joins others. */
  readonly kind: 'policy' | 'recipe';
  readonly id: Id;
  /** Schema of the configuration; the schema refuses unknown keys and fills in defaults. */
  readonly config: z.ZodType<Config, Input>;
  /** Events that the policy takes; any other event is refused with `invalid_event`. */
  readonly events: readonly EventMessage<E['type']>[];
  /** Types of the events that the policy may refuse because of its state; if absent, it may refuse any of them. */
  readonly refusable?: ReadonlySet<string>;
  /** Decisions that the policy may make. */
  readonly decisions: readonly DecisionMessage<D['type']>[];
  /** Types of the decisions that a host must carry out; the others are notices. */
  readonly commands: readonly Command[];
  /** Schema of the state: its input is the saved state, its output is for `load` alone. */
  readonly state: z.ZodType<unknown, Saved>;
  /** Makes the initial state. Throws `infeasible` for a configuration that cannot be fulfilled. */
  init(config: Config): State;
  /**
   * Refuses an event that does not fit the state, by a `PolicyError`; changes nothing. What it returns is passed to `apply`, if that
   * comes next, so that `apply` need not work it out again.
   */
  check(state: State, event: E): unknown;
  /** Whether `check` accepts an event, without the cost of a refusal; `undefined` where only `check` knows it. */
  accepts?(state: State, event: E): boolean | undefined;
  /** Applies an event that `check` has accepted; cannot fail. `checked` is what `check` has returned, if the caller has kept it. */
  apply(state: State, event: E, context: Context<D>, checked?: unknown): void;
  /**
   * Returns the earliest time at which something is due, in seconds; `undefined` if nothing is. In a recipe, any later event ends
   * what is overdue.
   */
  dueAt?(state: State): number | undefined;
  /** Ends what is overdue, and makes the decisions that follow: afterwards, `dueAt` is later than `context.at`, or nothing. */
  settle?(state: State, context: Context<D>): void;
  /** Returns the whole state as JSON, which shares nothing with the state. */
  save(state: State): Saved;
  /**
   * Makes the state from a saved state, without sharing anything with it. Throws `snapshot_mismatch` if the saved state does not
   * fit the schema; the error has the path of the bad field, which begins with `path`.
   */
  load(saved: unknown, config: Config, path?: string): State;
  /** Migrations of the saved state from version k to k + 1, by k. */
  readonly migrations?: Readonly<Record<number, (saved: unknown) => unknown>>;
  /** Ledgers that must balance after every event (law 2). */
  readonly ledgers: readonly Ledger<Saved, E, D, Config>[];
  /** What blocks what (law 14), for `policy.why`. Without it, an answer says only what the ledgers hold. */
  readonly waits?: Waits<State>;
  /** What has to end before an event is accepted; the other parts of a recipe use this in their `waits`. */
  readonly gates?: Gates<State>;
}

/** The types of a definition, by name; rollflex generates them for its own definitions, such as `TailBatchingTypes`. */
export interface DefinitionTypes {
  /** Id of the definition. */
  readonly id: string;
  /** Configuration, as a caller writes it. */
  readonly input: unknown;
  /** Configuration, its defaults filled in. */
  readonly config: unknown;
  /** What it is told. */
  readonly event: AnyEvent;
  /** What it answers. */
  readonly decision: AnyDecision;
  /** Types of the decisions that a host must carry out. */
  readonly command: string;
}

/** Definition of a policy with these types, its state and its saved state. */
export type PolicyDefinitionOf<T extends DefinitionTypes, State, Saved> = PolicyDefinition<
  T['input'],
  T['config'],
  State,
  T['event'],
  T['decision'],
  Saved,
  T['id'],
  T['command']
>;

/** Conditions under which a plan is computed; they are not part of the input. */
export interface PlanRun {
  /** Whether the time of the plan is over; must be fast. A planner that searches asks now and then; another planner does not ask. */
  readonly isLate?: (() => boolean) | undefined;
}

/** A pure function from JSON to JSON. */
export interface PlannerDefinition<Input = unknown, Parsed = unknown, Plan = unknown, Id extends string = string>
  extends DefinitionBase {
  /** Tells planners from policies and recipes. */
  readonly kind: 'planner';
  readonly id: Id;
  /** Schema of the input; unknown keys are refused. */
  readonly input: z.ZodType<Parsed, Input>;
  /** Schema of the plan. */
  readonly plan: z.ZodType<Plan>;
  /**
   * Computes the plan for an input that the schema has parsed and filled with defaults. The plan shares nothing with the input.
   * Once `run.isLate` returns true, a search ends with the best plan so far, and the plan says so; without `run.isLate`, a plan
   * depends on its input alone.
   *
   * @throws PolicyError `infeasible` if there is no plan
   */
  compute(input: Parsed, run?: PlanRun): Plan;
}

/** A definition of any policy or recipe. */
// The type parameters are `any` because a registry holds policies of every shape.
export type AnyPolicyDefinition = PolicyDefinition<any, any, any, any, any, any, string, any>;
/** A definition of any planner. */
export type AnyPlannerDefinition = PlannerDefinition<any, any, any>;
/** A definition that a registry may hold. */
export type AnyDefinition = AnyPolicyDefinition | AnyPlannerDefinition;

/** The configuration that a caller writes for a definition. */
export type ConfigOf<P> = P extends PolicyDefinition<infer Input, any, any, any, any, any, any, any> ? Input : never;
/** The events that a definition understands. */
export type EventOf<P> = P extends PolicyDefinition<any, any, any, infer E, any, any, any, any> ? E : never;
/** The decisions that a definition answers with. */
export type DecisionOf<P> = P extends PolicyDefinition<any, any, any, any, infer D, any, any, any> ? D : never;
/** The decisions that a host must carry out. */
export type CommandOf<P> =
  P extends PolicyDefinition<any, any, any, any, infer D, any, any, infer C> ? Extract<D, { type: C }> : never;
/** The input that a caller passes to a planner. */
export type PlanInputOf<P> = P extends PlannerDefinition<infer Input, any, any> ? Input : never;
/** The plan of a planner. */
export type PlanOf<P> = P extends PlannerDefinition<any, any, infer Plan> ? Plan : never;
