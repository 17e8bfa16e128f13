/** Policies of the user among those that a command compares, and predicted lengths for them. */
import { type Command, Option } from 'commander';
import { z } from 'zod';
import { oneOf } from '../../core/ids/nearest.ts';
import type { AnyPolicyDefinition } from '../../core/machine/definition.ts';
import { isPolicyError, refuse, relocated } from '../../errors.ts';
import { type PolicySchedulerOptions, policyScheduler } from '../../sim/colocated/policy-scheduler.ts';
import type { BatchShape, Scheduler } from '../../sim/colocated/scheduler.ts';
import { type Predict, predicts, usualSigma, withPredictions } from '../../sim/workload/predicted.ts';
import type { Workload } from '../../sim/workload/workload.ts';
import { type OwnModule, ownDefinitions } from '../files/definitions.ts';
import { between } from '../terminal/arguments.ts';
import { option } from '../terminal/options.ts';
import { withOptions } from './workloads.ts';

/** A setting and its value, in the order given. */
export type Settings = readonly (readonly [name: string, value: unknown])[];

/** Options about policies of the user, as JSON: each thread loads them again. */
export interface OwnOptions {
  /** The modules. */
  readonly policies?: readonly string[];
  readonly set?: Settings;
  readonly predict?: Predict;
  readonly predictSigma?: number;
}

const valueIn = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};

/** Parses `path=value`; the value is JSON, or text. */
export function setting(text: string, all: Settings = []): Settings {
  const [path, ...rest] = text.split('=');
  if (path === '' || rest.length === 0) refuse('invalid_input', '--set', 'a setting and its value, name=value', text);
  return [...all, [path!, valueIn(rest.join('='))]];
}

/** Returns the options for predicted lengths. */
export const predictOptions = (): Option[] => [
  new Option('--predict <how>', 'lengths that prompts come with: none, the truth with an error, or the truth').choices(
    predicts,
  ),
  new Option(
    '--predict-sigma <s>',
    `error of --predict noisy: standard deviation of its logarithm (${usualSigma})`,
  ).argParser(between(0, 5)),
];

/** Adds the options of {@link OwnOptions}. */
export const withOwn = (command: Command): Command =>
  withOptions(command, [
    option('policies', 'a module (.js, .ts) with policies of your own, to compare as well; may be repeated'),
    new Option('--set <setting=value>', 'a setting of them; may be repeated, and value,value compares both')
      .argParser(setting)
      .default([], 'none'),
    ...predictOptions(),
  ]);

/** Returns the workload with the predicted lengths that the options ask for. */
export function predictedAs(
  workload: (seed: number) => Workload,
  { predict = 'none', predictSigma: sigma = usualSigma }: OwnOptions,
  { responsesPerPrompt }: BatchShape,
): (seed: number) => Workload {
  if (predict === 'none') return workload;
  return (seed) => withPredictions(workload(seed), { predict, sigma, responsesPerPrompt, seed });
}

/** Refuses options that say nothing without another one. */
export function checkOwn({ policies, set = [], predict, predictSigma }: OwnOptions): void {
  if (policies === undefined && set.length > 0)
    refuse('invalid_input', '--set', '--policies beside it, whose settings these are', set[0]![0]);
  if (policies === undefined && predict !== undefined && predict !== 'none')
    refuse('invalid_input', '--predict', '--policies beside it, with a policy that reads predicted lengths', predict);
  if (predictSigma !== undefined && predict !== 'noisy')
    refuse('invalid_input', '--predict-sigma', '--predict noisy beside it', predictSigma);
}

/** Most schedulers that the values of settings may make. */
const mostSchedulers = 64;

/**
 * Returns a scheduler of every policy in the module, and of every combination of the values that `--set` gives. The shape of the batch
 * is that of the job.
 *
 * @throws PolicyError as `ownDefinitions`; `invalid_input` for settings that no policy has; `invalid_config` for those that do not fit;
 * `infeasible` for a policy that the simulator cannot run
 */
