/** The laws that every planner keeps, as checks of one input. Each check throws an error with the fault. */
import { z } from 'zod';
import type { AnyPlannerDefinition } from '../../core/machine/definition.ts';
import { createRegistry } from '../../core/machine/registry.ts';
import { runPlanner } from '../../core/machine/start.ts';
import { pathText } from '../../core/machine/validate.ts';
import { isPolicyError, type PolicyError } from '../../errors.ts';
import { wrongFor } from '../runs/malformed.ts';
import { withTraps } from '../runs/traps.ts';
import { copy, isObject, objectPaths, type Path, replaced, reversed, scramble, valuePaths } from '../runs/values.ts';

/** A planner with an input on which the laws of planners are checked. */
export interface PlannerCase {
  /** The planner. */
  readonly definition: AnyPlannerDefinition;
  /** An input that has a plan. */
  readonly input: unknown;
}

/** One law of planners. */
export interface PlannerLaw {
  /** The law in a few words. */
  readonly title: string;
  /** Throws if the case breaks the law. */
  check(one: PlannerCase): void;
}

const planOf = ({ definition, input }: PlannerCase): unknown => runPlanner(definition, copy(input));

function deterministic({ definition, input }: PlannerCase): void {
  const texts: string[] = [];
  const touched = withTraps(() => {
    for (const given of [copy(input), copy(input), reversed(copy(input))])
      texts.push(JSON.stringify(runPlanner(definition, given)));
  });
  if (touched.length > 0) throw new Error(`it uses ${touched[0]}`);
  if (texts[0] !== texts[1]) throw new Error(`two plans for one input differ:\n  ${texts[0]}\n  ${texts[1]}`);
  if (texts[0] !== texts[2]) throw new Error(`the plan depends on the order of keys:\n  ${texts[0]}\n  ${texts[2]}`);
}

function untouched({ definition, input }: PlannerCase): void {
  const mine = copy(input);
  runPlanner(definition, mine);
  if (JSON.stringify(mine) !== JSON.stringify(input)) throw new Error(`the input is changed: ${JSON.stringify(mine)}`);
}

function unshared({ definition, input }: PlannerCase): void {
  const mine = copy(input);
  const first = runPlanner(definition, mine);
  const text = JSON.stringify(first);
  scramble(mine);
  if (JSON.stringify(first) !== text) throw new Error('a change of the input changes the plan');
  const again = copy(input);
  const second = runPlanner(definition, again);
  scramble(second);
  if (JSON.stringify(again) !== JSON.stringify(input)) throw new Error('a change of the plan changes the input');
  if (JSON.stringify(first) !== text) throw new Error('a change of a plan changes another plan');
  if (JSON.stringify(runPlanner(definition, copy(input))) !== text)
    throw new Error('a change of a plan changes later plans');
}

function fitting(one: PlannerCase): void {
  const plan = planOf(one);
  const parsed = one.definition.plan.safeParse(plan);
  if (!parsed.success) throw new Error(`the plan does not fit its schema: ${parsed.error.message}`);
  for (const path of objectPaths(plan)) {
    if (!one.definition.plan.safeParse(replaced(plan, [...path, 'unknownKey'], 1)).success) continue;
    throw new Error(`the schema of the plan takes unknown keys in ${pathText(path) || 'it'}`);
  }
}

function refusalOf({ definition }: PlannerCase, input: unknown): PolicyError | undefined {
  try {
    runPlanner(definition, input);
    return undefined;
  } catch (error) {
    if (!isPolicyError(error)) throw new Error(`it refuses by ${String(error)}, which is no PolicyError`);
    return error;
  }
}

function expectInvalid(one: PlannerCase, input: unknown, what: string): PolicyError {
  const error = refusalOf(one, input);
  if (error === undefined) throw new Error(`it takes ${what}`);
  if (error.code !== 'invalid_input') throw new Error(`it refuses ${what} as ${error.code}, not as invalid_input`);
  if (error.expected === '') throw new Error(`its refusal of ${what} does not say what was expected`);
  return error;
}

function strict(one: PlannerCase): void {
  for (const path of objectPaths(one.input)) {
    const at = pathText([...path, 'unknownKey']);
    const error = expectInvalid(one, replaced(copy(one.input), [...path, 'unknownKey'], 1), `an unknown key ${at}`);
    expectNear(error, [...path, 'unknownKey']);
  }
}

/** Throws unless the path of a refusal leads to the wrong value, or to a value that contains it. */
function expectNear(error: PolicyError, path: Path): void {
  const around = path.map((_, length) => pathText(path.slice(0, length + 1)));
  if (around.includes(error.path)) return;
  throw new Error(`it refuses ${around.at(-1)} with the path ${JSON.stringify(error.path)}`);
}

/** Whether the schema of the input accepts null in this place and keeps it as null. */
function isNullable({ definition, input }: PlannerCase, path: Path): boolean {
  const { data, error } = definition.input.safeParse(replaced(copy(input), path, null));
  const at = pathText(path);
  if (error !== undefined) return !error.issues.some((issue) => at.startsWith(pathText(issue.path as Path)));
  return valuePaths(data).some(([path, value]) => value === null && pathText(path) === at);
}

function typed(one: PlannerCase): void {
  for (const wrong of [null, undefined, [], 'text', 7]) expectInvalid(one, wrong, `${String(wrong)} as its input`);
  for (const [path, value] of valuePaths(one.input)) {
    for (const wrong of wrongFor(value)) {
      if (wrong === null && isNullable(one, path)) continue;
      const what = `${pathText(path)} = ${typeof wrong === 'number' ? wrong : JSON.stringify(wrong)}`;
      expectNear(expectInvalid(one, replaced(copy(one.input), path, wrong), what), path);
    }
  }
}

function json(one: PlannerCase): void {
  const plan = planOf(one);
  for (const [path, value] of [[[], plan] as const, ...valuePaths(plan)]) {
    const plain = Array.isArray(value) || (isObject(value) && Object.getPrototypeOf(value) === Object.prototype);
    const scalar = value === null || typeof value === 'string' || typeof value === 'boolean';
    const number = typeof value === 'number' && Number.isFinite(value) && !Object.is(value, -0);
    if (!plain && !scalar && !number) throw new Error(`the plan is no JSON: ${pathText(path)} is ${String(value)}`);
  }
}

function described({ definition }: PlannerCase): void {
  createRegistry([definition]);
  for (const [name, schema] of [
    ['input', definition.input],
    ['plan', definition.plan],
  ] as const) {
    const shape: unknown = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any', reused: 'inline' });
    for (const [path, value] of [[[], shape] as const, ...valuePaths(shape)]) {
      const properties = isObject(value) ? value.properties : undefined;
      if (!isObject(properties)) continue;
      for (const [key, field] of Object.entries(properties)) {
        if (isObject(field) && typeof field.description === 'string') continue;
        throw new Error(`${key} has no description in its ${name} (${pathText(path)})`);
      }
    }
  }
}

/** The laws of planners. */
export const plannerLaws: readonly PlannerLaw[] = Object.freeze([
  {
    title: 'deterministic: no clock, no randomness, no timer, and nothing depends on the order of keys',
    check: deterministic,
  },
  { title: 'the input is not changed', check: untouched },
  { title: 'the plan shares nothing with the input, nor with other plans', check: unshared },
  { title: 'the plan fits its schema, which takes no unknown keys', check: fitting },
  { title: 'unknown keys of the input are refused', check: strict },
  { title: 'a wrong value is refused by invalid_input, with its path', check: typed },
  { title: 'the plan is JSON', check: json },
  { title: 'every field of input and plan is described', check: described },
]);
