/** The cluster that a user says: options of a model, its GPUs and an engine, each declared once. */
import { existsSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { Option } from 'commander';
import { given } from '../../core/collections/given.ts';
import { isPolicyError, refuse, relocated } from '../../errors.ts';
import { jobPresetIds, usualPreset } from '../../sim/models/presets.ts';
import { type ClusterInput, type ClusterJob, clusterJob } from '../../sim/silicon/cluster.ts';
import { shapeOf } from '../../sim/silicon/models/model-config.ts';
import { readJson } from '../files/json-file.ts';
import { option } from '../terminal/options.ts';
import { calibrateOption } from './calibration/measured.ts';

/** A cluster as the command line gives it. */
export interface ClusterOptions extends Pick<ClusterInput, 'gpu' | 'gpus' | 'engine' | 'precision'> {
  /** A name of the table, or a `config.json`, or the folder of one. */
  readonly model?: string;
  /** GPUs of an engine. */
  readonly tp?: number;
}

const names = [
  'model',
  'gpu',
  'gpus',
  'tp',
  'engine',
  'precision',
] as const satisfies readonly (keyof ClusterOptions)[];

/** By option, its name on the command line. */
export const clusterFlags: Readonly<Record<(typeof names)[number], string>> = {
  model: '--model',
  gpu: '--gpu',
  gpus: '--gpus',
  tp: '--tp',
  engine: '--engine',
  precision: '--precision',
};

/**
 * Returns the options of the command line that say which model on which GPUs, and what that costs.
 *
 * @param of - what stands in front of the texts: the kind of job that has these options, if others have not
 */
export const modelOptions = (of = ''): Option[] => [
  ...names.map((name) => option(name)),
  new Option('--preset <id>', `${of}a job of RollPacker §6 instead (${usualPreset})`).choices(jobPresetIds),
  calibrateOption(),
];

/** Whether options say anything of a cluster; then no preset is meant. Throws `invalid_input` if there is one, too. */
export function saysCluster(options: ClusterOptions & { readonly preset?: string }): boolean {
  const said = names.find((name) => options[name] !== undefined);
  if (said !== undefined && options.preset !== undefined) {
    const expected = `--preset, which has a model and GPUs, or ${clusterFlags[said]}, not both`;
    refuse('invalid_input', '--preset', expected, `--preset ${options.preset} ${clusterFlags[said]} ${options[said]}`);
  }
  return said !== undefined;
}

/** Returns the job of a cluster. Throws as `clusterJob` does, and for a file that is no `config.json`. */
export function clusterOf(
  { model, gpu, gpus, tp, engine, precision }: ClusterOptions,
  shape: Pick<ClusterInput, 'engines' | 'promptsPerRound' | 'responsesPerPrompt' | 'capTokens'>,
): ClusterJob {
  return clusterJob({
    ...given({ gpu, gpus, engine, precision, tensorParallel: tp, ...shape }),
    ...(model === undefined ? {} : (configOf(model) ?? { model })),
  });
}

/** Returns the `config.json` that is meant, with a name for its model; undefined for a name of the table. */
function configOf(model: string): Pick<ClusterInput, 'model' | 'config'> | undefined {
  const isThere = existsSync(model);
  const inside = join(model, 'config.json');
  // Whoever is in a folder with a folder `Qwen` may mean the name.
  const file = isThere && statSync(model).isDirectory() ? (existsSync(inside) ? inside : undefined) : model;
  if (file === undefined || !(isThere || file.endsWith('.json'))) return undefined;
  const json = readJson(file, "a model's config.json");
  const isConfig = ['model_type', 'hidden_size', 'text_config'].some((one) => Object.hasOwn(Object(json.value), one));
  if (!isConfig) refuse('invalid_input', file, "a model's config.json, as Hugging Face has it", 'no model_type');
  const name = nameOf(file, json.value);
  json.within(() => {
    try {
      shapeOf(json.value, name);
    } catch (error) {
      if (!isPolicyError(error)) throw error;
      const path = error.path.replace(/^config\.?/, '');
      const expected =
        path === 'model_type' || path === '' ? `a model's config.json: ${error.expected}` : error.expected;
      throw relocated(error, path, expected);
    }
  });
  return { config: json.value as Record<string, unknown>, ...given({ model: name }) };
}

/** What the model is called: as the config says, or its file, or the folder of that. */
function nameOf(file: string, value: unknown): string | undefined {
  const said = (value as { readonly _name_or_path?: unknown } | null)?._name_or_path;
  if (typeof said === 'string' && said !== '') return undefined;
  const own = basename(file).replace(/\.json$/, '');
  return own === 'config' ? basename(dirname(resolve(file))) || undefined : own;
}
