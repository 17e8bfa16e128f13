/**
 * Recipes: policies made of policies. A recipe does no scheduling: it only routes. Events from outside go to the parts that take
 * them; a decision of a part leaves the recipe, goes to other parts as an event, or both.
 */
import { z } from 'zod';
import { caused, isPolicyError, refuse } from '../../errors.ts';
import type { DecisionMessage, Of as Described, EventMessage } from '../../schemas/vocabulary.ts';
import { oneOf } from '../ids/nearest.ts';
import {
  type AnyDecision,
  type AnyEvent,
  type AnyPolicyDefinition,
  type CommandIn,
  type Context,
  type DefinitionBase,
  type DefinitionTypes,
  type Ledger,
  type PolicyDefinition,
  type PolicyDefinitionOf,
  sealDefinition,
} from '../machine/definition.ts';
import { openState } from '../machine/snapshot.ts';
import { parse } from '../machine/validate.ts';
import { joinedWaits, type Origin } from './recipe-waits.ts';

/** The parts of a recipe; the keys are their names. */
export type Parts = Readonly<Record<string, AnyPolicyDefinition>>;

/** An event for one part. */
export interface Delivery {
  /** Name of the part that gets the event. */
  readonly part: string;
  /** The event that the part gets. */
  readonly event: AnyEvent;
  /**
   * Whether the event is delivered before all pending events (default false: after them), because other parts need it before they
   * continue.
   */
  readonly first?: boolean;
  /**
   * Deliveries to make instead if the part refuses the event, or is off: another part may hold the subject of the event. An empty
   * list skips the event. Without it, an event from outside is refused as the part does; an event from inside that a part refuses is
   * a defect of the recipe, which the property kit looks for, and ends the policy with `internal`.
   */
  readonly otherwise?: readonly Delivery[] | undefined;
  /** The same as an empty `otherwise`. */
  readonly ifTaken?: boolean;
}

/** A part with something overdue. */
interface Overdue {
  readonly part: string;
  readonly event: undefined;
}

/** Name of a part that gets the message unchanged, or a delivery of another event. */
export type Recipient = string | Delivery;

/** Exception to the routing of a decision, which otherwise follows from the messages of the parts. */
export interface Route<D extends AnyDecision = AnyDecision, Config = never> {
  /** Whether the decision leaves the recipe (default: if the recipe lists it); a function if this depends on the configuration. */
  readonly out?: boolean | ((config: Config) => boolean);
  /**
   * Parts that get the decision, in this order: a list, or a function where the decision becomes another event or its fields
   * determine the parts. The default is `recipients`: the other parts that take such events, in the order of `parts`.
   */
  readonly to?:
    | readonly string[]
    | ((decision: D, config: Config, recipients: readonly string[]) => readonly Recipient[]);
}

/** The state of a recipe: its configuration, and the states of its parts. */
export interface RecipeState<Config = unknown> {
  /** The configuration of the recipe. */
  readonly config: Config;
  /** State of each part, by its name. */
  readonly parts: Record<string, unknown>;
  /** Recipients of each event and decision with this configuration. */
  readonly wiring: Wiring;
}

/** What `check` works out for `apply`. */
interface Checked {
  /** Recipients of the event. */
  readonly outside: readonly Delivery[];
  /** Recipients that were asked: also those in place of recipients that refuse the event. */
  readonly asked: readonly Delivery[];
  readonly refused: ReadonlySet<Delivery>;
}

/** Recipients in the order of `parts`. Events from outside are looked up by type, decisions by part and then by type. */
interface Wiring {
  readonly off: readonly string[];
  readonly outside: ReadonlyMap<string, readonly string[]>;
  readonly inside: Readonly<Record<string, ReadonlyMap<string, Wire>>>;
}

interface Wire {
  readonly out: boolean;
  readonly recipients: readonly string[];
  /** Chooses the parts where they depend on the fields of the decision. */
  readonly to:
    | ((decision: AnyDecision, config: never, recipients: readonly string[]) => readonly Recipient[])
    | undefined;
}

/** The saved state of a recipe: each part by its name, with its own id and version. */
export interface SavedRecipe {
  /** Saved state of each part, by its name, with the version of its policy. */
  readonly parts: Readonly<Record<string, { policy: string; version: number; state: unknown }>>;
}

