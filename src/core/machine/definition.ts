/**
 * Definitions of policies, planners and recipes.
 *
 * A policy is a deterministic state machine. It owns its state, and changes it in `apply`; every list of decisions is new and
 * shares nothing with the state. `bench/overhead/state.ts` shows why the state is owned and not copied.
 */
import type { z } from 'zod';
import { refuse } from '../../errors.ts';
import { checkSchemas } from '../../schemas/own-schemas.ts';
import type { DecisionMessage, EventMessage, Moves, Of } from '../../schemas/vocabulary.ts';
import type { Gates, Waits } from '../why/waits.ts';
import { beginningsOf } from './beginning.ts';
import { saverOf } from './state.ts';
import { parse } from './validate.ts';

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

const definitionTag = Symbol.for('rollflex.definition');
const idPattern = /^([a-z0-9-]+\/)?[a-z][a-z0-9-]*$/;

function validDefinition<T extends DefinitionBase>(definition: T, schemas: Readonly<Record<string, unknown>>): T {
  if (!idPattern.test(definition.id)) refuse('invalid_config', 'id', 'a kebab-case id', definition.id);
  if (!Number.isInteger(definition.version) || definition.version < 1) {
    refuse('invalid_config', `${definition.id}.version`, 'a version >= 1', definition.version);
  }
  const { summary, source } = definition;
  if (typeof summary !== 'string' || summary.trim() === '')
    refuse('invalid_config', `${definition.id}.summary`, 'one sentence on what it does', summary);
  if (typeof source !== 'string')
    refuse('invalid_config', `${definition.id}.source`, 'the paper, or whoever it is from', source);
  checkSchemas(schemas, definition.id);
  return Object.freeze(Object.defineProperty({ ...definition }, definitionTag, { value: true }));
}

/** Whether a value is a definition, from this or from another copy of the package. */
export function isDefinition(value: unknown): value is AnyDefinition {
  return typeof value === 'object' && value !== null && (value as Record<symbol, unknown>)[definitionTag] === true;
}

/** What makes a definition, for messages. */
export const madeBy = 'a definition that definePolicy, defineRecipe or definePlanner has made (a copy of one is none)';

/** Whether a value is a copy of a definition: `{ ...mine, id }` has its fields, and none of what they were made from. */
export function isCopy(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || isDefinition(value)) return false;
  const { id, kind } = value as Partial<AnyDefinition>;
  return typeof id === 'string' && (kind === 'policy' || kind === 'recipe' || kind === 'planner') && 'version' in value;
}

/** Handler of one or more events: their messages, the change of state, and the check before the change. */
export interface Handler<State, W extends EventMessage = EventMessage, D extends AnyDecision = AnyDecision> {
  /** The events that the handler takes. */
  readonly messages: readonly W[];
  /** Changes the state and emits decisions; cannot fail. */
  apply(state: State, event: Of<W>, context: Context<D>): void;
  /** Refuses an event that does not fit the state, by a `PolicyError`; changes nothing. */
  check?(state: State, event: Of<W>): void;
  /**
   * Whether `check` accepts the event. A recipe that offers an event to one part after the other asks `accepts` where a part has
   * it, because a refusal costs more than most events.
   */
  accepts?(state: State, event: Of<W>): boolean;
}

/**
 * Makes the `on` of a policy. `on` declares an event: its message, its handler, and the check that runs before the handler. An
 * optional `accepts` gives the answer of the check without the cost of a refusal, for recipes in which the policy often refuses
 * such events.
 *
 * @example
 * ```ts
 * const on = handlersOf<State, Decision>();
 * const handlers = [on(roundOpened, openRound, checkOpening), on([engineAdded, engineLost], engineChanged)];
 * ```
 */
export function handlersOf<State, D extends AnyDecision>() {
  return <const W extends EventMessage>(
    messages: W | readonly W[],
    apply: Handler<State, W, D>['apply'],
    check?: Handler<State, W, D>['check'],
    accepts?: Handler<State, W, D>['accepts'],
  ): Handler<State, W, D> => ({
    messages: [messages].flat() as W[],
    apply,
    ...(check === undefined ? undefined : { check }),
    ...(accepts === undefined ? undefined : { accepts }),
  });
}

