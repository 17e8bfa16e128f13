/**
 * Recipes: policies made of policies. A recipe does no scheduling: it only routes. Events from outside go to the parts that take
 * them; a decision of a part leaves the recipe, goes to other parts as an event, or both.
 */
import { z } from 'zod';
import { caused, isPolicyError, refuse } from '../../errors.ts';
import type { DecisionMessage, EventMessage } from '../../schemas/vocabulary.ts';
import { oneOf } from '../ids/nearest.ts';
import {
  type AnyDecision,
  type AnyEvent,
  type AnyPolicyDefinition,
  type CommandIn,
  type Context,
  type PolicyDefinition,
  sealDefinition,
} from '../machine/definition.ts';
import { openState } from '../machine/snapshot.ts';
import { parse } from '../machine/validate.ts';
import { joinedWaits } from './recipe-waits.ts';
import type { Delivery, OfMessage, Parts, RecipeSpec, RecipeState, Recipient, SavedRecipe, Wire } from './spec.ts';
import { wiringOf } from './wiring.ts';

/** A part with something overdue. */
interface Overdue {
  readonly part: string;
  readonly event: undefined;
}

/** What `check` works out for `apply`. */
interface Checked {
  /** Recipients of the event. */
  readonly outside: readonly Delivery[];
  /** Recipients that were asked: also those in place of recipients that refuse the event. */
  readonly asked: readonly Delivery[];
  readonly refused: ReadonlySet<Delivery>;
}

const nothing: ReadonlySet<Delivery> = new Set();
const none: readonly Delivery[] = Object.freeze([]);
const savedVersion = z.int().positive();
const savedState = z.unknown();

/** Returns the settings in a flat configuration that `shape` names: a part takes them unchanged. */
export function settingsOf<T extends object>(config: T, shape: object): Partial<T> {
  return Object.fromEntries(Object.entries(config).filter(([key]) => Object.hasOwn(shape, key))) as Partial<T>;
}

/**
 * Returns a migration that adds a part, as it begins, to a state that was saved without it.
 *
 * @param config - the configuration of the part, as a caller writes it
 */
export function withPart(name: string, { id: policy, version, ...part }: AnyPolicyDefinition, config: object) {
  return (saved: unknown): SavedRecipe => {
    const state = part.save(part.init(part.config.parse(config)));
    return { parts: { ...(saved as SavedRecipe).parts, [name]: { policy, version, state } } };
  };
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
  P extends Parts,
>(
  spec: RecipeSpec<Input, Config, EW, DW, Id, P>,
): PolicyDefinition<
  Input,
  Config,
  RecipeState<Config>,
  OfMessage<EW>,
  OfMessage<DW> & AnyDecision,
  SavedRecipe,
  Id,
  CommandIn<DW>
> {
  const names = Object.keys(spec.parts);
  for (const name of Object.keys(spec.routes)) {
    if (!names.includes(name)) refuse('invalid_config', 'routes', oneOf(names, name), name);
  }
  const policies: Readonly<Record<string, AnyPolicyDefinition>> = spec.parts;
  const savedPart = (name: string) =>
    z.strictObject({ policy: z.literal(policies[name]!.id), version: savedVersion, state: savedState });

  const wiring = wiringOf(spec);
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
  const fromOutside = (event: OfMessage<EW>, { config, wiring }: RecipeState<Config>): Delivery[] => {
    const recipients = wiring.outside.get(event.type)!;
    const found: Delivery[] = [];
    add(found, event, spec.deliver?.(event, config, recipients) ?? recipients, wiring.off);
    return found;
  };

  const alternatives = ({ otherwise, ifTaken }: Delivery): readonly Delivery[] | undefined =>
    otherwise ?? (ifTaken === true ? none : undefined);

  const configOf = (name: string, configs: Readonly<Record<string, unknown>>): unknown =>
    parse(policies[name]!.config, configs[name], 'invalid_config');

  /** Whether a part takes an event; throws its refusal if there is no alternative. */
  const isTaken = (to: Delivery, parts: Record<string, unknown>): boolean => {
    const { part: name, event } = to;
    const policy = policies[name]!;
    if (policy.refusable?.has(event.type) === false) return true;
    if (to.otherwise !== undefined || to.ifTaken === true) {
      const accepts = policy.accepts?.(parts[name], event);
      if (accepts !== undefined) return accepts;
    }
    try {
      policy.check(parts[name], event);
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
  const ask = (state: RecipeState<Config>, event: OfMessage<EW>): Checked => {
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

  const timed = names.filter((name) => policies[name]!.dueAt !== undefined && policies[name]!.settle !== undefined);
  /** Returns a part in which something is overdue. */
  const overdueIn = ({ parts, wiring }: RecipeState<Config>, at: number): Overdue | undefined => {
    for (const name of timed) {
      const due = wiring.off.includes(name) ? undefined : policies[name]!.dueAt!(parts[name]);
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
      const states = names.map((name) => [name, policies[name]!.init(configOf(name, configs))]);
      return { config, parts: Object.fromEntries(states), wiring: wiring(config) };
    },
    check: (state: RecipeState<Config>, event: OfMessage<EW>): Checked => {
      const checked = ask(state, event);
      const { config, parts, wiring } = state;
      for (const next of spec.expects?.(event, config, parts) ?? []) {
        if (!wiring.off.includes(next.part)) policies[next.part]!.check(parts[next.part], next.event);
      }
      return checked;
    },
    apply: (
      state: RecipeState<Config>,
      event: OfMessage<EW>,
      context: Context<OfMessage<DW> & AnyDecision>,
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
        if (out) context.emit(decision as OfMessage<DW> & AnyDecision);
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
          policies[next.part]!.settle!(parts[next.part], inside);
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
        policies[next.part]!.apply(parts[next.part], next.event, inside);
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
          { policy: policies[name]!.id, version: policies[name]!.version, state: policies[name]!.save(states[name]) },
        ]),
      ),
    }),
    load: (given: unknown, config: Config, path = ''): RecipeState<Config> => {
      const saved = parse(state, given, 'snapshot_mismatch', path);
      const configs = spec.configure(config);
      const states = names.map((name) => {
        const { version, state } = saved.parts[name]!;
        return [name, openState(policies[name]!, version, state, configOf(name, configs), `${path}.parts.${name}`)];
      });
      return { config, parts: Object.fromEntries(states), wiring: wiring(config) };
    },
  } as never);
}
