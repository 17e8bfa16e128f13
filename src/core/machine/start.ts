/** Makes policies and plans. This file imports no definition, so that a bundle with one policy stays small. */
import { caused, isPolicyError, refuse } from '../../errors.ts';
import {
  type AnyDefinition,
  type AnyEvent,
  type AnyPlannerDefinition,
  type AnyPolicyDefinition,
  type ConfigOf,
  isCopy,
  madeBy,
  type PlanInputOf,
  type PlanOf,
  type PlanRun,
  type PolicyDefinition,
} from './definition.ts';
import { Policy, type PolicyOptions } from './policy.ts';
import { openSnapshot, snapshotSchema } from './snapshot.ts';
import { parse } from './validate.ts';

/** The running policy that a definition makes. */
export type PolicyOf<P> =
  P extends PolicyDefinition<infer _Input, infer C, infer S, infer E, infer D, infer V, infer _Id, infer K>
    ? Policy<C, S, E, D, V, K>
    : never;

/** Start of a policy: a configuration, or a snapshot, which contains the configuration. */
export type StartOf<P> =
  | ConfigOf<P>
  | {
      /** A result of `policy.snapshot()`, as an object, with the configuration. */
      readonly snapshot: unknown;
    };

/**
 * Makes a running policy or recipe: a new one from its configuration, or one that continues from a snapshot.
 *
 * @example
 * ```ts
 * const tail = create(tailBatching, { promptsPerRound: 64, responsesPerPrompt: 8 });
 * const again = create(tailBatching, { snapshot: tail.snapshot() });
 * ```
 *
 * @throws PolicyError `invalid_config` for a configuration that does not fit, `infeasible` for one that cannot be fulfilled,
 * `snapshot_mismatch` for a snapshot of another policy or of a version that cannot be migrated, `invalid_input` for an unknown
 * option
 */
export function create<P extends AnyPolicyDefinition>(
  definition: P,
  start: StartOf<P>,
  options?: PolicyOptions,
): PolicyOf<P> {
  const other = Object.keys(options ?? {}).find((key) => key !== 'validate');
  if (other !== undefined)
    refuse(
      'invalid_input',
      `options.${other}`,
      '`validate` alone; `{ snapshot }` stands in place of the configuration',
      other,
    );
  return new Policy(definition, begin(definition, start), options) as PolicyOf<P>;
}

/** Refuses an id, or a definition of the other kind: JavaScript callers may pass these. */
function assertDefinition(definition: AnyDefinition, isPlanner: boolean, expected: string): void {
  const kind: unknown = (definition as Partial<AnyDefinition> | undefined)?.kind;
  if (isCopy(definition)) refuse('invalid_input', 'definition', madeBy, `a copy of ${definition.id}`);
  if (kind !== undefined && (kind === 'planner') === isPlanner) return;
  refuse('invalid_input', 'definition', expected, kind === undefined ? definition : definition.id);
}

function begin(definition: AnyPolicyDefinition, start: unknown) {
  assertDefinition(definition, false, 'a policy or a recipe (`runPlanner` takes planners, `registry.create` ids)');
  if (typeof start === 'object' && start !== null && Object.hasOwn(start, 'snapshot')) {
    const { snapshot, ...others } = start as { snapshot: unknown };
    const [key] = Object.keys(others);
    if (key !== undefined)
      refuse('invalid_config', key, 'nothing beside `snapshot`, which has the configuration in it', key);
    return openSnapshot(definition, snapshot);
  }
  if (snapshotSchema.safeParse(start).success) refuse('invalid_config', '', '`{ snapshot }` around a snapshot', start);
  const config = parse(definition.config, start, 'invalid_config');
  return { config, state: definition.init(config), seq: 0, at: 0 };
}

/**
 * Computes the plan of a planner.
 *
 * @param run - `isLate` ends a search early, with the best plan so far
 * @throws PolicyError `invalid_input` for an input that does not fit the schema, `infeasible` if there is no plan
 */
export function runPlanner<P extends AnyPlannerDefinition>(
  definition: P,
  input: PlanInputOf<P>,
  run?: PlanRun,
): PlanOf<P> {
  assertDefinition(definition, true, 'a planner (`create` takes policies and recipes, `registry.plan` ids)');
  const parsed = parse(definition.input, input, 'invalid_input');
  try {
    return definition.compute(parsed, run) as PlanOf<P>;
  } catch (error) {
    if (isPolicyError(error)) throw error;
    refuse('internal', '', `${definition.id} to plan for an input that fits its schema`, caused(error), error);
  }
}

/** An event of a policy whose type is known only at run time. */
// biome-ignore lint/suspicious/noExplicitAny: of `unknown`, an event that an interface describes would be none
export type LooseEvent = AnyEvent & Readonly<Record<string, any>>;
