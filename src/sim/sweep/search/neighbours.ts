/** Neighbours of settings, which differ from the settings in one or two values. */
import type { SweepSettings } from '../settings/settings.ts';
import { changed, type SweepAxis, settingOf } from '../space.ts';

/** Returns settings in which one value is changed by one or two steps. */
export function besideOne(at: SweepSettings, axes: readonly SweepAxis[]): SweepSettings[] {
  return axes.flatMap(({ name, beside }) => beside(settingOf(at, name)).map((value) => changed(at, name, value)));
}

/**
 * Returns settings in which two values are changed by a step: at the limit of kept tokens, one factor can rise only if another one
 * rises too.
 */
export function diagonals(at: SweepSettings, axes: readonly SweepAxis[]): SweepSettings[] {
  const ends = axes.map(({ name, beside }) => {
    const values = beside(settingOf(at, name)).map(Number);
    return [name, values.length === 0 ? [] : [Math.min(...values), Math.max(...values)]] as const;
  });
  return product(at, ends);
}

/** Returns settings with all combinations of values on some axes. */
export function product(
  settings: SweepSettings,
  values: readonly (readonly [string, readonly (number | string)[]])[],
): SweepSettings[] {
  return values.reduce<SweepSettings[]>(
    (list, [name, options]) => list.flatMap((one) => options.map((value) => changed(one, name, value))),
    [settings],
  );
}
