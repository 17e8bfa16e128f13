/** The values that a sweep can choose: the papers' settings, coarse values of each setting, and the neighbours of a value. */
import { scaledCount } from '../../core/rollout/prompts.ts';
import { gpuIdsOf } from '../colocated/cluster.ts';
import { reproducingWidth } from '../pools/presets.ts';
import type { SweepProblem } from './run.ts';
import { withoutLevers } from './settings/levers.ts';
import {
  definePoolsSettings,
  defineSynchronousSettings,
  isPartial,
  keyOf,
  type PoolsSettings,
  type SweepSettings,
} from './settings/settings.ts';

type Value = number | string;
/** Value of a setting that is absent. */
const absent = 'absent';

/** One setting, with its values. */
export interface SweepAxis {
  readonly name: string;
  /** Values to try first, including the papers' value. */
  readonly coarse: readonly Value[];
  /** Whether the coarse values are combined with those of the other crossed axes. */
  readonly crossed: boolean;
  /** Returns the factor that a factor has in effect, since prompts and responses are whole; absent if the axis has no factors. */
  readonly effective?: (value: number) => number;
  /** Returns finer values near a value. */
  readonly beside: (value: Value) => readonly Value[];
}

/** The settings that a sweep searches. */
export interface SweepSpace {
  /** The papers' settings. */
  readonly published: SweepSettings;
  readonly axes: readonly SweepAxis[];
  /** Returns the same key for settings with the same effect: factors 1.2 and 1.25 both make 10 of 8 responses. */
  readonly keyOf: (settings: SweepSettings) => string;
}

const most = 2;
const factors = [1, 1.125, 1.25, 1.5];
const factorSteps = [-0.125, -0.0625, 0.0625, 0.125];
const shareSteps = [-0.1, -0.05, 0.05, 0.1];

/** Returns factors near the given factor. With fewer than 16 prompts or responses, these include one more and one less. */
function besideFactor(value: Value, count: number): number[] {
  const counts = [-1, 1].map((step) => (scaledCount(Number(value), count) + step) / count);
  return [...factorSteps.map((step) => Number(value) + step), ...(count < 16 ? counts : [])].filter(
    (one) => one >= 1 && one <= most,
  );
}

function besideShare(value: Value): number[] {
  if (typeof value === 'string') return [];
  return shareSteps.map((step) => Number((value + step).toFixed(4))).filter((one) => one >= 0.1 && one <= 0.9);
}

/** Returns widths that differ by a quarter and by an eighth. */
function besideWidth(value: Value, groups: number): Value[] {
  if (typeof value === 'string') return [];
  const steps = [-0.25, -0.125, 0.125, 0.25].map((step) => value + Math.sign(step) * Math.ceil(Math.abs(step) * value));
  return steps.filter((one) => one >= 1 && one < groups);
}

/**
 * Returns the settings to search for a job.
 *
 * @param maxLag - most versions by which tokens may lag; 0 for settings that are on policy
 */
export function sweepSpace(problem: SweepProblem, maxLag = 0): SweepSpace {
  const prompts = problem.kind === 'pools' ? problem.job.groupsPerRound : problem.job.promptsPerRound;
  const { responsesPerPrompt: responses } = problem.job;
  const factorAxes: SweepAxis[] = [
    {
      name: 'promptSpeculation',
      coarse: factors,
      crossed: true,
      effective: (value) => scaledCount(value, prompts) / prompts,
      beside: (value) => besideFactor(value, prompts),
    },
    {
      name: 'responseSpeculation',
      coarse: factors,
      crossed: true,
      effective: (value) => scaledCount(value, responses) / responses,
      beside: (value) => besideFactor(value, responses),
    },
  ];
  const counted = (settings: SweepSettings): string =>
    keyOf({
      ...settings,
      promptSpeculation: scaledCount(settings.promptSpeculation, prompts),
      responseSpeculation: scaledCount(isPartial(settings) ? 1 : settings.responseSpeculation, responses),
    });
  if (problem.kind === 'pools') {
    // A frontier that contains all groups limits nothing.
    const inRound = (settings: PoolsSettings): PoolsSettings =>
      typeof settings.width === 'number' && settings.width >= prompts ? { ...settings, width: 'all' } : settings;
    const half = Math.round(prompts / 2);
    const widths = new Set([reproducingWidth, Math.round(half / 2), half, Math.round(0.75 * prompts)]);
    const numbers = [...widths].filter((one) => one >= 1 && one < prompts).sort((a, b) => a - b);
    const coarse: Value[] = ['auto', 'all', ...numbers];
    return {
      published: inRound(definePoolsSettings({ width: reproducingWidth })),
      axes: [...factorAxes, { name: 'width', coarse, crossed: false, beside: (value) => besideWidth(value, prompts) }],
      keyOf: (settings) => counted(inRound(settings as PoolsSettings)),
    };
  }
  const { job } = problem;
  const gpus = gpuIdsOf(job).length;
  const degrees = (job.hardware?.costs ?? []).map(({ tp }) => tp).filter((tp) => gpus % tp === 0);
  const axes: SweepAxis[] = [
    ...factorAxes,
    { name: 'threshold', coarse: ['adaptive', 0.2, 0.3, 0.4, 'off'], crossed: false, beside: besideShare },
    { name: 'tp', coarse: ['adaptive', ...degrees], crossed: false, beside: () => [] },
  ];
  if (maxLag > 0 && (problem.levers?.resumes ?? true)) {
    axes.push({ name: 'maxStaleness', coarse: [absent, maxLag], crossed: false, beside: () => [] });
  }
  if (problem.levers === undefined) return { published: defineSynchronousSettings(), axes, keyOf: counted };
  const fixed = withoutLevers(job, problem.levers);
  return {
    published: defineSynchronousSettings(fixed),
    axes: axes.filter(({ name }) => !(name in fixed)),
    keyOf: counted,
  };
}

/** Returns the settings with one value changed. */
export function changed(settings: SweepSettings, name: string, value: Value): SweepSettings {
  const { [name as keyof SweepSettings]: _, ...others } = settings;
  return (value === absent ? others : { ...settings, [name]: value }) as SweepSettings;
}

/** Returns the value of one setting. */
export const settingOf = (settings: SweepSettings, name: string): Value =>
  (settings as unknown as Record<string, Value | undefined>)[name] ?? absent;

/** Returns the settings without tail batching and partial rollout. */
export const withoutSpeculation = <S extends SweepSettings>(settings: S): S => ({
  ...(changed(settings, 'maxStaleness', absent) as S),
  promptSpeculation: 1,
  responseSpeculation: 1,
});

/** Whether the settings use tail batching. */
export const isSpeculating = ({ promptSpeculation, responseSpeculation }: SweepSettings): boolean =>
  promptSpeculation > 1 || responseSpeculation > 1;