export async function ownSchedulers({ policies, set = [] }: OwnOptions, shape: BatchShape): Promise<Scheduler[]> {
  if (policies === undefined) return [];
  const modules = await ownPolicies(policies);
  const names = new Set(modules.flatMap(({ definitions }) => definitions.flatMap(settingNames)));
  for (const [name] of set) {
    if (!names.has(name)) refuse('invalid_input', '--set', `a setting: ${oneOf([...names], name)}`, name);
  }
  const schedulers = modules.flatMap(({ path, definitions }) =>
    definitions.flatMap((definition) => {
      const own = settingNames(definition);
      const several = combinations(set.filter(([name]) => own.includes(name)));
      return several.map((settings) => {
        const label = [definition.id, ...(several.length > 1 ? wordsOf(settings) : [])].join(' ');
        return schedulerOf(path, definition, settings, shape, { id: label, label });
      });
    }),
  );
  if (schedulers.length > mostSchedulers)
    refuse('limit_exceeded', '--set', `values that make at most ${mostSchedulers} settings`, schedulers.length);
  return schedulers;
}

/** Returns the policies and recipes of modules; each must have some. */
export async function ownPolicies(paths: readonly string[]): Promise<OwnModule<AnyPolicyDefinition>[]> {
  return (await ownDefinitions(paths)).map(({ path, definitions: found }) => {
    const definitions = found.filter((one): one is AnyPolicyDefinition => one.kind !== 'planner');
    if (definitions.length === 0) refuse('invalid_input', path, 'a policy or a recipe', `planners: ${found[0]!.id}`);
    return { path, definitions };
  });
}

/** Returns the names of the settings that a policy has. */
export function settingNames({ config }: AnyPolicyDefinition): string[] {
  const { properties = {} } = z.toJSONSchema(config, { io: 'input', unrepresentable: 'any' });
  return Object.keys(properties);
}

const wordsOf = (settings: Settings): string[] => settings.map(([name, value]) => `${name}=${text(value)}`);
const text = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

function combinations(set: Settings): Settings[] {
  const byName = new Map<string, readonly unknown[]>();
  for (const [name, value] of set) {
    const values = typeof value === 'string' && value.includes(',') ? value.split(',').map(valueIn) : [value];
    const again = values.find((one, index) => values.findIndex((other) => text(other) === text(one)) < index);
    if (again !== undefined) refuse('invalid_input', '--set', `values of ${name} that differ`, `${text(again)} twice`);
    byName.set(name, values);
  }
  let all: Settings[] = [[]];
  for (const [name, values] of byName)
    all = all.flatMap((one) => values.map((value) => [...one, [name, value] as const]));
  return all;
}

/** Settings that the job gives, and their options. */
const flagsOfShape = { promptsPerRound: '--prompts-per-round', responsesPerPrompt: '--responses-per-prompt' } as const;

/** Makes the scheduler of a policy. Throws as {@link ownSchedulers} does; an error names the file and the option. */
export function schedulerOf(
  path: string,
  definition: AnyPolicyDefinition,
  settings: Settings,
  shape: BatchShape,
  options: PolicySchedulerOptions = {},
): Scheduler {
  const own = settingNames(definition);
  const { promptsPerRound, responsesPerPrompt } = shape;
  const ofShape = settings.find(([name]) => Object.hasOwn(flagsOfShape, name))?.[0];
  if (ofShape !== undefined) {
    const flag = flagsOfShape[ofShape as keyof typeof flagsOfShape];
    refuse(
      'invalid_input',
      '--set',
      `a setting that is not the shape of the batch, which all have (${flag} N)`,
      ofShape,
    );
  }
  const ofJob = Object.entries({ promptsPerRound, responsesPerPrompt }).filter(([name]) => own.includes(name));
  try {
    return policyScheduler(definition, Object.fromEntries([...ofJob, ...settings]), options);
  } catch (error) {
    if (!isPolicyError(error)) throw error;
    if (error.code !== 'invalid_config') throw relocated(error, `${path}: ${definition.id}`);
    const [name = ''] = error.path.split(/[.[]/);
    throw relocated(error, `${path}: ${definition.id}: ${error.path}`, `${error.expected} (--set ${name}=VALUE)`);
  }
}