/** Definition of a recipe with these types. */
export type RecipeDefinition<T extends DefinitionTypes> = PolicyDefinitionOf<T, RecipeState<T['config']>, SavedRecipe>;

const nothing: ReadonlySet<Delivery> = new Set();
const none: readonly Delivery[] = Object.freeze([]);
const savedVersion = z.int().positive();
const savedState = z.unknown();

/** Specification that the author of a recipe passes to `defineRecipe`. */
export interface RecipeSpec<Input, Config, EW extends EventMessage, DW extends DecisionMessage, Id extends string>
  extends DefinitionBase {
  readonly id: Id;
  /** Schema of the recipe's flat configuration; the schema refuses unknown keys. */
  readonly config: z.ZodType<Config, Input>;
  /** Policies of the recipe; routes use their keys as names. */
  readonly parts: Parts;
  /** Makes the configuration of each part from the flat one of the recipe. */
  configure(config: Config): Readonly<Record<string, unknown>>;
  /** Events that come from outside; all others are refused. */
  readonly events: readonly EW[];
  /** Decisions that leave the recipe; all others stay inside. */
  readonly decisions: readonly DW[];
  /** Returns the parts that the configuration switches off: they get no events, and the `otherwise` of a delivery takes their place. */
  readonly off?: (config: Config) => readonly string[];
  /**
   * Chooses the parts that get an event from outside, in this order; parts that are off are left out. Without this function the event goes to `recipients`: the
   * parts that take such events, in the order of `parts`.
   */
  readonly deliver?: (event: Of<EW>, config: Config, recipients: readonly string[]) => readonly Recipient[];
  /**
   * Returns the events that will follow inside and that a part may refuse: then the event from outside is refused. `parts`
   * has the states of the parts by name; the function may read but not change them.
   */
  readonly expects?: (event: Of<EW>, config: Config, parts: Readonly<Record<string, unknown>>) => readonly Delivery[];
  /** Exceptions to the routing of decisions, by part, then by decision; all other routes follow from the messages of the parts. */
  readonly routes: Readonly<Record<string, Readonly<Record<string, Route<AnyDecision, Config>>>>>;
  /**
   * Origins of events from inside that are not decisions of a part, for `policy.why`: by the type of the event, or by receiving
   * part and type, as in `training/round.completed`.
   */
  readonly origins?: Readonly<Record<string, Origin>>;
  /** Has no effect any more: what a part may refuse follows from the part. */
  readonly vouches?: Readonly<Record<string, readonly string[]>>;
  /** Migrations of the saved state from version k to k + 1, by k; each part migrates its own state. */
  readonly migrations?: Readonly<Record<number, (saved: unknown) => unknown>>;
  /** Ledgers that must balance over all parts after every event (law 2). */
  readonly ledgers: readonly Ledger<SavedRecipe, Of<EW>, Of<DW> & AnyDecision, Config>[];
}

type Of<W> = Described<W> & AnyEvent;

/** Returns the settings in a flat configuration that `shape` names: a part takes them unchanged. */
export function settingsOf<T extends object>(config: T, shape: object): Partial<T> {
  return Object.fromEntries(Object.entries(config).filter(([key]) => Object.hasOwn(shape, key))) as Partial<T>;
}

/**
 * Defines a recipe.
 *
 * @throws PolicyError `invalid_config` for a bad id or version, or a route of a part that does not exist
 */
export function defineRecipe<
  Input,
  Config,
  const EW extends EventMessage,
  const DW extends DecisionMessage,
  const Id extends string,