/** A state as handlers see it: the output of its schema, and the configuration. */
export type Live<Read, Config> = Read & { readonly config: Config };

/** Specification that the author of a policy writes; all types follow from the schemas, the handlers and the messages. */
export interface PolicySpec<
  Input,
  Config,
  Read extends object,
  Saved,
  H extends readonly Handler<Live<Read, Config>, any, any>[],
  DW extends DecisionMessage,
  Id extends string,
> extends DefinitionBase {
  readonly id: Id;
  /** Schema of the configuration; the schema refuses unknown keys and fills in defaults. */
  readonly config: z.ZodType<Config, Input>;
  /** Schema of the state: its input is the saved state, its output the live state. See `mapBy`, `setOf`, `derived`. */
  readonly state: z.ZodType<Read, Saved>;
  /**
   * Returns what the state has at first, in its saved form, of what is not evident: a field that it leaves out is an empty list,
   * `null`, 0, `false`, or an object of these. May be absent where no field needs it. Throws `infeasible` for a configuration that
   * cannot be fulfilled.
   */
  begin?(config: Config): Partial<Saved>;
  /** Sets the fields that are derived from other parts of the state, such as pointers, indexes and sums. */
  link?(state: Live<Read, Config>): void;
  /** Events that the policy takes, each with its handler and its check; any other event is refused with `invalid_event`. */
  readonly handlers: H;
  /** Runs at the end of every event, after its handler. */
  after?(state: Live<Read, Config>, context: Context<any>): void;
  /**
   * Returns the earliest time at which something is due, in seconds; `undefined` if nothing is. After this time, a recipe runs
   * `after` at its next event, even if that event is for other parts, so `after` must end what is overdue.
   */
  dueAt?(state: Live<Read, Config>): number | undefined;
  /** Decisions that the policy may make. */
  readonly decisions: readonly DW[];
  /** Migrations of the saved state from version k to k + 1, by k. */
  readonly migrations?: Readonly<Record<number, (saved: unknown) => unknown>>;
  /** Ledgers that must balance after every event (law 2). */
  readonly ledgers: readonly (Ledger<Saved, EventIn<H>, Of<DW> & AnyDecision, Config> | HeldLedger<Saved, Config>)[];
  /** What blocks what (law 14), for `policy.why`. */
  readonly waits?: Waits<Live<Read, Config>>;
  /** What has to end before an event is accepted; the other parts of a recipe use this in their `waits`. */
  readonly gates?: Gates<Live<Read, Config>>;
}

/** Types of the commands among decisions. */
export type CommandIn<DW extends DecisionMessage> = Extract<DW, { readonly kind: 'command' }>['type'];

type EventIn<H extends readonly Handler<any, any, any>[]> = Of<H[number]['messages'][number]> & AnyEvent;

/**
 * Defines a policy.
 *
 * @throws PolicyError `invalid_config` if the id is not kebab case, the version is not a whole number >= 1, there is no summary, a
 * schema is not a zod 4 schema, an event has two handlers, a ledger has no movements, or a field of the state has no beginning
 */
export function definePolicy<
  Input,
  Config,
  Read extends object,
  Saved,
  const H extends readonly Handler<Live<Read, Config>, any, any>[],
  const DW extends DecisionMessage,
  const Id extends string,
