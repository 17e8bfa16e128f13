/**
 * Estimates of candidates from all runs of a search: the logarithms of the time per prompt and of the kept tokens are a smooth
 * function of the factors, plus what each other setting adds, what the seed adds, and what is the candidate's own.
 */
import type { Book, Candidate, Measured } from '../book.ts';
import type { SweepSettings } from '../settings/settings.ts';
import { type SweepAxis, type SweepSpace, settingOf } from '../space.ts';
import { type Effects, fitted, type Measurement, type Prediction } from './effects.ts';

/** Natural logarithms, up to a constant that all candidates share. */
export interface Estimate {
  readonly seconds: Prediction;
  readonly kept: Prediction;
}

/** Variance of a run ÷ that of an effect, by the kind of the effect. */
const stiffness: Readonly<Record<string, number>> = {
  // Seeds and the baseline differ from everything else by anything.
  seed: 1e-6,
  baseline: 1e-6,
  factor: 0.01,
  other: 0.2,
  own: 5,
};

/** Returns a function that estimates settings, tried or not, from the runs on these seeds. */
export function estimator(
  book: Book,
  { published, axes }: SweepSpace,
  seeds: readonly number[],
): (one: Candidate) => Estimate {
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
    return effects.set(`own ${ids.get(one) ?? 'untried'}`, 1);
  }

  const predictor = (value: (run: Measured) => number): ((effects: Effects) => Prediction) => {
    const measured = [...tried, book.baseline].flatMap((one) => {
      const effects = effectsOf(one);
      return seeds.flatMap((seed): Measurement[] => {
        const run = one.runs.get(seed);
        if (run === undefined) return [];
        return [{ effects: new Map([...effects, [`seed ${seed}`, 1]]), value: Math.log(value(run)) }];
      });
    });
    return fitted(measured, {
      stiffness: (name) => stiffness[kindOf(name)]!,
      isOwn: (name) => kindOf(name) === 'own',
    });
  };
  const seconds = predictor((run) => run.secondsPerPrompt);
  const kept = predictor((run) => run.tokensPerResponse);
  return (one) => {
    const effects = effectsOf(one);
    return { seconds: seconds(effects), kept: kept(effects) };
  };
}

const kindOf = (name: string): string => name.split(' ', 1)[0]!;

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