>(
  spec: RecipeSpec<Input, Config, EW, DW, Id>,
): PolicyDefinition<Input, Config, RecipeState<Config>, Of<EW>, Of<DW> & AnyDecision, SavedRecipe, Id, CommandIn<DW>> {
  const names = Object.keys(spec.parts);
  for (const name of Object.keys(spec.routes)) {
    if (!names.includes(name)) refuse('invalid_config', 'routes', oneOf(names, name), name);
  }
  const part = (name: string): AnyPolicyDefinition => spec.parts[name]!;
  const savedPart = (name: string) =>
    z.strictObject({ policy: z.literal(part(name).id), version: savedVersion, state: savedState });

  const listed = new Set<string>(spec.decisions.map(({ type }) => type));
  const wire = (config: Config): Wiring => {
    const off = spec.off?.(config) ?? [];
    const recipients = (type: string, from?: string): readonly string[] =>
      Object.freeze(
        names.filter(
          (name) => name !== from && !off.includes(name) && part(name).events.some((message) => message.type === type),
        ),
      );
    const wireOf = (from: string, type: string): Wire => {
      const { out = listed.has(type), to } = spec.routes[from]?.[type] ?? {};
      const isList = typeof to === 'object';
      return {
        out: typeof out === 'function' ? out(config) : out,
        recipients: isList ? to.filter((name) => !off.includes(name)) : recipients(type, from),
        to: isList ? undefined : to,
      };
    };
    const wiresOf = (from: string) =>
      new Map<string, Wire>(part(from).decisions.map(({ type }) => [type, wireOf(from, type)]));
    return {
      off,
      outside: new Map(spec.events.map(({ type }) => [type, recipients(type)])),
      inside: Object.fromEntries(names.map((name) => [name, wiresOf(name)])),
    };
  };
  /** Adds a delivery, without the parts that are off. */
  const addPresent = (found: Delivery[], to: Delivery, off: readonly string[]): void => {
    const { otherwise = none } = to;
    const isOff = off.includes(to.part);
    if (otherwise.length === 0) {
      if (!isOff) found.push(to);
      return;
    }
    const left: Delivery[] = [];
    for (const one of otherwise) addPresent(left, one, off);
    if (isOff) found.push(...left);
    // Nobody is left who would take the event instead, so its refusal counts.
    else found.push({ ...to, otherwise: left.length === 0 ? undefined : left });
  };
  const add = (found: Delivery[], message: AnyEvent, all: readonly Recipient[], off: readonly string[]): void => {
    for (const one of all) {
      if (typeof one !== 'string') {
        if (off.length === 0) found.push(one);
        else addPresent(found, one, off);
      } else if (!off.includes(one)) found.push({ part: one, event: message });
    }
  };
  const fromOutside = (event: Of<EW>, { config, wiring }: RecipeState<Config>): Delivery[] => {
    const recipients = wiring.outside.get(event.type)!;
    const found: Delivery[] = [];
    add(found, event, spec.deliver?.(event, config, recipients) ?? recipients, wiring.off);
    return found;
  };

  const mayRefuse = (name: string, type: string): boolean => part(name).refusable?.has(type) ?? true;
  const alternatives = ({ otherwise, ifTaken }: Delivery): readonly Delivery[] | undefined =>
    otherwise ?? (ifTaken === true ? none : undefined);

  const configOf = (name: string, configs: Readonly<Record<string, unknown>>): unknown =>
    parse(part(name).config, configs[name], 'invalid_config');

  /** Whether a part takes an event; throws its refusal if there is no alternative. */
  const isTaken = (to: Delivery, parts: Record<string, unknown>): boolean => {
    const { part: name, event } = to;
    if (!mayRefuse(name, event.type)) return true;
    if (alternatives(to) !== undefined) {
      const accepts = part(name).accepts?.(parts[name], event);
      if (accepts !== undefined) return accepts;
    }
    try {
      part(name).check(parts[name], event);
      return true;
    } catch (error) {
      if (isPolicyError(error) && alternatives(to) !== undefined) return false;
      throw error;
    }
  };

  /** Does the same in the middle of an event, when a refusal comes too late. */
  const isTakenInside = (to: Delivery, parts: Record<string, unknown>): boolean => {
    try {
      return isTaken(to, parts);
    } catch (error) {
      const expected = `${to.part} to take ${to.event.type} inside ${spec.id} (ask it by \`expects\`, or say what else happens by \`otherwise\`)`;
      refuse('internal', to.part, expected, caused(error), error);
    }
  };

  /** Asks every recipient of an event from outside before any part changes. */
  const ask = (state: RecipeState<Config>, event: Of<EW>): Checked => {
    const outside = fromOutside(event, state);
    let [asked, refused] = [outside, nothing];
    for (let index = 0; index < asked.length; index += 1) {
      const to = asked[index]!;
      if (isTaken(to, state.parts)) continue;
      refused = new Set(refused).add(to);
      asked = [...asked, ...alternatives(to)!];
    }
    return { outside, asked, refused };
  };

  const timed = names.filter((name) => part(name).dueAt !== undefined && part(name).settle !== undefined);
  /** Returns a part in which something is overdue. */
  const overdueIn = ({ parts, wiring }: RecipeState<Config>, at: number): Overdue | undefined => {
    for (const name of timed) {
      const due = wiring.off.includes(name) ? undefined : part(name).dueAt!(parts[name]);
      if (due !== undefined && due <= at) return { part: name, event: undefined };
    }
    return undefined;
  };

  const state = z.strictObject({
    parts: z.strictObject(Object.fromEntries(names.map((name) => [name, savedPart(name)]))),
  });
  return sealDefinition({
    ...spec,
    kind: 'recipe',
    state,
    waits: joinedWaits({
      parts: spec.parts,
      outside: new Set<string>(spec.events.map(({ type }) => type)),
      origins: spec.origins ?? {},
    }),
    init: (config: Config): RecipeState<Config> => {
      const configs = spec.configure(config);
      const states = names.map((name) => [name, part(name).init(configOf(name, configs))]);
      return { config, parts: Object.fromEntries(states), wiring: wire(config) };
    },
    check: (state: RecipeState<Config>, event: Of<EW>): Checked => {
      const checked = ask(state, event);
      const { config, parts, wiring } = state;
      for (const next of spec.expects?.(event, config, parts) ?? []) {
        if (!wiring.off.includes(next.part)) part(next.part).check(parts[next.part], next.event);
      }
      return checked;
    },
    apply: (
      state: RecipeState<Config>,
      event: Of<EW>,
      context: Context<Of<DW> & AnyDecision>,
      checked?: Checked,
    ): void => {
      const { config, parts, wiring } = state;
      const { outside, asked, refused } = checked ?? ask(state, event);
      const changed: string[] = [];
      // First in, first out: decisions that were made together come before their consequences.
      const pending = outside.slice();
      let wires: ReadonlyMap<string, Wire>;
      let urgent: Delivery[] = [];
      const emit = (decision: AnyDecision): void => {
        const { out, recipients, to } = wires.get(decision.type)!;
        if (out) context.emit(decision as Of<DW> & AnyDecision);
        if (to === undefined) {
          for (const name of recipients) pending.push({ part: name, event: decision });
          return;
        }
        const from = pending.length;
        add(pending, decision, to(decision, config as never, recipients), wiring.off);
        for (let at = from; at < pending.length; at += 1) {
          if (pending[at]!.first) urgent.push(...pending.splice(at--, 1));
        }
      };
      const inside = { at: context.at, emit };
      for (let index = 0; ; index += 1) {
        // An event lets every part end what is overdue there, even a part that the event is not for.
        const next = pending[index] ?? overdueIn(state, context.at);
        if (next === undefined) return;
        wires = wiring.inside[next.part]!;
        if (next.event === undefined) {
          part(next.part).settle!(parts[next.part], inside);
          // Nothing else is pending, so the decisions of the overdue part come next.
          pending.push(...urgent);
          urgent = [];
          index -= 1;
          continue;
        }
        // A refusal costs more than most events, so the answers to `ask` are reused: each stays true until its part changes.
        const isChanged = changed.includes(next.part);
        const isRefused = !isChanged && asked.includes(next) ? refused.has(next) : !isTakenInside(next, parts);
        if (isRefused) {
          pending.splice(index + 1, 0, ...alternatives(next)!);
          continue;
        }
        if (!isChanged) changed.push(next.part);
        part(next.part).apply(parts[next.part], next.event, inside);
        if (urgent.length === 0) continue;
        const later = pending.splice(index + 1);
        for (const list of [urgent, later]) for (const to of list) pending.push(to);
        urgent = [];
      }
    },
    save: ({ parts: states }: RecipeState<Config>): SavedRecipe => ({
      parts: Object.fromEntries(
        names.map((name) => [
          name,
          { policy: part(name).id, version: part(name).version, state: part(name).save(states[name]) },
        ]),
      ),
    }),
    load: (given: unknown, config: Config, path = ''): RecipeState<Config> => {
      const saved = parse(state, given, 'snapshot_mismatch', path);
      const configs = spec.configure(config);
      const states = names.map((name) => {
        const { version, state } = saved.parts[name]!;
        return [name, openState(part(name), version, state, configOf(name, configs), `${path}.parts.${name}`)];
      });
      return { config, parts: Object.fromEntries(states), wiring: wire(config) };
    },
  } as never);
}