>(
  spec: PolicySpec<Input, Config, Read, Saved, H, DW, Id>,
): PolicyDefinition<Input, Config, Live<Read, Config>, EventIn<H>, Of<DW> & AnyDecision, Saved, Id, CommandIn<DW>> {
  type State = Live<Read, Config>;
  checkSchemas({ config: spec.config, state: spec.state }, spec.id);
  const { begin, link, handlers, after, ...rest } = spec;
  const byType = new Map<string, Handler<State, any, any>>();
  const events = handlers.flatMap(({ messages }) => messages as readonly EventMessage[]);
  for (const handler of handlers) {
    for (const { type } of handler.messages) {
      if (byType.has(type)) refuse('invalid_config', `${spec.id}.handlers`, 'one handler for an event', type);
      byType.set(type, handler);
    }
  }
  if (begin === undefined) {
    const { missing } = beginningsOf(spec.state);
    if (missing.length > 0)
      refuse('invalid_config', `${spec.id}.begin`, `a beginning of ${missing.join(', ')}`, undefined);
  }
  const live = (read: Read, config: Config): State => {
    const state = Object.assign(read, { config });
    link?.(state);
    return state;
  };
  const definition: PolicyDefinition<Input, Config, State, AnyEvent, AnyDecision, Saved, Id> = {
    ...(rest as never as typeof definition),
    kind: 'policy',
    events,
    commands: commandsOf(spec.decisions),
    ledgers: spec.ledgers.map((one) =>
      'entered' in one ? (one as Ledger) : ledgerOf(spec.id, one as HeldLedger, events, spec.decisions),
    ),
    refusable: new Set([...byType].flatMap(([type, { check }]) => (check === undefined ? [] : [type]))),
    init: (config) => {
      const saved = { ...beginningsOf(spec.state).fields, ...begin?.(config) };
      return live(parse(spec.state, saved, 'internal', `${spec.id}.begin`), config);
    },
    check: (state, event) => byType.get(event.type)!.check?.(state, event),
    accepts: (state, event) => byType.get(event.type)!.accepts?.(state, event),
    apply: (state, event, context) => {
      byType.get(event.type)!.apply(state, event, context);
      after?.(state, context);
    },
    ...(after === undefined ? undefined : { settle: after as typeof definition.settle }),
    save: saverOf(spec.state) as (state: State) => Saved,
    load: (saved, config, path = '') => live(parse(spec.state, saved, 'snapshot_mismatch', path), config),
  };
  return validDefinition(definition, { config: spec.config, state: spec.state }) as never;
}

const none: readonly string[] = Object.freeze([]);

/** Makes a whole ledger of one that says only what is held. */
function ledgerOf(
  id: string,
  ledger: HeldLedger,
  events: readonly EventMessage[],
  decisions: readonly DecisionMessage[],
): Ledger {
  const { name } = ledger;
  const by = (mark: keyof Moves, messages: readonly EventMessage[], which: string) => {
    const marked = new Map(
      messages.flatMap(({ type, moves }) => (moves?.[mark]?.[name] ? [[type, moves[mark][name]]] : [])),
    );
    if (marked.size === 0)
      refuse('invalid_config', `${id}.ledgers`, `${which} what is counted, or \`entered\` and \`left\``, name);
    // Messages are told apart by their type.
    return (one: AnyEvent): readonly string[] => marked.get(one.type)?.(one as never) ?? none;
  };
  return {
    ...ledger,
    entered: by('entered', events, 'an event that brings'),
    left: by('left', decisions, 'a decision that lets out'),
  };
}

/**
 * Defines a planner.
 *
 * @throws PolicyError `invalid_config` as {@link definePolicy} does
 */
export function definePlanner<Input, Parsed, Plan, const Id extends string>(
  spec: Omit<PlannerDefinition<Input, Parsed, Plan, Id>, 'kind'>,
): PlannerDefinition<Input, Parsed, Plan, Id> {
  return validDefinition({ ...spec, kind: 'planner' }, { input: spec.input, plan: spec.plan });
}

const commandsOf = (decisions: readonly DecisionMessage[]): string[] =>
  decisions.flatMap(({ type, kind }) => (kind === 'command' ? [type] : []));

/** Checks and freezes a definition that has all its functions, such as the definition of a recipe. */
export function sealDefinition<P extends AnyPolicyDefinition>(spec: Omit<P, 'commands'>): P {
  const definition = { ...spec, commands: commandsOf(spec.decisions) } as unknown as P;
  return validDefinition(definition, { config: definition.config, state: definition.state });
}
