/** Makes definitions of policies and planners: from what an author writes to what {@link PolicyDefinition} says. */
import type { z } from 'zod';
import { refuse } from '../../errors.ts';
import { checkSchemas } from '../../schemas/own-schemas.ts';
import type { DecisionMessage, EventMessage, Moves, Of } from '../../schemas/vocabulary.ts';
import type { Gates, Waits } from '../why/waits.ts';
import { beginningsOf } from './beginning.ts';
import type {
  AnyDecision,
  AnyDefinition,
  AnyEvent,
  AnyPolicyDefinition,
  Context,
  DefinitionBase,
  HeldLedger,
  Ledger,
  PlannerDefinition,
  PolicyDefinition,
} from './contract.ts';
import { saverOf } from './state.ts';
import { parse } from './validate.ts';

export type * from './contract.ts';

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
