/** Registries: frozen lists of definitions that make policies and plans by the id of a definition. */
import { z } from 'zod';
import { refuse } from '../../errors.ts';
import { decisions as vocabularyDecisions } from '../../schemas/decisions/index.ts';
import { events as vocabularyEvents } from '../../schemas/events/index.ts';
import type { DecisionMessage, EventMessage } from '../../schemas/vocabulary.ts';
import { oneOf } from '../ids/nearest.ts';
import {
  type AnyDecision,
  type AnyDefinition,
  type AnyPlannerDefinition,
  type AnyPolicyDefinition,
  isDefinition,
  madeBy,
  type PlanInputOf,
  type PlanOf,
  type PlanRun,
} from './definition.ts';
import type { Policy, PolicyOptions } from './policy.ts';
import type { Snapshot } from './snapshot.ts';
import { create, type LooseEvent, type PolicyOf, runPlanner, type StartOf } from './start.ts';

type ById<L extends readonly AnyDefinition[], Id> = Extract<L[number], { readonly id: Id }>;
type PolicyId<L extends readonly AnyDefinition[]> = Extract<L[number], AnyPolicyDefinition>['id'];
type PlannerId<L extends readonly AnyDefinition[]> = Extract<L[number], AnyPlannerDefinition>['id'];

/** Returns the definitions that a module exports, directly or in lists, without repetitions. */
export function definitionsIn(exported: object): AnyDefinition[] {
  return [...new Set(Object.values(exported).flat().filter(isDefinition))];
}

/** Definitions by id, made by {@link createRegistry}. */
export interface Registry<L extends readonly AnyDefinition[]> {
  /** The definitions, in the order given. */
  readonly definitions: L;
  /** The policies and recipes. */
  readonly policies: readonly AnyPolicyDefinition[];
  /** The planners. */
  readonly planners: readonly AnyPlannerDefinition[];
  /** Returns the definition with this id. Throws `unknown_id`. */
  get(id: string): AnyDefinition;
  /** Makes a policy from its configuration or a snapshot. Throws `unknown_id`, and the errors of `create`. */
  create<Id extends PolicyId<L>>(id: Id, start: StartOf<ById<L, Id>>, options?: PolicyOptions): PolicyOf<ById<L, Id>>;
  /** Makes the policy that a snapshot names, and continues from the snapshot. Throws `snapshot_mismatch`, `unknown_id`. */
  restore(snapshot: unknown, options?: PolicyOptions): Policy<unknown, unknown, LooseEvent, AnyDecision, unknown>;
  /** Applies one event to a snapshot, for hosts that store the state themselves; takes time linear in the size of the state. */
  transition(snapshot: Snapshot, event: LooseEvent): { snapshot: Snapshot; decisions: AnyDecision[] };
  /** Computes a plan; see {@link runPlanner}. Throws `unknown_id`, `invalid_input`, `infeasible`. */
  plan<Id extends PlannerId<L>>(id: Id, input: PlanInputOf<ById<L, Id>>, run?: PlanRun): PlanOf<ById<L, Id>>;
}

/** Whether two messages are the same. Schemas from another copy of the package are compared by content. */
function isSameMessage(one: EventMessage, other: EventMessage): boolean {
  const text = (message: EventMessage) => JSON.stringify(z.toJSONSchema(message.schema, { unrepresentable: 'any' }));
  return one === other || text(one) === text(other);
}

/** Messages of the vocabulary by their types. */
type Vocabulary = ReadonlyMap<string, EventMessage>;

function checkMessages(owner: string, messages: readonly EventMessage[], vocabulary: Vocabulary, path: string): void {
  for (const message of messages) {
    const known = vocabulary.get(message.type);
    if (known !== undefined ? !isSameMessage(known, message) : !message.type.includes('/')) {
      refuse(
        'invalid_config',
        `${owner}.${path}`,
        known === undefined ? 'a message of the vocabulary, or one with a namespace' : 'the vocabulary’s schema',
        message.type,
      );
    }
  }
}

/**
 * Makes a frozen registry of policies, recipes and planners.
 *
 * @throws PolicyError `duplicate_id` for two definitions with the same id, `invalid_config` for a value that is not a definition,
 * or for a message that redefines one of the vocabulary
 */
export function createRegistry<const L extends readonly AnyDefinition[]>(definitions: L): Registry<L> {
  const byId = new Map<string, AnyDefinition>();
  // A message that is both a decision and an event counts as an event, because later entries win.
  const messages: readonly EventMessage[] = [
    ...(vocabularyDecisions as readonly DecisionMessage[]),
    ...vocabularyEvents,
  ];
  const vocabulary: Vocabulary = new Map(messages.map((message) => [message.type, message]));
  for (const definition of definitions) {
    if (!isDefinition(definition)) refuse('invalid_config', 'definitions', madeBy, definition);
    if (byId.has(definition.id)) refuse('duplicate_id', 'definitions', 'ids that differ', definition.id);
    byId.set(definition.id, definition);
    if (definition.kind === 'planner') continue;
    checkMessages(definition.id, definition.events, vocabulary, 'events');
    checkMessages(definition.id, definition.decisions, vocabulary, 'decisions');
  }
  const get = (id: string): AnyDefinition => {
    const found = byId.get(id);
    if (found !== undefined) return found;
    const known = [...byId.keys()];
    // Many ids say little where none is near.
    const isOther = id.includes('/') && !known.some((one) => one.includes('/'));
    refuse(
      'unknown_id',
      'policy',
      isOther ? 'the definition of your own that has this id (--policies FILE)' : oneOf(known, id),
      id,
    );
  };
  const policy = (id: string): AnyPolicyDefinition => {
    const found = get(id);
    if (found.kind !== 'planner') return found;
    refuse('unknown_id', 'policy', 'a policy or a recipe', `${id}, a planner`);
  };
  const planner = (id: string): AnyPlannerDefinition => {
    const found = byId.get(id);
    if (found?.kind === 'planner') return found;
    const ids = definitions.filter((one) => one.kind === 'planner').map((one) => one.id);
    const expected = ids.length === 0 ? 'a planner, but the registry has none' : oneOf(ids, id);
    const got = found === undefined ? id : `${id}, a ${found.kind}`;
    refuse('unknown_id', 'planner', expected, got);
  };
  const restore = (snapshot: unknown, options?: PolicyOptions) => {
    const id = (snapshot as Partial<Snapshot> | null | undefined)?.policy;
    if (typeof id !== 'string') refuse('snapshot_mismatch', 'snapshot', 'a snapshot', snapshot);
    return create(policy(id), { snapshot }, options);
  };
  return Object.freeze({
    definitions: Object.freeze(definitions),
    policies: Object.freeze(definitions.filter((one) => one.kind !== 'planner')) as readonly AnyPolicyDefinition[],
    planners: Object.freeze(definitions.filter((one) => one.kind === 'planner')) as readonly AnyPlannerDefinition[],
    get,
    create: ((id: string, start: unknown, options?: PolicyOptions) =>
      create(policy(id), start, options)) as Registry<L>['create'],
    restore,
    transition: (snapshot: Snapshot, event: LooseEvent) => {
      const one = restore(snapshot);
      const decisions = one.send(event);
      return { snapshot: one.snapshot(), decisions };
    },
    plan: ((id: string, input: unknown, run?: PlanRun) => runPlanner(planner(id), input, run)) as Registry<L>['plan'],
  });
}
