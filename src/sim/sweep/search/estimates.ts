/**
 * Estimates of candidates from all runs of a search: the logarithms of the time per prompt and of the kept tokens are a smooth
 * function of the factors, plus what each other setting adds, what the seed adds, and what is the candidate's own.
 */
import type { Book, Candidate, Measured } from '../book.ts';
import type { SweepSettings } from '../settings/settings.ts';
import { type SweepAxis, type SweepSpace, settingOf } from '../space.ts';
import { type Effects, fitted, type Measurement } from './effects.ts';

/** Natural logarithms, up to a constant that all candidates share. */
export interface Estimate {
  readonly seconds: number;
  readonly kept: number;
}

/** Estimates. */
export interface Estimator {
  /** Estimates settings, tried or not. */
  readonly of: (one: Candidate) => Estimate;
  /** Standard error of `kept`, about, of a candidate that was hardly tried. */
  readonly keptError: number;
}

/** Variance of a run ÷ that of an effect, by the first letter of its name. */
const stiffness: Readonly<Record<string, number>> = {
  // Seeds and the baseline differ from everything else by anything.
  seed: 1e-6,
  baseline: 1e-6,
  factor: 0.01,
  other: 0.2,
  own: 5,
};

/** Returns estimates from the runs on these seeds. */
export function estimator(book: Book, { published, axes }: SweepSpace, seeds: readonly number[]): Estimator {
  const crossed = axes.filter((axis) => axis.crossed);
  const single = axes.filter((axis) => !axis.crossed);
  const tried = book.all.filter(({ runs }) => seeds.some((seed) => runs.has(seed)));
  const known = new Map(
    single.map(({ name }) => [name, [...new Set(tried.map((one) => settingOf(one.settings as SweepSettings, name)))]]),
  );
  const ids = new Map(tried.map((one, index) => [one, index]));

  function effectsOf(one: Candidate): Effects {
    if (one === book.baseline) return new Map([['baseline', 1]]);
    const settings = one.settings as SweepSettings;
    const away = crossed.map((axis) => sizeOf(axis, settings) - sizeOf(axis, published));
    const effects = new Map<string, number>();
    for (const [row, x] of away.entries()) {
      effects.set(`factor ${row}`, x);
      for (const [column, y] of away.slice(0, row + 1).entries()) effects.set(`factor ${row} ${column}`, x * y);
    }
    for (const { name } of single) {
      const value = closest(settingOf(settings, name), known.get(name)!);
      if (value !== settingOf(published, name)) effects.set(`other ${name} ${value}`, 1);
    }
    const id = ids.get(one);
    return id === undefined ? effects : effects.set(`own ${id}`, 1);
  }

  const measured = (value: (run: Measured) => number): Measurement[] =>
    [...tried, book.baseline].flatMap((one) => {
      const effects = effectsOf(one);
      return seeds.flatMap((seed): Measurement[] => {
        const run = one.runs.get(seed);
        if (run === undefined) return [];
        return [{ effects: new Map([...effects, [`seed ${seed}`, 1]]), value: Math.log(value(run)) }];
      });
    });
  const predictor = (list: readonly Measurement[]) => fitted(list, (name) => stiffness[kindOf(name)]!);
  const seconds = predictor(measured((run) => run.secondsPerPrompt));
  const ofTokens = measured((run) => run.tokensPerResponse);
  const kept = predictor(ofTokens);
  return {
    of: (one) => {
      const effects = effectsOf(one);
      return { seconds: seconds(effects), kept: kept(effects) };
    },
    keptError: errorOf(ofTokens, kept),
  };
}

const kindOf = (name: string): string => name.split(' ', 1)[0]!;

/** Returns the standard error of a prediction, about, at the points that were measured: that of a fit without effects of their own. */
function errorOf(measurements: readonly Measurement[], predicted: (effects: Effects) => number): number {
  const names = new Set(measurements.flatMap(({ effects }) => [...effects.keys()]));
  const shared = [...names].filter((name) => kindOf(name) !== 'own').length;
  const squares = measurements.map(({ effects, value }) => {
    const others = [...effects].filter(([name]) => kindOf(name) !== 'own');
    return (value - predicted(new Map(others))) ** 2;
  });
  const variance = squares.reduce((sum, one) => sum + one, 0) / Math.max(1, measurements.length - shared);
  return Math.sqrt((variance * shared) / measurements.length);
}

function sizeOf({ name, effective }: SweepAxis, settings: SweepSettings): number {
  const value = Number(settingOf(settings, name));
  return effective?.(value) ?? value;
}

/** Returns the value, or the number among the known values that is closest to it. */
function closest(value: number | string, known: readonly (number | string)[]): number | string {
  if (typeof value === 'string' || known.includes(value)) return value;
  const numbers = known.filter((one) => typeof one === 'number');
  return [...numbers].sort((a, b) => Math.abs(a - value) - Math.abs(b - value))[0] ?? value;
}
